/*
 * key_bind.c - bind a question to a table's keys
 *
 * The result has the ranges, the conditions that the ranges do not decide, and the parts of the key
 * that decide a condition.
 */
#include "conditions.h"
#include "walk.h"

#define CONDITIONS_MOST                                                                            \
	16 /* if a question has more conditions, all conditions count as undecided */
#define RANGES_MOST                                                                                \
	1000 /* if a question has more ranges, all conditions count as undecided, because each try \
		is slow */

struct binder {
	const struct key_table *k;
	const struct field_forms *forms;
	const struct question *q;
	struct arena *a;
};

static size_t count_nodes(const struct question_node *n)
{
	size_t count = 0;

	if (n->kind != QUESTION_AND)
		return 1;
	for (size_t i = 0; i < n->nof; i++)
		count += count_nodes(n->of[i]);
	return count;
}

/* Get the nodes that must all be true. Returns the number of nodes. */
static size_t take_nodes(const struct question_node *n, const struct question_node **out)
{
	size_t count = 0;

	if (n->kind != QUESTION_AND) {
		*out = n;
		return 1;
	}
	for (size_t i = 0; i < n->nof; i++)
		count += take_nodes(n->of[i], out + count);
	return count;
}

static size_t count_conjuncts(const struct asked *q)
{
	return q->kind == ASKED_AND ? count_conjuncts(q->left) + count_conjuncts(q->right) : 1;
}

static size_t take_conjuncts(const struct asked *q, size_t node, struct key_conjunct *out)
{
	if (q->kind == ASKED_AND) {
		size_t n = take_conjuncts(q->left, node, out);

		return n + take_conjuncts(q->right, node, out + n);
	}
	*out = (struct key_conjunct){.asked = q, .node = node};
	return 1;
}

/* Narrow the ranges to the keys that both lists contain. */
static void narrow(const struct binder *b, struct key_ranges *r, const struct key_ranges *to)
{
	struct key_set sets[2];
	const struct key_ranges *of[] = {r, to};

	for (size_t i = 0; i < 2; i++) {
		sets[i].n = of[i]->n;
		sets[i].item = arena_alloc(b->a, (of[i]->n + 1) * sizeof *sets[i].item);
		for (size_t k = 0; k < of[i]->n; k++)
			sets[i].item[k] =
				(struct interval){of[i]->range[k].start,
						  of[i]->range[k].stop.len ? of[i]->range[k].stop
									   : (struct bytes){0}};
	}
	struct key_set both = set_and(b->a, sets[0], sets[1]);

	r->range = arena_alloc(b->a, (both.n + 1) * sizeof *r->range);
	r->n = both.n;
	for (size_t i = 0; i < both.n; i++)
		r->range[i] = (struct key_range){both.item[i].lo, both.item[i].hi};
}

/*
 * Find the conjuncts that the ranges decide. Try each conjunct together with the decided ones, and
 * test whether the ranges of both contain other rows.
 */
static void find_answered(const struct binder *b, struct key_ranges *r)
{
	const struct asked **answered = arena_alloc(b->a, (r->nconjuncts + 1) * sizeof *answered);
	struct key_ranges of_answered = {0}, tried;
	struct error err;
	size_t n = 0;

	if (r->nconjuncts > CONDITIONS_MOST || r->n > RANGES_MOST)
		return;
	for (size_t i = 0; i < r->nconjuncts; i++) {
		answered[n] = r->conjuncts[i].asked;
		if (ranges_of(&tried, b->k, asked_join(b->a, ASKED_AND, answered, n + 1), b->a,
			      &err) != RC_OK ||
		    !tried.exact)
			continue;
		r->conjuncts[i].answered = true;
		of_answered = tried;
		n++;
	}
	if (n)
		narrow(b, r, &of_answered);
}

/* Return the nodes with a conjunct that the ranges do not decide, or NULL if they decide all. */
static const struct question_node *rest_of(const struct binder *b, const struct key_ranges *r,
					   const struct question_node *const *nodes, size_t n)
{
	struct question_node *rest = arena_alloc(b->a, sizeof *rest);

	*rest = (struct question_node){.kind = QUESTION_AND};
	rest->of = arena_alloc(b->a, n * sizeof(struct question_node *));
	for (size_t i = 0, k = 0; i < n; i++) {
		bool open = false;

		for (; k < r->nconjuncts && r->conjuncts[k].node == i; k++)
			open = open || !r->conjuncts[k].answered;
		if (open)
			rest->of[rest->nof++] = nodes[i];
	}
	return rest->nof == 0 ? NULL : rest->nof == 1 ? rest->of[0] : rest;
}

