/*
 * Tests JSON extraction with tables written by hand, and compares random and damaged texts with
 * jansson
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "json_oracle.h"
#include "mem.h"

/* Extracts one column by its path. The result is the column's text, "(absent)", or "!at
 * expected". */
static void look(const char *path, const char *text, size_t len, char *out, size_t size)
{
	struct json_paths *p;
	struct json_scratch s = {0};
	struct json_fault fault;
	struct column c;
	struct error err;
	size_t bad;

	if (json_paths_new(&p, &path, 1, NULL, &bad, &err))
		fail_msg("%s", err.msg);
	/* a heap block of exact size, so that the sanitizer sees reads past its end */
	uint8_t *exact = mem_alloc(len + 1);
	uint8_t *at = exact + 1;
	memcpy(at, text, len);
	if (!json_extract(p, &s, bytes_of(at, len), &c, &fault))
		snprintf(out, size, "!%zu %s", fault.at, fault.expected);
	else if (c.absent)
		snprintf(out, size, "(absent)");
	else
		snprintf(out, size, "%s%.*s", c.quoted ? "'" : "", (int)c.len, (const char *)c.ptr);
	mem_free(exact);
	json_scratch_release(&s);
	json_paths_free(p);
}

static void test_values(void **state)
{
	static const struct {
		const char *path, *text, *want;
	} cases[] = {
		{"a", "{\"a\":1}", "1"},
		{"a", " { \"a\" : -1.50e+3 } \n", "-1.50e+3"},
		{"a", "{\"a\":\"x\"}", "'x"},
		{"a", "{\"a\":\"\"}", "'"},
		{"a", "{\"a\":null}", "(absent)"},
		{"a", "{\"b\":1}", "(absent)"},
		{"a", "{}", "(absent)"},
		{"a", "[]", "(absent)"},
		{"a", "7", "(absent)"},
		{"a", "{\"a\":true,\"b\":false}", "true"},
		{"b", "{\"a\":true,\"b\":false}", "false"},
		{"a.b", "{\"a\":{\"b\":3}}", "3"},
		{"a", "{\"a\":{ \"b\":3 }}", "{ \"b\":3 }"},
		{"a", "{\"a\":[1, [2]] }", "[1, [2]]"},
		{"a.b", "{\"a\":7}", "(absent)"},
		{"a.b.c.d", "{\"a\":{\"b\":{\"c\":{\"d\":\"deep\"}}}}", "'deep"},
		{"items[0].sku", "{\"items\":[{\"sku\":\"a\"},{\"sku\":\"b\"}]}", "'a"},
		{"items[1].sku", "{\"items\":[{\"sku\":\"a\"},{\"sku\":\"b\"}]}", "'b"},
		{"items[2].sku", "{\"items\":[{\"sku\":\"a\"},{\"sku\":\"b\"}]}", "(absent)"},
		{"[1]", "[5,6]", "6"},
		{"[0][1]", "[[5,6]]", "6"},
		{"['a.b']", "{\"a.b\":1,\"a\":{\"b\":2}}", "1"},
		{"a['b']", "{\"a.b\":1,\"a\":{\"b\":2}}", "2"},
		/* the last of two equal members counts, with all members below it */
		{"a", "{\"a\":1,\"a\":2}", "2"},
		{"a", "{\"a\":1,\"a\":null}", "(absent)"},
		{"a.b", "{\"a\":{\"b\":1},\"a\":{\"c\":2}}", "(absent)"},
		/* escapes in values and keys */
		{"a", "{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}", "'\"\\/\b\f\n\r\t"},
		{"a", "{\"a\":\"x\\u00e9y\\u20ACz\"}", "'x\xc3\xa9y\xe2\x82\xacz"},
		{"a", "{\"a\":\"\\uD83D\\uDE00!\"}", "'\xf0\x9f\x98\x80!"},
		{"ab", "{\"\\u0061\\u0062\":1}", "1"},
		{"a", "{\"\\u0061\":\"\\u0062\",\"c\":\"\\u0064\"}", "'b"},
		{"a", "{\"a\":\"\xf0\x9f\x98\x80\xef\xbf\xbd\xc2\x80\"}",
		 "'\xf0\x9f\x98\x80\xef\xbf\xbd\xc2\x80"},
		{"a", "{\"a\":\"0123456789abcdef\\n0123456789abcdef\"}",
		 "'0123456789abcdef\n0123456789abcdef"},
		/* faults, with the byte and the expected text */
		{"a", "", "!0 a value"},
		{"a", "  ", "!2 a value"},
		{"a", "{", "!1 a key in double quotes"},
		{"a", "{\"a\"}", "!4 a colon after the key"},
		{"a", "{\"a\":}", "!5 a value"},
		{"a", "{\"a\":1,}", "!7 a key in double quotes"},
		{"a", "{\"a\":1]", "!6 a comma or }"},
		{"a", "[1,]", "!3 a value"},
		{"a", "[1 2]", "!3 a comma or ]"},
		{"a", "[1", "!2 a comma or ]"},
		{"a", "{} x", "!3 nothing after the value"},
		{"a", "tru", "!0 a value"},
		{"a", "nul", "!0 a value"},
		{"a", "01", "!0 a number without a leading zero"},
		{"a", "-", "!0 a digit after the minus sign"},
		{"a", "+1", "!0 a value"},
		{"a", "1.", "!2 a digit after the decimal point"},
		{"a", "1.5e", "!4 a digit in the exponent"},
		{"a", "NaN",
		 "!0 a value of JSON, which has no NaN and no Infinity; replace them by null"},
		{"a", "-Infinity",
		 "!0 a value of JSON, which has no NaN and no Infinity; replace them by null"},
		{"a", "Na", "!0 a value"},
		{"a", "\"abc", "!4 the end of the string"},
		{"a", "\"a\nb\"", "!2 no control characters in a string"},
		{"a", "\"a\\x\"",
		 "!2 one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u after a backslash"},
		{"a", "\"a\\", "!3 the end of the string"},
		{"a", "\"\\u12g4\"", "!1 four hex digits after \\u"},
		{"a", "\"\\ud800\"", "!1 both halves of a surrogate pair"},
		{"a", "\"\\ud800\\u0041\"", "!1 both halves of a surrogate pair"},
		{"a", "\"\\udc00\"", "!1 both halves of a surrogate pair"},
		{"a", "\"12345678\xff\"", "!9 UTF-8"},
		{"a", "\"\xc0\x80\"", "!1 UTF-8"},
		{"a", "\"\xed\xa0\x80\"", "!1 UTF-8"},
		{"a", "\"\xf0\x90\x80\"", "!1 UTF-8"},
		{"a", "\"\xf4\x90\x80\x80\"", "!1 UTF-8"},
		{"a", "\xef\xbb\xbf{}", "!0 a value"},
		{"a", "{'a':1}", "!1 a key in double quotes"},
	};
	char got[200];
	size_t wrong = 0;
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		look(cases[i].path, cases[i].text, strlen(cases[i].text), got, sizeof got);
		if (strcmp(got, cases[i].want) != 0) {
			print_error("%s of %s: got %s, want %s\n", cases[i].path, cases[i].text,
				    got, cases[i].want);
			wrong++;
		}
	}
	assert_int_equal(wrong, 0);
}

