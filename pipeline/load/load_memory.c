/*
 * load_memory.c - who may hold how much of --memory, and when
 *
 *   reading   pieces of input                 forced by pass.c, at most 3/16 of the budget
 *             buffers of builders             forced by the sorters, at most half
 *             sorted runs, large values       what is left; on disk beyond it
 *   writing   writers, rows being gathered    forced here, before runs are merged
 *             read buffers of spilled runs    3/4 of what is left then
 *             sorted runs, large values       what is left; on disk beyond it
 *
 * Threads cost memory: a small budget gets fewer.  That loses time and never a byte.
 */
#include "load_state.h"

#define RUN_BYTES	(8u << 20) /* sorts inside the caches */
#define RUN_BYTES_MIN	(64u << 10)
#define THREAD_BYTES	(4u << 20)
#define FILE_BUFFER_MIN (64u << 10)
#define FILE_BUFFER_MAX                                                                            \
	(256u << 10)		       /* less to touch, and still in the cache when it is written \
					*/
#define READ_BUFFERS (8 * (17u << 10)) /* the smallest merge */
#define LARGE_COPIES 4 /* of a value: read back, gathered, in its block, compressed */

unsigned load_threads(const struct run_options *o)
{
	uint64_t most = o->memory_bytes / THREAD_BYTES;
	return most < 1 ? 1 : most < o->threads ? (unsigned)most : o->threads;
}

/* Tables share the budget: what a thread gathers before it sorts. */
size_t load_run_bytes(const struct load *l)
{
	uint64_t share = l->budget.limit / (4 * l->threads * l->job->ntables);
	return share > RUN_BYTES       ? RUN_BYTES
	       : share < RUN_BYTES_MIN ? RUN_BYTES_MIN
				       : (size_t)share;
}

static size_t file_buffer_bytes(const struct load *l, const struct job_table *t)
{
	uint64_t share = l->budget.limit / (32 * l->threads * t->schema.nfamilies);
	return share > FILE_BUFFER_MAX	 ? FILE_BUFFER_MAX
	       : share < FILE_BUFFER_MIN ? FILE_BUFFER_MIN
					 : (size_t)share;
}

void load_share_writing(const struct load *l, struct cut_table *t)
{
	t->gather_bytes = l->budget.limit / (16 * l->threads);
	t->file_buffer_bytes = file_buffer_bytes(l, t->table);
}

/* Of the thread that has most to hold. */
static uint64_t writing_thread_bytes(const struct load *l)
{
	uint64_t most = 0;
	for (size_t i = 0; i < l->job->ntables; i++) {
		const struct load_table *t = &l->tables[i];
		uint64_t n = cut_memory(&t->cut) + READ_BUFFERS +
			     LARGE_COPIES * sorter_totals(t->sorter).largest_bytes;
		most = n > most ? n : most;
	}
	return most;
}

void load_reserve_writing(struct load *l)
{
	uint64_t each = writing_thread_bytes(l), fit = l->budget.limit / 4 * 3 / each;
	l->write_threads = fit < 1 ? 1 : fit < l->threads ? (unsigned)fit : l->threads;
	l->reserved = each * l->write_threads;
	budget_force(&l->budget, l->reserved);
}

void load_end_writing(struct load *l)
{
	budget_give(&l->budget, l->reserved);
	l->reserved = 0;
	for (unsigned i = 0; i < l->write_threads; i++) {
		cutter_free(l->cutters[i]);
		l->cutters[i] = NULL;
	}
	for (size_t i = 0; i < l->job->ntables; i++) {
		sorter_free(l->tables[i].sorter);
		l->tables[i].sorter = NULL;
	}
}
