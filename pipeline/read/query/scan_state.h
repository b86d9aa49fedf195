/*
 * scan_state.h - the state of a scan (private to this folder)
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
	size_t n, cap, at; /* `at` is the index of the next cell to return */
	struct buf bytes;  /* qualifiers, values and tags */
};

/* One scan for each salt, if the query has salt_bytes. */
struct merged {
	struct bucket {
		struct query_scan *scan;
		struct cell cell; /* next cell of the scan */
	} * buckets;
	size_t n;
	struct heap heap; /* heap of buckets */
};

#define QUICK_LANES 4 /* a table seldom has more families */

/*
 * The quick path for rows whose families are each in only one file and have no delete markers
 * (undisturbed.c). A lane has whole rows of a family.
 */
struct scan_quick {
	struct quick_lane {
		struct family_scan *family;
		const struct cell *cell, *end, *begin; /* NULL if the family has no more cells */
		const uint8_t *step;		       /* the step that leads to `cell` */
		uint32_t count, most;
		int64_t oldest, last_ts;
		bool in_row; /* `cell` is in the current row */
	} lanes[QUICK_LANES];
	size_t nlanes;	  /* 0 if the query does not allow the quick path */
	size_t lane;	  /* the lane of the next cell; nlanes if the row has ended */
	bool open;	  /* true after quick_enter */
	bool row_pending; /* no cell of the row was returned */
};

struct query_scan {
	struct query q;
	struct query_range *ranges; /* made from start and stop; `bound` has their bytes */
	struct buf bound;
	size_t range;	      /* the range that contains the row */
	struct bytes *wanted; /* qualifiers of all families, one family after the other */
	size_t nfamilies, nfiles;
	struct family_scan {
		struct store store;
		struct matcher *matcher;
		uint32_t versions; /* versions to return of each column */
		bool left_out;	   /* true if the query names no column of the family */
		bool finished;	   /* true if a filter excludes the rest of the family */
		bool ended;	   /* true if the row has no more cells in this family */
		uint64_t taken, skipped;
		const struct query_range *spans; /* of qualifiers; all if empty */
		size_t nspans;
	} * families;
	size_t *place; /* each file's index among the cursors of its family's store */
	const struct query_file *files;
	struct buf row; /* the current row, or the last row before the scan ended */
	bool in_row, started, emitted, step;
	size_t family;		/* index of the current family */
	uint64_t rows, columns; /* rows returned, and columns of the current row */
	struct buf behind;	/* the first possible row after the current one */
	struct buf column;	/* last column of the row, for max_columns */
	bool has_column;
	uint8_t *beyond; /* for a reversed scan, a bound that exceeds every row */
	bool new_row;	 /* true if the last returned cell is the first of its row */
	struct scan_gathered gathered;
	struct mob_reader *mobs;
	struct merged merged;
	struct scan_quick quick;
};

#define BEYOND_BYTES (CELL_ROW_MAX + 1)

/* Go to the next row (next_row.c). Return RC_END if there are no more rows. */
int scan_next_row(struct query_scan *s, struct error *err);
/*
 * Gather the cells of the row that pass (whole_row.c). If no cell passes, the filter excludes the
 * row. Return RC_END if no more rows can pass.
 */
int scan_gather_row(struct query_scan *s, struct error *err);
/*
 * The quick path (undisturbed.c). Call quick_init after all files are open, and quick_enter at the
 * start of a row. quick_enter returns false if the quick path cannot read the row. quick_next
 * returns the next cell, or RC_END if the row has no more cells.
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
/*
 * Find the next cell of the family, from `c` on, whose column the query wants. `c` is the store's
 * next cell. The found cell is in this row or after it (seek_column.c). Sets `*moved` to false if
 * `c` is already such a cell, or a marker of the family.
 */
int scan_seek_column(struct query_scan *s, struct family_scan *f, const struct cell *c, bool *moved,
		     struct error *err);
/* Skip the rest of the column of `c`, which is the store's next cell (query.c). */
int scan_skip_column(struct query_scan *s, struct store *store, const struct cell *c,
		     struct error *err);
/* Return true if the cell that the matcher took is within the query's limits. */
bool scan_within_limits(struct query_scan *s, struct family_scan *f);

#endif
