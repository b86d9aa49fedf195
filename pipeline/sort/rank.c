/*
 * rank.c - find exact keys by weight without reading all records
 *
 * The first keys of the runs' blocks are samples. The runs' indexes bound the weight below a
 * sample. In each run, one block may contain the key. The bounds are the weights before and after
 * this block. These bounds bracket a target between two samples. A probe reads a block of each run
 * and makes the weight below a sample exact. Each probe uses the distance by which the last probe
 * missed. After a few probes, the bracket has about one block of records. Merging these records
 * gives the key. The result depends only on the records, because samples only choose the blocks.
 *
 * Targets that are near each other share one merge.
 */
#include "parts.h"

#include <stdlib.h>

#include "pool.h"

enum { SAMPLES_MAX = 1 << 16, PROBES_MAX = 12, STOP_CHECK_RECORDS = 1 << 14 };
#define NEAR(runs) (2 + (runs) / 8) /* stop narrowing at this many samples */

struct rank_sample {
	struct bytes key;
	const struct run *run;
	size_t block;
	uint64_t low, high; /* bounds of the weight below key */
};

struct target {
	uint64_t weight;
	size_t place;	/* index in `out` */
	bool found;	/* `out` has a key within the slack of the weight */
	unsigned depth; /* depth of the key in `out` */
};

struct select {
	struct sorter *s;
	struct split_choice choice;
	struct rank_sample *samples; /* distinct keys, in ascending order */
	size_t nsamples;
	uint64_t end_low;	/* bound of the weight below a key after the last sample */
	struct target *targets; /* the targets, in ascending order of weight */
	size_t ntargets;
	size_t *tasks; /* ntasks + 1 items: the first target of each task, then the end */
	size_t ntasks;
	struct split_point *out;
};

/* The records between samples `i` and `j`. If `j` is `nsamples`, the bracket ends after the last
 * record. */
struct bracket {
	size_t i, j;
	bool exact;	  /* `weight` and `below` are known */
	uint64_t weight;  /* exact weight below sample `i` */
	struct buf below; /* largest key below sample `i` */
};

static int compare_samples(const void *a, const void *b)
{
	const struct rank_sample *sa = a, *sb = b;

	return bytes_cmp(sa->key, sb->key);
}

static void collect_samples(struct select *q, size_t stride)
{
	const struct sorter *s = q->s;

	for (size_t i = 0; i < s->nruns; i++)
		for (size_t b = 0; b < s->runs[i]->nblocks; b += stride)
			q->samples[q->nsamples++] =
				(struct rank_sample){.key = run_block_key(s->runs[i], b),
						     .run = s->runs[i],
						     .block = b};
	qsort(q->samples, q->nsamples, sizeof *q->samples, compare_samples);
}

/* Set the bounds of each sample in key order. Each sample moves the bounds of its run. */
static void bound_samples(struct select *q, size_t stride)
{
	uint64_t low = 0, high = 0;
	size_t n = 0;

	for (size_t i = 0, end; i < q->nsamples; i = end) {
		struct rank_sample here = q->samples[i];

		here.low = low;
		here.high = high;
		for (end = i; end < q->nsamples && bytes_eq(q->samples[end].key, here.key); end++) {
			const struct rank_sample *p = &q->samples[end];
			const struct block *blocks = p->run->blocks;
			size_t next = p->block + stride < p->run->nblocks ? p->block + stride
									  : p->run->nblocks;

			low += blocks[p->block].weight -
			       (p->block ? blocks[p->block - stride].weight : 0);
			high += blocks[next].weight - blocks[p->block].weight;
		}
		q->samples[n++] = here;
	}
	q->nsamples = n;
	q->end_low = low;
}

/* Get the exact weight of all records below `key`, and the largest key below `key`. */
static int probe(const struct select *q, struct bytes key, uint64_t *weight, struct buf *below,
		 struct error *err)
{
	struct weigher w = sorter_weigher(q->s);
	struct run_reader reader = {0};
	int rc = stop_check(err);

	*weight = 0;
	below->len = 0;
	for (size_t i = 0; rc == RC_OK && i < q->s->nruns; i++) {
		struct run_position at;

		reader_start(&reader, q->s->runs[i]);
		rc = run_seek(&reader, key, &w, &at, below, err);
		*weight += at.weight_below;
	}
	reader_release(&reader);
	return rc;
}

/* Count the samples with an upper bound <= the weight, or if `upper` is false, with a lower bound <
 * the weight. */