int key_ranges(struct key_ranges *out, const struct key_table *k, const struct field_forms *forms,
	       const struct question *q, struct arena *a, struct error *err)
{
	const struct binder b = {k, forms, q, a};

	if (!q)
		return ranges_of(out, k, NULL, a, err);
	size_t n = count_nodes(q->root), nconjuncts = 0;
	const struct question_node **nodes = arena_alloc(a, n * sizeof *nodes);
	const struct asked **all = arena_alloc(a, n * sizeof *all);
	int rc = RC_OK;

	take_nodes(q->root, nodes);
	for (size_t i = 0; rc == RC_OK && i < n; i++) {
		rc = asked_read(&all[i], q, nodes[i], forms, k->table, a, err);
		nconjuncts += rc == RC_OK ? count_conjuncts(all[i]) : 0;
	}
	if (rc == RC_OK)
		rc = ranges_of(out, k, asked_join(a, ASKED_AND, all, n), a, err);
	if (rc || out->exact)
		return rc;
	out->conjuncts = arena_alloc(a, nconjuncts * sizeof *out->conjuncts);
	for (size_t i = 0; i < n; i++)
		out->nconjuncts += take_conjuncts(all[i], i, out->conjuncts + out->nconjuncts);
	find_answered(&b, out);
	out->rest = rest_of(&b, out, nodes, n);
	out->exact = !out->rest;
	return RC_OK;
}

/* --- conditions that a part decides by its bytes --- */

static void keep_set(struct key_condition *out, struct key_set s, struct arena *a)
{
	out->range = arena_alloc(a, (s.n + 1) * sizeof *out->range);
	out->n = s.n;
	for (size_t i = 0; i < s.n; i++)
		out->range[i] = (struct key_range){s.item[i].lo, s.item[i].hi};
}

static struct key_set by_seconds(const struct layout *l, const struct asked *q, struct arena *a)
{
	if (!asked_is_group(q))
		return condition_by_seconds(l, q, a);
	struct key_set x = by_seconds(l, q->left, a), y = by_seconds(l, q->right, a);

	return q->kind == ASKED_AND ? set_and(a, x, y) : set_or(a, x, y);
}

int key_condition(struct key_condition *out, const struct key_table *k,
		  const struct field_forms *forms, const struct question *q, size_t i,
		  struct arena *a, struct error *err)
{
	const struct question_node node = {.kind = QUESTION_CONDITION, .condition = i};
	const struct key_schema *s = &k->schema;
	const struct asked *asked;
	size_t field;
	bool found = false;
	int rc = asked_read(&asked, q, &node, forms, k->table, a, err);

	if (rc == RC_OK && !asked_of_one_field(asked, &field))
		return RC_END;
	for (size_t step = 0, run; rc == RC_OK && step < s->nsteps; step += run) {
		struct layout l;

		run = date_run(s, step, &l);
		if (s->steps[step].kind != PART_FIELD || s->parts[step].field != field)
			continue;
		struct laid laid = conditions_laid(&l, false, asked, a);

		if (!laid.exact && (found || l.as != AS_REVERSED_SECONDS))
			continue;
		found = true;
		*out = (struct key_condition){.first = step,
					      .last = step + run - 1,
					      .by_seconds = !laid.exact};
		keep_set(out, laid.exact ? laid.set : by_seconds(&l, asked, a), a);
		if (laid.exact)
			return RC_OK;
	}
	return rc ? rc : found ? RC_OK : RC_END;
}

bool key_condition_holds(const struct key_condition *c, const struct key_piece *pieces,
			 struct bytes row)
{
	size_t at = c->first ? pieces[c->first - 1].end : 0;
	struct bytes part = bytes_of(row.ptr + at, pieces[c->last].end - at);

	for (size_t i = 0; i < c->n; i++)
		if (bytes_cmp(c->range[i].start, part) <= 0 &&
		    (!c->range[i].stop.len || bytes_cmp(part, c->range[i].stop) < 0))
			return true;
	return false;
}
