/*
 * load.h - the two halves of a load apart, for several processes or machines
 *
 *   map: a slice of the input -> sorted rows, by region     (map_run, one run a slice)
 *   reduce: the rows of some regions -> HFiles              (reduce_run)
 *
 * Both keep to one plan (kept_plan.h).  load_run with load_halves makes of what they leave the very
 * load that one process would have made of the whole input.  The same inputs give the same bytes,
 * so what failed is just run again; a folder is there as a whole or not at all.
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

#define PIECES_FORMAT 1 /* of what goes from map to reduce */

struct map_options {
	const struct run_options *common;
	const struct kept_plan *plan;
	const struct input *input; /* one file, no stream */
	bool pack;		   /* pieces are compressed */
	const char *output_dir;	   /* runs, report.json and rejects.jsonl appear there */
};

/*
 * What of it is rejected is no failure: that is judged over all slices.  *r: the report, in *a.
 * RC_DATA, RC_LIMIT and RC_CONFIG come again with the same input.
 */
int map_run(const struct job *job, const struct map_options *o, struct progress *progress,
	    struct map_report *r, struct arena *a, struct error *err);

struct reduce_options {
	const struct run_options *common;
	const struct kept_plan *plan;
	const char *const *maps; /* folders of map_run; or one "-": pieces from standard input */
	size_t nmaps;
	/* Which regions: [first, end) of a table, or the part-th of so many equal shares of all. */
	size_t table, first, end;
	unsigned part, parts;	/* parts 0: of the table */
	int64_t created_ms;	/* that the files tell; -1: found in the reports of all maps */
	const char *output_dir; /* TABLE/hfiles/FAMILY and report.json appear there */
	const char *hfiles;	/* NULL, or where the HFiles are sent to (sent_files.h) */
	const struct storage_options *place; /* of hfiles */
};

int reduce_run(const struct job *job, const struct reduce_options *o, struct progress *progress,
	       struct reduce_report *r, struct arena *a, struct error *err);

/* The reports of some maps of one load. */
struct maps {
	struct map_report *reports; /* by number of the file, then by what was read of it */
	size_t n;
	struct arena arena;
};

/* RC_DATA: a map was run by another plan, job or program.  Release whatever the result. */
int maps_read(struct maps *m, const struct kept_plan *plan, const char *const *folders, size_t n,
	      struct error *err);
void maps_release(struct maps *m);
/*
 * Do the slices have each row of nfiles inputs (0: of however many there are) once?  RC_DATA: the
 * sentence says which slice must be mapped again, and how.
 */
int maps_check(const struct maps *m, size_t nfiles, struct error *err);
/* The time that all HFiles tell: SOURCE_DATE_EPOCH, or the newest cell's. */
int maps_created(const struct maps *m, int64_t *ms, struct error *err);
/* The slice's seq, which its pieces tell. */
static inline uint64_t map_slice(const struct map_report *r)
{
	return SOURCE_FILE_SEQ(r->number) + r->first;
}

/*
 * --- the conductor: events -> row records -> sorted runs -> regions -> HFiles -> published
 *
 * load_run is the whole path of `saltmill load`; its stages are on one page each in load.c.
 */

/* A load of a topic: what it adds to the manifest, and what happens around the commit. */
struct load_kafka {
	const char *cluster;
	const char *name; /* of the load; NULL: it has none */
	struct manifest_link previous;
	/* All is written and synced; the next step makes it visible.  rejects: the file with the
	 * rejected events, n of them.  NULL: nothing to do. */
	int (*before_publish)(void *ctx, const char *rejects, uint64_t n, struct error *err);
	void *ctx;
};

struct load_options {
	const struct run_options *common;
	const struct input *input;
	const char *output_dir;		     /* or a place elsewhere (storage.h) */
	const struct storage_options *place; /* how to get there; NULL: as it is usual */
	struct event_limit limit;
	const struct event_limit *max_duplicates; /* of each table's events; NULL: any */
	const struct event_limit *max_filtered;	  /* the same, of those without a cell for it */
	uint64_t min_rows;			  /* that each table has at least; 0: any */
	const struct existing_regions
		*live; /* regions that tables have already, in place of the job's; NULL: none */
	const struct load_kafka *kafka; /* NULL: the input is files */
	const struct kept_plan *plan;	/* regions and settings are its; NULL: found in the data */
	const struct load_halves
		*halves; /* all was mapped and reduced: unite it; NULL: do it all */
};

/* What maps and reduces left, which kept to the load's plan: their folders. */
struct load_halves {
	const char *const *maps, *const *reduces;
	size_t nmaps, nreduces;
	const char *hfiles; /* where reduces sent their HFiles (sent_files.h); NULL: nowhere */
};

enum load_phase { PHASE_OPEN, PHASE_READ, PHASE_SPLIT, PHASE_WRITE, PHASE_PUBLISH, PHASES };

/* What the job was promised of a table's regions; predicted sizes are in the manifest. */
struct load_promise {
	double tolerance; /* largest region / target that is fine; 0: not asked */
	bool broken;
};

/* What happened, for the summary and the exit status. */
struct load_result {
	struct manifest manifest;
	struct arena arena;	       /* what the manifest and the promises point to */
	struct load_promise *promises; /* [manifest.ntables] */
	/* [manifest.ntables]: a sentence where more than 1 % of a table's events are hidden by
	 * others; NULL also when the load was published by an earlier run */
	const char **collisions;
	double seconds[PHASES];
	uint64_t blank_lines, runs, spilled_bytes;
	bool was_visible;   /* DIR was there, also where the load failed behind that */
	bool stale_removed; /* a sibling of a run that died was removed */
};

/* Rejects within the limit are no failure: look at result->manifest.rejected. */
int load_run(const struct job *job, const struct load_options *opt, struct progress *progress,
	     struct load_result *result, struct error *err);
/*
 * Loads of slices of one input, which kept to one plan, as one: their files side by side.  Of what
 * HBase would choose between by something else than the order of the input there must be nothing:
 * RC_DATA with the row when two loads have the same cell.  opt: output_dir, limit, max_filtered,
 * min_rows and common are asked.
 */
struct load_parts {
	const char *const *dirs;
	size_t ndirs;
	size_t max_files; /* of a region and family */
};
int load_join(const struct job *job, const struct load_options *opt, const struct load_parts *parts,
	      struct progress *progress, struct load_result *result, struct error *err);
void load_result_release(struct load_result *r);

#endif
