/*
 * test_sort_rank.c - compares split points by weight with a check of all distinct keys one by one
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/sort_rig.h"

/*
 * The oracle takes most of the time and uses one thread, so ThreadSanitizer skips it.
 */
#define ONE_THREAD __attribute__((no_sanitize("thread")))
#ifdef __SANITIZE_THREAD__ /* the threads do the same for each target */
enum { TARGETS = 12, ONE_BY_ONE = 1, CHOICES_STEP = 3 };
#elif defined(__SANITIZE_ADDRESS__) /* the release runs the test too */
enum { TARGETS = 20, ONE_BY_ONE = 2, CHOICES_STEP = 1 };
#else
enum { TARGETS = 60, ONE_BY_ONE = 5, CHOICES_STEP = 1 };
#endif

ONE_THREAD static uint64_t row_weight(const struct row *r)
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

ONE_THREAD static uint64_t gap(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

ONE_THREAD static size_t nearest(const struct distinct *d, size_t n, uint64_t target)
{
	size_t best = 0;

	for (size_t i = 1; i < n; i++)
		if (gap(d[i].below, target) < gap(d[best].below, target))
			best = i;
	return best;
}

/* Any depth is valid. This function computes a number below 7 from the bytes of both keys. */
ONE_THREAD static unsigned depth_of(const void *ctx, struct bytes below, struct bytes key)
{
	assert_true(bytes_cmp(below, key) < 0);
	unsigned sum = *(const unsigned *)ctx;
	for (size_t i = 0; i < below.len; i++)
		sum = sum * 31 + below.ptr[i];
	for (size_t i = 0; i < key.len; i++)
		sum = sum * 31 + key.ptr[i];
	return sum % 7;
}

/* Applies the rules of split_choice to each candidate. */
ONE_THREAD static size_t best_place(const struct distinct *d, size_t n, uint64_t target,
				    const struct split_choice *c)
{
	size_t best = n;
	unsigned least = 0;

	for (size_t i = 0; i < n && c; i++) {
		if (gap(d[i].below, target) > c->slack)
			continue;
		unsigned depth = 0;
		if (i > 0 && c->depth)
			depth = c->depth(c->ctx, bytes_of(d[i - 1].row->key, d[i - 1].row->key_len),
					 bytes_of(d[i].row->key, d[i].row->key_len));
		if (best == n || depth < least ||
		    (depth == least && gap(d[i].below, target) < gap(d[best].below, target))) {
			best = i;
			least = depth;
		}
	}
	return best < n ? best : nearest(d, n, target);
}

static void expect_key(const struct buf *got, const struct row *want)
{
	assert_int_equal(got->len, want->key_len);
	assert_memory_equal(got->ptr, want->key, want->key_len);
}

static void expect_points(struct sorter *s, unsigned threads, const struct distinct *d, size_t nd,
			  const uint64_t *targets, size_t n, const struct split_choice *choice)
{
	struct error err = {0};
	struct split_point *points = mem_calloc(n, sizeof *points);

	if (sorter_select(s, threads, targets, n, choice, points, &err))
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < n; i++) {
		size_t k = best_place(d, nd, targets[i], choice);

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

/* Checks the weight below existing keys, and below the absent keys just after them. */
static void expect_weights(struct sorter *s, const struct distinct *d, size_t nd, uint64_t total)
{
	struct key_weights w = sorter_weights(s);

	assert_true(w.total == total);
	for (size_t i = 0; i < nd; i += 1 + nd / 50)
		for (int behind = 0; behind < 2; behind++) {
			uint64_t want = !behind ? d[i].below : i + 1 < nd ? d[i + 1].below : total;
			uint64_t least, most;
			struct error err;
			struct buf key = {0};

			buf_append(&key, d[i].row->key, d[i].row->key_len);
			if (behind)
				buf_put(&key, 0);
			assert_int_equal(w.below(s, buf_bytes(&key), false, &least, &most, &err),
					 RC_OK);
			assert_true(least <= want && want <= most);
			assert_int_equal(w.below(s, buf_bytes(&key), true, &least, &most, &err),
					 RC_OK);
			assert_true(least == most);
			assert_true(least == want);
			buf_release(&key);
		}
}

static void check_select(const struct shape *shape, const struct setting *set)
{
	struct rows rows;
	struct budget budget;
	rows_make(&rows, shape, 4);
	struct row *sorted = rows_sorted(&rows);
	struct distinct *d = mem_calloc(rows.n, sizeof *d);
	uint64_t total, targets[TARGETS];
	size_t nd = distinct_keys(sorted, rows.n, d, &total);
	struct sorter *s = build(&rows, set, &budget);
	assert_true(sorter_totals(s).weight == total);
	for (size_t i = 0; i < TARGETS; i++)
		targets[i] = draw() % (total + total / 20 + 1);
	targets[0] = 0;
	targets[1] = total;
	if (nd > 2) { /* exactly on a boundary, and halfway between two */
		targets[2] = d[nd / 2].below;
		targets[3] = (d[nd / 2].below + d[nd / 2 + 1].below) / 2;
	}
	const unsigned salt = (unsigned)draw();
	const struct split_choice choices[] = {
		{.slack = total / 200, .depth = depth_of, .ctx = &salt},
		{.slack = total / 10, .depth = depth_of, .ctx = &salt},
		{.slack = total, .depth = depth_of, .ctx = &salt},
		{.slack = total / 50},
		{.depth = depth_of, .ctx = &salt},
	};
	for (size_t c = 0; c <= sizeof choices / sizeof choices[0]; c += CHOICES_STEP) {
		const struct split_choice *choice = c ? &choices[c - 1] : NULL;
		size_t n = nd > 5000 && choice ? 8 : TARGETS; /* the oracle is slow */

		expect_points(s, set->threads, d, nd, targets, n, choice); /* merged */
		for (size_t i = 0; i < ONE_BY_ONE; i++) /* one target at a time: probed */
			expect_points(s, set->threads, d, nd, targets + i, 1, choice);
	}
	expect_weights(s, d, nd, total);
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

/* Enough blocks for several probes. */
static void test_select_by_probes(void **state)
{
	(void)state;
	static const struct shape shape = {"large", key_fixed21, 0, 112000, 0};
	static const struct setting large[] = {{2, 1u << 30, 1u << 20}, {2, 1, 1u << 20}};
	for (size_t k = 0; k < 2; k++)
		check_select(&shape, &large[k]);
}

static size_t key_two(uint8_t *key)
{
	memset(key, 'k', 21);
	key[20] = (uint8_t)(draw() % 8 / 7);
	return 21;
}

/* Each row fills many blocks. */
static void test_select_in_heavy_rows(void **state)
{
	(void)state;
	static const struct shape heavy[] = {{"few keys", key_few, 0, 25000, 0},
					     {"two keys", key_two, 0, 25000, 0},
					     {"all equal", key_all_equal, 0, 25000, 0}};
	for (size_t k = 0; k < sizeof heavy / sizeof heavy[0]; k++)
		for (size_t c = 0; c < sizeof settings / sizeof settings[0]; c++)
			if (settings[c].threads >= THREADS_LEAST)
				check_select(&heavy[k], &settings[c]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_select),
		cmocka_unit_test(test_select_by_probes),
		cmocka_unit_test(test_select_in_heavy_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
