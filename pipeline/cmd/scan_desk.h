/* scan_desk.h - a question with all that it needs of its job and its loads (inside pipeline/cmd
 * only) */
#ifndef SALTMILL_CMD_SCAN_DESK_H
#define SALTMILL_CMD_SCAN_DESK_H

#include "cmd_scan.h"
#include "published.h"
#include "where.h"

/* Zeroed but for args. */
struct scan_desk {
	const struct scan_arguments *args;
	struct job job;
	const struct job_table *table;
	struct key_table keys;
	struct field_forms forms;
	struct stored stored;
	struct published loads;
	struct query q;
	struct query_column *columns; /* that were named */
	size_t ncolumns;
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
 * The named table of the job, NULL: the only one, and its loads in dirs.  Close it whatever the
 * result.  RC_CONFIG: what the arguments ask cannot be asked of it; RC_DATA: of a folder that is no
 * load.
 */
int scan_desk_open(struct scan_desk *d, const char *job, const char *table, enum scan_part part,
		   const char *const *dirs, size_t ndirs, struct error *err);
void scan_desk_close(struct scan_desk *d);

/* scan_answer.c: the answer on its way out. */
struct scan_printer {
	const struct scan_arguments *args;
	struct answer_decoding decoding;
	struct answer_text answer;
	struct buf text; /* not written yet */
	uint64_t rows, cells;
};
void scan_print_start(struct scan_printer *p, const struct scan_desk *d);
/* In the order of the answer.  RC_IO: it cannot be written. */
int scan_print_cell(struct scan_printer *p, const struct cell *c, bool new_row, struct error *err);
/* Behind the last one; rc: of what came before, which then stays.  Releases the printer. */
int scan_print_end(struct scan_printer *p, int rc, struct error *err);

#endif
