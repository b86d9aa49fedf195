/*
 * quick_diff.h - the fast path of DIFF blocks, in both directions (README.md 4.3)
 *
 * Both functions handle as many cells as they can, and write the bytes that the general path
 * writes. Copies are 16 bytes wide, so they may read and write up to QUICK_SLACK bytes more. The
 * general path (block_encode.c, block_decode.c) handles the first cell, the last cells and
 * everything unusual, and reports all errors.
 */
#ifndef SALTMILL_HFILE_QUICK_DIFF_H
#define SALTMILL_HFILE_QUICK_DIFF_H

#include "delta.h"

#define QUICK_SLACK 32

/*
 * Append the encoded form of cells without tags and mvcc. `at` is the offset of the first of them,
 * and *before is the offset of the cell before it, in the same form. Returns the offset of the
 * first cell that remains, and sets *before.
 */
size_t hfile_quick_diff_encode(struct bytes cells, size_t *before, size_t at, struct buf *out);
/*
 * Decode cells after the first cell of a block. The block has no tags and no mvcc. The state
 * afterwards is as if the general path had decoded the same cells.
 */
void hfile_quick_diff_decode(struct delta *d);

#endif
