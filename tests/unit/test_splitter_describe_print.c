/* `describe` as HBase 2.6.4 prints it. The expected texts are from its Java classes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "ddl.h"

static void expect(const struct description *d, const char *text)
{
	struct buf out = {0};

	description_print(&out, "t", d);
	buf_put(&out, 0);
	assert_string_equal((char *)out.ptr, text);
	buf_release(&out);
}

static void expect_family(const char *key, const char *value, const char *text)
{
	struct attribute it = {.key = key, .value = value};
	struct described f = {.name = "f", .items = {&it, 1}};
	const struct description d = {.families = &f, .nfamilies = 1};
	struct buf all = {0};

	buf_printf(&all, "t\nCOLUMN FAMILIES DESCRIPTION\n{NAME => 'f', %s}\n\n", text);
	buf_put(&all, 0);
	expect(&d, (char *)all.ptr);
	buf_release(&all);
}

/* PrettyPrinter.humanReadableTTL and humanReadableByte */
static void test_units(void **state)
{
	(void)state;
	expect_family("TTL", "1", "TTL => '1 SECOND'");
	expect_family("TTL", "59", "TTL => '59 SECONDS'");
	expect_family("TTL", "60", "TTL => '60 SECONDS (1 MINUTE)'");
	expect_family("TTL", "7322", "TTL => '7322 SECONDS (2 HOURS 2 MINUTES 2 SECONDS)'");
	expect_family("TTL", "86401", "TTL => '86401 SECONDS (1 DAY 1 SECOND)'");
	expect_family("TTL", "2147483647", "TTL => 'FOREVER'");
	expect_family("TTL", "soon", "TTL => 'soon'");
	expect_family("BLOCKSIZE", "1023", "BLOCKSIZE => '1023 B'");
	expect_family("BLOCKSIZE", "1024", "BLOCKSIZE => '1024 B (1KB)'");
	expect_family("BLOCKSIZE", "1099511629827", "BLOCKSIZE => '1099511629827 B (1TB 2KB 3B)'");
	expect_family("MAX_FILESIZE", "1024", "METADATA => {'MAX_FILESIZE' => '1024'}");
	expect_family("DFS_REPLICATION", "1", "METADATA => {'DFS_REPLICATION' => '1'}");
	expect_family("ENCRYPTION_KEY", "\x01\\\xC3", "ENCRYPTION_KEY => '\\x01\\x5C\\xC3'");
}

static void test_table(void **state)
{
	struct attribute items[] = {{.key = "z", .value = "1"},
				    {.key = "TTL", .value = "60"},
				    {.key = "READONLY", .value = "false"},
				    {.key = "coprocessor$1", .value = "|C|1|"},
				    {.key = "MEMSTORE_FLUSHSIZE", .value = "134217728"},
				    {.key = "IS_META", .value = "false"}};
	struct attribute only = {.key = "SPLIT_POLICY", .value = "P"};
	const struct description d = {.table = {.items = {items, 6}}};
	const struct description one = {.table = {.items = {&only, 1}}};

	(void)state;
	expect(&d,
	       "t, {TABLE_ATTRIBUTES => {MEMSTORE_FLUSHSIZE => '134217728 B (128MB)', READONLY "
	       "=> 'false', coprocessor$1 => '|C|1|', METADATA => {'TTL' => '60', 'z' => '1'}}}\n"
	       "COLUMN FAMILIES DESCRIPTION\n");
	expect(&one, "t, {TABLE_ATTRIBUTES => {METADATA => {'SPLIT_POLICY' => 'P'}}}\n"
		     "COLUMN FAMILIES DESCRIPTION\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
