/*
 * test_sort_merge.c - compares merged runs, whole and by ranges, with qsort, over shapes of keys,
 * budgets and threads
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/sort_rig.h"

/* ---- sort = qsort ---- */

static void check_sorted(const struct shape *shape, const struct setting *set)
{
	struct rows rows;
	struct budget budget;

	rows_make(&rows, shape, 1);
	struct row *want = rows_sorted(&rows);
	struct sorter *s = build(&rows, set, &budget);
	struct sorter_totals t = sorter_totals(s);
	assert_int_equal(t.records, rows.n);
	assert_true(set->budget > 1 || t.spilled_runs == t.runs);
	assert_true(set->budget < (1u << 30) || t.spilled_bytes == 0);
	expect_range(s, bytes_of(NULL, 0), bytes_of(NULL, 0), want, 0, rows.n,
		     rows.secondary_bytes);
	drop(s, &budget);
	mem_free(want);
	rows_release(&rows);
}

static void test_sort_is_qsort(void **state)
{
	(void)state;
	each_shape(check_sorted);
}

/* ---- ranges [lo, hi) for present and absent keys ---- */

static size_t lower_bound(const struct row *v, size_t n, struct bytes key)
{
	size_t i = 0;

	while (i < n && bytes_cmp(bytes_of(v[i].key, v[i].key_len), key) < 0)
		i++;
	return i;
}

static void check_ranges(const struct shape *shape, const struct setting *set)
{
	enum { CUTS = 6 };
	static uint8_t cut[CUTS + 2][ROW_KEY_MAX];
	struct bytes cuts[CUTS + 2] = {{0}};
	struct rows rows;
	struct budget budget;
	rows_make(&rows, shape, 2);
	struct row *want = rows_sorted(&rows);
	struct sorter *s = build(&rows, set, &budget);
	for (size_t i = 1; i <= CUTS && rows.n; i++) { /* ascending keys, of rows or random */
		const struct row *r = &want[rows.n * i / (CUTS + 1)];
		size_t len = r->key_len;
		memcpy(cut[i], r->key, len);
		if (i % 2 == 0)
			len = shape->key(cut[i]);
		cuts[i] = bytes_of(cut[i], len);
	}
	for (size_t i = 0; i <= CUTS; i++) {
		size_t from = i ? lower_bound(want, rows.n, cuts[i]) : 0;
		size_t to = i < CUTS ? lower_bound(want, rows.n, cuts[i + 1]) : rows.n;

		expect_range(s, cuts[i], cuts[i + 1], want, from, to < from ? from : to,
			     rows.secondary_bytes);
	}
	drop(s, &budget);
	mem_free(want);
	rows_release(&rows);
}

static void test_ranges(void **state)
{
	(void)state;
	each_shape(check_ranges);
}

struct counting {
	struct sorter *s;
	const struct row *want;
	size_t n;
};

static int walk_all(void *ctx, unsigned worker, size_t index, struct error *err)
{
	struct counting *c = ctx;
	struct record_iter it;
	struct record r;

	(void)worker;
	(void)index;
	int rc = sorter_range(c->s, bytes_of(NULL, 0), bytes_of(NULL, 0), &it, err);
	if (rc)
		return rc;
	for (size_t i = 0; (rc = it.next(it.self, &r, err)) == RC_OK; i++)
		if (i >= c->n || r.seq != c->want[i].seq)
			rc = error_set(err, RC_ORDER, "record %zu is not the expected one", i);
	it.close(it.self);
	return rc == RC_END ? RC_OK : rc;
}

static void test_ranges_from_several_threads(void **state)
{
	(void)state;
	struct rows rows;
	struct budget budget;
	struct error err = {0};
	rows_make(&rows, &shapes[SHAPE_MINORS], 3);
	struct row *want = rows_sorted(&rows);
	struct counting c = {build(&rows, &settings[3], &budget), want, rows.n};
	if (pool_run(3, 6, walk_all, &c, &err))
		fail_msg("%s", err.msg);
	drop(c.s, &budget);
	mem_free(want);
	rows_release(&rows);
}

/* ---- seqs with different high halves ---- */

static void test_seq_of_64_bits(void **state)
{
	(void)state;
	struct rows rows;
	for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
		struct budget budget;

		rows_make(&rows, &shapes[SHAPE_FEW_KEYS], 5);
		for (size_t i = 0; i < rows.n; i++)
			rows.v[i].seq += (uint64_t)(i / 300) << (i % 2 ? 32 : 31);
		struct row *want = rows_sorted(&rows);
		struct sorter *s = build(&rows, &settings[k], &budget);
		expect_range(s, bytes_of(NULL, 0), bytes_of(NULL, 0), want, 0, rows.n, 0);
		drop(s, &budget);
		mem_free(want);
		rows_release(&rows);
	}
}

/* ---- merge passes ---- */

