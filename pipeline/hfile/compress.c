/*
 * compress.c - GZ, SNAPPY, LZ4, ZSTD in the containers of compress.h
 *
 * A chunk of style B has at most CHUNK_BYTES of input: HBase and Hadoop decompress it in buffers
 * of 262144 bytes, and a longer one can end the region server's process (README.md 9.3).
 *
 * libzstd's door for ready-made sequences is young and was seen to write frames that nobody reads:
 * it checks them itself, those it refuses are compressed without them, and some of the frames are
 * read back.  Which ones their size decides, so it does not depend on threads.
 */
#include "compress.h"

#include <libdeflate.h>
#include <lz4.h>
#include <snappy-c.h>
#include <zstd.h>

#include "mem.h"

#define CHUNK_BYTES  218422 /* 262144 - (262144 / 6 + 32) */
#define ZSTD_LEVEL   3
#define GZ_LEVEL     6
#define GZ_LEVEL_MAX 12
#define READ_BACK    64 /* one frame of so many; libzstd has checked all, tuning read all it made */

static const uint8_t empty_gzip[20] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff, 3};

static int setup_zstd(struct hcodec *h, int level, struct error *err)
{
	if (!h->zstd)
		h->zstd = ZSTD_createCCtx();
	size_t rc = ZSTD_CCtx_setParameter(h->zstd, ZSTD_c_compressionLevel, level);
	if (ZSTD_isError(rc))
		return error_set(err, RC_CONFIG, "ZSTD has no level %d", level);
	return 0;
}

int hcodec_tune(struct hcodec *h, uint32_t hash_log, struct error *err)
{
	if (h->codec != CODEC_ZSTD)
		return 0;
	size_t rc = ZSTD_CCtx_setParameter(h->zstd, ZSTD_c_hashLog, (int)hash_log);
	if (ZSTD_isError(rc))
		return error_set(err, RC_CONFIG, "ZSTD has no hash log %u", hash_log);
	return 0;
}

int hcodec_sequence(struct hcodec *h, unsigned min_match, size_t tail_bytes, struct error *err)
{
	h->min_match = 0;
	if (h->codec != CODEC_ZSTD || min_match == 0)
		return 0;
	if (min_match < SEQUENCE_MIN || min_match > SEQUENCE_MAX)
		return error_set(err, RC_CONFIG, "sequences have matches of %d to %d bytes, not %u",
				 SEQUENCE_MIN, SEQUENCE_MAX, min_match);
	h->min_match = min_match;
	h->tail_bytes = tail_bytes;
	sequences_setup(h->zstd);
	return 0;
}

static int setup_gz(struct hcodec *h, int level, struct error *err)
{
	if (level < 1 || level > GZ_LEVEL_MAX)
		return error_set(err, RC_CONFIG, "GZ has levels 1 to %d, not %d", GZ_LEVEL_MAX,
				 level);
	if (!h->gz[level])
		h->gz[level] = libdeflate_alloc_compressor(level);
	h->gz_level = level;
	return 0;
}

int hcodec_setup(struct hcodec *h, enum codec codec, int level, enum zstd_framing framing,
		 struct error *err)
{
	bool standard = level == LEVEL_DEFAULT;
	int rc;
	h->codec = codec;
	h->framing = framing;
	h->min_match = 0;
	switch (codec) {
	case CODEC_NONE:
	case CODEC_SNAPPY: return 0;
	case CODEC_LZ4:
		if (!h->lz4)
			h->lz4 = mem_alloc((size_t)LZ4_sizeofState());
		return 0;
	case CODEC_GZ: return setup_gz(h, standard ? GZ_LEVEL : level, err);
	case CODEC_ZSTD:
		rc = setup_zstd(h, standard ? ZSTD_LEVEL : level, err);
		return rc ? rc : hcodec_tune(h, 0, err);
	case CODEC_LZO: break;
	}
	return error_set(err, RC_CONFIG, "blocks cannot be compressed with codec %d (%s)",
			 (int)codec, codec_name(codec));
}

/* Compressed size bound of one piece. */
static size_t piece_bound(const struct hcodec *h, size_t n)
{
	switch (h->codec) {
	case CODEC_SNAPPY: return snappy_max_compressed_length(n);
	case CODEC_LZ4: return (size_t)LZ4_compressBound((int)n);
	case CODEC_GZ: return libdeflate_gzip_compress_bound(h->gz[h->gz_level], n);
	default: return ZSTD_compressBound(n);
	}
}

