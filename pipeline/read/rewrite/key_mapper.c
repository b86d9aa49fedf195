/* key_mapper.c - build the new row key of each row */
#include <string.h>

#include "key_map.h"

void key_mapper_open(struct key_mapper *m, const struct key_map *map)
{
	size_t n = map->o->to->nfields + 1;

	*m = (struct key_mapper){.map = map};
	key_table_open(&m->to, map->o->to, map->o->to_table);
	m->pieces = mem_calloc(map->stored.max_pieces + 1, sizeof *m->pieces);
	m->values = mem_calloc(n, sizeof *m->values);
	m->texts = mem_calloc(n, sizeof *m->texts);
	m->read = mem_calloc(n, sizeof *m->read);
	m->newest = mem_calloc(map->ncolumns + 1, sizeof *m->newest);
}

void key_mapper_close(struct key_mapper *m)
{
	if (!m->map)
		return;
	for (size_t i = 0; i < m->map->o->to->nfields; i++) {
		buf_release(&m->texts[i]);
		field_scratch_release(&m->read[i]);
	}
	for (size_t i = 0; i < m->map->ncolumns; i++)
		buf_release(&m->newest[i].value);
	key_table_close(&m->to);
	mem_free(m->pieces);
	mem_free(m->values);
	mem_free(m->texts);
	mem_free(m->read);
	mem_free(m->newest);
	mem_free(m->versions);
	arena_release(&m->row);
	buf_release(&m->key);
}

/* --- the newest values of columns --- */

void key_mapper_begin(struct key_mapper *m)
{
	for (size_t i = 0; i < m->map->ncolumns; i++) {
		struct newest_value *n = &m->newest[i];

		n->has = n->shown = false;
		n->column_ts = n->version_ts = INT64_MIN;
	}
}

void key_mapper_family(struct key_mapper *m)
{
	m->family_ts = INT64_MIN;
	m->nversions = 0;
}

static bool is_version_deleted(const struct key_mapper *m, int64_t ts)
{
	size_t low = 0, high = m->nversions;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->versions[middle] == ts)
			return true;
		if (m->versions[middle] > ts)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

/* Keep the newest Put that no marker hides, or else the newest Put. */
static void look_at_put(struct key_mapper *m, struct newest_value *n, const struct cell *c)
{
	bool shown = c->ts > m->family_ts && c->ts > n->column_ts && c->ts != n->version_ts &&
		     !is_version_deleted(m, c->ts);

	if (n->shown || (n->has && !shown))
		return;
	n->has = true;
	n->shown = shown;
	n->value.len = 0;
	buf_append(&n->value, c->value.ptr, c->value.len);
}

static void look_at_column(struct key_mapper *m, struct newest_value *n, const struct cell *c)
{
	if (c->type == CELL_PUT)
		look_at_put(m, n, c);
	else if (c->type == CELL_DELETE)
		n->version_ts = c->ts;
	else if (c->type == CELL_DELETE_COLUMN && n->column_ts < c->ts)
		n->column_ts = c->ts;
}

void key_mapper_look(struct key_mapper *m, size_t family, const struct cell *c)
{
	if (c->type == CELL_DELETE_FAMILY && m->family_ts < c->ts)
		m->family_ts = c->ts;
	if (c->type == CELL_DELETE_FAMILY_VERSION) {
		m->versions = mem_grow(m->versions, m->nversions, sizeof *m->versions);
		m->versions[m->nversions++] = c->ts;
	}
	if (cell_type_marks_family(c->type))
		return;
	for (size_t i = 0; i < m->map->ncolumns; i++)
		if (m->map->columns[i].family == family &&
		    bytes_eq(m->map->columns[i].qualifier, c->qualifier))
			look_at_column(m, &m->newest[i], c);
}

/* --- the new row key --- */

static int no_value(const struct key_mapper *m, const struct needed_column *c, struct error *err)
{
	return error_set(
		err, RC_DATA,
		"found no value of column %.*s:%.*s, which the new row key needs, expected "
		"one; if the row has only delete markers, run `major_compact '%s'` in the "
		"HBase shell",
		(int)c->stored->family.len, (const char *)c->stored->family.ptr,
		(int)c->qualifier.len, (const char *)c->qualifier.ptr,
		m->map->o->from_table->schema.name);
}

/* Decode the value of a field of the new row key, with its typed member and its text. */
static int take_field(struct key_mapper *m, const struct mapped_field *f, struct error *err)
{
	const struct key_map *map = m->map;
	const struct field_source *s = &map->sources[f->from];
	const struct field *field = &map->o->from->fields[f->from];
	bool is_value = s->place == FROM_VALUE;
	const struct layout *l = is_value ? &s->layout : &map->from.schema.steps[s->part].layout;
	struct buf *text = &m->texts[f->to];
	struct value *v = &m->values[f->to];

	if (is_value && !m->newest[f->column].has)
		return no_value(m, &map->columns[f->column], err);
	struct bytes in =
		is_value ? buf_bytes(&m->newest[f->column].value) : m->pieces[s->part].bytes;
	int rc = stored_take(l, &map->forms.form[f->from], in, &m->row, &m->read[f->to], v, err);
	if (rc || v->text.len || field->type == FIELD_TEXT || field->type == FIELD_BYTES)
		return rc;
	text->len = 0;
	field_text(field, v, text);
	v->text = buf_bytes(text);
	return RC_OK;
}

static int build(struct key_mapper *m, struct bytes row, struct error *err)
{
	const struct key_map *map = m->map;
	struct reject why;
	int rc = key_decode(&map->from.schema, NULL, row, &m->row, m->pieces, err);

	for (size_t i = 0; rc == RC_OK && i < map->nfields; i++)
		rc = take_field(m, &map->fields[i], err);
	if (rc)
		return rc;
	rc = key_build(&m->to.schema, &m->to.scratch, m->values, &m->key, &why);
	if (rc == RC_OK)
		rc = key_check_length(map->o->to_table->schema.name, m->key.len, &why);
	if (rc)
		error_set(err, RC_DATA, "%s%s%s", why.field ? why.field : "", why.field ? ": " : "",
			  why.detail);
	return rc;
}

int key_mapper_build(struct key_mapper *m, struct bytes row, struct error *err)
{
	struct buf text = {0};
	int rc = build(m, row, err);

	arena_release(&m->row);
	if (rc) {
		bytes_escape(&text, row);
		rc = error_prefix(err, "%s: row %.*s: ", m->map->o->from_table->schema.name,
				  (int)text.len, (const char *)text.ptr);
	}
	buf_release(&text);
	return rc;
}
