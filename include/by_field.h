/*
 * by_field.h - stored rows and cells back to the fields of the job that wrote them
 *
 *   stored_open, (stored_find, stored_take)*, stored_release
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
	struct bytes constant;	     /* qualifier, when it is constant */
	struct key_schema qualifier; /* else its parts */
	struct layout value;	     /* of a field */
};

struct stored {
	const struct key_table *keys;
	const struct field_forms *forms;
	struct stored_column *columns; /* in the order of the job */
	size_t ncolumns, max_pieces;   /* of a row key or a qualifier */
	struct arena arena;
};

/* keys and forms are borrowed. */
void stored_open(struct stored *s, const struct key_table *keys, const struct field_forms *forms);
void stored_release(struct stored *s);
/*
 * Which of the job's cells has this place; NULL: none.  Of a computed qualifier pieces are its
 * parts (key_split), of a constant one they are left alone.
 */
const struct stored_column *stored_find(const struct stored *s, struct bytes family,
					struct bytes qualifier, struct key_piece *pieces);
/*
 * The value of these bytes, typed, with v->text not null; it borrows from them, the arena and the
 * scratch.  RC_DATA: no value of the field is laid down like this.
 */
int stored_take(const struct layout *l, const struct field_form *form, struct bytes in,
		struct arena *a, struct field_scratch *scratch, struct value *v, struct error *err);
/*
 * The row key of the table that decides, which a cell of an index table holds; false: it holds
 * none.  pieces as above; *key borrows from the cell.
 */
bool stored_reference(const struct stored *s, const struct cell *c, struct key_piece *pieces,
		      struct bytes *key);

/*
 * --- a question to a table's stored rows: where the rows can be, and which rows match
 *
 *   where_new, where_put, query_open, where_free
 *
 * Implemented in pipeline/read/by_field.  A name is a field of the job, wherever the table holds it, or a
 * column family:qualifier.
 *
 * Conditions on the row key or on a column decide about the row.  They use the newest version of
 * the column within the query's time range.  A missing column is null, and comparisons with null do
 * not hold (SingleColumnValueFilter with filterIfMissing; to get the rows without the column, too,
 * add `or f:q is null`).  Conditions on a field that qualifiers, their cells or timestamps hold
 * decide about each column, by its newest version.  With any_version, one version of a column is
 * enough in the first case, and each version is decided alone in the second.
 */

struct where;

/*
 * families: those of the query, for the numbers of columns.  Everything is borrowed.  RC_CONFIG,
 * with the place: the table cannot decide a condition; RC_LIMIT: as key_ranges.
 */
int where_new(struct where **out, const struct stored *stored, const struct query_family *families,
	      size_t nfamilies, const struct question *q, bool any_version, struct error *err);
void where_free(struct where *w); /* NULL is fine */
/*
 * Prepare a query for the question: its ranges within the query's start and stop, its salt, judge
 * and columns.  Columns that the query did not name are for the judge only.
 */
void where_put(struct where *w, struct query *q);
/*
 * The filter with which a server can check rows in a scan by the query that where_put prepared;
 * NULL: none.  Every row of the answer passes the filter; other rows may pass, too.  It lives as
 * long as w.
 */
const struct filter *where_filter(struct where *w, const struct query *q);
/* A sentence for the user on how conditions were decided; NULL: none. */
const char *where_note(const struct where *w);

/*
 * --- does a row still give the entry that an index table has of it?
 *
 *   entry_check_open, entry_check_row*, entry_check_release
 *
 * A later event of a row with another value leaves the older entry where it is: HBase has no
 * transaction over two tables.  The fields in the entry's row key are compared with those that the
 * row has, in its key or in columns that the job always writes for it.  What the row does not hold
 * says nothing.  Implemented in pipeline/read/by_field.
 */

struct entry_check {
	const struct stored *index, *rows;
	struct entry_field *fields;
	size_t nfields;
	struct query_column *columns; /* of the rows, that are to be read for it */
	size_t ncolumns;
	struct key_piece *of_entry, *of_row;
	struct buf bytes;
	struct field_scratch scratch;
	struct arena arena, values;
};

/* index and rows are borrowed; families: of rows. */
void entry_check_open(struct entry_check *e, const struct stored *index, const struct stored *rows,
		      const struct query_family *families, size_t nfamilies);
void entry_check_release(struct entry_check *e);
/*
 * cells: of the row, the newest version of a column first, its columns among them.  False: the row
 * has another value, or none.
 */
bool entry_check_row(struct entry_check *e, struct bytes entry, struct bytes row,
		     const struct cell *cells, size_t ncells);

#endif
