/*
 * load.h - load events into HFiles, in one process or in two halves on several machines
 *
 *   load_run                                       the whole load
 *   map_run: a slice of the input -> sorted rows, by region     (one run for each slice)
 *   reduce_run: the rows of some regions -> HFiles
 *   load_run with load_halves                      unites maps and reduces
 *   load_join                                      joins loads of slices
 *
 * Map and reduce use one plan (kept_plan in pass.h). Uniting them gives exactly the load that one
 * process would make of the whole input. The same inputs give the same bytes, so a failed step is
 * simply run again. An output folder is complete or does not exist.
 */
#ifndef SALTMILL_LOAD_H
#define SALTMILL_LOAD_H

#include "half_reports.h"
#include "job.h"
#include "pass.h"
#include "run.h"
#include "source.h"
#include "publish.h"
#include "storage.h"

#define PIECES_FORMAT 1 /* version of the data that goes from map to reduce */

struct map_options {
	const struct run_options *common;
	const struct kept_plan *plan;
	const struct input *input; /* one file, not a stream */
	bool pack;		   /* compress the pieces */
	const char *output_dir;	   /* receives runs, report.json and rejects.jsonl */
};

/*
 * Map one slice. Rejects are no failure here: their limit is checked over all slices. *r: the
 * report, in *a. RC_DATA, RC_LIMIT and RC_CONFIG occur again with the same input.
 */
int map_run(const struct job *job, const struct map_options *o, struct progress *progress,
	    struct map_report *r, struct arena *a, struct error *err);

struct reduce_options {
	const struct run_options *common;
	const struct kept_plan *plan;
	const char *const *maps; /* folders of map_run; or only "-": pieces from standard input */
	size_t nmaps;
	/*
	 * The regions: [first, end) of a table, or share number `part` of `parts` equal shares of
	 * all.
	 */
	size_t table, first, end;
	unsigned part, parts;	/* parts 0: use table, first and end */
	int64_t created_ms;	/* time written into the files; -1: from the reports of all maps */
	const char *output_dir; /* receives TABLE/hfiles/FAMILY and report.json */
	const char *hfiles;	/* where the HFiles are sent (sent_files_send); NULL: they stay */
	const struct storage_options *place; /* options of that storage */
};

int reduce_run(const struct job *job, const struct reduce_options *o, struct progress *progress,
	       struct reduce_report *r, struct arena *a, struct error *err);

/* The reports of some maps of one load. */
struct maps {
	struct map_report *reports; /* by number of the file, then by the part that was read */
	size_t n;
	struct arena arena;
};

/*
 * Read the reports. RC_DATA: a map used another plan, job or program. Call maps_release whatever
 * the result.
 */
int maps_read(struct maps *m, const struct kept_plan *plan, const char *const *folders, size_t n,
	      struct error *err);
void maps_release(struct maps *m);
/*
 * Check that the slices cover each row of nfiles inputs once (0: of any number of inputs). RC_DATA:
 * the message says which slice must be mapped again, and how.
 */
int maps_check(const struct maps *m, size_t nfiles, struct error *err);
/* Get the time for all HFiles: SOURCE_DATE_EPOCH, or the newest cell's timestamp. */
int maps_created(const struct maps *m, int64_t *ms, struct error *err);
/* Return the slice's seq, which its pieces contain. */
static inline uint64_t map_slice(const struct map_report *r)
{
	return SOURCE_FILE_SEQ(r->number) + r->first;
}

/*
 * --- load_run: events -> row records -> sorted runs -> regions -> HFiles -> published ---
 *
 * The whole path of `saltmill load`. load.c has its stages.
 */

/* A load from Kafka: additions to the manifest, and a callback around the commit. */
struct load_kafka {
	const char *cluster;
	const char *name; /* name of the load; NULL: none */
	struct manifest_link previous;
	/*
	 * Called when everything is written and synced; the next step makes it visible. rejects:
	 * the file with the n rejected events. NULL: nothing to do.
	 */
	int (*before_publish)(void *ctx, const char *rejects, uint64_t n, struct error *err);
	void *ctx;
};

struct load_options {
	const struct run_options *common;
	const struct input *input;
	const char *output_dir;		     /* a folder, or a URI (storage.h) */
	const struct storage_options *place; /* options of the storage; NULL: defaults */
	struct event_limit limit;
	const struct event_limit *max_duplicates; /* limit of each table's events; NULL: none */
	/* the same, for events without a cell for the table */
	const struct event_limit *max_filtered;
	/* least number of rows of each table; 0: no limit */
	uint64_t min_rows;
	const struct existing_regions
		*live; /* regions that tables already have; they replace the job's; NULL: none */
	const struct load_kafka *kafka; /* NULL: the input is files */
	/* gives regions and settings; NULL: they are found in the data */
	const struct kept_plan *plan;
	const struct load_halves
		*halves; /* everything was mapped and reduced: unite it; NULL: do it all here */
};

/* The folders of maps and reduces that used the load's plan. */
struct load_halves {
	const char *const *maps, *const *reduces;
	size_t nmaps, nreduces;
	const char *hfiles; /* where reduces sent their HFiles (half_reports.h); NULL: nowhere */
};

enum load_phase { PHASE_OPEN, PHASE_READ, PHASE_SPLIT, PHASE_WRITE, PHASE_PUBLISH, PHASES };

/* The promise about a table's regions; predicted sizes are in the manifest. */
struct load_promise {
	double tolerance; /* largest allowed region / target; 0: not given */
	bool broken;
};

/* The result, for the summary and the exit status. */
struct load_result {
	struct manifest manifest;
	struct arena arena;	       /* data of manifest and promises */
	struct load_promise *promises; /* [manifest.ntables] */
	/*
	 * [manifest.ntables]: a sentence if more than 1 % of a table's events are overwritten by
	 * others; NULL also if an earlier run published the load
	 */
	const char **collisions;
	double seconds[PHASES];
	uint64_t blank_lines, runs, spilled_bytes;
	bool was_visible;   /* DIR was visible, even if the load failed after that */
	bool stale_removed; /* the partial folder of an interrupted run was removed */
};

/* Load the input. Rejects within the limit are no failure: see result->manifest.rejected. */
int load_run(const struct job *job, const struct load_options *opt, struct progress *progress,
	     struct load_result *result, struct error *err);
/*
 * Loads of slices of one input that used one plan. load_join publishes their files side by side as
 * one load. RC_DATA, with the row: two loads have the same cell, and HBase would not choose between
 * them by the order of the input. It reads these members of opt: output_dir, limit, max_filtered,
 * min_rows, common.
 */
struct load_parts {
	const char *const *dirs;
	size_t ndirs;
	size_t max_files; /* most files of a region and family */
};
int load_join(const struct job *job, const struct load_options *opt, const struct load_parts *parts,
	      struct progress *progress, struct load_result *result, struct error *err);
void load_result_release(struct load_result *r);

#endif
