/*
 * reports.h - prints the results of commands as text and as JSON
 */
#ifndef SALTMILL_REPORTS_H
#define SALTMILL_REPORTS_H

#include "by_field.h"
#include "design.h"
#include "form.h"
#include "load.h"
#include "bytes.h"
#include "error.h"
#include "apply.h"
#include "ddl.h"
#include "hbase.h"
#include "lint.h"
#include "planning.h"
#include "stream.h"
#include "publish.h"
#include "key.h"
#include "first_rows.h"
#include "query.h"

/* Append rows, cells, regions with their sizes as bars, rejects by reason, and times. */
void report_text(struct buf *out, const struct load_result *r, const char *output_dir);
/* JSON form of the same report */
extern const struct form load_form;
void report_json(struct buf *out, const struct load_result *r, const char *output_dir);

/* Append lines for tables with too many overwritten events or lost cells, and for finer times. */
void report_collisions(struct buf *out, const struct load_result *r);
/* Append a line for each input file without rows. */
void report_empty(struct buf *out, const struct load_result *r);
/*
 * Append a line for each kind of difference between the columns of `now` and those of `before`, the
 * load in `dir`.
 */
void report_columns(struct buf *out, const struct manifest *before, const char *dir,
		    const struct manifest *now);
/*
 * Append a line for each table that exceeds its limits. Returns false if there is such a
 * table.
 */
bool report_promises(struct buf *out, const struct load_result *r);
/* Append a warning if the newest cell of a family is already older than its TTL. */
void report_ttl(struct buf *out, const struct table *t, size_t family, int64_t newest_ms);
/*
 * Append a warning if the job does not set the framing of ZSTD for a table. The framing decides
 * which clusters can read the files (hfile/README.md 9.4).
 */
void report_framing(struct buf *out, const struct table *t);
/* Append report_ttl for every family of a load. */
void report_hidden(struct buf *out, const struct load_result *r, const struct job *job);

/*
 * Write a number such as "8,000,320" to `text`, which has space for at least 28 bytes. Returns
 * `text`.
 */
char *format_count(char *text, uint64_t n);

/* --- failures as JSON --- */

extern const struct form failure_form;
/*
 * Append the error as one line of JSON. `file`, `line` and `column` are present if the message
 * begins with a place in an existing file. `found` and `expected` are present if the message
 * contains these words.
 */
void failure_report_json(struct buf *out, const char *command, int status, const struct error *err);

/*
 * --- the report of `saltmill apply` ---
 */

void apply_report_text(struct buf *out, const struct apply_result *r, bool dry_run);
extern const struct form apply_form;
/* Append a line for each finding of --check-access. */
void apply_access_text(struct buf *out, const struct apply_result *r);
void apply_report_json(struct buf *out, const struct apply_result *r);
/* Add the report about a second cluster to the JSON report `r`. */
void apply_report_add(struct apply_result *r, const struct apply_result *second);

/*
 * --- the tables of a live cluster ---
 */

extern const struct form tables_form, regions_form, description_form, dropped_form;
/* Append a line for each table, with its state and its number of regions. */
void tables_report_text(struct buf *out, const struct hbase_tables *t);
void tables_report_json(struct buf *out, const struct hbase_tables *t);
/*
 * Append the regions in the form of the shell's `list_regions`, without locality. `s` has the sizes
 * and the requests.
 */
void regions_report_text(struct buf *out, const struct hbase_regions *r,
			 const struct hbase_status *s);
void regions_report_json(struct buf *out, const char *table, const struct hbase_regions *r,
			 const struct hbase_status *s);
/* Append the table in the form of the shell's `describe`. */
void description_report_text(struct buf *out, const char *table, enum hbase_table_state state,
			     const struct description *d);
void description_report_json(struct buf *out, const char *table, enum hbase_table_state state,
			     const struct description *d);
struct dropped_tables {
	const char **dropped, **failed;
	size_t ndropped, nfailed;
};
void dropped_report_text(struct buf *out, const struct dropped_tables *t);
void dropped_report_json(struct buf *out, const struct dropped_tables *t);

/*
 * --- the report of `saltmill plan` ---
 */

extern const struct form key_cost_form;
/* Append what the table's row key costs, and an advice about its length. */
void key_cost_report(struct buf *out, const struct key_cost *c);
/*
 * Append regions with predicted sizes as bars, HBase's own algorithms, heavy keys, warnings, and
 * findings of lint. If `rows` is not 0, append the cost of each table's row key for so many rows.
 */
void plan_report_text(struct buf *out, const struct job *job, const struct plan *plans,
		      const struct table_sample *samples, const struct planning_counts *counts,
		      const struct lint *lint, double rows);
