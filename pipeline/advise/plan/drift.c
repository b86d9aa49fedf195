/*
 * drift.c - sum the new rows for each live region, and find the keys that would balance the regions
 *
 * The sorter of `load` contains every row, so sums and split keys are exact. A merge over the key
 * range of a region reads the new rows of this region. A region that needs k parts gets borders
 * (splits.h) as if its new bytes were a table. drift assumes that the old rows of the region have
 * the same distribution as the new rows, because nothing else is known about them.
 */
#include "planning.h"

#include <stdlib.h>
#include <unistd.h>

#include "io.h"
#include "key.h"
#include "pass.h"
#include "pool.h"
#include "ddl.h"

#define SAMPLE_BYTES (16u << 20)

#define FAIR	   2.0
#define PARTS_MOST 1000

struct drift_work {
	struct drift *drift;
	const struct job *job;
	const struct drift_options *opt;
	char *dir; /* folder for temporary files */
	struct pass pass;
	size_t table; /* index of the current table */
};

/* --- read --- */

static int open_work(struct drift_work *w, struct progress *progress, struct error *err)
{
	const struct run_options *o = w->opt->common;
	const struct pass_options po = {.job = w->job,
					.run = o,
					.input = w->opt->input,
					.limit = {.share = 1, .is_share = true},
					.progress = progress,
					.wanted = w->opt->live->given};
	int rc = io_make_temp_dir(&w->dir, o->temp_dir, "saltmill-drift", err);

	if (rc == RC_OK)
		rc = pass_open(&w->pass, &po, err);
	return rc ? rc : pass_prepare(&w->pass, w->dir, err);
}

static int read_all(struct drift_work *w, struct error *err)
{
	int rc = pass_run(&w->pass, err);

	w->drift->events = w->pass.events;
	w->drift->rejected = w->pass.rejected;
	return rc ? rc : pass_sort(&w->pass, err);
}

/* --- sum --- */

static struct bytes region_start(const struct drift_table *t, size_t region)
{
	struct bytes none = {0};

	return region ? t->live->splits.keys[region - 1] : none;
}

static struct bytes region_end(const struct drift_table *t, size_t region)
{
	struct bytes none = {0};

	return region + 1 < t->nregions ? t->live->splits.keys[region] : none;
}

static int sum_region(void *ctx, unsigned worker, size_t region, struct error *err)
{
	struct drift_work *w = ctx;
	struct drift_table *t = &w->drift->tables[w->table];
	struct record_iter rows;
	struct record r;
	struct buf last = {0}; /* an empty buffer means no key yet, because keys are never empty */
	uint64_t count = 0, weight = 0;

	(void)worker;
	int rc = sorter_range(w->pass.tables[w->table].sorter, region_start(t, region),
			      region_end(t, region), &rows, err);
	if (rc)
		return rc;
	while ((rc = rows.next(rows.self, &r, err)) == RC_OK) {
		weight += row_weigh(&w->pass.tables[w->table].weigher, &r);
		if (bytes_eq(r.key, buf_bytes(&last)))
			continue;
		last.len = 0;
		buf_append(&last, r.key.ptr, r.key.len);
		count++;
	}
	rows.close(rows.self);
	buf_release(&last);
	t->regions[region].rows = count;
	t->regions[region].weight = weight;
	return rc == RC_END ? RC_OK : rc;
}

static int predict_bytes(struct drift_work *w, struct drift_table *t, struct error *err)
{
	struct sorter *sorter = w->pass.tables[w->table].sorter;
	struct cut_table cut = pass_cut_table(&w->pass, w->table);

	cut.created_ms = w->pass.newest_ms;
	double ratio = 1;
	char *dir = mem_format("%s/samples", w->dir);
	struct cell_sample sample = {.bytes = SAMPLE_BYTES};
	int rc = sorter_totals(sorter).records
			 ? measure_disk_ratio(&cut, sorter, w->pass.memory.threads, &sample, dir,
					      &ratio, err)
			 : RC_OK;
	mem_free(dir);
	for (size_t i = 0; i < t->nregions; i++) {
		struct drift_region *r = &t->regions[i];

		r->bytes = (uint64_t)((double)r->weight * ratio + 0.5);
		t->bytes += r->bytes;
		t->rows += r->rows;
		if (r->bytes > t->largest)
			t->largest = r->bytes;
	}
	return rc;
}

/* --- judge regions, and compute split keys --- */

static uint64_t bytes_after(const struct drift_region *r)
{
	return r->bytes + (r->live_bytes == EXISTING_UNKNOWN ? 0 : r->live_bytes);
}

