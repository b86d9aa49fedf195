/* test_stream_room.c - tests the wait for room on a full disk */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "clock.h"
#include "pipeline/stream/loads/room.h"

static void hear(void *ctx, const char *text)
{
	(void)text;
	++*(int *)ctx;
}

/* The wait between two retries is 10 s. A shorter patience ends it. */
static void test_short_patience(void **state)
{
	const struct job job = {.kafka.patience_s = 1};
	int heard = 0;
	const struct listener listener = {hear, &heard};
	struct error err;
	double since = 0, begun = clock_seconds();

	(void)state;
	error_set(&err, RC_IO, "cannot write x: %s", strerror(ENOSPC));
	assert_true(room_is_missing(RC_IO, &err));
	assert_int_equal(room_wait(&since, &job, DURATION_FOREVER, &listener, &err), RC_OK);
	double took = clock_seconds() - begun;
	assert_true(took >= 1 && took < 8);
	clock_sleep_ms(50); /* as the last retry */
	assert_int_equal(room_wait(&since, &job, DURATION_FOREVER, &listener, &err), RC_IO);
	assert_int_equal(heard, 1);
}

/* Only a wait that began has an end, and only the first call ends it. */
static void test_end(void **state)
{
	int heard = 0;
	const struct listener listener = {hear, &heard};
	double since = 0;

	(void)state;
	room_end(&since, &listener);
	assert_int_equal(heard, 0);
	since = 5;
	room_end(&since, &listener);
	room_end(&since, &listener);
	assert_int_equal(heard, 1);
}

static void test_what_is_missing_room(void **state)
{
	static const int missing[] = {ENOSPC, EDQUOT}, other[] = {EIO, EROFS};
	struct error err;

	(void)state;
	for (int i = 0; i < 2; i++) {
		error_set(&err, RC_IO, "cannot write x: %s", strerror(missing[i]));
		assert_true(room_is_missing(RC_IO, &err));
		assert_false(room_is_missing(RC_DATA, &err));
		error_set(&err, RC_IO, "cannot write x: %s", strerror(other[i]));
		assert_false(room_is_missing(RC_IO, &err));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_short_patience),
					   cmocka_unit_test(test_end),
					   cmocka_unit_test(test_what_is_missing_room)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
