#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "mem.h"
#include "plan.h"
#include "splitter/sketch_state.h"

#define COUNT(a) (sizeof a / sizeof((a)[0]))
#define RISK	 0.01

/* Returns the heap bytes of a sketch. */
static size_t state_bytes(const struct sketch *s)
{
	size_t sum = sizeof *s + s->scratch_cap * sizeof *s->scratch;

	for (unsigned e = 0; e < SKETCH_LEVELS; e++)
		sum += s->level[e].cap * sizeof(struct sketch_item) + s->level[e].keys_cap;
	return sum;
}

/* Reads a whole file. */
static int load(struct sketch **out, const char *name, struct bytes file, struct error *err)
{
	int rc = sketch_take(out, name, &file, err);

	if (rc == RC_OK && file.len) {
		sketch_free(*out);
		*out = NULL;
		rc = RC_DATA;
	}
	return rc;
}

static uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);

	x = (x ^ x >> 32) * UINT64_C(0xD6E8FEB86659FD93);
	return x ^ x >> 29;
}

struct row {
	uint64_t key;
	uint32_t bytes;
};

static void add(struct sketch *s, const struct row *r)
{
	uint8_t key[12] = {'u', '0', '0', '-'};

	put_be64(key + 4, r->key);
	sketch_add(s, bytes_of(key, 12), r->bytes);
}

static void add_share(struct sketch *s, const struct row *r, uint64_t share)
{
	uint8_t key[12] = {'u', '0', '0', '-'};

	put_be64(key + 4, r->key);
	sketch_add_share(s, bytes_of(key, 12), share, (double)share / r->bytes);
}

static int compare_rows(const void *a, const void *b)
{
	uint64_t x = ((const struct row *)a)->key, y = ((const struct row *)b)->key;

	return x < y ? -1 : x > y;
}

/* Makes keys of several kinds, with even or very uneven sizes. */
static void make_rows(struct row *rows, size_t n, unsigned kind, uint64_t seed)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t x = random_next(&seed);
		const uint64_t keys[] = {
			x, i, n - i, (uint64_t)i % 7 << 32 | i, x >> (40 + x % 24), i / 50};

		rows[i].key = keys[kind % COUNT(keys)];
		const uint64_t sizes[] = {100, 1 + random_next(&seed) % 1000,
					  UINT64_C(1) << random_next(&seed) % 15, 64};
		rows[i].bytes = (uint32_t)sizes[kind % COUNT(sizes)];
	}
}

/* Returns the sketch's estimate of the bytes of keys in [from, to). */
static uint64_t sketch_range(const struct sketch_view *v, uint64_t from, uint64_t to)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < v->count; i++) {
		uint64_t key = get_be64(v->points[i].key.ptr + 4);

		if (key >= from && key < to)
			sum += v->points[i].bytes;
	}
	return sum;
}

struct check {
	double worst; /* largest error / bound */
	double bound; /* bound for half the bytes, as a share of all */
};

/* Checks prefixes and ranges between the true 0.05-quantiles. Sorts the rows. */
static void check_ranges(struct sketch *s, struct row *rows, size_t n, struct check *c)
{
	enum { STEPS = 20 };
	struct sketch_view v;
	uint64_t at[STEPS + 1] = {0}, below[STEPS + 1] = {0}, sum = 0, estimate[STEPS + 1] = {0};
	size_t step = 1;

	qsort(rows, n, sizeof *rows, compare_rows);
	for (size_t i = 0; i < n; i++)
		sum += rows[i].bytes;
	assert_int_equal(sum, sketch_bytes(s));
	assert_int_equal(n, sketch_rows(s));
	sketch_view_open(&v, s);
	for (size_t i = 1; i < v.count; i++)
		assert_true(bytes_cmp(v.points[i - 1].key, v.points[i].key) < 0);
	uint64_t total = sum;
	sum = 0;
	for (size_t i = 0; i < n && step <= STEPS; i++) {
		bool first = i == 0 || rows[i].key != rows[i - 1].key;

		for (; step <= STEPS && first && sum >= total / (STEPS + 1) * step; step++) {
			at[step] = rows[i].key;
			below[step] = sum;
			estimate[step] = sketch_range(&v, 0, at[step]);
		}
		sum += rows[i].bytes;
	}
	for (size_t i = 0; i < step; i++) {
		for (size_t j = i + 1; j < step; j++) {
			double truth = (double)(below[j] - below[i]);
			double error = truth - (double)(estimate[j] - estimate[i]);
			double bound = sketch_error(s, below[j] - below[i], RISK);

			error = error < 0 ? -error : error;
			if (error > bound)
				fail_msg("range of %.0f bytes: error %.0f above %.0f", truth, error,
					 bound);
			if (bound > 0 && error / bound > c->worst)
				c->worst = error / bound;
		}
	}
	c->bound = sketch_error(s, total / 2, RISK) / (double)total;
	sketch_view_close(&v);
}

