/*
 * cell.h - one HBase cell, the order of cells, cells in order
 *
 * As org.apache.hadoop.hbase.Cell and CellComparatorImpl have them.  Who makes cells, writes them
 * into files and reads them back shares this one.  Implemented in pipeline/base/cell.c.
 */
#ifndef SALTMILL_CELL_H
#define SALTMILL_CELL_H

#include "bytes.h"
#include "error.h"

/* KeyValue.Type; deletes hide what is older or as old, see the names. */
enum cell_type {
	CELL_PUT = 4,
	CELL_DELETE = 8,		 /* the version of this very timestamp */
	CELL_DELETE_FAMILY_VERSION = 10, /* of all columns, of this very timestamp */
	CELL_DELETE_COLUMN = 12,	 /* all versions of the column */
	CELL_DELETE_FAMILY = 14,	 /* all versions of all columns */
	CELL_MAXIMUM = 255 /* of search keys and shortened index keys: before every real cell */
};
/* "Put", "DeleteColumn"; "unknown". */
const char *cell_type_name(unsigned type);
/* Can a stored cell have it? */
bool cell_type_known(unsigned type);

#define CELL_ROW_MAX	32767	  /* HConstants.MAX_ROW_LENGTH */
#define CELL_FAMILY_MAX 127	  /* a signed byte in the file */
#define CELL_TS_LATEST	INT64_MAX /* HConstants.LATEST_TIMESTAMP: of search keys only */

/* All slices are borrowed.  {0} but for the key is a cell without value and tags. */
struct cell {
	struct bytes row, family, qualifier;
	int64_t ts;    /* ms, 0 .. CELL_TS_LATEST - 1 */
	uint64_t mvcc; /* sequence id; 0: visible to everybody, or not known */
	struct bytes value;
	struct bytes tags; /* each: i16 length of type and value | i8 type | value */
	uint8_t type;	   /* enum cell_type */
};

/*
 * CellComparatorImpl: row, family, qualifier by bytes_cmp; timestamp, type, mvcc descending.
 * Value and tags do not count.
 */
int cell_cmp(const struct cell *a, const struct cell *b);
/* The same without mvcc, as a file's index and bloom filter compare. */
int cell_key_cmp(const struct cell *a, const struct cell *b);
/* The same of two cells of one row. */
int cell_in_row_cmp(const struct cell *a, const struct cell *b);

/* The place before the first possible cell of a row and column; family and qualifier may be empty.
 */
static inline struct cell cell_first(struct bytes row, struct bytes family, struct bytes qualifier)
{
	return (struct cell){.row = row,
			     .family = family,
			     .qualifier = qualifier,
			     .ts = CELL_TS_LATEST,
			     .mvcc = UINT64_MAX,
			     .type = CELL_MAXIMUM};
}

/*
 * Cells in order.  next returns 0, RC_END or an error; *out is valid until the next call.  close
 * (NULL: nothing to do) releases the iterator itself.
 */
struct cell_iter {
	int (*next)(void *self, struct cell *out, struct error *err);
	void (*close)(void *self);
	void *self;
};

/*
 * A Put of a column that is known by its number: the quickest form, of which a row's share row key
 * and timestamp.
 */
struct cell_value {
	const uint8_t *ptr;
	uint32_t len;
	uint16_t column;
	bool roomy; /* CELL_ROOM_BYTES from ptr on may be read, however short it is */
};
#define CELL_ROOM_BYTES 32

#define ROW_KEY_MAX CELL_ROW_MAX
/* Ours: the cells of a row beyond memory are sorted by 2 bytes of family and the qualifier. */
#define QUALIFIER_MAX (ROW_KEY_MAX - 2)

#endif
