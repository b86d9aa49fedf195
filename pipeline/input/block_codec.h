/*
 * block_codec.h - one packed block as a whole, of no more than a given size
 */
#ifndef SALTMILL_SOURCE_BLOCK_CODEC_H
#define SALTMILL_SOURCE_BLOCK_CODEC_H

#include "bytes.h"

enum block_codec {
	BLOCK_NONE,
	BLOCK_DEFLATE, /* without a header */
	BLOCK_SNAPPY,  /* one raw block and, behind it, the CRC-32 of what it holds, big-endian */
	BLOCK_ZSTD,
	BLOCK_BZIP2,
	BLOCK_XZ,
	BLOCK_LZ4_FRAME
};

struct block_unpacker;
struct block_unpacker *block_unpacker_new(void);
void block_unpacker_free(struct block_unpacker *u);
/*
 * Replace what out holds by what `packed` does, with BLOCK_SLACK bytes of room behind it.  NULL:
 * fine; else what is wrong, BLOCK_TOO_LARGE when it is that there is more than most.
 */
const char *block_unpack(struct block_unpacker *u, enum block_codec codec, struct bytes packed,
			 uint64_t most, struct buf *out);
extern const char BLOCK_TOO_LARGE[];
#define BLOCK_SLACK 64

#endif
