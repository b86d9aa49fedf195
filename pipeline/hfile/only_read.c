/* only_read.c - decompress the codecs that saltmill reads, but does not write (only_read.h) */
#include "only_read.h"

#include <brotli/decode.h>
#include <bzlib.h>
#include <lzma.h>
#include <string.h>

#include "late.h"

#define LZMA_HEADER   13 /* a byte of properties, u32 dictionary bytes, u64 plain bytes */
#define LZMA_DICT_MIN 4096

static bool unbzip2(struct bytes in, uint8_t *out, size_t *out_bytes, bool *no_memory)
{
	unsigned plain = (unsigned)*out_bytes;
	char none;

	if (in.len > INT32_MAX || *out_bytes > INT32_MAX)
		return false;
	/* libbz2 takes the input as char *, but does not write to it */
	int rc = BZ2_bzBuffToBuffDecompress(out ? (char *)out : &none, &plain,
					    (char *)(uintptr_t)in.ptr, (unsigned)in.len, 0, 0);
	*no_memory = rc == BZ_MEM_ERROR;
	*out_bytes = plain;
	return rc == BZ_OK;
}

/*
 * Copy the header with a dictionary that is not larger than the contents. A damaged header could ask
 * for 4 GiB. Returns false if the contents have more bytes than the room, or an unknown number.
 */
static bool lzma_header(uint8_t to[LZMA_HEADER], struct bytes in, size_t room)
{
	if (in.len < LZMA_HEADER)
		return false;
	memcpy(to, in.ptr, LZMA_HEADER);
	uint64_t plain = __builtin_bswap64(get_be64(to + 5)); /* little-endian */
	uint32_t most = (uint32_t)(room < LZMA_DICT_MIN ? LZMA_DICT_MIN : room);

	if (plain > room || room > INT32_MAX)
		return false;
	if (__builtin_bswap32(get_be32(to + 1)) > most)
		put_be32(to + 1, __builtin_bswap32(most));
	return true;
}

static bool unlzma(struct bytes in, uint8_t *out, size_t *out_bytes, bool *no_memory)
{
	lzma_stream s = LZMA_STREAM_INIT;
	uint8_t header[LZMA_HEADER];

	if (!lzma_header(header, in, *out_bytes))
		return false;
	lzma_ret rc = lzma_alone_decoder(&s, UINT64_MAX);
	if (rc == LZMA_OK) {
		s.next_in = header;
		s.avail_in = LZMA_HEADER;
		s.next_out = out;
		s.avail_out = *out_bytes;
		rc = lzma_code(&s, LZMA_RUN);
	}
	if (rc == LZMA_OK) {
		s.next_in = in.ptr + LZMA_HEADER;
		s.avail_in = in.len - LZMA_HEADER;
		rc = lzma_code(&s, LZMA_FINISH);
	}
	*no_memory = rc == LZMA_MEM_ERROR;
	*out_bytes -= s.avail_out;
	lzma_end(&s);
	return rc == LZMA_STREAM_END && s.avail_in == 0;
}

static bool unbrotli(struct bytes in, uint8_t *out, size_t *out_bytes, bool *no_memory)
{
	BrotliDecoderState *b = BrotliDecoderCreateInstance(NULL, NULL, NULL);
	size_t room = *out_bytes, stored = in.len;
	const uint8_t *from = in.ptr;

	if (!b) {
		*no_memory = true;
		return false;
	}
	BrotliDecoderResult rc =
		BrotliDecoderDecompressStream(b, &stored, &from, &room, &out, NULL);
	BrotliDecoderErrorCode code = BrotliDecoderGetErrorCode(b);
	*no_memory = code <= BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES &&
		     code >= BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES;
	BrotliDecoderDestroyInstance(b);
	*out_bytes -= room;
	return rc == BROTLI_DECODER_RESULT_SUCCESS && stored == 0;
}

bool hfile_read_only_codec(enum codec codec, struct bytes in, uint8_t *out, size_t *out_bytes,
			   bool *no_memory)
{
	switch (codec) {
	case CODEC_BZIP2: return unbzip2(in, out, out_bytes, no_memory);
	case CODEC_LZMA: return unlzma(in, out, out_bytes, no_memory);
	case CODEC_BROTLI: return unbrotli(in, out, out_bytes, no_memory);
	case CODEC_LZO:
		return lzo1x_decompress_safe(in.ptr, in.len, out, out_bytes, NULL) ==
		       0; /* LZO_E_OK */
	case CODEC_NONE:
	case CODEC_GZ:
	case CODEC_SNAPPY:
	case CODEC_LZ4:
	case CODEC_ZSTD: break;
	}
	return false;
}
