#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "ddl.h"
#include "mem.h"

#define COUNT(a) (sizeof a / sizeof((a)[0]))

static struct family plain(const char *name)
{
	return (struct family){.name = name,
			       .versions = 1,
			       .ttl_s = TTL_FOREVER,
			       .bloom = BLOOM_ROW,
			       .codec = CODEC_NONE,
			       .block_bytes = 65536};
}

struct fault {
	const char *table, *family;
	void (*spoil)(struct table *t, struct family *f);
	const char *says;
};

static void twice(struct table *t, struct family *f)
{
	f[1] = plain(f->name);
	t->nfamilies = 2;
}

static void no_family(struct table *t, struct family *f)
{
	(void)f;
	t->nfamilies = 0;
}

static void two_framings(struct table *t, struct family *f)
{
	f[1] = plain("g");
	t->nfamilies = 2;
	f[0].codec = f[1].codec = CODEC_ZSTD;
	f[1].framing = ZSTD_FRAMING_HADOOP;
}

#define SPOIL(name, change)                                                                        \
	static void name(struct table *t, struct family *f)                                        \
	{                                                                                          \
		(void)t;                                                                           \
		change;                                                                            \
	}
SPOIL(fine, (void)f)
SPOIL(zero_versions, f->versions = 0)
SPOIL(min_over_max, f->min_versions = 2)
SPOIL(min_negative, f->min_versions = -1)
SPOIL(zero_ttl, f->ttl_s = 0)
SPOIL(small_block, f->block_bytes = 1023)
SPOIL(large_block, f->block_bytes = (16 << 20) + 1)
SPOIL(prefix_without_length, f->bloom = BLOOM_ROWPREFIX)
SPOIL(prefix_too_long, (f->bloom = BLOOM_ROWPREFIX, f->bloom_prefix = 32768))

static void faults_of_names_and_limits(void **state)
{
	static const struct fault cases[] = {
		{"", "f", fine, "table name \"\": found no name"},
		{"n:", "f", fine, "found no name after the namespace"},
		{":t", "f", fine, "empty namespace"},
		{"-t", "f", fine, "found '-' at the start"},
		{".META.", "f", fine, "found '.' at the start"},
		{"a b", "f", fine, "found U+0020"},
		{"a'b", "f", fine, "found U+0027"},
		{"a:b:c", "f", fine, "found U+003A"},
		{"n.s:t", "f", fine, "namespace \"n.s\": found U+002E"},
		{"t\xe2\x80\x94", "f", fine, "found U+2014"},
		{"t\xff", "f", fine, "found U+FFFD"},
		{"hbase:t", "f", fine, "only HBase's own tables use"},
		{"t", "", fine, "empty name"},
		{"t", ".f", fine, "found a dot at the start"},
		{"t", "recovered.edits", fine, "stores its files"},
		{"t", "a:b", fine, "found ':'"},
		{"t", "a/b", fine, "found '/'"},
		{"t", "a\\b", fine, "found '\\'"},
		{"t", "a\nb", fine, "control character 0x0A"},
		{"t", "f", twice, "twice, expected it once"},
		{"t", "f", no_family, "no column family"},
		{"t", "f", zero_versions, "found VERSIONS 0, expected 1"},
		{"t", "f", min_over_max,
		 "found MIN_VERSIONS 2, expected 0 to VERSIONS, which is 1"},
		{"t", "f", min_negative, "found MIN_VERSIONS -1"},
		{"t", "f", zero_ttl, "found TTL 0 seconds"},
		{"t", "f", small_block, "found BLOCKSIZE 1023 bytes, expected 1024 to 16777216"},
		{"t", "f", large_block, "found BLOCKSIZE 16777217"},
		{"t", "f", prefix_without_length, "prefix length 0, expected 1 to 32767"},
		{"t", "f", prefix_too_long, "prefix length 32768"},
		{"t", "f", two_framings, "hbase.io.compress.zstd.codec"},
		{"t", "_f", fine, NULL},
		{"_n:9.-_", "f.g", fine, NULL},
		{"\xe8\xa1\xa8", "\xe5\x88\x97", fine, NULL}, /* letters of any script */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct family f[2] = {plain(cases[i].family)};
		struct table t = {.name = cases[i].table, .families = f, .nfamilies = 1};
		struct arena a = {0};
		struct pos at;
		struct error err = {0};

		cases[i].spoil(&t, f);
		int rc = table_check(&t, &a, &at, &err);
		if (rc != (cases[i].says ? RC_CONFIG : RC_OK))
			fail_msg("case %zu: %d %s", i, rc, err.msg);
		if (cases[i].says && !strstr(err.msg, cases[i].says))
			fail_msg("\"%s\" does not say \"%s\"", err.msg, cases[i].says);
		arena_release(&a);
	}
}

