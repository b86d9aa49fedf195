/*
 * Filters and scans in requests, compared with the bytes of HBase 2.6.4's own client
 * (ProtobufUtil.toFilter, ProtobufUtil.toScan, RequestConverter.buildScanRequest).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "hex.h"
#include "mem.h"
#include "pipeline/hbase/rpc/encode.h"
#include "pipeline/hbase/rpc/pb.h"

/* The package of the filter's class, as hex of its text. */
#define CLASS "6f72672e6170616368652e6861646f6f702e68626173652e66696c7465722e"

static struct filter column(const char *qualifier, enum filter_op op, const char *value)
{
	return (struct filter){.type = FILTER_SINGLE_COLUMN_VALUE,
			       .family = bytes_str("f"),
			       .qualifier = bytes_str(qualifier),
			       .op = op,
			       .with = {.type = COMPARE_BINARY, .value = bytes_str(value)},
			       .if_missing = true};
}

/* Compares the message without the tag and the length of its field. */
static void expect(const struct filter *f, const char *hex)
{
	struct buf b = {0};
	struct bytes rest, message;
	struct error err;

	put_filter(&b, 1, f);
	rest = bytes_of(b.ptr + 1, b.len - 1);
	assert_int_equal(b.ptr[0], 1 << 3 | PB_BYTES);
	assert_int_equal(pb_take_delimited(&rest, &message, &err), 0);
	assert_int_equal(rest.len, 0);
	assert_hex(message, hex);
	buf_release(&b);
}

static void test_columns(void **state)
{
	(void)state;
	struct filter f = column("x", FILTER_GREATER_OR_EQUAL, "abc");
	expect(&f,
	       "0a36" CLASS
	       "53696e676c65436f6c756d6e56616c756546696c74657212480a01661201781804223a0a2f" CLASS
	       "42696e617279436f6d70617261746f7212070a050a0361626328013001");
	f = column("x", FILTER_EQUAL, "ab");
	f.with.type = COMPARE_BINARY_PREFIX;
	f.if_missing = false;
	expect(&f,
	       "0a36" CLASS
	       "53696e676c65436f6c756d6e56616c756546696c746572124d0a01661201781802223f0a35" CLASS
	       "42696e617279507265666978436f6d70617261746f7212060a040a02616228003001");
}

static void test_rows(void **state)
{
	static const struct filter_fuzzy pattern = {{(const uint8_t *)"\0\1\2", 3},
						    {(const uint8_t *)"\1\0\0", 3}};
	struct filter_range ranges[] = {{bytes_str("a"), bytes_str("b"), true, false},
					{bytes_str("k"), bytes_str(""), true, false}};
	const struct filter row = {.type = FILTER_ROW,
				   .op = FILTER_EQUAL,
				   .with = {.type = COMPARE_COMPONENT,
					    .value = bytes_of("\0\7", 2),
					    .at = 5}},
			    fuzzy = {.type = FILTER_FUZZY_ROW, .fuzzy = &pattern, .nfuzzy = 1},
			    several = {.type = FILTER_MULTI_ROW_RANGE,
				       .ranges = ranges,
				       .nranges = 2};

	(void)state;
	expect(&row, "0a28" CLASS "526f7746696c74657212480a46080212420a38" CLASS
		     "42696e617279436f6d706f6e656e74436f6d70617261746f7212060a0200071005");
	expect(&fuzzy, "0a2d" CLASS "46757a7a79526f7746696c746572120e0a0a0a0300010212030100001001");
	expect(&several,
	       "0a32" CLASS
	       "4d756c7469526f7752616e676546696c74657212170a0a0a016110011a016220000a090a016b10011a"
	       "002000");
}

static void test_cells(void **state)
{
	const struct filter page = {.type = FILTER_COLUMN_PAGINATION, .limit = 3},
			    keys = {.type = FILTER_KEY_ONLY},
			    lengths = {.type = FILTER_KEY_ONLY, .lengths = true};

	(void)state;
	expect(&page, "0a35" CLASS "436f6c756d6e506167696e6174696f6e46696c746572120408031000");
	expect(&keys, "0a2c" CLASS "4b65794f6e6c7946696c74657212020800");
	expect(&lengths, "0a2c" CLASS "4b65794f6e6c7946696c74657212020801");
}

