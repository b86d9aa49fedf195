/*
 * look_report.c - see look_report.h
 */
#include "cli/reports.h"

#include <inttypes.h>
#include <stdio.h>

#include "field.h"
#include "show_json.h"
#include "bytes.h"

#define SHOWN_BYTES 60 /* of a value */

/* The parts of a row key, as `key decode` names them. */
static int put_key(struct buf *out, const struct job *job, size_t table, struct bytes key,
		   struct error *err)
{
	struct key_table keys;
	struct field_forms forms;
	struct arena a = {0};
	int rc = field_forms_open(&forms, job, err);

	key_table_open(&keys, job, &job->tables[table]);
	struct key_piece *pieces = arena_alloc(&a, (keys.schema.nsteps + 1) * sizeof *pieces);
	if (rc == RC_OK)
		rc = key_decode(&keys.schema, &forms, key, &a, pieces, err);
	if (rc == RC_OK)
		key_report(out, &keys, key, pieces, false);
	if (rc == RC_OK && out->len && out->ptr[out->len - 1] == '\n')
		out->len--;
	arena_release(&a);
	key_table_close(&keys);
	field_forms_close(&forms);
	return rc;
}

static void put_shown(struct buf *out, struct bytes v)
{
	char text[SHOWN_BYTES + 4];

	if (!v.ptr) {
		buf_append_str(out, "(null)");
		return;
	}
	text_quote(text, SHOWN_BYTES, v);
	buf_append_str(out, text);
}

static void put_escaped(struct buf *out, struct bytes v)
{
	struct buf text = {0};

	bytes_escape(&text, v);
	buf_append(out, text.ptr, text.len < 160 ? text.len : 160);
	buf_append_str(out, text.len < 160 ? "" : "...");
	buf_release(&text);
}

static int name_width(const struct job *job)
{
	size_t w = 5;

	for (size_t i = 0; i < job->nfields; i++)
		w = strlen(job->fields[i].name) > w ? strlen(job->fields[i].name) : w;
	return w < 40 ? (int)w : 40;
}

static void put_fields(struct buf *out, const struct job *job, const struct look *l)
{
	int w = name_width(job);

	buf_printf(out, "  %-*s  %-8s  %10s  %10s  example\n", w, "field", "type", "nulls",
		   "different");
	for (size_t i = 0; i < job->nfields; i++) {
		const struct look_field *f = &l->fields[i];

		buf_printf(out, "  %-*s  %-8s  ", w, job->fields[i].name,
			   field_type_name(job->fields[i].type));
		if (!f->used) {
			buf_append_str(out, l->good ? "no table uses it\n" : "no good row\n");
			continue;
		}
		buf_printf(out, "%10" PRIu64 "  %10zu  ", f->nulls, f->distinct.n);
		if (f->example.ptr)
			put_shown(out, f->example);
		buf_append_str(out, "\n");
	}
	for (size_t i = 0; i < l->nunused; i++)
		buf_printf(out, "%s%s%s", i ? ", " : "columns that no field takes: ", l->unused[i],
			   i + 1 == l->nunused ? "\n" : "");
}

static void put_place(struct buf *out, const struct look_place *p)
{
	if (p->line)
		buf_printf(out, "%s:%" PRIu64 " (byte %" PRIu64 ")", p->file, p->line, p->offset);
	else
		buf_printf(out, "%s at offset %" PRIu64, p->file, p->offset);
}

static void put_rejects(struct buf *out, const struct look *l)
{
	for (size_t i = 0; i < l->nreasons; i++)
		buf_printf(out, "%s%s %" PRIu64 "%s", i ? ", " : "rejected: ", l->reasons[i].reason,
			   l->reasons[i].count, i + 1 == l->nreasons ? "\n" : "");
	for (size_t i = 0; i < l->nrejects; i++) {
		const struct look_reject *r = &l->rejects[i];

		buf_append_str(out, "  ");
		put_place(out, &r->place);
		buf_printf(out, ": %s: %s%s%s\n", r->reason, r->field ? r->field : "",
			   r->field ? ": " : "", r->detail);
	}
	if (l->rejected > l->nrejects)
		buf_printf(out, "  and %" PRIu64 " more\n", l->rejected - l->nrejects);
}

