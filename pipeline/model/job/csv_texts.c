/* csv_texts.c - columns, nulls and empty texts, of files and of Kafka messages (sections.h) */
#include "hash.h"
#include "sections.h"

static int check_different(struct reader *r, const struct node *n, const struct key *key,
			   const char *const *names, size_t count)
{
	struct name_index seen = {0};
	int rc = RC_OK;

	for (size_t i = 0; i < count && rc == RC_OK; i++)
		if (names_add(&seen, names[i])->number++)
			rc = fault(r, n->items[i]->pos,
				   "%s: found `%.60s` twice, expected different names", key->name,
				   names[i]);
	names_release(&seen);
	return rc;
}

int read_names(struct reader *r, const struct node *n, const struct key *key, const char ***names,
	       size_t *count)
{
	int rc = read_texts(r, n, key->name, false, names, count);

	if (rc == RC_OK && *count == 0)
		rc = fault(r, n->pos, "%s: found an empty list, expected column names", key->name);
	return rc ? rc : check_different(r, n, key, *names, *count);
}

int read_csv_columns(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct csv_source *c = slot;

	if (n->kind == NODE_SCALAR && strcmp(n->text, "by_name") == 0) {
		c->by_name = true;
		return r->job->source == SOURCE_KAFKA
			       ? expected(r, n, key->name, "names, because messages have no header")
			       : RC_OK;
	}
	int rc = read_names(r, n, key, &c->columns, &c->ncolumns);

	c->header = false;
	return rc;
}

/* "" is a null too, unless the source has `empty: value`. */
int read_nulls(struct reader *r, const struct node *n, const struct key *key, const char ***nulls,
	       size_t *count)
{
	int rc = read_texts(r, n, key->name, true, nulls, count);

	if (rc || r->job->csv.empty_is_value)
		return rc;
	for (size_t i = 0; i < *count; i++)
		if ((*nulls)[i][0] == 0)
			return RC_OK;
	(*nulls)[(*count)++] = "";
	return RC_OK;
}

int read_csv_nulls(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct csv_source *c = slot;

	return read_nulls(r, n, key, &c->nulls, &c->nnulls);
}

int read_empty(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct csv_source *c = slot;

	c->empty_is_value = n->kind == NODE_SCALAR && strcmp(n->text, "value") == 0;
	if (c->empty_is_value)
		c->nnulls = 0;
	else if (n->kind != NODE_SCALAR || strcmp(n->text, "null") != 0)
		return expected(r, n, key->name, "null or value: the meaning of an unquoted \"\"");
	return RC_OK;
}
