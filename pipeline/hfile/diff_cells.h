/*
 * diff_cells.h - the cells of an open block, and the quick path from a DIFF block to them
 *
 * The quick path makes no plain block. Values, and most parts of keys, are slices of the payload.
 */
#ifndef SALTMILL_HFILE_DIFF_CELLS_H
#define SALTMILL_HFILE_DIFF_CELLS_H

#include "hfile.h"

/* Cells in file order, each with its difference from the previous cell (enum hfile_step). */
struct block_cells {
	struct cell *cell;
	uint8_t *step;
	size_t n, at; /* `at` is the index of the next cell of the caller */
	size_t cell_room, step_room;
	bool plain; /* all cells are Puts */
};

/* Make room for `n` cells. Returns false if memory is short. */
bool hfile_block_cells_reserve(struct block_cells *c, size_t n);
void hfile_block_cells_release(struct block_cells *c);
/*
 * Decode the payload of a DIFF block without tags and mvcc, and check the order of its cells.
 * HBLOCK_SLACK readable bytes follow the payload. The cells borrow from the payload and from
 * `keys`. Returns false if the block is unusual or damaged, or if memory is short. Then
 * `out->n` is 0, and hfile_block_decode decodes the block or reports the error.
 */
bool hfile_diff_cells(struct bytes payload, struct buf *keys, struct block_cells *out);

#endif