static size_t samples_up_to(const struct select *q, uint64_t weight, bool upper)
{
	size_t lo = 0, hi = q->nsamples;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct rank_sample *s = &q->samples[mid];

		if (upper ? s->high <= weight : s->low < weight)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Return the last sample in (i, j) with an estimated weight of at most the target. */
static size_t guess(const struct select *q, const struct bracket *b, uint64_t target, int64_t error)
{
	size_t lo = b->i + 1, hi = b->j;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct rank_sample *s = &q->samples[mid];
		int64_t weight = (int64_t)(s->low + (s->high - s->low) / 2) + error;

		if (weight <= (int64_t)target)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo - 1;
}

static size_t clamp_between(size_t v, size_t first, size_t last)
{
	return v < first ? first : v > last ? last : v;
}

/* Narrow the bracket of one target with probes. */
static int narrow(const struct select *q, struct bracket *b, uint64_t target, struct error *err)
{
	size_t near = NEAR(q->s->nruns);
	int64_t error = 0;
	/* add these steps to the estimate, so that probes enclose the target */
	size_t step_up = 0, step_down = 0;
	struct buf below = {0};
	int rc = RC_OK;

	for (int n = 0; rc == RC_OK && n < PROBES_MAX && b->j - b->i > near; n++) {
		size_t at = guess(q, b, target, error) + step_up;

		at = clamp_between(at < step_down ? 0 : at - step_down, b->i + 1, b->j - 1);
		const struct rank_sample *s = &q->samples[at];
		uint64_t weight;
		rc = probe(q, s->key, &weight, &below, err);
		error = (int64_t)weight - (int64_t)(s->low + (s->high - s->low) / 2);
		step_up = step_down = 0;
		if (weight > target) {
			b->j = at;
			step_down = near / 2;
			continue;
		}
		step_up = near / 2;
		struct buf swap = b->below;
		*b = (struct bracket){at, b->j, true, weight, below};
		below = swap;
	}
	buf_release(&below);
	return rc;
}

/* Visits the distinct keys of a bracket and gives each target its key. */
struct rank_walk {
	struct select *q;
	size_t next, end; /* targets without a final key */
	bool started;
	struct buf below, key; /* the last two distinct keys */
	uint64_t weight;       /* weight of the records below `key` */
	uint64_t stop;	       /* a key with this weight below it cannot change targets[next] */
};

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	return a < UINT64_MAX - b ? a + b : UINT64_MAX;
}

static void put_place(struct split_point *p, struct bytes below, struct bytes key, uint64_t weight)
{
	p->weight_below = weight;
	p->below.len = p->key.len = 0;
	buf_append(&p->below, below.ptr, below.len);
	buf_append(&p->key, key.ptr, key.len);
}

/* Give the first target the last candidate key, unless the target already has a nearer key. */
static void settle(struct rank_walk *k)
{
	const struct target *t = &k->q->targets[k->next++];

	if (!t->found)
		put_place(&k->q->out[t->place], buf_bytes(&k->below), buf_bytes(&k->key),
			  k->weight);
}

static void update_stop(struct rank_walk *k)
{
	if (k->next == k->end)
		return;
	const struct target *t = &k->q->targets[k->next];
	if (t->found)
		k->stop = plus(plus(t->weight, k->q->choice.slack), 1);
	else if (k->started && k->weight <= t->weight)
		k->stop = plus(t->weight, t->weight - k->weight);
	else
		k->stop = UINT64_MAX;
}

/* Use this key for each target within the slack of the key, if the target has no better key so far.
 */
static void consider(struct rank_walk *k, struct bytes below, struct bytes key, uint64_t weight)
{
	const struct split_choice *c = &k->q->choice;
	bool seen = false;
	unsigned depth = 0;

	for (size_t i = k->next; i < k->end; i++) {
		struct target *t = &k->q->targets[i];
		struct split_point *p = &k->q->out[t->place];
		uint64_t gap = apart(weight, t->weight);

		if (t->weight > plus(weight, c->slack))
			return;
		if (gap > c->slack)
			continue;
		if (!seen && c->depth && below.len)
			depth = c->depth(c->ctx, below, key);
		seen = true;
		if (t->found && (depth > t->depth ||
				 (depth == t->depth && gap >= apart(p->weight_below, t->weight))))
			continue;
		t->found = true;
		t->depth = depth;
		put_place(p, below, key, weight);
	}
}

