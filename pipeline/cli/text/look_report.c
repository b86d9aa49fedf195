/* look_report.c - prints the result of check as text and as JSON */
#include "cli/reports.h"

#include <inttypes.h>
#include <stdio.h>

#include "cell_form.h"
#include "field.h"
#include "row.h"
#include "bytes.h"

#define SHOWN_BYTES 60 /* most characters of a value */

/* Prints the parts of a row key with the names that `key decode` uses. */
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

static void put_place(struct buf *out, const struct look_place *p)
{
	text_visible(out, bytes_str(p->file));
	if (p->line)
		buf_printf(out, ":%" PRIu64 " (byte %" PRIu64 ")", p->line, p->offset);
	else
		buf_printf(out, " at offset %" PRIu64, p->offset);
}

static void put_finer(struct buf *out, const struct field *field, const struct look_field *f)
{
	if (!f->finer)
		return;
	buf_printf(out,
		   "warning: field `%s`: %" PRIu64 " times have " FINER_TIMES "; the first is in ",
		   field->name, f->finer);
	put_place(out, &f->finer_place);
	buf_append_str(out, "\n");
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
	for (size_t i = 0; i < job->nfields; i++)
		if (l->fields[i].warning)
			buf_printf(out, "warning: %s\n", l->fields[i].warning);
	for (size_t i = 0; i < job->nfields; i++)
		put_finer(out, &job->fields[i], &l->fields[i]);
	for (size_t i = 0; i < l->nunused; i++)
		buf_printf(out, "%s%s%s", i ? ", " : "columns that no field uses: ", l->unused[i],
			   i + 1 == l->nunused ? "\n" : "");
}

