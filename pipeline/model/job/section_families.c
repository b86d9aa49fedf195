/*
 * Column families. The HFile writer's settings go into struct family. All other settings go into
 * the create-table script.
 */
#include "cell.h"
#include "sections.h"

#include <string.h>
#include <strings.h>

#include "bytes.h"

static const struct choice blooms[] = {{"NONE", BLOOM_NONE},
				       {"ROW", BLOOM_ROW},
				       {"ROWCOL", BLOOM_ROWCOL},
				       {"ROWPREFIX_FIXED_LENGTH", BLOOM_ROWPREFIX}};
static const struct choice codecs[] = {{"NONE", CODEC_NONE},	 {"GZ", CODEC_GZ},
				       {"SNAPPY", CODEC_SNAPPY}, {"LZ4", CODEC_LZ4},
				       {"ZSTD", CODEC_ZSTD},	 {"auto", CODEC_ZSTD}};
static const struct choice block_encodings[] = {{"NONE", ENCODING_NONE},
						{"PREFIX", ENCODING_PREFIX},
						{"DIFF", ENCODING_DIFF},
						{"FAST_DIFF", ENCODING_FAST_DIFF},
						{"ROW_INDEX_V1", ENCODING_ROW_INDEX_V1}};
static const struct choice aims[] = {{"balance", AIM_BALANCE},
				     {"speed", AIM_SPEED},
				     {"size", AIM_SIZE},
				     {"read", AIM_READ}};
static const struct choice framings[] = {{"hbase", ZSTD_FRAMING_HBASE},
					 {"hadoop", ZSTD_FRAMING_HADOOP}};

#define LEVEL_AUTO (-1) /* the level `auto`, until the end of the mapping */

/* Return the unit of a text such as `7 days`, or 0. Sets *digits to the length of the number. */
static char unit_after_blank(const char *text, int *digits)
{
	static const char *const words[] = {"s",     "sec",  "secs",   "second",  "seconds", "m",
					    "min",   "mins", "minute", "minutes", "h",	     "hour",
					    "hours", "d",    "day",    "days"};

	*digits = (int)strspn(text, "0123456789");
	for (size_t i = 0; *digits && text[*digits] == ' ' && i < sizeof words / sizeof *words; i++)
		if (strcasecmp(text + *digits + 1, words[i]) == 0)
			return words[i][0];
	return 0;
}

static int read_ttl(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	uint64_t s;
	int digits;
	char unit = n->kind == NODE_SCALAR ? unit_after_blank(n->text, &digits) : 0;

	if (unit)
		return fault(r, n->pos, "%s: found `%s`, expected no blank; write `%s: %.*s%c`",
			     key->name, n->text, key->name, digits, n->text, unit);
	if (n->kind != NODE_SCALAR || !parse_duration_s(n->text, &s))
		return expected(r, n, key->name, "a time like 90s, 15m, 24h, 3650d or forever");
	if (s == DURATION_FOREVER)
		s = TTL_FOREVER;
	if (s < 1 || s > TTL_FOREVER)
		return expected(r, n, key->name, "1 to 2147483647 seconds");
	int32_t narrow = (int32_t)s;
	memcpy(slot, &narrow, sizeof narrow);
	return RC_OK;
}

static int read_codec_name(struct reader *r, const struct node *n, const struct key *key,
			   void *slot)
{
	static const char *const others[] = {"LZO", "BZIP2", "LZMA", "BROTLI"};
	const char *text = n->kind == NODE_SCALAR ? n->text : "";

	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (strcmp(text, others[i]) == 0)
			return fault(r, n->pos,
				     "%s: saltmill does not write %s; use ZSTD, GZ, SNAPPY or LZ4",
				     key->name, text);
	if (strcmp(text, "GZIP") == 0 || strcmp(text, "gzip") == 0)
		return fault(r, n->pos, "%s: found `%s`; did you mean `GZ`?", key->name, text);
	return read_choice(r, n, key, slot);
}

