/*
 * test_sort_prefix.c - tests that the portable compression of keys equals PEXT, that both keep the
 * order, and that a watch sees each bit that varies
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pipeline/sort/prefix.h"
#include "tests/unit/draw.h"

static int compare_packed(struct packed_key a, struct packed_key b)
{
	if (a.word != b.word)
		return a.word < b.word ? -1 : 1;
	return (a.rest > b.rest) - (a.rest < b.rest);
}

/* Varies more bits of two keys of one length. A word precedes each key. */
static void check_long(const struct key_plan *fast, const struct key_plan *portable,
		       const uint8_t *const keys[2], size_t len)
{
	struct packed_key got[2];

	for (int i = 0; i < 2; i++) {
		got[i] = fast->pack_long(fast, keys[i], len);
		assert_int_equal(compare_packed(got[i],
						portable->pack_long(portable, keys[i], len)),
				 0);
		assert_true(got[i].word == fast->pack(fast, keys[i], len));
	}
	int c = memcmp(keys[0], keys[1], len), packed = compare_packed(got[0], got[1]);
	assert_true(c < 0 ? packed <= 0 : c > 0 ? packed >= 0 : packed == 0);
	assert_true(!fast->whole || (packed == 0) == (c == 0));
	assert_true(fast->whole || fast->rest_bits == REST_BITS);
	assert_true(!fast->complete || (fast->whole && fast->rest_bits == 0));
}

static void test_packing(void **state)
{
	(void)state;
	uint8_t keys[2][SPAN_BYTES + SLACK_BYTES];
	random_state = 99;
	for (int round = 0; round < 3000; round++) {
		struct key_span span = {0};
		struct key_plan fast, portable;
		size_t len = 1 + draw() % SPAN_BYTES;
		uint64_t dense = draw() % 2 ? UINT64_MAX : 0;

		draw_bytes(keys[0], sizeof keys[0]);
		memcpy(keys[1], keys[0], sizeof keys[0]);
		for (uint64_t n = draw() % 6; n > 0; n--)
			keys[1][draw() % len] = (uint8_t)draw();
		span_start(&span, bytes_of(keys[0], len), NULL, 0);
		for (size_t i = 0; i < len; i++) /* a superset of the bits that vary */
			span.mask[i] = (uint8_t)((keys[0][i] ^ keys[1][i]) |
						 (draw() & (dense | (draw() & draw()))));
		plan_init(&fast, &span, 0);
		plan_init_portable(&portable, &span, 0);
		uint64_t a = fast.pack(&fast, keys[0], len), b = fast.pack(&fast, keys[1], len);
		assert_true(a == portable.pack(&portable, keys[0], len));
		assert_true(b == portable.pack(&portable, keys[1], len));
		int c = memcmp(keys[0], keys[1], len);
		assert_true(c < 0 ? a <= b : c > 0 ? a >= b : a == b);
		assert_true(!fast.complete || (a == b) == (c == 0));
		check_long(&fast, &portable, (const uint8_t *const[]){keys[0], keys[1]}, len);
		span_release(&span);
	}
}

/* Compares the mask of watched strings with the bits in which any of them differs from the first. */
static void test_watching(void **state)
{
	(void)state;
	random_state = 7;
	for (int round = 0; round < 3000; round++) {
		uint8_t strings[4][SPAN_BYTES + SLACK_BYTES], varies[SPAN_BYTES] = {0};
		uint32_t at[4];
		size_t key_len = 1 + draw() % SPAN_BYTES, secondary = draw() % 9;
		struct key_span span = {0};
		struct span_watch w;

		draw_bytes(strings[0], sizeof strings[0]);
		watch_start(&w, strings[0], key_len, secondary);
		assert_int_equal(w.lost, key_len + secondary > SPAN_BYTES);
		if (w.lost)
			continue;
		for (size_t k = 0; k < 4; k++) {
			uint8_t flip = k ? (uint8_t)draw() : 0;
			size_t i = draw() % (key_len + secondary);

			memmove(strings[k], strings[0], sizeof strings[0]);
			strings[k][i] ^= flip;
			varies[i] |= flip;
			at[k] = (uint32_t)(k * sizeof strings[0]);
		}
		watch_strings(&w, strings[0], at, 4);
		span_watched(&span, &w, strings[0], secondary);
		assert_memory_equal(span.mask, varies, sizeof varies);
		assert_true(span.min_len == key_len && span.max_len == key_len);
		span_release(&span);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packing),
		cmocka_unit_test(test_watching),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
