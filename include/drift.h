/*
 * drift.h - how events would fall on the regions that a table has
 *
 *   source --> row --> sort --> a sum for each live region, split keys where one is too full
 *
 * As `load` up to the region borders, and by the same weights; no HFile is written but the samples
 * that tell disk bytes per cell byte.
 */
#ifndef SALTMILL_DRIFT_H
#define SALTMILL_DRIFT_H

#include "existing_regions.h"
#include "pass.h"
#include "run.h"

struct drift_options {
	const struct run_options *common;
	const struct input *input;
	const struct existing_regions *live;
	uint64_t max_filesize; /* where HBase splits a region; 0: the table's MAX_FILESIZE, or 10
				  GiB */
};

struct drift_region {
	uint64_t rows, weight;	/* distinct row keys; bytes of cells */
	uint64_t bytes;		/* predicted on disk */
	uint64_t live_bytes;	/* before; EXISTING_UNKNOWN */
	uint64_t live_requests; /* since it was opened; EXISTING_UNKNOWN */
	bool bursts;		/* live and new bytes are above max_filesize */
	bool hot;		/* takes more than `fair` times the mean of the new bytes */
	size_t cuts_at, ncuts;	/* its split keys, in drift_table.cuts */
	bool merge_next;	/* with the region behind it */
};

struct drift_table {
	const struct table *schema;
	const struct existing *live; /* borrowed; NULL: not asked for */
	struct drift_region *regions;
	size_t nregions;
	uint64_t bytes, largest, rows;
	uint64_t max_filesize;
	double fair; /* the job's tolerance, or 2 */
	struct splits cuts;
};

struct drift {
	struct drift_table *tables; /* of the job */
	size_t ntables;
	uint64_t events, rejected;
};

/* Bad events are counted and left out.  Release with drift_release whatever the result. */
int drift_run(struct drift *d, const struct job *job, const struct drift_options *opt,
	      struct progress *progress, struct error *err);
void drift_release(struct drift *d);

#endif