/* Visit a new distinct key with this weight below it. */
static void walk_key(struct rank_walk *k, struct bytes key, uint64_t weight)
{
	struct bytes below = buf_bytes(k->started ? &k->key : &k->below);

	while (k->next < k->end) {
		const struct target *t = &k->q->targets[k->next];

		if (plus(t->weight, k->q->choice.slack) >= weight)
			break;
		if (t->found || (k->started && apart(k->weight, t->weight) <= weight - t->weight)) {
			settle(k);
		} else {
			put_place(&k->q->out[t->place], below, key, weight);
			k->next++;
		}
	}
	consider(k, below, key, weight);
	if (k->started) {
		struct buf swap = k->below;

		k->below = k->key;
		k->key = swap;
	}
	k->started = true;
	k->key.len = 0;
	buf_append(&k->key, key.ptr, key.len);
	k->weight = weight;
	update_stop(k);
}

static int walk_records(struct rank_walk *k, struct merge *m, uint64_t *weight, struct error *err)
{
	struct weigher w = sorter_weigher(k->q->s);

	for (size_t n = 1; k->next < k->end; n++) {
		const struct record_item *it;
		int rc = merge_next(m, &it, err);

		if (rc)
			return rc;
		struct bytes key = it->rec.key;
		if (!k->started || !bytes_eq(key, buf_bytes(&k->key)))
			walk_key(k, key, *weight);
		*weight += weigh_item(&w, it);
		while (k->next < k->end && *weight >= k->stop) {
			settle(k);
			update_stop(k);
		}
		rc = n % STOP_CHECK_RECORDS == 0 ? stop_check(err) : RC_OK;
		if (rc)
			return rc;
	}
	return RC_END;
}

/*
 * If the index shows that the bracket's first key fills many blocks, skip its records by looking up
 * the weight below the next key.
 */
static int skip_heavy(struct rank_walk *k, const struct bracket *b, struct buf *from,
		      uint64_t *weight, struct error *err)
{
	const struct select *q = k->q;
	const struct rank_sample *s = &q->samples[b->i];
	uint64_t next_low = b->i + 1 < q->nsamples ? s[1].low : q->end_low;

	buf_append(from, s->key.ptr, s->key.len);
	if (next_low <= s->high + (s->high - s->low)) /* a probe would read as many bytes */
		return RC_OK;
	struct buf ignored = {0};
	walk_key(k, s->key, *weight);
	buf_put(from, 0); /* the least key above the bracket's first key */
	int rc = probe(q, buf_bytes(from), weight, &ignored, err);
	buf_release(&ignored);
	while (rc == RC_OK && k->next < k->end && *weight >= k->stop) {
		settle(k);
		update_stop(k);
	}
	return rc;
}

static int walk_bracket(struct rank_walk *k, struct bracket *b, struct error *err)
{
	struct select *q = k->q;
	const struct rank_sample *last = b->j < q->nsamples ? &q->samples[b->j] : NULL;
	struct merge *m;
	struct buf from = {0};
	uint64_t weight = b->weight;

	buf_append(&k->below, b->below.ptr, b->below.len);
	int rc = skip_heavy(k, b, &from, &weight, err);
	if (rc == RC_OK && k->next < k->end) {
		rc = merge_open(&m, q->s, q->s->runs, q->s->nruns, buf_bytes(&from),
				last ? last->key : bytes_of(NULL, 0), err);
		if (rc == RC_OK) {
			rc = walk_records(k, m, &weight, err);
			merge_close(m);
		}
	}
	buf_release(&from);
	if (rc != RC_OK && rc != RC_END)
		return rc;
	if (last && k->next < k->end)
		walk_key(k, last->key, weight);
	while (k->next < k->end) /* no more candidates, so the last one is nearest */
		settle(k);
	return RC_OK;
}

/* Return the samples that enclose all candidate keys of the targets [first, end). */
static struct bracket bracket_of(const struct select *q, size_t first, size_t end)
{
	uint64_t low = q->targets[first].weight, high = q->targets[end - 1].weight;

	low = low > q->choice.slack ? low - q->choice.slack : 0;
	/* The weight below the first sample is 0, so samples_up_to returns at least 1. */
	return (struct bracket){.i = samples_up_to(q, low, true) - 1,
				.j = samples_up_to(q, plus(high, q->choice.slack), false)};
}

static int select_task(void *ctx, unsigned worker, size_t index, struct error *err)
{
	(void)worker;
	struct select *q = ctx;
	struct rank_walk k = {.q = q, .next = q->tasks[index], .end = q->tasks[index + 1]};
	struct bracket b = bracket_of(q, k.next, k.end);
	uint64_t first = q->targets[k.next].weight, slack = q->choice.slack;
	size_t j = b.j;
	int rc = RC_OK;
	if (k.end - k.next == 1) {
		rc = narrow(q, &b, first > slack ? first - slack : 0, err);
		b.j = slack ? j : b.j; /* the walk ends by itself */
	}
	if (rc == RC_OK && !b.exact)
		rc = probe(q, q->samples[b.i].key, &b.weight, &b.below, err);
	if (rc == RC_OK)
		rc = walk_bracket(&k, &b, err);
	buf_release(&b.below);
	buf_release(&k.below);
	buf_release(&k.key);
	return rc;
}