/* Print the rules of `expect` with the rows that break them. */
static void put_rules(struct buf *out, const struct job *job, const struct look *l)
{
	int w = name_width(job);

	if (job->nexpects)
		buf_printf(out, "  %-*s  %10s  %8s  expected\n", w, "rule of", "broken", "share");
	for (size_t i = 0; i < job->nexpects; i++) {
		const struct expectation *x = &job->expects[i];
		const struct field *f = &job->fields[x->field];
		double share = l->rows ? 100 * (double)l->broken[i] / (double)l->rows : 0;

		buf_printf(out, "  %-*s  %10" PRIu64 "  %7.3g%%  %s", w, f->name, l->broken[i],
			   share, x->expected);
		if (f->has_share)
			buf_printf(out, "; max_share %.6g%%", 100 * f->max_share);
		buf_append_str(out, "\n");
	}
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

static void put_ttl(struct buf *out, const struct cell *c)
{
	int64_t ms;

	if (cell_ttl(c, &ms))
		buf_printf(out, "  (TTL %" PRId64 " %s)", ms % 1000 ? ms : ms / 1000,
			   ms % 1000 ? "ms" : "s");
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
			buf_append_str(out, ": the row is not for this table\n");
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
			put_ttl(out, &c->cell[i]);
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
		buf_printf(out, ", %" PRIu64 " good rows that no table takes", l->filtered);
	buf_append_str(out, "\n");
	put_fields(out, job, l);
	put_rules(out, job, l);
	put_rejects(out, l);
	int rc = RC_OK;
	for (size_t i = 0; i < l->nshown && rc == RC_OK; i++)
		rc = put_row(out, job, l, &l->shown[i], err);
	return rc;
}

/* --- JSON --- */

struct look_field_view {
	const char *name, *type;
	struct look_field f;
};
struct look_rule_view {
	const char *field, *reason, *expected;
	uint64_t broken;
};
struct look_value_view {
	const char *name;
	struct bytes text, value;
};
struct look_row_view {
	const char *table;
	struct bytes row, key;
	const struct cell *cells;
	size_t ncells;
};
struct look_shown_view {
	struct look_place place;
	struct look_value_view *fields;
	struct look_row_view *tables;
	size_t nfields, ntables;
};
struct look_view {
	struct look l;
	const struct look_reject *rejects;
	struct look_field_view *fields;
	struct look_shown_view *shown;
	struct look_rule_view *rules;
	size_t nfields, nrules;
};

static const char offset_words[] = "byte of the uncompressed file, or offset of the message";
static const char line_words[] = "line, from 1; absent for a topic";

static const struct form_member field_members[] = {
	{"name", FORM_TEXT, IN(look_field_view, name), "name of the field"},
	{"type", FORM_TEXT, IN(look_field_view, type), "type of the field"},
	{"used", FORM_FLAG, IN(look_field_view, f.used), "true if a table uses the field"},
	{"nulls", FORM_COUNT, IN(look_field_view, f.nulls), "rows in which the field is null"},
	{"distinct", FORM_SIZE, IN(look_field_view, f.distinct.n),
	 "distinct values, up to a limit"},
	{"example", FORM_BYTES, IN(look_field_view, f.example), "first value", FORM_OR_NULL},
	{"finer_times", FORM_COUNT, IN(look_field_view, f.finer),
	 "times with digits after the microseconds", FORM_IF_ANY},
	{"warning", FORM_TEXT, IN(look_field_view, f.warning),
	 "why all times are probably wrong, with the fix", FORM_IF_ANY},
};
static const struct form field_form = FORM(look_field_view, field_members);

static const struct form_member reason_members[] = {
	{"reason", FORM_TEXT, IN(look_reason, reason), "a word"},
	{"count", FORM_COUNT, IN(look_reason, count), "rejected rows"},
};
static const struct form reason_form = FORM(look_reason, reason_members);

static const struct form_member rule_members[] = {
	{"field", FORM_TEXT, IN(look_rule_view, field), "field of the job"},
	{"reason", FORM_TEXT, IN(look_rule_view, reason), "word of the reject"},
	{"expected", FORM_TEXT, IN(look_rule_view, expected), "the rule"},
	{"broken", FORM_COUNT, IN(look_rule_view, broken), "rows that break the rule"},
};
static const struct form rule_form = FORM(look_rule_view, rule_members);

static const struct form_member reject_members[] = {
	{"file", FORM_TEXT, IN(look_reject, place.file), "file, or topic and partition"},
	{"line", FORM_COUNT, IN(look_reject, place.line), line_words, FORM_IF_ANY},
	{"offset", FORM_COUNT, IN(look_reject, place.offset), offset_words},
	{"reason", FORM_TEXT, IN(look_reject, reason), "a word"},
	{"field", FORM_TEXT, IN(look_reject, field),
	 "field of the job; null if the whole row is "
	 "bad",
	 FORM_OR_NULL},
	{"detail", FORM_TEXT, IN(look_reject, detail), "the found value and the expected form"},
};
static const struct form rejected_form = FORM(look_reject, reject_members);

static const struct form_member value_members[] = {
	{"name", FORM_TEXT, IN(look_value_view, name), "name of the field"},
	{"text", FORM_BYTES, IN(look_value_view, text), "text of the field in the source",
	 FORM_OR_NULL},
	{"value", FORM_BYTES, IN(look_value_view, value), "value in the type of the field",
	 FORM_OR_NULL},
};
static const struct form value_form = FORM(look_value_view, value_members);

static const struct form_member row_members[] = {
	{"table", FORM_TEXT, IN(look_row_view, table), "name of the table"},
	{"row", FORM_KEY, IN(look_row_view, row),
	 "row key; null if the event has no cell for the table", FORM_OR_NULL},
	{"key", FORM_BYTES, IN(look_row_view, key), "the row key as fields and values",
	 FORM_OR_NULL},
	{"cells", FORM_LIST, IN(look_row_view, cells), "cells of the row",
	 ITEMS(look_row_view, cell_form, ncells)},
};
static const struct form row_form = FORM(look_row_view, row_members);

static const struct form_member shown_members[] = {
	{"file", FORM_TEXT, IN(look_shown_view, place.file), "file, or topic and partition"},
	{"line", FORM_COUNT, IN(look_shown_view, place.line), line_words, FORM_IF_ANY},
	{"offset", FORM_COUNT, IN(look_shown_view, place.offset), offset_words},
	{"fields", FORM_LIST, IN(look_shown_view, fields), "fields that a table uses",
	 ITEMS(look_shown_view, value_form, nfields)},
	{"tables", FORM_LIST, IN(look_shown_view, tables), "tables, in the order of the job",
	 ITEMS(look_shown_view, row_form, ntables)},
};
static const struct form shown_form = FORM(look_shown_view, shown_members);

static const struct form_member look_members[] = {
	{"rows", FORM_COUNT, IN(look_view, l.rows), "number of checked rows"},
	{"whole", FORM_FLAG, IN(look_view, l.whole), "true if the input has no other rows"},
	{"good", FORM_COUNT, IN(look_view, l.good), "rows that a load would accept"},
	{"rejected", FORM_COUNT, IN(look_view, l.rejected), "rows that a load would reject"},
	{"filtered", FORM_COUNT, IN(look_view, l.filtered),
	 "good rows without a cell for any table"},
	{"fields", FORM_LIST, IN(look_view, fields), "fields of the job",
	 ITEMS(look_view, field_form, nfields)},
	{"rules", FORM_LIST, IN(look_view, rules), "rules of `expect`",
	 ITEMS(look_view, rule_form, nrules)},
	{"unused_columns", FORM_TEXTS, IN(look_view, l.unused), "input columns that no field reads",
	 COUNT_AT(look_view, l.nunused)},
	{"reasons", FORM_MAP, IN(look_view, l.reasons), "number of rejected rows by reason",
	 ITEMS(look_view, reason_form, l.nreasons)},
	{"rejects", FORM_LIST, IN(look_view, rejects), "the first rejected rows",
	 ITEMS(look_view, rejected_form, l.nrejects)},
	{"shown", FORM_LIST, IN(look_view, shown), "good rows, with source text and cells",
	 ITEMS(look_view, shown_form, l.nshown)},
};
const struct form checked_form = NAMED_FORM(look_view, look_members, "check", "check --json");

static struct bytes keep(struct buf *b, struct arena *a)
{
	struct bytes kept = bytes_of(arena_strndup(a, (const char *)b->ptr, b->len), b->len);

	buf_release(b);
	return kept;
}

static int look_row_view(struct look_row_view *v, const struct job *job, size_t t,
			 const struct look_cells *c, struct arena *a, struct error *err)
{
	struct buf key = {0};

	*v = (struct look_row_view){.table = job->tables[t].schema.name,
				    .cells = c->cell,
				    .ncells = c->ncells};
	if (!c->key.len)
		return RC_OK;
	int rc = put_key(&key, job, t, c->key, err);
	v->row = c->key;
	v->key = keep(&key, a);
	return rc;
}

static int look_shown_view(struct look_shown_view *v, const struct job *job, const struct look *l,
			   const struct look_row *row, struct arena *a, struct error *err)
{
	int rc = RC_OK;

	*v = (struct look_shown_view){.place = row->place,
				      .fields = arena_alloc(a, job->nfields * sizeof *v->fields),
				      .tables = arena_alloc(a, job->ntables * sizeof *v->tables),
				      .ntables = job->ntables};
	for (size_t i = 0; i < job->nfields; i++)
		if (l->fields[i].used)
			v->fields[v->nfields++] =
				(struct look_value_view){job->fields[i].name, row->text[i],
							 row->value[i]};
	for (size_t t = 0; t < job->ntables && rc == RC_OK; t++)
		rc = look_row_view(&v->tables[t], job, t, &row->tables[t], a, err);
	return rc;
}

int look_report_json(struct buf *out, const struct job *job, const struct look *l,
		     struct error *err)
{
	struct arena a = {0};
	struct look_view v = {.l = *l,
			      .rejects = l->rejects,
			      .fields = arena_alloc(&a, job->nfields * sizeof *v.fields),
			      .nfields = job->nfields,
			      .shown = arena_alloc(&a, l->nshown * sizeof *v.shown)};
	int rc = RC_OK;

	for (size_t i = 0; i < job->nfields; i++)
		v.fields[i] = (struct look_field_view){job->fields[i].name,
						       field_type_name(job->fields[i].type),
						       l->fields[i]};
	v.nrules = job->nexpects;
	v.rules = arena_alloc(&a, (v.nrules + 1) * sizeof *v.rules);
	for (size_t i = 0; i < v.nrules; i++) {
		const struct expectation *x = &job->expects[i];

		v.rules[i] = (struct look_rule_view){job->fields[x->field].name, x->reason,
						     x->expected, l->broken[i]};
	}
	for (size_t i = 0; i < l->nshown && rc == RC_OK; i++)
		rc = look_shown_view(&v.shown[i], job, l, &l->shown[i], &a, err);
	if (rc == RC_OK)
		form_put(out, &checked_form, &v, FORM_REPORT);
	arena_release(&a);
	return rc;
}