static int put_row(struct buf *out, const struct job *job, const struct look *l,
		   const struct look_row *row, struct error *err)
{
	int w = name_width(job), rc = RC_OK;

	buf_put(out, '\n');
	put_place(out, &row->place);
	buf_put(out, '\n');
	for (size_t i = 0; i < job->nfields; i++) {
		if (!l->fields[i].used)
			continue;
		buf_printf(out, "  %-*s  `", w, job->fields[i].name);
		put_shown(out, row->text[i]);
		buf_append_str(out, "` -> ");
		put_shown(out, row->value[i]);
		buf_append_str(out, "\n");
	}
	for (size_t t = 0; t < job->ntables && rc == RC_OK; t++) {
		const struct look_cells *c = &row->tables[t];

		buf_printf(out, "  table %s", job->tables[t].schema.name);
		if (!c->key.len) {
			buf_append_str(out, ": does not take it\n");
			continue;
		}
		buf_append_str(out, ": row ");
		put_escaped(out, c->key);
		buf_append_str(out, "\n    ");
		rc = put_key(out, job, t, c->key, err);
		buf_append_str(out, "\n");
		for (size_t i = 0; i < c->ncells; i++) {
			buf_append_str(out, "    ");
			bytes_escape(out, c->cell[i].family);
			buf_put(out, ':');
			bytes_escape(out, c->cell[i].qualifier);
			buf_printf(out, "  %" PRId64 "  ", c->cell[i].ts);
			if (c->cell[i].type == CELL_PUT)
				put_escaped(out, c->cell[i].value);
			else
				buf_append_str(out, cell_type_name(c->cell[i].type));
			buf_append_str(out, "\n");
		}
	}
	return rc;
}

int look_report_text(struct buf *out, const struct job *job, const struct look *l,
		     struct error *err)
{
	buf_printf(out, "looked at %s%" PRIu64 " rows: %" PRIu64 " good, %" PRIu64 " rejected",
		   l->whole ? "all " : "the first ", l->rows, l->good, l->rejected);
	if (l->filtered)
		buf_printf(out, ", %" PRIu64 " of the good that no table takes", l->filtered);
	buf_append_str(out, "\n");
	put_fields(out, job, l);
	put_rejects(out, l);
	int rc = RC_OK;
	for (size_t i = 0; i < l->nshown && rc == RC_OK; i++)
		rc = put_row(out, job, l, &l->shown[i], err);
	return rc;
}

/* --- JSON --- */

static json_t *json_bytes(struct bytes v)
{
	struct buf text = {0};

	if (!v.ptr)
		return json_null();
	text_utf8(&text, v);
	buf_put(&text, 0);
	json_t *s = show_string((const char *)text.ptr);
	buf_release(&text);
	return s;
}

static void set_place(json_t *o, const struct look_place *at)
{
	json_object_set_new(o, "file", show_string(at->file));
	if (at->line)
		json_object_set_new(o, "line", json_integer((json_int_t)at->line));
	json_object_set_new(o, "offset", json_integer((json_int_t)at->offset));
}

