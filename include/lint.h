/*
 * lint.h - check a job against the principles of table design: problem, reason and fix
 *
 *   lint_job                                            from the job alone
 *   lint_watch_new, lint_watch_row*, lint_watch_judge   from its rows
 *   lint_run                                            both; reads the events
 *   lint_times                                          from counts that a load has anyway
 *
 * Implemented in pipeline/advise/lint; its README.md lists the rules. Findings about rows need at
 * least LINT_ROWS_LEAST rows; fewer rows prove nothing.
 */
#ifndef SALTMILL_LINT_H
#define SALTMILL_LINT_H

#include "job.h"
#include "sorter.h"
#include "row.h"
#include "run.h"
#include "source.h"

#define LINT_ROWS_LEAST 100

enum lint_severity {
	LINT_ADVICE,  /* costs time or space */
	LINT_WARNING, /* will cause problems */
	LINT_SEVERE   /* rows are overwritten or lost */
};

struct lint_finding {
	const char *rule; /* "ordered-head" */
	enum lint_severity severity;
	const char *table;
	struct pos pos;	  /* in the job file */
	const char *what; /* the finding, with its number */
	const char *why;
	/*
	 * The fix: one or two lines of YAML. They replace the table's keys of the same names;
	 * entries under `fields` replace the job's.
	 */
	const char *fix;
	double figure; /* the measured number; each rule has its own unit */
};

struct lint { /* {0} is new */
	struct lint_finding *findings;
	size_t count;
	struct arena arena; /* contains all texts */
};
void lint_release(struct lint *l);

/* Append the findings that the job alone shows. */
void lint_job(struct lint *l, const struct job *job);

/* Append the findings from a table's row count and the time span of its cells. */
void lint_times(struct lint *l, const struct job *job, size_t table, uint64_t rows,
		int64_t oldest_ms, int64_t newest_ms);

/* Counts of the tables' rows, separate for each worker. */
struct lint_watch;
/* Create the counts. Cells and key parts are examined in one row of `every`, a power of two. */
struct lint_watch *lint_watch_new(const struct job *job, const struct row_plan *plan,
				  unsigned workers, unsigned every);
void lint_watch_free(struct lint_watch *w); /* NULL is fine */
/*
 * Count a worker's record. Call it in the order of its events, and lint_watch_piece_end after each
 * piece of the input.
 */
void lint_watch_row(struct lint_watch *w, unsigned worker, size_t table, const struct record *r);
void lint_watch_piece_end(struct lint_watch *w, unsigned worker);
/* Append the findings from the counted rows, after all workers have ended. now_ms: for TTL. */
void lint_watch_judge(struct lint_watch *w, struct lint *l, struct source *source, int64_t now_ms);

struct lint_options {
	const struct run_options *run;
	const struct input *input;
	const char *work_dir; /* for temporary files */
	int64_t now_ms;
};
/*
 * Read the events of files and append all findings. Bad events are skipped and counted in
 * *rejected.
 */
int lint_run(struct lint *l, const struct job *job, const struct lint_options *opt,
	     struct progress *progress, uint64_t *events, uint64_t *rejected, struct error *err);

extern const char *const lint_severities[]; /* names, by enum lint_severity; the last is NULL */

#endif
