/* Tests short texts of numbers on which printf and strtod agree, for every variant that the CPU
 * supports.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/input/spell_short.h"
#include "tests/unit/draw.h"

static void check_text(const struct short_text *t, const char *want)
{
	assert_int_equal(t->bytes[0], strlen(want) + 1);
	assert_memory_equal(t->bytes + 1, want, strlen(want));
}

/* Returns a random number of at most `most` digits. */
static uint64_t some_whole(unsigned most)
{
	uint64_t v = draw(), limit = 1;

	for (unsigned digits = (unsigned)(draw() % most) + 1; digits > 0; digits--)
		limit *= 10;
	return v % limit;
}

static void check_whole(const struct spell_way *way, const uint64_t *v, size_t n)
{
	struct short_text to[EVENT_BATCH];
	char want[32];

	assert_true(way->u64(to, v, n));
	for (size_t i = 0; i < n; i++) {
		snprintf(want, sizeof want, "%llu", (unsigned long long)v[i]);
		check_text(&to[i], want);
	}
}

static void test_whole(void **unused)
{
	static const uint64_t edges[] = {
		0, 9, 10, 99, 100, 9999, 10000, 99999999, 100000000, 134217727, 999999999999999};
	struct spell_way ways[SPELL_WAYS];
	struct short_text to[EVENT_BATCH];
	uint64_t v[EVENT_BATCH];

	(void)unused;
	for (size_t w = 0, n = spell_ways(ways); w < n; w++) {
		for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
			for (size_t k = 0; k < EVENT_BATCH; k++)
				v[k] = edges[i];
			check_whole(&ways[w], v, EVENT_BATCH);
		}
		for (int round = 0; round < 2000; round++) {
			for (size_t k = 0; k < EVENT_BATCH; k++)
				v[k] = some_whole(round % 2 ? 8 : 15);
			check_whole(&ways[w], v, draw() % (EVENT_BATCH + 1));
		}
		v[draw() % EVENT_BATCH] = 1000000000000000;
		assert_false(ways[w].u64(to, v, EVENT_BATCH));
	}
}

/* Returns the shortest text that gives the same number. */
static void shortest(char *to, size_t size, double v)
{
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(to, size, "%.*g", digits, v);
		if (memcmp(&(double){strtod(to, NULL)}, &v, sizeof v) == 0)
			break;
	}
	if (strchr(to, 'e')) /* 1e+05 is written out */
		snprintf(to, size, "%.0f", v);
}

static void test_real(void **unused)
{
	static const double edges[] = {0,	 0.01,	  0.5,	     0.99,    1,	9.9,
				       10,	 99.99,	  100.01,    9999.99, 99998.99, 99999,
				       99999.01, 99999.5, 123456.75, 1e5,     0.29,	1.005,
				       0.57,	 1.15,	  -3.5};
	struct spell_way ways[SPELL_WAYS];
	struct short_text to[EVENT_BATCH];
	double v[EVENT_BATCH];
	char want[64];

	(void)unused;
	for (size_t w = 0, n = spell_ways(ways); w < n; w++) {
		for (int round = 0; round < 2000; round++) {
			for (size_t k = 0; k < EVENT_BATCH; k++)
				v[k] = (double)some_whole(7) / 100.0;
			size_t edge = (size_t)round / 4;
			if (edge < sizeof edges / sizeof *edges)
				v[draw() % EVENT_BATCH] = edges[edge];
			size_t some = round % 2 ? EVENT_BATCH : draw() % (EVENT_BATCH + 1);
			assert_true(ways[w].f64(to, v, some));
			for (size_t i = 0; i < some; i++) {
				shortest(want, sizeof want, v[i]);
				check_text(&to[i], want);
			}
		}
		v[3] = 0.1 + 0.2; /* 17 digits */
		assert_false(ways[w].f64(to, v, EVENT_BATCH));
		static const struct {
			double v;
			const char *text;
		} others[] = {{-0.0, "-0"}, {NAN, "NaN"}, {INFINITY, "Infinity"}};
		for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
			v[3] = others[i].v;
			assert_true(ways[w].f64(to, v, EVENT_BATCH));
			check_text(&to[3], others[i].text);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole),
					   cmocka_unit_test(test_real)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
