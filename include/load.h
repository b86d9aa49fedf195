/*
 * load.h - load events into HFiles, in one process, or by map and reduce on several machines
 *
 *   load_run                                       the whole load
 *   map_run: a slice of the input -> sorted rows, by region     (one run for each slice)
 *   reduce_run: the rows of some regions -> HFiles
 *   load_run with load_halves                      the load from the output of maps and reduces
 *   load_join                                      one load from the loads of slices
 *   ledger_read, ledger_choose, ledger_note, ledger_release   inputs of earlier loads
 *
 * Map and reduce use one plan (kept_plan in pass.h). The united load is the same as the load of the
 * whole input by one process. The same inputs give the same bytes, so a user can repeat a failed
 * step. An output folder is complete or does not exist.
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

#define PIECES_FORMAT 3 /* version of the data that map passes to reduce */

struct map_options {
	const struct run_options *common;
	const struct kept_plan *plan;
	const struct input *input; /* a single file, not a stream */
	bool pack;		   /* compress the pieces */
	/*
	 * another map of the input may give its rows in another order, so that reduces accept them
	 * if they are the same rows
	 */
	bool unordered;
	const char *output_dir; /* receives runs, report.json and rejects.jsonl */
};

/*
 * Map one slice. Rejects are not a failure, because unite checks their limit over all slices. *r
 * receives the report, allocated in *a. After RC_DATA, RC_LIMIT and RC_CONFIG, a retry with the
 * same input fails again.
 */
int map_run(const struct job *job, const struct map_options *o, struct progress *progress,
	    struct map_report *r, struct arena *a, struct error *err);

struct reduce_options {
	const struct run_options *common;
	const struct kept_plan *plan;
	/* folders of map_run, or only "-" for pieces from standard input */
	const char *const *maps;
	size_t nmaps;
	/*
	 * The regions to reduce. If `parts` is 0, these are the regions [first, end) of a table.
	 * Else all regions form `parts` equal shares, and the function reduces share number `part`.
	 */
	size_t table, first, end;
	unsigned part, parts; /* `parts` 0 means table, first and end */
	/*
	 * time written into the files; -1 means the time that follows from the reports of all maps
	 */
	int64_t created_ms;
	const char *output_dir; /* receives TABLE/hfiles/FAMILY and report.json */
	/*
	 * folder that receives the HFiles (sent_files_send); NULL means that the HFiles stay in
	 * output_dir
	 */
	const char *hfiles;
	const struct storage_options *place; /* options of that storage */
	bool totals; /* report the rows of each region for all slices together */
};

int reduce_run(const struct job *job, const struct reduce_options *o, struct progress *progress,
	       struct reduce_report *r, struct arena *a, struct error *err);

/* The reports of some maps of one load. */
struct maps {
	struct map_report
		*reports; /* the reports, sorted by number of the file, then by part of the file */
	size_t n;
	struct arena arena;
};

/*
 * Read the reports of maps. Returns RC_DATA if a map used another plan, job or program. Call
 * maps_release whatever the result.
 */
int maps_read(struct maps *m, const struct kept_plan *plan, const char *const *folders, size_t n,
	      struct error *err);
void maps_release(struct maps *m);
/*
 * Check that the slices cover each row of `nfiles` inputs once. If `nfiles` is 0, the function does
 * not check the number of inputs. Returns RC_DATA if a slice is missing or repeated. The message
 * has the command that maps the slice again.
 */
int maps_check(const struct maps *m, size_t nfiles, struct error *err);
/* Get the time for all HFiles: SOURCE_DATE_EPOCH, or the newest cell's timestamp. */
int maps_created(const struct maps *m, int64_t *ms, struct error *err);
/* Return the bytes of the pieces of regions [first, end) that a map wrote. */
uint64_t map_bytes(const struct map_table *t, size_t first, size_t end);
/* Return the seq that identifies the slice in its pieces. */
static inline uint64_t map_slice(const struct map_report *r)
{
	return SOURCE_FILE_SEQ(r->number) + r->first;
}

/*
 * --- load_run: events -> row records -> sorted runs -> regions -> HFiles -> published ---
 *
 * The whole path of `saltmill load`. load.c has its stages.
 */

/*
 * The parts of a load that only Kafka needs. These are additions to the manifest, and a callback
 * before publication.
 */
struct load_kafka {
	const char *cluster;
	const char *name; /* name of the load; NULL means no name */
	struct manifest_link previous;
	/*
	 * The load calls this function after the write and sync of all files, just before the load
	 * becomes visible. `rejects` is the file with the `n` rejected events. NULL means no call.
	 */
	int (*before_publish)(void *ctx, const char *rejects, uint64_t n, struct error *err);
	/*
	 * The load calls this function if it fails after before_publish began, and the load was
	 * never visible. After RC_OK, load_run removes the working folder. After an error, the
	 * folder stays.
	 */
	int (*unpublished)(void *ctx, struct error *err);
	void *ctx;
};

struct load_options {
	const struct run_options *common;
	const struct input *input;
	const char *output_dir;		     /* a folder, or a URI (storage.h) */
	const struct storage_options *place; /* options of the storage; NULL means defaults */
	struct event_limit limit;
	/* limit of each table's deduplicated events; NULL means no limit */
	const struct event_limit *max_duplicates;
	/* limit of each table's events without a cell; NULL means no limit */
	const struct event_limit *max_filtered;
	/* least number of rows of each table; 0 means no limit */
	uint64_t min_rows;
	const struct existing_regions
		/* existing regions that replace the regions in the job; NULL means no regions */
		*live;
	/* for ingest_batch (stream.h): reading stops at the end of each of these ranges */
	const struct offset_range *until;
	size_t nuntil;
	const struct load_kafka
		*kafka; /* the members for a topic; NULL means that the input is files */
	/* gives regions and settings; NULL means that the data decides them */
	const struct kept_plan *plan;
	const struct load_halves
		/* output of maps and reduces to unite; NULL means a load in this process */
		*halves;
};

