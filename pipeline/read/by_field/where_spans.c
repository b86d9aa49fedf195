/*
 * where_spans.c - select columns of a wide row by conditions on the fields of a qualifier
 *
 * A cell matches only if it satisfies each condition of an AND. Suppose that one of these
 * conditions reads only the parts of one computed qualifier, that no other qualifier has its fields,
 * and that no cell of another column satisfies it. Then all matching cells are of this column. The ranges of its qualifiers follow
 * from their parts, like the ranges of a row key.
 */
#include <stdlib.h>

#include "where_parts.h"

#define SPANS_MOST 1000 /* if there are more ranges, use one range from the first to the last */

/* --- the column --- */

/*
 * Return the column that all conditions of a node read, or NULL if the conditions read different
 * columns.
 */
static const struct stored_column *column_of(const struct where *w, const struct question_node *n)
{
	const struct stored_column *c = NULL;

	if (n->kind == QUESTION_CONDITION) {
		const struct where_source *s = &w->sources[n->condition];

		return s->place == PLACE_QUALIFIER ? s->column : NULL;
	}
	for (size_t i = 0; i < n->nof; i++) {
		const struct stored_column *one = column_of(w, n->of[i]);

		if (!one || (c && one != c))
			return NULL;
		c = one;
	}
	return c;
}

static enum answer answer_null(void *ctx, const struct condition *c)
{
	static const struct value null = {0};
	const struct where *w = ctx;

	return predicate_test(w->predicate, (size_t)(c - w->question->conditions), &null);
}

/*
 * Return the column that contains all cells that satisfy the node. Return NULL if cells of other
 * columns may satisfy it.
 */
static const struct stored_column *column_needed(struct where *w, const struct question_node *n)
{
	const struct stored_column *c = column_of(w, n);
	struct question one = *w->question;

	one.root = n;
	return c && question_ask(&one, answer_null, w) != ANSWER_YES ? c : NULL;
}

/* Return true if another column has a field of a condition in its qualifier or value. */
static bool has_sibling(const struct where *w)
{
	for (size_t i = 0; i < w->question->nconditions; i++) {
		const struct where_source *s = &w->sources[i];
		struct where_source other;

		if (s->place != PLACE_QUALIFIER)
			continue;
		size_t field = s->column->qualifier.parts[s->part].field;
		for (size_t k = 0; k < w->stored->ncolumns; k++)
			if (&w->stored->columns[k] != s->column &&
			    where_find_field(&w->stored->columns[k], field, &other) &&
			    other.place == PLACE_QUALIFIER)
				return true;
	}
	return false;
}

/* --- the ranges of the column --- */

static struct bytes with_zero(struct where *w, struct bytes b)
{
	uint8_t *p = arena_alloc(&w->arena, b.len + 1);

	if (b.len)
		memcpy(p, b.ptr, b.len);
	p[b.len] = 0;
	return bytes_of(p, b.len + 1);
}

static void take_ranges(struct where *w, const struct key_ranges *r)
{
	size_t n = r->n <= SPANS_MOST ? r->n : 1;

	w->spans = arena_alloc(&w->arena, (n + 1) * sizeof *w->spans);
	w->nspans = n;
	for (size_t i = 0; i < n; i++)
		w->spans[i] = (struct query_range){r->range[i].start, r->range[i].stop};
	if (n < r->n)
		w->spans[0].stop = r->range[r->n - 1].stop;
}

/* Return true if the spans may contain cells of other columns of the job. */
static bool holds_others(const struct where *w)
{
	for (size_t i = 0; i < w->stored->ncolumns; i++) {
		const struct stored_column *c = &w->stored->columns[i];

		if (c == w->wide || cell_type_marks_family(c->spec->marker) ||
		    !bytes_eq(c->family, w->wide->family))
			continue;
		if (!c->spec->qualifier_constant)
			return true;
		for (size_t k = 0; k < w->nspans; k++)
			if (bytes_cmp(c->constant, w->spans[k].start) >= 0 &&
			    (!w->spans[k].stop.len || bytes_cmp(c->constant, w->spans[k].stop) < 0))
				return true;
	}
	return false;
}

/* Return true if every undecided condition reads the column's qualifier. */
static bool all_of_column(const struct where *w)
{
	const struct question_node *n = w->rest.root;

	return column_of(w, n) == w->wide;
}

void where_find_spans(struct where *w)
{
	const struct question_node *root = w->rest.root;
	struct key_table columns = *w->stored->keys;
	struct key_ranges r;
	struct error err;

	if (root->kind != QUESTION_AND)
		w->wide = column_needed(w, root);
	for (size_t i = 0; root->kind == QUESTION_AND && !w->wide && i < root->nof; i++)
		w->wide = column_needed(w, root->of[i]);
	if (w->wide && has_sibling(w))
		w->wide = NULL;
	if (!w->wide)
		return;
	columns.schema = w->wide->qualifier;
	if (key_ranges(&r, &columns, w->stored->forms, &w->rest, &w->arena, &err) || r.whole) {
		w->wide = NULL; /* there are too many ranges, or they contain all qualifiers */
		return;
	}
	take_ranges(w, &r);
	w->spans_exact = r.exact && r.n <= SPANS_MOST && all_of_column(w) && !holds_others(w);
}

/* --- the query --- */

static int by_start(const void *a, const void *b)
{
	const struct query_range *x = a, *y = b;

	return bytes_cmp(x->start, y->start);
}

/* Sort the spans and join those that overlap. */
static size_t join_spans(struct query_range *s, size_t n)
{
	size_t kept = 0;

	if (n)
		qsort(s, n, sizeof *s, by_start);
	for (size_t i = 0; i < n; i++) {
		struct query_range *last = kept ? &s[kept - 1] : NULL;

		if (!last || (last->stop.len && bytes_cmp(last->stop, s[i].start) < 0))
			s[kept++] = s[i];
		else if (last->stop.len && (!s[i].stop.len || bytes_cmp(s[i].stop, last->stop) > 0))
			last->stop = s[i].stop;
	}
	return kept;
}

void where_put_spans(struct where *w, struct query *q)
{
	size_t n = w->question->nconditions, family = 0, nspans = w->nspans;
	struct query_range *spans = arena_alloc(&w->arena, (nspans + n + 1) * sizeof *spans);
	struct query_column *columns = arena_alloc(&w->arena, (n + 1) * sizeof *columns);

	while (!bytes_eq(w->families[family].name, w->wide->family))
		family++;
	columns[0] = (struct query_column){.family = family, .all = true};
	q->ncolumns = 1;
	for (size_t i = 0; i < w->nspans; i++)
		spans[i] = w->spans[i];
	for (size_t i = 0; i < n; i++) {
		const struct where_source *s = &w->sources[i];

		if (s->place != PLACE_COLUMN)
			continue;
		if (s->family_number == family)
			spans[nspans++] =
				(struct query_range){s->qualifier, with_zero(w, s->qualifier)};
		else
			columns[q->ncolumns++] = (struct query_column){.family = s->family_number,
								       .qualifier = s->qualifier};
	}
	q->columns = columns;
	q->span_family = family;
	q->spans = spans;
	q->nspans = join_spans(spans, nspans);
	if (q->nspans == 0) { /* no column can match */
		q->nranges = 0;
		q->ncolumns = 0;
	}
}

bool where_columns(const struct where *w, struct where_columns *out)
{
	if (!w->wide)
		return false;
	*out = (struct where_columns){.family = w->wide->family,
				      .spans = w->spans,
				      .n = w->nspans,
				      .exact = w->spans_exact};
	return true;
}