static int read_level(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	uint32_t level;

	if (n->kind == NODE_SCALAR && strcmp(n->text, "auto") == 0) {
		*(int *)slot = LEVEL_AUTO;
		return RC_OK;
	}
	int rc = read_number(r, n, key, &level);
	if (rc == RC_OK)
		*(int *)slot = (int)level;
	return rc;
}

static const struct key codec_keys[] = {
	{.name = "codec",
	 WORDS(CHOICE, NULL,
	       "the codec; `auto`: ZSTD, with level, encoding and block size from a sample",
	       "compression: {codec: ZSTD, level: 3}"),
	 .read = read_codec_name,
	 .offset = offsetof(struct family, codec),
	 .required = true,
	 CHOICES(codecs)},
	{.name = "level",
	 WORDS(LEVEL, "3 for ZSTD, 6 for GZ",
	       "ZSTD 1 to 22, GZ 1 to 9, or `auto`: chosen by measuring a sample of the table",
	       "level: auto"),
	 .read = read_level,
	 .offset = offsetof(struct family, level),
	 .min = 1,
	 .max = 22},
	{.name = "aim",
	 WORDS(CHOICE, "balance",
	       "the aim of `auto`: between speed and size, the quickest load, the smallest files, "
	       "or quick gets (`read`, which needs `codec: auto`)",
	       "aim: size"),
	 .read = read_choice,
	 .offset = offsetof(struct family, aim),
	 CHOICES(aims)},
	{.name = "framing",
	 WORDS(CHOICE, "hbase",
	       "the HBase ZSTD codec that reads the files: HBase's own (2.5 and later, if "
	       "configured) or Hadoop's (the default of a cluster, always in 2.4)",
	       "framing: hadoop"),
	 .read = read_choice,
	 .offset = offsetof(struct family, framing),
	 CHOICES(framings)},
};
static const struct schema codec_schema = SCHEMA("compression", codec_keys);

static bool is_auto(const struct node *codec)
{
	return codec && strcmp(codec->text, "auto") == 0;
}

/* Let hfile_tune choose everything. `read_families` takes back what the family names. */
static void choose_all(struct family *f, enum codec_aim aim)
{
	f->aim = aim ? aim : AIM_BALANCE;
	f->encoding_free = f->block_free = true;
}

static int check_auto(struct reader *r, const struct node *n, struct family *f)
{
	const struct node *level = node_get(n, "level");

	if (level)
		return fault(r, level->pos, "level: found with `codec: auto`, expected none");
	choose_all(f, f->aim);
	return RC_OK;
}

static int check_level(struct reader *r, const struct node *n, struct family *f)
{
	const struct node *level = node_get(n, "level"), *aim = node_get(n, "aim");
	bool automatic = f->level == LEVEL_AUTO;

	if (level && f->codec != CODEC_ZSTD && f->codec != CODEC_GZ)
		return fault(r, level->pos, "level: found without ZSTD or GZ, expected none");
	if (level && f->codec == CODEC_GZ && (automatic || f->level > 9))
		return fault(r, level->pos, "level: found %s, expected 1 to 9 for GZ", level->text);
	if (aim && !automatic)
		return fault(r, aim->pos,
			     "aim: found without `level: auto` or `codec: auto`, expected none");
	if (aim && f->aim == AIM_READ)
		return fault(r, aim->pos, "aim: found read without `codec: auto`, expected it");
	if (automatic) {
		f->level = LEVEL_DEFAULT;
		f->aim = aim ? f->aim : AIM_BALANCE;
	}
	return RC_OK;
}

