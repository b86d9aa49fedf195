/*
 * regions.c - from `regions:` of the job to split keys
 */
#include "regions.h"

#include <math.h>

#include "io.h"
#include "mem.h"

#define SAMPLE_BYTES (16u << 20)
#define PER_SERVER   10 /* regions to start with (splitter/README.md 2.4) */

static double disk_ratio(const struct cut_result *r)
{
	uint64_t plain = 0, disk = 0;
	for (size_t i = 0; i < r->nfiles; i++) {
		plain += r->files[i].sum.cell_bytes;
		disk += r->files[i].sum.file_bytes - DISK_FILE_BYTES;
	}
	return plain ? (double)disk / (double)plain : 1;
}

int regions_disk_ratio(const struct cut_table *table, struct sorter *sorter, unsigned threads,
		       const struct cell_sample *sample, const char *work_dir, double *ratio,
		       struct error *err)
{
	struct cut_table t = *table;
	struct cut_result files = {0};
	t.hfiles_dir = work_dir;
	int rc = cell_sample_write(&t, sorter, threads, sample, &files, err);
	if (rc == RC_OK)
		*ratio = disk_ratio(&files);
	cut_result_release(&files);
	struct error ignored;
	int rm = io_remove_tree(work_dir, rc ? &ignored : err);
	return rc ? rc : rm;
}

static uint32_t clamp_count(const struct regions *r, double n)
{
	if (r->max && n > r->max)
		n = r->max;
	if (n < r->min)
		n = r->min;
	return n < 1 ? 1 : n > 1e6 ? 1000000 : (uint32_t)n;
}

/* How many regions the job asks for; 0: the data decides. */
static uint32_t stated_count(const struct regions *r)
{
	if (r->count)
		return r->count;
	if (!r->servers)
		return 0;
	return clamp_count(r, (double)r->servers * (r->per_server ? r->per_server : PER_SERVER));
}

static int count_regions(const struct cut_table *t, struct sorter *sorter, unsigned threads,
			 const char *work_dir, uint32_t *count, struct error *err)
{
	const struct regions *r = &t->table->regions;
	double ratio;
	*count = stated_count(r);
	if (*count)
		return RC_OK;
	struct cell_sample sample = {.bytes = SAMPLE_BYTES};
	int rc = regions_disk_ratio(t, sorter, threads, &sample, work_dir, &ratio, err);
	if (rc)
		return rc;
	double bytes = (double)sorter_totals(sorter).weight * ratio * (1 + r->headroom);
	*count = clamp_count(r, ceil(bytes / (double)r->size_bytes));
	return RC_OK;
}

/* Borders at the weight quantiles of all rows, as short as they can be. */
static int cut_exactly(struct sorter *sorter, unsigned threads, uint32_t count, struct splits *out,
		       struct error *err)
{
	if (count < 2)
		return RC_OK;
	size_t n = count - 1;
	uint64_t *targets = mem_alloc(n * sizeof *targets);
	struct split_point *points = mem_calloc(n, sizeof *points);
	uint64_t weight = sorter_totals(sorter).weight;
	for (size_t i = 0; i < n; i++)
		targets[i] = (uint64_t)((__uint128_t)weight * (i + 1) / count);
	int rc = sorter_select(sorter, threads, targets, n, points, err);
	for (size_t i = 0; rc == RC_OK && i < n; i++) {
		const struct split_point *p = &points[i];
		/* before the first row or behind the last: a border there would cut off nothing */
		if (p->below.len == 0 || p->key.len == 0)
			continue;
		struct bytes s = shortest_separator(buf_bytes(&p->below), buf_bytes(&p->key));
		if (out->count && bytes_cmp(s, out->keys[out->count - 1]) <= 0)
			continue; /* a row heavier than a region: its borders fall together */
		rc = splits_add(out, s, err);
	}
	for (size_t i = 0; i < n; i++)
		split_point_release(&points[i]);
	mem_free(points);
	mem_free(targets);
	return rc;
}

int regions_read(const char *path, struct splits *out, struct error *err)
{
	struct buf text = {0};
	int rc = io_read_file(path, &text, err);
	if (rc == RC_OK)
		rc = splits_parse(out, path, buf_bytes(&text), err);
	buf_release(&text);
	return rc;
}

bool regions_algorithm(const struct regions *r, enum split_algorithm *a)
{
	switch (r->split) {
	case SPLIT_UNIFORM: *a = SPLIT_ALGORITHM_UNIFORM; return true;
	case SPLIT_HEX: *a = SPLIT_ALGORITHM_HEX; return true;
	case SPLIT_DECIMAL: *a = SPLIT_ALGORITHM_DECIMAL; return true;
	default: return false;
	}
}

static int compute(const struct regions *r, enum split_algorithm a, uint32_t count,
		   struct splits *out, struct error *err)
{
	return count < 2 ? RC_OK : splits_compute(out, a, count, r->first, r->last, err);
}

int regions_without_data(const struct regions *r, struct splits *out, struct error *err)
{
	enum split_algorithm a;
	if (r->split == SPLIT_NONE)
		return RC_OK;
	if (r->split == SPLIT_FILE)
		return regions_read(r->file, out, err);
	if (regions_algorithm(r, &a) && stated_count(r))
		return compute(r, a, stated_count(r), out, err);
	return RC_END;
}

int regions_decide(const struct cut_table *t, struct sorter *sorter, unsigned threads,
		   const char *work_dir, struct splits *out, size_t *wanted, struct error *err)
{
	const struct regions *r = &t->table->regions;
	enum split_algorithm a;
	uint32_t count = 1;
	int rc = regions_without_data(r, out, err);
	*wanted = 0;
	if (rc != RC_END)
		return rc;
	if (sorter_totals(sorter).records == 0)
		return RC_OK;
	rc = count_regions(t, sorter, threads, work_dir, &count, err);
	if (rc)
		return rc;
	*wanted = count;
	return regions_algorithm(r, &a) ? compute(r, a, count, out, err)
					: cut_exactly(sorter, threads, count, out, err);
}
