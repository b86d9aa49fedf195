/*
 * cell.h - one HBase cell, the order of cells, and iterators over sorted cells
 *
 * Types and order match org.apache.hadoop.hbase.Cell and CellComparatorImpl. All code that makes,
 * writes or reads cells uses this struct. Implemented in pipeline/base/cell.c.
 */
#ifndef SALTMILL_CELL_H
#define SALTMILL_CELL_H

#include "bytes.h"
#include "error.h"

/*
 * KeyValue.Type. A delete marker deletes the versions with its timestamp. Some types also delete
 * older versions.
 */
enum cell_type {
	CELL_PUT = 4,
	CELL_DELETE = 8, /* deletes the version with exactly this timestamp */
	/* deletes the versions of all columns with exactly this timestamp */
	CELL_DELETE_FAMILY_VERSION = 10,
	CELL_DELETE_COLUMN =
		12, /* deletes all versions of the column at or before this timestamp */
	/* deletes all versions of all columns at or before this timestamp */
	CELL_DELETE_FAMILY = 14,
	/* only in search keys and shortened index keys; sorts before every stored cell */
	CELL_MAXIMUM = 255
};
/* Return the type's name in HBase, such as "Put" or "DeleteColumn", or "unknown". */
const char *cell_type_name(unsigned type);
/* Return true if a stored cell can have this type. */
bool cell_type_known(unsigned type);
/* Return true if the type is a marker of a family. Such a cell belongs to no column. */
static inline bool cell_type_marks_family(unsigned type)
{
	return type == CELL_DELETE_FAMILY || type == CELL_DELETE_FAMILY_VERSION;
}

#define CELL_ROW_MAX	32767	  /* HConstants.MAX_ROW_LENGTH */
#define CELL_FAMILY_MAX 127	  /* the length is a signed byte in the file */
#define CELL_TS_LATEST	INT64_MAX /* HConstants.LATEST_TIMESTAMP, which only search keys have */

/*
 * A cell, which borrows all of its slices. A cell with only the key set (other members 0) has no
 * value and no tags.
 */
struct cell {
	struct bytes row, family, qualifier;
	int64_t ts;    /* ms, 0 .. CELL_TS_LATEST - 1 */
	uint64_t mvcc; /* sequence id; 0 means visible to every reader, or unknown */
	struct bytes value;
	struct bytes tags; /* each tag: i16 length of type and value | i8 type | value */
	uint8_t type;	   /* enum cell_type */
};

/*
 * The tag with a cell's own TTL (TagType.TTL_TAG_TYPE): i16 9 | i8 8 | i64 ms after the timestamp.
 */
#define CELL_TTL_TAG	   8
#define CELL_TTL_TAG_BYTES 11
void cell_put_ttl(uint8_t out[CELL_TTL_TAG_BYTES], int64_t ttl_ms);
/*
 * Get the value of the cell's first tag of a type, as HBase does. Returns false if it has none. The
 * tags must be whole.
 */
bool cell_tag(const struct cell *c, uint8_t type, struct bytes *out);
/* Get the cell's own TTL. Returns false if it has none. Only the first such tag counts. */
bool cell_ttl(const struct cell *c, int64_t *ttl_ms);
/* Return true if the cell's own TTL has passed. */
static inline bool cell_ttl_passed(const struct cell *c, int64_t now_ms)
{
	int64_t ttl_ms;

	return c->tags.len && cell_ttl(c, &ttl_ms) &&
	       (int64_t)((uint64_t)c->ts + (uint64_t)ttl_ms) < now_ms;
}

/*
 * Compare two cells as CellComparatorImpl does, but ignore mvcc, value and tags. The order is row,
 * family and qualifier (bytes_cmp), then timestamp and type in falling order. A file's index and
 * bloom filter use the same order.
 */
int cell_key_cmp(const struct cell *a, const struct cell *b);
/* Compare two cells of one row as cell_cmp does. */
int cell_in_row_cmp(const struct cell *a, const struct cell *b);

/*
 * Return a search key that sorts before every cell of a row and column. `family` and `qualifier`
 * may be empty.
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
 * A Put with the number of its column. This struct is smaller than struct cell, because the values
 * of a row share row key and timestamp.
 */
struct cell_value {
	const uint8_t *ptr;
	uint32_t len;
	uint16_t column;
	bool roomy; /* code may read CELL_ROOM_BYTES from `ptr` on, even if `len` is smaller */
};
#define CELL_ROOM_BYTES 32

#define ROW_KEY_MAX CELL_ROW_MAX
/*
 * saltmill limits qualifiers because it sorts rows larger than memory by a 2-byte family number
 * plus the qualifier.
 */
#define QUALIFIER_MAX (ROW_KEY_MAX - 2)

#endif
