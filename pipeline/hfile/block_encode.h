/*
 * block_encode.h - encode the cells of a data block, and decode them (README.md 4)
 *
 * HBase encodes cell by cell; here a whole block is encoded when it closes. The result is the same,
 * because every encoding starts afresh in each block.
 */
#ifndef SALTMILL_BLOCK_ENCODE_H
#define SALTMILL_BLOCK_ENCODE_H

#include "bytes.h"
#include "error.h"
#include "kv.h"
#include "table.h"

/*
 * Limit memory for damaged and hostile files: a block may grow to 64 MiB freely, above that at most
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
	bool packed_tags; /* the delta encodings store tags through a dictionary */
};
/*
 * Decode a payload to plain cells, each with its tail. *out is the payload itself if nothing
 * changes, else it lies in store. encoding NONE: the payload has no id. Lengths and order of cells
 * in a NONE block are not checked here.
 */
int hfile_block_decode(const struct block_format *format, struct bytes payload, struct buf *store,
		       struct bytes *out, struct error *err);

#endif
