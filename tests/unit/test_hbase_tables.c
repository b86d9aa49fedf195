/*
 * Requests about tables as HBase's own client sends them (recorded), and lists of tables that we
 * wrote by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "hex.h"
#include "pipeline/hbase/rpc/decode.h"
#include "pipeline/hbase/rpc/encode.h"
#include "pipeline/hbase/rpc/rpc.h"

static void expect_request(uint32_t id, const char *method, struct buf *message, const char *hex)
{
	struct buf out = {0};

	rpc_put_request(&out, id, method, buf_bytes(message));
	assert_hex(buf_bytes(&out), hex);
	buf_release(&out);
	buf_release(message);
}

static void test_changes(void **state)
{
	const uint64_t five[] = {1, 5}, six[] = {1, 6};
	struct buf b = {0};

	(void)state;
	put_table_change(&b, "gold", five);
	expect_request(13, "DisableTable", &b,
		       "0000002912080d1a0c44697361626c655461626c652001150a0f0a0764656661756c741204"
		       "676f6c6410011805");
	put_table_change(&b, "gold", six);
	expect_request(21, "DeleteTable", &b,
		       "000000281108151a0b44656c6574655461626c652001150a0f0a0764656661756c741204"
		       "676f6c6410011806");
}

static void test_query(void **state)
{
	struct buf b = {0};

	(void)state;
	put_table_query(&b, NULL);
	assert_int_equal(b.len, 0);
	put_table_query(&b, "a.*"); /* GetTableDescriptorsRequest.regex = 2 */
	assert_hex(buf_bytes(&b), "1203612e2a");
	buf_release(&b);
}

static int names_of(const char *bytes, size_t n, struct hbase_tables *out, struct error *err)
{
	*out = (struct hbase_tables){0};
	return decode_table_names(bytes_of(bytes, n), out, err);
}

#define NAMES(out, bytes) names_of(bytes, sizeof bytes - 1, out, &err)

static void test_names(void **state)
{
	/* TableSchema {table_name 1 {namespace 1, qualifier 2}, family 3 {name 1}} */
	static const char one[] = "\x0a\x15\x0a\x0e\x0a\x07"
				  "default\x12\x03"
				  "one\x1a\x03\x0a\x01"
				  "f",
			  two[] = "\x0a\x0d\x0a\x06\x0a\x01"
				  "n\x12\x01"
				  "b\x1a\x03\x0a\x01"
				  "f"
				  "\x0a\x08\x0a\x06\x0a\x01"
				  "n\x12\x01"
				  "a";
	struct hbase_tables t;
	struct error err;

	(void)state;
	assert_int_equal(NAMES(&t, ""), RC_OK);
	assert_int_equal(t.count, 0);
	hbase_tables_release(&t);
	assert_int_equal(NAMES(&t, one), RC_OK);
	assert_int_equal(t.count, 1);
	assert_string_equal(t.item[0].name, "one");
	hbase_tables_release(&t);
	assert_int_equal(NAMES(&t, two), RC_OK);
	assert_int_equal(t.count, 2);
	assert_string_equal(t.item[0].name, "n:b");
	assert_string_equal(t.item[1].name, "n:a");
	hbase_tables_release(&t);
}

static void test_damaged_names(void **state)
{
	struct hbase_tables t;
	struct error err;

	(void)state;
	assert_int_equal(NAMES(&t, "\x0a\x00"), RC_DATA); /* a schema without a name */
	hbase_tables_release(&t);
	assert_int_equal(NAMES(&t, "\x0a\x05\x0a\x03\x0a\x01n"), RC_DATA); /* no qualifier */
	hbase_tables_release(&t);
	assert_int_equal(NAMES(&t, "\x0a\x09\x0a\x06\x0a\x01n\x12\x01"), RC_DATA); /* cut */
	hbase_tables_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_query),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_damaged_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
