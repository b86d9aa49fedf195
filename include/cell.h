/*
 * cell.h - one HBase cell, the order of cells, and iterators over sorted cells
 *
 * Types and order match org.apache.hadoop.hbase.Cell and CellComparatorImpl. Every room that makes,
 * writes or reads cells uses this struct. Implemented in pipeline/base/cell.c.
 */
#ifndef SALTMILL_CELL_H
#define SALTMILL_CELL_H

#include "bytes.h"
#include "error.h"

/* KeyValue.Type. A delete hides versions with its timestamp or older ones, as its name says. */
enum cell_type {
	CELL_PUT = 4,
	CELL_DELETE = 8,		 /* the version with exactly this timestamp */
	CELL_DELETE_FAMILY_VERSION = 10, /* of all columns, with exactly this timestamp */
	CELL_DELETE_COLUMN = 12,	 /* all versions of the column */
	CELL_DELETE_FAMILY = 14,	 /* all versions of all columns */
	/* in search keys and shortened index keys: sorts before every real cell */
	CELL_MAXIMUM = 255
};
/* Return "Put", "DeleteColumn" ... or "unknown". */
const char *cell_type_name(unsigned type);
/* True if a stored cell can have this type. */
bool cell_type_known(unsigned type);

#define CELL_ROW_MAX	32767	  /* HConstants.MAX_ROW_LENGTH */
#define CELL_FAMILY_MAX 127	  /* a signed byte in the file */
#define CELL_TS_LATEST	INT64_MAX /* HConstants.LATEST_TIMESTAMP: only in search keys */

/* All slices are borrowed. A cell that is {0} except for its key has no value and no tags. */
struct cell {
	struct bytes row, family, qualifier;
	int64_t ts;    /* ms, 0 .. CELL_TS_LATEST - 1 */
	uint64_t mvcc; /* sequence id; 0: visible to every reader, or unknown */
	struct bytes value;
	struct bytes tags; /* each: i16 length of type and value | i8 type | value */
	uint8_t type;	   /* enum cell_type */
};

/*
 * Compare as CellComparatorImpl, without mvcc: row, family, qualifier by bytes_cmp; then timestamp and
 * type descending. Value and tags are ignored. A file's index and bloom filter compare the same way.
 */
int cell_key_cmp(const struct cell *a, const struct cell *b);
/* The same for two cells of one row. */
int cell_in_row_cmp(const struct cell *a, const struct cell *b);

/*
 * Return a search key that sorts before every cell of a row and column. family and qualifier may be
 * empty.
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
 * A Put of a column known by its number. This is the fastest form: the values of a row share row
 * key and timestamp.
 */
struct cell_value {
	const uint8_t *ptr;
	uint32_t len;
	uint16_t column;
	bool roomy; /* CELL_ROOM_BYTES from ptr on may be read, even if len is smaller */
};
#define CELL_ROOM_BYTES 32

#define ROW_KEY_MAX CELL_ROW_MAX
/*
 * A limit of saltmill: rows larger than memory are sorted by a 2-byte family number plus the
 * qualifier.
 */
#define QUALIFIER_MAX (ROW_KEY_MAX - 2)

#endif
