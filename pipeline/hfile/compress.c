/*
 * compress.c - all codecs in the containers of compress.h; only_read.c has those that saltmill only reads
 *
 * A chunk of style B has at most CHUNK_BYTES of input. HBase and Hadoop decompress it in buffers of
 * 262144 bytes, and a longer chunk can end the region server's process (README.md 9.3).
 *
 * libzstd's interface for ready-made sequences is experimental, and libzstd has written frames that
 * no reader accepts. So libzstd checks the sequences itself. If libzstd refuses the sequences,
 * compress the block without them. The writer decompresses some frames as a check. The frame's size
 * decides which frames, so the number of threads has no influence.
 */
#include "compress.h"

#include <libdeflate.h>
#include <lz4.h>
#include <snappy-c.h>
#define ZSTD_STATIC_LINKING_ONLY /* the choice of Huffman codes is an experimental part of libzstd */
#include <zstd.h>
#include <zstd_errors.h>

#include "reader_extras.h"
#include "late.h"
#include "mem.h"
#include "only_read.h"

#define CHUNK_BYTES  218422 /* 262144 - (262144 / 6 + 32) */
#define ZSTD_LEVEL   3
#define GZ_LEVEL     6
#define GZ_LEVEL_MAX 12
/*
 * read back one frame in READ_BACK; libzstd checks all sequences, and tuning reads back all frames
 */
#define READ_BACK 64

static const uint8_t empty_gzip[20] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff, 3};

static int setup_zstd(struct hcodec *h, int level, struct error *err)
{
	if (!h->zstd && !(h->zstd = ZSTD_createCCtx()))
		return error_memory(err, 0, "a zstd context");
	/* libzstd takes other numbers as the nearest level */
	if (level < ZSTD_minCLevel() || level > ZSTD_maxCLevel() ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(h->zstd, ZSTD_c_compressionLevel, level)))
		return error_set(err, RC_CONFIG,
				 "found level %d, expected a level of ZSTD, at most %d", level,
				 ZSTD_maxCLevel());
	/* libzstd itself leaves out Huffman codes below level 0 */
	ZSTD_CCtx_setParameter(h->zstd, ZSTD_c_literalCompressionMode,
			       level < 0 ? ZSTD_ps_enable : ZSTD_ps_auto);
	return 0;
}

int hfile_codec_tune(struct hcodec *h, uint32_t hash_log, struct error *err)
{
	if (h->codec != CODEC_ZSTD)
		return 0;
	size_t rc = ZSTD_CCtx_setParameter(h->zstd, ZSTD_c_hashLog, (int)hash_log);
	if (ZSTD_isError(rc))
		return error_set(err, RC_CONFIG,
				 "found a ZSTD hash log of %u, expected one that libzstd supports",
				 hash_log);
	return 0;
}

int hfile_codec_sequence(struct hcodec *h, unsigned min_match, size_t tail_bytes, struct error *err)
{
	h->min_match = 0;
	if (h->codec != CODEC_ZSTD || min_match == 0)
		return 0;
	if (min_match < SEQUENCE_MIN || min_match > SEQUENCE_MAX)
		return error_set(err, RC_CONFIG, "expected matches of %d to %d bytes, found %u",
				 SEQUENCE_MIN, SEQUENCE_MAX, min_match);
	h->min_match = min_match;
	h->tail_bytes = tail_bytes;
	hfile_sequences_setup(h->zstd);
	return 0;
}

static int setup_gz(struct hcodec *h, int level, struct error *err)
{
	if (level < 1 || level > GZ_LEVEL_MAX)
		return error_set(err, RC_CONFIG, "expected a level of GZ from 1 to %d, found %d",
				 GZ_LEVEL_MAX, level);
	if (!h->gz[level] && !(h->gz[level] = libdeflate_alloc_compressor(level)))
		return error_memory(err, 0, "a gzip compressor");
	h->gz_level = level;
	return 0;
}

int hfile_codec_setup(struct hcodec *h, enum codec codec, int level, enum zstd_framing framing,
		      struct error *err)
{
	bool standard = level == LEVEL_DEFAULT;
	int rc;

