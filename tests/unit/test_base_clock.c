/*
 * Tests waits of the clock, and functions that use such waits, while the test sets the wall clock.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdbool.h>

#include "clock.h"
#include "pool.h"
#include "tests/unit/clock_rig.h"

#define HOUR_MS 3600000

/* A wait ends neither too early nor too late. */
static void test_waits(void **state)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t never = PTHREAD_COND_INITIALIZER;

	(void)state;
	pthread_mutex_lock(&lock);
	static const int64_t waits[] = {0, 40, 500, 500}; /* over a full second */
	for (int i = 0; i < 4; i++) {
		int64_t start = clock_ms();

		wall_ahead_ms = i % 2 ? HOUR_MS : -HOUR_MS;
		clock_wait(&never, &lock, waits[i]);
		int64_t took = clock_ms() - start;
		assert_true(took >= waits[i] && took < waits[i] + 5000);
	}
	wall_ahead_ms = 0;
	pthread_mutex_unlock(&lock);
	int64_t start = clock_ms();
	clock_sleep_ms(20);
	assert_true(clock_ms() - start >= 20);
}

static void count(void *ctx)
{
	++*(atomic_int *)ctx;
}

/* The wall clock goes back an hour after the ticker computed its next tick. */
static void test_ticker(void **state)
{
	atomic_int ticks = 0;
	(void)state;
	wall_ahead_ms = HOUR_MS;
	struct ticker *t = ticker_start(10, count, &ticks);
	for (int i = 0; i < 1000 && ticks < 3; i++)
		clock_sleep_ms(5);
	wall_ahead_ms = 0;
	assert_true(ticks >= 3);
	ticker_stop(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_ticker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
