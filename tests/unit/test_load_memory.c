/* Tests the shares of --memory. The memory that a run uses at one time always fits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pass.h"

#define COUNT(a) (sizeof a / sizeof((a)[0]))
#define MIB	 (UINT64_C(1) << 20)
#define KIB	 (UINT64_C(1) << 10)

static const uint64_t limits[] = {16 * MIB,  17 * MIB,	23 * MIB,  32 * MIB,   64 * MIB,
				  100 * MIB, 128 * MIB, 256 * MIB, 1024 * MIB, 6000 * MIB};
static const unsigned threads[] = {1, 2, 3, 4, 8, 16, 61, 256};
static const size_t tables[] = {1, 2, 3, 7, 16, 64, 65, 200, 1000};

static void each_need(void (*check)(const struct memory_need *, const struct memory_plan *))
{
	for (size_t l = 0; l < COUNT(limits); l++)
		for (size_t t = 0; t < COUNT(threads); t++)
			for (size_t k = 0; k < COUNT(tables); k++)
				for (int way = 0; way < 4; way++) {
					struct memory_need n = {limits[l], threads[t], tables[k],
								way & 1, way & 2};
					struct memory_plan m = memory_plan_make(&n);

					check(&n, &m);
				}
}

static void check_reading(const struct memory_need *n, const struct memory_plan *m)
{
	/* each thread has a buffer, and as much memory again to sort the buffer */
	uint64_t builders = m->threads * n->tables;
	uint64_t sum = m->topic_bytes + m->pieces_bytes + 2 * builders * m->run_bytes;

	assert_true(m->threads >= 1 && m->threads <= n->threads);
	assert_true(m->pieces_bytes >= m->threads * m->piece_bytes);
	assert_true(sum <= n->limit);
	/* runs are useful, because a run of a few records costs more to merge than to write */
	assert_true(m->piece_bytes >= 64 * KIB && m->run_bytes >= 4 * KIB);
	assert_true(m->threads == 1 || m->run_bytes >= 64 * KIB);
	assert_true(m->large_bytes >= 64 * KIB && m->large_bytes <= n->limit / 16);
	assert_true(!n->topic == !m->topic_bytes);
}

static void test_reading_fits(void **state)
{
	(void)state;
	each_need(check_reading);
}

/* Writers of each size use at most 3/4 together with the client's memory, but there is always one.
 */
static void check_writing(const struct memory_need *n, const struct memory_plan *m)
{
	static const uint64_t sizes[] = {0, 1, 3 * MIB, 11 * MIB, 40 * MIB, 5000 * MIB};

	for (size_t i = 0; i < COUNT(sizes); i++) {
		uint64_t count = memory_writers(m, sizes[i]);

		assert_true(count >= 1 && count <= m->threads);
		assert_true(count == 1 || count * sizes[i] + m->topic_bytes <= n->limit);
	}
	for (size_t families = 1; families <= 16; families *= 2) {
		uint64_t buffer = memory_file_buffer(m, families);

		assert_true(buffer >= 64 * KIB && buffer <= 256 * KIB);
		/* above the minimum, the buffers of all threads take a small part */
		assert_true(buffer == 64 * KIB || buffer * families * m->threads <= n->limit / 16);
	}
	/* buffers double, so a row takes up to twice its gathered size */
	assert_true(2 * m->gather_bytes * m->threads <= n->limit / 4);
}

static void test_writing_fits(void **state)
{
	(void)state;
	each_need(check_writing);
}

/* More memory or more threads never give smaller shares. */
static void test_more_is_more(void **state)
{
	(void)state;
	for (size_t l = 0; l + 1 < COUNT(limits); l++)
		for (size_t t = 0; t + 1 < COUNT(threads); t++) {
			struct memory_need n = {.limit = limits[l],
						.threads = threads[t],
						.tables = 2};
			struct memory_plan less = memory_plan_make(&n), more;

			n.limit = limits[l + 1];
			more = memory_plan_make(&n);
			assert_true(more.threads >= less.threads);
			assert_true(more.threads * more.run_bytes >= less.threads * less.run_bytes);
			n.limit = limits[l];
			n.threads = threads[t + 1];
			more = memory_plan_make(&n);
			assert_true(more.threads >= less.threads);
		}
}

/* Even pieces have the same size on any machine. */
static void test_even_pieces(void **state)
{
	(void)state;
	for (size_t l = 0; l < COUNT(limits); l++)
		for (size_t t = 0; t < COUNT(threads); t++) {
			struct memory_need n = {.limit = limits[l],
						.threads = threads[t],
						.tables = 1,
						.even_pieces = true};

			assert_int_equal(memory_plan_make(&n).piece_bytes, MIB);
		}
}

/* With much memory, each share has its best size, which we computed by hand. */
static void test_figures(void **state)
{
	static const struct {
		uint64_t limit;
		unsigned asked, threads;
		size_t tables, piece, run;
		uint64_t gather;
	} cases[] = {
		{16 * MIB, 2, 2, 1, 512 * KIB, 2 * MIB, 512 * KIB},
		{16 * MIB, 16, 4, 1, 256 * KIB, MIB, 256 * KIB},
		{16 * MIB, 16, 1, 64, MIB, 64 * KIB, MIB},
		{64 * MIB, 4, 4, 2, MIB, 2 * MIB, MIB},
		{1024 * MIB, 2, 2, 1, MIB, 8 * MIB, 32 * MIB},
		{1024 * MIB, 16, 16, 4, MIB, 4 * MIB, 4 * MIB},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct memory_need n = {.limit = cases[i].limit,
					.threads = cases[i].asked,
					.tables = cases[i].tables};
		struct memory_plan m = memory_plan_make(&n);

		assert_int_equal(m.threads, cases[i].threads);
		assert_int_equal(m.piece_bytes, cases[i].piece);
		assert_int_equal(m.run_bytes, cases[i].run);
		assert_int_equal(m.gather_bytes, cases[i].gather);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reading_fits), cmocka_unit_test(test_writing_fits),
		cmocka_unit_test(test_more_is_more), cmocka_unit_test(test_even_pieces),
		cmocka_unit_test(test_figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
