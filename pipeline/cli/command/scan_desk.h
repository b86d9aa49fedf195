/* scan_desk.h - a question with all that it needs of its job and its loads (inside pipeline/cli/command
 * only) */
#ifndef SALTMILL_CMD_SCAN_DESK_H
#define SALTMILL_CMD_SCAN_DESK_H

#include "cmd_scan.h"
#include "query.h"
#include "by_field.h"

/* Zeroed but for args. */
struct scan_desk {
	const struct scan_arguments *args;
	struct job job;
	const struct job_table *table;
	struct key_table keys;
	struct field_forms forms;
	struct stored stored;
	struct hbase *hbase;	     /* NULL: the loads */
	struct published loads;	     /* of a live table its families alone */
	bool more_families;	     /* the live table has others too */
	bool no_values;		     /* only keys are counted: a live table need not send values */
	const struct filter *filter; /* what its servers can check of the question */
	struct query q;
	struct query_column *columns; /* that were named */
	size_t ncolumns;
	struct buf row;	  /* of FIELD=VALUE */
	struct buf names; /* their qualifiers */
	struct question question;
	struct where *where;
	struct arena arena;
};

/* What of the arguments is asked of a table: they are for two where one leads to the other. */
enum scan_part {
	SCAN_ROWS = 1,	/* which rows */
	SCAN_CELLS = 2, /* which of their cells */
	SCAN_ALL = SCAN_ROWS | SCAN_CELLS
};

/*
 * The named table of the job, NULL: the only one, and its loads or its live table.  Close it
 * whatever the result.  RC_CONFIG: what the arguments ask cannot be asked of it, or the live table
 * is not the job's; RC_DATA: of a folder that is no load.
 */
int scan_desk_open(struct scan_desk *d, const struct scan_place *place, const char *table,
		   enum scan_part part, struct error *err);
void scan_desk_close(struct scan_desk *d);

/* scan_live.c: is there such a table in the cluster, with the job's families? */
int scan_live_check(struct scan_desk *d, struct error *err);
/* And are its rows laid down as the job's are? */
int scan_live_check_rows(const struct scan_desk *d, struct error *err);

/* scan_rows.c: the cells of an answer, of files or of a live table. */
struct scan_rows {
	struct query_scan *files;
	struct live_scan *live;
};
/* The desk's table is asked q.  Close it whatever the result. */
int scan_rows_open(struct scan_rows *r, const struct scan_desk *d, const struct query *q,
		   struct error *err);
/* As query_next, query_starts_row. */
int scan_rows_next(struct scan_rows *r, struct cell *out, struct error *err);
bool scan_rows_start(const struct scan_rows *r);
/* As query_count. */
int scan_rows_count(struct scan_rows *r, uint64_t *rows, uint64_t *cells, struct error *err);
void scan_rows_close(struct scan_rows *r);

/* scan_answer.c: the answer on its way out. */
struct scan_printer {
	const struct scan_arguments *args;
	struct answer_decoding decoding;
	struct answer_text answer;
	struct buf text; /* not written yet */
	uint64_t rows, cells;
	struct progress *progress; /* whose events are the rows */
};
void scan_print_start(struct scan_printer *p, const struct scan_desk *d);
/* In the order of the answer.  RC_IO: it cannot be written. */
int scan_print_cell(struct scan_printer *p, const struct cell *c, bool new_row, struct error *err);
/* Behind the last one; rc: of what came before, which then stays.  Releases the printer. */
int scan_print_end(struct scan_printer *p, int rc, struct error *err);

#endif
