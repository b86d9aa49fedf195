/*
 * block_encode.h - encode the cells of a data block, and decode them (README.md 4)
 *
 * HBase encodes cell by cell. saltmill encodes a whole block when it closes. The result is the
 * same, because each block depends only on its own cells.
 */
#ifndef SALTMILL_BLOCK_ENCODE_H
#define SALTMILL_BLOCK_ENCODE_H

#include "bytes.h"
#include "error.h"
#include "kv.h"
#include "table.h"

/*
 * Limits of memory for damaged and hostile files. A block up to 64 MiB may have any ratio. A larger
 * block has at most 1024 times its stored size (the limit of deflate).
 */
static inline bool hfile_block_growth_fits(uint64_t plain_bytes, uint64_t stored_bytes)
{
	return plain_bytes <= INT32_MAX && plain_bytes <= (64u << 20) + 1024 * stored_bytes;
}

/* The form of the cells in a file's blocks. */
struct block_format {
	enum block_encoding encoding;
	struct cell_tail tail;
	bool packed_tags; /* the delta encodings store tags through a dictionary */
	bool careful;	  /* do not use the fast path (quick_diff.h); the result is the same */
};
/*
 * Append the payload of a block with these cells. The payload begins with the encoding id. Each
 * cell has its tail. The encoding is not NONE, and `packed_tags` is false.
 */
int hfile_block_encode(const struct block_format *format, struct bytes cells, struct buf *out,
		       struct error *err);
/*
 * Decode a payload to plain cells, each with its tail. `*out` is the payload if the payload needs
 * no change. Otherwise `*out` is in `store`. For encoding NONE the payload has no id. The function
 * does not check lengths and order of cells in a NONE block.
 */
int hfile_block_decode(const struct block_format *format, struct bytes payload, struct buf *store,
		       struct bytes *out, struct error *err);

#endif