enum place { MORE, TABLE, FAMILY_CONF, TABLE_CONF };

/* `value` is the parsed value, or NULL if the case expects the message `says`. */
static void attribute_values(void **state)
{
	static const struct {
		enum place place;
		const char *key, *text, *value, *says;
	} cases[] = {
		{MORE, "BLOCKCACHE", "FALSE", "false", NULL},
		{MORE, "blockcache", "yes", NULL, "BLOCKCACHE: found yes, expected true or false"},
		{MORE, "IN_MEMORY_COMPACTION", "basic", "BASIC", NULL},
		{MORE, "IN_MEMORY_COMPACTION", "BASICS", NULL, "did you mean BASIC?"},
		{MORE, "COMPRESSION_COMPACT", "GZIP", NULL, "expected one of NONE, GZ,"},
		{MORE, "COMPRESSION_COMPACT", "SNAPY", NULL, "did you mean SNAPPY?"},
		{MORE, "COMPRESSION_COMPACT_MAJOR", "zstd", "ZSTD", NULL},
		{MORE, "COMPRESSION_COMPACT_MINOR", "LZ4", "LZ4", NULL},
		{MORE, "CACHE_DATA_ON_WRITE", "true", "true", NULL},
		{MORE, "CACHE_INDEX_ON_WRITE", "true", "true", NULL},
		{MORE, "CACHE_BLOOMS_ON_WRITE", "true", "true", NULL},
		{MORE, "EVICT_BLOCKS_ON_CLOSE", "true", "true", NULL},
		{MORE, "PREFETCH_BLOCKS_ON_OPEN", "true", "true", NULL},
		{MORE, "COMPRESS_TAGS", "true", "true", NULL},
		{MORE, "NEW_VERSION_BEHAVIOR", "true", "true", NULL},
		{MORE, "KEEP_DELETED_CELLS", "TTL", "TTL", NULL},
		{MORE, "REPLICATION_SCOPE", "1", "1", NULL},
		{MORE, "REPLICATION_SCOPE", "2", NULL, "from 0 to 1"},
		{MORE, "DFS_REPLICATION", "-1", NULL, "from 0 to 32767"},
		{MORE, "STORAGE_POLICY", "one_ssd", "ONE_SSD", NULL},
		{MORE, "ENCRYPTION", "AES", "AES", NULL},
		{MORE, "ENCRYPTION_KEY", "k", "k", NULL},
		{MORE, "ENCRYPTION_KEY", "", NULL, "found an empty text"},
		{MORE, "ENCRYPTION_KEY", "a\tb", NULL, "control character 0x09"},
		{MORE, "IS_MOB", "true", "true", NULL},
		{MORE, "MOB_THRESHOLD", "100K", "102400", NULL},
		{MORE, "MOB_COMPACT_PARTITION_POLICY", "weekly", "WEEKLY", NULL},
		{MORE, "VERSIONS", "3", NULL, "found VERSIONS twice"},
		{MORE, "MAX_FILESIZE", "10G", NULL,
		 "found MAX_FILESIZE, an attribute of the table"},
		{MORE, "INDEX_BLOCK_ENCODING", "NONE", NULL, "no setter"},
		{MORE, "NAME", "g", NULL, "NAME is not an attribute"},
		{MORE, "BLOKCACHE", "true", NULL, "did you mean BLOCKCACHE?"},
		{MORE, "XYZ", "1", NULL, "unknown family attribute XYZ"},
		{TABLE, "COMPRESSION", "GZ", NULL, "found COMPRESSION, an attribute of the family"},
		{TABLE, "TTL", "1", NULL, "found TTL, an attribute of the family"},
		{TABLE, "MAX_FILESIZ", "1", NULL, "did you mean MAX_FILESIZE?"},
		{TABLE, "MAX_FILESIZE", "1 GB 512 MB", "1610612736", NULL},
		{TABLE, "MAX_FILESIZE", "512 MB 1 GB", NULL, "MAX_FILESIZE: found 512 MB 1 GB"},
		{TABLE, "MAX_FILESIZE", "2097152", "2097152", NULL},
		{TABLE, "MAX_FILESIZE", "2097151", NULL, "at least 2097152 bytes"},
		{TABLE, "MEMSTORE_FLUSHSIZE", "1M", "1048576", NULL},
		{TABLE, "MEMSTORE_FLUSHSIZE", "1023K", NULL, "at least 1048576 bytes"},
		{TABLE, "SPLIT_POLICY", "a.b.C", "a.b.C", NULL},
		{TABLE, "SPLIT_POLICY", "C", NULL, "expected a class name with its package"},
		{TABLE, "SPLIT_POLICY", "DisabledRegionSplitPolicie", NULL,
		 "did you mean org.apache.hadoop.hbase.regionserver.DisabledRegionSplitPolicy?"},
		{TABLE, "FLUSH_POLICY", "FlushAllStoresPolicy",
		 "org.apache.hadoop.hbase.regionserver.FlushAllStoresPolicy", NULL},
		{TABLE, "DURABILITY", "SKIP_WAL", "SKIP_WAL", NULL},
		{TABLE, "DURABILITY", "SKIPWAL", NULL, "did you mean SKIP_WAL?"},
		{TABLE, "READONLY", "true", "true", NULL},
		{TABLE, "COMPACTION_ENABLED", "true", "true", NULL},
		{TABLE, "SPLIT_ENABLED", "true", "true", NULL},
		{TABLE, "MERGE_ENABLED", "true", "true", NULL},
		{TABLE, "NORMALIZATION_ENABLED", "true", "true", NULL},
		{TABLE, "NORMALIZER_TARGET_REGION_COUNT", "0", NULL, "from 1 to"},
		{TABLE, "NORMALIZER_TARGET_REGION_SIZE_MB", "5", "5", NULL},
		{TABLE, "REGION_REPLICATION", "0", NULL, "from 1 to"},
		{TABLE, "REGION_REPLICATION", "3K", NULL, "REGION_REPLICATION: found 3K"},
		{TABLE, "REGION_MEMSTORE_REPLICATION", "true", "true", NULL},
		{TABLE, "PRIORITY", "-5", "-5", NULL},
		{TABLE, "ERASURE_CODING_POLICY", "RS-6-3-1024k", "RS-6-3-1024k", NULL},
		{TABLE, "OWNER", "me", "me", NULL},
		{TABLE, "COPROCESSOR", "a.b.C", NULL, "expected path|class|priority|arguments"},
		{TABLE, "SPLITS", "a", NULL, "`regions:`"},
		{TABLE, "SPLITS_FILE", "a", NULL, "`regions:`"},
		{TABLE, "METHOD", "table_att", NULL, "METHOD is not an attribute"},
		{FAMILY_CONF, "a b", "c", NULL, "CONFIGURATION key \"a b\": found byte 0x20"},
		{FAMILY_CONF, "a", "c\n", NULL, "control character 0x0A"},
		{FAMILY_CONF, "hbase.hstore.defaultengine.compactionpolicy.class",
		 "org.apache.hadoop.hbase.regionserver.compactions.FIFOCompactionPolicy", NULL,
		 "FIFOCompactionPolicy needs a TTL"},
		{TABLE_CONF, "", "c", NULL, "empty key"},
		{TABLE_CONF, "a", "c", "c", NULL},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct attribute it = {.key = cases[i].key, .value = cases[i].text, .pos = {7, 3}};
		struct attributes list = {&it, 1};
		struct family f = plain("f");
		struct table t = {.name = "t", .families = &f, .nfamilies = 1};
		struct arena a = {0};
		struct pos at = {0, 0};
		struct error err = {0};
		struct attributes *const slots[] = {&f.more, &t.attributes, &f.configuration,
						    &t.configuration};

		*slots[cases[i].place] = list;
		int rc = table_check(&t, &a, &at, &err);
		if (rc != (cases[i].value ? RC_OK : RC_CONFIG))
			fail_msg("%s => %s: %d %s", it.key, cases[i].text, rc, err.msg);
		if (cases[i].value)
			assert_string_equal(it.value, cases[i].value);
		else if (!strstr(err.msg, cases[i].says))
			fail_msg("\"%s\" does not say \"%s\"", err.msg, cases[i].says);
		if (!cases[i].value && !strstr(err.msg, "FIFO"))
			assert_int_equal(at.line, 7);
		arena_release(&a);
	}
}

