/*
 * rank.c - exact boundaries without reading everything
 *
 * The first keys of the runs' blocks are samples.  The weight below a sample is bounded by the
 * runs' indexes alone: a run adds between the weight before and behind the one block that may
 * straddle the key.  That brackets a target between two samples; the weight below a sample
 * becomes exact by reading the straddling block of each run (a probe); a few probes, guided by
 * the error of the last one, close the bracket to about a block's worth of records; merging those
 * settles it.  What comes out depends on the records only: samples just decide where to look.
 *
 * Many targets near each other share one merge instead of probing each.
 */
#include "parts.h"

#include <stdlib.h>

#include "pool.h"

enum { SAMPLES_MAX = 1 << 16, PROBES_MAX = 12, STOP_CHECK_RECORDS = 1 << 14 };

struct sample {
	struct bytes key;
	const struct run *run;
	size_t block;
	uint64_t low, high; /* bounds of the weight below key */
};

struct select {
	struct sorter *s;
	struct sample *samples; /* distinct keys, rising */
	size_t nsamples;
	uint64_t *targets; /* rising */
	size_t *places;	   /* of targets[i] in out */
	size_t ntargets;
	size_t chunk; /* targets a task */
	struct split_point *out;
};

/* Between samples i and j (nsamples: the end); the exact weight below i, and the key below it. */
struct bracket {
	size_t i, j;
	bool exact;
	uint64_t weight;
	struct buf below;
};

void split_point_release(struct split_point *p)
{
	buf_release(&p->below);
	buf_release(&p->key);
	p->weight_below = 0;
}

static int compare_samples(const void *a, const void *b)
{
	const struct sample *sa = a, *sb = b;
	return bytes_cmp(sa->key, sb->key);
}

static void collect_samples(struct select *q, size_t stride)
{
	const struct sorter *s = q->s;
	for (size_t i = 0; i < s->nruns; i++)
		for (size_t b = 0; b < s->runs[i]->nblocks; b += stride)
			q->samples[q->nsamples++] =
				(struct sample){.key = run_block_key(s->runs[i], b),
						.run = s->runs[i],
						.block = b};
	qsort(q->samples, q->nsamples, sizeof(*q->samples), compare_samples);
}

