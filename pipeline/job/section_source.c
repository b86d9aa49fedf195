#include "sections.h"

#include "units.h"

#define MIB (UINT64_C(1) << 20)

static int read_files(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct csv_source *c = slot;
	int rc = read_texts(r, n, key->name, false, &c->files, &c->nfiles);
	for (size_t i = 0; !rc && i < c->nfiles; i++)
		c->files[i] = job_path(r->job, c->files[i]);
	return rc;
}

int read_csv_columns(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct csv_source *c = slot;
	int rc = read_texts(r, n, key->name, false, &c->columns, &c->ncolumns);
	if (rc)
		return rc;
	if (c->ncolumns == 0)
		return fault(r, n->pos, "columns: found an empty list, expected column names");
	for (size_t i = 1; i < c->ncolumns; i++)
		for (size_t j = 0; j < i; j++)
			if (strcmp(c->columns[i], c->columns[j]) == 0)
				return fault(
					r, n->items[i]->pos,
					"columns: found `%.60s` twice, expected different names",
					c->columns[i]);
	c->header = false;
	return RC_OK;
}

int read_csv_nulls(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct csv_source *c = slot;
	return read_texts(r, n, key->name, true, &c->nulls, &c->nnulls);
}

static const struct key csv_keys[] = {
	{.name = "files", .read = read_files},
	{.name = "columns", .read = read_csv_columns}, /* before header: it changes the default */
	{.name = "header", .read = read_bool, .offset = offsetof(struct csv_source, header)},
	{.name = "delimiter", .read = read_byte, .offset = offsetof(struct csv_source, delimiter)},
	{.name = "quote", .read = read_byte, .offset = offsetof(struct csv_source, quote)},
	{.name = "null", .read = read_csv_nulls},
	{.name = "quoted_nulls",
	 .read = read_bool,
	 .offset = offsetof(struct csv_source, quoted_nulls)},
	{.name = "max_row",
	 .read = read_size,
	 .offset = offsetof(struct csv_source, max_row_bytes),
	 .min = 1,
	 .max = 2048 * MIB},
};
static const struct schema csv_schema = SCHEMA("csv", csv_keys);

static int check_csv(struct reader *r, const struct node *n, const struct csv_source *c)
{
	const struct node *header = node_get(n, "header"), *byte = node_get(n, "delimiter");
	if (c->columns && c->header)
		return fault(r, header->pos,
			     "found `columns` and `header: true`, expected one of them (to replace "
			     "the names "
			     "of a header line, remove that line)");
	if (!c->columns && !c->header)
		return fault(r, header->pos,
			     "found `header: false` alone, expected `columns: [a, b]` too");
	if (c->delimiter == c->quote || strchr("\r\n", c->delimiter))
		return fault(
			r, byte ? byte->pos : n->pos,
			"delimiter: found the quote, a line end or NUL, expected another byte");
	if (strchr("\r\n", c->quote))
		return fault(r, node_get(n, "quote")->pos,
			     "quote: found a line end or NUL, expected another byte");
	return RC_OK;
}

static int read_csv(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	static const char *empty[] = {""};
	struct job *job = slot;
	(void)key;
	job->source = SOURCE_CSV;
	job->csv = (struct csv_source){.header = true,
				       .delimiter = ',',
				       .quote = '"',
				       .nulls = empty,
				       .nnulls = 1,
				       .max_row_bytes = 16 * MIB};
	int rc = read_mapping(r, n, &csv_schema, &job->csv);
	return rc ? rc : check_csv(r, n, &job->csv);
}

static const struct key source_keys[] = {{.name = "csv", .read = read_csv},
					 {.name = "kafka", .read = read_kafka}};
static const struct schema source_schema = SCHEMA("source", source_keys);

int read_source(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	(void)key;
	if (n->kind == NODE_MAPPING && node_get(n, "csv") && node_get(n, "kafka"))
		return fault(r, n->pos, "source: found `csv` and `kafka`, expected one of them");
	int rc = read_mapping(r, n, &source_schema, slot);
	if (!rc && n->count == 0)
		rc = fault(r, n->pos, "source lacks the key `csv` or `kafka`");
	return rc;
}

int check_columns(struct reader *r)
{
	const struct csv_source *c = &r->job->csv;
	for (size_t i = 0; c->columns && i < r->job->nfields; i++) {
		const struct field *f = &r->job->fields[i];
		for (size_t k = 0; k < f->ncolumns; k++) {
			size_t j = 0;
			if (r->job->source == SOURCE_KAFKA && f->columns[k][0] == '$')
				continue;
			while (j < c->ncolumns && strcmp(c->columns[j], f->columns[k]) != 0)
				j++;
			if (j == c->ncolumns)
				return unknown_name(r, f->pos, "column", f->columns[k], c->columns,
						    c->ncolumns);
		}
	}
	return RC_OK;
}
