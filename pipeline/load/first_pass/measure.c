/* measure.c - measure how well a table's cells compress */
#include "pass.h"

#include "io.h"

static double disk_ratio(const struct cut_result *r, const uint64_t *weight)
{
	uint64_t plain = 0, disk = 0;

	for (size_t i = 0; i < r->nfiles; i++) {
		plain += r->files[i].sum.cell_bytes;
		disk += r->files[i].sum.file_bytes - HFILE_TRAILER_BYTES;
	}
	if (weight)
		plain = *weight;
	return plain ? (double)disk / (double)plain : 1;
}

int measure_disk_ratio(const struct cut_table *table, struct sorter *sorter, unsigned threads,
		       const struct cell_sample *sample, const char *work_dir, double *ratio,
		       struct error *err)
{
	struct cut_table t = *table;
	struct cut_result files = {0};

	t.hfiles_dir = work_dir;
	t.to = NULL;
	int rc = cell_sample_write(&t, sorter, threads, sample, &files, err);
	if (rc == RC_OK)
		*ratio = disk_ratio(&files, sample->weight);
	cut_result_release(&files);
	struct error ignored;
	int rm = io_remove_tree(work_dir, rc ? &ignored : err);
	return rc ? rc : rm;
}