static json_t *json_fields(const struct job *job, const struct look *l)
{
	json_t *list = json_array();

	for (size_t i = 0; i < job->nfields; i++) {
		const struct look_field *f = &l->fields[i];
		json_t *o = json_object();

		json_object_set_new(o, "name", show_string(job->fields[i].name));
		json_object_set_new(o, "type", json_string(field_type_name(job->fields[i].type)));
		json_object_set_new(o, "used", json_boolean(f->used));
		json_object_set_new(o, "nulls", json_integer((json_int_t)f->nulls));
		json_object_set_new(o, "distinct", json_integer((json_int_t)f->distinct.n));
		json_object_set_new(o, "example", json_bytes(f->example));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *json_rejects(const struct look *l)
{
	json_t *list = json_array();

	for (size_t i = 0; i < l->nrejects; i++) {
		const struct look_reject *r = &l->rejects[i];
		json_t *o = json_object();

		set_place(o, &r->place);
		json_object_set_new(o, "reason", json_string(r->reason));
		json_object_set_new(o, "field", r->field ? show_string(r->field) : json_null());
		json_object_set_new(o, "detail", show_string(r->detail));
		json_array_append_new(list, o);
	}
	return list;
}

static int set_table(json_t *list, const struct job *job, size_t t, const struct look_cells *c,
		     struct error *err)
{
	struct buf key = {0};
	json_t *o = json_object(), *cells = json_array();
	int rc = c->key.len ? put_key(&key, job, t, c->key, err) : RC_OK;

	json_object_set_new(o, "table", show_string(job->tables[t].schema.name));
	json_object_set_new(o, "row", c->key.len ? show_escaped(c->key) : json_null());
	json_object_set_new(o, "key", c->key.len ? json_bytes(buf_bytes(&key)) : json_null());
	for (size_t i = 0; i < c->ncells; i++) {
		json_t *cell = json_object();

		json_object_set_new(cell, "family", show_escaped(c->cell[i].family));
		json_object_set_new(cell, "qualifier", show_escaped(c->cell[i].qualifier));
		json_object_set_new(cell, "timestamp", json_integer(c->cell[i].ts));
		json_object_set_new(cell, "type", json_string(cell_type_name(c->cell[i].type)));
		json_object_set_new(cell, "value", show_escaped(c->cell[i].value));
		json_array_append_new(cells, cell);
	}
	json_object_set_new(o, "cells", cells);
	json_array_append_new(list, o);
	buf_release(&key);
	return rc;
}

static int set_row(json_t *list, const struct job *job, const struct look *l,
		   const struct look_row *row, struct error *err)
{
	json_t *o = json_object(), *fields = json_array(), *tables = json_array();
	int rc = RC_OK;

	set_place(o, &row->place);
	for (size_t i = 0; i < job->nfields; i++) {
		if (!l->fields[i].used)
			continue;
		json_t *f = json_object();
		json_object_set_new(f, "name", show_string(job->fields[i].name));
		json_object_set_new(f, "text", json_bytes(row->text[i]));
		json_object_set_new(f, "value", json_bytes(row->value[i]));
		json_array_append_new(fields, f);
	}
	for (size_t t = 0; t < job->ntables && rc == RC_OK; t++)
		rc = set_table(tables, job, t, &row->tables[t], err);
	json_object_set_new(o, "fields", fields);
	json_object_set_new(o, "tables", tables);
	json_array_append_new(list, o);
	return rc;
}

int look_report_json(struct buf *out, const struct job *job, const struct look *l,
		     struct error *err)
{
	json_t *o = json_object(), *reasons = json_object(), *shown = json_array();
	json_t *unused = json_array();
	int rc = RC_OK;

	json_object_set_new(o, "rows", json_integer((json_int_t)l->rows));
	json_object_set_new(o, "whole", json_boolean(l->whole));
	json_object_set_new(o, "good", json_integer((json_int_t)l->good));
	json_object_set_new(o, "rejected", json_integer((json_int_t)l->rejected));
	json_object_set_new(o, "filtered", json_integer((json_int_t)l->filtered));
	json_object_set_new(o, "fields", json_fields(job, l));
	for (size_t i = 0; i < l->nunused; i++)
		json_array_append_new(unused, show_string(l->unused[i]));
	json_object_set_new(o, "unused_columns", unused);
	for (size_t i = 0; i < l->nreasons; i++)
		json_object_set_new(reasons, l->reasons[i].reason,
				    json_integer((json_int_t)l->reasons[i].count));
	json_object_set_new(o, "reasons", reasons);
	json_object_set_new(o, "rejects", json_rejects(l));
	for (size_t i = 0; i < l->nshown && rc == RC_OK; i++)
		rc = set_row(shown, job, l, &l->shown[i], err);
	json_object_set_new(o, "shown", shown);
	show_json(out, o, JSON_INDENT(2));
	return rc;
}