	h->codec = codec;
	h->framing = framing;
	h->min_match = 0;
	switch (codec) {
	case CODEC_NONE: return 0;
	case CODEC_SNAPPY: return late_need(LATE_SNAPPY, err);
	case CODEC_LZ4:
		if (!h->lz4 && !(h->lz4 = mem_try_alloc((size_t)LZ4_sizeofState())))
			return error_memory(err, (size_t)LZ4_sizeofState(), "an LZ4 state");
		return 0;
	case CODEC_GZ: return setup_gz(h, standard ? GZ_LEVEL : level, err);
	case CODEC_ZSTD:
		rc = setup_zstd(h, standard ? ZSTD_LEVEL : level, err);
		return rc ? rc : hfile_codec_tune(h, 0, err);
	case CODEC_LZO:
	case CODEC_BZIP2:
	case CODEC_LZMA:
	case CODEC_BROTLI: break;
	}
	return error_set(err, RC_CONFIG,
			 "found compression %s, expected NONE, GZ, SNAPPY, LZ4 or ZSTD",
			 codec_name(codec));
}

/*
 * Return the largest compressed size of one piece, or 0 if the codec is invalid or has no pieces.
 */
static size_t piece_bound(const struct hcodec *h, size_t n)
{
	switch (h->codec) {
	case CODEC_SNAPPY: return snappy_max_compressed_length(n);
	case CODEC_LZ4: return (size_t)LZ4_compressBound((int)n);
	case CODEC_GZ: return libdeflate_gzip_compress_bound(h->gz[h->gz_level], n);
	case CODEC_ZSTD: return ZSTD_compressBound(n);
	case CODEC_NONE:
	case CODEC_LZO:
	case CODEC_BZIP2:
	case CODEC_LZMA:
	case CODEC_BROTLI: break;
	}
	return 0;
}

static int cannot(const struct hcodec *h, size_t bytes, bool memory, struct error *err)
{
	if (memory)
		return error_memory(err, bytes, "compression");
	return error_set(err, RC_DATA, "%s cannot compress %zu bytes", codec_name(h->codec), bytes);
}

/*
 * Compress one piece to the end of `out`. Returns the number of bytes, or 0 with `*err` set.
 * (libsnappy itself allocates some 200 KB and cannot report that this allocation failed.)
 */
static size_t put_piece(struct hcodec *h, struct bytes in, struct buf *out, struct error *err)
{
	size_t n = piece_bound(h, in.len);

	if (!buf_try_reserve(out, n)) {
		cannot(h, n, true, err);
		return 0;
	}
	uint8_t *to = out->ptr + out->len;
	const char *from = (const char *)in.ptr;
	bool memory = false;
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
	case CODEC_ZSTD:
		n = ZSTD_compress2(h->zstd, to, n, in.ptr, in.len);
		memory = ZSTD_getErrorCode(n) == ZSTD_error_memory_allocation;
		if (ZSTD_isError(n))
			n = 0;
		break;
	case CODEC_NONE:
	case CODEC_LZO:
	case CODEC_BZIP2:
	case CODEC_LZMA:
	case CODEC_BROTLI: n = 0; break;
	}
	if (n == 0)
		cannot(h, in.len, memory, err);
	out->len += n;
	return n;
}

static bool is_stream(const struct hcodec *h)
{
	switch (h->codec) {
	case CODEC_GZ: return true;
	case CODEC_ZSTD: return h->framing == ZSTD_FRAMING_HADOOP;
	case CODEC_NONE:
	case CODEC_SNAPPY:
	case CODEC_LZ4:
	case CODEC_LZO:
	case CODEC_BZIP2:
	case CODEC_LZMA:
	case CODEC_BROTLI: break;
	}
	return false;
}

static bool put_length(struct buf *out, size_t length)
{
	uint8_t p[4];

	put_be32(p, (uint32_t)length);
	return buf_try_append(out, p, sizeof p);
}

static int compress_chunks(struct hcodec *h, struct bytes in, struct buf *out, struct error *err)
{
	bool fits = put_length(out, in.len);

	for (size_t at = 0; fits && at < in.len; at += CHUNK_BYTES) {
		size_t n = in.len - at < CHUNK_BYTES ? in.len - at : CHUNK_BYTES;
		size_t length_at = out->len;

		fits = put_length(out, 0);
		if (!fits)
			break;
		size_t stored = put_piece(h, bytes_of(in.ptr + at, n), out, err);
		if (stored == 0)
			return err->code;
		put_be32(out->ptr + length_at, (uint32_t)stored);
	}
	if (fits && in.len > CHUNK_BYTES)
		fits = put_length(out, 0);
	return fits ? 0 : cannot(h, in.len, true, err);
}