extern const struct form plan_form, hotspot_form;
struct hotspot;
struct plan_hotspot_view;
/* Return the view of a replay, whose lists are in the arena. */
struct plan_hotspot_view hotspot_view(const struct hotspot *h, struct arena *a);
/* Return the heat of a share of a table's requests, 0..1. Four times the even share is 1. */
double hotspot_heat(double share, size_t regions);
/*
 * Append the heat map, one line for each row. `names` are the names of all regions, of at most 32
 * characters. NULL means only numbers.
 */
void hotspot_map_text(struct buf *out, const struct hotspot *h, const char *const *names);
/* Append the busiest server and region, and the heat map of regions and time. */
void hotspot_report_text(struct buf *out, const struct hotspot *h);
/* Append the same report as JSON. `lint` may be NULL. */
void plan_report_json(struct buf *out, const struct job *job, const struct plan *plans,
		      const struct table_sample *samples, const struct planning_counts *counts,
		      const struct lint *lint, double rows);

/*
 * --- the report of `saltmill watch` ---
 */

extern const struct form watch_form;
struct watch;
/*
 * Append one line about the newest window, with the heat of the regions. If there is a hot spot,
 * append it and the command that helps. `wall_ms` is the time of the window's end.
 */
void watch_line_text(struct buf *out, const struct watch *w, int64_t wall_ms);
/* Append the newest window as a line of JSON. */
void watch_line_json(struct buf *out, const struct watch *w, int64_t wall_ms);
/* Append the heat maps of all windows, and the advice of watch. */
void watch_report_text(struct buf *out, const struct watch *w);
/* Append a sentence about the hot spot, and the command that helps. */
void watch_hot_text(struct buf *out, const struct watch *w);
void watch_advice_text(struct buf *out, const struct watch *w);
/* Return the names of all regions, cut to 32 characters, in the arena. */
const char **watch_names(const struct watch *w, struct arena *a);

/*
 * --- the report of `saltmill drift` ---
 */

/* Append a script for `hbase shell -n`, with the findings as comments before the commands. */
void drift_report_script(struct buf *out, const struct drift *d);
extern const struct form drift_form;
/* Append the same report as JSON. */
void drift_report_json(struct buf *out, const struct drift *d);

/*
 * --- the reports of `saltmill status`, `loads` and `seek` ---
 */

/* Append the report of `saltmill status`. */
void state_report_text(struct buf *out, const struct state_view *v);
extern const struct form status_form, loads_form, seek_form;
/* Append the same report as JSON. */
void state_report_json(struct buf *out, const struct state_view *v);
/*
 * Check one load against its folder and the load before it, and append its line of `saltmill
 * loads`. Returns false if the check failed. The line then contains the problem.
 */
bool state_report_load(struct buf *out, const struct state_view_load *l, bool as_json);
/* Append the report of `saltmill seek`, one line for each position. */
void state_report_seek(struct buf *out, const struct seek_result *r, bool as_json);

/*
 * --- the report of `saltmill verify` ---
 */

/* Append one line for each finding. If `quiet` is true, append only the problems. */
void verify_report_text(struct buf *out, const struct verify_result *r, bool quiet);
extern const struct form verify_form;
/* Append the same report as JSON. `dir` is the path of the load that the user gave. */
void verify_report_json(struct buf *out, const struct verify_result *r, const char *dir);

/*
 * --- the report of `saltmill lint` ---
 */

/* Append each finding with its place in the job file, the reason and the fix. */
extern const struct form design_form, compare_form, design_constants_form;
/* Append the designs as a table, with a sentence for each design. */
void design_report_text(struct buf *out, const struct design_result *r);
void design_report_json(struct buf *out, const struct design_result *r);
/* Format a load such as "38 %" or "2.1 servers", and the median cost of a question such as "16 x 4.5 MB". */
const char *design_load_text(char text[24], double load);
const char *design_cost_text(char cell[48], const struct design_answer *a);
/* Append a sentence for each question of a design. */
void design_questions_text(struct buf *out, const struct design *g);
/* Append both designs, and the differences of the second one in percent. */
void design_compare_text(struct buf *out, const struct design_result both[2]);
void design_compare_json(struct buf *out, const struct design_result both[2]);
void lint_report_text(struct buf *out, const struct job *job, const struct lint *l);
/* Append one warning for each finding that every load reports. */
void lint_report_always(struct buf *out, const struct job *job, const struct lint *l);
extern const struct form lint_form;
/* Append all findings as JSON. */
void lint_report_json(struct buf *out, const struct lint *l);

/*
 * --- row keys as text or JSON ---
 */

