/*
 * Compares sets of byte strings with the membership of each string of at most three bytes. A string has
 * only the bytes 00, 01, fe and ff.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pipeline/model/key/key_sets.h"
#include "tests/unit/draw.h"

enum { MOST = 3, STRINGS = 1 + 4 + 16 + 64 };

static uint8_t text[STRINGS][MOST];
static struct bytes all[STRINGS];

static void make_strings(void)
{
	static const uint8_t bytes[] = {0, 1, 0xfe, 0xff};
	size_t n = 0;

	for (size_t len = 0; len <= MOST; len++)
		for (size_t k = 0; k < (size_t)1 << 2 * len; k++, n++) {
			for (size_t i = 0; i < len; i++)
				text[n][i] = bytes[k >> 2 * i & 3];
			all[n] = bytes_of(text[n], len);
		}
	assert_int_equal(n, STRINGS);
}

static bool contains(const struct key_set *s, struct bytes b)
{
	bool found = false;

	for (size_t i = 0; i < s->n; i++) {
		const struct interval *x = &s->item[i];

		found |= bytes_cmp(x->lo, b) <= 0 && (!x->hi.ptr || bytes_cmp(b, x->hi) < 0);
	}
	return found;
}

/* Checks that the intervals rise, and neither touch nor are empty. */
static void check_form(const struct key_set *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct interval *x = &s->item[i];

		assert_true(!x->hi.ptr || bytes_cmp(x->lo, x->hi) < 0);
		assert_true(!i || (x[-1].hi.ptr && bytes_cmp(x[-1].hi, x->lo) < 0));
	}
}

static struct key_set draw_set(struct arena *a)
{
	size_t n = draw() % 4;
	struct interval *item = arena_alloc(a, (n + 1) * sizeof *item);

	for (size_t i = 0; i < n; i++) {
		struct bytes hi = draw() % 5 ? all[draw() % STRINGS] : (struct bytes){0};

		item[i] = (struct interval){all[draw() % STRINGS], hi};
	}
	struct key_set raw = {item, n};
	bool in[STRINGS];
	for (size_t i = 0; i < STRINGS; i++)
		in[i] = contains(&raw, all[i]);
	struct key_set s = set_tidy(item, n);
	for (size_t i = 0; i < STRINGS; i++)
		assert_int_equal(contains(&s, all[i]), in[i]);
	check_form(&s);
	return s;
}

static void test_sets(void **state)
{
	(void)state;
	random_state = 5;
	for (int round = 0; round < 1000; round++) {
		struct arena a = {0};
		struct key_set s = draw_set(&a), t = draw_set(&a);
		struct key_set not = set_not(&a, s), and = set_and(&a, s, t), or = set_or(&a, s, t);

		for (size_t i = 0; i < STRINGS; i++) {
			bool in_s = contains(&s, all[i]), in_t = contains(&t, all[i]);

			assert_int_equal(contains(&not, all[i]), !in_s);
			assert_int_equal(contains(&and, all[i]), in_s && in_t);
			assert_int_equal(contains(& or, all[i]), in_s || in_t);
		}
		check_form(&not );
		check_form(&and);
		check_form(& or);
		arena_release(&a);
	}
}

static void test_bounds(void **state)
{
	struct arena a = {0};

	(void)state;
	for (size_t k = 0; k < STRINGS; k++) {
		struct bytes behind = bytes_behind(&a, all[k]), next = bytes_next(&a, all[k]);
		struct key_set one = set_of(&a, all[k], behind), whole = set_all(&a);

		assert_true(!next.ptr == !behind.ptr && (!next.ptr || next.len == all[k].len));
		for (size_t i = 0; i < STRINGS; i++) {
			bool begins = all[i].len >= all[k].len &&
				      (!all[k].len || memcmp(text[i], text[k], all[k].len) == 0);

			assert_int_equal(contains(&one, all[i]), begins);
			assert_true(contains(&whole, all[i]));
			/* no string of this length is between them */
			if (next.ptr && all[i].len == all[k].len)
				assert_int_equal(bytes_cmp(all[i], next) < 0,
						 bytes_cmp(all[i], all[k]) <= 0);
		}
		struct key_set none = set_of(&a, all[k], all[k]);
		assert_int_equal(none.n, 0);
	}
	arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_sets),
					   cmocka_unit_test(test_bounds)};

	make_strings();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
