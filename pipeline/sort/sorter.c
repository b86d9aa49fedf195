/*
 * sorter.c - create a sorter, collect the runs of its builders, and free it
 */
#include "parts.h"

#include "pool.h"

struct sorter *sorter_new(const struct sorter_options *opt)
{
	struct sorter *s = mem_calloc(1, sizeof *s);

	s->opt = *opt;
	if (s->opt.threads == 0)
		s->opt.threads = 1;
	if (s->opt.run_bytes == 0)
		s->opt.run_bytes = RUN_BYTES_USUAL;
	if (s->opt.run_bytes > RUN_BYTES_LIMIT)
		s->opt.run_bytes = RUN_BYTES_LIMIT;
	s->temp_dir = mem_strdup(opt->temp_dir);
	s->read_bytes = READ_BYTES_MIN;
	s->builders = mem_calloc(s->opt.threads, sizeof *s->builders);
	s->spills = mem_calloc(s->opt.threads, sizeof *s->spills);
	s->large = mem_calloc(s->opt.threads, sizeof *s->large);
	s->large_bytes =
		opt->large_bytes > LARGE_BYTES_LEAST ? opt->large_bytes : LARGE_BYTES_LEAST;
	for (unsigned i = 0; i < s->opt.threads; i++) {
		struct run_builder *b = &s->builders[i];

		s->spills[i] = (struct spill){.fd = -1, .dir = s->temp_dir, .quota = opt->quota};
		b->sorter = s;
		b->spill = &s->spills[i];
		b->large = &s->large[i];
		b->records_max = s->opt.run_bytes / RECORD_BYTES_MIN + 1;
	}
	return s;
}

void sorter_free(struct sorter *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < s->opt.threads; i++) {
		struct run_builder *b = &s->builders[i];

		run_builder_release(b);
		for (size_t k = 0; k < b->nruns; k++)
			run_free(b->runs[k], s->opt.budget);
		mem_free(b->runs);
	}
	for (size_t i = 0; i < s->nruns; i++)
		run_free(s->runs[i], s->opt.budget);
	for (unsigned i = 0; i < s->opt.threads; i++) {
		spill_close(&s->spills[i]);
		large_release(&s->large[i], s->opt.budget);
	}
	mem_free(s->large);
	mem_free(s->runs);
	mem_free(s->builders);
	mem_free(s->spills);
	mem_free(s->temp_dir);
	mem_free(s);
}

struct run_builder *sorter_builder(struct sorter *s, unsigned worker)
{
	return &s->builders[worker];
}

static int flush_builder(void *ctx, unsigned worker, size_t index, struct error *err)
{
	(void)worker;
	struct sorter *s = ctx;
	struct run_builder *b = &s->builders[index];
	int rc = run_builder_flush(b, err);
	run_builder_release(b);
	return rc;
}

/*
 * Move runs in memory to disk if other stages need the memory, or if the budget has no room for
 * read buffers of spilled runs.
 */
static int make_room(struct sorter *s, struct error *err)
{
	const struct budget *budget = s->opt.budget;
	bool spilled = false;

	for (unsigned i = 0; i < s->opt.threads; i++)
		spilled |= s->spills[i].fd >= 0;
	if (!spilled && atomic_load(&budget->used) <= budget->limit)
		return RC_OK;
	int rc = RC_OK;
	for (unsigned i = 0; rc == RC_OK && i < s->opt.threads; i++)
		rc = run_builder_evict(&s->builders[i], budget->limit / 4, err);
	return rc;
}

int sorter_flush(struct sorter *s, struct error *err)
{
	return pool_run(s->opt.threads, s->opt.threads, flush_builder, s, err);
}

int sorter_finish(struct sorter *s, struct error *err)
{
	int rc = sorter_flush(s, err);

	if (rc == RC_OK)
		rc = make_room(s, err);
	if (rc)
		return rc;
	for (unsigned i = 0; i < s->opt.threads; i++) {
		struct run_builder *b = &s->builders[i];

		for (size_t k = 0; k < b->nruns; k++)
			run_list_add(&s->runs, &s->nruns, b->runs[k]);
		b->nruns = 0;
		s->spilled_bytes += b->spilled_bytes + b->large->spilled_bytes;
	}
	return sorter_compact(s, err);
}

struct sorter_totals sorter_totals(const struct sorter *s)
{
	struct sorter_totals t = {.runs = s->nruns, .spilled_bytes = s->spilled_bytes};

	for (size_t i = 0; i < s->nruns; i++) {
		const struct run *r = s->runs[i];

		t.records += r->records;
		t.weight += r->blocks[r->nblocks].weight;
		t.run_bytes += r->bytes;
		t.spilled_runs += r->data ? 0 : 1;
	}
	for (unsigned i = 0; i < s->opt.threads; i++) {
		t.run_bytes += s->large[i].bytes;
		if (s->builders[i].largest > t.largest_bytes)
			t.largest_bytes = s->builders[i].largest;
	}
	return t;
}