/* Compress one piece to the end of out; 0 bytes means failure. */
static size_t put_piece(struct hcodec *h, struct bytes in, struct buf *out)
{
	size_t n = piece_bound(h, in.len);
	uint8_t *to = buf_reserve(out, n);
	const char *from = (const char *)in.ptr;
	switch (h->codec) {
	case CODEC_SNAPPY:
		if (snappy_compress(from, in.len, (char *)to, &n) != SNAPPY_OK)
			n = 0;
		break;
	case CODEC_LZ4:
		n = (size_t)LZ4_compress_fast_extState(h->lz4, from, (char *)to, (int)in.len,
						       (int)n, 1);
		break;
	case CODEC_GZ:
		n = libdeflate_gzip_compress(h->gz[h->gz_level], in.ptr, in.len, to, n);
		break;
	default:
		n = ZSTD_compress2(h->zstd, to, n, in.ptr, in.len);
		if (ZSTD_isError(n))
			n = 0;
	}
	out->len += n;
	return n;
}

static bool is_stream(const struct hcodec *h)
{
	return h->codec == CODEC_GZ ||
	       (h->codec == CODEC_ZSTD && h->framing == ZSTD_FRAMING_HADOOP);
}

static int compress_chunks(struct hcodec *h, struct bytes in, struct buf *out, struct error *err)
{
	buf_be32(out, (uint32_t)in.len);
	for (size_t at = 0; at < in.len; at += CHUNK_BYTES) {
		size_t n = in.len - at < CHUNK_BYTES ? in.len - at : CHUNK_BYTES;
		size_t length_at = out->len;
		buf_be32(out, 0);
		size_t stored = put_piece(h, bytes_of(in.ptr + at, n), out);
		if (stored == 0)
			return error_set(err, RC_DATA, "%s cannot compress %zu bytes",
					 codec_name(h->codec), n);
		put_be32(out->ptr + length_at, (uint32_t)stored);
	}
	if (in.len > CHUNK_BYTES)
		buf_be32(out, 0);
	return 0;
}

int hcodec_compress(struct hcodec *h, struct bytes in, struct buf *out, struct error *err)
{
	if (h->codec == CODEC_NONE) {
		buf_append(out, in.ptr, in.len);
		return 0;
	}
	if (!is_stream(h))
		return compress_chunks(h, in, out, err);
	if (h->codec == CODEC_GZ && in.len == 0) {
		buf_append(out, empty_gzip, sizeof empty_gzip);
		return 0;
	}
	if (put_piece(h, in, out) == 0)
		return error_set(err, RC_DATA, "%s cannot compress %zu bytes", codec_name(h->codec),
				 in.len);
	return 0;
}

/* Decompress one chunk; *out_bytes is the room and becomes what it gave. */
static bool get_piece(struct hcodec *h, enum codec codec, struct bytes in, uint8_t *out,
		      size_t *out_bytes)
{
	const char *from = (const char *)in.ptr;
	size_t plain;
	if (codec == CODEC_SNAPPY) {
		if (snappy_uncompressed_length(from, in.len, &plain) != SNAPPY_OK ||
		    plain > *out_bytes)
			return false;
		return snappy_uncompress(from, in.len, (char *)out, out_bytes) == SNAPPY_OK;
	}
	if (codec == CODEC_LZ4) {
		if (in.len > INT32_MAX || *out_bytes > INT32_MAX)
			return false;
		int n = LZ4_decompress_safe(from, (char *)out, (int)in.len, (int)*out_bytes);
		*out_bytes = n < 0 ? 0 : (size_t)n;
		return n >= 0;
	}
	if (!h->unzstd)
		h->unzstd = ZSTD_createDCtx();
	plain = ZSTD_decompressDCtx(h->unzstd, out, *out_bytes, in.ptr, in.len);
	if (ZSTD_isError(plain))
		return false;
	*out_bytes = plain;
	return true;
}

/* Whether a frame of sequences is the cells, if it is one of those to look at. */
static bool reads_back(struct hcodec *h, struct bytes cells, struct bytes frame)
{
	if (!h->read_all && frame.len % READ_BACK)
		return true;
	size_t plain = cells.len;
	uint8_t *back = buf_reserve(&h->back, cells.len);
	return get_piece(h, CODEC_ZSTD, frame, back, &plain) && plain == cells.len &&
	       memcmp(back, cells.ptr, plain) == 0;
}

