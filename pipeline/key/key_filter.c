/*
 * key_filter.c - what is left of a question, as HBase's filters
 *
 * Of the conditions that must all hold, those that the ranges answer are left out, and each other
 * one becomes filters if bytes of a fixed place in the key, or a column's value, can decide it.
 * What cannot is left to the reader; then more rows pass than were asked for, never fewer.
 */
#include "key_filter.h"

#include "conditions.h"
#include "walk.h"

#define CONDITIONS_MOST 16   /* that are tried against the ranges; with more all are checked */
#define RANGES_MOST	1000 /* the same, where trying takes long */
#define INTERVALS_MOST	64   /* of one condition */
#define PATTERNS_MOST	64

struct maker {
	const struct key_table *k;
	struct arena *a;
};

/* --- leaves --- */

static const struct key_filter *leaf(struct maker *m, struct key_filter f)
{
	struct key_filter *kept = arena_alloc(m->a, sizeof(*kept));
	*kept = f;
	return kept;
}

/* NULL is what cannot be checked: of a list of which all must pass it is left out. */
static const struct key_filter *list(struct maker *m, enum key_filter_kind kind,
				     const struct key_filter *x, const struct key_filter *y)
{
	if (!x || !y)
		return kind == KEY_FILTER_ONE ? NULL : x ? x : y;
	size_t nx = x->kind == kind ? x->n : 1, ny = y->kind == kind ? y->n : 1;
	struct key_filter f = {.kind = kind, .n = nx + ny};
	f.of = arena_alloc(m->a, f.n * sizeof(*f.of));
	for (size_t i = 0; i < nx; i++)
		f.of[i] = x->kind == kind ? x->of[i] : x;
	for (size_t i = 0; i < ny; i++)
		f.of[nx + i] = y->kind == kind ? y->of[i] : y;
	return leaf(m, f);
}

/* --- row keys --- */

/* Where a part of fixed width stands; false: it has no fixed place. */
static bool fixed_place(const struct key_schema *s, size_t step, size_t *at)
{
	*at = 0;
	for (size_t i = 0; i < step; i++) {
		if (!s->steps[i].layout.width)
			return false;
		*at += s->steps[i].layout.width;
	}
	return s->steps[step].layout.width > 0;
}

static const struct key_filter *in_interval(struct maker *m, size_t at, struct interval i)
{
	struct key_filter f = {.kind = KEY_FILTER_ROW, .at = at};
	const struct key_filter *lo = NULL, *hi = NULL;
	if (i.lo.len) {
		f.op = KEY_FILTER_GREATER_OR_EQUAL;
		f.value = i.lo;
		lo = leaf(m, f);
	}
	if (i.hi.ptr) {
		f.op = KEY_FILTER_LESS;
		f.value = i.hi;
		hi = leaf(m, f);
	}
	return list(m, KEY_FILTER_ALL, lo, hi);
}

static bool is_one_value(struct maker *m, uint32_t width, struct interval i)
{
	struct bytes next = bytes_next(m->a, i.lo);
	return i.lo.len == width && (next.ptr ? i.hi.ptr && bytes_eq(next, i.hi) : !i.hi.ptr);
}

static const struct key_filter *of_part(struct maker *m, size_t step, const struct asked *q,
					bool *exact)
{
	const struct layout *l = &m->k->schema.steps[step].layout;
	size_t at;
	if (!fixed_place(&m->k->schema, step, &at))
		return NULL;
	struct laid laid = condition_laid(l, false, q, m->a);
	const struct key_filter *all = NULL;
	if (laid.set.n == 0 || laid.set.n > INTERVALS_MOST)
		return NULL;
	for (size_t i = 0; i < laid.set.n; i++) {
		struct interval one = laid.set.item[i];
		const struct key_filter *f;
		if (is_one_value(m, l->width, one))
			f = leaf(m, (struct key_filter){.kind = KEY_FILTER_ROW,
							.op = KEY_FILTER_EQUAL,
							.at = at,
							.value = one.lo});
		else
			f = in_interval(m, at, one);
		if (!f)
			return NULL;
		all = i ? list(m, KEY_FILTER_ONE, all, f) : f;
	}
	*exact = laid.exact;
	return all;
}

/* --- columns --- */

static const struct key_filter *column(struct maker *m, const struct key_filter *where,
				       enum key_filter_op op, struct bytes value)
{
	struct key_filter f = *where;
	f.op = op;
	f.value = value;
	return leaf(m, f);
}

