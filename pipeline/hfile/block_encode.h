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
#include "kv.h"
#include "table.h"

/*
 * Memory for damaged and hostile files: a block may grow to 64 MiB freely, beyond that at most
 * 1024 times (the limit of deflate).
 */
static inline bool hfile_block_growth_fits(uint64_t plain_bytes, uint64_t stored_bytes)
{
	return plain_bytes <= INT32_MAX && plain_bytes <= (64u << 20) + 1024 * stored_bytes;
}

/* Append the payload (encoding id first) of a block with these cells, each with its tail. */
int hfile_block_encode(enum block_encoding e, struct bytes cells, struct cell_tail tail,
		       struct buf *out, struct error *err);
/* How the cells of a file's blocks are stored. */
struct block_format {
	enum block_encoding encoding;
	struct cell_tail tail;
	bool packed_tags; /* tags of the delta encodings go through a dictionary */
};
/*
 * The cells of a payload as plain blocks have them, each with its tail; *out is the payload itself
 * when nothing needs to be changed, else it lies in store.  encoding NONE: no id in the payload.
 * Lengths and order of cells inside a NONE block are not checked here.
 */
int hfile_block_decode(const struct block_format *format, struct bytes payload, struct buf *store,
		       struct bytes *out, struct error *err);

#endif
