/*
 * block.h - HFile blocks: header, compressed payload, checksums (README.md 2)
 *
 *    0  magic                          8 bytes
 *    8  onDiskSizeWithoutHeader        i32  stored payload and checksums
 *   12  uncompressedSizeWithoutHeader  i32
 *   16  prevBlockOffset                i64  of the same type, -1 if none
 *   24  checksumType                   i8   2: CRC32C
 *   25  bytesPerChecksum               i32  16384
 *   29  onDiskDataSizeWithHeader       i32  header and stored payload
 *   33  stored payload | CRC32C of each 16384 bytes from the header's first byte on
 */
#ifndef SALTMILL_HFILE_BLOCK_H
#define SALTMILL_HFILE_BLOCK_H

#include "bytes.h"
#include "compress.h"
#include "error.h"
#include "reader_extras.h"
#include "hfile.h"

#define HBLOCK_HEADER 33
/*
 * The limit of a block. Sizes in a file are signed 32-bit numbers, and compression may add bytes.
 */
#define HBLOCK_PLAIN_MAX (1u << 30)

enum hblock_type {
	HBLOCK_DATA,
	HBLOCK_ENCODED,
	HBLOCK_LEAF,
	HBLOCK_BLOOM,
	HBLOCK_META,
	HBLOCK_INTERMEDIATE,
	HBLOCK_ROOT,
	HBLOCK_INFO,
	HBLOCK_BLOOM_META,
	HBLOCK_DELETE_BLOOM_META,
	HBLOCK_TYPES
};

/* Return the 8 bytes that begin a block, NUL-terminated. */
const char *hfile_block_magic(enum hblock_type t);

/*
 * Return the CRC-32C (Castagnoli) of `n` bytes. For example, the CRC-32C of "123456789" is
 * E3069283.
 */
uint32_t hfile_block_crc32c(const uint8_t *p, size_t n);

struct hblock_place {
	uint64_t offset;
	uint32_t disk_bytes;  /* header, payload, checksums */
	uint32_t plain_bytes; /* payload before compression */
};

/*
 * The output of blocks. `previous` has the offset of the last block of each type, or -1 before the
 * first block.
 */
struct hblock_out {
	struct hfile_sink sink;
	uint64_t offset; /* bytes written */
	struct hcodec *codec;
	struct buf *disk; /* buffer for the compressed block */
	int64_t previous[HBLOCK_TYPES];
};

void hfile_block_out_init(struct hblock_out *o, const struct hfile_sink *sink, struct hcodec *codec,
			  struct buf *disk);
int hfile_block_out_append(struct hblock_out *o, const void *ptr, size_t len, struct error *err);
/* Empty `b`, and reserve room for the header and `payload_bytes` bytes. */
int hfile_block_begin(struct buf *b, size_t payload_bytes, struct error *err);
/*
 * Compress the payload in `b` (started by hfile_block_begin) into `disk`, which is `b` if there is
 * no compression. The function uses no file, so any thread may call the function.
 */
int hfile_block_pack(struct hcodec *codec, enum hblock_type type, const struct buf *b,
		     struct buf *disk, struct error *err);
/* Add header and checksums to the result of hfile_block_pack, and write it. */
int hfile_block_put(struct hblock_out *o, enum hblock_type type, struct buf *disk,
		    size_t plain_bytes, struct hblock_place *place, struct error *err);
/* Compress and write the block in `b`. The function overwrites the contents of `b`. */
int hfile_block_write(struct hblock_out *o, enum hblock_type type, struct buf *b,
		      struct hblock_place *place, struct error *err);

/* The input of blocks. `limit` is the offset after the last block. */
struct hblock_in {
	const struct hfile_source *source;
	uint64_t limit;
	enum codec codec;
	bool encrypted; /* `key` decrypts the blocks */
	uint8_t key[HEXTRAS_KEY_BYTES];
	struct hcodec state;
	uint64_t reads[HBLOCK_TYPES]; /* blocks read */
};

/*
 * A block from a file, in its own buffers. `payload` is valid until the next read into this block.
 * HBLOCK_SLACK bytes follow the payload, for copies that read more than they need.
 */
#define HBLOCK_SLACK 64
struct hblock {
	enum hblock_type type;
	struct hblock_place place;
	int64_t previous;
	struct bytes payload;
	bool checked; /* the block has checksums */
	struct buf disk, plain;
};

/*
 * Read and check the block at `offset`. `disk_bytes` is the block's size in the index, or 0 if the
 * size is unknown. If the block is damaged, returns RC_DATA with the file, the offset and the
 * fault. `b->place.disk_bytes` is then 0, unless the header is valid.
 */
int hfile_block_read(struct hblock_in *in, uint64_t offset, uint32_t disk_bytes, struct hblock *b,
		     struct error *err);
/*
 * Read, check and decrypt the block as hfile_block_read does, but do not decompress its payload. The codec of
 * `in` matters only if it is CODEC_NONE.
 */
int hfile_block_read_packed(struct hblock_in *in, uint64_t offset, struct hblock *b,
			    struct error *err);
/* Decompress the payload of hfile_block_read_packed with the codec of `in`. */
int hfile_block_unpack(struct hblock_in *in, struct hblock *b, struct error *err);
void hfile_block_release(struct hblock *b);

#endif
