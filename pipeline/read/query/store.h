/*
 * store.h - the cells of one family, merged from its files (README.md 1 and 5)
 *
 * A file is opened when the merge comes to its first row and closed behind its last cell.
 */
#ifndef SALTMILL_QUERY_STORE_H
#define SALTMILL_QUERY_STORE_H

#include "query.h"

struct store_cursor {
	const struct query_file *file;
	struct hfile *hfile; /* NULL: not open */
	struct hfile_batch *batch;
	size_t at;	  /* of the batch: cell */
	struct cell cell; /* the next; or, not open, a place before it */
	bool placed;	  /* it is only a place */
	bool done;	  /* nothing more will come of it */
	bool tried;	  /* opened once: the file info is known */
	const char *spared;
	struct hfile_reads reads; /* when it is closed */
	struct buf before;	  /* reversed: its greatest row below the bound */
	bool before_known, exhausted;
};

struct store {
	const struct query *q; /* with ranges */
	const struct query_family *family;
	const struct bytes *wanted; /* named qualifiers of the family */
	size_t nwanted;
	struct store_cursor *cursors;
	size_t ncursors;
	struct store_cursor **heap; /* by cell, then newest load first */
	size_t nheap;
};

/* cursors has room for all files of the family and lists them. */
int store_init(struct store *s, const struct query *q, const struct query_family *family,
	       struct error *err);
void store_release(struct store *s);
/* Place all cursors at the start of the question's first range. */
void store_start(struct store *s);
/* Place those that are before a row there. */
void store_go_to(struct store *s, struct bytes row);
/* The first range that ends behind row. */
size_t store_find_range(const struct query *q, struct bytes row);
/* Reversed: place them at one row. */
void store_at_row(struct store *s, struct bytes row);
/* The next cell, or RC_END; it stays until store_step. */
int store_peek(struct store *s, const struct cell **out, struct error *err);
int store_step(struct store *s, struct error *err);
/*
 * Whole rows that the first cursor's batch holds, which no other cursor has: from its cell on so
 * many cells; 0: none.  They are Puts without tags, of rows before stop (empty: of any).
 */
size_t store_alone(const struct store *s, struct bytes stop);
/* Behind those. */
int store_skip(struct store *s, size_t ncells, struct error *err);
/* The greatest row before key in any file, into row if that is greater; RC_OK also if there is
 * none. */
int store_row_before(struct store *s, const struct cell *key, struct buf *row, struct error *err);

#endif
