/*
 * where.c - see where.h
 *
 * Each condition gets a field of its own, typed as the one that its place holds; a predicate over
 * them compares.
 */
#include "by_field.h"

#include <stdlib.h>

#include "key.h"
#include "field.h"

enum place { PLACE_KEY, PLACE_COLUMN, PLACE_QUALIFIER, PLACE_VALUE, PLACE_TIME };

/* Where the value of a condition is. */
struct source {
	enum place place;
	size_t part;			    /* of the key or the qualifier */
	const struct stored_column *column; /* of QUALIFIER and VALUE */
	struct bytes family, qualifier;	    /* COLUMN */
	size_t family_number;
	struct layout layout;
	bool known; /* for the row or cell: value is it */
	struct value value;
	struct arena arena;
	struct field_scratch scratch;
};

struct where {
	const struct stored *stored;
	const struct query_family *families;
	size_t nfamilies;
	const struct question *question;
	struct source *sources;	  /* one a condition */
	struct field_forms forms; /* the same */
	const struct predicate *predicate;
	bool of_columns, of_cells;
	struct key_ranges ranges;
	struct query_range *split; /* by salt */
	size_t nsplit;
	struct query_column *columns; /* the question's and those asked of */
	size_t nasked;		      /* of those: of the question */
	bool selective;		      /* there were any */
	struct query_judge judge;
	struct key_piece *pieces, *cell_pieces;
	struct bytes row;
	bool deferred; /* a value was not known yet */
	struct error *err;
	int rc;
	const struct cell *cells, *cell; /* of the row, or the one that is asked of */
	size_t ncells;
	struct arena arena;
};

/* --- names --- */

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