int hfile_codec_compress(struct hcodec *h, struct bytes in, struct buf *out, struct error *err)
{
	if (h->codec == CODEC_NONE)
		return buf_try_append(out, in.ptr, in.len) ? 0 : cannot(h, in.len, true, err);
	if (!is_stream(h))
		return compress_chunks(h, in, out, err);
	if (h->codec == CODEC_GZ && in.len == 0)
		return buf_try_append(out, empty_gzip, sizeof empty_gzip)
			       ? 0
			       : cannot(h, sizeof empty_gzip, true, err);
	return put_piece(h, in, out, err) == 0 ? err->code : 0;
}

static bool unsnappy(struct bytes in, uint8_t *out, size_t *out_bytes)
{
	const char *from = (const char *)in.ptr;
	size_t plain;

	if (snappy_uncompressed_length(from, in.len, &plain) != SNAPPY_OK || plain > *out_bytes)
		return false;
	return snappy_uncompress(from, in.len, (char *)out, out_bytes) == SNAPPY_OK;
}

static bool unlz4(struct bytes in, uint8_t *out, size_t *out_bytes)
{
	if (in.len > INT32_MAX || *out_bytes > INT32_MAX)
		return false;
	int n = LZ4_decompress_safe((const char *)in.ptr, (char *)out, (int)in.len,
				    (int)*out_bytes);

	*out_bytes = n < 0 ? 0 : (size_t)n;
	return n >= 0;
}

static bool unzstd(struct hcodec *h, struct bytes in, uint8_t *out, size_t *out_bytes)
{
	if (!h->unzstd && !(h->unzstd = ZSTD_createDCtx())) {
		h->no_memory = true;
		return false;
	}
	uint32_t id = ZSTD_getDictID_fromFrame(in.ptr, in.len);
	const void *dictionary = id ? hfile_extras_dictionary(h->extras, id) : NULL;
	if (id && !dictionary) {
		h->dictionary = id;
		return false;
	}
	/* libzstd accepts NULL as the dictionary */
	size_t plain =
		ZSTD_decompress_usingDDict(h->unzstd, out, *out_bytes, in.ptr, in.len, dictionary);

	if (ZSTD_isError(plain))
		return false;
	*out_bytes = plain;
	return true;
}

/* Decompress one chunk. `*out_bytes` is the room, and becomes the number of bytes written. */
static bool get_piece(struct hcodec *h, enum codec codec, struct bytes in, uint8_t *out,
		      size_t *out_bytes)
{
	switch (codec) {
	case CODEC_SNAPPY: return unsnappy(in, out, out_bytes);
	case CODEC_LZ4: return unlz4(in, out, out_bytes);
	case CODEC_ZSTD: return unzstd(h, in, out, out_bytes);
	case CODEC_LZO:
	case CODEC_BZIP2:
	case CODEC_LZMA:
	case CODEC_BROTLI: return hfile_read_only_codec(codec, in, out, out_bytes, &h->no_memory);
	case CODEC_NONE:      /* hfile_codec_decompress copies it */
	case CODEC_GZ: break; /* gunzip decompresses it */
	}
	return false;
}

/*
 * Return true if the frame of sequences decompresses to the cells, or if this check skips the
 * frame.
 */
static bool reads_back(struct hcodec *h, struct bytes cells, struct bytes frame)
{
	if (!h->read_all && frame.len % READ_BACK)
		return true;
	size_t plain = cells.len;
	h->back.len = 0;
	if (!buf_try_reserve(&h->back, cells.len)) {
		h->no_memory = true;
		return false;
	}
	return get_piece(h, CODEC_ZSTD, frame, h->back.ptr, &plain) && plain == cells.len &&
	       memcmp(h->back.ptr, cells.ptr, plain) == 0;
}

/*
 * Compress the cells with sequences. `*n` is the number of bytes of the frame, which is after
 * `head` bytes at the end of `out`. `*n` is 0 if sequences are not possible.
 */
static int try_sequences(struct hcodec *h, struct bytes cells, struct buf *out, size_t head,
			 size_t *n, struct error *err)
{
	size_t room = ZSTD_compressBound(cells.len);

	*n = 0;
	if (h->min_match == 0 || cells.len > CHUNK_BYTES)
		return 0;
	if (!buf_try_reserve(out, head + room))
		return cannot(h, room, true, err);
	*n = hfile_sequences_compress(&h->sequencer, h->zstd, cells, h->tail_bytes, h->min_match,
				      out->ptr + out->len + head, room);
	return *n == SEQUENCES_NO_MEMORY ? cannot(h, cells.len, true, err) : 0;
}

int hfile_codec_compress_cells(struct hcodec *h, struct bytes cells, struct buf *out,
			       struct error *err)
{
	size_t begin = out->len, head = is_stream(h) ? 0 : 8, n;

