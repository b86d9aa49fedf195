#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "mem.h"
#include "splits.h"
#include "split_vectors.h"

#define COUNT(a) (sizeof a / sizeof((a)[0]))

static uint64_t random_next(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

/* Converts hex digits to bytes. */
static void from_hex(struct buf *b, const char *hex, size_t digits)
{
	for (size_t i = 0; i + 1 < digits; i += 2) {
		char pair[3] = {hex[i], hex[i + 1], 0};

		buf_put(b, (uint8_t)strtoul(pair, NULL, 16));
	}
}

/* Converts a row of a vector to the text that HBase's setFirstRow(String) takes. */
static const char *row_text(enum split_algorithm a, const char *row, struct buf *b)
{
	struct buf raw = {0};

	if (!row || a != UNIFORM)
		return row;
	from_hex(&raw, row, strlen(row));
	bytes_escape(b, buf_bytes(&raw));
	buf_release(&raw);
	return (const char *)b->ptr;
}

static void check_key(const struct splits *s, size_t i, enum split_algorithm a, const char *want,
		      size_t len)
{
	struct buf b = {0};

	assert_true(i < s->count);
	if (a == UNIFORM)
		from_hex(&b, want, len);
	else
		buf_append(&b, want, len);
	if (!bytes_eq(buf_bytes(&b), s->keys[i]))
		fail_msg("key %zu of %zu is not %.*s", i, s->count, (int)len, want);
	buf_release(&b);
}

/* `keys` is "a b ... y z". Keys after the dots count from the end. */
static void check_keys(const struct splits *s, enum split_algorithm a, const char *keys)
{
	const char *dots = strstr(keys, "... ");
	size_t i = 0;

	for (const char *p = keys; *p; p += strspn(p, " ")) {
		size_t len = strcspn(p, " ");

		if (p == dots) {
			size_t left = 0;

			for (const char *q = p + 4; *q; q++)
				left += q[1] == ' ' || !q[1];
			i = s->count - left;
		} else {
			check_key(s, i++, a, p, len);
		}
		p += len;
	}
	assert_int_equal(i, s->count);
}

static void published_vectors(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(split_vectors); i++) {
		const struct split_vector *v = &split_vectors[i];
		struct splits s = {0};
		struct buf first = {0}, last = {0};
		struct error err = {0};
		int rc = splits_compute(&s, v->algorithm, v->n,
					row_text(v->algorithm, v->first, &first),
					row_text(v->algorithm, v->last, &last), &err);

		assert_int_equal(rc, v->keys ? RC_OK : RC_CONFIG);
		if (v->keys) {
			assert_int_equal(s.count, v->n - 1);
			check_keys(&s, v->algorithm, v->keys);
		} else {
			assert_true(err.msg[0]);
		}
		splits_release(&s);
		buf_release(&first);
		buf_release(&last);
	}
}