static int read_compression(struct reader *r, const struct node *n, const struct key *key,
			    void *slot)
{
	struct family *f = slot;
	const struct key name_key = {.name = key->name, CHOICES(codecs)};

	if (n->kind != NODE_MAPPING) {
		int rc = read_codec_name(r, n, &name_key, &f->codec);

		if (rc == RC_OK && is_auto(n))
			choose_all(f, AIM_BALANCE);
		return rc;
	}
	int rc = read_mapping(r, n, &codec_schema, f);
	if (rc)
		return rc;
	const struct node *framing = node_get(n, "framing");
	f->framing_said = framing != NULL;
	if (framing && f->codec != CODEC_ZSTD)
		return fault(r, framing->pos, "framing: found without ZSTD, expected none");
	return is_auto(node_get(n, "codec")) ? check_auto(r, n, f) : check_level(r, n, f);
}

static int read_block_bytes(struct reader *r, const struct node *n, const struct key *key,
			    void *slot)
{
	uint64_t bytes;
	int rc = read_size(r, n, key, &bytes);

	if (rc == RC_OK)
		*(uint32_t *)slot = (uint32_t)bytes;
	return rc;
}

static int read_block_encoding(struct reader *r, const struct node *n, const struct key *key,
			       void *slot)
{
	if (n->kind == NODE_SCALAR && strcmp(n->text, "PREFIX_TREE") == 0)
		return fault(r, n->pos, "%s: HBase 2 has no PREFIX_TREE; use FAST_DIFF", key->name);
	return read_choice(r, n, key, slot);
}

#define MORE(key, sentence, example)                                                               \
	{                                                                                          \
		.name = key, WORDS(ATTRIBUTE, NULL, sentence, example), .read = read_attribute,    \
		.offset = offsetof(struct family, more)                                            \
	}

