/*
 * lint.h - check a job against the principles of table design
 *
 *   lint_job                                            findings from the job alone
 *   lint_watch_new, lint_watch_row*, lint_watch_judge   findings from its rows
 *   lint_run                                            both, after reading the events
 *   lint_times, lint_regions                            findings from counts of a load
 *   lint_hotspot                                        findings from a replay of events
 *
 * Implemented in pipeline/advise/lint, whose README.md lists the rules. Findings about rows need at
 * least LINT_ROWS_LEAST rows, because fewer rows prove too little.
 */
#ifndef SALTMILL_LINT_H
#define SALTMILL_LINT_H

#include "job.h"
#include "sorter.h"
#include "row.h"
#include "pass.h"
#include "plan.h"
#include "run.h"
#include "source.h"

#define LINT_ROWS_LEAST 100

enum lint_severity {
	LINT_ADVICE,  /* costs time or space */
	LINT_WARNING, /* will cause problems */
	LINT_SEVERE /* loads overwrite or lose rows or let others read them, or servers stay idle */
};

struct lint_finding {
	const char *rule; /* name of the rule, for example "ordered-head" */
	enum lint_severity severity;
	const char *table;
	struct pos pos;	  /* position in the job file */
	const char *what; /* the finding, with its number */
	const char *why;
	/*
	 * load, plan, ddl and stream also report this finding; by default they report only severe
	 * findings
	 */
	bool always;
	/*
	 * The fix, as one or two lines of YAML. These lines replace the table's keys with the same
	 * names. Entries under `fields` replace fields of the job. NULL if no change of the job
	 * helps. `why` then contains the fix.
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

/*
 * Append the findings that the job alone shows. `live` has the regions of existing tables, which
 * replace the regions in the job. NULL means no existing tables.
 */
void lint_job(struct lint *l, const struct job *job, const struct existing_regions *live);

/*
 * Return the unit that a field of type time needs, such as "s" if the job declares milliseconds and
 * all times are in January 1970. Return NULL if the declared unit may be right.
 */
const char *lint_unit(const struct field *f, int64_t oldest_ms, int64_t newest_ms, uint64_t rows);
/* Return the sentence about that unit. The arena of `l` owns it. */
const char *lint_unit_text(struct lint *l, const struct field *f, const char *unit,
			   int64_t newest_ms);

/* Append the findings that a table's row count and the time span of its cells show. */
void lint_times(struct lint *l, const struct job *job, size_t table, uint64_t rows,
		int64_t oldest_ms, int64_t newest_ms);

/*
 * Append the finding from the rows in each of a table's n regions. The job must have split points
 * that do not depend on the rows. The function does not repeat a finding of lint_job.
 */
void lint_regions(struct lint *l, const struct job *job, size_t table, const uint64_t *rows,
		  size_t n);

/*
 * Append the findings from a replay of a table's events. `grown` is the growth of the largest
 * region relative to the mean while the newest fifth of the events arrives.
 */
void lint_hotspot(struct lint *l, const struct job *job, size_t table, const struct write_replay *r,
		  double grown);

/* Counts of the tables' rows, kept separately for each worker. */
struct lint_watch;
/*
 * Create the counts. The watch examines cells and key parts in every `every`-th row. `every` is a
 * power of two.
 */
struct lint_watch *lint_watch_new(const struct job *job, const struct row_plan *plan,
				  unsigned workers, unsigned every);
void lint_watch_free(struct lint_watch *w); /* NULL is fine */
/*
 * Count a worker's record. Pass the records in the order of their events, and call
 * lint_watch_piece_end after each piece of the input.
 */
void lint_watch_row(struct lint_watch *w, unsigned worker, size_t table, const struct record *r);
void lint_watch_piece_end(struct lint_watch *w, unsigned worker);
/*
 * Append the findings from the counted rows, after all workers have ended. `now_ms` is the current
 * time, for TTLs.
 */
void lint_watch_judge(struct lint_watch *w, struct lint *l, struct source *source, int64_t now_ms);

struct lint_options {
	const struct run_options *run;
	const struct input *input;
	const char *work_dir; /* folder for temporary files */
	int64_t now_ms;
};
/*
 * Read the events of files and append all findings. The function skips bad events and counts them
 * in *rejected.
 */
int lint_run(struct lint *l, const struct job *job, const struct lint_options *opt,
	     struct progress *progress, uint64_t *events, uint64_t *rejected, struct error *err);

extern const char *const lint_severities[]; /* names by enum lint_severity, ended by NULL */

#endif
