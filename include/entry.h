/*
 * entry.h - does a row still give the entry that an index table has of it?
 *
 *   entry_check_open, entry_check_row*, entry_check_release
 *
 * A later event of a row with another value leaves the older entry where it is: HBase has no
 * transaction over two tables.  The fields in the entry's row key are compared with those that the
 * row has, in its key or in columns that the job always writes for it.  What the row does not hold
 * says nothing.  Implemented in pipeline/ask.
 */
#ifndef SALTMILL_ENTRY_H
#define SALTMILL_ENTRY_H

#include "query.h"
#include "stored.h"

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
