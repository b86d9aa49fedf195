/* write_regions.c - write all regions on all threads */
#include "cut.h"

#include <float.h>

#include "clock.h"
#include "io.h"
#include "mem.h"
#include "pool.h"

#define READ_BUFFERS (8 * (17u << 10)) /* read buffers of the smallest merge */
#define TRIES	     4		       /* attempts for a region whose upload fails */
#define LARGE_COPIES 4 /* copies of a value: as read back, gathered, in its block, compressed */

uint64_t write_memory(const struct cut_table *t)
{
	return cut_memory(t) + READ_BUFFERS + LARGE_COPIES * sorter_totals(t->rows).largest_bytes;
}

struct region_task {
	const struct write_table *table;
	size_t region;
};

struct writing {
	struct region_task *tasks;
	size_t ntasks;
	struct cutter **cutters; /* [threads] */
	struct helpers *helpers; /* threads without a region help the others */
	_Atomic size_t left;	 /* regions that are not yet written */
	struct progress *progress;
};

static int write_region(struct writing *w, unsigned worker, const struct region_task *task,
			struct error *err)
{
	const struct write_table *t = task->table;
	struct bytes none = {0};
	struct bytes lo = task->region ? t->splits->keys[task->region - 1] : none;
	struct bytes hi = task->region < t->splits->count ? t->splits->keys[task->region] : none;
	struct cut_result *result = &t->results[task->region];
	struct record_iter rows;
	int rc = RC_BROKEN;

	if (!w->cutters[worker])
		w->cutters[worker] = cutter_new();
	for (unsigned n = 0; rc == RC_BROKEN && n < TRIES; n++) {
		rc = n ? backoff_wait(n, DBL_MAX, err) : RC_OK;
		if (rc == RC_OK)
			rc = sorter_range(t->cut->rows, lo, hi, &rows, err);
		if (rc == RC_OK)
			rc = cut_region(w->cutters[worker], t->cut, task->region, &rows, result,
					err);
	}
	if (rc)
		return err->code = rc == RC_BROKEN ? RC_IO : rc;
	w->progress->cells += result->cells;
	w->progress->regions++;
	return RC_OK;
}

/* Write a region, or help other threads. The tasks after the last region only help. */
static int write_task(void *ctx, unsigned worker, size_t index, struct error *err)
{
	struct writing *w = ctx;

	if (index >= w->ntasks) {
		helpers_serve(w->helpers);
		return RC_OK;
	}
	int rc = write_region(w, worker, &w->tasks[index], err);
	if (rc || --w->left == 0)
		helpers_close(w->helpers);
	return rc;
}

static void list_tasks(struct writing *w, const struct write_table *tables, size_t ntables)
{
	size_t n = 0;

	for (size_t t = 0; t < ntables; t++)
		w->ntasks += tables[t].end - tables[t].first;
	w->tasks = mem_alloc((w->ntasks + 1) * sizeof *w->tasks);
	for (size_t t = 0; t < ntables; t++)
		for (size_t r = tables[t].first; r < tables[t].end; r++)
			w->tasks[n++] = (struct region_task){&tables[t], r};
	w->left = w->ntasks;
	w->progress->regions = 0;
	w->progress->regions_total = w->ntasks;
}

/* Count the records of all regions, to estimate the time left. */
static uint64_t count_records(const struct write_table *tables, size_t ntables)
{
	uint64_t n = 0;

	for (size_t t = 0; t < ntables; t++)
		n += tables[t].end > tables[t].first ? sorter_totals(tables[t].cut->rows).records
						     : 0;
	return n;
}

static int write_all(struct writing *w, const struct write_table *tables, size_t ntables,
		     unsigned threads, struct error *err)
{
	struct syncer *syncer = syncer_new();
	struct error unsynced;

	for (size_t t = 0; t < ntables; t++) {
		tables[t].cut->progress = w->progress;
		tables[t].cut->helpers = w->helpers;
		tables[t].cut->syncer = syncer;
	}
	int rc = w->ntasks ? pool_run(threads, w->ntasks + threads - 1, write_task, w, err) : RC_OK;
	int synced = syncer_finish(syncer, &unsynced);
	for (size_t t = 0; t < ntables; t++) {
		tables[t].cut->syncer = NULL;
		tables[t].cut->helpers = NULL;
		tables[t].cut->progress = NULL;
	}
	if (rc == RC_OK && synced) {
		*err = unsynced;
		rc = synced;
	}
	return rc;
}

int write_regions(const struct write_table *tables, size_t ntables, unsigned threads,
		  struct progress *progress, struct error *err)
{
	struct writing w = {.progress = progress, .helpers = helpers_new()};

	w.cutters = mem_calloc(threads, sizeof *w.cutters);
	list_tasks(&w, tables, ntables);
	progress_begin(progress, "writing", PROGRESS_REGIONS, count_records(tables, ntables));
	int rc = write_all(&w, tables, ntables, threads, err);
	for (unsigned i = 0; i < threads; i++)
		cutter_free(w.cutters[i]);
	helpers_free(w.helpers);
	mem_free(w.cutters);
	mem_free(w.tasks);
	return rc;
}