static const struct key_filter *compare(struct maker *m, const struct key_filter *where,
					enum asked_op op, struct bytes x)
{
	static const enum key_filter_op of[] = {
		[ASKED_EQ] = KEY_FILTER_EQUAL,	 [ASKED_NE] = KEY_FILTER_NOT_EQUAL,
		[ASKED_LT] = KEY_FILTER_LESS,	 [ASKED_LE] = KEY_FILTER_LESS_OR_EQUAL,
		[ASKED_GT] = KEY_FILTER_GREATER, [ASKED_GE] = KEY_FILTER_GREATER_OR_EQUAL};
	struct bytes behind = bytes_behind(m->a, x);
	switch (op) {
	case ASKED_NULL_NOT: return column(m, where, KEY_FILTER_GREATER_OR_EQUAL, bytes_of("", 0));
	case ASKED_STARTS:
	case ASKED_STARTS_NOT: break;
	default: return column(m, where, of[op], x);
	}
	bool within = op == ASKED_STARTS;
	const struct key_filter *lo =
		column(m, where, within ? KEY_FILTER_GREATER_OR_EQUAL : KEY_FILTER_LESS, x);
	if (!behind.ptr)
		return lo;
	return list(m, within ? KEY_FILTER_ALL : KEY_FILTER_ONE, lo,
		    column(m, where, within ? KEY_FILTER_LESS : KEY_FILTER_GREATER_OR_EQUAL,
			   behind));
}

static struct bytes qualifier_of(const struct cell_spec *c)
{
	return c->nqualifier ? c->qualifier[0].constant : bytes_of("", 0);
}

/* A cell that holds the field, or one of that name; NULL: none. */
static const struct cell_spec *cell_of(const struct job_table *t, const struct asked *q)
{
	for (size_t i = 0; i < t->ncells; i++) {
		const struct cell_spec *c = &t->cells[i];
		struct bytes family = bytes_str(t->schema.families[c->family].name);
		if (!c->qualifier_constant || c->kind != VALUE_FIELD)
			continue;
		if (!q->is_column ? c->field == q->field
				  : bytes_eq(family, q->family) &&
					    bytes_eq(qualifier_of(c), q->qualifier))
			return c;
	}
	return NULL;
}

/* The bytes of a number as the cell has them, if their order or equality is that of the numbers. */
static bool number_bytes(struct maker *m, const struct cell_spec *c, const struct asked *q,
			 struct bytes *out)
{
	const struct field *f = &m->k->job->fields[c->field];
	struct layout l = layout_of(f->name, f->type, c->as, false);
	bool is_unsigned = (f->type == FIELD_U32 || f->type == FIELD_U64) &&
			   encodings[c->as].range == RANGE_UNSIGNED;
	struct buf b = {0};
	struct reject why;
	if (l.kind != LAY_NUMBER || q->op == ASKED_NULL ||
	    (!is_unsigned && q->op != ASKED_EQ && q->op != ASKED_NE && q->op != ASKED_NULL_NOT))
		return false;
	bool fine = q->op == ASKED_NULL_NOT || layout_put(&l, &q->value, &b, &why) == 0;
	uint8_t *p = arena_alloc(m->a, b.len + 1);
	copy_short(p, b.ptr, b.len);
	*out = bytes_of(p, b.len);
	buf_release(&b);
	return fine;
}

static const struct key_filter *of_cell(struct maker *m, const struct asked *q)
{
	const struct job_table *t = m->k->table;
	const struct cell_spec *c = cell_of(t, q);
	struct key_filter where = {.kind = KEY_FILTER_COLUMN,
				   .family = q->family,
				   .qualifier = q->qualifier};
	struct bytes x = q->value.text;
	if (q->op == ASKED_NULL || (!c && !q->is_column))
		return NULL;
	if (c) {
		enum field_type type = m->k->job->fields[c->field].type;
		bool is_text = type == FIELD_TEXT || type == FIELD_BYTES;
		where.family = bytes_str(t->schema.families[c->family].name);
		where.qualifier = qualifier_of(c);
		if (!is_text && (q->is_column || !number_bytes(m, c, q, &x)))
			return NULL;
	}
	return compare(m, &where, q->op, x);
}

/* --- trees --- */

static const struct key_filter *of_condition(struct maker *m, const struct asked *q, bool *exact)
{
	const struct key_schema *s = &m->k->schema;
	for (size_t i = 0; !q->is_column && i < s->nsteps; i++) {
		if (s->steps[i].kind != PART_FIELD || s->parts[i].field != q->field)
			continue;
		const struct key_filter *f = of_part(m, i, q, exact);
		if (f)
			return f;
	}
	const struct key_filter *f = of_cell(m, q);
	*exact = f != NULL;
	return f;
}

static const struct key_filter *of_tree(struct maker *m, const struct asked *q, bool *exact)
{
	if (q->op != ASKED_AND && q->op != ASKED_OR)
		return of_condition(m, q, exact);
	bool left, right;
	const struct key_filter *x = of_tree(m, q->left, &left), *y = of_tree(m, q->right, &right);
	*exact = left && right;
	return list(m, q->op == ASKED_AND ? KEY_FILTER_ALL : KEY_FILTER_ONE, x, y);
}

/* --- fuzzy rows --- */

struct fuzzy {
	size_t len; /* of the patterns: up to the last part that counts */
	struct {
		size_t at, width, n;
		struct bytes *value;
	} part[SHAPE_MAX_PARTS];
	size_t nparts;
};