static void bad_rows(void **state)
{
	static const struct {
		enum split_algorithm algorithm;
		const char *first, *last;
		uint32_t n;
		const char *says;
	} cases[] = {
		{UNIFORM, NULL, NULL, 1, "num cannot be <= 0"},
		{UNIFORM, NULL, NULL, 0, "0 regions"},
		{UNIFORM, "a", "a\\x00", 4, "b <= a"},
		{UNIFORM, "b", "a", 4, "less than first row (b)"},
		{HEX, NULL, NULL, 0, "0 regions"},
		{HEX, NULL, NULL, 2147483648u, "2147483648 regions"},
		{HEX, "0", "A", 12, "split granularity (12) is greater than the range (11)"},
		{HEX, "0", "G", 2, "last row \"G\" is not a number in base 16"},
		{HEX, "", "F", 2, "first row: found no digits"},
		{HEX, "+", "F", 2, "first row: found no digits"},
		{HEX, "-1", "F", 2, "first row \"-1\""},
		{DECIMAL, "0", "9A", 2, "last row \"9A\" is not a number in base 10"},
		{DECIMAL, "0", "9", 11, "split granularity (11) is greater than the range (10)"},
		{DECIMAL, "99999999", NULL, 2, "last row (99999999) is configured less"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct splits s = {0};
		struct error err = {0};

		assert_int_equal(splits_compute(&s, cases[i].algorithm, cases[i].n, cases[i].first,
						cases[i].last, &err),
				 RC_CONFIG);
		if (!strstr(err.msg, cases[i].says))
			fail_msg("\"%s\" does not say \"%s\"", err.msg, cases[i].says);
		splits_release(&s);
	}
}

static void one_region_needs_no_key(void **state)
{
	struct splits s = {0};
	struct error err;

	(void)state;
	assert_int_equal(splits_compute(&s, HEX, 1, NULL, NULL, &err), 0);
	assert_int_equal(s.count, 0);
	assert_int_equal(splits_region(&s, bytes_str("x")), 0);
	splits_release(&s);
}

/* Compares rows of at most 17 digits with the processor's own arithmetic. */
static void numbers_against_machine_arithmetic(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (int round = 0; round < 300; round++) {
		uint64_t a = random_next(&seed) << (random_next(&seed) % 25);
		uint64_t b = random_next(&seed) << (random_next(&seed) % 25);

		if (a > b) {
			uint64_t t = a;

			a = b;
			b = t;
		}
		uint32_t n = (uint32_t)(random_next(&seed) % 200 + 1);
		bool hex = round % 2;
		char first[32], last[32], want[32];
		snprintf(first, sizeof first, hex ? "%lX" : "%lu", a);
		snprintf(last, sizeof last, hex ? "%018lx" : "%020lu", b);
		struct splits s = {0};
		struct error err;
		int rc = splits_compute(&s, hex ? HEX : DECIMAL, n, first, last, &err);
		assert_int_equal(rc, b > a && b - a + 1 >= n ? RC_OK : RC_CONFIG);
		for (uint32_t i = 1; rc == RC_OK && i < n; i++) {
			uint64_t key = a + (b - a + 1) / n * i;
			int len = snprintf(want, sizeof want, hex ? "%018lx" : "%020lu", key);

			assert_true(bytes_eq(s.keys[i - 1], bytes_of(want, (size_t)len)));
		}
		splits_release(&s);
	}
}

/* Divides 10^999 into ten parts, which gives a one at each place. */
static void long_rows(void **state)
{
	enum { DIGITS = 1000 };
	char first[DIGITS + 1], last[DIGITS + 1];
	struct splits s = {0};
	struct error err;
	(void)state;
	memset(first, '0', DIGITS);
	memset(last, '9', DIGITS);
	first[DIGITS] = last[DIGITS] = 0;
	assert_int_equal(splits_compute(&s, DECIMAL, 10, first, last, &err), 0);
	for (int i = 1; i < 10; i++) {
		first[0] = (char)('0' + i);
		assert_true(bytes_eq(s.keys[i - 1], bytes_str(first)));
	}
	splits_release(&s);
}

static void algorithm_names(void **state)
{
	(void)state;
	assert_int_equal(split_algorithm_parse("UniformSplit"), UNIFORM);
	assert_int_equal(split_algorithm_parse("HexStringSplit"), HEX);
	assert_int_equal(split_algorithm_parse(
				 "org.apache.hadoop.hbase.util.RegionSplitter$DecimalStringSplit"),
			 DECIMAL);
	assert_int_equal(split_algorithm_parse("uniform"), -1);
	assert_string_equal(split_algorithm_name(HEX), "HexStringSplit");
}

/* splitter/README.md 2.2, and the result of Java's decoder for text outside ASCII. */
static void unescape_vectors(void **state)
{
	static const struct {
		const char *text, *hex;
	} cases[] = {
		{"\\x80", "80"},
		{"\\xAB", "ab"},
		{"\\xab", "786162"},
		{"\\x0", "5c7830"},
		{"\\x", "5c78"},
		{"\\", "5c"},
		{"a\\x5Cx41", "615c783431"},
		{"\\\\x41", "5c41"},
		{"a\\b", "615c62"},
		{"\\xA", "5c7841"},
		{"\\xAg", "784167"},
		{"\\xgA", "786741"},
		{"\\x\\x41", "7841"},
		{"", ""},
		{"\x80", "fd"},
		{"\xff", "fd"},
		{"\xff\xfe", "fdfd"},
		{"\x01\x80", "01fd"},
		{"\xc2\x80", "80"},
		{"\xc3\xa9", "e9"},
		{"\xe2\x82\xac", "ac"},
		{"\xf0\x9f\x98\x80", "3d00"},
		{"\xe2\x82"
		 "a",
		 "fd61"},
		{"\xed\xa0\x80", "fdfdfd"},
		{"\\x\xc3\xa9", "5c78e9"},
		{"\\x\xc3\xa9"
		 "A",
		 "78e941"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct buf got = {0}, want = {0};

		bytes_unescape(&got, bytes_str(cases[i].text));
		from_hex(&want, cases[i].hex, strlen(cases[i].hex));
		if (!bytes_eq(buf_bytes(&got), buf_bytes(&want)))
			fail_msg("%s is not %s", cases[i].text, cases[i].hex);
		buf_release(&got);
		buf_release(&want);
	}
}

static void escape_keeps_only_safe_bytes(void **state)
{
	struct buf out = {0}, back = {0};
	uint8_t all[256];

	(void)state;
	for (int i = 0; i < 256; i++)
		all[i] = (uint8_t)i;
	bytes_escape(&out, bytes_of("a'\\\n Z09_.-\xff", 12));
	assert_string_equal((char *)out.ptr, "a\\x27\\x5C\\x0A\\x20Z09_.-\\xFF");
	out.len = 0;
	bytes_escape(&out, bytes_of(all, 256));
	for (size_t i = 0; i < out.len; i++)
		assert_non_null(
			strchr("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
			       "_.-\\",
			       out.ptr[i]));
	bytes_unescape(&back, buf_bytes(&out));
	assert_true(bytes_eq(buf_bytes(&back), bytes_of(all, 256)));
	buf_release(&out);
	buf_release(&back);
}

static int compare_keys(const void *a, const void *b)
{
	return bytes_cmp(*(const struct bytes *)a, *(const struct bytes *)b);
}

/* The parser reads random sorted keys over all byte values from their text. A linear search finds
 * their regions. */
static void round_trip_and_regions(void **state)
{
	enum { KEYS = 500 };
	uint64_t seed = 3;
	uint8_t(*store)[9] = mem_alloc(KEYS * sizeof *store);
	struct bytes *keys = mem_alloc(KEYS * sizeof *keys);
	struct splits s = {0}, back = {0};
	struct buf text = {0};
	struct error err;
	(void)state;
	for (size_t i = 0; i < KEYS; i++) {
		size_t len = random_next(&seed) % 9 + 1;

		for (size_t j = 0; j < len; j++)
			store[i][j] = (uint8_t)random_next(&seed);
		keys[i] = bytes_of(store[i], len);
	}
	qsort(keys, KEYS, sizeof *keys, compare_keys);
	for (size_t i = 0; i < KEYS; i++)
		if (i == 0 || !bytes_eq(keys[i - 1], keys[i]))
			assert_int_equal(splits_add(&s, keys[i], &err), 0);
	splits_format(&s, &text);
	assert_int_equal(splits_parse(&back, "x", buf_bytes(&text), &err), 0);
	assert_int_equal(back.count, s.count);
	for (size_t i = 0; i < s.count; i++)
		assert_true(bytes_eq(s.keys[i], back.keys[i]));
	for (int round = 0; round < 2000; round++) {
		uint8_t row[4];
		struct bytes r = bytes_of(row, random_next(&seed) % 5);
		size_t want = 0;

		for (size_t j = 0; j < r.len; j++)
			row[j] = (uint8_t)random_next(&seed);
		if (round % 10 == 0)
			r = s.keys[(size_t)round % s.count];
		while (want < s.count && bytes_cmp(s.keys[want], r) <= 0)
			want++;
		assert_int_equal(splits_region(&s, r), want);
	}
	splits_release(&s);
	splits_release(&back);
	buf_release(&text);
	mem_free(store);
	mem_free(keys);
}

static void parse_accepts(void **state)
{
	struct splits s = {0};
	struct error err;

	(void)state;
	assert_int_equal(splits_parse(&s, "f", bytes_str(""), &err), 0);
	assert_int_equal(s.count, 0);
	assert_int_equal(splits_parse(&s, "f", bytes_str("\\x01\r\na b\\c\nb"), &err), 0);
	assert_int_equal(s.count, 3);
	assert_true(bytes_eq(s.keys[0], bytes_of("\x01", 1)));
	assert_true(bytes_eq(s.keys[1], bytes_str("a b\\c")));
	assert_true(bytes_eq(s.keys[2], bytes_str("b")));
	splits_release(&s);
}

static void parse_refuses(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"a\n\nb\n", "f:2: found an empty line"},
		{"\n", "f:1: found an empty line"},
		{"a\n\r\n", "f:2: found an empty line"},
		{"\\xab\n", "f:1: found \"\\xab\" in column 1"},
		{"a\nb\\xA", "f:2: found \"\\xA\" in column 2"},
		{"\\x4g", "upper-case"},
		{"b\na\n", "f:2: split key 2: found a key below"},
		{"a\nb\nb\n", "f:3: split key 3: found the previous key again"},
		{"\\x41\nA\n", "f:2: split key 2: found the previous key again"},
		{"a\n\xff\n", "f:2: found byte 0xFF in column 1"},
		{"a\rb\n", "f:1: found byte 0x0D in column 2"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct splits s = {0};
		struct error err = {0};

		assert_int_equal(splits_parse(&s, "f", bytes_str(cases[i].text), &err), RC_DATA);
		assert_int_equal(err.code, RC_DATA);
		if (!strstr(err.msg, cases[i].says))
			fail_msg("\"%s\" does not say \"%s\"", err.msg, cases[i].says);
		splits_release(&s);
	}
}

static void add_refuses(void **state)
{
	struct splits s = {0};
	struct error err;
	char *big = mem_calloc(32768, 1);

	(void)state;
	assert_int_equal(splits_add(&s, bytes_str(""), &err), RC_ORDER);
	assert_int_equal(splits_add(&s, bytes_of(big, 32768), &err), RC_LIMIT);
	assert_int_equal(splits_add(&s, bytes_of(big, 32767), &err), RC_OK);
	assert_int_equal(splits_add(&s, bytes_of(big, 32766), &err), RC_ORDER);
	splits_release(&s);
	mem_free(big);
}

/* Returns the i-th string over {0, 1, 255} of length 0 to 4. */
static struct bytes small_string(unsigned i, uint8_t *store)
{
	static const uint8_t alphabet[] = {0, 1, 255};
	unsigned size = 1, len = 0;

	while (i >= size) {
		i -= size;
		size *= 3;
		len++;
	}
	for (unsigned j = 0; j < len; j++, i /= 3)
		store[j] = alphabet[i % 3];
	return bytes_of(store, len);
}

/* For every pair of short strings, a < s <= b, s is a prefix of b, and no shorter key lies
 * between. */
static void separator_is_shortest(void **state)
{
	enum { STRINGS = 1 + 3 + 9 + 27 };
	(void)state;
	for (unsigned i = 0; i < STRINGS; i++) {
		for (unsigned j = 0; j < STRINGS; j++) {
			uint8_t x[4], y[4], z[4];
			struct bytes a = small_string(i, x), b = small_string(j, y);

			if (bytes_cmp(a, b) >= 0)
				continue;
			struct bytes s = shortest_separator(a, b);
			assert_true(bytes_cmp(a, s) < 0 && bytes_cmp(s, b) <= 0);
			assert_memory_equal(s.ptr, b.ptr, s.len);
			for (unsigned k = 0; k < STRINGS; k++) {
				struct bytes t = small_string(k, z);

				if (t.len < s.len)
					assert_false(bytes_cmp(a, t) < 0 && bytes_cmp(t, b) <= 0);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_vectors),
		cmocka_unit_test(bad_rows),
		cmocka_unit_test(one_region_needs_no_key),
		cmocka_unit_test(numbers_against_machine_arithmetic),
		cmocka_unit_test(long_rows),
		cmocka_unit_test(algorithm_names),
		cmocka_unit_test(unescape_vectors),
		cmocka_unit_test(escape_keeps_only_safe_bytes),
		cmocka_unit_test(round_trip_and_regions),
		cmocka_unit_test(parse_accepts),
		cmocka_unit_test(parse_refuses),
		cmocka_unit_test(add_refuses),
		cmocka_unit_test(separator_is_shortest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
