/*
 * by_field.h - stored rows and cells as the fields of the job that wrote them
 *
 *   stored_open, (stored_find, stored_take)*, stored_release     decode keys and cells
 *   where_new, where_put, query_open, where_free                 filter rows by a condition
 *   entry_check_open, entry_check_row*, entry_check_release      detect outdated index entries
 *
 * Implemented in pipeline/read/by_field.
 */
#ifndef SALTMILL_BY_FIELD_H
#define SALTMILL_BY_FIELD_H

#include "cell.h"
#include "field.h"
#include "key.h"
#include "query.h"

/* One of the table's `cells`. */
struct stored_column {
	const struct cell_spec *spec;
	struct bytes family;
	struct bytes constant;	     /* the qualifier, if it is constant */
	struct key_schema qualifier; /* otherwise its parts */
	struct layout value;	     /* if the value is a field */
};

struct stored {
	const struct key_table *keys;
	const struct field_forms *forms;
	struct stored_column *columns; /* in the order of the job */
	size_t ncolumns, max_pieces;   /* max_pieces: the most parts of a row key or qualifier */
	struct arena arena;
};

/* Prepare *s; keys and forms are borrowed. */
void stored_open(struct stored *s, const struct key_table *keys, const struct field_forms *forms);
void stored_release(struct stored *s);
/*
 * Find the job's cell with this family and qualifier; NULL: none. For a computed qualifier, pieces
 * receives its parts (key_split); for a constant one they are unchanged.
 */
const struct stored_column *stored_find(const struct stored *s, struct bytes family,
					struct bytes qualifier, struct key_piece *pieces);
/*
 * Decode a stored value: *v is typed, with v->text not null. It borrows from the bytes, the arena
 * and the scratch. RC_DATA: the bytes are no value of the field.
 */
int stored_take(const struct layout *l, const struct field_form *form, struct bytes in,
		struct arena *a, struct field_scratch *scratch, struct value *v, struct error *err);
/*
 * Get the row key of the main table from a cell of an index table; false: it contains none. pieces
 * as above; *key borrows from the cell.
 */
bool stored_reference(const struct stored *s, const struct cell *c, struct key_piece *pieces,
		      struct bytes *key);

/*
 * --- where: a condition on a table's stored rows ---
 *
 * It finds the key ranges that can contain matching rows, and decides which rows match. A name is a
 * field of the job, wherever the table stores it, or a column family:qualifier.
 *
 * Conditions on the row key or on a column decide about the row. They use the newest version of the
 * column within the query's time range. A missing column is null, and comparisons with null do not
 * hold (SingleColumnValueFilter with filterIfMissing; to get the rows without the column, too, add
 * `or f:q is null`).
 *
 * Some fields are stored in qualifiers, in the cells under them, or in timestamps. Conditions on
 * them decide about each column, by its newest version. With any_version, one version of a column
 * is enough in the first case, and each version is decided alone in the second.
 */

struct where;

/*
 * Compile the question. families: those of the query, which number the columns. Everything is
 * borrowed. RC_CONFIG, with the place: the table cannot decide a condition; RC_LIMIT: as
 * key_ranges.
 */
int where_new(struct where **out, const struct stored *stored, const struct query_family *families,
	      size_t nfamilies, const struct question *q, bool any_version, struct error *err);
void where_free(struct where *w); /* NULL is fine */
/*
 * Prepare a query for the question: its ranges within the query's start and stop, its salt, judge
 * and columns. Columns that the query did not name are read only for the judge.
 */
void where_put(struct where *w, struct query *q);
/*
 * Return the filter with which a server can check rows in a scan by the query that where_put
 * prepared; NULL: none. Every row of the answer passes the filter; other rows may pass, too. It
 * lives as long as w.
 */
const struct filter *where_filter(struct where *w, const struct query *q);
/* Return a sentence for the user on how conditions were decided; NULL: none. */
const char *where_note(const struct where *w);

/*
 * --- entry_check: is an index entry still valid for its row? ---
 *
 * A later event with another value leaves the older index entry in place, because HBase has no
 * transaction over two tables. The check compares the fields in the entry's row key with the row:
 * with its key and with columns that the job always writes. Fields that the row does not store are
 * ignored.
 */

struct entry_check {
	const struct stored *index, *rows;
	struct entry_field *fields;
	size_t nfields;
	struct query_column *columns; /* columns of the row that the check reads */
	size_t ncolumns;
	struct key_piece *of_entry, *of_row;
	struct buf bytes;
	struct field_scratch scratch;
	struct arena arena, values;
};

/* Prepare *e; index and rows are borrowed. families: families of rows. */
void entry_check_open(struct entry_check *e, const struct stored *index, const struct stored *rows,
		      const struct query_family *families, size_t nfamilies);
void entry_check_release(struct entry_check *e);
/*
 * Check an entry against its row. cells: cells of the row, the newest version of a column first,
 * including e->columns. False: the row has another value, or none.
 */
bool entry_check_row(struct entry_check *e, struct bytes entry, struct bytes row,
		     const struct cell *cells, size_t ncells);

#endif