static void test_paths(void **state)
{
	static const char *const bad[] = {"",	   ".",	  ".a",		 "a.",	  "a..b",
					  "a[",	   "a[]", "a[x]",	 "a[-1]", "a[\"b]",
					  "a[0]b", "a]",  "[1234567890]"};
	struct json_paths *p;
	struct error err;
	size_t at;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		const char *two[] = {"fine", bad[i]};

		if (json_paths_new(&p, two, 2, NULL, &at, &err) != RC_CONFIG)
			fail_msg("`%s` was taken for a path", bad[i]);
		assert_int_equal(at, 1);
	}
}

static void test_nesting(void **state)
{
	char text[2 * JSON_MOST_NESTED + 4], got[80];

	(void)state;
	memset(text, '[', JSON_MOST_NESTED + 1);
	memset(text + JSON_MOST_NESTED + 1, ']', JSON_MOST_NESTED + 1);
	look("a", text + 1, 2 * JSON_MOST_NESTED, got, sizeof got);
	assert_string_equal(got, "(absent)");
	look("a", text, 2 * JSON_MOST_NESTED + 2, got, sizeof got);
	assert_string_equal(got, "!2048 at most 2048 levels of nesting");
}

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x >> 11;
}

/* Makes a text of pieces that are almost JSON, so that many texts are valid. */
static void make_text(uint64_t *seed, struct buf *b, int depth)
{
	static const char *const scalars[] = {"1",
					      "-0.5e3",
					      "true",
					      "null",
					      "\"\"",
					      "\"a\\u00e9\"",
					      "\"\xc3\xa9 long enough for a word\"",
					      "0",
					      "\"\\ud83d\\ude00\""};
	static const char *const keys[] = {"\"a\"",   "\"b\"",	     "\"c\"",	    "\"\"",
					   "\"x.y\"", "\"\\u0061\"", "\"\xc3\xa9\""};
	uint64_t kind = next_random(seed) % (depth > 4 ? 1 : 3);

	if (kind == 0) {
		buf_append_str(b, scalars[next_random(seed) % 9]);
		return;
	}
	buf_append_str(b, kind == 1 ? "{" : " [ ");
	for (uint64_t i = next_random(seed) % 4; i > 0; i--) {
		if (kind == 1)
			buf_printf(b, "%s:", keys[next_random(seed) % 7]);
		make_text(seed, b, depth + 1);
		if (i > 1)
			buf_append_str(b, ",");
	}
	buf_append_str(b, kind == 1 ? "}" : "]");
}

