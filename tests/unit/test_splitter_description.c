/*
 * Tests descriptions of tables. They come from create-table scripts, and the test compares them
 * with those of a cluster and corrects them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "ddl.h"

#define COUNT(a) (sizeof a / sizeof((a)[0]))

static const char script[] =
	"# Table ns:t: 3 regions, 2 column families\n"
	"\nif exists('ns:t')\n  puts 'The table exists already, nothing was changed.'\nelse\n"
	"  begin\n    create_namespace 'ns'\n  rescue StandardError => e\n"
	"    raise unless e.to_s.include?('NamespaceExist')\n  end\n"
	"  create 'ns:t',\n"
	"    {NAME => 'f', VERSIONS => 1, TTL => 86400, BLOOMFILTER => 'ROW', COMPRESSION => "
	"'ZSTD',\n"
	"     CONFIGURATION => {'a' => 'b', 'c' => '} \\' \\\\ x'}, METADATA => {'m' => 'n'}},\n"
	"    {NAME => 'g', VERSIONS => 3},\n"
	"    {MAX_FILESIZE => 10737418240, METADATA => {'k' => 'v'}},\n"
	"    {SPLITS => ['\\x01\\x27', 'm,{}']}\n"
	"  alter 'ns:t', {'COPROCESSOR' => 'hdfs:///a.jar|org.x.C|10|a=1,b=2'}\n"
	"end\nexit\n";

static void test_script(void **state)
{
	struct arena a = {0};
	struct description d;
	struct error err = {0};

	(void)state;
	if (description_of_script(&d, &a, "create.rb", bytes_str(script), &err))
		fail_msg("%s", err.msg);
	assert_string_equal(d.creates, "ns:t");
	assert_int_equal(d.nfamilies, 2);
	const struct described *f = description_family(&d, "f");
	assert_non_null(f);
	assert_int_equal(f->items.count, 4);
	assert_string_equal(attributes_get(&f->items, "TTL"), "86400");
	assert_string_equal(attributes_get(&f->items, "COMPRESSION"), "ZSTD");
	assert_string_equal(attributes_get(&f->configuration, "c"), "} ' \\ x");
	assert_string_equal(attributes_get(&f->metadata, "m"), "n");
	assert_string_equal(attributes_get(&description_family(&d, "g")->items, "VERSIONS"), "3");
	assert_string_equal(attributes_get(&d.table.items, "MAX_FILESIZE"), "10737418240");
	assert_string_equal(attributes_get(&d.table.items, "coprocessor$1"),
			    "hdfs:///a.jar|org.x.C|10|a=1,b=2");
	assert_int_equal(d.table.items.count, 2);
	assert_string_equal(attributes_get(&d.table.metadata, "k"), "v");
	arena_release(&a);
}

/* The parser refuses a script that ends before the end of its first family. */
static void test_damaged_scripts(void **state)
{
	size_t create = (size_t)(strstr(script, "  create 'ns") - script),
	       brace = (size_t)(strstr(script, "},\n    {NAME => 'g'") - script);

	(void)state;
	for (size_t cut = 0; cut < sizeof script - 1; cut++) {
		struct arena a = {0};
		struct description d;
		struct error err = {0};
		int rc = description_of_script(&d, &a, "x.rb", bytes_of(script, cut), &err);

		if (cut < brace || cut < create)
			assert_int_equal(rc, RC_DATA);
		arena_release(&a);
	}
}