static void test_merge_passes(void **state)
{
	(void)state;
	struct rows rows;
	struct budget budget;
	static const struct setting tiny = {2, 1, 3000};
	rows_make(&rows, &shapes[SHAPE_MINORS], 6);
	struct row *want = rows_sorted(&rows);
	struct sorter *s = build(&rows, &tiny, &budget);
	struct sorter_totals t = sorter_totals(s);
	/* Without a budget the merge uses the smallest fan-in, 8. One pass writes each byte at most
	 * once, so this merge took several passes. */
	assert_in_range(t.spilled_runs, 1, 8);
	assert_true(t.spilled_bytes > 2 * t.run_bytes);
	expect_range(s, bytes_of(NULL, 0), bytes_of(NULL, 0), want, 0, rows.n, 8);
	drop(s, &budget);
	mem_free(want);
	rows_release(&rows);
}

/* ---- runs that a builder merges in memory ---- */

enum { MANY_ROWS = 100000, MANY_PAYLOAD = 200 };

/* An odd factor maps the numbers to distinct keys, in another order. */
static uint64_t many_key(uint64_t i)
{
	return __builtin_bswap64(i * 0x9e3779b97f4a7c15u);
}

static int add_many(struct sorter *s, struct error *err)
{
	struct run_builder *b = sorter_builder(s, 0);
	uint8_t payload[MANY_PAYLOAD + RECORD_ROOM_BYTES] = {0};
	int rc = RC_OK;

	for (uint64_t i = 0; i < MANY_ROWS && rc == RC_OK; i++) {
		uint64_t key = many_key(i);

		memcpy(payload + i % 100, &i, sizeof i);
		rc = run_builder_add(b,
				     &(struct record){.key = bytes_of(&key, sizeof key),
						      .seq = i,
						      .payload = bytes_of(payload, MANY_PAYLOAD)},
				     err);
	}
	return rc;
}

static void test_runs_merged_before_they_spill(void **state)
{
	(void)state;
	struct error err = {0};
	struct budget budget = {.limit = 8u << 20};
	struct sorter_options opt = {.budget = &budget,
				     .temp_dir = "/tmp",
				     .threads = 1,
				     .run_bytes = 64 << 10};
	struct sorter *s = sorter_new(&opt);
	struct record_iter it;
	struct record r;
	uint8_t last[8] = {0}, *seen = mem_calloc(MANY_ROWS, 1);
	uint64_t n = 0;

	assert_int_equal(add_many(s, &err), RC_OK);
	uint64_t most = atomic_load(&budget.used);
	assert_true(most < budget.limit + (1u << 20));
	assert_int_equal(sorter_finish(s, &err), RC_OK);
	struct sorter_totals t = sorter_totals(s);
	/* the input fills 330 buffers, and each row goes to disk at most once */
	assert_in_range(t.runs, 64, 250);
	assert_true(t.spilled_bytes <= t.run_bytes);
	assert_int_equal(sorter_range(s, bytes_of(NULL, 0), bytes_of(NULL, 0), &it, &err), RC_OK);
	for (; it.next(it.self, &r, &err) == RC_OK; n++) {
		uint64_t key = many_key(r.seq);

		assert_int_equal(r.key.len, sizeof key);
		assert_memory_equal(r.key.ptr, &key, sizeof key);
		assert_true(n == 0 || memcmp(last, r.key.ptr, sizeof last) < 0);
		assert_int_equal(r.payload.len, MANY_PAYLOAD);
		assert_memory_equal(r.payload.ptr + r.seq % 100, &r.seq, sizeof r.seq);
		assert_int_equal(seen[r.seq]++, 0);
		memcpy(last, r.key.ptr, sizeof last);
	}
	assert_int_equal(n, MANY_ROWS);
	it.close(it.self);
	drop(s, &budget);
	mem_free(seen);
}

/* The quota has room for the 64 runs before the first merge, but not for the merged run. */
static void test_no_room_for_a_merged_run(void **state)
{
	(void)state;
	struct error err = {0};
	struct budget budget = {.limit = 8u << 20}, quota = {.limit = 7u << 20};
	struct sorter_options opt = {.budget = &budget,
				     .temp_dir = "/tmp",
				     .threads = 1,
				     .run_bytes = 64 << 10,
				     .quota = &quota};
	struct sorter *s = sorter_new(&opt);

	assert_int_equal(add_many(s, &err), RC_LIMIT);
	assert_non_null(strstr(err.msg, "--temp-quota"));
	assert_in_range(atomic_load(&quota.used), 4u << 20, 7u << 20);
	drop(s, &budget);
	assert_int_equal(atomic_load(&quota.used), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sort_is_qsort),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_ranges_from_several_threads),
		cmocka_unit_test(test_seq_of_64_bits),
		cmocka_unit_test(test_merge_passes),
		cmocka_unit_test(test_runs_merged_before_they_spill),
		cmocka_unit_test(test_no_room_for_a_merged_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
