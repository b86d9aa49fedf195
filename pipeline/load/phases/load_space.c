/*
 * load_space.c - check that the disks have enough free space for this run
 *
 * The size of a sorted row is unknown until the load has read some rows. The job may omit columns,
 * and cells may be absent. When memory is full, all sorted rows go to disk. After that, a part of
 * the input predicts the rest.
 *
 * For HFiles, the weight of all cells is known exactly after reading, and so is an upper bound. If
 * the disk has less free space than this bound, the load writes samples to measure compression.
 *
 * A prediction is not exact. Therefore a run fails only if its predicted need clearly exceeds the
 * free space.
 */
#include <sys/statvfs.h>

#include "load_state.h"
#include "pass.h"
#include "bytes.h"

#define STRETCH_BYTES (4u << 20) /* bytes to spill before the first prediction */
#define STRETCHES     50	 /* number of predictions during the input */
#define MARGIN	      0.9
#define SAMPLE_BYTES  (16u << 20)

static bool free_bytes(const char *dir, uint64_t *out)
{
	struct statvfs st;

	if (statvfs(dir, &st) < 0)
		return false;
	*out = (uint64_t)st.f_bavail * st.f_frsize;
	return true;
}

static int refuse(const char *what, double bytes, const char *dir, uint64_t there,
		  const char *advice, struct error *err)
{
	char need[16], have[16];

	return error_set(err, RC_IO, "%s need about %s in %s, found %s of free space; %s", what,
			 format_bytes(need, (uint64_t)bytes), dir, format_bytes(have, there),
			 advice);
}

/* --- temporary files --- */

static int check_spill(struct load *l, uint64_t done, uint64_t total, uint64_t spilled,
		       struct error *err)
{
	double per_byte = (double)(spilled - l->space.spilled) / (double)(done - l->space.done);
	double more = per_byte * (double)(total - done), need = more + (double)spilled;
	uint64_t there, limit = l->pass.quota.limit;
	char text[16], most[16];

	if (limit != UINT64_MAX && need * MARGIN > (double)limit)
		return error_set(
			err, RC_LIMIT,
			"the sorted rows of this input need about %s of temporary files, "
			"expected at most %s; raise --temp-quota, or raise --memory to spill "
			"less",
			format_bytes(text, (uint64_t)need), format_bytes(most, limit));
	if (free_bytes(l->pass.temp_dir, &there) && more * MARGIN > (double)there)
		return refuse("the sorted rows that saltmill still spills", more, l->pass.temp_dir,
			      there, "choose another disk with --temp-dir, or raise --memory", err);
	return RC_OK;
}

int load_space_reading(struct load *l, struct error *err)
{
	uint64_t spilled = atomic_load(&l->pass.quota.used), done, total;
	int rc = RC_OK;

	if (spilled == 0 || l->space.checked || atomic_flag_test_and_set(&l->space.busy))
		return RC_OK;
	source_progress(l->pass.source, &done, &total);
	if (!l->space.begun) {
		l->space.begun = true;
		l->space.spilled = spilled;
		l->space.done = done;
	} else if (total > done && done - l->space.done >= total / STRETCHES &&
		   spilled - l->space.spilled >= STRETCH_BYTES) {
		rc = check_spill(l, done, total, spilled, err);
		l->space.checked = true;
	}
	atomic_flag_clear(&l->space.busy);
	return rc;
}

/* --- HFiles --- */

static double most_bytes(const struct load *l)
{
	double sum = 0;

	for (size_t i = 0; i < l->job->ntables; i++) {
		const struct load_table *t = &l->tables[i];
		double files = (double)((t->splits.count + 1) * t->job->schema.nfamilies);

		/* add a few percent for index, bloom filter and checksums */
		sum += 1.05 * (double)sorter_totals(t->sorter).weight + HFILE_FIXED_BYTES * files;
	}
	return sum;
}

int load_space_writing(struct load *l, const char *work_dir, struct error *err)
{
	uint64_t there;
	double need = 0;
	int asked =
		storage_free(staging_storage(l->staging), staging_path(l->staging), &there, err);

	if (asked || there == UINT64_MAX || most_bytes(l) <= (double)there)
		return asked;
	for (size_t i = 0; i < l->job->ntables; i++) {
		const struct load_table *t = &l->tables[i];
		struct cell_sample sample = {.bytes = there / 4 < SAMPLE_BYTES ? there / 4
									       : SAMPLE_BYTES};
		double ratio;
		int rc = measure_disk_ratio(&t->cut, t->sorter, l->threads, &sample, work_dir,
					    &ratio, err);

		if (rc)
			return rc;
		need += ratio * (double)sorter_totals(t->sorter).weight;
	}
	if (need * MARGIN <= (double)there)
		return RC_OK;
	return refuse("the HFiles of this load", need, l->opt->output_dir, there,
		      "choose an output folder on another disk", err);
}
