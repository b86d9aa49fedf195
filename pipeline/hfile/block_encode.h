/*
 * block_encode.h - data block encodings: cells of a block to its payload and back (README.md 4)
 *
 * HBase encodes cell by cell; here a whole block is encoded when it closes.  That is the same:
 * every encoding starts afresh in each block.
 */
#ifndef SALTMILL_BLOCK_ENCODE_H
#define SALTMILL_BLOCK_ENCODE_H

#include "bytes.h"
#include "error.h"
#include "table.h"

/*
 * Memory for damaged and hostile files: a block may grow to 64 MiB freely, beyond that at most
 * 1024 times (the limit of deflate).
 */
static inline bool hblock_growth_fits(uint64_t plain_bytes, uint64_t stored_bytes)
{
	return plain_bytes <= INT32_MAX && plain_bytes <= (64u << 20) + 1024 * stored_bytes;
}

/* What stands behind each cell's value in this file. */
struct cell_tail {
	bool tags, mvcc;
};

/* Append the payload (encoding id first) of a block with these cells, each with its tail. */
void hblock_encode(enum block_encoding e, struct bytes cells, struct cell_tail tail,
		   struct buf *out);
/*
 * The cells of a payload, without tags and mvcc; *out is the payload itself when nothing needs
 * to be changed, else it lies in store.  encoding NONE: no id in the payload.  Lengths and order
 * of cells inside a NONE block are not checked here.
 */
int hblock_decode(enum block_encoding e, struct bytes payload, struct cell_tail tail,
		  struct buf *store, struct bytes *out, struct error *err);

#endif