/* A list within a list. */
static void test_lists(void **state)
{
	struct filter x = column("x", FILTER_EQUAL, "1"), y = column("y", FILTER_LESS, "2"),
		      row = {.type = FILTER_ROW,
			     .op = FILTER_NOT_EQUAL,
			     .with = {.type = COMPARE_COMPONENT, .value = bytes_of("\t", 1)}};
	struct filter *of_one[] = {&y, &row};
	struct filter one = {.type = FILTER_LIST_OR, .of = of_one, .nof = 2};
	struct filter *of_all[] = {&x, &one};
	const struct filter all = {.type = FILTER_LIST_AND, .of = of_all, .nof = 2};

	(void)state;
	expect(&all,
	       "0a29" CLASS "46696c7465724c69737412b00308011280010a36" CLASS
	       "53696e676c65436f6c756d6e56616c756546696c74657212460a0166120178180222380a2f" CLASS
	       "42696e617279436f6d70617261746f7212050a030a01312801300112a8020a29" CLASS
	       "46696c7465724c69737412fa0108021280010a36" CLASS
	       "53696e676c65436f6c756d6e56616c756546696c74657212460a0166120179180022380a2f" CLASS
	       "42696e617279436f6d70617261746f7212050a030a01322801300112730a28" CLASS
	       "526f7746696c74657212470a45080312410a38" CLASS
	       "42696e617279436f6d706f6e656e74436f6d70617261746f7212050a01091000");
}

/* A scan with all fields. Java's client adds query_metrics_enabled (25) with its default value. */
static void test_scan(void **state)
{
	static const struct filter keys = {.type = FILTER_KEY_ONLY};
	const struct bytes names[] = {bytes_str("q"), bytes_str("r")};
	const struct hbase_columns columns[] = {{bytes_str("f"), names, 2},
						{.family = bytes_str("g")}};
	const struct hbase_scan scan = {.columns = columns,
					.ncolumns = 2,
					.start = bytes_str("k"),
					.stop = bytes_str("b"),
					.start_exclusive = true,
					.stop_inclusive = true,
					.reversed = true,
					.versions = 3,
					.from_ms = 5,
					.to_ms = 900,
					.leave_cache = true,
					.filter = &keys,
					.limit = 7,
					.bytes_a_call = 65536};
	struct buf b = {0};

	(void)state;
	put_scan_open(&b, bytes_str("R"), &scan);
	assert_hex(buf_bytes(&b),
		   "0a05 0801 120152"
		   "1266 0a090a01661201711201720a030a01671a016b2201622a320a2c" CLASS
		   "4b65794f6e6c7946696c746572120208003205080510840738034000508080046800"
		   "7801880164a80100b00101"
		   "2007 3801 4001 5807");
	buf_release(&b);
}

static void test_calls(void **state)
{
	struct buf b = {0};

	(void)state;
	/* Java's client also sends the default values of metrics (9) and renewal (10) */
	put_scan_renew(&b, 77, 4);
	assert_hex(buf_bytes(&b), "184d2000 3004 38014001 5001");
	b.len = 0;
	put_scan_next(&b, 77, 1000, 4, 50);
	assert_hex(buf_bytes(&b), "184d2032 3004 38014001 5832");
	b.len = 0;
	put_scan_next(&b, 77, 1000, 4, 0);
	assert_hex(buf_bytes(&b), "184d20e807 3004 38014001");
	b.len = 0;
	put_scan_close(&b, 77);
	assert_hex(buf_bytes(&b), "184d20002801");
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns), cmocka_unit_test(test_rows),
		cmocka_unit_test(test_cells),	cmocka_unit_test(test_lists),
		cmocka_unit_test(test_scan),	cmocka_unit_test(test_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
