#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "ddl.h"
#include "mem.h"

#define COUNT(a) (sizeof a / sizeof((a)[0]))

#define FAMILY_DEFAULTS                                                                            \
	.versions = 1, .ttl_s = TTL_FOREVER, .bloom = BLOOM_ROW, .codec = CODEC_NONE,              \
	.level = LEVEL_DEFAULT, .block_bytes = 65536

#define POLICY_COMMENT                                                                             \
	"  # HBase's default, SteppingSplitPolicy, splits a region that is alone on its server "   \
	"at\n"                                                                                     \
	"  # twice the memstore flush size (256 MB). So it would undo this plan right after the "  \
	"load.\n"                                                                                  \
	"  # ConstantSizeRegionSplitPolicy splits at MAX_FILESIZE only.\n"
#define POLICY                                                                                     \
	"    {SPLIT_POLICY => "                                                                    \
	"'org.apache.hadoop.hbase.regionserver.ConstantSizeRegionSplitPolicy'"
#define AGAIN                                                                                      \
	"# Run with: hbase shell -n THIS_FILE\n"                                                   \
	"# Running it again changes nothing: a table that exists is left alone.\n"
#define EXISTS "\n  puts 'The table exists already, nothing was changed.'\nelse\n"

static struct family plain(const char *name)
{
	return (struct family){.name = name, FAMILY_DEFAULTS};
}

static void add_keys(struct splits *s, size_t n)
{
	struct error err;

	for (size_t i = 1; i <= n; i++) {
		uint8_t key[2];

		put_be16(key, (uint16_t)i);
		assert_int_equal(splits_add(s, bytes_of(key, 2), &err), 0);
	}
}

/* Checks `t`, writes the script of `t`, and compares the script. */
static void expect_script(struct table *t, const struct splits *s, const struct ddl_options *o,
			  const char *want)
{
	struct arena a = {0};
	struct buf out = {0};
	struct pos at;
	struct error err = {0};

	if (table_check(t, &a, &at, &err) != RC_OK)
		fail_msg("%s", err.msg);
	assert_int_equal(ddl_create_with(&out, t, s, o, &err), 0);
	buf_put(&out, 0);
	assert_string_equal((char *)out.ptr, want);
	buf_release(&out);
	arena_release(&a);
}

static void script_of_a_plain_table(void **state)
{
	struct family f = plain("f");
	struct table t = {.name = "ratings", .families = &f, .nfamilies = 1};
	struct splits none = {0};

	(void)state;
	expect_script(
		&t, &none, NULL,
		"# Table ratings: 1 region, 1 column family\n" AGAIN "\nif exists('ratings')" EXISTS
		"  create 'ratings',\n"
		"    {NAME => 'f', VERSIONS => 1, BLOOMFILTER => 'ROW', COMPRESSION => 'NONE',\n"
		"     DATA_BLOCK_ENCODING => 'NONE', BLOCKSIZE => 65536}\n"
		"end\nexit\n");
}