/* keeps: in a form that tells all values apart; a part of a date is never the value. */
static bool find_in_key(const struct where *w, size_t field, bool keeps, struct source *s)
{
	const struct key_schema *k = &w->stored->keys->schema;

	for (size_t i = 0; i < k->nsteps; i++) {
		if (k->steps[i].kind != PART_FIELD || k->parts[i].field != field ||
		    k->steps[i].layout.kind == LAY_DATE ||
		    (keeps && !encoding_keeps(k->parts[i].as, k->steps[i].layout.from)))
			continue;
		*s = (struct source){.place = PLACE_KEY, .part = i, .layout = k->steps[i].layout};
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
			struct bytes qualifier, struct source *s)
{
	*s = (struct source){.place = PLACE_COLUMN,
			     .family = c->family,
			     .family_number = family_number(w, c->family),
			     .qualifier = qualifier,
			     .layout = c->value};
}

static bool find_in_columns(const struct where *w, size_t field, struct source *s)
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

static bool find_in_qualifier(const struct stored_column *c, size_t field, struct source *s)
{
	for (size_t k = 0; k < c->qualifier.nsteps; k++) {
		if (c->qualifier.steps[k].kind != PART_FIELD ||
		    c->qualifier.parts[k].field != field)
			continue;
		*s = (struct source){.place = PLACE_QUALIFIER,
				     .part = k,
				     .column = c,
				     .layout = c->qualifier.steps[k].layout};
		return true;
	}
	return false;
}

static bool find_in_cells(const struct where *w, size_t field, struct source *s)
{
	const struct job_table *t = table_of(w);

	for (size_t i = 0; i < w->stored->ncolumns; i++) {
		const struct stored_column *c = &w->stored->columns[i];

		if (find_in_qualifier(c, field, s))
			return true;
		if (c->spec->qualifier_constant || c->spec->kind != VALUE_FIELD ||
		    c->spec->field != field)
			continue;
		*s = (struct source){.place = PLACE_VALUE, .column = c, .layout = c->value};
		return true;
	}
	*s = (struct source){.place = PLACE_TIME};
	return !t->timestamp_constant && t->timestamp_field == field;
}

static int name_field(struct where *w, const struct condition *c, size_t field, struct source *s,
		      struct error *err)
{
	const struct job_table *t = table_of(w);

	if (find_in_key(w, field, true, s) || find_in_columns(w, field, s) ||
	    find_in_cells(w, field, s) || find_in_key(w, field, false, s))
		return RC_OK;
	if (in_derived(t, field))
		return question_fault(
			w->question, c->at, err,
			"table %s holds `%.60s` only within a hash or a salt, which "
			"does not give it back; expected a field of its key or cells, "
			"or a cell of the job with it",
			t->schema.name, c->name);
	return question_fault(
		w->question, c->at, err,
		"table %s does not hold `%.60s`; expected a field of its key or cells",
		t->schema.name, c->name);
}

/* Of a column that the job does not write: its bytes. */
static const struct field plain_bytes = {.name = "a column", .type = FIELD_BYTES};

static int name_column(struct where *w, const struct condition *c, struct source *s,
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
	bytes_unescape(&text, bytes_str(colon + 1));
	struct bytes qualifier =
		bytes_of(arena_strndup(&w->arena, text.len ? (char *)text.ptr : "", text.len),
			 text.len);
	buf_release(&text);
	const struct stored_column *of = stored_find(w->stored, family, qualifier, w->cell_pieces);
	*s = (struct source){.place = PLACE_COLUMN,
			     .family = w->families[number].name,
			     .family_number = number,
			     .qualifier = qualifier,
			     .layout = layout_of(c->name, FIELD_BYTES, AS_BYTES, false)};
	*form = (struct field_form){.field = &plain_bytes};
	if (of && of->spec->kind == VALUE_FIELD) {
		s->layout = of->value;
		*form = w->stored->forms->form[of->spec->field];
	}
	return RC_OK;
}

static int name_condition(struct where *w, size_t i, struct error *err)
{
	const struct condition *c = &w->question->conditions[i];
	struct error unknown;
	size_t field;

	if (field_find(w->forms.job, bytes_str(c->name), &field, &unknown))
		return name_column(w, c, &w->sources[i], &w->forms.form[i], err);
	w->forms.form[i] = w->stored->forms->form[field];
	return name_field(w, c, field, &w->sources[i], err);
}

static int name_all(struct where *w, struct error *err)
{
	size_t n = w->question->nconditions;
	size_t *fields = arena_alloc(&w->arena, (n + 1) * sizeof *fields);
	struct job_condition condition = {w->question, fields};
	int rc = RC_OK;

	w->sources = arena_alloc(&w->arena, (n + 1) * sizeof *w->sources);
	w->forms = (struct field_forms){
		.job = w->stored->forms->job,
		.form = arena_alloc(&w->arena, (n + 1) * sizeof *w->forms.form),
		.c_locale = w->stored->forms->c_locale,
	};
	for (size_t i = 0; rc == RC_OK && i < n; i++) {
		fields[i] = i;
		rc = name_condition(w, i, err);
		w->of_columns |= w->sources[i].place == PLACE_COLUMN;
		w->of_cells |= w->sources[i].place > PLACE_COLUMN;
	}
	return rc ? rc : predicate_new(&w->predicate, &condition, &w->forms, &w->arena, err);
}

/* --- values --- */

static void set_value(struct where *w, struct source *s, size_t i, struct bytes in)
{
	s->known = true;
	arena_release(&s->arena);
	if (w->rc == RC_OK)
		w->rc = stored_take(&s->layout, &w->forms.form[i], in, &s->arena, &s->scratch,
				    &s->value, w->err);
}

static const struct cell *newest(const struct where *w, const struct source *s)
{
	for (size_t i = 0; i < w->ncells; i++)
		if (w->cells[i].type == CELL_PUT && bytes_eq(w->cells[i].qualifier, s->qualifier) &&
		    bytes_eq(w->cells[i].family, s->family))
			return &w->cells[i];
	return NULL;
}

/* Of the cell that is asked of; a cell of another kind has none. */
static void value_of_cell(struct where *w, struct source *s, size_t i)
{
	const struct cell *c = w->cell;

	s->known = true;
	s->value = (struct value){0};
	if (s->place == PLACE_TIME) {
		s->value = (struct value){.text = bytes_of("", 0), .u = (uint64_t)c->ts};
		return;
	}
	if (c->type != CELL_PUT ||
	    stored_find(w->stored, c->family, c->qualifier, w->cell_pieces) != s->column)
		return;
	set_value(w, s, i, s->place == PLACE_VALUE ? c->value : w->cell_pieces[s->part].bytes);
}

static const struct value *value_of(void *ctx, size_t i)
{
	struct where *w = ctx;
	struct source *s = &w->sources[i];

	if (s->known)
		return &s->value;
	if (s->place == PLACE_KEY) {
		set_value(w, s, i, w->pieces[s->part].bytes);
	} else if (w->cell) { /* columns are known then */
		value_of_cell(w, s, i);
	} else {
		w->deferred = true;
		return NULL;
	}
	return w->rc ? NULL : &s->value;
}

/* --- the judge --- */

static void forget(struct where *w, bool cells_only)
{
	for (size_t i = 0; i < w->question->nconditions; i++)
		if (!cells_only || w->sources[i].place > PLACE_COLUMN)
			w->sources[i].known = false;
}

static bool judge_row(void *ctx, struct bytes row)
{
	struct where *w = ctx;
	const struct key_schema *k = &w->stored->keys->schema;
	struct error err;

	forget(w, false);
	w->row = row;
	w->cells = w->cell = NULL;
	w->deferred = false;
	w->rc = RC_OK;
	w->err = &err;
	if (key_split(k, row, w->pieces) < k->nsteps)
		w->rc = RC_DATA;
	enum answer a = w->rc ? ANSWER_UNKNOWN : predicate_ask(w->predicate, value_of, w);
	/* what is wrong is told when its cells are asked for */
	return w->rc || w->deferred ? a != ANSWER_NO : a == ANSWER_YES;
}

static bool is_shown(const struct where *w, const struct cell *c)
{
	if (!w->selective)
		return true;
	for (size_t i = 0; i < w->nasked; i++) {
		const struct query_column *q = &w->columns[i];

		if (bytes_eq(w->families[q->family].name, c->family) &&
		    (q->all || bytes_eq(q->qualifier, c->qualifier)))
			return true;
	}
	return false;
}

static int row_fault(struct where *w, struct error *err)
{
	struct buf text = {0};

	bytes_escape(&text, w->row);
	int rc = error_prefix(err, "row %.*s: ", (int)text.len, (const char *)text.ptr);
	buf_release(&text);
	return rc;
}

static int check_key(struct where *w, struct error *err)
{
	const struct key_schema *k = &w->stored->keys->schema;
	struct arena a = {0};
	int rc = key_split(k, w->row, w->pieces) == k->nsteps
			 ? RC_OK
			 : key_decode(k, w->stored->forms, w->row, &a, w->pieces, err);

	arena_release(&a);
	return rc;
}

/* Of all columns, before cells are moved. */
static void know_columns(struct where *w)
{
	for (size_t i = 0; i < w->question->nconditions; i++) {
		struct source *s = &w->sources[i];
		const struct cell *c = s->place == PLACE_COLUMN ? newest(w, s) : NULL;

		if (s->place != PLACE_COLUMN)
			continue;
		s->known = true;
		s->value = (struct value){0};
		if (c)
			set_value(w, s, i, c->value);
	}
}

static int judge_cells(void *ctx, struct cell *cells, size_t *n, struct error *err)
{
	struct where *w = ctx;
	enum answer a = ANSWER_UNKNOWN;
	size_t kept = 0;

	w->cells = cells;
	w->ncells = *n;
	w->err = err;
	w->rc = check_key(w, err);
	forget(w, false);
	know_columns(w);
	for (size_t i = 0; w->rc == RC_OK && i < *n; i++) {
		w->cell = &cells[i];
		if (i == 0 || w->of_cells) {
			forget(w, true);
			a = predicate_ask(w->predicate, value_of, w);
		}
		if (a == ANSWER_YES && is_shown(w, &cells[i]))
			cells[kept++] = cells[i];
	}
	*n = kept;
	return w->rc ? row_fault(w, err) : RC_OK;
}

/* --- ranges --- */

static struct bytes with_zero(struct where *w, struct bytes b, bool zero)
{
	uint8_t *p = arena_alloc(&w->arena, b.len + 2);

	if (b.len)
		memcpy(p, b.ptr, b.len);
	return bytes_of(p, b.len + (zero && b.len));
}

static struct bytes lesser_stop(struct bytes a, struct bytes b)
{
	if (!a.len || !b.len)
		return a.len ? a : b;
	return bytes_cmp(a, b) < 0 ? a : b;
}

/* What two ranges have in common; false: nothing. */
static bool cut(struct query_range *r, struct bytes start, struct bytes stop)
{
	if (bytes_cmp(start, r->start) > 0)
		r->start = start;
	r->stop = lesser_stop(r->stop, stop);
	return r->stop.len == 0 || bytes_cmp(r->start, r->stop) < 0;
}

static size_t cut_ranges(struct where *w, const struct query *q, struct query_range *out)
{
	struct bytes start = with_zero(w, q->reversed ? q->stop : q->start,
				       q->reversed ? !q->stop_inclusive : q->start_exclusive);
	struct bytes stop = with_zero(w, q->reversed ? q->start : q->stop,
				      q->reversed ? !q->start_exclusive : q->stop_inclusive);
	size_t n = 0;

	for (size_t i = 0; i < w->ranges.n; i++) {
		out[n] = (struct query_range){w->ranges.range[i].start, w->ranges.range[i].stop};
		n += cut(&out[n], start, stop);
	}
	return n;
}

/* Salt number i of n as its bytes; the one behind all is hbasewd's odd one. */
static struct bytes salt_bytes(struct where *w, const struct key_part *part, uint32_t i)
{
	int64_t salt = i < part->buckets ? i : INT32_MIN % (int64_t)part->buckets;
	uint8_t all[8], *p = arena_alloc(&w->arena, 8);
	uint32_t width = key_part_bytes(part);

	put_be64(all, (uint64_t)salt);
	memcpy(p, all + 8 - width, width);
	return bytes_of(p, width);
}

/* Cut where one salt ends and the next begins. */
static void split_by_salt(struct where *w, const struct query_range *r, size_t n)
{
	const struct key_part *part = &table_of(w)->rowkey[0];
	uint32_t salts = part->buckets;

	if (part->hash == HASH_HBASEWD && INT32_MIN % (int64_t)part->buckets)
		salts++;
	struct query_range *out = arena_alloc(&w->arena, (n + salts + 1) * sizeof *out);
	size_t at = 0;
	w->split = out;
	for (uint32_t i = 0; i < salts; i++) {
		struct bytes start = salt_bytes(w, part, i), stop = {0};
		struct buf behind = {0};

		buf_reserve(&behind, start.len); /* so that it cannot fail */
		query_prefix_stop(&behind, start);
		stop = with_zero(w, buf_bytes(&behind), false);
		buf_release(&behind);
		while (at < n && r[at].stop.len && bytes_cmp(r[at].stop, start) <= 0)
			at++;
		for (size_t k = at; k < n && (!stop.len || bytes_cmp(r[k].start, stop) < 0); k++) {
			struct query_range one = r[k];

			if (cut(&one, start, stop))
				out[w->nsplit++] = one;
		}
	}
}

static void put_columns(struct where *w, struct query *q)
{
	size_t n = w->question->nconditions;

	w->columns = arena_alloc(&w->arena, (q->ncolumns + n + 1) * sizeof *w->columns);
	for (size_t i = 0; i < q->ncolumns; i++)
		w->columns[i] = q->columns[i];
	w->nasked = q->ncolumns;
	w->selective = q->ncolumns > 0;
	for (size_t i = 0; w->selective && i < n; i++)
		if (w->sources[i].place == PLACE_COLUMN)
			w->columns[q->ncolumns++] =
				(struct query_column){.family = w->sources[i].family_number,
						      .qualifier = w->sources[i].qualifier};
	q->columns = w->columns;
}

static bool is_one_row(const struct query_range *r)
{
	return r->stop.len == r->start.len + 1 && r->stop.ptr[r->start.len] == 0 &&
	       memcmp(r->stop.ptr, r->start.ptr, r->start.len) == 0;
}

void where_put(struct where *w, struct query *q)
{
	const struct key_schema *k = &w->stored->keys->schema;
	struct query_range *r = arena_alloc(&w->arena, (w->ranges.n + 1) * sizeof *r);
	size_t n = cut_ranges(w, q, r);

	q->ranges = r;
	q->nranges = n;
	if (n == 1 && is_one_row(&r[0]) && !q->raw) {
		q->get = true;
		q->start = r[0].start;
	} else if (k->steps[0].kind == PART_SALT && !w->ranges.whole) {
		split_by_salt(w, r, n);
		q->ranges = w->split;
		q->nranges = w->nsplit;
		q->salt_bytes = k->steps[0].layout.width;
	}
	if (w->ranges.exact)
		return;
	put_columns(w, q);
	q->judge = &w->judge;
}

/* --- what a server can check --- */

/*
 * True if a condition asks the column, and no condition asks its field from another place, for
 * which the column's value would not count.
 */
static bool asks_column(void *ctx, struct bytes family, struct bytes qualifier)
{
	struct where *w = ctx;
	const struct stored_column *c = stored_find(w->stored, family, qualifier, w->cell_pieces);
	bool constant = c && c->spec->qualifier_constant && c->spec->kind == VALUE_FIELD;
	const struct field *field = constant ? w->stored->forms->form[c->spec->field].field : NULL;
	bool any = false;

	for (size_t i = 0; i < w->question->nconditions; i++) {
		const struct source *s = &w->sources[i];

		if (s->place != PLACE_COLUMN && w->forms.form[i].field == field)
			return false;
		any = any || (s->place == PLACE_COLUMN && bytes_eq(s->family, family) &&
			      bytes_eq(s->qualifier, qualifier));
	}
	return any;
}

int where_filter(struct where *w, const struct query *q, const struct filter **out,
		 struct error *err)
{
	/* HBase 2.6.4 loses rows when a reversed scan has a FuzzyRowFilter */
	struct key_filter_use use = {.fuzzy = !q->reversed, .rows = true, .column = asks_column};
	struct key_checks checks;

	use.ctx = w;
	/* with named columns a RowFilter sees the scan's start, which is not a row */
	for (size_t i = 0; i < q->ncolumns; i++)
		use.rows = use.rows && (q->reversed || q->columns[i].all);
	int rc = key_filter(&checks, &w->ranges, w->stored->keys, w->stored->forms, w->question,
			    &use, &w->arena, err);

	*out = rc == RC_OK ? checks.filter : NULL;
	return rc;
}

/* --- from beginning to end --- */

int where_new(struct where **out, const struct stored *stored, const struct query_family *families,
	      size_t nfamilies, const struct question *q, struct error *err)
{
	struct where *w = mem_calloc(1, sizeof *w);
	size_t pieces = (stored->max_pieces + 1) * sizeof *w->pieces;

	*w = (struct where){.stored = stored,
			    .families = families,
			    .nfamilies = nfamilies,
			    .question = q,
			    .judge = {judge_row, judge_cells, w}};
	w->pieces = arena_alloc(&w->arena, pieces);
	w->cell_pieces = arena_alloc(&w->arena, pieces);
	int rc = name_all(w, err);
	if (rc == RC_OK)
		rc = key_ranges(&w->ranges, stored->keys, stored->forms, q, &w->arena, err);
	*out = w;
	if (rc) {
		where_free(w);
		*out = NULL;
	}
	return rc;
}

void where_free(struct where *w)
{
	if (!w)
		return;
	for (size_t i = 0; w->sources && i < w->question->nconditions; i++) {
		arena_release(&w->sources[i].arena);
		field_scratch_release(&w->sources[i].scratch);
	}
	arena_release(&w->arena);
	mem_free(w);
}
