/* scan_desk.h - a query with what it needs of its job and its loads (inside this room only) */
#ifndef SALTMILL_CMD_SCAN_DESK_H
#define SALTMILL_CMD_SCAN_DESK_H

#include "cmd_scan.h"
#include "query.h"
#include "by_field.h"

/* Zero all members but args first. */
struct scan_desk {
	const struct scan_arguments *args;
	struct job job;
	const struct job_table *table;
	struct key_table keys;
	struct field_forms forms;
	struct stored stored;
	struct hbase *hbase;	     /* NULL: the loads */
	struct published loads;	     /* for a live table, only its families */
	bool more_families;	     /* the live table has more families than the job */
	bool no_values;		     /* only keys are counted: a live table sends no values */
	const struct filter *filter; /* the part of the query that servers can check */
	struct query q;
	struct query_column *columns; /* of --columns */
	size_t ncolumns;
	struct buf row;	  /* of FIELD=VALUE */
	struct buf names; /* their qualifiers */
	struct question question;
	struct where *where;
	struct arena arena;
};

/* The arguments that apply to a table: with --via there are two tables. */
enum scan_part {
	SCAN_ROWS = 1,	/* which rows */
	SCAN_CELLS = 2, /* which of their cells */
	SCAN_ALL = SCAN_ROWS | SCAN_CELLS
};

/*
 * Open a table of the job (NULL: the only one) with its loads or its live table.  Close it whatever
 * the result.  RC_CONFIG: the arguments do not fit the table, or the live table does not match the
 * job; RC_DATA: a folder is no load.
 */
int scan_desk_open(struct scan_desk *d, const struct scan_place *place, const char *table,
		   enum scan_part part, struct error *err);
void scan_desk_close(struct scan_desk *d);

/* scan_live.c: check that the cluster has the table, with the families of the job. */
int scan_live_check(struct scan_desk *d, struct error *err);
/* Check that its row keys have the form of the job's. */
int scan_live_check_rows(const struct scan_desk *d, struct error *err);

/* scan_rows.c: the cells of an answer, of files or of a live table. */
struct scan_rows {
	struct query_scan *files;
	struct live_scan *live;
};
/* Run q on the desk's table.  Close it whatever the result. */
int scan_rows_open(struct scan_rows *r, const struct scan_desk *d, const struct query *q,
		   struct error *err);
/* As query_next, query_starts_row. */
int scan_rows_next(struct scan_rows *r, struct cell *out, struct error *err);
bool scan_rows_start(const struct scan_rows *r);
/* As query_count. */
int scan_rows_count(struct scan_rows *r, uint64_t *rows, uint64_t *cells, struct error *err);
void scan_rows_close(struct scan_rows *r);

/* scan_answer.c: prints the answer. */
struct scan_printer {
	const struct scan_arguments *args;
	struct answer_decoding decoding;
	struct answer_text answer;
	struct buf text; /* not written yet */
	uint64_t rows, cells;
	struct progress *progress; /* counts the rows as events */
};
void scan_print_start(struct scan_printer *p, const struct scan_desk *d);
/* Print the next cell of the answer.  RC_IO: it cannot be written. */
int scan_print_cell(struct scan_printer *p, const struct cell *c, bool new_row, struct error *err);
/* End the answer and release the printer; rc is the result so far, which a success here keeps. */
int scan_print_end(struct scan_printer *p, int rc, struct error *err);

#endif
