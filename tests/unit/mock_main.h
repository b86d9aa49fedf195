/*
 * mock_main.h - the end of a test on librdkafka's mock cluster
 *
 * Include it after cmocka.h.
 */
#ifndef SALTMILL_TEST_MOCK_MAIN_H
#define SALTMILL_TEST_MOCK_MAIN_H

#include <stdbool.h>

#ifdef __SANITIZE_THREAD__
#define SKIP_ALL true
#else
#define SKIP_ALL false
#endif

/* librdkafka starts its threads with C11's thrd_create, which ThreadSanitizer does not know. */
static void skip_under_tsan(void **state)
{
	(void)state;
	print_message("librdkafka's threads do not run under ThreadSanitizer\n");
	skip();
}

static const struct CMUnitTest only_skip[] = {cmocka_unit_test(skip_under_tsan)};

#define RUN_ON_MOCK(tests)                                                                         \
	(SKIP_ALL ? cmocka_run_group_tests(only_skip, NULL, NULL)                                  \
		  : cmocka_run_group_tests(tests, NULL, NULL))

#endif