/* Sweep in key order; a run's bounds move when the sweep leaves one of its samples behind. */
static void bound_samples(struct select *q, size_t stride)
{
	uint64_t low = 0, high = 0;
	size_t n = 0;
	for (size_t i = 0, end; i < q->nsamples; i = end) {
		struct sample here = q->samples[i];
		here.low = low;
		here.high = high;
		for (end = i; end < q->nsamples && bytes_eq(q->samples[end].key, here.key); end++) {
			const struct sample *p = &q->samples[end];
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
}

/* The exact weight of all records below key, and the largest key below it. */
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

/* Samples whose upper (or lower) bound is <= (or <) the weight. */
static size_t samples_up_to(const struct select *q, uint64_t weight, bool upper)
{
	size_t lo = 0, hi = q->nsamples;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct sample *s = &q->samples[mid];
		if (upper ? s->high <= weight : s->low < weight)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The sample in (i, j) whose weight, by its bounds and the error last seen, is just <= target. */
static size_t guess(const struct select *q, const struct bracket *b, uint64_t target, int64_t error)
{
	size_t lo = b->i + 1, hi = b->j;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct sample *s = &q->samples[mid];
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

/* Close the bracket of one target by probes. */
static int narrow(const struct select *q, struct bracket *b, uint64_t target, struct error *err)
{
	size_t near = 2 + q->s->nruns / 8;
	int64_t error = 0;
	size_t step_up = 0, step_down = 0; /* over the guess, to catch the target from both sides */
	struct buf below = {0};
	int rc = RC_OK;
	for (int n = 0; rc == RC_OK && n < PROBES_MAX && b->j - b->i > near; n++) {
		size_t at = guess(q, b, target, error) + step_up;
		at = clamp_between(at < step_down ? 0 : at - step_down, b->i + 1, b->j - 1);
		const struct sample *s = &q->samples[at];
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

/* Walks the distinct keys of a bracket and settles targets as they are passed. */
struct walk {
	struct select *q;
	size_t next, end; /* targets */
	bool started;
	struct buf below, key; /* the two distinct keys last seen */
	uint64_t weight;       /* below key */
};

static void settle(struct walk *k, struct bytes below, struct bytes key, uint64_t weight)
{
	struct split_point *p = &k->q->out[k->q->places[k->next++]];
	p->weight_below = weight;
	buf_append(&p->below, below.ptr, below.len);
	buf_append(&p->key, key.ptr, key.len);
}

/* A new distinct key with this much weight below it. */
static void walk_key(struct walk *k, struct bytes key, uint64_t weight)
{
	while (k->next < k->end && k->q->targets[k->next] <= weight) {
		uint64_t target = k->q->targets[k->next];
		if (k->started && target - k->weight <= weight - target)
			settle(k, buf_bytes(&k->below), buf_bytes(&k->key), k->weight);
		else
			settle(k, buf_bytes(k->started ? &k->key : &k->below), key, weight);
	}
	if (k->started) {
		struct buf swap = k->below;
		k->below = k->key;
		k->key = swap;
	}
	k->started = true;
	k->key.len = 0;
	buf_append(&k->key, key.ptr, key.len);
	k->weight = weight;
}

static int walk_records(struct walk *k, struct merge *m, uint64_t *weight, struct error *err)
{
	struct weigher w = sorter_weigher(k->q->s);
	for (size_t n = 1; k->next < k->end; n++) {
		const struct item *it;
		int rc = merge_next(m, &it, err);
		if (rc)
			return rc;
		struct bytes key = it->rec.key;
		if (!k->started || !bytes_eq(key, buf_bytes(&k->key)))
			walk_key(k, key, *weight);
		*weight += weigh_item(&w, it);
		rc = n % STOP_CHECK_RECORDS == 0 ? stop_check(err) : RC_OK;
		if (rc)
			return rc;
	}
	return RC_END;
}

static int walk_bracket(struct walk *k, struct bracket *b, struct error *err)
{
	struct select *q = k->q;
	const struct sample *last = b->j < q->nsamples ? &q->samples[b->j] : NULL;
	struct merge *m;
	int rc = merge_open(&m, q->s, q->s->runs, q->s->nruns, q->samples[b->i].key,
			    last ? last->key : bytes_of(NULL, 0), err);
	if (rc)
		return rc;
	uint64_t weight = b->weight;
	buf_append(&k->below, b->below.ptr, b->below.len);
	rc = walk_records(k, m, &weight, err);
	merge_close(m);
	if (rc != RC_END)
		return rc;
	if (last && k->next < k->end)
		walk_key(k, last->key, weight);
	while (k->next < k->end) /* beyond all records: the last key is nearest */
		settle(k, buf_bytes(&k->below), buf_bytes(&k->key), k->weight);
	return RC_OK;
}

static int select_chunk(void *ctx, unsigned worker, size_t index, struct error *err)
{
	(void)worker;
	struct select *q = ctx;
	struct walk k = {.q = q, .next = index * q->chunk};
	k.end = k.next + q->chunk < q->ntargets ? k.next + q->chunk : q->ntargets;
	uint64_t first = q->targets[k.next], last = q->targets[k.end - 1];
	/* The first sample has nothing below it, so there is always one. */
	struct bracket b = {.i = samples_up_to(q, first, true) - 1,
			    .j = samples_up_to(q, last, false)};
	int rc = k.end - k.next == 1 ? narrow(q, &b, first, err) : RC_OK;
	if (rc == RC_OK && !b.exact)
		rc = probe(q, q->samples[b.i].key, &b.weight, &b.below, err);
	if (rc == RC_OK)
		rc = walk_bracket(&k, &b, err);
	buf_release(&b.below);
	buf_release(&k.below);
	buf_release(&k.key);
	return rc;
}

struct ranked {
	uint64_t target;
	size_t place;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *ra = a, *rb = b;
	return (ra->target > rb->target) - (ra->target < rb->target);
}

static void order_targets(struct select *q, const uint64_t *targets)
{
	struct ranked *r = mem_alloc(q->ntargets * sizeof(*r));
	for (size_t i = 0; i < q->ntargets; i++)
		r[i] = (struct ranked){targets[i], i};
	qsort(r, q->ntargets, sizeof(*r), compare_ranked);
	for (size_t i = 0; i < q->ntargets; i++) {
		q->targets[i] = r[i].target;
		q->places[i] = r[i].place;
	}
	mem_free(r);
}

int sorter_select(struct sorter *s, unsigned threads, const uint64_t *targets, size_t n,
		  struct split_point *out, struct error *err)
{
	size_t nblocks = 0;
	for (size_t i = 0; i < s->nruns; i++)
		nblocks += s->runs[i]->nblocks;
	if (nblocks == 0 || n == 0)
		return RC_OK;
	size_t stride = 1 + nblocks / SAMPLES_MAX;
	size_t samples_max = nblocks / stride + s->nruns;
	uint64_t held =
		samples_max * sizeof(struct sample) + n * (sizeof(uint64_t) + sizeof(size_t));
	budget_force(s->opt.budget, held);
	struct select q = {.s = s,
			   .samples = mem_alloc(samples_max * sizeof(*q.samples)),
			   .targets = mem_alloc(n * sizeof(*q.targets)),
			   .places = mem_alloc(n * sizeof(*q.places)),
			   .ntargets = n,
			   .out = out};
	order_targets(&q, targets);
	collect_samples(&q, stride);
	bound_samples(&q, stride);
	/* A probe reads a block of each run: when targets are closer than that, merge once. */
	bool apart = q.nsamples / n > 4 * s->nruns;
	q.chunk = apart ? 1 : 1 + (n - 1) / (8 * (size_t)threads);
	int rc = pool_run(threads, (n + q.chunk - 1) / q.chunk, select_chunk, &q, err);
	mem_free(q.samples);
	mem_free(q.targets);
	mem_free(q.places);
	budget_give(s->opt.budget, held);
	return rc;
}