extern const struct form key_form;
/*
 * Append one line such as "salt 5, userId 7, movieId 42". If `json` is true, append the same as
 * JSON.
 */
void key_report(struct buf *out, const struct key_table *k, struct bytes key,
		const struct key_piece *pieces, bool json);

/* --- ranges of row keys, as text and as code for HBase clients --- */

enum ranges_form { RANGES_TABLE, RANGES_JSON, RANGES_SHELL, RANGES_JAVA, RANGES_PYTHON };

/* The cost of a scan of the ranges. */
struct ranges_cost {
	bool known;
	const char *of; /* source of the bytes, such as "16 files" or "8 regions" */
	uint64_t bytes,
		touched; /* bytes of the table, and an upper bound of the bytes that a scan reads */
};

/* Columns to read from each row, which are one column, a range of qualifiers, or a whole family. */
struct ranges_column {
	struct bytes family;
	struct key_range qualifiers; /* key_range_is_row for one column; empty for the family */
};

struct ranges_shown {
	const struct key_ranges *ranges;
	/*
	 * `columns` are the columns that the query selects. The scans name those in `named`, and
	 * the filter selects the others.
	 */
	const struct ranges_column *columns, *named;
	size_t ncolumns, nnamed;
	struct key_checks checks;
	struct ranges_cost cost;
	const char *table;
	const char *question; /* the query, as a reminder if the user must check rows */
	const char *advice;   /* a sentence, or NULL */
	uint64_t limit;	      /* number of rows that the user wants; 0 for all */
	/* number of columns per row that the user wants, which the filter limits; 0 for all */
	uint64_t max_columns;
};
extern const struct form ranges_form_json;
void ranges_report(struct buf *out, const struct ranges_shown *shown, enum ranges_form form);

/* Print a filter that key_filter built, as an expression of the HBase shell. */
void filter_shell(struct buf *out, const struct filter *f);
/* Print the filter as Java statements. The last statement declares `filter`. */
void filter_java(struct buf *out, const struct filter *f);
/*
 * Print the filter as Python bytes in HBase's filter language. The language has lists and
 * SINGLE_COLUMN_VALUE, but no FUZZY_ROW and no ROW with COMPARE_COMPONENT.
 */
void filter_python(struct buf *out, const struct filter *f);

/*
 * --- the report of `saltmill check` ---
 */

/*
 * Append counts of each field, the rejects, and some rows. A row shows its source text, values, key
 * and cells.
 */
int look_report_text(struct buf *out, const struct job *job, const struct look *l,
		     struct error *err);
extern const struct form checked_form;
int look_report_json(struct buf *out, const struct job *job, const struct look *l,
		     struct error *err);

/*
 * --- the report of `saltmill diff` ---
 */

/* Return true if the tables have no difference. */
bool diff_is_equal(const struct diff_result *r);
/* Append the first differing cells, then the counts. */
void diff_report_text(struct buf *out, const struct diff_result *r);
extern const struct form diff_form;
void diff_report_json(struct buf *out, const struct diff_result *r, const char *const place[2]);

/* --- the report of `saltmill convert --what-if` --- */

/* Append the tried settings. The text omits settings that others beat in size, get and scan. */
void what_if_report_text(struct buf *out, const struct rewrite_result *r);
extern const struct form what_if_form;
void what_if_report_json(struct buf *out, const struct rewrite_result *r);

/* --- the report of `saltmill rekey --hbase` --- */

/* Append the rounds and the proof, or the steps of --dry-run. */
struct move_result;
void move_report_text(struct buf *out, const struct move_result *r);
extern const struct form moved_form;
void move_report_json(struct buf *out, const struct move_result *r);

/*
 * --- the report of `saltmill agree` ---
 */

/* The comparison of one table. */
struct agree_table_report {
	const char *table;
	const char *refused; /* why there is no comparison, or NULL */
	struct agree_result result;
	const struct stored *stored; /* decodes the table's cells */
};
/* A change of a table in HBase since the job created it. */
struct agree_change {
	const char *table, *change, *fix;
};
struct agree_report {
	const char *truth;
	struct agree_change *altered;
	size_t naltered;
	const char *repair; /* the folder of --repair, or NULL */
	uint64_t repair_cells;
	struct agree_table_report *tables;
	size_t n;
};
/* Return true if every table was compared, and none has a difference. */
bool agree_is_equal(const struct agree_report *r);
/* Append the first differences of each table, what was not compared, and the counts. */
void agree_report_text(struct buf *out, const struct agree_report *r);
extern const struct form agree_form;
void agree_report_json(struct buf *out, const struct agree_report *r);

#endif
