/*
 * direct.h - encode rows of known columns straight into a DIFF block, without a plain block
 *
 * A direct block has only its first cells in plain form, and all its cells in encoded form. The
 * block has the same bytes as one that block_encode.c encodes at its end. A cell that only the slow
 * path can add turns the block into a plain one.
 */
#ifndef SALTMILL_HFILE_DIRECT_H
#define SALTMILL_HFILE_DIRECT_H

#include "quick_diff.h"

#define DIRECT_ROW_MOST 512 /* bytes; a longer row makes the block plain */
/* the fast path accepts shorter values, and the slow path checks longer ones; a power of 2 */
#define DIRECT_VALUE_MOST (1u << 16)
#define SHORT_LENGTHS	  0x80 /* lengths below this take one byte in a cell */

struct column_head;
struct hfile_writer;

/* The open block as a direct block, and its last cell. All sizes are in bytes. */
struct direct {
	bool possible; /* the file's blocks can be direct */
	bool open;     /* the open block is direct */
	/*
	 * The last cell has column `column`, except before the first direct cell of a block. Its
	 * type is not Put only before that cell.
	 */
	uint8_t type;
	uint16_t column;
	uint32_t value_bytes;
	size_t cell_bytes; /* length of the plain block with its header */
	size_t key_bytes, row_bytes;
	/* row_bytes if quick_row.c may add the next row, else 0; then all lengths are short */
	size_t short_row;
	uint64_t ts;
	unsigned wait,
		pause; /* blocks to leave plain from now on, and after the next plain block */
	uint8_t row[DIRECT_ROW_MOST + QUICK_SLACK];
};

/* A row to add, which sorts after the last cell. All sizes are in bytes. */
struct direct_row {
	struct bytes key; /* QUICK_SLACK bytes after it are readable */
	size_t same;	  /* leading bytes that the key shares with the row before */
	uint64_t ts;
	const struct cell_value *values;
	size_t count, value_bytes; /* number of values, and the sum of their sizes */
};

/*
 * Fill the parts of a column that follow the column before in a row. `same_bytes` is true if both
 * heads are of one length.
 */
void hfile_direct_head(struct column_head *head, bool same_bytes);
/* Make the open block direct if that is possible. Check `open` afterwards. */
int hfile_direct_begin(struct hfile_writer *w, size_t row_bytes, struct error *err);
/*
 * Add the values of a row to the open direct block until the block is full. Returns the number of
 * added values. The number is 0 also if memory is short, and then the block is not full.
 */
size_t hfile_direct_add(struct hfile_writer *w, const struct direct_row *row);
/* Turn the open direct block into a plain block. */
int hfile_direct_leave(struct hfile_writer *w, struct error *err);
/*
 * Finish the payload of the open direct block, and put the flat key of its last cell in `last`.
 * Returns false if memory is short.
 */
bool hfile_direct_last(struct hfile_writer *w, struct buf *last)
	__attribute__((warn_unused_result));
/* Count a block that ended. The next block is plain at first. */
void hfile_direct_ended(struct hfile_writer *w);

#endif
