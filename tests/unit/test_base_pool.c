/* test_base_pool.c - tests that each task on threads runs once, failures by index, and helpers,
 * also under TSan */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include <cmocka.h>

#include "mem.h"
#include "pool.h"

#define TASKS 500

struct count {
	_Atomic unsigned runs[TASKS];
	size_t fails_from;
};

static int count_task(void *ctx, unsigned worker, size_t index, struct error *err)
{
	struct count *c = ctx;

	assert_true(worker < 4);
	c->runs[index]++;
	if (index >= c->fails_from)
		return error_set(err, RC_DATA, "task %zu", index);
	return RC_OK;
}

static void each_once(void **state)
{
	(void)state;
	for (unsigned threads = 0; threads <= 4; threads++) {
		struct count *c = mem_calloc(1, sizeof *c);
		struct error err;

		c->fails_from = TASKS;
		assert_int_equal(pool_run(threads, TASKS, count_task, c, &err), RC_OK);
		for (size_t i = 0; i < TASKS; i++)
			assert_int_equal(c->runs[i], 1);
		mem_free(c);
	}
}

static void lowest_failure(void **state)
{
	(void)state;
	for (unsigned threads = 1; threads <= 4; threads++) {
		struct count *c = mem_calloc(1, sizeof *c);
		struct error err;

		c->fails_from = 100;
		assert_int_equal(pool_run(threads, TASKS, count_task, c, &err), RC_DATA);
		assert_string_equal(err.msg, "task 100");
		assert_int_equal(c->runs[TASKS - 1], 0);
		mem_free(c);
	}
}

struct square {
	struct helper_task task;
	uint64_t in, out;
	unsigned runs;
};

static void run_square(struct helper_task *t)
{
	struct square *s = (struct square *)(void *)t;

	for (unsigned i = 0; i < 1000; i++)
		s->out = s->in * s->in;
	s->runs++;
}

struct band {
	struct helpers *helpers;
	unsigned owners;
	_Atomic unsigned left;
	bool hurry; /* wait for each task at once */
};

/* Owners keep at most 7 tasks in flight, and the other threads help. */
static int play(void *ctx, unsigned worker, size_t index, struct error *err)
{
	struct band *b = ctx;

	(void)worker;
	if (index >= b->owners) {
		helpers_serve(b->helpers);
		return RC_OK;
	}
	struct square ring[7] = {0};
	for (uint64_t n = 0; n < 300 + 7; n++) {
		struct square *s = &ring[n % 7];

		if (n >= 7) {
			helpers_wait(b->helpers, &s->task);
			if (!helpers_done(b->helpers, &s->task) || s->out != (n - 7) * (n - 7) ||
			    s->runs != 1)
				return error_set(err, RC_DATA, "square %llu",
						 (unsigned long long)n);
		}
		if (n >= 300)
			continue;
		*s = (struct square){.task = {.run = run_square}, .in = n};
		helpers_submit(b->helpers, &s->task);
		if (b->hurry)
			helpers_wait(b->helpers, &s->task);
	}
	if (--b->left == 0)
		helpers_close(b->helpers);
	return RC_OK;
}

static void helpers(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4 * 4 * 2; i++) {
		unsigned owners = 1 + i % 4, helpers = i / 4 % 4;
		struct band b = {helpers_new(), owners, owners, i / 16};
		struct error err = {0};
		int rc = pool_run(owners + helpers, owners + helpers, play, &b, &err);

		if (rc)
			fail_msg("%s", err.msg);
		assert_int_equal(helpers_count(b.helpers), 0);
		helpers_serve(b.helpers); /* the queue has ended, so the helper returns */
		helpers_free(b.helpers);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_once),
					   cmocka_unit_test(lowest_failure),
					   cmocka_unit_test(helpers)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
