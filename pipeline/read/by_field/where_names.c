/*
 * where_names.c - find where a table stores the values that conditions read
 *
 * Conditions that the ranges decide need no place. Each other condition uses the first of these
 * places: - a part of the key that keeps the value - a column, a qualifier or a timestamp - a part
 * of the key that keeps a part of the value
 */
#include "where_parts.h"

static const struct job_table *table_of(const struct where *w)
{
	return w->stored->keys->table;
}

static bool in_derived(const struct job_table *t, size_t field)
{
	for (size_t i = 0; i < t->nrowkey; i++)
		for (size_t k = 0; k < t->rowkey[i].nof; k++)
			if (t->rowkey[i].of[k] == field)
				return true;
	return false;
}

/*
 * Finds the field in the key. If `keeps` is true, accepts only an encoding that keeps the whole
 * value. Never accepts parts of a date.
 */
static bool find_in_key(const struct where *w, size_t field, bool keeps, struct where_source *s)
{
	const struct key_schema *k = &w->stored->keys->schema;

	for (size_t i = 0; i < k->nsteps; i++) {
		if (k->steps[i].kind != PART_FIELD || k->parts[i].field != field ||
		    k->steps[i].layout.kind == LAY_DATE ||
		    (keeps && !encoding_keeps(k->parts[i].as, k->steps[i].layout.from)))
			continue;
		*s = (struct where_source){.place = PLACE_KEY,
					   .part = i,
					   .layout = k->steps[i].layout};
		return true;
	}
	return false;
}

static size_t family_number(const struct where *w, struct bytes name)
{
	size_t i = 0;

	while (i < w->nfamilies && !bytes_eq(w->families[i].name, name))
		i++;
	return i;
}

static void take_column(const struct where *w, const struct stored_column *c,
			struct bytes qualifier, struct where_source *s)
{
	*s = (struct where_source){.place = PLACE_COLUMN,
				   .family = c->family,
				   .family_number = family_number(w, c->family),
				   .qualifier = qualifier,
				   .layout = c->value};
}

static bool find_in_columns(const struct where *w, size_t field, struct where_source *s)
{
	for (size_t i = 0; i < w->stored->ncolumns; i++) {
		const struct stored_column *c = &w->stored->columns[i];

		if (!c->spec->qualifier_constant || c->spec->kind != VALUE_FIELD ||
		    c->spec->field != field)
			continue;
		take_column(w, c, c->constant, s);
		return true;
	}
	return false;
}

bool where_find_field(const struct stored_column *c, size_t field, struct where_source *s)
{
	for (size_t k = 0; k < c->qualifier.nsteps; k++) {
		if (c->qualifier.steps[k].kind != PART_FIELD ||
		    c->qualifier.parts[k].field != field)
			continue;
		*s = (struct where_source){.place = PLACE_QUALIFIER,
					   .part = k,
					   .column = c,
					   .layout = c->qualifier.steps[k].layout};
		return true;
	}
	if (c->spec->qualifier_constant || c->spec->kind != VALUE_FIELD || c->spec->field != field)
		return false;
	*s = (struct where_source){.place = PLACE_VALUE, .column = c, .layout = c->value};
	return true;
}

static bool find_in_cells(const struct where *w, size_t field, struct where_source *s)
{
	const struct job_table *t = table_of(w);

	for (size_t i = 0; i < w->stored->ncolumns; i++)
		if (where_find_field(&w->stored->columns[i], field, s))
			return true;
	*s = (struct where_source){.place = PLACE_TIME};
	return !t->timestamp_constant && t->timestamp_field == field;
}

static void put_parts(const struct where *w, size_t field, struct buf *out)
{
	const struct key_schema *k = &w->stored->keys->schema;

	for (size_t i = 0; i < k->nsteps; i++)
		if (k->steps[i].kind == PART_FIELD && k->parts[i].field == field)
			buf_printf(out, "%s%s", out->len ? ", " : "",
				   encodings[k->parts[i].as].name);
	buf_put(out, 0);
}

/*
 * Returns RC_CONFIG, because the key contains only parts of a date. These parts do not decide the
 * condition.
 */
static int date_fault(const struct where *w, const struct condition *c, size_t field,
		      struct error *err)
{
	struct buf parts = {0};

	put_parts(w, field, &parts);
	int rc = question_fault(
		w->question, c->at, err,
		"table %s: the row key has `%.60s` only as %s, which does not decide `%s`; use "
		"`>=` or `<` with a time at which the last of the parts begins",
		table_of(w)->schema.name, c->name, (const char *)parts.ptr,
		question_op_text(c->op));
	buf_release(&parts);
	return rc;
}

static int name_fault(const struct where *w, const struct condition *c, size_t field,
		      struct error *err)
{
	const struct job_table *t = table_of(w);

	for (size_t i = 0; i < t->nrowkey; i++)
		if (t->rowkey[i].kind == PART_FIELD && t->rowkey[i].field == field)
			return date_fault(w, c, field, err);
	if (in_derived(t, field))
		return question_fault(
			w->question, c->at, err,
			"table %s has `%.60s` only in a hash or a salt, which alone does not "
			"decide the condition; use `=` for all fields of a hash of 8 bytes or "
			"more, store the field in a cell, or run `saltmill get` with the whole "
			"key",
			t->schema.name, c->name);
	return question_fault(w->question, c->at, err,
			      "table %s: found `%.60s`, expected a field of its key or cells",
			      t->schema.name, c->name);
}