static void script_with_everything(void **state)
{
	struct attribute more[] = {{.key = "replication_scope", .value = "1"},
				   {.key = "KEEP_DELETED_CELLS", .value = "ttl"}};
	struct attribute table_more[] = {{.key = "max_filesize", .value = "10G"},
					 {.key = "DURABILITY", .value = "async_wal"},
					 {.key = "READONLY", .value = "False"},
					 {.key = "coprocessor$1", .value = "|a.b.C|1001|"}};
	struct attribute conf[] = {{.key = "hbase.it's", .value = "a\\b'c"}};
	struct attribute meta[] = {{.key = "owner", .value = "rai"}};
	struct family f[2] = {plain("f"), plain("a'b")};

	f[0].codec = CODEC_ZSTD;
	f[0].ttl_s = 86400;
	f[0].min_versions = 1;
	f[0].versions = 3;
	f[0].in_memory = true;
	f[0].bloom = BLOOM_ROWPREFIX;
	f[0].bloom_prefix = 8;
	f[0].encoding = ENCODING_FAST_DIFF;
	f[0].more = (struct attributes){more, COUNT(more)};
	f[1].bloom = BLOOM_NONE;
	f[1].configuration = (struct attributes){conf, 1};
	struct table t = {.name = "ns:wide",
			  .families = f,
			  .nfamilies = 2,
			  .attributes = {table_more, COUNT(table_more)},
			  .metadata = {meta, 1}};
	struct splits s = {0};
	struct error err;
	(void)state;
	assert_int_equal(splits_add(&s, bytes_of("\0\x80", 2), &err), 0);
	assert_int_equal(splits_add(&s, bytes_of("a'b\\\xff", 5), &err), 0);
	expect_script(
		&t, &s, NULL,
		"# Table ns:wide: 3 regions, 2 column families\n" AGAIN
		"#\n# ZSTD: the files are framed for HBase's own codec, the other one cannot read "
		"them.\n"
		"# A stock cluster, and all of HBase 2.4, has Hadoop's.  Master and region servers "
		"need, in\n# hbase-site.xml:\n"
		"#   hbase.io.compress.zstd.codec = "
		"org.apache.hadoop.hbase.io.compress.zstd.ZstdCodec\n"
		"zstd = org.apache.hadoop.hbase.HBaseConfiguration.create.get("
		"'hbase.io.compress.zstd.codec', 'org.apache.hadoop.io.compress.ZStandardCodec')\n"
		"release = org.apache.hadoop.hbase.util.VersionInfo.getVersion.split('.')"
		".map(&:to_i).first(2)\n"
		"zstd = 'org.apache.hadoop.io.compress.ZStandardCodec' if (release <=> [2, 5]) < 0 "
		"# it knows no such setting\n"
		"unless zstd.start_with?('org.apache.hadoop.hbase.')\n"
		"  raise \"ZSTD: this cluster's codec is #{zstd}, which cannot read the files: set "
		"hbase.io.compress.zstd.codec, or write `framing: hadoop` in the job\"\nend\n"
		"\nif exists('ns:wide')" EXISTS "  begin\n    create_namespace 'ns'\n"
		"  rescue StandardError => e\n"
		"    raise unless e.to_s.include?('NamespaceExist') || "
		"e.to_s.include?('already exists')\n  end\n" POLICY_COMMENT "  create 'ns:wide',\n"
		"    {NAME => 'f', VERSIONS => 3, MIN_VERSIONS => 1, TTL => 86400,\n"
		"     BLOOMFILTER => 'ROWPREFIX_FIXED_LENGTH', COMPRESSION => 'ZSTD',\n"
		"     DATA_BLOCK_ENCODING => 'FAST_DIFF', BLOCKSIZE => 65536, IN_MEMORY => true,\n"
		"     REPLICATION_SCOPE => 1, KEEP_DELETED_CELLS => 'TTL',\n"
		"     CONFIGURATION => {'RowPrefixBloomFilter.prefix_length' => '8'}},\n"
		"    {NAME => 'a\\'b', VERSIONS => 1, BLOOMFILTER => 'NONE', COMPRESSION => "
		"'NONE',\n"
		"     DATA_BLOCK_ENCODING => 'NONE', BLOCKSIZE => 65536,\n"
		"     CONFIGURATION => {'hbase.it\\'s' => 'a\\\\b\\'c'}},\n" POLICY ",\n"
		"     MAX_FILESIZE => 10737418240, DURABILITY => 'ASYNC_WAL', READONLY => false,\n"
		"     METADATA => {'owner' => 'rai'}},\n"
		"    {SPLITS => ['\\x00\\x80', 'a\\x27b\\x5C\\xFF']}\n"
		"  alter 'ns:wide', {'coprocessor$1' => '|a.b.C|1001|'}\n"
		"end\nexit\n");
	splits_release(&s);
}

