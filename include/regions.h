/*
 * regions.h - choose a table's split keys from what the job asks and what the sorter has seen
 */
#ifndef SALTMILL_REGIONS_H
#define SALTMILL_REGIONS_H

#include "cut.h"
#include "divide.h"

/*
 * Fill *out; *wanted is how many regions the job and the data ask for, 0 when *out says it all.
 * `sampled` is divided (divide.h) by the exact weights of the sorter.  With a size the number of
 * regions comes from compressing samples with the table's own codec and encoding in work_dir (a
 * folder that is made and removed).
 */
int regions_decide(const struct cut_table *t, struct sorter *sorter, unsigned threads,
		   const char *work_dir, struct splits *out, size_t *wanted, struct error *err);

/* What of it needs no data; RC_END: the data decides.  Nothing is added to *out then. */
int regions_without_data(const struct regions *r, struct splits *out, struct error *err);
/* The keys of so many regions by HBase's algorithm that the job names; RC_END: it names none. */
int regions_computed(const struct regions *r, uint32_t count, struct splits *out,
		     struct error *err);
/* HBase's algorithm that the job names; false: none. */
bool regions_algorithm(const struct regions *r, enum split_algorithm *a);

#endif