static int find_in_bytes(struct where *w, size_t i, struct where_source *s, struct error *err)
{
	int rc = key_condition(&s->bytes, w->stored->keys, w->stored->forms, w->question, i,
			       &w->arena, err);

	s->place = PLACE_BYTES;
	if (rc == RC_OK && s->bytes.by_seconds)
		w->note = "the row key contains this time in whole seconds, so rows compare by "
			  "whole seconds";
	return rc;
}

static int name_field(struct where *w, size_t i, size_t field, struct where_source *s,
		      struct error *err)
{
	const struct condition *c = &w->question->conditions[i];

	if (find_in_key(w, field, true, s) || find_in_columns(w, field, s) ||
	    find_in_cells(w, field, s))
		return RC_OK;
	int rc = find_in_bytes(w, i, s, err);

	if (rc != RC_END || find_in_key(w, field, false, s))
		return rc == RC_END ? RC_OK : rc;
	return name_fault(w, c, field, err);
}

/* The field for a column that the job does not write. */
static const struct field plain_bytes = {.name = "a column", .type = FIELD_BYTES};

static int name_column(struct where *w, const struct condition *c, struct where_source *s,
		       struct field_form *form, struct error *err)
{
	const struct job_table *t = table_of(w);
	const char *colon = strchr(c->name, ':');
	struct bytes family = bytes_of(c->name, colon ? (size_t)(colon - c->name) : 0);
	size_t number = family_number(w, family);

	if (!colon || number == w->nfamilies) {
		struct error unknown;
		size_t none;

		if (!colon && field_find(w->forms.job, bytes_str(c->name), &none, &unknown))
			return question_fault(w->question, c->at, err, "%s", unknown.msg);
		return question_fault(
			w->question, c->at, err,
			"found `%.60s`, expected a field of the job, or a column of a "
			"family that table %s has",
			c->name, t->schema.name);
	}
	struct buf text = {0};
	bytes_unescape_utf8(&text, bytes_str(colon + 1));
	struct bytes qualifier =
		bytes_of(arena_strndup(&w->arena, text.len ? (char *)text.ptr : "", text.len),
			 text.len);
	buf_release(&text);
	const struct stored_column *of = stored_find(w->stored, family, qualifier, w->cell_pieces);
	*s = (struct where_source){.place = PLACE_COLUMN,
				   .family = w->families[number].name,
				   .family_number = number,
				   .qualifier = qualifier,
				   .layout = layout_of(c->name, FIELD_BYTES, AS_BYTES, false)};
	if (!of && !w->note)
		w->note = arena_format(&w->arena,
				       "the job has no column `%s`, so only other writers can have "
				       "written it",
				       c->name);
	*form = (struct field_form){.field = &plain_bytes};
	if (of && of->spec->kind == VALUE_FIELD) {
		s->layout = of->value;
		*form = w->stored->forms->form[of->spec->field];
	}
	return RC_OK;
}

static void mark(const struct question_node *n, bool *open)
{
	if (n->kind == QUESTION_CONDITION)
		open[n->condition] = true;
	for (size_t i = 0; i < n->nof; i++)
		mark(n->of[i], open);
}

static int name_condition(struct where *w, size_t i, bool open, struct error *err)
{
	const struct condition *c = &w->question->conditions[i];
	struct error unknown;
	size_t field;

	if (field_find(w->forms.job, bytes_str(c->name), &field, &unknown))
		return name_column(w, c, &w->sources[i], &w->forms.form[i], err);
	w->forms.form[i] = w->stored->forms->form[field];
	return open ? name_field(w, i, field, &w->sources[i], err) : RC_OK;
}

int where_bind(struct where *w, struct error *err)
{
	size_t n = w->question->nconditions;
	size_t *fields = arena_alloc(&w->arena, (n + 1) * sizeof *fields);
	bool *open = arena_alloc(&w->arena, n + 1);
	struct job_condition condition = {w->question, fields};
	int rc = RC_OK;

	w->sources = arena_alloc(&w->arena, (n + 1) * sizeof *w->sources);
	w->forms = (struct field_forms){
		.job = w->stored->forms->job,
		.form = arena_alloc(&w->arena, (n + 1) * sizeof *w->forms.form),
		.c_locale = w->stored->forms->c_locale,
	};
	w->rest = *w->question;
	w->rest.root = w->ranges.rest;
	if (w->rest.root)
		mark(w->rest.root, open);
	for (size_t i = 0; rc == RC_OK && i < n; i++) {
		fields[i] = i;
		rc = name_condition(w, i, open[i], err);
		w->of_columns |= w->sources[i].place == PLACE_COLUMN;
		w->of_cells |= w->sources[i].place > PLACE_COLUMN;
	}
	return rc ? rc : predicate_new(&w->predicate, &condition, &w->forms, &w->arena, err);
}