	h->sequenced = false;
	int rc = try_sequences(h, cells, out, head, &n, err);
	if (rc)
		return rc;
	if (n == 0)
		return hfile_codec_compress(h, cells, out, err);
	if (head) {
		buf_fill_be32(out, (uint32_t)cells.len);
		buf_fill_be32(out, (uint32_t)n);
	}
	out->len += n;
	h->sequenced = true;
	h->no_memory = false;
	if (reads_back(h, cells, bytes_of(out->ptr + begin + head, n)))
		return 0;
	if (h->no_memory)
		return cannot(h, cells.len, true, err);
	return error_set(err, RC_DATA,
			 "libzstd wrote a frame for %zu bytes of cells and cannot decompress "
			 "this frame; set another level than auto in the job, such as `level: 3`",
			 cells.len);
}

/*
 * Decompress the chunks of one group and move `*p` past the group. Returns false if the group is
 * damaged.
 */
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

	if (!h->gunzip && !(h->gunzip = libdeflate_alloc_decompressor())) {
		h->no_memory = true;
		return false;
	}
	return libdeflate_gzip_decompress_ex(h->gunzip, in.ptr, in.len, out, out_bytes, &used,
					     &plain) == LIBDEFLATE_SUCCESS &&
	       used == in.len && plain == out_bytes;
}

static bool is_zstd_frame(struct bytes in)
{
	return in.len >= 4 && get_be32(in.ptr) == 0x28b52ffd;
}

/* Load the library of the codec, if the program loads it late. */
static int need_library(enum codec codec, struct error *err)
{
	switch (codec) {
	case CODEC_SNAPPY: return late_need(LATE_SNAPPY, err);
	case CODEC_BROTLI: return late_need(LATE_BROTLI, err);
	case CODEC_BZIP2: return late_need(LATE_BZIP2, err);
	case CODEC_LZO: return late_need(LATE_LZO, err);
	case CODEC_NONE:
	case CODEC_GZ:
	case CODEC_LZ4:
	case CODEC_ZSTD:
	case CODEC_LZMA: break;
	}
	return RC_OK;
}

int hfile_codec_decompress(struct hcodec *h, enum codec codec, struct bytes in, uint8_t *out,
			   size_t out_bytes, struct error *err)
{
	bool ok = false, frame = codec == CODEC_ZSTD && is_zstd_frame(in);
	size_t plain = out_bytes;

	h->no_memory = false;
	h->dictionary = 0;
	if (need_library(codec, err))
		return err->code;
	switch (codec) {
	case CODEC_NONE:
		ok = in.len == out_bytes;
		if (ok && in.len)
			memcpy(out, in.ptr, in.len);
		break;
	case CODEC_GZ: ok = gunzip(h, in, out, out_bytes); break;
	case CODEC_BZIP2: ok = get_piece(h, codec, in, out, &plain) && plain == out_bytes; break;
	case CODEC_SNAPPY:
	case CODEC_LZ4:
	case CODEC_ZSTD:
	case CODEC_LZO:
	case CODEC_LZMA:
	case CODEC_BROTLI:
		h->framing = frame ? ZSTD_FRAMING_HADOOP : ZSTD_FRAMING_HBASE;
		ok = frame ? get_piece(h, codec, in, out, &plain) && plain == out_bytes
			   : get_chunks(h, codec, in, out, out_bytes);
		break;
	}
	if (!ok && h->no_memory)
		return error_memory(err, out_bytes, "decompression");
	if (!ok && h->dictionary)
		return error_set(
			err, RC_CONFIG,
			"found a block that needs the ZSTD dictionary %u, expected this dictionary; "
			"copy the file that hbase.io.compress.zstd.dictionary of the family names, "
			"and name the copy (program: --zstd-dictionary FILE)",
			h->dictionary);
	if (!ok)
		return error_set(
			err, RC_DATA,
			"found %zu bytes that %s cannot decompress, expected %zu bytes of contents",
			in.len, codec_name(codec), out_bytes);
	return 0;
}

void hfile_codec_release(struct hcodec *h)
{
	ZSTD_freeCCtx(h->zstd);
	ZSTD_freeDCtx(h->unzstd);
	for (int level = 0; level <= GZ_LEVEL_MAX; level++)
		if (h->gz[level])
			libdeflate_free_compressor(h->gz[level]);
	if (h->gunzip)
		libdeflate_free_decompressor(h->gunzip);
	mem_free(h->lz4);
	hfile_sequences_release(&h->sequencer);
	buf_release(&h->back);
	*h = (struct hcodec){0};
}
