/*
 * key_filter.c - build HBase filters for the conditions that key ranges do not decide
 *
 * The question is a list of conditions that must all be true. The ranges decide some of them.
 * Another condition becomes a filter if bytes at a fixed place of the key, or the value of a
 * column, decide it. The reader tests conditions without a filter. So the filters pass all rows of
 * the answer, and possibly others.
 */
#include "key.h"

#include "conditions.h"
#include "walk.h"

#define INTERVALS_MOST 64 /* intervals of one condition */
#define PATTERNS_MOST  64

struct maker {
	const struct key_table *k;
	const struct key_filter_use *use;
	struct arena *a;
};

static struct filter *keep(struct maker *m, struct filter f)
{
	struct filter *kept = arena_alloc(m->a, sizeof *kept);

	*kept = f;
	return kept;
}

/*
 * Copy `x`, or the members of `x` if `x` is a list of the same type. Returns the number of copies.
 */
static size_t take_members(struct filter **to, enum filter_type type, struct filter *x)
{
	if (x->type != type) {
		to[0] = x;
		return 1;
	}
	memcpy(to, x->of, x->nof * sizeof *to);
	return x->nof;
}

/*
 * Make a list of two filters. NULL means a condition without a filter. AND leaves out such a
 * condition. OR with such a condition has no filter.
 */
static struct filter *list(struct maker *m, enum filter_type type, struct filter *x,
			   struct filter *y)
{
	struct filter f = {.type = type};

	if (!x || !y)
		return type == FILTER_LIST_OR ? NULL : x ? x : y;
	f.of = arena_alloc(m->a, (x->nof + y->nof + 2) * sizeof *f.of);
	f.nof = take_members(f.of, type, x);
	f.nof += take_members(f.of + f.nof, type, y);
	return keep(m, f);
}

/* --- row keys --- */

/* Find the offset of a part of fixed width. Returns false if the place varies. */
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

static struct filter *row(struct maker *m, size_t at, enum filter_op op, struct bytes value)
{
	return keep(m,
		    (struct filter){.type = FILTER_ROW,
				    .op = op,
				    .with = {.type = COMPARE_COMPONENT, .value = value, .at = at}});
}

static bool is_one_value(struct maker *m, uint32_t width, struct interval i)
{
	struct bytes next = bytes_next(m->a, i.lo);

	return i.lo.len == width && (next.ptr ? i.hi.ptr && bytes_eq(next, i.hi) : !i.hi.ptr);
}

static struct filter *in_interval(struct maker *m, uint32_t width, size_t at, struct interval i)
{
	struct filter *lo = NULL, *hi = NULL;

	if (is_one_value(m, width, i))
		return row(m, at, FILTER_EQUAL, i.lo);
	if (i.lo.len)
		lo = row(m, at, FILTER_GREATER_OR_EQUAL, i.lo);
	if (i.hi.ptr)
		hi = row(m, at, FILTER_LESS, i.hi);
	return list(m, FILTER_LIST_AND, lo, hi);
}

static struct filter *of_part(struct maker *m, size_t step, const struct asked *q, bool *exact)
{
	const struct layout *l = &m->k->schema.steps[step].layout;
	struct filter *all = NULL;
	struct laid laid;
	size_t at;

	if (!m->use->rows || !fixed_place(&m->k->schema, step, &at))
		return NULL;
	laid = condition_laid(l, false, q, m->a);
	if (laid.set.n > INTERVALS_MOST)
		return NULL;
	for (size_t i = 0; i < laid.set.n; i++) {
		struct filter *f = in_interval(m, l->width, at, laid.set.item[i]);

		if (!f)
			return NULL;
		all = i ? list(m, FILTER_LIST_OR, all, f) : f;
	}
	*exact = laid.exact;
	return all;
}

/* --- columns --- */

static struct filter *column(struct maker *m, const struct filter *where, enum filter_op op,
			     struct bytes value)
{
	struct filter f = *where;

	f.op = op;
	f.with.value = value;
	return keep(m, f);
}

