/*
 * reports.h - what people see of a load, as text
 */
#ifndef SALTMILL_REPORTS_H
#define SALTMILL_REPORTS_H

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
/* The same for programs, one JSON object. */
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
 * --- why a command failed, as one JSON object for a program ---
 */

/*
 * Append {"command", "status", "kind", "error"} and a line end; with "file", "line" and "column"
 * where the sentence begins with a place in a file that is there, with "found" and "expected"
 * where it says so.  kind is the name of err->code.
 */
void failure_report_json(struct buf *out, const char *command, int status, const struct error *err);

/*
 * --- what `saltmill apply` says at its end ---
 */

void apply_report_text(struct buf *out, const struct apply_result *r, bool dry_run);
/*
 * {"cluster": "...", "already": false, "tables": [{"name", "created", "altered", "missing",
 * "regions", "files", "bytes", "cells", "check": {"found",
 * "missing", "changed", "expired", "others"}, "differences": ["..."]}]}
 */
void apply_report_json(struct buf *out, const struct apply_result *r);

/*
 * --- a plan for people and for programs ---
 */

/* Regions with predicted sizes as bars, rivals, heavy keys, warnings, what lint found; appended to
 * out. */
void plan_report_text(struct buf *out, const struct job *job, const struct plan *plans,
		      const struct table_sample *samples, const struct planning_counts *counts,
		      const struct lint *lint);
/* The same as one JSON object; lint may be NULL. */
void plan_report_json(struct buf *out, const struct job *job, const struct plan *plans,
		      const struct table_sample *samples, const struct planning_counts *counts,
		      const struct lint *lint);

/*
 * --- how events fall on live regions, as text ---
 */

/* A script for `hbase shell -n`: the findings as comments, then the commands; appended to out. */
void drift_report_script(struct buf *out, const struct drift *d);
/* The same as one JSON object. */
void drift_report_json(struct buf *out, const struct drift *d);

/*
 * --- a state folder as text: where a topic stands, and its loads ---
 */

/* `saltmill status`; appended to out. */
void state_report_text(struct buf *out, const struct state_view *v);
/* The same as one JSON object. */
void state_report_json(struct buf *out, const struct state_view *v);
/*
 * One of `saltmill loads`, checked against its folder and the load before it; as text or one line
 * of JSON.  False: something is wrong with it, and the text says what.
 */
bool state_report_load(struct buf *out, const struct state_view_load *l, bool as_json);
/* What `saltmill seek` has done, a line a position. */
void state_report_seek(struct buf *out, const struct seek_result *r, bool as_json);

/*
 * --- what was proved of a load and what is wrong, as text ---
 */

/* A line a finding, problems alone when quiet; appended to out. */
void verify_report_text(struct buf *out, const struct verify_result *r, bool quiet);
/* The same as one JSON object; dir is the load's folder as it was named. */
void verify_report_json(struct buf *out, const struct verify_result *r, const char *dir);

/*
 * --- what lint found, as text ---
 */

/* Each finding with its place in the job file, why and the fix; appended to out. */
void lint_report_text(struct buf *out, const struct job *job, const struct lint *l);
/* The severe ones, a line each, as warnings. */
void lint_report_severe(struct buf *out, const struct job *job, const struct lint *l);
/* All as a JSON array of objects. */
void lint_report_json(struct buf *out, const struct lint *l);

/*
 * --- row keys as text or JSON
 *
 * Implemented in pipeline/cli/text.
 */

/* A line: "salt 5, userId 7, movieId 42", or {"row": ..., "salt": 5, "key": {"userId": 7, ...}}. */
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
 * --- the first rows of a job as text or JSON
 *
 * Implemented in pipeline/cli/text.
 */

/* Counts of each field, the rejects, and for some rows: source text, typed fields, key, cells. */
int look_report_text(struct buf *out, const struct job *job, const struct look *l,
		     struct error *err);
int look_report_json(struct buf *out, const struct job *job, const struct look *l,
		     struct error *err);

#endif
