/* regions.c - choose split keys by the rule in `regions:` of the job */
#include "pass.h"

#include "key.h"

#define SAMPLE_BYTES (16u << 20)

/* Compute the number of regions. If the rule is a size in bytes on disk, measure a sample. */
static int count_regions(const struct cut_table *t, struct sorter *sorter, unsigned threads,
			 const char *work_dir, uint32_t *count, struct error *err)
{
	const struct region_rule *rule = &t->table->regions.rule;
	uint64_t weight = 0;
	struct cell_sample sample = {.bytes = SAMPLE_BYTES, .weight = &weight};
	double ratio = 1;
	int rc = region_rule_stated(rule)
			 ? RC_OK
			 : measure_disk_ratio(t, sorter, threads, &sample, work_dir, &ratio, err);

	*count = region_rule_count(rule, (double)sorter_totals(sorter).weight * ratio);
	return rc;
}

bool regions_algorithm(const struct regions *r, enum split_algorithm *a)
{
	switch (r->split) {
	case SPLIT_UNIFORM: *a = SPLIT_ALGORITHM_UNIFORM; return true;
	case SPLIT_HEX: *a = SPLIT_ALGORITHM_HEX; return true;
	case SPLIT_DECIMAL: *a = SPLIT_ALGORITHM_DECIMAL; return true;
	case SPLIT_SAMPLED:
	case SPLIT_KEY:
	case SPLIT_FILE:
	case SPLIT_NONE: break;
	}
	return false;
}

int regions_computed(const struct job *job, const struct job_table *t, uint32_t count,
		     struct splits *out, struct buf *assumed, struct error *err)
{
	const struct regions *r = &t->regions;
	enum split_algorithm a;

	if (r->split == SPLIT_KEY)
		return count < 2 ? RC_OK : key_splits(job, t, count, out, assumed, err);
	if (!regions_algorithm(r, &a))
		return RC_END;
	return count < 2 ? RC_OK : splits_compute(out, a, count, r->first, r->last, err);
}

int regions_without_data(const struct job *job, const struct job_table *t, struct splits *out,
			 struct buf *assumed, struct error *err)
{
	const struct regions *r = &t->regions;
	uint32_t stated = region_rule_stated(&r->rule);

	if (r->split == SPLIT_NONE)
		return RC_OK;
	if (r->split == SPLIT_FILE)
		return splits_read(out, r->file, err);
	return stated ? regions_computed(job, t, stated, out, assumed, err) : RC_END;
}

int regions_decide(const struct job *job, const struct cut_table *t, struct sorter *sorter,
		   unsigned threads, const char *work_dir, struct splits *out, size_t *wanted,
		   struct error *err)
{
	const struct regions *r = &t->table->regions;
	uint32_t count = 1;
	int rc = regions_without_data(job, t->table, out, NULL, err);

	*wanted = 0;
	if (rc != RC_END)
		return rc;
	if (sorter_totals(sorter).records == 0)
		return RC_OK;
	rc = count_regions(t, sorter, threads, work_dir, &count, err);
	if (rc)
		return rc;
	*wanted = count;
	rc = regions_computed(job, t->table, count, out, NULL, err);
	if (rc != RC_END)
		return rc;
	struct key_shape shape = key_shape(t->table);
	struct key_weights weights = sorter_weights(sorter);
	const struct division d = {.shape = &shape,
				   .regions = count,
				   .align_salt = r->rule.align_salt};
	return divide(&weights, &d, out, err);
}
