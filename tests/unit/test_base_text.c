/* Compares UTF-8 with iconv, and terminal output with bytes written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include <iconv.h>

#include "bytes.h"

/* Returns the length of the first character as iconv decodes it, and sets *code to its code point.
 * Returns 0 if it is invalid. */
static size_t by_iconv(iconv_t cd, const uint8_t *p, size_t n, uint32_t *code)
{
	for (size_t len = 1; len <= n && len <= 4; len++) {
		char *in = (char *)(uintptr_t)p, *out = (char *)code;
		size_t in_left = len, out_left = 4;

		iconv(cd, NULL, NULL, NULL, NULL);
		if (iconv(cd, &in, &in_left, &out, &out_left) == 0 && out_left == 0)
			return len;
	}
	return 0;
}

static void same_as_iconv(iconv_t cd, const uint8_t *p, size_t n)
{
	uint32_t code, theirs = 0;
	size_t want = by_iconv(cd, p, n, &theirs);
	size_t got = utf8_char(p, p + n);

	if (got != want)
		fail_msg("%02X %02X %02X %02X: length %zu, iconv %zu", p[0], p[1], p[2], p[3], got,
			 want);
	size_t read = utf8_decode(bytes_of(p, n), &code);
	if (want)
		assert_true(read == want && code == theirs);
	else
		assert_true(read >= 1 && read < 4 && code == 0xFFFD);
}

static void every_beginning(void **state)
{
	static const uint8_t last[] = {0, 0x41, 0x7F, 0x80, 0xBD, 0xBF, 0xC0, 0xFF};
	iconv_t cd = iconv_open("UTF-32LE", "UTF-8");

	(void)state;
	assert_true(cd != (iconv_t)-1);
	for (uint32_t three = 0; three < 1u << 24; three++) {
		uint8_t p[4] = {(uint8_t)(three >> 16), (uint8_t)(three >> 8), (uint8_t)three, 0};

		if (p[0] < 0xC0 && (p[1] || p[2]))
			continue; /* one byte is the whole character */
		if (p[2] % 16 != 0 && p[2] % 16 != 15 && p[2] != 0xBD)
			/* both ends of each block of sixteen, and of the block of U+FFFD */
			continue;
		for (size_t i = 0; i < sizeof last; i++) {
			p[3] = last[i];
			same_as_iconv(cd, p, 4);
		}
		for (size_t n = 1; n < 4; n++)
			same_as_iconv(cd, p, n);
	}
	iconv_close(cd);
}

static void shown(const char *text, size_t len, const char *want)
{
	struct buf b = {0};

	text_visible(&b, bytes_of(text, len));
	buf_put(&b, 0);
	assert_string_equal((const char *)b.ptr, want);
	buf_release(&b);
}
#define SHOWN(text, want) shown(text, sizeof text - 1, want)

static void terminal_obeys_nothing(void **state)
{
	(void)state;
	SHOWN("", "");
	SHOWN("plain ~ äöü 中 \xF0\x9F\x98\x80", "plain ~ äöü 中 \xF0\x9F\x98\x80");
	SHOWN("\033[2J\a\b\r\n\t\x7F", "\\x1B[2J\\x07\\x08\\x0D\\x0A\\x09\\x7F");
	SHOWN("a\0b", "a\\x00b");
	SHOWN("\xC2\x9B"
	      "1m\xC2\xA0",
	      "\\xC2\\x9B1m\xC2\xA0"); /* escapes the C1 byte CSI, not a no-break space */
	SHOWN("\xE2\x80\xAE"
	      "txt.exe\xE2\x81\xA6\xE2\x80\xA8",
	      "\\xE2\\x80\\xAEtxt.exe\\xE2\\x81\\xA6\\xE2\\x80\\xA8");
	SHOWN("\x9B\xFF\xC0\x80", "\\x9B\\xFF\\xC0\\x80");

	struct buf b = {0};
	text_utf8(&b, bytes_of("\033a\xFF\xC3\xA4\0", 6));
	assert_int_equal(b.len, 9);
	assert_memory_equal(b.ptr, "\033a\\xFF\xC3\xA4\0", 9);
	buf_release(&b);
}