/* Returns how many regions this region should become. */
static uint64_t parts_of(const struct drift_table *t, struct drift_region *r)
{
	double mean = (double)t->bytes / (double)t->nregions;
	uint64_t parts = 1;

	r->bursts = bytes_after(r) > t->max_filesize;
	r->hot = (double)r->bytes > t->fair * mean;
	if (r->bursts)
		parts = bytes_after(r) / t->max_filesize + 1;
	if (r->hot && (double)r->bytes / mean > (double)parts)
		parts = (uint64_t)((double)r->bytes / mean + 0.5);
	return parts < PARTS_MOST ? parts : PARTS_MOST;
}

/*
 * Compute the split keys of a region. Call this function for the regions in rising order, so that
 * the split keys rise.
 */
static int mend_region(struct drift_work *w, struct drift_table *t, size_t region,
		       struct error *err)
{
	struct drift_region *r = &t->regions[region];
	struct key_shape shape = key_shape(&w->job->tables[w->table]);
	struct key_weights weights = sorter_weights(w->pass.tables[w->table].sorter);
	const struct division d = {.shape = &shape,
				   .start = region_start(t, region),
				   .end = region_end(t, region),
				   .regions = (size_t)parts_of(t, r)};

	r->cuts_at = t->cuts.count;
	int rc = d.regions > 1 ? divide(&weights, &d, &t->cuts, err) : RC_OK;
	r->ncuts = t->cuts.count - r->cuts_at;
	return rc;
}

/*
 * Find adjacent regions that are nearly empty together. The caller must know the live sizes and
 * names.
 */
static void find_merges(struct drift_table *t)
{
	double all = 0;

	for (size_t i = 0; i < t->nregions; i++) {
		if (t->regions[i].live_bytes == EXISTING_UNKNOWN || !t->live->regions[i].encoded)
			return;
		all += (double)bytes_after(&t->regions[i]);
	}
	for (size_t i = 0; i + 1 < t->nregions; i++) {
		struct drift_region *a = &t->regions[i], *b = a + 1;
		double both = (double)bytes_after(a) + (double)bytes_after(b);

		a->merge_next = !a->ncuts && !b->ncuts && both <= all / (double)t->nregions / 2;
		i += a->merge_next;
	}
}

static int judge_table(struct drift_work *w, struct error *err)
{
	struct drift_table *t = &w->drift->tables[w->table];
	const struct job_table *job = &w->job->tables[w->table];

	t->nregions = t->live->splits.count + 1;
	t->regions = mem_calloc(t->nregions, sizeof *t->regions);
	t->max_filesize =
		w->opt->max_filesize ? w->opt->max_filesize : table_max_filesize(t->schema);
	t->fair = job->regions.rule.tolerance > 0 ? job->regions.rule.tolerance : FAIR;
	const uint64_t *requests = w->opt->live->loads ? w->opt->live->requests[w->table] : NULL;
	for (size_t i = 0; i < t->nregions; i++) {
		t->regions[i].live_bytes = t->live->regions[i].size_bytes;
		t->regions[i].live_requests = requests ? requests[i] : EXISTING_UNKNOWN;
	}
	int rc = pool_run(w->pass.memory.threads, t->nregions, sum_region, w, err);
	if (rc == RC_OK)
		rc = predict_bytes(w, t, err);
	for (size_t i = 0; rc == RC_OK && i < t->nregions; i++)
		rc = mend_region(w, t, i, err);
	find_merges(t);
	return rc;
}

/* --- the whole run --- */

static int close_work(struct drift_work *w, int rc, struct error *err)
{
	struct error ignored;

	pass_close(&w->pass);
	int rm = w->dir ? io_remove_tree(w->dir, rc ? &ignored : err) : RC_OK;
	mem_free(w->dir);
	return rc ? rc : rm;
}

int drift_run(struct drift *d, const struct job *job, const struct drift_options *opt,
	      struct progress *progress, struct error *err)
{
	struct drift_work w = {.drift = d, .job = job, .opt = opt};

	*d = (struct drift){.ntables = job->ntables};
	d->tables = mem_calloc(job->ntables, sizeof *d->tables);
	for (size_t t = 0; t < job->ntables; t++) {
		d->tables[t].schema = &job->tables[t].schema;
		d->tables[t].live = existing_regions_table(opt->live, t);
	}
	int rc = open_work(&w, progress, err);
	if (rc == RC_OK)
		rc = read_all(&w, err);
	for (w.table = 0; rc == RC_OK && w.table < job->ntables; w.table++)
		rc = d->tables[w.table].live ? judge_table(&w, err) : RC_OK;
	return close_work(&w, rc, err);
}

double drift_over_mean(const struct drift_table *t)
{
	return t->bytes ? (double)t->largest * (double)t->nregions / (double)t->bytes : 0;
}

void drift_release(struct drift *d)
{
	for (size_t t = 0; t < d->ntables; t++) {
		mem_free(d->tables[t].regions);
		splits_release(&d->tables[t].cuts);
	}
	mem_free(d->tables);
	*d = (struct drift){0};
}
