/*
 * table.h - a table's schema in HBase: name, column families, attributes
 *
 * All strings belong to the job's arena. splitter/README.md 2.3 to 2.5 lists names and limits.
 */
#ifndef SALTMILL_TABLE_H
#define SALTMILL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A position in the job file, for messages. `line` 0 means that the item is not from the file. */
struct pos {
	unsigned line, column;
};

enum bloom_type { BLOOM_NONE, BLOOM_ROW, BLOOM_ROWCOL, BLOOM_ROWPREFIX };

/* The codecs of HBase. saltmill reads all of them, and writes those of codec_is_written(). */
enum codec {
	CODEC_NONE,
	CODEC_LZO,
	CODEC_GZ,
	CODEC_SNAPPY,
	CODEC_LZ4,
	CODEC_ZSTD,
	CODEC_BZIP2,
	CODEC_LZMA,
	CODEC_BROTLI
};
#define CODECS (CODEC_BROTLI + 1)

/*
 * The framing of ZSTD blocks (hfile/README.md 9.4). HBase's codec (ZstdCodec of
 * hbase-compression-zstd) reads length-prefixed chunks. Hadoop's native codec reads a bare frame.
 */
enum zstd_framing { ZSTD_FRAMING_HBASE, ZSTD_FRAMING_HADOOP };

/* The goal of `level: auto` and `codec: auto`. AIM_NONE means that the job gives the level. */
enum codec_aim { AIM_NONE, AIM_BALANCE, AIM_SPEED, AIM_SIZE, AIM_READ };

/* The encodings of data blocks. Encoded blocks contain these numbers (hfile/README.md 4). */
enum block_encoding {
	ENCODING_NONE = 0,
	ENCODING_PREFIX = 2,
	ENCODING_DIFF = 3,
	ENCODING_FAST_DIFF = 4,
	ENCODING_ROW_INDEX_V1 = 7
};

#define TTL_FOREVER   2147483647
#define LEVEL_DEFAULT 0
#define LEVEL_HUFFMAN (-131072) /* the lowest level of ZSTD: Huffman codes without matches */

/*
 * An attribute that only the create-table script needs. `key` is HBase's name, such as
 * MAX_FILESIZE. `value` is the content of a Ruby literal. If `quoted` is true, the script puts the
 * value in quotes.
 */
struct attribute {
	const char *key, *value;
	bool quoted;
	struct pos pos;
};

struct attributes {
	struct attribute *item;
	size_t count;
};

struct family {
	const char *name;
	struct pos pos;
	int32_t versions;      /* default 1 */
	int32_t min_versions;  /* default 0 */
	int32_t ttl_s;	       /* TTL in seconds, or TTL_FOREVER */
	enum bloom_type bloom; /* default ROW */
	uint32_t bloom_prefix; /* bytes, for ROWPREFIX */
	enum codec codec;      /* default NONE */
	int level;	       /* LEVEL_DEFAULT means the codec's default */
	/* ZSTD: log2 of the hash table's entries; 0 means that the level decides */
	uint32_t hash_log;
	/* ZSTD: shortest match of our match finder; 0 means that zstd finds matches */
	uint32_t min_match;
	enum codec_aim aim; /* hfile_tune finds level, hash_log and min_match */
	/* `codec: auto` without the attribute: hfile_tune also finds the attribute */
	bool encoding_free, block_free;
	enum zstd_framing framing;
	bool framing_said;    /* the job sets the framing; if false, each load prints a note */
	uint32_t block_bytes; /* default 65536 */
	enum block_encoding encoding;
	bool in_memory;
	bool other_load;	/* another load fills the family; this job has no cells for it */
	struct attributes more; /* further family attributes */
	struct attributes configuration; /* CONFIGURATION => {...} */
	struct attributes metadata;	 /* METADATA => {...} */
};

/* Return a family with HBase's defaults. */
static inline struct family family_default(const char *name)
{
	return (struct family){.name = name,
			       .versions = 1,
			       .ttl_s = TTL_FOREVER,
			       .bloom = BLOOM_ROW,
			       .codec = CODEC_NONE,
			       .level = LEVEL_DEFAULT,
			       .block_bytes = 65536};
}

struct table {
	const char *name; /* "ns:table" or "table" */
	struct pos pos;
	/*
	 * The families that the job fills, in the order of the job file. After them, the array has
	 * `nothers` families that other loads fill, for the scripts and table_check.
	 */
	struct family *families;
	size_t nfamilies, nothers;
	struct attributes attributes; /* table attributes for the script */
	struct attributes configuration;
	struct attributes metadata;
};

/* Return HBase's names, such as "ROWCOL", "ZSTD" or "FAST_DIFF". */
const char *bloom_name(enum bloom_type b);
const char *codec_name(enum codec c);
const char *encoding_name(enum block_encoding e);
/* Return true if saltmill writes files with the codec. */
bool codec_is_written(enum codec c);
/* Find the encoding with HBase's name. Returns false if there is no such encoding. */
bool encoding_named(const char *name, enum block_encoding *out);

#endif