static void exact_while_small(void **state)
{
	struct row rows[300];
	struct check c = {0};

	(void)state;
	for (unsigned kind = 0; kind < 12; kind++) {
		struct sketch *s = sketch_new(4096, kind);

		make_rows(rows, 300, kind, kind);
		for (size_t i = 0; i < 300; i++)
			add(s, &rows[i]);
		assert_true(sketch_error(s, 1000, RISK) == 0 || kind % 4 == 2);
		check_ranges(s, rows, 300, &c);
		sketch_free(s);
	}
}

static void bound_holds_in_a_thousand_runs(void **state)
{
	enum { ROWS = 2500, K = 128 };
	struct row *rows = mem_alloc(ROWS * sizeof *rows);
	struct check c = {0};
	(void)state;
	for (unsigned run = 0; run < 1000; run++) {
		struct sketch *s = sketch_new(K, run);

		make_rows(rows, ROWS, run, run + 1);
		for (size_t i = 0; i < ROWS; i++)
			add(s, &rows[i]);
		check_ranges(s, rows, ROWS, &c);
		assert_true(c.bound < 8.0 / K);
		sketch_free(s);
	}
	/* and the bound is narrow enough to fail */
	assert_true(c.worst > 0.3);
	mem_free(rows);
}

/*
 * The sketch samples only a part of the rows. Counts stay exact, and ranges are unbiased and within
 * the bound.
 */
static void bound_holds_behind_a_picker(void **state)
{
	enum { ROWS = 2500, K = 1024, PIECE = 100 };
	struct row *rows = mem_alloc(ROWS * sizeof *rows);
	struct check c = {0};
	(void)state;
	for (unsigned run = 0; run < 1000; run++) {
		struct sketch *s = sketch_new(K, run);
		size_t taken = 0;

		make_rows(rows, ROWS, run, run + 1);
		for (size_t i = 0; i < ROWS;) {
			struct picker p;

			picker_start(&p, run ^ i << 32, (unsigned)(i / 500) + 5);
			for (size_t end = i + PIECE; i < end; i++)
				if (picker_wants(&p, rows[i].bytes)) {
					add_share(s, &rows[i], picker_share(&p, rows[i].bytes));
					taken++;
				}
			sketch_count(s, &p);
		}
		assert_true(taken <= ROWS);
		check_ranges(s, rows, ROWS, &c);
		sketch_free(s);
	}
	assert_true(c.worst > 0.3);
	mem_free(rows);
}

static void bound_holds_at_full_size(void **state)
{
	enum { ROWS = 400000 };
	struct row *rows = mem_alloc(ROWS * sizeof *rows);
	(void)state;
	for (unsigned kind = 0; kind < 3; kind++) {
		struct sketch *s = sketch_new(SKETCH_K, kind);
		struct check c = {0};

		make_rows(rows, ROWS, kind, 5);
		for (size_t i = 0; i < ROWS; i++)
			add(s, &rows[i]);
		check_ranges(s, rows, ROWS, &c);
		assert_true(sketch_error(s, sketch_bytes(s) / 1000, RISK) <
			    0.10 * (double)sketch_bytes(s) / 1000);
		assert_true(state_bytes(s) < SKETCH_STATE_BYTES);
		sketch_free(s);
	}
	mem_free(rows);
}

/* Rows have equal size, and their salt cycles. A fixed stride would sample only one salt. */
static void no_resonance_with_cycling_salts(void **state)
{
	enum { SALTS = 16, ROWS = 64000 };
	struct sketch *s = sketch_new(64, 1);
	struct sketch_view v;
	uint64_t got[SALTS] = {0};
	(void)state;
	for (size_t i = 0; i < ROWS; i++) {
		struct row r = {(uint64_t)(i % SALTS) << 56 | i, 64};

		add(s, &r);
	}
	sketch_view_open(&v, s);
	for (size_t i = 0; i < v.count; i++)
		got[v.points[i].key.ptr[4]] += v.points[i].bytes;
	sketch_view_close(&v);
	for (int i = 0; i < SALTS; i++) {
		double error = (double)got[i] - 64.0 * ROWS / SALTS;
		double bound = sketch_error(s, 64 * ROWS / SALTS, RISK);

		assert_true(bound < 64.0 * ROWS / 8);
		assert_true(error < bound && -error < bound);
	}
	sketch_free(s);
}

