/* test_storage_webhdfs_token.c - tests the reader of Hadoop's delegation tokens */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "hex.h"
#include "mem.h"
#include "pipeline/storage/webhdfs.h"

/* Owner alice, renewer hbase, number 1, key 2, given by a NameNode of Hadoop 3.4.2. */
#define TOKEN                                                                                      \
	"HgAFYWxpY2UFaGJhc2UAigGiBoH4D4oBoiqOfA8BAhRlSsmHHbjHR9xEtsLwtKiXpo4hYhJXRUJIREZT"         \
	"IGRlbGVnYXRpb24PMTI3LjAuMC4xOjQ3Mjk5"
#define IDENTIFIER "0005616c696365056862617365008a01a20681f80f8a01a22a8e7c0f0102"
#define PASSWORD   "654ac9871db8c747dc44b6c2f0b4a897a68e2162"

static void test_parts(void **state)
{
	struct storage_token t = {0};

	(void)state;
	assert_int_equal(token_read(TOKEN, &t.raw, &t), RC_OK);
	assert_hex(t.identifier, IDENTIFIER);
	assert_hex(t.password, PASSWORD);
	/* a region server needs this kind, whatever kind the REST interface names */
	assert_string_equal(t.kind, "HDFS_DELEGATION_TOKEN");
	assert_string_equal(t.service, "127.0.0.1:47299");
	buf_release(&t.raw);
}

/* The decoder refuses a token that ends early or has more bytes. */
static void test_cut(void **state)
{
	char text[] = TOKEN "AAAA";

	(void)state;
	for (size_t n = 0; n < sizeof text; n++) {
		struct storage_token t = {0};
		char *part = mem_format("%.*s", (int)n, text);
		bool whole = n == sizeof TOKEN - 1;

		if (token_read(part, &t.raw, &t) == RC_OK && !whole)
			fail_msg("accepted %zu characters", n);
		mem_free(part);
		buf_release(&t.raw);
	}
}

/* Lengths from 128 on take two or three bytes (WritableUtils.writeVInt). */
static void test_long_identifier(void **state)
{
	static const size_t sizes[] = {127, 128, 255, 256, 1000};

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct storage_token t = {0};
		struct buf raw = {0}, text = {0};
		size_t n = sizes[i];

		if (n > 255)
			buf_append(&raw, (const uint8_t[]){0x8e, (uint8_t)(n >> 8), (uint8_t)n}, 3);
		else if (n > 127)
			buf_append(&raw, (const uint8_t[]){0x8f, (uint8_t)n}, 2);
		else
			buf_put(&raw, (uint8_t)n);
		for (size_t k = 0; k < n; k++)
			buf_put(&raw, (uint8_t)k);
		buf_append_str(&raw, "\1p\1k\3h:1");
		text_base64(&text, buf_bytes(&raw));
		buf_put(&text, 0);
		assert_int_equal(token_read(strtok((char *)text.ptr, "="), &t.raw, &t), RC_OK);
		assert_int_equal(t.identifier.len, n);
		assert_string_equal(t.service, "h:1");
		buf_release(&raw);
		buf_release(&text);
		buf_release(&t.raw);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_long_identifier),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
