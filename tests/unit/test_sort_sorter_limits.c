/*
 * test_sort_sorter_limits.c - tests large batches and keys, a full disk, memory for other users,
 * and quotas
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "tests/unit/sort_rig.h"

/* The builder adds a batch after the existing records if it fits, or refuses it. */
static void test_room(void **state)
{
	(void)state;
	struct budget budget = {.limit = 1 << 20};
	struct sorter_options opt = {.budget = &budget,
				     .temp_dir = "/tmp",
				     .threads = 1,
				     .run_bytes = 4096};
	struct sorter *s = sorter_new(&opt);
	struct run_builder *b = sorter_builder(s, 0);
	struct error err;
	const uint64_t half = UINT64_C(1) << 32;
	static const struct {
		size_t bytes;
		uint64_t first, last;
		bool room;
	} cases[] = {
		{100, half - 1, half, false},	  {4097, 5, 6, false},
		{4096, half + 5, half + 6, true}, {100, 7, 8, false},
		{100, half + 4, half + 9, false}, {100, 2 * half, 2 * half + 1, false},
		{100, half + 6, half + 6, true},  {100, 2 * half - 1, 2 * half, false},
		{4000, half + 7, half + 9, true},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint8_t key[] = {1, 2, 3, 4}, payload[300] = {0};
		struct record r = {.key = bytes_of(key, 4),
				   .secondary = key,
				   .seq = half + 6,
				   .payload = bytes_of(payload, sizeof payload)};
		struct record_batch batch = {0};

		assert_int_equal(run_builder_room(b, cases[i].bytes, cases[i].first, cases[i].last,
						  &batch.to, &err),
				 RC_OK);
		assert_int_equal(batch.to != NULL, cases[i].room);
		if (batch.to) /* the caller may write the whole room */
			memset(batch.to, 0xff, cases[i].bytes + RECORD_SLACK);
		if (batch.to && i == 2)
			assert_int_equal(run_builder_add(b, &r, &err), RC_OK);
	}
	assert_int_equal(sorter_finish(s, &err), RC_OK);
	assert_int_equal(sorter_totals(s).records, 1);
	drop(s, &budget);
}

/*
 * Adds sorted records whose seqs cross multiples of 2^32 in any order, as in a large slice. The
 * result has only a few runs and all records, and equal keys are in order of seq.
 */
static void check_borders(bool packed, uint64_t first, uint64_t step, size_t more)
{
	enum { N = 3000, KEYS = 1000 };
	struct budget budget = {.limit = 64u << 20};
	struct sorter_options opt = {.budget = &budget, .temp_dir = "/tmp", .threads = 1};
	struct rows rows = {.n = N, .v = mem_calloc(N, sizeof *rows.v)};
	struct packed_writer w = {.block_end = 0};
	struct error err;
	random_state = 4;
	for (size_t i = 0; i < N; i++) {
		struct row *r = &rows.v[i];

		*r = (struct row){.key = mem_alloc(4),
				  .key_len = 4,
				  .payload = mem_alloc(8),
				  .payload_len = 8,
				  .seq = first + i * step};
		put_be32(r->key, (uint32_t)(draw() % KEYS));
		put_be64(r->payload, r->seq);
	}
	struct row *want = rows_sorted(&rows);
	struct sorter *s = sorter_new(&opt);
	struct run_builder *b = sorter_builder(s, 0);
	assert_int_equal(run_builder_stretch(b, UINT64_MAX, false, &err), RC_OK);
	struct packed_records p = pack_rows(&w, want, N, 0);
	if (packed)
		assert_int_equal(run_builder_add_packed(b, &p, &err), RC_OK);
	for (size_t i = 0; i < N && !packed; i++) { /* in a scattered order */
		struct record any = row_record(&want[i * 7 % N]);

		assert_int_equal(run_builder_add(b, &any, &err), RC_OK);
	}
	packed_writer_release(&w);
	assert_int_equal(sorter_finish(s, &err), RC_OK);
	assert_in_range(sorter_totals(s).runs, 1, more + 2);
	expect_range(s, bytes_of(NULL, 0), bytes_of(NULL, 0), want, 0, N, 0);
	drop(s, &budget);
	mem_free(want);
	rows_release(&rows);
}

static void test_seqs_across_borders(void **state)
{
	(void)state;
	const uint64_t half = UINT64_C(1) << 32;
	for (int packed = 0; packed < 2; packed++) {
		check_borders(packed, half - 1500, 1, 1);
		check_borders(packed, 3 * half - 1500 * 1001, 1001, 1);
		check_borders(packed, 0, half / 1000, 3); /* spans more than 2^32 */
		check_borders(packed, UINT64_MAX - 3000, 1, 0);
	}
}

/* Packed rows of several KB, some of which begin a block soon after the last block, are found by
 * their keys. */
static void test_packed_rows_larger_than_half_a_block(void **state)
{
	(void)state;
	enum { N = 60 };
	struct budget budget = {.limit = 64u << 20};
	struct sorter_options opt = {.budget = &budget, .temp_dir = "/tmp", .threads = 1};
	struct rows rows = {.n = N, .v = mem_calloc(N, sizeof *rows.v)};
	struct packed_writer w = {.block_end = 0};
	struct error err;
	for (size_t i = 0; i < N; i++) {
		struct row *r = &rows.v[i];

		*r = (struct row){.key = mem_calloc(1, 4), .key_len = 4, .seq = i};
		r->payload_len = i % 3 ? 3000 + 130 * i : 40;
		r->payload = mem_calloc(1, r->payload_len);
		put_be32(r->key, (uint32_t)i);
	}
	struct sorter *s = sorter_new(&opt);
	struct run_builder *b = sorter_builder(s, 0);
	struct packed_records p = pack_rows(&w, rows.v, N, 0);
	assert_int_equal(run_builder_stretch(b, UINT64_MAX, false, &err), RC_OK);
	assert_int_equal(run_builder_add_packed(b, &p, &err), RC_OK);
	packed_writer_release(&w);
	assert_int_equal(sorter_finish(s, &err), RC_OK);
	for (size_t from = 0; from < N; from++)
		expect_range(s, bytes_of(rows.v[from].key, 4), bytes_of(NULL, 0), rows.v, from, N,
			     0);
	drop(s, &budget);
	rows_release(&rows);
}

