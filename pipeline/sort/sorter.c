/*
 * sorter.c - the life of a sorter: builders, then one list of runs
 */
#include "parts.h"

#include "pool.h"

static size_t choose_run_bytes(const struct sorter_options *opt)
{
	uint64_t n = opt->budget->limit / (4 * (uint64_t)opt->threads);
	if (n > RUN_BYTES_MAX)
		n = RUN_BYTES_MAX;
	return n < RUN_BYTES_MIN ? RUN_BYTES_MIN : (size_t)n;
}

struct sorter *sorter_new(const struct sorter_options *opt)
{
	struct sorter *s = mem_calloc(1, sizeof(*s));
	s->opt = *opt;
	if (s->opt.threads == 0)
		s->opt.threads = 1;
	if (s->opt.run_bytes == 0)
		s->opt.run_bytes = choose_run_bytes(&s->opt);
	if (s->opt.run_bytes > RUN_BYTES_LIMIT)
		s->opt.run_bytes = RUN_BYTES_LIMIT;
	s->temp_dir = mem_strdup(opt->temp_dir);
	s->read_bytes = BLOCK_BYTES;
	s->builders = mem_calloc(s->opt.threads, sizeof(*s->builders));
	s->spills = mem_calloc(s->opt.threads, sizeof(*s->spills));
	for (unsigned i = 0; i < s->opt.threads; i++) {
		struct run_builder *b = &s->builders[i];
		s->spills[i] = (struct spill){.fd = -1, .dir = s->temp_dir};
		b->sorter = s;
		b->spill = &s->spills[i];
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
	for (unsigned i = 0; i < s->opt.threads; i++)
		spill_close(&s->spills[i]);
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

int sorter_finish(struct sorter *s, struct error *err)
{
	int rc = pool_run(s->opt.threads, s->opt.threads, flush_builder, s, err);
	if (rc)
		return rc;
	size_t cap = 0;
	for (unsigned i = 0; i < s->opt.threads; i++) {
		struct run_builder *b = &s->builders[i];
		for (size_t k = 0; k < b->nruns; k++)
			run_list_add(&s->runs, &s->nruns, &cap, b->runs[k]);
		b->nruns = 0;
		s->spilled_bytes += b->spilled_bytes;
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
	return t;
}
