/*
 * where_judge.c - decide which rows and cells match a query
 *
 * The judge decides conditions on the key and on columns once per row. It decides conditions on
 * qualifiers, values and timestamps once per column, by its newest version. If the query reads each
 * version, it decides them for each version.
 */
#include "where_parts.h"

/* Evaluates a condition. If the value is unreadable, sets `w->rc`, which ends the query. */
static enum answer answer_of(struct where *w, size_t i, struct bytes in)
{
	struct where_source *s = &w->sources[i];
	struct value v;

	arena_release(&s->arena);
	if (w->rc == RC_OK)
		w->rc = stored_take(&s->layout, &w->forms.form[i], in, &s->arena, &s->scratch, &v,
				    w->err);
	return w->rc ? ANSWER_UNKNOWN : predicate_test(w->predicate, i, &v);
}

static enum answer answer_of_null(const struct where *w, size_t i)
{
	static const struct value null = {0};

	return predicate_test(w->predicate, i, &null);
}

/*
 * Tests the newest version of the column. If `any_version` is true, tests all versions until one
 * matches.
 */
static enum answer answer_of_column(struct where *w, size_t i)
{
	const struct where_source *s = &w->sources[i];
	enum answer best = ANSWER_NO;
	bool found = false;

	for (size_t k = 0; k < w->ncells && best != ANSWER_YES; k++) {
		const struct cell *c = &w->cells[k];

		if (c->type != CELL_PUT || !bytes_eq(c->qualifier, s->qualifier) ||
		    !bytes_eq(c->family, s->family))
			continue;
		if (found && !w->any_version)
			break;
		enum answer one = answer_of(w, i, c->value);

		best = one > best ? one : best;
		found = true;
	}
	return found ? best : answer_of_null(w, i);
}

/*
 * Returns the bytes of the condition's field in the current cell, or NULL bytes if the cell does not
 * have it. Several columns may have the field in their qualifiers or values. Sets the source's layout.
 */
static struct bytes bytes_in_cell(struct where *w, struct where_source *s)
{
	const struct cell *c = w->cell;
	const struct stored_column *at =
		stored_find(w->stored, c->family, c->qualifier, w->cell_pieces);

	if (!at || at->spec->qualifier_constant)
		return bytes_of(NULL, 0);
	if (at != s->column) {
		size_t field = s->place == PLACE_VALUE ? s->column->spec->field
						       : s->column->qualifier.parts[s->part].field;
		struct where_source other;

		if (!where_find_field(at, field, &other) || other.place != s->place)
			return bytes_of(NULL, 0);
		s->column = at;
		s->part = other.part;
		s->layout = other.layout;
	}
	return s->place == PLACE_VALUE ? c->value : w->cell_pieces[s->part].bytes;
}

/* Tests the current cell. The condition has no value in a cell of another kind. */
static enum answer answer_of_cell(struct where *w, size_t i)
{
	struct where_source *s = &w->sources[i];
	const struct cell *c = w->cell;

	if (s->place == PLACE_TIME) {
		struct value v = {.text = bytes_of("", 0), .u = (uint64_t)c->ts};

		return predicate_test(w->predicate, i, &v);
	}
	struct bytes in = c->type == CELL_PUT ? bytes_in_cell(w, s) : bytes_of(NULL, 0);

	return in.ptr ? answer_of(w, i, in) : answer_of_null(w, i);
}

static enum answer find_answer(struct where *w, size_t i)
{
	struct where_source *s = &w->sources[i];

	switch (s->place) {
	case PLACE_KEY: return answer_of(w, i, w->pieces[s->part].bytes);
	case PLACE_BYTES:
		return key_condition_holds(&s->bytes, w->pieces, w->row) ? ANSWER_YES : ANSWER_NO;
	case PLACE_COLUMN: /* decided by know_columns, unless there are no cells yet */
	case PLACE_QUALIFIER:
	case PLACE_VALUE:
	case PLACE_TIME:
		if (w->cell)
			return answer_of_cell(w, i);
		w->deferred = true;
		break;
	case PLACE_NONE: break; /* `w->rest` has no such condition */
	}
	return ANSWER_UNKNOWN;
}

static enum answer test(void *ctx, const struct condition *c)
{
	struct where *w = ctx;
	size_t i = (size_t)(c - w->question->conditions);
	struct where_source *s = &w->sources[i];

	if (w->deferred || w->rc)
		return ANSWER_UNKNOWN;
	if (!s->known) {
		s->answer = find_answer(w, i);
		s->known = !w->deferred;
	}
	return s->answer;
}

static enum answer ask(struct where *w)
{
	enum answer a = question_ask(&w->rest, test, w);

	return w->rc || w->deferred ? ANSWER_UNKNOWN : a;
}

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
	enum answer a = w->rc ? ANSWER_UNKNOWN : ask(w);

	/* keep the row, so that judge_cells reports the error */
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

/* Decides all conditions on columns before judge_cells moves cells. */
static void know_columns(struct where *w)
{
	for (size_t i = 0; i < w->question->nconditions; i++) {
		struct where_source *s = &w->sources[i];

		if (s->place != PLACE_COLUMN)
			continue;
		s->answer = answer_of_column(w, i);
		s->known = true;
	}
}

static bool same_column(const struct cell *a, const struct cell *b)
{
	return bytes_eq(a->qualifier, b->qualifier) && bytes_eq(a->family, b->family);
}

static int judge_cells(void *ctx, struct cell *cells, size_t *n, struct error *err)
{
	struct where *w = ctx;
	enum answer a = ANSWER_UNKNOWN;
	struct cell last = {0};
	size_t kept = 0;

	w->cells = cells;
	w->ncells = *n;
	w->err = err;
	w->deferred = false;
	w->rc = check_key(w, err);
	forget(w, false);
	know_columns(w);
	for (size_t i = 0; w->rc == RC_OK && i < *n; i++) {
		const struct cell c = cells[i];
		bool asked =
			i == 0 || (w->of_cells && (w->each_version || !same_column(&c, &last)));

		w->cell = &c;
		if (asked) {
			forget(w, true);
			a = ask(w);
		}
		if (a == ANSWER_YES && is_shown(w, &c))
			cells[kept++] = c;
		last = c;
	}
	w->cell = NULL;
	*n = kept;
	return w->rc ? row_fault(w, err) : RC_OK;
}

const struct query_judge where_judge = {judge_row, judge_cells, NULL};
