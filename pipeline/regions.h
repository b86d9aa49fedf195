/*
 * regions.h - choose a table's split keys from what the job asks and what the sorter has seen
 */
#ifndef SALTMILL_REGIONS_H
#define SALTMILL_REGIONS_H

#include "cut/cut.h"
#include "sort/sorter.h"
#include "splits.h"

/*
 * Fill *out.  `sampled` cuts exactly: the sorter knows every key, so region borders lie at the
 * weight quantiles of all rows.  With a size the number of regions comes from compressing
 * samples with the table's own codec and encoding in work_dir (a folder that is made and
 * removed).
 */
int regions_decide(const struct cut_table *t, struct sorter *sorter, unsigned threads,
		   const char *work_dir, struct splits *out, struct error *err);

#endif
