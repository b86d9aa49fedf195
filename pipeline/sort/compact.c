/*
 * compact.c - merge runs into larger ones
 *
 * A builder that has spilled many runs merges those in memory before it writes them. So the number
 * of runs grows slowly, and no row goes to disk twice.
 *
 * If the block buffers of all spilled runs do not fit, sorter_finish merges spilled runs. A pass
 * merges only as many runs as necessary, in groups of at most the fan-in. Threads merge groups in
 * parallel. After the pass has written a group, it releases the disk space of the group's input
 * runs.
 */
#include "parts.h"

#include "pool.h"

enum {
	FAN_IN_MIN = 8,
	STOP_CHECK_RECORDS = 1 << 14,
	/*
	 * A further merge of a record costs less than one of many runs, and than finding ranks in
	 * them, only after MANY_RUNS. Fewer than GROUP_MIN runs save too little.
	 */
	MANY_RUNS = 64,
	GROUP_MIN = 8,
	GROUP_MAX = 64
};

struct compact_group {
	size_t first, n; /* in runs */
	struct run *merged;
};

struct compact_pass {
	struct sorter *s;
	struct run **runs; /* the spilled runs; merged runs become NULL */
	struct compact_group *groups;
	size_t ngroups;
};

/* Set the codec of the merged run, which already has its span. */
static void set_codec(struct run *merged, struct run *const *runs, size_t n, size_t secondary_bytes)
{
	uint64_t least = UINT64_MAX, largest = 0;

	for (size_t i = 0; i < n; i++) {
		const struct run_codec *c = &runs[i]->codec;

		least = c->seq_base < least ? c->seq_base : least;
		largest = c->seq_last > largest ? c->seq_last : largest;
	}
	run_codec_init(&merged->codec, &merged->span, secondary_bytes, least, largest);
}

static int copy_merged(struct merge *m, struct run_writer *w, struct error *err)
{
	for (size_t i = 1;; i++) {
		const struct record_item *it;
		int rc = merge_next(m, &it, err);

		if (rc == RC_END)
			return run_writer_end(w, err);
		if (rc == RC_OK)
			rc = run_writer_put(w, it, err);
		if (rc == RC_OK && i % STOP_CHECK_RECORDS == 0)
			rc = stop_check(err);
		if (rc)
			return rc;
	}
}

/*
 * Merge runs into a new run in the temporary file. The input runs stay. The caller frees *out, which
 * may be set after a failure, too.
 */
static int merge_runs(struct sorter *s, struct run *const *runs, size_t n, struct spill *spill,
		      struct run **out, struct error *err)
{
	struct merge *m;
	int rc = merge_open(&m, s, runs, n, bytes_of(NULL, 0), bytes_of(NULL, 0), err);

	if (rc)
		return rc;
	uint8_t *buf = mem_alloc(SPILL_BUFFER_BYTES + SLACK_BYTES);
	budget_force(s->opt.budget, SPILL_BUFFER_BYTES);
	struct run *merged = *out = mem_calloc(1, sizeof *merged);
	span_merge(&merged->span, merge_span(m), s->opt.secondary_bytes);
	set_codec(merged, runs, n, s->opt.secondary_bytes);
	struct run_writer w = {.budget = s->opt.budget, .weigher = sorter_weigher(s)};
	rc = run_writer_spill(&w, merged, spill, buf, SPILL_BUFFER_BYTES, err);
	if (rc == RC_OK)
		rc = copy_merged(m, &w, err);
	run_writer_release(&w);
	merge_close(m);
	mem_free(buf);
	budget_give(s->opt.budget, SPILL_BUFFER_BYTES);
	return rc;
}

static int merge_group(void *ctx, unsigned worker, size_t index, struct error *err)
{
	struct compact_pass *p = ctx;
	struct sorter *s = p->s;
	struct compact_group *g = &p->groups[index];
	struct run **runs = p->runs + g->first;
	int rc = merge_runs(s, runs, g->n, &s->spills[worker], &g->merged, err);

	for (size_t i = 0; rc == RC_OK && i < g->n; i++) {
		run_punch(runs[i]);
		run_free(runs[i], s->opt.budget);
		runs[i] = NULL;
	}
	return rc;
}