int hcodec_compress_cells(struct hcodec *h, struct bytes cells, struct buf *out, struct error *err)
{
	size_t begin = out->len, head = is_stream(h) ? 0 : 8, n = 0;
	h->sequenced = false;
	if (h->min_match && cells.len <= CHUNK_BYTES) {
		size_t room = ZSTD_compressBound(cells.len);
		uint8_t *to = buf_reserve(out, head + room);
		n = sequences_compress(&h->sequencer, h->zstd, cells, h->tail_bytes, h->min_match,
				       to + head, room);
	}
	if (n == 0)
		return hcodec_compress(h, cells, out, err);
	if (head) {
		buf_be32(out, (uint32_t)cells.len);
		buf_be32(out, (uint32_t)n);
	}
	out->len += n;
	h->sequenced = true;
	if (!reads_back(h, cells, bytes_of(out->ptr + begin + head, n)))
		return error_set(err, RC_DATA,
				 "libzstd made a frame of sequences for %zu bytes of cells that it "
				 "cannot read; a level other than auto does without them",
				 cells.len);
	return 0;
}

/* The chunks of one group; advances *p.  False when damaged. */
static bool get_group(struct hcodec *h, enum codec codec, const uint8_t **p, const uint8_t *end,
		      uint8_t *out, size_t group_bytes)
{
	for (size_t done = 0; done < group_bytes;) {
		if (end - *p < 4)
			return false;
		size_t stored = get_be32(*p), plain = group_bytes - done;
		*p += 4;
		if (stored > (size_t)(end - *p) ||
		    !get_piece(h, codec, bytes_of(*p, stored), out + done, &plain) || plain == 0)
			return false;
		*p += stored;
		done += plain;
	}
	return true;
}

static bool get_chunks(struct hcodec *h, enum codec codec, struct bytes in, uint8_t *out,
		       size_t out_bytes)
{
	const uint8_t *p = in.ptr, *end = in.ptr + in.len;
	size_t done = 0;
	while (p < end) {
		if (end - p < 4)
			return false;
		size_t group_bytes = get_be32(p);
		p += 4;
		if (group_bytes == 0)
			return p == end && done == out_bytes;
		if (group_bytes > out_bytes - done ||
		    !get_group(h, codec, &p, end, out + done, group_bytes))
			return false;
		done += group_bytes;
	}
	return done == out_bytes;
}

static bool gunzip(struct hcodec *h, struct bytes in, uint8_t *out, size_t out_bytes)
{
	size_t used = 0, plain = 0;
	if (!h->gunzip)
		h->gunzip = libdeflate_alloc_decompressor();
	return libdeflate_gzip_decompress_ex(h->gunzip, in.ptr, in.len, out, out_bytes, &used,
					     &plain) == LIBDEFLATE_SUCCESS &&
	       used == in.len && plain == out_bytes;
}

static bool is_zstd_frame(struct bytes in)
{
	return in.len >= 4 && get_be32(in.ptr) == 0x28b52ffd;
}

int hcodec_decompress(struct hcodec *h, enum codec codec, struct bytes in, uint8_t *out,
		      size_t out_bytes, struct error *err)
{
	bool ok;
	size_t plain = out_bytes;
	if (codec == CODEC_NONE) {
		ok = in.len == out_bytes;
		if (ok && in.len)
			memcpy(out, in.ptr, in.len);
	} else if (codec == CODEC_GZ) {
		ok = gunzip(h, in, out, out_bytes);
	} else if (codec == CODEC_ZSTD && is_zstd_frame(in)) {
		ok = get_piece(h, codec, in, out, &plain) && plain == out_bytes;
	} else {
		ok = get_chunks(h, codec, in, out, out_bytes);
	}
	if (!ok)
		return error_set(err, RC_DATA, "the payload is not %zu bytes compressed with %s",
				 out_bytes, codec_name(codec));
	return 0;
}

void hcodec_release(struct hcodec *h)
{
	ZSTD_freeCCtx(h->zstd);
	ZSTD_freeDCtx(h->unzstd);
	for (int level = 0; level <= GZ_LEVEL_MAX; level++)
		if (h->gz[level])
			libdeflate_free_compressor(h->gz[level]);
	if (h->gunzip)
		libdeflate_free_decompressor(h->gunzip);
	mem_free(h->lz4);
	sequencer_release(&h->sequencer);
	buf_release(&h->back);
	*h = (struct hcodec){0};
}