static const struct key family_keys[] = {
	{.name = "versions",
	 WORDS(NUMBER, "1", "number of versions to keep of each column (VERSIONS)", "versions: 3"),
	 .read = read_number,
	 .offset = offsetof(struct family, versions),
	 .min = 1,
	 .max = INT32_MAX},
	{.name = "min_versions",
	 WORDS(NUMBER, "0", "number of versions to keep even after the TTL (MIN_VERSIONS)",
	       "min_versions: 1"),
	 .read = read_number,
	 .offset = offsetof(struct family, min_versions),
	 .min = 0,
	 .max = INT32_MAX},
	{.name = "ttl",
	 WORDS(DURATION, "forever", "the lifetime of a cell (TTL)", "ttl: 90d"),
	 .read = read_ttl,
	 .offset = offsetof(struct family, ttl_s)},
	{.name = "bloomfilter",
	 WORDS(CHOICE, "ROW", "content of the Bloom filter (BLOOMFILTER)", "bloomfilter: ROWCOL"),
	 .read = read_choice,
	 .offset = offsetof(struct family, bloom),
	 CHOICES(blooms)},
	{.name = "bloom_prefix",
	 WORDS(NUMBER, NULL, "bytes of the row key in a ROWPREFIX_FIXED_LENGTH Bloom filter",
	       "bloom_prefix: 8"),
	 .read = read_number,
	 .offset = offsetof(struct family, bloom_prefix),
	 .min = 1,
	 .max = CELL_ROW_MAX},
	{.name = "compression",
	 WORDS(EITHER, "NONE", "codec of the blocks (COMPRESSION), or codec, level and framing",
	       "compression: {codec: ZSTD, framing: hadoop}"),
	 INNER(&codec_schema),
	 .read = read_compression},
	{.name = "blocksize",
	 WORDS(SIZE, "64K", "size of a data block before compression (BLOCKSIZE)",
	       "blocksize: 128K"),
	 .read = read_block_bytes,
	 .offset = offsetof(struct family, block_bytes),
	 .min = 1024,
	 .max = 16u << 20},
	{.name = "data_block_encoding",
	 WORDS(CHOICE, "NONE", "the encoding that shortens keys in a block (DATA_BLOCK_ENCODING)",
	       "data_block_encoding: FAST_DIFF"),
	 .read = read_block_encoding,
	 .offset = offsetof(struct family, encoding),
	 CHOICES(block_encodings)},
	{.name = "in_memory",
	 WORDS(BOOL, "false", "whether the block cache prefers the family (IN_MEMORY)",
	       "in_memory: true"),
	 .read = read_bool,
	 .offset = offsetof(struct family, in_memory)},
	{.name = "other_load",
	 WORDS(BOOL, "false",
	       "true: another load fills the family; this job creates it, but has no cells for it",
	       "other_load: true"),
	 .read = read_bool,
	 .offset = offsetof(struct family, other_load)},
	{.name = "configuration",
	 WORDS(PROPERTIES, NULL, "CONFIGURATION of the family: names and values as HBase has them",
	       "configuration: {hbase.hstore.engine.class: NAME}"),
	 .read = read_configuration,
	 .offset = offsetof(struct family, configuration)},
	{.name = "metadata",
	 WORDS(PROPERTIES, NULL, "METADATA of the family: any names and values",
	       "metadata: {unit: EUR}"),
	 .read = read_configuration,
	 .offset = offsetof(struct family, metadata)},
	MORE("compression_compact", "codec of compacted files (COMPRESSION_COMPACT)",
	     "compression_compact: ZSTD"),
	MORE("compression_compact_major", "codec of major compactions (COMPRESSION_COMPACT_MAJOR)",
	     "compression_compact_major: ZSTD"),
	MORE("compression_compact_minor", "codec of minor compactions (COMPRESSION_COMPACT_MINOR)",
	     "compression_compact_minor: LZ4"),
	MORE("blockcache", "whether HBase caches read blocks (BLOCKCACHE)", "blockcache: false"),
	MORE("in_memory_compaction", "compaction in the memstore (IN_MEMORY_COMPACTION)",
	     "in_memory_compaction: BASIC"),
	MORE("cache_data_on_write", "whether HBase caches written blocks (CACHE_DATA_ON_WRITE)",
	     "cache_data_on_write: true"),
	MORE("cache_index_on_write", "whether HBase caches written indexes (CACHE_INDEX_ON_WRITE)",
	     "cache_index_on_write: true"),
	MORE("cache_blooms_on_write",
	     "whether HBase caches written Bloom filters (CACHE_BLOOMS_ON_WRITE)",
	     "cache_blooms_on_write: true"),
	MORE("evict_blocks_on_close",
	     "whether blocks leave the cache when HBase closes their file (EVICT_BLOCKS_ON_CLOSE)",
	     "evict_blocks_on_close: true"),
	MORE("prefetch_blocks_on_open",
	     "whether HBase reads a file into the cache when it opens the file "
	     "(PREFETCH_BLOCKS_ON_OPEN)",
	     "prefetch_blocks_on_open: true"),
	MORE("compress_tags", "whether HBase compresses tags (COMPRESS_TAGS)",
	     "compress_tags: false"),
	MORE("new_version_behavior",
	     "whether deletes apply in their order of arrival (NEW_VERSION_BEHAVIOR)",
	     "new_version_behavior: false"),
	MORE("keep_deleted_cells",
	     "whether deleted cells stay readable at older times (KEEP_DELETED_CELLS)",
	     "keep_deleted_cells: TTL"),
	MORE("replication_scope", "whether HBase replicates the family, 0 or 1 (REPLICATION_SCOPE)",
	     "replication_scope: 1"),
	MORE("dfs_replication", "copies of a file in HDFS (DFS_REPLICATION)", "dfs_replication: 2"),
	MORE("storage_policy", "storage of the files in HDFS (STORAGE_POLICY)",
	     "storage_policy: ONE_SSD"),
	MORE("encryption", "cipher of the files (ENCRYPTION)", "encryption: AES"),
	MORE("encryption_key", "key of the cipher, as HBase stores it (ENCRYPTION_KEY)",
	     "encryption_key: NAME"),
	MORE("is_mob", "whether large values go into separate files (IS_MOB)", "is_mob: true"),
	MORE("mob_threshold", "bytes from which a value is large (MOB_THRESHOLD)",
	     "mob_threshold: 102400"),
	MORE("mob_compact_partition_policy",
	     "the partition policy for compactions of large values (MOB_COMPACT_PARTITION_POLICY)",
	     "mob_compact_partition_policy: weekly"),
};
const struct schema family_schema = SCHEMA("a family", family_keys);

