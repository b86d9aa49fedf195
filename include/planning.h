/*
 * planning.h - `saltmill plan`: events -> row keys -> sample -> splits, without an HFile
 *
 * One pass.  Each table gets a sample of its row keys (include/plan.h) and, to foresee the size on
 * disk, some whole neighbourhoods of rows, which are compressed with the table's own codec.
 */
#ifndef SALTMILL_PLANNING_H
#define SALTMILL_PLANNING_H

#include "lint.h"
#include "plan.h"
#include "pass.h"
#include "run.h"

/* What a pass over the events leaves of one table; can be saved and merged. */
struct table_sample {
	const struct job_table *table;
	struct sample *sample;
	double disk_per_byte;  /* bytes on disk for one of an uncompressed KeyValue */
	double measured_bytes; /* of KeyValues, that the ratio stands on */
	double scale; /* all rows over those in the sample: a share of the input was read; 0: 1 */
	struct hfile_tuning *tuned; /* [families] in the arena of the options; NULL: none asked */
	bool untuned;		    /* of what was merged, some was saved without settings */
	double scale_error;	    /* of what is scaled, as a share of it, with 99 % confidence */
};
void table_sample_release(struct table_sample *s);

struct planning_options {
	const struct run_options *common;
	const struct input *input;
	double fraction; /* of the input to look at; 1: all */
	bool keep;	 /* the sample will be saved: it must do for any number of regions */
	struct event_limit limit;
	struct lint *lint;    /* what the rows show of the tables is appended; NULL: not asked */
	int64_t now_ms;	      /* for lint */
	bool tune;	      /* look for the settings of `level: auto` */
	struct arena *arena;  /* of what outlives the reading */
	const char *work_dir; /* a folder for what spills and what is compressed to be measured */
};

/* What was read. */
struct planning_counts {
	uint64_t events, rejected;
	int64_t newest_ms;
	double share;	      /* of the input, that was read */
	const char **columns; /* of the input, in the arena of the options; NULL: not known */
	size_t ncolumns;
	bool columns_differ; /* of what was merged */
};

/*
 * Read the events into samples[ntables].  The same files give the same samples, whatever the
 * threads; a topic's partitions meet as the brokers send them, so its samples may differ from run
 * to run, within their stated error.  Release the samples whatever the result.
 */
int planning_read(const struct job *job, const struct planning_options *o,
		  struct progress *progress, struct table_sample *samples,
		  struct planning_counts *counts, struct error *err);

/* plan_make with what the job's `regions:` and attributes ask for; live: cut there, NULL: anew. */
int planning_make(struct plan *p, const struct job *job, struct table_sample *s,
		  const struct splits *live, struct error *err);

#define SAMPLES_FORMAT 2 /* of that file */

/*
 * The file of `--save`, for all tables of the job, and back.  samples_merge adds a file to what
 * samples and counts hold ({0} before the first), what is kept beyond in *a.  Of settings those
 * stay that were found on most cells, so the order does not matter.  RC_DATA: not such a file,
 * damaged, or of other tables. samples_save replaces such a file, whole; samples_check says
 * beforehand that it may (RC_CONFIG: something else is there).
 */
int samples_check(const char *path, struct error *err);
int samples_save(const struct job *job, const struct table_sample *samples,
		 const struct planning_counts *counts, const char *path, struct error *err);
int samples_merge(const struct job *job, struct table_sample *samples,
		  struct planning_counts *counts, struct arena *a, const char *path,
		  struct error *err);

/*
 * --- how events would fall on the regions that a table has
 *
 *   source --> row --> sort --> a sum for each live region, split keys where one is too full
 *
 * As `load` up to the region borders, and by the same weights; no HFile is written but the samples
 * that tell disk bytes per cell byte.
 */

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