/* The single values that a part must have; 0: it may have others. */
static size_t values_of(struct maker *m, size_t step, const struct asked *const *all, size_t n,
			struct bytes **out)
{
	const struct layout *l = &m->k->schema.steps[step].layout;
	struct key_set s = set_all(m->a);
	for (size_t i = 0; i < n; i++) {
		size_t field;
		if (asked_of_one_field(all[i], &field) && field == m->k->schema.parts[step].field)
			s = set_and(m->a, s, conditions_laid(l, false, all[i], m->a).set);
	}
	*out = arena_alloc(m->a, (s.n + 1) * sizeof(**out));
	for (size_t i = 0; i < s.n && s.n <= PATTERNS_MOST; i++) {
		if (!is_one_value(m, l->width, s.item[i]))
			return 0;
		(*out)[i] = s.item[i].lo;
	}
	return s.n <= PATTERNS_MOST ? s.n : 0;
}

static void add_pattern(struct maker *m, const struct fuzzy *z, size_t number,
			struct fuzzy_row *out)
{
	uint8_t *key = arena_alloc(m->a, 2 * z->len), *mask = key + z->len;
	memset(key, 0, z->len);
	memset(mask, 1, z->len);
	for (size_t i = 0; i < z->nparts; i++) {
		struct bytes v = z->part[i].value[number % z->part[i].n];
		number /= z->part[i].n;
		memcpy(key + z->part[i].at, v.ptr, v.len);
		memset(mask + z->part[i].at, 0, v.len);
	}
	*out = (struct fuzzy_row){bytes_of(key, z->len), bytes_of(mask, z->len)};
}

/* Rows with single values at fixed places behind a part that is open: the server jumps to them. */
static const struct key_filter *fuzzy_of(struct maker *m, const struct asked *const *all, size_t n)
{
	const struct key_schema *s = &m->k->schema;
	struct fuzzy z = {0};
	struct key_filter f = {.kind = KEY_FILTER_FUZZY, .n = 1};
	bool open = false, helps = false;
	for (size_t i = 0; i < s->nsteps && z.nparts < SHAPE_MAX_PARTS; i++) {
		size_t at, count;
		struct bytes *values;
		if (!fixed_place(s, i, &at))
			break;
		if (s->steps[i].kind == PART_HASH)
			open = true;
		if (s->steps[i].kind != PART_FIELD)
			continue;
		count = values_of(m, i, all, n, &values);
		if (!count || f.n * count > PATTERNS_MOST) {
			open = true;
			continue;
		}
		helps = helps || open;
		f.n *= count;
		z.len = at + s->steps[i].layout.width;
		z.part[z.nparts].at = at;
		z.part[z.nparts].n = count;
		z.part[z.nparts++].value = values;
	}
	if (!helps)
		return NULL;
	f.patterns = arena_alloc(m->a, f.n * sizeof(*f.patterns));
	for (size_t i = 0; i < f.n; i++)
		add_pattern(m, &z, i, &f.patterns[i]);
	return leaf(m, f);
}

/* --- all of it --- */

static size_t count_all(const struct asked *q)
{
	return q->op == ASKED_AND ? count_all(q->left) + count_all(q->right) : 1;
}

static size_t flatten(const struct asked *q, const struct asked **out)
{
	if (q->op == ASKED_AND) {
		size_t n = flatten(q->left, out);
		return n + flatten(q->right, out + n);
	}
	*out = q;
	return 1;
}

static const struct asked *both(struct arena *a, const struct asked *x, const struct asked *y)
{
	struct asked *q = arena_alloc(a, sizeof(*q));
	*q = (struct asked){.op = ASKED_AND, .left = x, .right = y};
	return x ? q : y;
}

int key_filter(struct key_checks *out, const struct key_ranges *ranges, const struct key_table *k,
	       const struct field_forms *forms, const struct question *question, struct arena *a,
	       struct error *err)
{
	struct maker m = {k, a};
	const struct asked *q = NULL, *answered = NULL;
	struct key_ranges r;
	*out = (struct key_checks){.exact = true};
	if (ranges->exact)
		return RC_OK;
	int rc = asked_read(&q, question, forms, k->table, a, err);
	if (rc)
		return rc;
	size_t n = count_all(q);
	const struct asked **all = arena_alloc(a, n * sizeof(*all));
	bool few = n <= CONDITIONS_MOST && ranges->n <= RANGES_MOST;
	flatten(q, all);
	for (size_t i = 0; i < n; i++) {
		const struct asked *more = both(a, answered, all[i]);
		bool exact;
		if (few && ranges_of(&r, k, more, a, err) == RC_OK && r.exact) {
			answered = more;
			continue;
		}
		out->filter = list(&m, KEY_FILTER_ALL, out->filter, of_tree(&m, all[i], &exact));
		out->exact = out->exact && exact;
	}
	const struct key_filter *fuzzy = out->filter || !out->exact ? fuzzy_of(&m, all, n) : NULL;
	if (fuzzy)
		out->filter = list(&m, KEY_FILTER_ALL, fuzzy, out->filter);
	return RC_OK;
}
