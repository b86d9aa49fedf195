/* rank_designs.c - choose the recommended design, and order the others */
#include <math.h>
#include <stdlib.h>

#include "designs.h"

#define NEAR_SERVER 0.005
/* above this load of a server, design treats only loads within 10 % as equal */
#define FULL_LOAD   0.8
#define FULL_SHARE  1.1
#define FULL_MOST   0.99
#define P99_FACTOR  3
#define STORED_STEP 1.15
#define BETTER	    0.9 /* a figure that is better by 10 % counts */

/* --- Pareto --- */

/* Return true if `a` is better than `b` by 10 % in any figure. */
static bool better_anywhere(const struct combination *a, const struct combination *b)
{
	return a->busiest < BETTER * b->busiest || a->worst_p99 < BETTER * b->worst_p99 ||
	       a->stored < BETTER * b->stored || a->write_seconds < BETTER * b->write_seconds ||
	       a->busiest_write < BETTER * b->busiest_write;
}

static void mark_dominated(struct combinations *c)
{
	for (size_t i = 0; i < c->n; i++)
		for (size_t j = 0; j < c->n && !c->item[i].dominated; j++)
			if (j != i && !c->item[j].dominated &&
			    !better_anywhere(&c->item[i], &c->item[j]) &&
			    (better_anywhere(&c->item[j], &c->item[i]) || j < i))
				c->item[i].dominated = true;
}

/* --- the pool of nearly equal loads --- */

struct pool_limits {
	double busiest; /* largest load */
	double p99;	/* p99 of the worst question that counts as equal */
	bool no_one_region;
};

static double least_busiest(const struct combinations *c, bool skip_one_region)
{
	double least = HUGE_VAL;

	for (size_t i = 0; i < c->n; i++)
		if (!(skip_one_region && c->item[i].one_region) && c->item[i].busiest < least)
			least = c->item[i].busiest;
	return least;
}

static double limit_of(double least)
{
	if (least >= 1)
		return least;
	double limit = least * NEAR_SHARE + NEAR_SERVER;
	if (limit <= FULL_LOAD)
		return limit;
	limit = least > FULL_LOAD ? least * FULL_SHARE : fmax(FULL_LOAD, least * FULL_SHARE);
	return fmax(least, fmin(limit, FULL_MOST));
}

static struct pool_limits limits_of(const struct combinations *c)
{
	double least = least_busiest(c, false), even = least_busiest(c, true);
	struct pool_limits p = {.no_one_region = even <= least * NEAR_SHARE + NEAR_SERVER};

	p.busiest = limit_of(p.no_one_region ? even : least);
	double p99 = HUGE_VAL;
	for (size_t i = 0; i < c->n; i++) {
		const struct combination *k = &c->item[i];

		if (k->busiest <= p.busiest && !(p.no_one_region && k->one_region))
			p99 = fmin(p99, k->worst_p99);
	}
	p.p99 = P99_FACTOR * p99;
	return p;
}

static bool in_pool(const struct combination *c, const struct pool_limits *p)
{
	return c->busiest <= p->busiest && !(p->no_one_region && c->one_region);
}

static int order_of(double a, double b)
{
	return (a > b) - (a < b);
}

static long stored_step(double bytes)
{
	return bytes > 0 ? lround(log(bytes) / log(STORED_STEP)) : 0;
}

/* Return the number of hashes after the first part of the keys. No question can read them in order. */
static unsigned hashes_in(const struct combination *c, const struct designer *d)
{
	unsigned n = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct job_table *t = &d->keys[c->key[i]].key->table;

		for (size_t p = 1; p < t->nrowkey; p++)
			n += t->rowkey[p].kind == PART_HASH;
	}
	return n;
}

/* Compare two designs of the pool. A negative result recommends `a`. */
static int compare_pool(const struct combination *a, const struct combination *b,
			const struct pool_limits *p, const struct designer *d)
{
	int faults_a = a->filtered + a->reversed + a->one_region;
	int faults_b = b->filtered + b->reversed + b->one_region;
	const int order[] = {order_of((double)a->n, (double)b->n),
			     faults_a - faults_b,
			     (a->worst_p99 > p->p99) - (b->worst_p99 > p->p99),
			     a->wide - b->wide, /* a wide row cannot be split */
			     order_of((double)stored_step(a->stored),
				      (double)stored_step(b->stored)),
			     order_of((double)a->key_bytes, (double)b->key_bytes),
			     order_of((double)a->parts, (double)b->parts),
			     order_of(hashes_in(a, d), hashes_in(b, d)),
			     order_of(a->busiest, b->busiest),
			     strcmp(d->keys[a->key[0]].key->name, d->keys[b->key[0]].key->name)};

	for (size_t i = 0; i < sizeof order / sizeof *order; i++)
		if (order[i])
			return order[i];
	return 0;
}

static void swap(struct combinations *c, size_t a, size_t b)
{
	struct combination t = c->item[a];

	c->item[a] = c->item[b];
	c->item[b] = t;
}

static int compare_rest(const void *x, const void *y)
{
	const struct combination *a = x, *b = y;

	if (a->dominated != b->dominated)
		return a->dominated - b->dominated;
	if (a->one_region != b->one_region)
		return a->one_region - b->one_region;
	int order = order_of(a->busiest, b->busiest);
	if (!order)
		order = order_of((double)a->n, (double)b->n);
	for (size_t i = 0; !order && i < a->n; i++)
		order = order_of((double)a->key[i], (double)b->key[i]);
	return order;
}

void combinations_rank(struct combinations *c, const struct designer *d)
{
	struct pool_limits p = limits_of(c);
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < c->n; i++)
		if (in_pool(&c->item[i], &p) &&
		    (best == SIZE_MAX || compare_pool(&c->item[i], &c->item[best], &p, d) < 0))
			best = i;
	mark_dominated(c);
	if (best != SIZE_MAX)
		swap(c, 0, best);
	if (c->n > 1)
		qsort(c->item + 1, c->n - 1, sizeof *c->item, compare_rest);
}
