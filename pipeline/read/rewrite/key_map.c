/* key_map.c - decide how the fields of the old row key become those of the new row key */
#include "key_map.h"

#include <stdio.h>
#include <string.h>

/* --- the fields --- */

static bool is_text(enum encode_as as)
{
	return encodings[as].kind == LAY_TEXT || encodings[as].kind == LAY_REVERSED;
}

static bool has_same_names(const struct codes *a, const struct codes *b)
{
	bool same = a->n == b->n;

	for (size_t i = 0; same && i < a->n; i++)
		same = a->by_name[i].code == b->by_name[i].code &&
		       bytes_eq(a->by_name[i].name, b->by_name[i].name);
	return same;
}

/* Return the difference between both fields that gives other bytes, or NULL. */
static const char *find_difference(const struct field *from, const struct field *to, bool text)
{
	if (from->type != to->type)
		return "type";
	if (from->type == FIELD_DECIMAL && from->scale != to->scale)
		return "scale";
	if (from->type == FIELD_CODE && !has_same_names(from->codes, to->codes))
		return "codes";
	if (from->type != FIELD_TIME || !text)
		return NULL;
	if (from->unit != to->unit ||
	    (from->unit == TIME_FORMAT && strcmp(from->format, to->format) != 0))
		return "form of the text";
	return NULL;
}

static int refuse(const struct key_map *m, const struct key_part *p, struct error *err,
		  const char *fmt, ...) ERROR_FORMAT(4, 5);
static int refuse(const struct key_map *m, const struct key_part *p, struct error *err,
		  const char *fmt, ...)
{
	char text[500];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return error_set(err, RC_CONFIG, "%s:%u:%u: %s", m->o->to->path, p->pos.line, p->pos.column,
			 text);
}

/* Return the number of the column of the old table, and add it if it is new. */
static int add_column(struct key_map *m, const struct key_part *p, size_t column,
		      const struct query_family *families, size_t nfamilies, size_t *out,
		      struct error *err)
{
	const struct stored_column *s = &m->stored.columns[column];
	size_t family = 0;

	for (*out = 0; *out < m->ncolumns; (*out)++)
		if (m->columns[*out].stored == s)
			return RC_OK;
	while (family < nfamilies && !bytes_eq(families[family].name, s->family))
		family++;
	if (family == nfamilies)
		return refuse(m, p, err,
			      "found no family %.*s in the source, expected it, because the new "
			      "row key needs its column",
			      (int)s->family.len, (const char *)s->family.ptr);
	m->columns = arena_grow(&m->arena, m->columns, m->ncolumns, sizeof *m->columns);
	m->columns[m->ncolumns++] =
		(struct needed_column){.family = family, .qualifier = s->constant, .stored = s};
	m->families[family] = true;
	return RC_OK;
}

/* `as` is the encoding of the field, or negative if a salt or a hash needs the whole value. */
static int add_field(struct key_map *m, const struct key_part *p, size_t field, int as,
		     const struct query_family *families, size_t nfamilies, struct error *err)
{
	const struct job *from = m->o->from, *to = m->o->to;
	const struct field *g = &to->fields[field];
	struct mapped_field f = {.to = field};

	if (field_find(from, bytes_str(g->name), &f.from, err))
		return refuse(m, p, err, "%s", arena_strdup(&m->arena, err->msg));
	const struct field *old = &from->fields[f.from];
	const struct field_source *s = &m->sources[f.from];
	const char *other = find_difference(old, g, as >= 0 && is_text((enum encode_as)as));
	if (other)
		return refuse(m, p, err,
			      "field `%s`: found another %s than in %s, expected the same", g->name,
			      other, from->path);
	if (as < 0 ? !source_has(old, s) : !source_gives(old, s, (enum encode_as)as))
		return refuse(m, p, err,
			      "field `%s`: found no place in table %s of %s with its whole value, "
			      "expected a part of the row key or a column with a constant name; "
			      "hashes, cell timestamps and parts of a date do not have it",
			      g->name, m->o->from_table->schema.name, from->path);
	for (size_t i = 0; i < m->nfields; i++)
		if (m->fields[i].to == field)
			return RC_OK;
	int rc = s->place == FROM_VALUE
			 ? add_column(m, p, s->column, families, nfamilies, &f.column, err)
			 : RC_OK;
	m->fields = arena_grow(&m->arena, m->fields, m->nfields, sizeof *m->fields);
	m->fields[m->nfields++] = f;
	return rc;
}

static int add_part(struct key_map *m, const struct key_part *p,
		    const struct query_family *families, size_t nfamilies, struct error *err)
{
	int rc = RC_OK;

	if (p->kind == PART_SALT && p->draw)
		return refuse(m, p, err,
			      "found a salt that is drawn for each event, expected a salt `of:` "
			      "fields, because rekey has no events");
	if (p->kind == PART_FIELD)
		rc = add_field(m, p, p->field, (int)p->as, families, nfamilies, err);
	for (size_t i = 0; rc == RC_OK && i < p->nof; i++)
		rc = add_field(m, p, p->of[i], -1, families, nfamilies, err);
	return rc;
}

int key_map_open(struct key_map *m, const struct rekey_options *o,
		 const struct query_family *families, size_t nfamilies, struct error *err)
{
	*m = (struct key_map){.o = o};
	int rc = field_forms_open(&m->forms, o->from, err);

	key_table_open(&m->from, o->from, o->from_table);
	stored_open(&m->stored, &m->from, &m->forms);
	m->sources = sources_of_row(&m->stored, &m->arena);
	m->families = arena_alloc(&m->arena, nfamilies + 1);
	memset(m->families, 0, nfamilies + 1);
	for (size_t i = 0; rc == RC_OK && i < o->to_table->nrowkey; i++)
		rc = add_part(m, &o->to_table->rowkey[i], families, nfamilies, err);
	return rc;
}

void key_map_close(struct key_map *m)
{
	if (!m->o)
		return;
	stored_release(&m->stored);
	key_table_close(&m->from);
	field_forms_close(&m->forms);
	arena_release(&m->arena);
}
