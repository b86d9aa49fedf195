/*
 * block_codec.c - decompress blocks with the codecs' libraries
 *
 * The decompressed size that a block claims is untrusted. The buffer grows with the data up to a
 * limit, so the reader rejects a block that decompresses to gigabytes.
 */
#include "input/block_codec.h"

#include <bzlib.h>
#include <libdeflate.h>
#include <lz4frame.h>
#include <lzma.h>
#include <snappy-c.h>
#include <zstd.h>

#include "mem.h"

#define FIRST_RATIO 4
#define FIRST_ROOM  ((size_t)4 << 10)
#define XZ_MEMORY   ((uint64_t)160 << 20)

const char BLOCK_TOO_LARGE[] = "found more decompressed bytes than the limit";
static const char damaged[] = "found damaged compressed data";

struct block_unpacker {
	struct libdeflate_decompressor *deflate;
	ZSTD_DCtx *zstd;
	LZ4F_dctx *lz4;
};

struct block_unpacker *block_unpacker_new(void)
{
	return mem_calloc(1, sizeof(struct block_unpacker));
}

void block_unpacker_free(struct block_unpacker *u)
{
	if (!u)
		return;
	libdeflate_free_decompressor(u->deflate);
	ZSTD_freeDCtx(u->zstd);
	LZ4F_freeDecompressionContext(u->lz4);
	mem_free(u);
}

/* Double the buffer, up to the limit. Return false at the limit. */
static bool grow(struct buf *out, uint64_t most)
{
	uint64_t want = out->cap ? 2 * (uint64_t)out->cap : FIRST_ROOM;

	if (out->cap >= most + BLOCK_SLACK)
		return false;
	want = want < most + BLOCK_SLACK ? want : most + BLOCK_SLACK;
	buf_reserve(out, (size_t)(want - out->len));
	return true;
}

/* Return the number of bytes of `out` that the caller may still fill. */
static size_t room(const struct buf *out, uint64_t most)
{
	size_t all = out->cap > BLOCK_SLACK ? out->cap - BLOCK_SLACK : 0;

	all = all < most ? all : (size_t)most;
	return all - out->len;
}

static const char *inflate_block(struct block_unpacker *u, struct bytes in, uint64_t most,
				 struct buf *out)
{
	if (!u->deflate)
		u->deflate = libdeflate_alloc_decompressor();
	if (!u->deflate)
		return "there is not enough memory to unpack it";
	for (;;) {
		size_t got = 0, took = 0;
		enum libdeflate_result r =
			libdeflate_deflate_decompress_ex(u->deflate, in.ptr, in.len, out->ptr,
							 room(out, most), &took, &got);

		if (r == LIBDEFLATE_SUCCESS) {
			out->len = got;
			/* ignore the rest, because fastavro leaves three bytes of a checksum */
			return NULL;
		}
		if (r != LIBDEFLATE_INSUFFICIENT_SPACE)
			return damaged;
		if (!grow(out, most))
			return BLOCK_TOO_LARGE;
	}
}

static const char *unsnap_block(struct bytes in, uint64_t most, struct buf *out)
{
	size_t len, n = in.len - 4;

	if (in.len < 4 || snappy_uncompressed_length((const char *)in.ptr, n, &len) != SNAPPY_OK)
		return damaged;
	if (len > most)
		return BLOCK_TOO_LARGE;
	buf_reserve(out, len + BLOCK_SLACK);
	if (snappy_uncompress((const char *)in.ptr, n, (char *)out->ptr, &len) != SNAPPY_OK)
		return damaged;
	out->len = len;
	return libdeflate_crc32(0, out->ptr, len) == get_be32(in.ptr + n)
		       ? NULL
		       : "found another CRC-32 than that of the data";
}

static const char *unzstd_block(struct block_unpacker *u, struct bytes in, uint64_t most,
				struct buf *out)
{
	ZSTD_inBuffer src = {in.ptr, in.len, 0};
	size_t left = 1;

