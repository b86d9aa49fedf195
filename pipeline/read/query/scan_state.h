/*
 * scan_state.h - the state of a scan (inside pipeline/read/query only)
 *
 * query.c opens a scan and returns its cells. next_row.c finds rows. whole_row.c gathers whole rows
 * for a filter or a judge. merged.c runs one scan for each salt.
 */
#ifndef SALTMILL_QUERY_SCAN_STATE_H
#define SALTMILL_QUERY_SCAN_STATE_H

#include "filter_kinds.h"
#include "matcher.h"
#include "store.h"

/* The cells of a row. This struct owns their bytes. */
struct scan_gathered {
	struct cell *cells;
	size_t n, cap, at; /* at: the next cell to return */
	struct buf bytes;  /* qualifiers, values and tags */
};

/* With salt_bytes: one scan for each salt. */
struct merged {
	struct bucket {
		struct query_scan *scan;
		struct cell cell; /* its next cell */
	} * buckets;
	size_t n;
	struct heap heap; /* of buckets */
};

/* Rows that are in only one file and have no delete markers: undisturbed.c. */
struct scan_quick {
	struct family_scan *family; /* NULL: the query does not allow the quick path */
	const struct cell *cell, *end, *begin;
	const uint8_t *step; /* the step of cell */
	uint32_t count, most;
	int64_t oldest, last_ts;
	bool row_pending;
};

struct query_scan {
	struct query q;
	struct query_range *ranges; /* from start and stop; bound has their bytes */
	struct buf bound;
	size_t range;	      /* the range that contains the row */
	struct bytes *wanted; /* qualifiers of all families, one family after the other */
	size_t nfamilies, nfiles;
	struct family_scan {
		struct store store;
		struct matcher *matcher;
		uint32_t versions; /* to return of each column */
		bool left_out;	   /* the query names no column of it */
		bool finished;	   /* a filter wants no more of it */
		bool ended;	   /* no more cells of this row */
		uint64_t taken, skipped;
	} * families;
	size_t *place; /* each file's index among the cursors of its family's store */
	const struct query_file *files;
	struct buf row; /* the current row, or the last one */
	bool in_row, started, emitted, step;
	size_t family;		/* current */
	uint64_t rows, columns; /* rows returned; columns of the row */
	struct buf column;	/* the last one of the row, for max_columns */
	bool has_column;
	uint8_t *beyond; /* reversed: greater than any row */
	bool new_row;	 /* the last returned cell is the first of its row */
	struct scan_gathered gathered;
	struct merged merged;
	struct scan_quick quick;
};

#define BEYOND_BYTES (CELL_ROW_MAX + 1)

/* next_row.c: go to the next row. RC_END: there is none. */
int scan_next_row(struct query_scan *s, struct error *err);
/*
 * whole_row.c: gather the cells of the row that pass. No cells: the row is out. RC_END: no more
 * rows can pass.
 */
int scan_gather_row(struct query_scan *s, struct error *err);
/*
 * undisturbed.c. quick_init: call after all is open. quick_enter: call at the start of a row;
 * returns false if the quick path does not apply here. quick_next: returns the next cell; RC_END:
 * no more.
 */
void quick_init(struct query_scan *s);
bool quick_enter(struct query_scan *s);
int quick_next(struct query_scan *s, struct cell *out, struct error *err);
/* Count the cells that quick_next would return without reading more of the file. */
void quick_count(struct query_scan *s, uint64_t *rows, uint64_t *cells);
/* merged.c */
int merged_open(struct query_scan *s, const struct query_family *families, struct error *err);
int merged_next(struct query_scan *s, struct cell *out, struct error *err);
void merged_explain(const struct query_scan *s, size_t i, struct query_why *out);
void merged_release(struct merged *m);
void gathered_release(struct scan_gathered *g);
/* query.c: skip the rest of the column of c, which is the store's next cell. */
int scan_skip_column(struct query_scan *s, struct store *store, const struct cell *c,
		     struct error *err);
/* Does the cell that the matcher took also pass the query's limits? */
bool scan_within_limits(struct query_scan *s, struct family_scan *f);

#endif
