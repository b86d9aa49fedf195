/* table.c - names of enumerations as HBase spells them */
#include "table.h"

#include <string.h>

const char *bloom_name(enum bloom_type b)
{
	switch (b) {
	case BLOOM_NONE: return "NONE";
	case BLOOM_ROW: return "ROW";
	case BLOOM_ROWCOL: return "ROWCOL";
	case BLOOM_ROWPREFIX: return "ROWPREFIX_FIXED_LENGTH";
	}
	return "unknown";
}

const char *codec_name(enum codec c)
{
	switch (c) {
	case CODEC_LZO: return "LZO";
	case CODEC_GZ: return "GZ";
	case CODEC_NONE: return "NONE";
	case CODEC_SNAPPY: return "SNAPPY";
	case CODEC_LZ4: return "LZ4";
	case CODEC_ZSTD: return "ZSTD";
	case CODEC_BZIP2: return "BZIP2";
	case CODEC_LZMA: return "LZMA";
	case CODEC_BROTLI: return "BROTLI";
	}
	return "unknown";
}

bool codec_is_written(enum codec c)
{
	switch (c) {
	case CODEC_NONE:
	case CODEC_GZ:
	case CODEC_SNAPPY:
	case CODEC_LZ4:
	case CODEC_ZSTD: return true;
	case CODEC_LZO:
	case CODEC_BZIP2:
	case CODEC_LZMA:
	case CODEC_BROTLI: break;
	}
	return false;
}

const char *encoding_name(enum block_encoding e)
{
	switch (e) {
	case ENCODING_NONE: return "NONE";
	case ENCODING_PREFIX: return "PREFIX";
	case ENCODING_DIFF: return "DIFF";
	case ENCODING_FAST_DIFF: return "FAST_DIFF";
	case ENCODING_ROW_INDEX_V1: return "ROW_INDEX_V1";
	}
	return "unknown";
}

bool encoding_named(const char *name, enum block_encoding *out)
{
	static const enum block_encoding all[] = {ENCODING_NONE, ENCODING_PREFIX, ENCODING_DIFF,
						  ENCODING_FAST_DIFF, ENCODING_ROW_INDEX_V1};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (strcmp(name, encoding_name(all[i])) == 0) {
			*out = all[i];
			return true;
		}
	return false;
}