static void policy_of_the_job_is_kept(void **state)
{
	struct attribute policy[] = {{.key = "SPLIT_POLICY", .value = "DisabledRegionSplitPolicy"}};
	struct attribute disabled[] = {{.key = "SPLIT_ENABLED", .value = "false"}};
	struct family f = plain("f");
	struct table t = {.name = "default:t", .families = &f, .nfamilies = 1};
	struct splits s = {0};

	(void)state;
	add_keys(&s, 1);
	t.attributes = (struct attributes){policy, 1};
	expect_script(
		&t, &s, NULL,
		"# Table default:t: 2 regions, 1 column family\n" AGAIN
		"\nif exists('default:t')" EXISTS "  create 'default:t',\n"
		"    {NAME => 'f', VERSIONS => 1, BLOOMFILTER => 'ROW', COMPRESSION => 'NONE',\n"
		"     DATA_BLOCK_ENCODING => 'NONE', BLOCKSIZE => 65536},\n"
		"    {SPLIT_POLICY => "
		"'org.apache.hadoop.hbase.regionserver.DisabledRegionSplitPolicy'},\n"
		"    {SPLITS => ['\\x00\\x01']}\n"
		"end\nexit\n");
	t.attributes = (struct attributes){disabled, 1};
	t.name = "t";
	expect_script(
		&t, &s, NULL,
		"# Table t: 2 regions, 1 column family\n" AGAIN "\nif exists('t')" EXISTS
		"  create 't',\n"
		"    {NAME => 'f', VERSIONS => 1, BLOOMFILTER => 'ROW', COMPRESSION => 'NONE',\n"
		"     DATA_BLOCK_ENCODING => 'NONE', BLOCKSIZE => 65536},\n"
		"    {SPLIT_ENABLED => false},\n"
		"    {SPLITS => ['\\x00\\x01']}\n"
		"end\nexit\n");
	splits_release(&s);
}

static void many_keys_come_from_the_file(void **state)
{
	const struct ddl_options few = {.inline_keys = 9, .splits_file = "o'clock.txt"};
	struct family f = plain("f");
	struct table t = {.name = "t", .families = &f, .nfamilies = 1};
	struct splits s = {0};

	(void)state;
	add_keys(&s, 10);
	expect_script(
		&t, &s, &few,
		"# Table t: 11 regions, 1 column family\n" AGAIN
		"\nif exists('t')" EXISTS POLICY_COMMENT
		"  # Read here and passed as SPLITS: SPLITS_FILE would look in the shell's "
		"working\n"
		"  # directory and stay in the table's metadata.\n"
		"  folder = File.dirname(File.expand_path(__FILE__))\n"
		"  split_keys = File.readlines(File.join(folder, 'o\\'clock.txt'))"
		".map { |line| line.chomp }\n"
		"  raise 'the splits file has other than 10 lines' unless split_keys.size == 10\n"
		"  create 't',\n"
		"    {NAME => 'f', VERSIONS => 1, BLOOMFILTER => 'ROW', COMPRESSION => 'NONE',\n"
		"     DATA_BLOCK_ENCODING => 'NONE', BLOCKSIZE => 65536},\n" POLICY "},\n"
		"    {SPLITS => split_keys}\n"
		"end\nexit\n");
	splits_release(&s);
}

static void algorithm_instead_of_keys(void **state)
{
	const struct ddl_options o = {.algorithm = SPLIT_ALGORITHM_HEX, .algorithm_regions = 16};
	struct family f = plain("f");
	struct table t = {.name = "t", .families = &f, .nfamilies = 1};
	struct splits none = {0};

	(void)state;
	expect_script(
		&t, &none, &o,
		"# Table t: 16 regions, 1 column family\n" AGAIN
		"\nif exists('t')" EXISTS POLICY_COMMENT "  create 't',\n"
		"    {NAME => 'f', VERSIONS => 1, BLOOMFILTER => 'ROW', COMPRESSION => 'NONE',\n"
		"     DATA_BLOCK_ENCODING => 'NONE', BLOCKSIZE => 65536},\n" POLICY "},\n"
		"    {NUMREGIONS => 16, SPLITALGO => 'HexStringSplit'}\n"
		"end\nexit\n");
}