/* The folders of maps and reduces that used the load's plan. */
struct load_halves {
	const char *const *maps, *const *reduces;
	size_t nmaps, nreduces;
	/*
	 * folder that reduces sent their HFiles to (half_reports.h); NULL means that they sent none
	 */
	const char *hfiles;
	/* file of the sums of the maps' regions; NULL means that the maps' reports have regions */
	const char *totals;
	const char *manifest; /* new file of this machine for a copy of the manifest, or NULL */
};

enum load_phase { PHASE_OPEN, PHASE_READ, PHASE_SPLIT, PHASE_WRITE, PHASE_PUBLISH, PHASES };

/* The tolerance for the sizes of a table's regions. The manifest has the predicted sizes. */
struct load_promise {
	/* largest allowed ratio of a region's size to the target; 0 means not given */
	double tolerance;
	bool broken;
};

/* The result of a load, for the summary and the exit status. */
struct load_result {
	struct manifest manifest;
	struct arena arena;	       /* data of manifest and promises */
	struct load_promise *promises; /* [manifest.ntables] */
	/*
	 * [manifest.ntables]: a sentence if other events overwrite more than 1 % of a table's
	 * events, else NULL. All entries are NULL if an earlier run published the load.
	 */
	const char **collisions;
	/*
	 * [manifest.ntables], or NULL: sentences about cells that delete markers of the load hide.
	 * `lost_cells` has those of tables where an event comes after its marker in the input.
	 */
	const char **hidden_cells, **lost_cells;
	/* a sentence about times with digits after the microseconds, or NULL */
	const char *finer_times;
	double seconds[PHASES];
	uint64_t blank_lines, runs, spilled_bytes;
	bool was_visible;   /* DIR became visible, even if the load failed after that */
	bool stale_removed; /* the load removed the partial folder of an interrupted run */
};

/*
 * Load the input. Rejects within the limit are not a failure. result->manifest.rejected is their
 * number.
 */
int load_run(const struct job *job, const struct load_options *opt, struct progress *progress,
	     struct load_result *result, struct error *err);
/*
 * Loads of slices of one input, made with one plan. load_join publishes the files of all these
 * loads as one load. Returns RC_DATA, with the row, if two loads have the same cell, because HBase
 * would ignore their order in the input. The function uses only the members output_dir, limit,
 * max_filtered, min_rows and common of `opt`.
 */
struct load_parts {
	const char *const *dirs;
	size_t ndirs;
	size_t max_files; /* maximum number of files for each region and family */
};
int load_join(const struct job *job, const struct load_options *opt, const struct load_parts *parts,
	      struct progress *progress, struct load_result *result, struct error *err);
void load_result_release(struct load_result *r);

/*
 * --- ledger: the inputs that the loads of one job in a folder have loaded ---
 *
 * The manifests of the loads list their inputs. Before saltmill removes a load, it records the
 * load's inputs in LEDGER_FILE. The ledger recognizes inputs by size and XXH3-128.
 */
#define LEDGER_FILE "ledger.json"
extern const struct form ledger_form;

struct ledger_input {
	const char *load; /* name of the load's folder */
	const char *job, *path;
	uint64_t bytes;
	uint8_t digest[16];
	int64_t published_ms; /* wall clock time of the last change of the load's manifest */
};
struct ledger_load {
	const char *name, *dir;
	int64_t published_ms;
	uint64_t read, rejected, rows, inputs; /* events; row keys of all tables; files */
	size_t first;			       /* index of its first input in ledger.inputs */
};
struct ledger {
	const char *dir;
	struct ledger_load *loads; /* oldest first */
	size_t nloads;
	struct ledger_input *inputs; /* the inputs of removed loads come first */
	size_t ninputs, nremoved;
	struct arena arena;
};
/*
 * Read the loads in `dir`. A missing folder has no loads. `dir` must outlive *l. Returns RC_DATA if
 * a manifest or LEDGER_FILE is damaged. Call ledger_release whatever the result.
 */
int ledger_read(struct ledger *l, const char *dir, struct error *err);
void ledger_release(struct ledger *l);

struct ledger_skip {
	const char *path;
	const struct ledger_input *loaded; /* an input with the same content */
};
struct ledger_choice {
	const char **files; /* the files to load, in their order */
	size_t nfiles;
	struct ledger_skip *skipped;
	size_t nskipped;
	/* number of these files that replace a loaded file, because their content changed */
	size_t replaced;
};
/*
 * Divide the files of the input into new files and loaded files. If the input has no files, use the
 * files of the job. The data of *out is in the ledger. Returns RC_CONFIG if a loaded file has
 * changed and `replace` is false. Returns RC_CONFIG also if the input is standard input, if a
 * load is of another job, or if `output` is a folder where the next ledger_read does not look.
 */
int ledger_choose(struct ledger *l, const struct job *job, const struct input *in,
		  const char *output, bool replace, struct ledger_choice *out, struct error *err);
/* Record the inputs of a load durably, before the caller removes the load's folder. */
int ledger_note(struct ledger *l, const struct ledger_load *load, struct error *err);

#endif
