/*
 * regions.h - choose a table's split keys from what the job asks and what the sorter has seen
 */
#ifndef SALTMILL_REGIONS_H
#define SALTMILL_REGIONS_H

#include "cell_sample.h"
#include "splits.h"

/*
 * Fill *out; *wanted is how many regions the job and the data ask for, 0 when *out says it all.
 * `sampled` cuts exactly: the sorter knows every key, so region borders lie at the
 * weight quantiles of all rows.  With a size the number of regions comes from compressing
 * samples with the table's own codec and encoding in work_dir (a folder that is made and
 * removed).
 */
int regions_decide(const struct cut_table *t, struct sorter *sorter, unsigned threads,
		   const char *work_dir, struct splits *out, size_t *wanted, struct error *err);

/* Of each HFile, whatever is in it: the trailer.  The rest grows with the cells. */
#define DISK_FILE_BYTES 4096

/*
 * Disk bytes per byte of uncompressed cells, DISK_FILE_BYTES a file left aside, from a sample that
 * is written in work_dir, a folder that is made and removed.
 */
int regions_disk_ratio(const struct cut_table *t, struct sorter *sorter, unsigned threads,
		       const struct cell_sample *sample, const char *work_dir, double *ratio,
		       struct error *err);
/* What of it needs no data; RC_END: the data decides.  Nothing is added to *out then. */
int regions_without_data(const struct regions *r, struct splits *out, struct error *err);
/* HBase's algorithm that the job names; false: none. */
bool regions_algorithm(const struct regions *r, enum split_algorithm *a);
/* A file of split keys, one a line in the \xHH form. */
int regions_read(const char *path, struct splits *out, struct error *err);

#endif
