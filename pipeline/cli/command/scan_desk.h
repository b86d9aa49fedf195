/* scan_desk.h - a query with its job and its loads (inside this folder only) */
#ifndef SALTMILL_CMD_SCAN_DESK_H
#define SALTMILL_CMD_SCAN_DESK_H

#include "cmd_scan.h"
#include "query.h"
#include "by_field.h"

/* The place where a page ended, which is a row or, with --via, a cell in a row of the index. */
struct scan_page {
	struct bytes row, family, qualifier; /* `family` is empty if the place is a row */
};

/* The caller sets args and zeroes all other members. */
struct scan_desk {
	const struct scan_arguments *args;
	struct job job;
	const struct job_table *table;
	struct key_table keys;
	struct field_forms forms;
	struct stored stored;
	bool has_job;		/* the job is a file */
	struct hbase *hbase;	/* NULL if the query reads loads */
	struct published loads; /* loads to read; for a live table, only the table's families */
	bool more_families;	/* the live table has more families than the job */
	bool no_values; /* a live table sends no values, because the query only counts keys */
	const struct filter *filter; /* the part of the query that the servers check */
	struct query q;
	struct query_column *columns; /* columns of --columns */
	size_t ncolumns;
	struct buf row;	       /* values of the FIELD=VALUE operands */
	struct buf behind;     /* first row key after the keys of --prefix */
	struct scan_page page; /* the place of --page, in the arena */
	struct buf names;      /* the qualifiers of the columns */
	struct question question;
	struct where *where;
	struct arena arena;
};

/* Flags for the arguments that apply to a table. With --via there are two tables. */
enum scan_part {
	SCAN_ROWS = 1,	/* arguments that select rows */
	SCAN_CELLS = 2, /* arguments that select cells of a row */
	SCAN_ALL = SCAN_ROWS | SCAN_CELLS
};

/*
 * Open a table of the job with its loads or its live table. `table` is NULL for the only table of
 * the job. Close the desk after every result. Returns RC_CONFIG if the arguments do not match the
 * table, or if the live table does not match the job. Returns RC_DATA if a folder is not a load.
 */
int scan_desk_open(struct scan_desk *d, const struct scan_place *place, const char *table,
		   enum scan_part part, struct error *err);
void scan_desk_close(struct scan_desk *d);

/*
 * Open the place of a query without region servers, and make a job if the query has none
 * (scan_offline.c). scan_offline_check limits the place to the families of the job.
 */
int scan_offline_open(struct scan_desk *d, const struct scan_place *place, struct error *err);
int scan_offline_check(struct scan_desk *d, const struct scan_place *place, struct error *err);
/* Check that the cluster has the table, with the families of the job (scan_live.c). */
int scan_live_check(struct scan_desk *d, struct error *err);
/* Check that the row keys match the job's `rowkey`. */
int scan_live_check_rows(const struct scan_desk *d, struct error *err);

/*
 * Limit the query to the rows after the page of --page (scan_page.c). Returns RC_CONFIG if the
 * token is invalid or from another query.
 */
int scan_page_take(struct scan_desk *d, struct error *err);
/*
 * Print to standard error how to get the following rows. `d` is the table of the query, or its
 * index.
 */
void scan_page_print(const struct scan_desk *d, const struct scan_page *end);

/* The cells of an answer from files or from a live table (scan_rows.c). */
struct scan_rows {
	struct query_scan *files;
	struct live_scan *live;
};
/* Run `q` on the table of the desk. Close `r` after every result. */
int scan_rows_open(struct scan_rows *r, const struct scan_desk *d, const struct query *q,
		   struct error *err);
/* Return the next cell as query_next does. scan_rows_starts_row works like query_starts_row. */
int scan_rows_next(struct scan_rows *r, struct cell *out, struct error *err);
bool scan_rows_start(const struct scan_rows *r);
/* Count rows and cells as query_count does. */
int scan_rows_count(struct scan_rows *r, uint64_t *rows, uint64_t *cells, struct error *err);
void scan_rows_close(struct scan_rows *r);

/* Prints an answer (scan_answer.c). */
struct scan_printer {
	const struct scan_arguments *args;
	struct answer_decoding decoding;
	struct answer_text answer;
	struct buf text; /* output that the next flush writes */
	uint64_t rows, cells;
	struct buf row;		   /* the last row, for the next page */
	struct progress *progress; /* counts the rows as events */
};
void scan_print_start(struct scan_printer *p, const struct scan_desk *d);
/* Print the next cell of the answer. Returns RC_IO if the write fails. */
int scan_print_cell(struct scan_printer *p, const struct cell *c, bool new_row, struct error *err);
/*
 * End the answer and release the printer. `rc` is the previous result. Returns `rc`, or an error if
 * it cannot write the end.
 */
int scan_print_end(struct scan_printer *p, int rc, struct error *err);

#endif
