/*
 * scan_state.h - a scan on its way (inside pipeline/read/query only)
 *
 * query.c opens it and gives its cells, next_row.c finds rows, whole_row.c takes those whole that a
 * filter or a judge looks at, merged.c has a scan a salt.
 */
#ifndef SALTMILL_QUERY_SCAN_STATE_H
#define SALTMILL_QUERY_SCAN_STATE_H

#include "filter_kinds.h"
#include "matcher.h"
#include "store.h"

/* The cells of a row, owned. */
struct scan_gathered {
	struct cell *cells;
	size_t n, cap, at; /* at: the next to give */
	struct buf bytes;  /* of qualifiers, values and tags */
};

/* With salt_bytes: a scan a salt. */
struct merged {
	struct bucket {
		struct query_scan *scan;
		struct cell cell; /* its next */
	} * buckets;
	size_t n;
	struct bucket **heap;
	size_t nheap;
};

/* Rows that one file alone has, without markers: undisturbed.c. */
struct scan_quick {
	struct family_scan *family; /* NULL: the question is not one for it */
	const struct cell *cell, *end, *begin;
	const uint8_t *step; /* of cell */
	uint32_t count, most;
	int64_t oldest, last_ts;
	bool row_pending;
};

struct query_scan {
	struct query q;
	struct query_range *ranges; /* of start and stop; with bound, their bytes */
	struct buf bound;
	size_t range;	      /* that the row is in */
	struct bytes *wanted; /* of all families, one behind the other */
	size_t nfamilies, nfiles;
	struct family_scan {
		struct store store;
		struct matcher *matcher;
		uint32_t versions; /* of the question */
		bool left_out;	   /* not among the columns asked for */
		bool finished;	   /* a filter wants no more of it */
		bool ended;	   /* the row */
		uint64_t taken, skipped;
	} * families;
	size_t *place; /* of each file: its cursor in its family's store */
	const struct query_file *files;
	struct buf row; /* being answered, or the last one */
	bool in_row, started, emitted, step;
	size_t family;		/* being answered */
	uint64_t rows, columns; /* of the answer; of the row */
	struct buf column;	/* the last one of the row, for max_columns */
	bool has_column;
	uint8_t *beyond; /* reversed: more than any row */
	bool new_row;	 /* the last cell given is the first of its row */
	struct scan_gathered gathered;
	struct merged merged;
	struct scan_quick quick;
};

#define BEYOND_BYTES (CELL_ROW_MAX + 1)

/* next_row.c: come to the next row, RC_END: there is none. */
int scan_next_row(struct query_scan *s, struct error *err);
/* whole_row.c: the cells of the row that are left; none: it is out. */
int scan_gather_row(struct query_scan *s, struct error *err);
/* undisturbed.c: once all is open; at a row's start, false: not here; the next cell, RC_END: no
 * more. */
void quick_init(struct query_scan *s);
bool quick_enter(struct query_scan *s);
int quick_next(struct query_scan *s, struct cell *out, struct error *err);
/* What quick_next would give, as far as it goes at once. */
void quick_count(struct query_scan *s, uint64_t *rows, uint64_t *cells);
/* merged.c */
int merged_open(struct query_scan *s, const struct query_family *families, struct error *err);
int merged_next(struct query_scan *s, struct cell *out, struct error *err);
void merged_explain(const struct query_scan *s, size_t i, struct query_why *out);
void merged_release(struct merged *m);
void gathered_release(struct scan_gathered *g);
/* query.c: the rest of the column of c, which is the store's next cell. */
int scan_skip_column(struct query_scan *s, struct store *store, const struct cell *c,
		     struct error *err);
/* Limits on what the matcher let through: is the cell of the answer? */
bool scan_within_limits(struct query_scan *s, struct family_scan *f);

#endif
