/*
 * regions.h - choose a table's split keys from what the job asks and what the sorter has seen
 */
#ifndef SALTMILL_REGIONS_H
#define SALTMILL_REGIONS_H

#include "cut/cut.h"
#include "sorter.h"
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

/*
 * Disk bytes per byte of uncompressed cells: 16 samples, evenly spread over the rows' weight, are
 * written as HFiles in work_dir (made and removed).
 */
int regions_disk_ratio(const struct cut_table *t, struct sorter *sorter, unsigned threads,
		       const char *work_dir, double *ratio, struct error *err);
/* What of it needs no data; RC_END: the data decides.  Nothing is added to *out then. */
int regions_without_data(const struct regions *r, struct splits *out, struct error *err);
/* HBase's algorithm that the job names; false: none. */
bool regions_algorithm(const struct regions *r, enum split_algorithm *a);
/* A file of split keys, one a line in the \xHH form. */
int regions_read(const char *path, struct splits *out, struct error *err);

#endif
