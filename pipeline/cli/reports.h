/*
 * reports.h - what people see of a load, as text
 */
#ifndef SALTMILL_REPORTS_H
#define SALTMILL_REPORTS_H

#include "form.h"
#include "load.h"
#include "bytes.h"
#include "error.h"
#include "apply.h"
#include "lint.h"
#include "planning.h"
#include "stream.h"
#include "publish.h"
#include "key.h"
#include "first_rows.h"

/* Rows, cells, regions with their sizes as bars, rejects by reason, times; appended to out. */
void report_text(struct buf *out, const struct load_result *r, const char *output_dir);
/* The same as JSON. */
extern const struct form load_form;
void report_json(struct buf *out, const struct load_result *r, const char *output_dir);

/* A line for each table of whose events too many are hidden by others. */
void report_collisions(struct buf *out, const struct load_result *r);
/* A line for each input file that has no rows. */
void report_empty(struct buf *out, const struct load_result *r);
/* A line for each way in which the columns differ from those of the load in dir: none is usual. */
void report_columns(struct buf *out, const struct manifest *before, const char *dir,
		    const struct manifest *now);
/* A line for each table whose promise is broken; false when any is. */
bool report_promises(struct buf *out, const struct load_result *r);
/* A line of warning when a family's newest cell is already older than its TTL by the clock. */
void report_ttl(struct buf *out, const struct table *t, size_t family, int64_t newest_ms);
/*
 * A line of warning when the job leaves unsaid which framing of ZSTD the table's files have: which
 * clusters can read them (hfile/README.md 9.4).
 */
void report_framing(struct buf *out, const struct table *t);
/* report_ttl for every family of a load. */
void report_hidden(struct buf *out, const struct load_result *r, const struct job *job);

/* "8,000,320"; text holds at least 28 bytes. */
char *format_count(char *text, uint64_t n);

/*
 * --- why a command failed, as JSON ---
 */

extern const struct form failure_form;
/*
 * Append the error as one line.  file, line and column are there if the message begins with a place
 * in an existing file; found and expected are there if the message contains these words.
 */
void failure_report_json(struct buf *out, const char *command, int status, const struct error *err);

/*
 * --- the report of `saltmill apply` ---
 */

void apply_report_text(struct buf *out, const struct apply_result *r, bool dry_run);
extern const struct form apply_form;
void apply_report_json(struct buf *out, const struct apply_result *r);

/*
 * --- the report of `saltmill plan` ---
 */

/* Append regions with predicted sizes as bars, rivals, heavy keys, warnings, and lint's findings.
 */
void plan_report_text(struct buf *out, const struct job *job, const struct plan *plans,
		      const struct table_sample *samples, const struct planning_counts *counts,
		      const struct lint *lint);
extern const struct form plan_form;
/* The same as JSON; lint may be NULL. */
void plan_report_json(struct buf *out, const struct job *job, const struct plan *plans,
		      const struct table_sample *samples, const struct planning_counts *counts,
		      const struct lint *lint);

/*
 * --- the report of `saltmill drift` ---
 */

/* Append a script for `hbase shell -n`: the findings as comments, then the commands. */
void drift_report_script(struct buf *out, const struct drift *d);
extern const struct form drift_form;
/* The same as JSON. */
void drift_report_json(struct buf *out, const struct drift *d);

/*
 * --- the reports of `saltmill status`, `loads` and `seek` ---
 */

/* Append the report of `saltmill status`. */
void state_report_text(struct buf *out, const struct state_view *v);
extern const struct form status_form, loads_form, seek_form;
/* The same as JSON. */
void state_report_json(struct buf *out, const struct state_view *v);
/*
 * Check one load against its folder and the load before it, and append its line of `saltmill
 * loads`.  False: the check failed; the line contains the problem.
 */
bool state_report_load(struct buf *out, const struct state_view_load *l, bool as_json);
/* Append the report of `saltmill seek`, one line for each position. */
void state_report_seek(struct buf *out, const struct seek_result *r, bool as_json);

/*
 * --- the report of `saltmill verify` ---
 */

/* Append one line for each finding; with quiet only the problems. */
void verify_report_text(struct buf *out, const struct verify_result *r, bool quiet);
extern const struct form verify_form;
/* The same as JSON; dir is the load's folder, as the command names it. */
void verify_report_json(struct buf *out, const struct verify_result *r, const char *dir);

/*
 * --- the report of `saltmill lint` ---
 */

/* Append each finding with its place in the job file, the reason and the fix. */
void lint_report_text(struct buf *out, const struct job *job, const struct lint *l);
/* Append one warning for each severe finding. */
void lint_report_severe(struct buf *out, const struct job *job, const struct lint *l);
extern const struct form lint_form;
/* All as JSON. */
void lint_report_json(struct buf *out, const struct lint *l);

/*
 * --- row keys as text or JSON ---
 */

extern const struct form key_form;
/* Append one line: "salt 5, userId 7, movieId 42", or the same as JSON. */
void key_report(struct buf *out, const struct key_table *k, struct bytes key,
		const struct key_piece *pieces, bool json);

/*
 * --- ranges of row keys as text, and as the commands of those who scan them
 *
 * Implemented in pipeline/cli/text.
 */

enum ranges_form { RANGES_TABLE, RANGES_JSON, RANGES_SHELL, RANGES_JAVA, RANGES_PYTHON };

/* What a scan of the ranges reads. */
struct ranges_cost {
	bool known;
	const char *of;		 /* "16 files", "8 regions" */
	uint64_t bytes, touched; /* of the table; of what the ranges are in, at most */
};

struct ranges_shown {
	const struct key_ranges *ranges;
	struct key_checks checks;
	struct ranges_cost cost;
	const char *table;
	const char *question; /* to check rows by, if the checks are not exact */
	const char *advice;   /* NULL or a sentence */
	uint64_t limit;	      /* rows that the reader wants; 0: all */
};
extern const struct form ranges_form_json;
void ranges_report(struct buf *out, const struct ranges_shown *shown, enum ranges_form form);

/* Print a filter that key_filter built, as an expression of the HBase shell. */
void filter_shell(struct buf *out, const struct filter *f);
/* The same in Java: statements, of which the last declares `filter`. */
void filter_java(struct buf *out, const struct filter *f);
/*
 * The same in HBase's filter language, as bytes in Python.  The language has lists and
 * SINGLE_COLUMN_VALUE, but no FUZZY_ROW and no ROW with COMPARE_COMPONENT.
 */
void filter_python(struct buf *out, const struct filter *f);

/*
 * --- the report of `saltmill check` ---
 */

/* Append counts of each field, the rejects, and some rows: source text, values, key, cells. */
int look_report_text(struct buf *out, const struct job *job, const struct look *l,
		     struct error *err);
extern const struct form checked_form;
int look_report_json(struct buf *out, const struct job *job, const struct look *l,
		     struct error *err);

#endif
