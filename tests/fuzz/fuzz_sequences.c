/* fuzz_sequences.c - compresses any bytes as cells and reads them back; the first byte chooses
 * how */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "mem.h"
#include "pipeline/hfile/compress.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hcodec h = {.read_all = true};
	struct buf out = {0};
	struct error err;

	if (size < 2)
		return 0;
	uint8_t *cells = mem_alloc(size - 1), *back = mem_alloc(size - 1);
	memcpy(cells, data + 1, size - 1);
	unsigned min_match = SEQUENCE_MIN + data[0] % (SEQUENCE_MAX - SEQUENCE_MIN + 1);
	int level = data[0] >> 6 == 3 ? LEVEL_HUFFMAN : 2;
	if (hfile_codec_setup(&h, CODEC_ZSTD, level, ZSTD_FRAMING_HBASE, &err) ||
	    hfile_codec_sequence(&h, level < 0 ? 0 : min_match, data[0] >> 6, &err) ||
	    hfile_codec_compress_cells(&h, bytes_of(cells, size - 1), &out, &err) ||
	    hfile_codec_decompress(&h, CODEC_ZSTD, buf_bytes(&out), back, size - 1, &err) ||
	    memcmp(back, cells, size - 1) != 0) {
		fprintf(stderr, "%s\n", err.msg);
		abort();
	}
	hfile_codec_release(&h);
	buf_release(&out);
	mem_free(cells);
	mem_free(back);
	return 0;
}