static struct filter *starts_with(struct maker *m, const struct filter *where, bool negate,
				  struct bytes x)
{
	struct bytes behind = bytes_behind(m->a, x);
	struct filter *lo = column(m, where, negate ? FILTER_LESS : FILTER_GREATER_OR_EQUAL, x);

	if (!behind.ptr)
		return lo;
	return list(m, negate ? FILTER_LIST_OR : FILTER_LIST_AND, lo,
		    column(m, where, negate ? FILTER_GREATER_OR_EQUAL : FILTER_LESS, behind));
}

static struct bytes qualifier_of(const struct cell_spec *c)
{
	return c->nqualifier ? c->qualifier[0].constant : bytes_of("", 0);
}

/* Find the cell that contains the field or is the column. Returns NULL if there is no such cell. */
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

/* Get a number's bytes in the cell. Returns false if bytes do not sort as the numbers do. */
static bool number_bytes(struct maker *m, const struct cell_spec *c, const struct asked *q,
			 struct bytes *out)
{
	const struct field *f = &m->k->job->fields[c->field];
	struct layout l = layout_of(f->name, f->type, c->as, false);
	bool is_unsigned = (f->type == FIELD_U32 || f->type == FIELD_U64) &&
			   encodings[c->as].range == RANGE_UNSIGNED;
	struct buf b = {0};
	struct reject why;
	bool equality = q->op == FILTER_EQUAL || q->op == FILTER_NOT_EQUAL;

	if (l.kind != LAY_NUMBER || (!is_unsigned && !equality))
		return false;
	bool fine = q->kind == ASKED_NULL || layout_put(&l, &q->value, &b, &why) == 0;
	uint8_t *p = arena_alloc(m->a, b.len + 1);
	copy_short(p, b.ptr, b.len);
	*out = bytes_of(p, b.len);
	buf_release(&b);
	return fine;
}

static struct filter *of_cell(struct maker *m, const struct asked *q)
{
	const struct job_table *t = m->k->table;
	const struct cell_spec *c = cell_of(t, q);
	struct filter where = {.type = FILTER_SINGLE_COLUMN_VALUE,
			       .family = q->family,
			       .qualifier = q->qualifier,
			       .if_missing = true,
			       .all_versions = m->use->any_version};
	struct bytes x = q->value.text;

	if (!c && !q->is_column)
		return NULL;
	if (c) {
		enum field_type type = m->k->job->fields[c->field].type;
		bool is_text = type == FIELD_TEXT || type == FIELD_BYTES;

		where.family = bytes_str(t->schema.families[c->family].name);
		where.qualifier = qualifier_of(c);
		if (!is_text && (q->is_column || !number_bytes(m, c, q, &x)))
			return NULL;
	}
	if (m->use->column && !m->use->column(m->use->ctx, where.family, where.qualifier))
		return NULL;
	switch (q->kind) {
	case ASKED_COMPARE: return column(m, &where, q->op, x);
	case ASKED_STARTS: return starts_with(m, &where, q->negate, x);
	case ASKED_NULL:
		/* `is null` has no filter, because filters see only existing columns */
		return q->negate ? column(m, &where, FILTER_GREATER_OR_EQUAL, bytes_of("", 0))
				 : NULL;
	case ASKED_AND:
	case ASKED_OR: break;
	}
	return NULL;
}

/* --- trees --- */

static struct filter *of_condition(struct maker *m, const struct asked *q, bool *exact)
{
	const struct key_schema *s = &m->k->schema;
	struct filter *f;

	for (size_t i = 0; !q->is_column && i < s->nsteps; i++) {
		if (s->steps[i].kind != PART_FIELD || s->parts[i].field != q->field)
			continue;
		f = of_part(m, i, q, exact);
		if (f)
			return f;
	}
	f = of_cell(m, q);
	*exact = f != NULL;
	return f;
}

static struct filter *of_tree(struct maker *m, const struct asked *q, bool *exact)
{
	bool left, right;

