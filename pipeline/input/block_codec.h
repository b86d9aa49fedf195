/* block_codec.h - decompress one whole block of limited size */
#ifndef SALTMILL_SOURCE_BLOCK_CODEC_H
#define SALTMILL_SOURCE_BLOCK_CODEC_H

#include "bytes.h"

enum block_codec {
	BLOCK_NONE,
	BLOCK_DEFLATE, /* without a header */
	BLOCK_SNAPPY,  /* one raw block, then the CRC-32 of its data, big-endian */
	BLOCK_ZSTD,
	BLOCK_BZIP2,
	BLOCK_XZ,
	BLOCK_LZ4_FRAME
};

struct block_unpacker;
struct block_unpacker *block_unpacker_new(void);
void block_unpacker_free(struct block_unpacker *u);
/*
 * Replace the contents of `out` by the decompressed data, followed by BLOCK_SLACK spare bytes.
 * Return NULL, or the fault. The fault is BLOCK_TOO_LARGE if the data exceeds `most` bytes.
 */
const char *block_unpack(struct block_unpacker *u, enum block_codec codec, struct bytes packed,
			 uint64_t most, struct buf *out);
extern const char BLOCK_TOO_LARGE[];
#define BLOCK_SLACK 64

#endif