/* Checks that lines have at most 100 columns and only ASCII, and that each key occurs once and in
 * order. */
static void five_hundred_keys_inline(void **state)
{
	struct family f = plain("f");
	struct table t = {.name = "t", .families = &f, .nfamilies = 1};
	struct splits s = {0};
	struct buf out = {0};
	struct error err;
	size_t column = 0;

	(void)state;
	add_keys(&s, 500);
	assert_int_equal(ddl_create(&out, &t, &s, &err), 0);
	for (size_t i = 0; i < out.len; i++) {
		column = out.ptr[i] == '\n' ? 0 : column + 1;
		assert_true(column <= 100);
		assert_true(out.ptr[i] == '\n' || (out.ptr[i] >= 0x20 && out.ptr[i] < 0x7F));
	}
	buf_put(&out, 0);
	const char *p = (const char *)out.ptr;
	for (unsigned i = 1; i <= 500; i++) {
		struct buf key = {0};

		bytes_escape(&key, s.keys[i - 1]);
		char *quoted = mem_format("'%s'", (char *)key.ptr);
		p = strstr(p, quoted);
		assert_non_null(p);
		assert_null(strstr(p + 1, quoted));
		mem_free(quoted);
		buf_release(&key);
	}
	buf_release(&out);
	splits_release(&s);
}

static void expect_alter(struct table *t, const char *describe, const char *want)
{
	struct arena a = {0};
	struct buf out = {0};
	struct pos at;
	struct error err = {0};

	assert_int_equal(table_check(t, &a, &at, &err), 0);
	if (ddl_alter(&out, t, "d.txt", bytes_str(describe), &err) != RC_OK)
		fail_msg("%s", err.msg);
	buf_put(&out, 0);
	assert_string_equal((char *)out.ptr, want);
	buf_release(&out);
	arena_release(&a);
}

#define ALTER_HEAD                                                                                 \
	"# Table t: give the table the attributes of the job\n"                                    \
	"# Run with: hbase shell -n THIS_FILE\n"                                                   \
	"# Attributes that the job does not mention stay. A second run changes nothing.\n"         \
	"\nif exists('t')\n"
#define ALTER_END "else\n  raise 'There is no such table.'\nend\nexit\n"

static void alter_nothing(void **state)
{
	struct attribute size = {.key = "MAX_FILESIZE", .value = "10G"};
	struct family f = plain("f");
	struct table t = {.name = "t", .families = &f, .nfamilies = 1, .attributes = {&size, 1}};

	(void)state;
	f.ttl_s = 86400;
	expect_alter(
		&t,
		"Table t is ENABLED\n"
		"t, {TABLE_ATTRIBUTES => {MAX_FILESIZE => '10737418240 B (10GB)', METADATA => "
		"{'hbase.store.file-tracker.impl' => 'DEFAULT'}}}\n"
		"COLUMN FAMILIES DESCRIPTION\n"
		"{NAME => 'f', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '1', "
		"KEEP_DELETED_CELLS => 'FALSE', DATA_BLOCK_ENCODING => 'NONE', TTL => '86400 SECO\n"
		"NDS (1 DAY)', MIN_VERSIONS => '0', REPLICATION_SCOPE => '0', BLOOMFILTER => "
		"'ROW', IN_MEMORY => 'false', COMPRESSION => 'NONE', BLOCKCACHE => 'true', "
		"BLOCKSIZE => '65536 B (64KB)'}\n\n1 row(s)\nQuota is disabled\nTook 0.2 seconds\n",
		ALTER_HEAD "  puts 'The table has all attributes of the job already.'\n" ALTER_END);
}