/* Take back the freedom of `codec: auto` to choose what the family names. */
static int check_freedom(struct reader *r, const struct node *n, struct family *f)
{
	const struct node *encoding = node_get(n, "data_block_encoding");

	if (encoding && f->encoding_free && f->aim == AIM_READ)
		return fault(r, encoding->pos,
			     "data_block_encoding: found with `aim: read`, expected none, because "
			     "the encoding decides the cost of a get");
	f->encoding_free = f->encoding_free && !encoding;
	f->block_free = f->block_free && !node_get(n, "blocksize");
	return RC_OK;
}

static int check_family(struct reader *r, const struct node *n, struct family *f)
{
	const struct node *prefix = node_get(n, "bloom_prefix");

	if (f->min_versions > f->versions)
		return fault(r, node_get(n, "min_versions")->pos,
			     "min_versions: found %d, expected at most versions (%d)",
			     f->min_versions, f->versions);
	const struct node *hash = node_get(
		n, "configuration"); /* HBase reads the prefix length from this configuration key */
	bool in_hash = hash && node_get(hash, "RowPrefixBloomFilter.prefix_length");
	if (f->bloom == BLOOM_ROWPREFIX && !prefix && !in_hash)
		return fault(r, node_get(n, "bloomfilter")->pos,
			     "bloomfilter: found ROWPREFIX_FIXED_LENGTH alone, expected "
			     "`bloom_prefix: n` "
			     "(bytes) too");
	if (f->bloom != BLOOM_ROWPREFIX && prefix)
		return fault(
			r, prefix->pos,
			"bloom_prefix: found without `bloomfilter: ROWPREFIX_FIXED_LENGTH`, expected none");
	return check_freedom(r, n, f);
}

/* Move the families that other loads fill after the families of this job. */
static void move_others(struct reader *r, struct table *t)
{
	size_t n = t->nfamilies, at = 0;
	struct family *sorted = arena_alloc(&r->job->arena, n * sizeof *sorted);

	for (size_t i = 0; i < n; i++)
		if (!t->families[i].other_load)
			sorted[at++] = t->families[i];
	t->nfamilies = at;
	t->nothers = n - at;
	for (size_t i = 0; i < n; i++)
		if (t->families[i].other_load)
			sorted[at++] = t->families[i];
	t->families = sorted;
}

int read_families(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	const struct key name_key = {.name = "family name"};
	struct table *t = slot;

	if (n->kind != NODE_MAPPING || n->count == 0)
		return expected(r, n, key->name, "a mapping like `f: {versions: 1}`");
	t->families = arena_alloc(&r->job->arena, n->count * sizeof *t->families);
	for (size_t i = 0; i < n->count; i++) {
		struct family *f = &t->families[t->nfamilies++];

		*f = family_default(NULL);
		f->pos = n->keys[i]->pos;
		int rc = read_text(r, n->keys[i], &name_key, &f->name);
		if (rc == RC_OK && strchr(f->name, ':'))
			rc = fault(r, f->pos,
				   "family name: found `%.60s`, expected a name without a colon; "
				   "write `%.*s`",
				   f->name, (int)strcspn(f->name, ":"), f->name);
		if (rc || node_is_nothing(n->items[i])) { /* `f:` alone means all defaults */
			if (rc)
				return rc;
			continue;
		}
		rc = read_mapping(r, n->items[i], &family_schema, f);
		if (rc == RC_OK)
			rc = check_family(r, n->items[i], f);
		if (rc)
			return rc;
	}
	move_others(r, t);
	return RC_OK;
}