static void as_json(void **state)
{
	static const char text[] = "\"\\/\b\f\n\r\t\x01\x7F \xC2\x9B \xE2\x80\xAE \xC3\xA4 \xFF";
	struct buf b = {0};

	(void)state;
	text_json(&b, bytes_str(text));
	buf_put(&b, 0);
	assert_string_equal((const char *)b.ptr,
			    "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\x7F \xC2\x9B \xE2\x80\xAE \xC3\xA4 "
			    "\\\\xFF\"");
	b.len = 0;
	text_json_shown(&b, bytes_str(text));
	buf_put(&b, 0);
	assert_string_equal((const char *)b.ptr,
			    "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u007F \\u009B \\u202E \xC3\xA4 "
			    "\\\\xFF\"");
	b.len = 0;
	text_json_key(&b, bytes_of("a-\0\\", 4));
	buf_put(&b, 0);
	assert_string_equal((const char *)b.ptr, "\"a-\\\\x00\\\\x5C\"");
	b.len = 0;
	text_lines(&b, bytes_str("one\ntwo\r\n"));
	assert_int_equal(b.len, 12);
	assert_memory_equal(b.ptr, "one\ntwo\\x0D\n", 12);
	buf_release(&b);
}

/* RFC 4648, section 10 */
static void base64(void **state)
{
	static const char *const cases[][2] = {{"", ""},
					       {"f", "Zg=="},
					       {"fo", "Zm8="},
					       {"foo", "Zm9v"},
					       {"foob", "Zm9vYg=="},
					       {"fooba", "Zm9vYmE="},
					       {"foobar", "Zm9vYmFy"}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf coded = {0}, back = {0};

		text_base64(&coded, bytes_str(cases[i][0]));
		assert_true(bytes_eq(buf_bytes(&coded), bytes_str(cases[i][1])));
		assert_true(text_unbase64(&back, cases[i][1]));
		assert_true(bytes_eq(buf_bytes(&back), bytes_str(cases[i][0])));
		buf_release(&coded);
		buf_release(&back);
	}
	struct buf none = {0};
	assert_false(text_unbase64(&none, "Zg=x"));
	assert_false(text_unbase64(&none, "Z"));
	assert_false(text_unbase64(&none, "Zm 9"));
	buf_release(&none);
}

static void quoted_within(void **state)
{
	char out[14];

	(void)state;
	text_quote(out, 10, bytes_str("0123456789"));
	assert_string_equal(out, "0123456789");
	text_quote(out, 10, bytes_str("0123456789a"));
	assert_string_equal(out, "0123456789...");
	text_quote(out, 10,
		   bytes_str("01234567\xC3\xA4x")); /* the function never cuts a character */
	assert_string_equal(out, "01234567\xC3\xA4...");
	text_quote(out, 10, bytes_str("012345678\xC3\xA4"));
	assert_string_equal(out, "012345678...");
	text_quote(out, 10, bytes_str("0123456\n"));
	assert_string_equal(out, "0123456...");
}

/* Numbers around each power of ten and two, and all numbers of four digits. */
static void digits_as_printf(void **state)
{
	(void)state;
	struct buf got = {0};
	uint64_t ten = 1;
	for (uint64_t i = 0; i < 10000 + 3 * 20 + 3 * 64; i++) {
		uint64_t v = i, k = i - 10000;
		char want[32];

		if (i >= 10000)
			v = k < 60 ? ten + k % 3 - 1 : ((uint64_t)1 << (k - 60) / 3) + k % 3 - 1;
		if (i >= 10000 && k < 60 && k % 3 == 2)
			ten *= 10;
		snprintf(want, sizeof want, "x%llu", (unsigned long long)v);
		got.len = 0;
		buf_put(&got, 'x');
		buf_digits(&got, v);
		buf_put(&got, 0);
		assert_string_equal((char *)got.ptr, want);
	}
	buf_release(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_beginning), cmocka_unit_test(terminal_obeys_nothing),
		cmocka_unit_test(as_json),	   cmocka_unit_test(base64),
		cmocka_unit_test(quoted_within),   cmocka_unit_test(digits_as_printf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
