/*
 * planning.h - `saltmill plan` and `drift`: region sizes from events, without writing HFiles
 *
 *   planning_read, planning_make        plan: events -> row keys -> sample -> splits
 *   samples_save, samples_merge         keep samples in a file
 *   drift_run, drift_release            how events fall on existing regions
 *
 * `plan` makes one pass. Each table gets a sample of its row keys (plan.h). To predict the size on
 * disk, some groups of adjacent rows are compressed with the table's own codec.
 */
#ifndef SALTMILL_PLANNING_H
#define SALTMILL_PLANNING_H

#include "lint.h"
#include "plan.h"
#include "pass.h"
#include "run.h"

/* The result of a pass over the events for one table; it can be saved and merged. */
struct table_sample {
	const struct job_table *table;
	struct sample *sample;
	double disk_per_byte;  /* bytes on disk for one byte of uncompressed KeyValues */
	double measured_bytes; /* bytes of KeyValues on which the ratio is based */
	/* all rows / rows in the sample, if only a part of the input was read; 0: 1 */
	double scale;
	/* [families], in the arena of the options; NULL: not requested */
	struct hfile_tuning *tuned;
	/* merged from samples of which some were saved without settings */
	bool untuned;
	double scale_error; /* relative error of scaled numbers, with 99 % confidence */
};
void table_sample_release(struct table_sample *s);

struct planning_options {
	const struct run_options *common;
	const struct input *input;
	double fraction; /* part of the input to read; 1: all */
	bool keep;	 /* the sample will be saved: it must suit any number of regions */
	struct event_limit limit;
	struct lint *lint;    /* receives findings from the rows; NULL: not requested */
	int64_t now_ms;	      /* for lint */
	bool tune;	      /* find the settings of `level: auto` */
	struct arena *arena;  /* for data that outlives the reading */
	const char *work_dir; /* folder for spilled rows and compressed samples */
};

/* Counts of a pass. */
struct planning_counts {
	uint64_t events, rejected;
	int64_t newest_ms;
	double share;	      /* part of the input that was read */
	const char **columns; /* of the input, in the arena of the options; NULL: unknown */
	size_t ncolumns;
	bool columns_differ; /* the merged samples have different columns */
};

/*
 * Read the events into samples[ntables]. The same files give the same samples, whatever the
 * threads. A topic's partitions arrive in the order of the brokers, so its samples may differ
 * between runs, within their stated error. Release the samples whatever the result.
 */
int planning_read(const struct job *job, const struct planning_options *o,
		  struct progress *progress, struct table_sample *samples,
		  struct planning_counts *counts, struct error *err);

/*
 * Call plan_make with the job's `regions:` and attributes. live: keep these borders; NULL: choose
 * new ones.
 */
int planning_make(struct plan *p, const struct job *job, struct table_sample *s,
		  const struct splits *live, struct error *err);

#define SAMPLES_FORMAT 2 /* version of the file of `--save` */

/*
 * Save and merge the file of `--save`, for all tables of the job. samples_merge adds a file to
 * samples and counts ({0} before the first); other data is kept in *a. The settings that were found
 * on most cells win, so the order does not matter. RC_DATA: not such a file, damaged, or for other
 * tables. samples_save replaces the file atomically. samples_check says in advance whether it may;
 * RC_CONFIG: another kind of file exists there.
 */
int samples_check(const char *path, struct error *err);
int samples_save(const struct job *job, const struct table_sample *samples,
		 const struct planning_counts *counts, const char *path, struct error *err);
int samples_merge(const struct job *job, struct table_sample *samples,
		  struct planning_counts *counts, struct arena *a, const char *path,
		  struct error *err);

/*
 * --- drift: how events would fall on the regions that a table has ---
 *
 *   source --> row --> sort --> a sum for each live region, split keys where one is too full
 *
 * The same as `load` up to the region borders, with the same weights. It writes HFiles only as
 * samples, to measure disk bytes for each cell byte.
 */

struct drift_options {
	const struct run_options *common;
	const struct input *input;
	const struct existing_regions *live;
	/* size at which HBase splits a region; 0: the table's MAX_FILESIZE, or 10 GiB */
	uint64_t max_filesize;
};

struct drift_region {
	uint64_t rows, weight;	/* distinct row keys; bytes of cells */
	uint64_t bytes;		/* predicted on disk */
	uint64_t live_bytes;	/* before the events; EXISTING_UNKNOWN */
	uint64_t live_requests; /* since the region was opened; EXISTING_UNKNOWN */
	bool bursts;		/* live and new bytes exceed max_filesize */
	bool hot;		/* gets more than `fair` times the mean of the new bytes */
	size_t cuts_at, ncuts;	/* its split keys, in drift_table.cuts */
	bool merge_next;	/* it can be merged with the next region */
};

struct drift_table {
	const struct table *schema;
	const struct existing *live; /* borrowed; NULL: not given */
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

/* Compute the drift. Bad events are counted and skipped. Call drift_release whatever the result. */
int drift_run(struct drift *d, const struct job *job, const struct drift_options *opt,
	      struct progress *progress, struct error *err);
void drift_release(struct drift *d);

#endif
