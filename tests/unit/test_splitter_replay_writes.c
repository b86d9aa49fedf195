/* test_splitter_replay_writes.c - compares the replay of writes with known shares */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mem.h"
#include "plan.h"

static uint32_t *regions_of(size_t n, uint32_t (*of)(size_t i, size_t n))
{
	uint32_t *r = mem_calloc(n + 1, sizeof *r);

	for (size_t i = 0; i < n; i++)
		r[i] = of(i, n);
	return r;
}

static uint32_t in_turn(size_t i, size_t n)
{
	(void)n;
	return (uint32_t)(i % 16);
}

static uint32_t rising(size_t i, size_t n)
{
	return (uint32_t)(i * 16 / n);
}

static uint32_t last_one(size_t i, size_t n)
{
	(void)i, (void)n;
	return 15;
}

/* Every region gets the same share of every window. */
static void test_even(void **state)
{
	const struct replay_options o = {.regions = 16, .servers = 8, .window = 1600};
	uint32_t *region = regions_of(16000, in_turn);
	struct write_replay r;

	(void)state;
	replay_make(&r, region, 16000, &o);
	assert_int_equal(r.windows, 10);
	assert_true(r.region.mean == 1.0 / 16 && r.region.p99 == 1.0 / 16);
	assert_true(r.server.mean == 1.0 / 8);
	assert_true(r.written == 16);
	assert_true(r.grown == 1);
	for (size_t i = 0; i < 8; i++)
		assert_true(r.server_share[i] == 1.0 / 8);
	replay_release(&r);
	mem_free(region);
}

/* All regions get the same sum, but each window writes one region. */
static void test_one_region_at_a_time(void **state)
{
	const struct replay_options o = {.regions = 16, .servers = 8, .window = 1000};
	uint32_t *region = regions_of(16000, rising);
	struct write_replay r;

	(void)state;
	replay_make(&r, region, 16000, &o);
	assert_int_equal(r.windows, 16);
	assert_true(r.region.mean == 1 && r.server.mean == 1);
	assert_true(r.written == 1);
	assert_true(r.server_share[3] == 1.0 / 8);
	assert_int_equal(r.counts[5 * 16 + 5], 1000);
	replay_release(&r);
	mem_free(region);
}

/* The last region grows to (100 + 800) rows, and the mean is (1600 + 800) / 16. */
static void test_growth(void **state)
{
	uint64_t before[16];
	const struct replay_options o = {.regions = 16, .servers = 3, .before = before};
	uint32_t *region = regions_of(800, last_one);
	struct write_replay r;

	(void)state;
	for (size_t i = 0; i < 16; i++)
		before[i] = 100;
	replay_make(&r, region, 800, &o);
	assert_true(r.grown == 900 / 150.0);
	assert_int_equal(r.region.which, 15);
	assert_int_equal(r.server.which, 0);
	assert_int_equal(r.window, 160); /* a fifth of the events */
	replay_release(&r);
	mem_free(region);
}

static void test_nothing(void **state)
{
	const struct replay_options o = {.regions = 2, .servers = 2};
	struct write_replay r;

	(void)state;
	replay_make(&r, NULL, 0, &o);
	assert_int_equal(r.windows, 0);
	assert_true(r.server.mean == 0);
	replay_release(&r);
	uint32_t one = 1;
	replay_make(&r, &one, 1, &o);
	assert_int_equal(r.windows, 1);
	assert_true(r.region.mean == 1 && r.server_share[1] == 1);
	replay_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_even),
					   cmocka_unit_test(test_one_region_at_a_time),
					   cmocka_unit_test(test_growth),
					   cmocka_unit_test(test_nothing)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