/* The parser reads the script of ddl_create as the table's own attributes. */
static void test_round_trip(void **state)
{
	struct attribute more[] = {{.key = "REPLICATION_SCOPE", .value = "1"}},
			 attrs[] = {{.key = "DURABILITY", .value = "ASYNC_WAL", .quoted = true}},
			 meta[] = {{.key = "it's", .value = "a 'quoted\\ {thing}, => x"}};
	struct family f = family_default("f");
	struct table t = {.name = "t",
			  .families = &f,
			  .nfamilies = 1,
			  .attributes = {attrs, 1},
			  .metadata = {meta, 1}};
	struct splits s = {0};
	struct arena a = {0};
	struct buf out = {0};
	struct pos at;
	struct description d;
	struct error err = {0};

	(void)state;
	f.ttl_s = 7;
	f.bloom = BLOOM_ROWPREFIX;
	f.bloom_prefix = 5;
	f.more = (struct attributes){more, 1};
	for (unsigned i = 1; i < 200; i++)
		assert_int_equal(splits_add(&s, bytes_of((uint8_t[]){(uint8_t)i, '\''}, 2), &err),
				 0);
	if (table_check(&t, &a, &at, &err) || ddl_create(&out, &t, &s, &err) ||
	    description_of_script(&d, &a, "x", buf_bytes(&out), &err))
		fail_msg("%s", err.msg);
	const struct described *g = description_family(&d, "f");
	assert_string_equal(attributes_get(&g->items, "TTL"), "7");
	assert_string_equal(attributes_get(&g->items, "BLOOMFILTER"), "ROWPREFIX_FIXED_LENGTH");
	assert_string_equal(attributes_get(&g->items, "REPLICATION_SCOPE"), "1");
	assert_string_equal(attributes_get(&g->configuration, "RowPrefixBloomFilter.prefix_length"),
			    "5");
	assert_string_equal(attributes_get(&d.table.metadata, "it's"), "a 'quoted\\ {thing}, => x");
	assert_string_equal(attributes_get(&d.table.items, "DURABILITY"), "ASYNC_WAL");
	assert_non_null(
		strstr(attributes_get(&d.table.items, "SPLIT_POLICY"), "ConstantSizeRegionSplit"));
	assert_null(attributes_get(&d.table.items, "SPLITS"));
	splits_release(&s);
	buf_release(&out);
	arena_release(&a);
}

static void test_compare(void **state)
{
	struct attribute want_f[] = {{.key = "VERSIONS", .value = "1"},
				     {.key = "TTL", .value = "86400"},
				     {.key = "COMPRESSION", .value = "ZSTD"},
				     {.key = "BLOCKSIZE", .value = "65536"}},
			 have_f[] = {{.key = "VERSIONS", .value = "1"},
				     {.key = "TTL", .value = "86400 SECONDS (1 DAY)"},
				     {.key = "COMPRESSION", .value = "GZ"},
				     {.key = "IN_MEMORY", .value = "true"}},
			 want_t[] = {{.key = "MAX_FILESIZE", .value = "10737418240"},
				     {.key = "coprocessor$1", .value = "|a|1|"}},
			 have_t[] = {{.key = "IS_META", .value = "false"},
				     {.key = "hbase.x", .value = "2"}},
			 config[] = {{.key = "hbase.x", .value = "1"}};
	struct described want_families[] = {{.name = "f", .items = {want_f, COUNT(want_f)}},
					    {.name = "g"}},
			 have_families[] = {{.name = "f", .items = {have_f, COUNT(have_f)}}};
	struct description want = {.table = {.items = {want_t, 2}, .configuration = {config, 1}},
				   .families = want_families,
				   .nfamilies = 2},
			   have = {.table = {.items = {have_t, 2}},
				   .families = have_families,
				   .nfamilies = 1};
	struct arena a = {0};
	struct table_differences d;

	(void)state;
	description_compare(&d, &want, &have, &a);
	assert_int_equal(d.count, 4);
	assert_string_equal(d.item[0].key, "COMPRESSION");
	assert_string_equal(d.item[0].want, "ZSTD");
	assert_string_equal(d.item[0].have, "GZ");
	assert_string_equal(d.item[1].family, "g");
	assert_null(d.item[1].key);
	assert_string_equal(d.item[2].key, "MAX_FILESIZE");
	assert_null(d.item[2].have);
	assert_string_equal(d.item[3].key, "hbase.x");
	assert_true(d.item[3].configuration);
	description_mend(&have, &want, &d, &a);
	assert_int_equal(have.nfamilies, 2);
	/* attributes that the script does not name stay */
	assert_string_equal(attributes_get(&have.families[0].items, "IN_MEMORY"), "true");
	assert_string_equal(attributes_get(&have.families[0].items, "COMPRESSION"), "ZSTD");
	description_compare(&d, &want, &have, &a);
	assert_int_equal(d.count, 0);
	arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_script),
		cmocka_unit_test(test_damaged_scripts),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_compare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
