/*
 * store.h - the cells of one family, merged from its files (README.md 1 and 5)
 *
 * A file is opened when the merge reaches its first row and closed after its last cell.
 */
#ifndef SALTMILL_QUERY_STORE_H
#define SALTMILL_QUERY_STORE_H

#include "query.h"

struct store_cursor {
	const struct query_file *file;
	struct hfile *hfile; /* NULL: not open */
	struct hfile_batch *batch;
	size_t at;	  /* index of cell in the batch */
	struct cell cell; /* the next cell; if not open, a place before it */
	bool placed;	  /* cell is only a place */
	bool done;	  /* the file has no more cells for the query */
	bool tried;	  /* was opened once, so the file info is known */
	const char *spared;
	struct hfile_reads reads; /* set when the file is closed */
	struct buf before;	  /* reversed: the file's greatest row below the bound */
	bool before_known, exhausted;
};

struct store {
	const struct query *q; /* has ranges */
	const struct query_family *family;
	const struct bytes *wanted; /* named qualifiers of the family */
	size_t nwanted;
	struct store_cursor *cursors;
	size_t ncursors;
	struct heap heap; /* of cursors, ordered by cell, then newest load first */
};

/* Initialise. cursors has room for all files of the family and lists them. */
int store_init(struct store *s, const struct query *q, const struct query_family *family,
	       struct error *err);
void store_release(struct store *s);
/* Place all cursors at the start of the query's first range. */
void store_start(struct store *s);
/* Move the cursors that are before a row to that row. */
void store_go_to(struct store *s, struct bytes row);
/* Returns the index of the first range that ends after row. */
size_t store_find_range(const struct query *q, struct bytes row);
/* Reversed: place the cursors at one row. */
void store_at_row(struct store *s, struct bytes row);
/* Returns the next cell, valid until store_step. RC_END: there is none. */
int store_peek(struct store *s, const struct cell **out, struct error *err);
int store_step(struct store *s, struct error *err);
/*
 * Count the cells, from the first cursor's cell on, of whole rows that are in its batch and in no
 * other cursor; 0: none. They are Puts without tags, in rows before stop (empty: any row).
 */
size_t store_alone(const struct store *s, struct bytes stop);
/* Skip these cells. */
int store_skip(struct store *s, size_t ncells, struct error *err);
/*
 * Find the greatest row before key in any file. Copies it into row if it is greater than row.
 * Returns RC_OK also if there is none.
 */
int store_row_before(struct store *s, const struct cell *key, struct buf *row, struct error *err);

#endif