int run_builder_compact(struct run_builder *b, struct error *err)
{
	struct sorter *s = b->sorter;
	struct run *group[GROUP_MAX], *merged = NULL;
	size_t n = 0, kept = 0, spilled = 0;

	for (size_t i = 0; i < b->nruns; i++)
		if (!b->runs[i]->data)
			spilled++;
		else if (n < GROUP_MAX)
			group[n++] = b->runs[i];
	if (spilled < MANY_RUNS || n < GROUP_MIN)
		return RC_OK;
	int rc = merge_runs(s, group, n, b->spill, &merged, err);
	if (rc) {
		run_free(merged, s->opt.budget);
		return rc;
	}
	b->spilled_bytes += merged->bytes;
	for (size_t i = 0, g = 0; i < b->nruns; i++)
		if (g < n && b->runs[i] == group[g])
			run_free(group[g++], s->opt.budget);
		else
			b->runs[kept++] = b->runs[i];
	b->runs[kept++] = merged;
	b->nruns = kept;
	b->evicted = 0;
	return RC_OK;
}

/* Form groups so that the pass removes `excess` runs, or as many runs as one pass can remove. */
static void plan_groups(struct compact_pass *p, size_t nruns, size_t excess, size_t fan_in)
{
	p->groups = mem_calloc(nruns / 2 + 1, sizeof *p->groups);
	for (size_t at = 0; excess > 0 && at + 2 <= nruns;) {
		size_t n = excess + 1 < fan_in ? excess + 1 : fan_in;

		if (n > nruns - at)
			n = nruns - at;
		p->groups[p->ngroups++] = (struct compact_group){.first = at, .n = n};
		excess -= n - 1;
		at += n;
	}
}

/* Return the remaining runs to the sorter's list, and put merged runs last. */
static void end_pass(struct compact_pass *p, size_t nruns)
{
	struct sorter *s = p->s;

	for (size_t i = 0; i < nruns; i++)
		if (p->runs[i])
			s->runs[s->nruns++] = p->runs[i];
	for (size_t i = 0; i < p->ngroups; i++) {
		struct run *merged = p->groups[i].merged;

		if (!merged)
			continue;
		s->spilled_bytes += merged->bytes;
		if (p->runs[p->groups[i].first])
			/* the merge failed, so its input runs still exist */
			run_free(merged, s->opt.budget);
		else
			s->runs[s->nruns++] = merged;
	}
	mem_free(p->groups);
	mem_free(p->runs);
}

static int merge_pass(struct sorter *s, size_t nspilled, size_t excess, size_t fan_in,
		      struct error *err)
{
	struct compact_pass p = {.s = s, .runs = mem_calloc(nspilled, sizeof *p.runs)};
	size_t kept = 0, taken = 0;

	for (size_t i = 0; i < s->nruns; i++) {
		if (s->runs[i]->data)
			s->runs[kept++] = s->runs[i];
		else
			p.runs[taken++] = s->runs[i];
	}
	s->nruns = kept;
	plan_groups(&p, nspilled, excess, fan_in);
	int rc = pool_run(s->opt.threads, p.ngroups, merge_group, &p, err);
	end_pass(&p, nspilled);
	return rc;
}

static size_t count_spilled(const struct sorter *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->nruns; i++)
		n += s->runs[i]->data ? 0 : 1;
	return n;
}

/* Return the least memory of a cursor in bytes, which is a whole block and some keys. */
static size_t cursor_bytes(const struct sorter *s)
{
	size_t widest = READ_BYTES_MIN, longest = 0;

	for (size_t i = 0; i < s->nruns; i++) {
		const struct run *r = s->runs[i];

		if (!r->data && r->widest > widest)
			widest = r->widest;
		if (!r->data && r->codec.string_max > longest)
			longest = r->codec.string_max;
	}
	return widest + reader_strings_bytes(longest) + 1024;
}

int sorter_compact(struct sorter *s, struct error *err)
{
	for (;;) {
		size_t nspilled = count_spilled(s);
		uint64_t used = atomic_load(&s->opt.budget->used), limit = s->opt.budget->limit;
		uint64_t room = used < limit ? (limit - used) / 4 * 3 / s->opt.threads : 0;
		size_t fan_in = (size_t)(room / cursor_bytes(s));

		if (fan_in < FAN_IN_MIN)
			fan_in = FAN_IN_MIN;
		if (nspilled <= fan_in) {
			size_t fits = nspilled ? (size_t)(room / nspilled) : READ_BYTES_MAX;

			s->read_bytes = fits < READ_BYTES_MIN	? READ_BYTES_MIN
					: fits < READ_BYTES_MAX ? fits
								: READ_BYTES_MAX;
			return RC_OK;
		}
		int rc = merge_pass(s, nspilled, nspilled - fan_in, fan_in, err);
		if (rc)
			return rc;
	}
}
