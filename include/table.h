/*
 * table.h - a table as HBase knows it: name, column families, attributes
 *
 * All strings belong to the job's arena.  Names and limits: splitter/README.md 2.3 to 2.5.
 */
#ifndef SALTMILL_TABLE_H
#define SALTMILL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where something stands in the job file, for messages; line 0: not from the file. */
struct pos {
	unsigned line, column;
};

enum bloom_type { BLOOM_NONE, BLOOM_ROW, BLOOM_ROWCOL, BLOOM_ROWPREFIX };

/* LZO is known by its name only: a file of it is neither written nor read. */
enum codec { CODEC_NONE, CODEC_LZO, CODEC_GZ, CODEC_SNAPPY, CODEC_LZ4, CODEC_ZSTD };

/*
 * How ZSTD blocks are stored (hfile/README.md 9.4): HBase's own codec (ZstdCodec of
 * hbase-compression-zstd) reads length-prefixed chunks, Hadoop's native codec a bare frame.
 */
enum zstd_framing { ZSTD_FRAMING_HBASE, ZSTD_FRAMING_HADOOP };

/* What `level: auto` looks for; AIM_NONE: the level is given. */
enum codec_aim { AIM_NONE, AIM_SPEED, AIM_SIZE };

/* The numbers are those stored in encoded blocks (hfile/README.md 4). */
enum block_encoding {
	ENCODING_NONE = 0,
	ENCODING_PREFIX = 2,
	ENCODING_DIFF = 3,
	ENCODING_FAST_DIFF = 4,
	ENCODING_ROW_INDEX_V1 = 7
};

#define TTL_FOREVER   2147483647
#define LEVEL_DEFAULT 0

/*
 * An attribute that only the create-table script needs.  key is HBase's name (MAX_FILESIZE),
 * value the text of a Ruby literal's content; quoted says whether the script quotes it.
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
	int32_t ttl_s;	       /* seconds; TTL_FOREVER */
	enum bloom_type bloom; /* default ROW */
	uint32_t bloom_prefix; /* bytes, for ROWPREFIX */
	enum codec codec;      /* default NONE */
	int level;	       /* LEVEL_DEFAULT: the codec's own */
	uint32_t hash_log;     /* ZSTD: log2 of the hash table's entries; 0: of the level */
	uint32_t min_match;    /* ZSTD: of ready-made sequences; 0: zstd looks for matches */
	enum codec_aim aim;    /* level, hash_log, min_match are found by trying (hfile_tune) */
	enum zstd_framing framing;
	bool framing_said;    /* by the job: otherwise it is said at each load */
	uint32_t block_bytes; /* default 65536 */
	enum block_encoding encoding;
	bool in_memory;
	struct attributes more;		 /* further family attributes */
	struct attributes configuration; /* CONFIGURATION => {...} */
	struct attributes metadata;	 /* METADATA => {...} */
};

/* What a family is of which nothing is said but its name. */
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
	struct family *families; /* in the order of the job file */
	size_t nfamilies;
	struct attributes attributes; /* table attributes of the script */
	struct attributes configuration;
	struct attributes metadata;
};

/* Names as HBase spells them: "ROWCOL", "ZSTD", "FAST_DIFF". */
const char *bloom_name(enum bloom_type b);
const char *codec_name(enum codec c);
const char *encoding_name(enum block_encoding e);

#endif
