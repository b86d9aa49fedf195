/*
 * store.h - merge the cells of one family from its files (README.md 1 and 5)
 *
 * The merge opens a file when it reaches the file's first row, and closes the file after its last
 * cell.
 */
#ifndef SALTMILL_QUERY_STORE_H
#define SALTMILL_QUERY_STORE_H

#include "mob.h"
#include "query.h"

/* The order of a store file among the files of its store (file_age.c). */
struct file_age {
	int64_t sequence; /* the file's sequence id */
	bool of_all;	  /* all cells have this sequence id, because the file was bulk loaded */
	uint64_t bytes;
	int64_t bulkload_ms;
	const char *name;
};
/* Read the age of a file that a region server wrote or loaded. */
void file_age_read(struct file_age *out, const struct query_file *f, struct hfile *h);

struct store_cursor {
	const struct query_file *file;
	struct file_age age; /* known when the file is open */
	struct hfile *hfile; /* NULL if the file is not open */
	struct hfile_batch *batch;
	size_t at;	  /* index of `cell` in the batch */
	struct cell cell; /* the next cell, or a place before it if the file is not open */
	bool placed;	  /* true if `cell` is only a place */
	bool done;	  /* true if the file has no more cells for the query */
	bool tried;	  /* true after a first opening of the file, so the file info is known */
	const char *spared;
	struct hfile_reads reads; /* set at the close of the file */
	struct buf before;	  /* for a reversed scan, the file's greatest row below the bound */
	bool before_known, exhausted;
};

struct store {
	const struct query *q; /* the query, with ranges */
	const struct query_family *family;
	const struct bytes *wanted; /* named qualifiers of the family */
	size_t nwanted;
	struct bytes first_column; /* first qualifier that the query wants; empty for any */
	struct store_cursor *cursors;
	size_t ncursors;
	struct heap heap; /* heap of cursors, ordered by cell, then newest load first */
};

/* Return the sequence id of the cursor's cell, as a region server sees it; -1 if there is none. */
int64_t file_age_sequence(const struct store_cursor *c);
/* Return true if the cell of `a` is newer than the equal cell of `b`. */
bool file_age_newer(const struct store_cursor *a, const struct store_cursor *b);

/* Initialize the store. `cursors` has one item for each file of the family. */
int store_init(struct store *s, const struct query *q, const struct query_family *family,
	       struct error *err);
void store_release(struct store *s);
/* Place all cursors at the start of the query's first range. */
void store_start(struct store *s);
/* Move the cursors that are before a row to that row. */
void store_go_to(struct store *s, struct bytes row);
/* Returns the index of the first range that ends after `row`. */
size_t store_find_range(const struct query *q, struct bytes row);
/* Place the cursors of a reversed scan at one row. */
void store_at_row(struct store *s, struct bytes row);
/* Return the next cell, valid until store_step. Return RC_END if there are no more cells. */
int store_peek(struct store *s, const struct cell **out, struct error *err);
int store_step(struct store *s, struct error *err);
/* Replace the cell of store_peek in *c by its value in a MOB file if it is a reference (mob.h). */
int store_resolve(const struct store *s, struct mob_reader **m, struct cell *c, struct error *err);
/*
 * Go forward to the first cell that is not before `key`. The store uses the index only if the cell
 * is not near.
 */
int store_seek(struct store *s, const struct cell *key, struct error *err);
/*
 * Count the cells of whole rows, from the first cursor's cell on, that are in its batch and in no
 * other cursor. Return 0 if there are no such cells. The cells are Puts without tags. If `stop` is
 * not empty, their rows are before `stop`.
 */
size_t store_alone(const struct store *s, struct bytes stop);
/* Skip the cells that store_alone counted. */
int store_skip(struct store *s, size_t ncells, struct error *err);
/*
 * Find the greatest row before `key` in all files. Copy this row into `row` if it is greater than
 * the row there. Return RC_OK even without a row.
 */
int store_row_before(struct store *s, const struct cell *key, struct buf *row, struct error *err);

#endif
