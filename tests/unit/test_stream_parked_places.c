/* test_stream_parked_places.c - tests which errors park a partition, and the delays of retries */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pipeline/stream/loads/parked_places.h"

/* Errors of the events park a partition. Errors of the job, the disk or the broker concern all. */
static void test_codes(void **state)
{
	static const int parks[] = {RC_DATA, RC_ORDER, RC_LIMIT};
	static const int ends[] = {RC_OK, RC_IO, RC_CONFIG, RC_BUSY, RC_STOPPED};

	(void)state;
	for (size_t i = 0; i < sizeof parks / sizeof *parks; i++)
		assert_true(parking_is_for(parks[i]));
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		assert_false(parking_is_for(ends[i]));
}

/* One minute, then twice as long each time, but ten minutes at most. */
static void test_delays(void **state)
{
	static const int64_t minutes[] = {1, 2, 4, 8, 10, 10};
	int64_t last = 0;

	(void)state;
	for (size_t i = 0; i < sizeof minutes / sizeof *minutes; i++) {
		last = parked_delay(last);
		assert_int_equal(last, minutes[i] * 60000);
	}
}

/* Each parked partition has one place, until it continues. */
static void test_places(void **state)
{
	static const struct offset_range at[] = {{.topic = "a", .partition = 0},
						 {.topic = "a", .partition = 1},
						 {.topic = "b", .partition = 0}};
	static const int64_t delays[] = {1, 2, 4};
	const struct listener nobody = {.hear = NULL};
	struct parked_places p = {0};

	(void)state;
	for (size_t i = 0; i < 3; i++)
		for (size_t again = 0; again <= i; again++)
			parked_put(&p, &at[i], &nobody, "why");
	assert_int_equal(p.n, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_non_null(parked_find(&p, &at[i]));
		assert_int_equal(parked_find(&p, &at[i])->delay_ms, delays[i] * 60000);
	}
	parked_end(&p, &at[0], &nobody);
	assert_int_equal(p.n, 2);
	assert_null(parked_find(&p, &at[0]));
	assert_true(parked_find(&p, &at[1]) && parked_find(&p, &at[2]));
	parked_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_codes),
		cmocka_unit_test(test_delays),
		cmocka_unit_test(test_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