	if (!u->zstd)
		u->zstd = ZSTD_createDCtx();
	if (!u->zstd)
		return "there is not enough memory to unpack it";
	ZSTD_DCtx_reset(u->zstd, ZSTD_reset_session_only);
	do {
		if (room(out, most) == 0 && !grow(out, most))
			return BLOCK_TOO_LARGE;
		size_t space = room(out, most), before = src.pos;
		ZSTD_outBuffer dst = {out->ptr + out->len, space, 0};
		left = ZSTD_decompressStream(u->zstd, &dst, &src);
		if (ZSTD_isError(left) || (dst.pos == 0 && src.pos == before && left > 0))
			return damaged;
		out->len += dst.pos;
	} while (left > 0 || src.pos < src.size);
	return NULL;
}

static const char *unlz4_block(struct block_unpacker *u, struct bytes in, uint64_t most,
			       struct buf *out)
{
	size_t at = 0, left = 1;

	if (!u->lz4 && LZ4F_isError(LZ4F_createDecompressionContext(&u->lz4, LZ4F_VERSION)))
		return "there is not enough memory to unpack it";
	LZ4F_resetDecompressionContext(u->lz4);
	do {
		if (room(out, most) == 0 && !grow(out, most))
			return BLOCK_TOO_LARGE;
		size_t to = room(out, most), from = in.len - at;
		left = LZ4F_decompress(u->lz4, out->ptr + out->len, &to, in.ptr + at, &from, NULL);
		if (LZ4F_isError(left) || (to == 0 && from == 0 && left > 0))
			return damaged;
		out->len += to;
		at += from;
	} while (left > 0 || at < in.len);
	return NULL;
}

static const char *unbzip_block(struct bytes in, uint64_t most, struct buf *out)
{
	for (;;) {
		unsigned len =
			(unsigned)(room(out, most) < UINT32_MAX ? room(out, most) : UINT32_MAX);
		char *from = (char *)(uintptr_t)in.ptr; /* bzip2 only reads the input */
		int r = in.len > UINT32_MAX
				? BZ_PARAM_ERROR
				: BZ2_bzBuffToBuffDecompress((char *)out->ptr, &len, from,
							     (unsigned)in.len, 0, 0);

		if (r == BZ_OK) {
			out->len = len;
			return NULL;
		}
		if (r != BZ_OUTBUFF_FULL)
			return damaged;
		if (!grow(out, most))
			return BLOCK_TOO_LARGE;
	}
}

static const char *unxz_block(struct bytes in, uint64_t most, struct buf *out)
{
	for (;;) {
		uint64_t memory = XZ_MEMORY;
		size_t from = 0, to = 0;

		lzma_ret r = lzma_stream_buffer_decode(&memory, 0, NULL, in.ptr, &from, in.len,
						       out->ptr, &to, room(out, most));
		if (r == LZMA_OK) {
			out->len = to;
			return from == in.len ? NULL : damaged;
		}
		if (r != LZMA_BUF_ERROR)
			return damaged;
		if (!grow(out, most))
			return BLOCK_TOO_LARGE;
	}
}

const char *block_unpack(struct block_unpacker *u, enum block_codec codec, struct bytes packed,
			 uint64_t most, struct buf *out)
{
	size_t first = packed.len < FIRST_ROOM ? FIRST_ROOM : packed.len * FIRST_RATIO;

	out->len = 0;
	buf_reserve(out, (first < most ? first : (size_t)most) + BLOCK_SLACK);
	switch (codec) {
	case BLOCK_DEFLATE: return inflate_block(u, packed, most, out);
	case BLOCK_SNAPPY: return unsnap_block(packed, most, out);
	case BLOCK_ZSTD: return unzstd_block(u, packed, most, out);
	case BLOCK_LZ4_FRAME: return unlz4_block(u, packed, most, out);
	case BLOCK_BZIP2: return unbzip_block(packed, most, out);
	case BLOCK_XZ: return unxz_block(packed, most, out);
	case BLOCK_NONE: break;
	}
	if (packed.len > most)
		return BLOCK_TOO_LARGE;
	buf_append(out, packed.ptr, packed.len);
	buf_reserve(out, BLOCK_SLACK);
	return NULL;
}
