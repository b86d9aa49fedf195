/* sniff.c - turn a file into a job, step by step */
#include <stdio.h>

#include "sniff_parts.h"

/* Name columns as the source does: name#2 for a second one, #N without a name. */
static void add_names(struct columns *c, const struct sniffed_shape *s, const struct sniffed_row *r)
{
	for (size_t i = 0; i < s->ncolumns; i++) {
		char other[40];
		struct bytes name = s->header && i < r->n ? r->value[i] : bytes_of("", 0);
		struct bytes plain = name;

		while (plain.len && (plain.ptr[0] == ' ' || plain.ptr[0] == '\t'))
			plain = bytes_of(plain.ptr + 1, plain.len - 1);
		while (plain.len &&
		       (plain.ptr[plain.len - 1] == ' ' || plain.ptr[plain.len - 1] == '\t'))
			plain.len--;
		c->blanks = c->blanks || plain.len != name.len;
		snprintf(other, sizeof other,
			 s->header && i < r->n ? "#%zu"
			 : s->one	       ? "line"
					       : "c%zu",
			 i + 1);
		size_t before = c->n;
		columns_add(c, plain.len ? plain : bytes_str(other));
		for (size_t k = 2; c->n == before; k++) {
			struct buf twice = {0};

			buf_printf(&twice, "%.*s#%zu", (int)plain.len, (const char *)plain.ptr, k);
			columns_add(c, buf_bytes(&twice));
			buf_release(&twice);
		}
	}
}

static void look_at_rows(struct columns *c, const struct sniffed_shape *s, const struct lines *l)
{
	struct sniffed_row r = {0};
	size_t i = next_row(s, l, s->first);

	if (s->header)
		i = row_split(s, l, i, s->end, &r);
	add_names(c, s, &r);
	for (i = next_row(s, l, i); i < s->end; i = next_row(s, l, i)) {
		i = row_split(s, l, i, s->end, &r);
		if (r.n > s->ncolumns && !s->extra)
			continue; /* a reject */
		c->rows++;
		for (size_t k = 0; k < r.n && k < s->ncolumns; k++)
			column_see(c, &c->column[k], r.value[k], r.quoted[k]);
	}
	row_release(&r);
}

static int sniff(struct columns *c, const struct lines *l, const char *file, const char *name,
		 struct buf *yaml, struct error *err)
{
	struct sniffed_shape s = {0};
	struct sniffed_key k;

	if (!c->schema && !json_look(c, l)) {
		if (log_write(l, file, name, yaml))
			return RC_OK;
		shape_find(&s, l);
		look_at_rows(c, &s, l);
	}
	if (c->rows == 0 || c->n == 0)
		return error_set(err, RC_DATA, "%s: found no rows, expected some", name);
	columns_decide(c);
	if (c->schema)
		schema_decide(c);
	key_choose(&k, c, &s, l);
	job_write(c, &s, l, &k, name, yaml);
	return RC_OK;
}

static int look(struct columns *c, struct lines *l, const char *file, const char *name,
		struct error *err)
{
	if (schema_known(file))
		return schema_look(c, file, &l->whole, err);
	int rc = lines_read(l, file, err);
	if (rc == RC_OK && l->n == 0)
		rc = error_set(err, RC_DATA, "%s: found no lines, expected some", name);
	return rc;
}

int sniff_file(const char *file, const char *name, struct buf *yaml, struct error *err)
{
	struct lines l = {0};
	struct columns c;
	int rc = columns_open(&c, err);

	if (rc == RC_OK)
		rc = look(&c, &l, file, name, err);
	if (rc == RC_OK)
		rc = sniff(&c, &l, file, name, yaml, err);
	columns_close(&c);
	lines_release(&l);
	return rc;
}