static void bloom_prefix_from_configuration(void **state)
{
	struct attribute conf = {.key = "RowPrefixBloomFilter.prefix_length", .value = "12"};
	struct family f = plain("f");
	struct table t = {.name = "t", .families = &f, .nfamilies = 1};
	struct arena a = {0};
	struct pos at;
	struct error err;

	(void)state;
	f.bloom = BLOOM_ROWPREFIX;
	f.configuration = (struct attributes){&conf, 1};
	assert_int_equal(table_check(&t, &a, &at, &err), 0);
	assert_int_equal(f.bloom_prefix, 12);
	f.bloom_prefix = 13;
	assert_int_equal(table_check(&t, &a, &at, &err), RC_CONFIG);
	conf.value = "x";
	f.bloom_prefix = 0;
	assert_int_equal(table_check(&t, &a, &at, &err), RC_CONFIG);
	arena_release(&a);
}

static void ttl_forms(void **state)
{
	static const struct {
		const char *text;
		int32_t ttl_s; /* 0: refused */
	} cases[] = {
		{"FOREVER", TTL_FOREVER},
		{"forever", TTL_FOREVER},
		{"86400", 86400},
		{"1 DAY 2 HOURS 3 MINUTES 4 SECONDS", 93784},
		{"1day2hours", 93600},
		{"3 minutes 4 second", 184},
		{"93784 SECONDS (1 DAY 2 HOURS 3 MINUTES 4 SECONDS)", 93784},
		{"2147483647", TTL_FOREVER},
		{"93785 SECONDS (1 DAY 2 HOURS 3 MINUTES 4 SECONDS)", 0},
		{"86400 SECONDS (1 DAY", 0},
		{"2 HOURS 1 DAY", 0},
		{"1 DAY 1 DAY", 0},
		{"1 WEEK", 0},
		{"DAY", 0},
		{"0", 0},
		{"-1", 0},
		{"2147483648", 0},
		{"99999999999999999999", 0},
		{"", 0},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		int32_t got = 0;

		assert_int_equal(ttl_parse(cases[i].text, &got), cases[i].ttl_s != 0);
		assert_int_equal(got, cases[i].ttl_s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(faults_of_names_and_limits),
		cmocka_unit_test(attribute_values),
		cmocka_unit_test(bloom_prefix_from_configuration),
		cmocka_unit_test(ttl_forms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
