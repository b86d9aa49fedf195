/*
 * Compares the rate over the last minute with its definition.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "clock.h"

/* A steady count has its rate from the second reading on, at any interval of readings. */
static void test_steady(void **state)
{
	(void)state;
	for (int64_t every = 1; every <= 100000; every = every * 7 + 1) {
		struct meter m = {0};

		for (int64_t i = 0; i < 3000; i++) {
			double r = meter_rate(&m, 5 + i * every, (uint64_t)(i * every * 4));

			if (fabs(r - (i ? 4000 : 0)) > 1e-6)
				fail_msg("every %lld ms, look %lld: %g", (long long)every,
					 (long long)i, r);
		}
	}
}

/* A burst leaves the rate at the end of the window, within a sample or two. */
static void test_burst(void **state)
{
	(void)state;
	struct meter m = {0};
	for (int64_t ms = 0; ms < 200000; ms += 200) {
		double r = meter_rate(&m, ms, ms < 10000 ? 0 : 600);

		if (ms < 10000 || ms > 10000 + METER_WINDOW_MS + 2 * METER_SAMPLE_MS)
			assert_true(r == 0);
		else if (ms < METER_WINDOW_MS)
			assert_true(fabs(r - 600.0 * 1000 / (double)ms) < 1e-9);
		else if (ms < 10000 + METER_WINDOW_MS - METER_SAMPLE_MS)
			assert_true(r >= 9.8 && r <= 10);
	}
}

/* Tests a count of five minutes without a reading, and a count that decreases a little. */
static void test_gap(void **state)
{
	(void)state;
	struct meter m = {0};
	assert_true(meter_rate(&m, 1000, 0) == 0);
	assert_true(meter_rate(&m, 2000, 0) == 0);
	assert_true(fabs(meter_rate(&m, 302000, 300000) - 1000) < 4);
	assert_true(meter_rate(&m, 302500, 299000) >= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steady),
		cmocka_unit_test(test_burst),
		cmocka_unit_test(test_gap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