static int compare_targets(const void *a, const void *b)
{
	const struct target *ta = a, *tb = b;

	return (ta->weight > tb->weight) - (ta->weight < tb->weight);
}

static void order_targets(struct select *q, const uint64_t *weights)
{
	for (size_t i = 0; i < q->ntargets; i++)
		q->targets[i] = (struct target){.weight = weights[i], .place = i};
	qsort(q->targets, q->ntargets, sizeof *q->targets, compare_targets);
}

/*
 * Return true if both targets are at a place where the index cannot narrow further, for example in
 * one heavy row.
 */
static bool same_place(const struct select *q, size_t a, size_t b)
{
	struct bracket x = bracket_of(q, a, a + 1), y = bracket_of(q, b, b + 1);

	return x.i == y.i && x.j == y.j && x.j - x.i <= NEAR(q->s->nruns);
}

/*
 * A probe reads a block of each run. Targets that are closer than this share a merge. Each other
 * target is a task, unless it would merge the same records again.
 */
static void make_tasks(struct select *q, unsigned threads)
{
	bool far = q->nsamples / q->ntargets > 4 * q->s->nruns;
	size_t chunk = far ? 1 : 1 + (q->ntargets - 1) / (8 * (size_t)threads);

	for (size_t i = 0; i < q->ntargets; i++) {
		size_t first = q->ntasks ? q->tasks[q->ntasks - 1] : 0;

		if (i == 0 || (i - first >= chunk && !same_place(q, i - 1, i)))
			q->tasks[q->ntasks++] = i;
	}
	q->tasks[q->ntasks] = q->ntargets;
}

int sorter_select(struct sorter *s, unsigned threads, const uint64_t *targets, size_t n,
		  const struct split_choice *choice, struct split_point *out, struct error *err)
{
	size_t nblocks = 0;

	for (size_t i = 0; i < s->nruns; i++)
		nblocks += s->runs[i]->nblocks;
	if (nblocks == 0 || n == 0)
		return RC_OK;
	size_t stride = 1 + nblocks / SAMPLES_MAX;
	size_t samples_max = nblocks / stride + s->nruns;
	uint64_t held = samples_max * sizeof(struct rank_sample) + n * sizeof(struct target) +
			(n + 1) * sizeof(size_t);
	budget_force(s->opt.budget, held);
	struct select q = {.s = s,
			   .samples = mem_alloc(samples_max * sizeof *q.samples),
			   .targets = mem_alloc(n * sizeof *q.targets),
			   .tasks = mem_alloc((n + 1) * sizeof *q.tasks),
			   .ntargets = n,
			   .out = out};
	if (choice)
		q.choice = *choice;
	order_targets(&q, targets);
	collect_samples(&q, stride);
	bound_samples(&q, stride);
	make_tasks(&q, threads);
	int rc = pool_run(threads, q.ntasks, select_task, &q, err);
	mem_free(q.samples);
	mem_free(q.targets);
	mem_free(q.tasks);
	budget_give(s->opt.budget, held);
	return rc;
}

static int select_weights(void *self, const uint64_t *targets, size_t n,
			  const struct split_choice *choice, struct split_point *out,
			  struct error *err)
{
	struct sorter *s = self;

	return sorter_select(s, s->opt.threads, targets, n, choice, out, err);
}

/* Bound the weight below a key. Only the block that may contain the key is uncertain. */
static int weight_below(void *self, struct bytes key, bool exact, uint64_t *least, uint64_t *most,
			struct error *err)
{
	const struct select q = {.s = self};
	struct buf below = {0};

	*least = *most = 0;
	if (exact) {
		int rc = probe(&q, key, least, &below, err);

		buf_release(&below);
		*most = *least;
		return rc;
	}
	for (size_t i = 0; i < q.s->nruns; i++) {
		const struct run *r = q.s->runs[i];
		size_t n = run_blocks_below(r, key, false);

		*least += n ? r->blocks[n - 1].weight : 0;
		*most += n ? r->blocks[n].weight : 0;
	}
	return RC_OK;
}

struct key_weights sorter_weights(struct sorter *s)
{
	return (struct key_weights){.self = s,
				    .total = sorter_totals(s).weight,
				    .select = select_weights,
				    .below = weight_below};
}
