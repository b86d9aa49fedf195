/* test_base_mem.c - tests growing lists, arena copies, and sizes that overflow */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "mem.h"

#define MOST 3000

static void test_a_list_keeps_its_elements(void **state)
{
	(void)state;
	struct arena a = {0};
	uint64_t *list = NULL, *kept = NULL;
	for (size_t n = 0; n < MOST; n++) {
		list = mem_grow(list, n, sizeof *list);
		kept = arena_grow(&a, kept, n, sizeof *kept);
		list[n] = kept[n] = n * n;
	}
	for (size_t n = 0; n < MOST; n++)
		assert_true(list[n] == n * n && kept[n] == n * n);
	/* shorter, then longer again */
	for (size_t n = 700; n < MOST; n++) {
		list = mem_grow(list, n, sizeof *list);
		list[n] = n;
	}
	for (size_t n = 0; n < MOST; n++)
		assert_true(list[n] == (n < 700 ? n * n : n));
	mem_free(list);
	arena_release(&a);
}

static void test_reserve_counts_its_room(void **state)
{
	(void)state;
	size_t cap = 0, moves = 0;
	uint32_t *list = NULL;
	for (size_t n = 0; n < MOST; n++) {
		size_t before = cap;

		list = n % 2 ? mem_try_reserve(list, &cap, n + 1, sizeof *list)
			     : mem_reserve(list, &cap, n + 1, sizeof *list);
		assert_true(cap > n && cap >= before);
		moves += cap != before;
		list[n] = (uint32_t)n;
	}
	for (size_t n = 0; n < MOST; n++)
		assert_int_equal(list[n], n);
	assert_true(moves < 12);
	list = mem_reserve(list, &cap, 100000, sizeof *list);
	assert_int_equal(cap, 100000);
	assert_int_equal(list[MOST - 1], MOST - 1);
	mem_free(list);
}

/* Sanitizers end the process for such sizes by default. */
const char *__asan_default_options(void);
const char *__tsan_default_options(void);

const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

const char *__tsan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static void test_sizes_that_overflow(void **state)
{
	(void)state;
	size_t cap = 0;
	assert_null(mem_try_reserve(NULL, &cap, SIZE_MAX / 4, 8));
	assert_null(mem_try_reserve(NULL, &cap, SIZE_MAX, 1));
	assert_int_equal(cap, 0);
	for (int i = 0; i < 2; i++) {
		pid_t child = fork();

		if (child == 0) {
			fclose(stderr);
			if (i == 0)
				mem_reserve(NULL, &cap, SIZE_MAX / 4, 8);
			else
				mem_grow(NULL, (size_t)1 << 61, 8);
			_exit(0);
		}
		int status;
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	}
}

static void test_copies_end_in_nul(void **state)
{
	(void)state;
	struct arena a = {0};
	const struct bytes none = {0};
	struct bytes b = arena_bytes(&a, bytes_of("a\0bcd", 4));
	assert_true(b.len == 4 && memcmp(b.ptr, "a\0bc", 5) == 0);
	b = arena_bytes(&a, none);
	assert_true(b.len == 0 && *b.ptr == 0);
	assert_string_equal(arena_format(&a, "%s/%d", "dir", 7), "dir/7");
	char *text = arena_format(&a, "%050000d", 7); /* longer than a block */
	assert_true(strlen(text) == 50000 && text[49999] == '7');
	arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_list_keeps_its_elements),
		cmocka_unit_test(test_reserve_counts_its_room),
		cmocka_unit_test(test_sizes_that_overflow),
		cmocka_unit_test(test_copies_end_in_nul),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