static void merged_shards_are_the_whole(void **state)
{
	enum { ROWS = 20000, SHARDS = 5 };
	struct row *rows = mem_alloc(ROWS * sizeof *rows);
	struct check c = {0};
	(void)state;
	for (unsigned kind = 0; kind < 12; kind++) {
		struct sketch *shard[SHARDS];

		make_rows(rows, ROWS, kind, 9);
		for (unsigned i = 0; i < SHARDS; i++)
			shard[i] = sketch_new(256, i);
		for (size_t i = 0; i < ROWS;
		     i++) /* of very different sizes, so their strides differ */
			add(shard[i < 20 ? 0 : i < 300 ? 1 : i % 3 + 2], &rows[i]);
		for (unsigned i = 1; i < SHARDS; i++) {
			sketch_merge(shard[kind % 2 ? 0 : SHARDS - 1], shard[kind % 2 ? i : i - 1]);
		}
		check_ranges(shard[kind % 2 ? 0 : SHARDS - 1], rows, ROWS, &c);
		assert_true(c.bound < 10.0 / 256);
		for (unsigned i = 0; i < SHARDS; i++)
			sketch_free(shard[i]);
	}
	mem_free(rows);
}

static void save(struct sketch *s, struct buf *out)
{
	out->len = 0;
	sketch_save(s, out);
}

static void same_seed_same_sketch(void **state)
{
	enum { ROWS = 30000 };
	struct row *rows = mem_alloc(ROWS * sizeof *rows);
	struct sketch *a = sketch_new(64, 1), *b = sketch_new(64, 1), *other = sketch_new(64, 2);
	struct buf x = {0}, y = {0};
	(void)state;
	make_rows(rows, ROWS, 1, 1);
	for (size_t i = 0; i < ROWS; i++) {
		add(a, &rows[i]);
		add(b, &rows[i]);
		add(other, &rows[i]);
	}
	save(a, &x);
	save(b, &y);
	assert_true(bytes_eq(buf_bytes(&x), buf_bytes(&y)));
	save(other, &y);
	assert_false(bytes_eq(buf_bytes(&x), buf_bytes(&y)));
	sketch_free(a);
	sketch_free(b);
	sketch_free(other);
	buf_release(&x);
	buf_release(&y);
	mem_free(rows);
}

static void loaded_goes_on_as_saved(void **state)
{
	enum { ROWS = 30000 };
	struct row *rows = mem_alloc(ROWS * sizeof *rows);
	struct sketch *a = sketch_new(64, 1), *b;
	struct buf x = {0}, y = {0};
	struct error err;
	(void)state;
	make_rows(rows, ROWS, 2, 1);
	for (size_t i = 0; i < ROWS / 2; i++)
		add(a, &rows[i]);
	save(a, &x);
	assert_int_equal(load(&b, "x", buf_bytes(&x), &err), 0);
	save(b, &y);
	assert_true(bytes_eq(buf_bytes(&x), buf_bytes(&y)));
	for (size_t i = ROWS / 2; i < ROWS; i++) {
		add(a, &rows[i]);
		add(b, &rows[i]);
	}
	save(a, &x);
	save(b, &y);
	assert_true(bytes_eq(buf_bytes(&x), buf_bytes(&y)));
	sketch_free(a);
	sketch_free(b);
	buf_release(&x);
	buf_release(&y);
	mem_free(rows);
}

static void damaged_files_are_refused(void **state)
{
	struct row rows[40];
	struct sketch *s = sketch_new(64, 1), *back;
	struct buf file = {0};
	struct error err;

	(void)state;
	make_rows(rows, 40, 1, 1);
	for (size_t i = 0; i < 40; i++)
		add(s, &rows[i]);
	save(s, &file);
	for (size_t i = 0; i < file.len; i++) {
		file.ptr[i] ^= 0x10;
		assert_int_equal(load(&back, "f", buf_bytes(&file), &err), RC_DATA);
		assert_null(back);
		file.ptr[i] ^= 0x10;
		/* a copy of exact length, so that sanitizers see reads past its end */
		uint8_t *part = mem_alloc(i ? i : 1);
		memcpy(part, file.ptr, i);
		assert_int_equal(load(&back, "f", bytes_of(part, i), &err), RC_DATA);
		mem_free(part);
	}
	buf_put(&file, 0);
	assert_int_equal(load(&back, "f", buf_bytes(&file), &err), RC_DATA);
	file.len--;
	put_be32(file.ptr + 8, 9);
	assert_int_equal(load(&back, "f", buf_bytes(&file), &err), RC_DATA);
	assert_non_null(strstr(err.msg, "f: found version 9, expected 2"));
	sketch_free(s);
	buf_release(&file);
}

