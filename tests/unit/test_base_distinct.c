/* test_base_distinct.c - a set counts each hash once, and later calls count as calls at once do */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hash.h"

/* The hashes repeat, and 0 is one of them. */
static uint64_t hash_at(uint64_t i)
{
	return (i % 3001) * UINT64_C(0x9e3779b97f4a7c15);
}

static void test_counts(void **state)
{
	struct distinct now = {0}, later = {0};

	(void)state;
	for (uint64_t i = 0; i < 20000; i++) {
		assert_int_equal(distinct_add(&now, hash_at(i)), i < 3001);
		distinct_add_later(&later, hash_at(i));
	}
	distinct_settle(&later);
	distinct_settle(&later);
	assert_int_equal(now.n, 3001);
	assert_int_equal(later.n, 3001);
	distinct_release(&now);
	distinct_release(&later);
}

/* The last hash waits until the set settles. */
static void test_settles(void **state)
{
	struct distinct d = {0};

	(void)state;
	distinct_add_later(&d, 5);
	assert_int_equal(d.n, 0);
	distinct_settle(&d);
	assert_int_equal(d.n, 1);
	distinct_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_counts),
					   cmocka_unit_test(test_settles)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