/* ---- limits and errors ---- */

static void test_errors(void **state)
{
	(void)state;
	struct error err = {0};
	struct budget budget = {.limit = 1};
	struct sorter_options opt = {.budget = &budget,
				     .temp_dir = "/nonexistent-folder",
				     .threads = 1};
	struct sorter *s = sorter_new(&opt);
	struct run_builder *b = sorter_builder(s, 0);
	uint8_t *key = mem_calloc(ROW_KEY_MAX + 1, 1);
	struct record r = {.key = bytes_of(key, ROW_KEY_MAX + 1)};
	assert_int_equal(run_builder_add(b, &r, &err), RC_LIMIT);
	r.key.len = 5;
	assert_int_equal(run_builder_add(b, &r, &err), RC_OK);
	assert_false(run_builder_full(b));
	assert_int_equal(sorter_finish(s, &err), RC_IO);
	assert_non_null(strstr(err.msg, "/nonexistent-folder"));
	drop(s, &budget);
	mem_free(key);
}

static int spill_some(const struct rows *rows, bool stop, struct error *err)
{
	struct budget budget = {.limit = 1};
	struct sorter_options opt = {.budget = &budget, .temp_dir = "/tmp", .threads = 1};
	struct adding a = {.s = sorter_new(&opt), .rows = rows};
	int rc = pool_run(1, 1, add_part, &a, err);

	stop_flag = stop;
	if (rc == RC_OK)
		rc = sorter_finish(a.s, err);
	stop_flag = 0;
	drop(a.s, &budget);
	return rc;
}

static void test_stop_and_disk_full(void **state)
{
	(void)state;
	struct rows rows;
	struct error err = {0};
	struct rlimit old, low;
	rows_make(&rows, &shapes[SHAPE_FIXED], 7);
	assert_int_equal(spill_some(&rows, true, &err), RC_STOPPED);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	low = old;
	low.rlim_cur = 100000; /* pwrite fails as on a full disk */
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
	int rc = spill_some(&rows, false, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(rc, RC_IO);
	assert_non_null(strstr(err.msg, "/tmp"));
	assert_int_equal(spill_some(&rows, false, &err), RC_OK);
	rows_release(&rows);
}

/* ---- memory for other users, and the disk quota ---- */

static void test_room_for_others(void **state)
{
	(void)state;
	struct rows rows;
	struct error err = {0};
	struct budget budget = {.limit = 64u << 20}, quota = {.limit = 1u << 30};
	struct sorter_options opt = {.budget = &budget,
				     .temp_dir = "/tmp",
				     .threads = 2,
				     .secondary_bytes = 8,
				     .run_bytes = 100000,
				     .quota = &quota};
	rows_make(&rows, &shapes[SHAPE_MINORS], 8);
	struct row *want = rows_sorted(&rows);
	struct adding a = {.s = sorter_new(&opt), .rows = &rows};
	assert_int_equal(pool_run(2, ADD_TASKS, add_part, &a, &err), RC_OK);
	assert_int_equal(sorter_flush(a.s, &err), RC_OK);
	uint64_t data = atomic_load(&budget.used);
	assert_int_equal(atomic_load(&quota.used), 0);
	budget_force(&budget, budget.limit - data / 2); /* the existing bytes no longer fit */
	assert_int_equal(sorter_finish(a.s, &err), RC_OK);
	struct sorter_totals t = sorter_totals(a.s);
	assert_int_equal(t.spilled_runs, t.runs);
	assert_true(atomic_load(&quota.used) >= t.run_bytes);
	assert_true(atomic_load(&budget.used) < budget.limit);
	budget_give(&budget, budget.limit - data / 2);
	expect_range(a.s, bytes_of(NULL, 0), bytes_of(NULL, 0), want, 0, rows.n, 8);
	drop(a.s, &budget);
	assert_int_equal(atomic_load(&quota.used), 0);
	mem_free(want);
	rows_release(&rows);
}

static void test_quota(void **state)
{
	(void)state;
	struct rows rows;
	struct error err = {0};
	struct budget budget = {.limit = 1}, quota = {.limit = 200000};
	struct sorter_options opt = {.budget = &budget,
				     .temp_dir = "/tmp",
				     .threads = 1,
				     .secondary_bytes = 8,
				     .run_bytes = 50000,
				     .quota = &quota};
	rows_make(&rows, &shapes[SHAPE_MINORS], 9);
	struct adding a = {.s = sorter_new(&opt), .rows = &rows};
	assert_int_equal(pool_run(1, ADD_TASKS, add_part, &a, &err), RC_LIMIT);
	assert_non_null(strstr(err.msg, "--temp-quota"));
	assert_in_range(atomic_load(&quota.used), 100000, 200000);
	drop(a.s, &budget);
	assert_int_equal(atomic_load(&quota.used), 0);
	rows_release(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_packed_rows_larger_than_half_a_block),
		cmocka_unit_test(test_seqs_across_borders),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_stop_and_disk_full),
		cmocka_unit_test(test_room_for_others),
		cmocka_unit_test(test_quota),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
