/*
 * Tests when a stream's cut is due, and which offsets the cut has
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "stream.h"
#include "tests/unit/clock_rig.h"

/* Each partition gives its share of the cut, rounded up: 40 offsets wait, and a load takes 10. */
static void test_shares(void **state)
{
	static const struct offset_range all[] = {{.partition = 0, .start = 0, .end = 30},
						  {.partition = 1, .start = 100, .end = 109},
						  {.partition = 2, .start = 7, .end = 7},
						  {.partition = 3, .start = 50, .end = 51}};
	static const int64_t ends[] = {8, 103, 7, 51};
	struct offset_range ranges[4];
	struct job job = {.kafka = {.roll_rows = 10}};
	const struct stream_options opt = {.behind = NULL};
	struct stream s = {
		.opt = &opt,
		.in = {.job = &job, .ranges = ranges, .nranges = 4, .available = 40},
	};

	(void)state;
	memcpy(ranges, all, sizeof all);
	assert_true(stream_is_due(&s));
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(ranges[i].start, all[i].start);
		assert_int_equal(ranges[i].end, ends[i]);
	}
	assert_int_equal(s.in.available, 8 + 3 + 1);
}

/* Fewer offsets than a load takes are due after roll.time, and the cut has all of them. */
static void test_all(void **state)
{
	struct offset_range one = {.partition = 0, .start = 3, .end = 12};
	struct job job = {.kafka = {.roll_rows = 10, .roll_s = 5}};
	const struct stream_options opt = {.behind = NULL};
	struct stream s = {
		.opt = &opt,
		.in = {.job = &job, .ranges = &one, .nranges = 1, .available = 9},
	};

	(void)state;
	assert_false(stream_is_due(&s));
	steady_ahead_ms += 5000;
	assert_true(stream_is_due(&s));
	assert_int_equal(one.end, 12);
	assert_int_equal(s.in.available, 9);
	steady_ahead_ms = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
