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
 * --- a question asked of a table's stored rows: where they can be, and which they are
 *
 *   where_new, where_put, query_open, where_free
 *
 * Implemented in pipeline/read/by_field.  A name is a field of the job, wherever the table holds it, or a
 * column family:qualifier.  What is asked of the row key or of a column is asked of the row: of a
 * column its newest version within the question's time range; one that is not there is null, and
 * what compares with a null is not so (SingleColumnValueFilter with filterIfMissing; without it
 * is `or f:q is null`).  What is asked of a field that qualifiers or cell timestamps hold is asked
 * of each cell.
 */

struct where;

/*
 * families: the query's, for the numbers of columns.  All are borrowed.  RC_CONFIG: with the place
 * of what cannot be asked; RC_LIMIT: as key_ranges.
 */
int where_new(struct where **out, const struct stored *stored, const struct query_family *families,
	      size_t nfamilies, const struct question *q, struct error *err);
void where_free(struct where *w); /* NULL is fine */
/*
 * Let a query ask it: its ranges within the query's start and stop, its salt, judge and columns.
 * Those among them that the query did not name are for the judge alone.
 */
void where_put(struct where *w, struct query *q);
/*
 * What a server can check of it, as key_filter.h has it, in a scan by the query that where_put was
 * given: each row of the answer passes, but not each that passes is of it.  Lives as long as w;
 * *out NULL: nothing.
 */
int where_filter(struct where *w, const struct query *q, const struct filter **out,
		 struct error *err);

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