static void alter_differences(void **state)
{
	struct attribute table_more[] = {{.key = "READONLY", .value = "false"},
					 {.key = "REGION_REPLICATION", .value = "2"}};
	struct attribute conf[] = {{.key = "a", .value = "1"}, {.key = "b", .value = "2"}};
	struct family f[2] = {plain("f"), plain("new")};
	struct table t = {.name = "t",
			  .families = f,
			  .nfamilies = 2,
			  .attributes = {table_more, 2},
			  .configuration = {conf, 2}};

	(void)state;
	f[0].codec = CODEC_SNAPPY;
	f[0].versions = 2;
	expect_alter(
		&t,
		"t, {TABLE_ATTRIBUTES => {CONFIGURATION => {'a' => '1', 'b' => '3'}}}\n"
		"{NAME => 'f', VERSIONS => '1', TTL => '86400 SECONDS (1 DAY)', COMPRESSION => "
		"'NONE'}\n{NAME => 'other'}\n",
		ALTER_HEAD
		"  disable 't'\n"
		"  alter 't',\n"
		"    {NAME => 'f', VERSIONS => 2, TTL => 2147483647, COMPRESSION => 'SNAPPY'},\n"
		"    {NAME => 'new'},\n"
		"    {REGION_REPLICATION => 2, CONFIGURATION => {'b' => '2'}}\n"
		"  enable 't'\n" ALTER_END);
}

static void alter_refuses_other_text(void **state)
{
	static const char *const texts[] = {"",
					    "hello",
					    "{NAME => 'f",
					    "{NAME 'f'}",
					    "{NAME => 'f', A => {",
					    "t, {TABLE_ATTRIBUTES => {A => '1'}}",
					    "{}",
					    "{=>}",
					    "{'",
					    "{NAME => }"};
	struct family f = plain("f");
	struct table t = {.name = "t", .families = &f, .nfamilies = 1};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct buf out = {0};
		struct error err = {0};

		assert_int_equal(ddl_alter(&out, &t, "d.txt", bytes_str(texts[i]), &err), RC_DATA);
		assert_non_null(strstr(err.msg, "d.txt: "));
		buf_release(&out);
	}
}

/* Braces nested without a limit would overflow the stack. */
static void alter_refuses_nested_text(void **state)
{
	struct family f = plain("f");
	struct table t = {.name = "t", .families = &f, .nfamilies = 1};
	struct buf text = {0}, out = {0};
	struct error err = {0};

	(void)state;
	for (size_t i = 0; i < 500000; i++)
		buf_append_str(&text, "{TABLE_ATTRIBUTES=>");
	assert_int_equal(ddl_alter(&out, &t, "d.txt", buf_bytes(&text), &err), RC_DATA);
	buf_release(&text);
	buf_release(&out);
}

static void drop_script(void **state)
{
	struct table t = {.name = "ns:t"};
	struct buf out = {0};

	(void)state;
	ddl_drop(&out, &t);
	buf_put(&out, 0);
	assert_string_equal((char *)out.ptr,
			    "# Table ns:t: disable and drop, with all its data\n"
			    "# Run with: hbase shell -n THIS_FILE\n"
			    "# Running it again changes nothing.\n"
			    "\nif exists('ns:t')\n  disable 'ns:t'\n  drop 'ns:t'\n"
			    "else\n  puts 'There is no such table.'\nend\nexit\n");
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(script_of_a_plain_table),
		cmocka_unit_test(script_with_everything),
		cmocka_unit_test(policy_of_the_job_is_kept),
		cmocka_unit_test(many_keys_come_from_the_file),
		cmocka_unit_test(algorithm_instead_of_keys),
		cmocka_unit_test(five_hundred_keys_inline),
		cmocka_unit_test(alter_nothing),
		cmocka_unit_test(alter_differences),
		cmocka_unit_test(alter_refuses_other_text),
		cmocka_unit_test(alter_refuses_nested_text),
		cmocka_unit_test(drop_script),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
