/*
 * halves.h - the two halves of a load apart, for several processes or machines
 *
 *   map: a slice of the input -> sorted rows, by region     (map_run, one run a slice)
 *   reduce: the rows of some regions -> HFiles              (reduce_run)
 *
 * Both keep to one plan (kept_plan.h).  load_run with load_halves makes of what they leave the very
 * load that one process would have made of the whole input.  The same inputs give the same bytes,
 * so what failed is just run again; a folder is there as a whole or not at all.
 */
#ifndef SALTMILL_HALVES_H
#define SALTMILL_HALVES_H

#include "half_reports.h"
#include "job.h"
#include "kept_plan.h"
#include "run.h"
#include "source.h"

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

#endif
