/* Requests and answers of Multi, whose bytes are encoded by hand from HBase's Client.proto. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "hex.h"
#include "pipeline/hbase/rpc/encode.h"

static void test_request(void **state)
{
	const struct cell cell = {.row = bytes_str("k"),
				  .family = bytes_str("f"),
				  .qualifier = bytes_str("q"),
				  .value = bytes_str("v"),
				  .type = CELL_PUT};
	struct buf b = {0};

	(void)state;
	put_mutations(&b, bytes_str("r"), &cell, 1);
	assert_hex(buf_bytes(&b),
		   "0a1f0a0508011201721a16080012120a016b10021a0b0a016612060a0171120176");
	buf_release(&b);
}

static int read_answer(const char *hex, struct hbase_failure *why, struct error *err)
{
	struct buf b = unhex(hex);
	int rc = mutations_read(buf_bytes(&b), why, err);

	buf_release(&b);
	return rc;
}

/* The exception is "x.RegionTooBusyException" with the text "a". */
#define BUSY "0a18782e526567696f6e546f6f42757379457863657074696f6e120161"

static void test_answers(void **state)
{
	struct hbase_failure why = {.trouble = TROUBLE_NONE};
	struct error err;

	(void)state;
	assert_int_equal(read_answer("", &why, &err), RC_OK);
	assert_int_equal(read_answer("0a060a0408001200", &why, &err), RC_OK);
	assert_int_equal(why.trouble, TROUBLE_NONE);
	assert_int_equal(read_answer("0a1f121d" BUSY, &why, &err), RC_IO); /* of the region */
	assert_int_equal(why.trouble, TROUBLE_BUSY);
	why.trouble = TROUBLE_NONE;
	/* the first row is written, the second one is not */
	assert_int_equal(read_answer("0a290a0408001200"
				     "0a2108011a1d" BUSY,
				     &why, &err),
			 RC_IO);
	assert_int_equal(why.trouble, TROUBLE_BUSY);
	assert_int_equal(read_answer("0a290a0408001200", &why, &err), RC_DATA); /* cut */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request),
		cmocka_unit_test(test_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