static void test_against_jansson(void **state)
{
	struct json_paths *p;
	struct json_scratch s = {0};
	struct error err;
	struct buf b = {0};
	uint64_t seed = 88172645463325252;
	size_t bad;

	(void)state;
	assert_int_equal(json_paths_new(&p, oracle_paths, ORACLE_PATHS, NULL, &bad, &err), 0);
	for (int i = 0; i < 30000; i++) {
		b.len = 0;
		make_text(&seed, &b, 0);
		for (uint64_t k = next_random(&seed) % 3; k > 0; k--) /* damages the text */
			b.ptr[next_random(&seed) % b.len] =
				(uint8_t) "\"\\{}[],:0\x80\x1f\xc3"[next_random(&seed) % 12];
		const char *differs = oracle_differs(p, &s, buf_bytes(&b));
		if (differs)
			fail_msg("%s: %.*s", differs, (int)b.len, (char *)b.ptr);
	}
	buf_release(&b);
	json_scratch_release(&s);
	json_paths_free(p);
}

/* Puts each byte that is not plain at each place of texts that are short and long. */
static void test_each_place_of_a_string(void **state)
{
	static const char *const odd[] = {"\"",	  "\\",	  "\\n", "\x1f",     "\x01",
					  "\x7f", "\x80", " ",	 "\xc3\xa9", "\\u00e9"};
	struct json_paths *p;
	struct json_scratch s = {0};
	struct error err;
	struct buf b = {0};
	size_t bad;

	(void)state;
	assert_int_equal(json_paths_new(&p, oracle_paths, ORACLE_PATHS, NULL, &bad, &err), 0);
	for (size_t len = 0; len < 40; len++)
		for (size_t at = 0; at <= len; at++)
			for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
				b.len = 0;
				buf_printf(&b, "{\"b\":\"%.*s%s%.*s\"}", (int)at,
					   "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH", odd[k],
					   (int)(len - at),
					   "~{}[],:/+-_.|!#$%&'()*;<=>?@^`0123456789ABCDEF");
				/* the sanitizer sees each byte that is read after the text */
				uint8_t *exact = malloc(b.len);
				memcpy(exact, b.ptr, b.len);
				const char *differs = oracle_differs(p, &s, bytes_of(exact, b.len));
				if (differs)
					fail_msg("%s: %.*s", differs, (int)b.len, (char *)b.ptr);
				free(exact);
			}
	buf_release(&b);
	json_scratch_release(&s);
	json_paths_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_against_jansson),
		cmocka_unit_test(test_each_place_of_a_string),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
