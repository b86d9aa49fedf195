/*
 * test_sort_select.c - split points by weight, against all distinct keys one by one
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/sort_rig.h"

static uint64_t row_weight(const struct row *r)
{
	return weight_base + r->key_len + r->payload_len;
}

struct distinct {
	const struct row *row;
	uint64_t below;
};

static size_t distinct_keys(const struct row *v, size_t n, struct distinct *out, uint64_t *total)
{
	size_t count = 0;
	*total = 0;
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || compare_keys(&v[i - 1], &v[i]))
			out[count++] = (struct distinct){&v[i], *total};
		*total += row_weight(&v[i]);
	}
	return count;
}

static size_t nearest(const struct distinct *d, size_t n, uint64_t target)
{
	size_t best = 0;
	uint64_t best_gap = UINT64_MAX;
	for (size_t i = 0; i < n; i++) {
		uint64_t gap = d[i].below > target ? d[i].below - target : target - d[i].below;
		if (gap < best_gap) {
			best_gap = gap;
			best = i;
		}
	}
	return best;
}

static void expect_key(const struct buf *got, const struct row *want)
{
	assert_int_equal(got->len, want->key_len);
	assert_memory_equal(got->ptr, want->key, want->key_len);
}

static void expect_points(struct sorter *s, unsigned threads, const struct distinct *d, size_t nd,
			  const uint64_t *targets, size_t n)
{
	struct error err = {0};
	struct split_point *points = mem_calloc(n, sizeof(*points));
	if (sorter_select(s, threads, targets, n, points, &err))
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < n; i++) {
		size_t k = nearest(d, nd, targets[i]);
		if (nd > 0) {
			expect_key(&points[i].key, d[k].row);
			assert_true(points[i].weight_below == d[k].below);
		}
		if (nd > 0 && k > 0)
			expect_key(&points[i].below, d[k - 1].row);
		else
			assert_int_equal(points[i].below.len, 0);
		split_point_release(&points[i]);
	}
	mem_free(points);
}

static void check_select(const struct shape *shape, const struct setting *set)
{
	enum { TARGETS = 60 };
	struct rows rows;
	struct budget budget;
	rows_make(&rows, shape, 4);
	struct row *sorted = rows_sorted(&rows);
	struct distinct *d = mem_calloc(rows.n, sizeof(*d));
	uint64_t total, targets[TARGETS];
	size_t nd = distinct_keys(sorted, rows.n, d, &total);
	struct sorter *s = build(&rows, set, &budget);
	assert_true(sorter_totals(s).weight == total);
	for (size_t i = 0; i < TARGETS; i++)
		targets[i] = draw() % (total + total / 20 + 1);
	targets[0] = 0;
	targets[1] = total;
	if (nd > 2) { /* exactly on a boundary, and in the middle of two */
		targets[2] = d[nd / 2].below;
		targets[3] = (d[nd / 2].below + d[nd / 2 + 1].below) / 2;
	}
	expect_points(s, set->threads, d, nd, targets, TARGETS); /* close: merged */
	for (size_t i = 0; i < 5; i++)
		expect_points(s, set->threads, d, nd, targets + i, 1); /* apart: probed */
	drop(s, &budget);
	mem_free(d);
	mem_free(sorted);
	rows_release(&rows);
}

static void test_select(void **state)
{
	(void)state;
	each_shape(check_select);
}

/* Enough blocks for probes to close in. */
static void test_select_by_probes(void **state)
{
	(void)state;
	static const struct shape shape = {"large", key_fixed21, 0, 112000, 0};
	static const struct setting large[] = {{2, 1u << 30, 1u << 20}, {2, 1, 1u << 20}};
	for (size_t k = 0; k < 2; k++)
		check_select(&shape, &large[k]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_select),
		cmocka_unit_test(test_select_by_probes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
