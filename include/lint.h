/*
 * lint.h - a job against the principles of table design: what is unwise, why, and how to mend it
 *
 *   lint_job                                      what the job alone says
 *   lint_watch_new, lint_watch_row*, lint_watch_judge   what its rows say
 *   lint_run                                      both, and the events are read
 *   lint_times                                    of a load, what it knows anyway
 *
 * Implemented in pipeline/advise/lint, where README.md lists the rules.  A finding that rests on rows is
 * made of LINT_ROWS_LEAST rows or more; fewer prove nothing.
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
	LINT_ADVICE,  /* costs something */
	LINT_WARNING, /* will hurt */
	LINT_SEVERE   /* rows are hidden or lost */
};

struct lint_finding {
	const char *rule; /* "ordered-head" */
	enum lint_severity severity;
	const char *table;
	struct pos pos;	  /* in the job file */
	const char *what; /* what was found, with its figure */
	const char *why;
	/* YAML in a line or two: what stands in place of the table's keys of these names, and under
	 * `fields` of the job's entries */
	const char *fix;
	double figure; /* what the rule measures; its unit is the rule's */
};

struct lint { /* {0} is new */
	struct lint_finding *findings;
	size_t count, room;
	struct arena arena; /* all texts */
};
void lint_release(struct lint *l);

/* Append what the job alone shows. */
void lint_job(struct lint *l, const struct job *job);

/* Append what a table's rows and the times of its cells alone show. */
void lint_times(struct lint *l, const struct job *job, size_t table, uint64_t rows,
		int64_t oldest_ms, int64_t newest_ms);

/* Counts of a table's rows, a part a worker. */
struct lint_watch;
/* Cells and parts of keys are looked at in one row of `every`, a power of two. */
struct lint_watch *lint_watch_new(const struct job *job, const struct row_plan *plan,
				  unsigned workers, unsigned every);
void lint_watch_free(struct lint_watch *w); /* NULL is fine */
/* A worker's records in the order of its events, piece by piece of the input. */
void lint_watch_row(struct lint_watch *w, unsigned worker, size_t table, const struct record *r);
void lint_watch_piece_end(struct lint_watch *w, unsigned worker);
/* Append what the rows of this source show, when no worker runs; now_ms: for TTL. */
void lint_watch_judge(struct lint_watch *w, struct lint *l, struct source *source, int64_t now_ms);

struct lint_options {
	const struct run_options *run;
	const struct input *input;
	const char *work_dir; /* for what memory does not hold */
	int64_t now_ms;
};
/* Read the events of files and judge.  Bad events are left out and counted in *rejected. */
int lint_run(struct lint *l, const struct job *job, const struct lint_options *opt,
	     struct progress *progress, uint64_t *events, uint64_t *rejected, struct error *err);

extern const char *const lint_severities[]; /* names, by enum lint_severity; the last is NULL */

#endif