	if (!asked_is_group(q))
		return of_condition(m, q, exact);
	struct filter *x = of_tree(m, q->left, &left), *y = of_tree(m, q->right, &right);

	*exact = left && right;
	return list(m, q->kind == ASKED_AND ? FILTER_LIST_AND : FILTER_LIST_OR, x, y);
}

/* --- fuzzy rows --- */

struct fuzzy {
	size_t len; /* length of the patterns, up to the last part that they test */
	struct {
		size_t at, width, n;
		struct bytes *value;
	} part[SHAPE_MAX_PARTS];
	size_t nparts;
};

/* Count the single values that the part can have. Returns 0 if it can have other values. */
static size_t values_of(struct maker *m, size_t step, const struct key_ranges *r,
			struct bytes **out)
{
	const struct layout *l = &m->k->schema.steps[step].layout;
	struct key_set s = set_all(m->a);

	for (size_t i = 0; i < r->nconjuncts; i++) {
		const struct asked *q = r->conjuncts[i].asked;
		size_t field;

		if (asked_of_one_field(q, &field) && field == m->k->schema.parts[step].field)
			s = set_and(m->a, s, conditions_laid(l, false, q, m->a).set);
	}
	*out = arena_alloc(m->a, (s.n + 1) * sizeof **out);
	for (size_t i = 0; i < s.n && s.n <= PATTERNS_MOST; i++) {
		if (!is_one_value(m, l->width, s.item[i]))
			return 0;
		(*out)[i] = s.item[i].lo;
	}
	return s.n <= PATTERNS_MOST ? s.n : 0;
}

static void add_pattern(struct maker *m, const struct fuzzy *z, size_t number,
			struct filter_fuzzy *out)
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
	*out = (struct filter_fuzzy){bytes_of(key, z->len), bytes_of(mask, z->len)};
}

/*
 * Make a FUZZY_ROW for single values at fixed places after an undecided part. The server then jumps
 * from row to row.
 */
static struct filter *fuzzy_of(struct maker *m, const struct key_ranges *r)
{
	const struct key_schema *s = &m->k->schema;
	struct fuzzy z = {0};
	size_t npatterns = 1;
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
		count = values_of(m, i, r, &values);
		if (!count || npatterns * count > PATTERNS_MOST) {
			open = true;
			continue;
		}
		helps = helps || open;
		npatterns *= count;
		z.len = at + s->steps[i].layout.width;
		z.part[z.nparts].at = at;
		z.part[z.nparts].n = count;
		z.part[z.nparts++].value = values;
	}
	if (!helps)
		return NULL;
	struct filter_fuzzy *patterns = arena_alloc(m->a, npatterns * sizeof *patterns);

	for (size_t i = 0; i < npatterns; i++)
		add_pattern(m, &z, i, &patterns[i]);
	return keep(m, (struct filter){.type = FILTER_FUZZY_ROW,
				       .fuzzy = patterns,
				       .nfuzzy = npatterns});
}

/* --- the filter of a question --- */

void key_filter(struct key_checks *out, const struct key_ranges *ranges, const struct key_table *k,
		const struct key_filter_use *use, struct arena *a)
{
	static const struct key_filter_use everything = {.fuzzy = true, .rows = true};
	struct maker m = {k, use ? use : &everything, a};
	struct filter *fuzzy = NULL;

	*out = (struct key_checks){.exact = true};
	for (size_t i = 0; !ranges->exact && i < ranges->nconjuncts; i++) {
		const struct key_conjunct *c = &ranges->conjuncts[i];
		bool exact;

		if (c->answered)
			continue;
		out->filter = list(&m, FILTER_LIST_AND, out->filter, of_tree(&m, c->asked, &exact));
		out->exact = out->exact && exact;
	}
	if (m.use->fuzzy && (out->filter || !out->exact))
		fuzzy = fuzzy_of(&m, ranges);
	if (fuzzy)
		out->filter = list(&m, FILTER_LIST_AND, fuzzy, out->filter);
}