/* For keys of any length the state stays small and the bound holds. */
static void long_keys(void **state)
{
	enum { ROWS = 6000, LONGEST = 32767 };
	uint8_t *key = mem_alloc(LONGEST);
	uint64_t seed = 1, below = 0;
	struct sketch *s = sketch_new(SKETCH_K, 1), *t = sketch_new(SKETCH_K, 2);
	struct sketch_view v;
	(void)state;
	memset(key, 'k', LONGEST);
	for (int i = 0; i < ROWS; i++) {
		uint64_t x = random_next(&seed);
		size_t len = i % 2 ? LONGEST : 500 + x % 8000;

		memcpy(key + 400, &x, 8);
		below += key[400] < 0x40 ? 1000 : 0;
		sketch_add(i % 3 ? s : t, bytes_of(key, len), 1000);
		if (i % 500 == 0)
			assert_true(state_bytes(s) < SKETCH_STATE_BYTES);
	}
	sketch_merge(s, t);
	assert_true(state_bytes(s) < SKETCH_STATE_BYTES);
	sketch_view_open(&v, s);
	double got = 0;
	for (size_t i = 0; i < v.count; i++)
		got += v.points[i].key.ptr[400] < 0x40 ? (double)v.points[i].bytes : 0;
	double error = got - (double)below, bound = sketch_error(s, below, RISK);
	assert_true(error < bound && -error < bound);
	assert_true(bound < 0.2 * 1000 * ROWS);
	sketch_view_close(&v);
	sketch_free(s);
	sketch_free(t);
	mem_free(key);
}

static void huge_row_write(void **state)
{
	struct sketch *s = sketch_new(1024, 1);
	struct sketch_view v;
	uint64_t most = 0, all = (UINT64_C(1) << 50) + 5000 * 100;

	(void)state;
	for (uint64_t i = 0; i < 5000; i++) {
		struct row r = {i, 100};

		add(s, &r);
		if (i == 2500)
			sketch_add(s, bytes_str("huge"), UINT64_C(1) << 50);
	}
	assert_int_equal(sketch_bytes(s), all);
	assert_int_equal(sketch_rows(s), 5001);
	sketch_view_open(&v, s);
	for (size_t i = 0; i < v.count; i++)
		if (bytes_eq(v.points[i].key, bytes_str("huge")))
			most = v.points[i].bytes;
	double error = (double)most - (double)(UINT64_C(1) << 50);
	double bound = sketch_error(s, UINT64_C(1) << 50, RISK);
	assert_true(error < bound && -error < bound);
	assert_true(bound < 0.01 * (double)all);
	sketch_view_close(&v);
	sketch_free(s);
}

static void rows_are_estimated_too(void **state)
{
	enum { ROWS = 200000 };
	struct row *rows = mem_alloc(ROWS * sizeof *rows);
	struct sketch *s = sketch_new(4096, 1);
	struct sketch_view v;
	double got = 0, low = 0;
	size_t want_low = 0;
	(void)state;
	make_rows(rows, ROWS, 5, 3); /* key i / 50, sizes 1 to 1000 */
	for (size_t i = 0; i < ROWS; i++) {
		add(s, &rows[i]);
		want_low += rows[i].key < ROWS / 100;
	}
	sketch_view_open(&v, s);
	for (size_t i = 0; i < v.count; i++) {
		got += v.points[i].rows;
		low += get_be64(v.points[i].key.ptr + 4) < ROWS / 100 ? v.points[i].rows : 0;
	}
	assert_true(got > 0.99 * ROWS && got < 1.01 * ROWS);
	assert_int_equal(want_low, ROWS / 2);
	assert_true(low > 0.98 * (double)want_low && low < 1.02 * (double)want_low);
	sketch_view_close(&v);
	sketch_free(s);
	mem_free(rows);
}

static void empty_sketch(void **state)
{
	struct sketch *s = sketch_new(SKETCH_K, 1), *t = sketch_new(64, 1);
	struct sketch_view v;
	struct row r = {7, 9};

	(void)state;
	sketch_merge(s, t);
	sketch_view_open(&v, s);
	assert_int_equal(v.count, 0);
	sketch_view_close(&v);
	add(t, &r);
	sketch_merge(s, t);
	sketch_add(s, bytes_of(NULL, 0), 1);
	sketch_view_open(&v, s);
	assert_int_equal(v.count, 2);
	assert_int_equal(v.bytes, 10);
	assert_int_equal(v.points[0].key.len, 0);
	sketch_view_close(&v);
	sketch_free(s);
	sketch_free(t);
	sketch_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_while_small),
		cmocka_unit_test(bound_holds_in_a_thousand_runs),
		cmocka_unit_test(bound_holds_behind_a_picker),
		cmocka_unit_test(bound_holds_at_full_size),
		cmocka_unit_test(no_resonance_with_cycling_salts),
		cmocka_unit_test(merged_shards_are_the_whole),
		cmocka_unit_test(same_seed_same_sketch),
		cmocka_unit_test(loaded_goes_on_as_saved),
		cmocka_unit_test(damaged_files_are_refused),
		cmocka_unit_test(long_keys),
		cmocka_unit_test(huge_row_write),
		cmocka_unit_test(rows_are_estimated_too),
		cmocka_unit_test(empty_sketch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
