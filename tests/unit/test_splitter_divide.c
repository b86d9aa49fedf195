/*
 * test_splitter_divide.c - compares the choice of regions by weights of a sorter or a sample with a
 * choice that checks each row
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "splits.h"
#include "plan.h"
#include "sorter.h"
#include "tests/unit/draw.h"

#define COUNT(a) (sizeof a / sizeof((a)[0]))

/* salt | entity | time */
#if defined(__SANITIZE_THREAD__) /* twenty times as slow */
enum { ROUNDS = 1, COUNTS_STEP = 3 };
#elif defined(__SANITIZE_ADDRESS__) /* ten times as slow */
enum { ROUNDS = 2, COUNTS_STEP = 1 };
#else
enum { ROUNDS = 6, COUNTS_STEP = 1 };
#endif

enum { KEY = 6, PARTS = 3, BUCKETS_MOST = 20, RUN = 3000 };
static const size_t part_ends[PARTS] = {1, 3, 6};

struct row {
	uint8_t key[KEY];
	uint32_t weight;
};

/* Distinct keys, ascending. */
struct data {
	struct row *rows;
	uint64_t *below;
	size_t count;
	uint64_t total;
};

static int compare_rows(const void *a, const void *b)
{
	return memcmp(a, b, KEY);
}

enum kind { SPREAD, FEW_ENTITIES, FEW_BUCKETS, EQUAL, HEAVY, TIES, ONE, TINY, KINDS };

static void draw_row(enum kind kind, uint32_t buckets, struct row *r)
{
	unsigned bucket = pick(buckets), entity = pick(60000), time = pick(1 << 24);

	r->weight = 30 + pick(20);
	switch (kind) {
	case FEW_ENTITIES: entity %= 5; break;
	case FEW_BUCKETS: bucket = bucket / 3 * 3; break;
	case EQUAL: bucket = entity = time = 0; break;
	case HEAVY:
		if (pick(3) == 0) {
			entity = 77;
			time = 1;
			bucket = bucket % 2 + buckets / 2;
		}
		break;
	case TIES: r->weight = 32; break;
	case SPREAD:
	case ONE:
	case TINY:
	case KINDS: break;
	}
	r->key[0] = (uint8_t)bucket;
	r->key[1] = (uint8_t)(entity >> 8);
	r->key[2] = (uint8_t)entity;
	r->key[3] = (uint8_t)(time >> 16);
	r->key[4] = (uint8_t)(time >> 8);
	r->key[5] = (uint8_t)time;
}

static struct row *draw_rows(enum kind kind, uint32_t buckets, size_t *n)
{
	*n = kind == ONE ? 1 : kind == TINY ? 1 + pick(12) : 200 + pick(2500);
	struct row *rows = mem_alloc(*n * sizeof *rows);
	for (size_t i = 0; i < *n; i++)
		draw_row(kind, buckets, &rows[i]);
	return rows;
}

static struct data add_up(const struct row *rows, size_t n)
{
	struct data d = {.rows = mem_alloc(n * sizeof *rows),
			 .below = mem_alloc((n + 1) * sizeof(uint64_t))};
	struct row *sorted = mem_alloc(n * sizeof *rows);

	memcpy(sorted, rows, n * sizeof *rows);
	qsort(sorted, n, sizeof *sorted, compare_rows);
	for (size_t i = 0; i < n; i++) {
		if (d.count == 0 || compare_rows(&d.rows[d.count - 1], &sorted[i]) != 0) {
			d.below[d.count] = d.total;
			d.rows[d.count++] = sorted[i];
		}
		d.total += sorted[i].weight;
	}
	mem_free(sorted);
	return d;
}

static void data_release(struct data *d)
{
	mem_free(d->rows);
	mem_free(d->below);
}

/* --- the naive choice --- */

static uint64_t weight_under(const struct data *d, const uint8_t *key, size_t len)
{
	for (size_t i = 0; i < d->count; i++)
		if (bytes_cmp(bytes_of(d->rows[i].key, KEY), bytes_of(key, len)) >= 0)
			return d->below[i];
	return d->total;
}

static double far(double a, double b)
{
	return a > b ? a - b : b - a;
}

/*
 * Returns the bucket nearest to a weight if the bucket is less than 2 % of a region away. Otherwise
 * returns 0. If buckets are empty, several buckets begin at one weight. Then the function returns
 * the nearest by number.
 */
static unsigned naive_bucket(const struct data *d, uint32_t buckets, double at, double region)
{
	double least = 0.02 * region, found = -1;
	unsigned best = 0;

	for (unsigned b = 1; b < buckets; b++) {
		uint8_t key = (uint8_t)b;
		double under = (double)weight_under(d, &key, 1), gap = far(under, at);

		if (gap < least || (under == found && under < at)) {
			least = gap;
			found = under;
			best = b;
		}
	}
	return best;
}

static unsigned naive_depth(const struct row *a, const struct row *b)
{
	unsigned depth = 0;

	while (depth < PARTS && memcmp(a->key, b->key, part_ends[depth]) == 0)
		depth++;
	return depth;
}

/* Returns the row that should be the first of a region. */
static size_t naive_place(const struct data *d, uint64_t at, double region)
{
	size_t nearest = 0, best = d->count;
	unsigned least = 0;

	for (size_t i = 1; i < d->count; i++)
		if (far((double)d->below[i], (double)at) <
		    far((double)d->below[nearest], (double)at))
			nearest = i;
	for (size_t i = 0; i < d->count; i++) {
		double gap = far((double)d->below[i], (double)at);
		unsigned depth = i ? naive_depth(&d->rows[i - 1], &d->rows[i]) : 0;

		if (gap > 0.01 * region)
			continue;
		if (best == d->count || depth < least ||
		    (depth == least && gap < far((double)d->below[best], (double)at))) {
			best = i;
			least = depth;
		}
	}
	return best < d->count ? best : nearest;
}

/* Weights of n + 1 borders, including the first and the last. bucket[i] is 0 if the border is not
 * at a bucket's start.
 */
static void naive_spread(uint64_t *at, const unsigned *bucket, size_t n)
{
	for (size_t first = 0, i = 1; i <= n; i++) {
		if (i < n && !bucket[i])
			continue;
		for (size_t k = first + 1; k < i; k++)
			at[k] = at[first] + (at[i] - at[first]) * (k - first) / (i - first);
		first = i;
	}
}

static void naive_settle(const struct data *d, uint32_t buckets, uint64_t *at, unsigned *bucket,
			 size_t n, double region)
{
	for (bool moved = true; moved;) {
		moved = false;
		naive_spread(at, bucket, n);
		for (size_t i = 1; i < n; i++) {
			unsigned b =
				bucket[i] ? 0 : naive_bucket(d, buckets, (double)at[i], region);
			uint8_t key = (uint8_t)b;
			uint64_t w = b ? weight_under(d, &key, 1) : 0;

			if (!b || w <= at[i - 1] || w >= at[i + 1])
				continue;
			at[i] = w;
			bucket[i] = b;
			moved = true;
		}
	}
}

static void naive_cut(const struct data *d, uint32_t buckets, const uint64_t *at,
		      const unsigned *bucket, size_t n, double region, struct splits *out)
{
	struct error err;
	uint64_t last = at[0];

	for (size_t i = 1; i < n; i++) {
		uint8_t key = (uint8_t)bucket[i];
		size_t next = i;

		if (bucket[i]) {
			assert_int_equal(splits_add(out, bytes_of(&key, 1), &err), RC_OK);
			last = at[i];
			continue;
		}
		while (next < n && !bucket[next])
			next++;
		size_t j = naive_place(d, at[i], region);
		uint64_t w = d->below[j];
		if (w <= last || w >= at[next])
			continue;
		unsigned b = 0;
		if (far((double)w, (double)at[i]) > 0.01 * region)
			b = naive_bucket(d, buckets, (double)w, region);
		key = (uint8_t)b;
		uint64_t moved = b ? weight_under(d, &key, 1) : 0;
		if (b && moved > last && moved < at[next]) {
			assert_int_equal(splits_add(out, bytes_of(&key, 1), &err), RC_OK);
			last = moved;
			continue;
		}
		size_t len = 0; /* the shortest key above the row before */
		while (d->rows[j - 1].key[len] == d->rows[j].key[len])
			len++;
		assert_int_equal(splits_add(out, bytes_of(d->rows[j].key, len + 1), &err), RC_OK);
		last = w;
	}
}

static void naive_divide(const struct data *d, uint32_t buckets, uint64_t from, uint64_t to,
			 size_t regions, struct splits *out)
{
	uint64_t *at = mem_calloc(regions + 1, sizeof *at);
	unsigned *bucket = mem_calloc(regions + 1, sizeof *bucket);
	double region = (double)(to - from) / (double)regions;

	at[0] = from;
	at[regions] = to;
	naive_settle(d, buckets, at, bucket, regions, region);
	naive_cut(d, buckets, at, bucket, regions, region, out);
	mem_free(at);
	mem_free(bucket);
}

/* --- the real choice --- */

static struct key_shape shape_of(uint32_t buckets)
{
	return (struct key_shape){.parts = {{1, -1}, {2, -1}, {3, -1}},
				  .nparts = PARTS,
				  .salt_bytes = buckets > 1 ? 1 : 0,
				  .buckets = buckets > 1 ? buckets : 0};
}

static uint64_t weigh(const void *ctx, const struct record *r)
{
	(void)ctx;
	return get_be32(r->payload.ptr);
}

static struct sorter *sort(const struct row *rows, size_t n, struct budget *budget)
{
	struct sorter_options opt = {.budget = budget,
				     .temp_dir = "/tmp",
				     .threads = 2,
				     .weigh = weigh,
				     .run_bytes = 16 << 10};
	struct sorter *s = sorter_new(&opt);
	struct error err;

	for (size_t i = 0; i < n; i++) {
		uint8_t payload[4];

		put_be32(payload, rows[i].weight);
		struct record r = {.key = bytes_of(rows[i].key, KEY),
				   .seq = i,
				   .payload = bytes_of(payload, 4)};
		assert_int_equal(run_builder_add(sorter_builder(s, i / RUN % 2), &r, &err), 0);
		if (i % (RUN / 7) == 0)
			assert_int_equal(run_builder_flush(sorter_builder(s, i / RUN % 2), &err),
					 0);
	}
	assert_int_equal(sorter_finish(s, &err), RC_OK);
	return s;
}

static void print_keys(const char *who, const struct splits *s)
{
	struct buf text = {0};

	splits_format(s, &text);
	buf_put(&text, 0);
	print_message("%s:\n%s", who, (const char *)text.ptr);
	buf_release(&text);
}

static void expect_splits(const struct splits *got, const struct splits *want)
{
	bool same = got->count == want->count;

	for (size_t i = 0; same && i < got->count; i++)
		same = bytes_eq(got->keys[i], want->keys[i]);
	if (same)
		return;
	print_keys("found", got);
	print_keys("expected", want);
	fail_msg("the split keys differ");
}

static void check_sorter(struct sorter *s, const struct data *d, uint32_t buckets, size_t regions)
{
	struct key_shape shape = shape_of(buckets);
	struct key_weights w = sorter_weights(s);
	struct splits got = {0}, want = {0};
	struct error err;
	struct division whole = {.shape = &shape, .regions = regions};

	assert_int_equal(divide(&w, &whole, &got, &err), RC_OK);
	naive_divide(d, buckets, 0, d->total, regions, &want);
	expect_splits(&got, &want);
	splits_release(&got);
	splits_release(&want);

	/* a part of the table, as for a table that exists already */
	uint8_t start[2] = {(uint8_t)pick(buckets), (uint8_t)draw()};
	uint8_t end[2] = {(uint8_t)(start[0] + pick(4)), (uint8_t)draw()};
	if (memcmp(start, end, 2) >= 0)
		return;
	struct division part = whole;
	part.start = bytes_of(start, 2);
	part.end = bytes_of(end, 2);
	assert_int_equal(divide(&w, &part, &got, &err), RC_OK);
	uint64_t from = weight_under(d, start, 2), to = weight_under(d, end, 2);
	if (from < to)
		naive_divide(d, buckets, from, to, regions, &want);
	expect_splits(&got, &want);
	for (size_t i = 0; i < got.count; i++) {
		assert_true(bytes_cmp(got.keys[i], part.start) > 0);
		assert_true(bytes_cmp(got.keys[i], part.end) < 0);
	}
	splits_release(&got);
	splits_release(&want);
}

/* The sample contains all of these few rows, so a plan predicts exactly what a load does. */
static void check_sample(const struct row *rows, size_t n, struct sorter *s, uint32_t buckets,
			 size_t regions, bool align)
{
	struct key_shape shape = shape_of(buckets);
	struct sample *sample = sample_new(SKETCH_K, 1, &shape);
	struct key_weights w = sorter_weights(s);
	struct division whole = {.shape = &shape, .regions = regions, .align_salt = align};
	struct splits got = {0};
	struct error err;
	struct plan p;

	for (size_t i = 0; i < n; i++)
		sample_add(sample, bytes_of(rows[i].key, KEY), rows[i].weight);
	struct plan_options o = {.rule = {.count = (uint32_t)regions, .align_salt = align}};
	assert_int_equal(plan_make(&p, sample, &o, &err), RC_OK);
	assert_int_equal(divide(&w, &whole, &got, &err), RC_OK);
	expect_splits(&got, &p.splits);
	splits_release(&got);
	plan_release(&p);
	sample_free(sample);
}

static void as_the_naive_one(void **state)
{
	static const size_t counts[] = {1, 2, 3, 7, 8, 16, 17, 40, 100, 1000};

	(void)state;
	random_state = 20261122;
	for (int round = 0; round < ROUNDS * KINDS; round++) {
		enum kind kind = (enum kind)(round % KINDS);
		uint32_t buckets = round % 3 ? 1 + pick(BUCKETS_MOST) : 1;
		size_t n;
		struct row *rows = draw_rows(kind, buckets, &n);
		struct data d = add_up(rows, n);
		struct budget budget = {.limit = round % 2 ? 1 : 1 << 30};
		struct sorter *s = sort(rows, n, &budget);

		for (size_t c = 0; c < COUNT(counts); c += COUNTS_STEP) {
			check_sorter(s, &d, buckets, counts[c]);
			check_sample(rows, n, s, buckets, counts[c], false);
			check_sample(rows, n, s, buckets, counts[c], true);
		}
		sorter_free(s);
		data_release(&d);
		mem_free(rows);
	}
}

/* The plan cuts the regions between even buckets, and each split point has one byte. */
static void even_buckets_are_regions(void **state)
{
	enum { BUCKETS = 16, EACH = 1000 };
	(void)state;
	random_state = 5;
	size_t n = BUCKETS * EACH;
	struct row *rows = mem_alloc(n * sizeof *rows);
	for (size_t i = 0; i < n; i++) {
		draw_row(SPREAD, 1, &rows[i]);
		rows[i].key[0] = (uint8_t)(i % BUCKETS);
		rows[i].weight = 50 + (i % BUCKETS == 3); /* a hundredth of a region away */
	}
	struct budget budget = {.limit = 1 << 30};
	struct sorter *s = sort(rows, n, &budget);
	struct key_shape shape = shape_of(BUCKETS);
	struct key_weights w = sorter_weights(s);
	const struct division d = {.shape = &shape, .regions = BUCKETS};
	struct splits got = {0};
	struct error err;
	assert_int_equal(divide(&w, &d, &got, &err), RC_OK);
	assert_int_equal(got.count, BUCKETS - 1);
	for (size_t i = 0; i < got.count; i++) {
		assert_int_equal(got.keys[i].len, 1);
		assert_int_equal(got.keys[i].ptr[0], i + 1);
	}
	splits_release(&got);
	sorter_free(s);
	mem_free(rows);
}

/* Each bucket starts a region, even if the bucket has few rows. The other regions go to the buckets
 * with most bytes. */
static void aligned(void **state)
{
	enum { BUCKETS = 8, ROWS = 6000 };
	static const size_t counts[] = {1, 8, 9, 30};
	(void)state;
	random_state = 6;
	struct row *rows = mem_alloc(ROWS * sizeof *rows);
	for (size_t i = 0; i < ROWS; i++) { /* bucket 5 is empty, and bucket 2 has half */
		draw_row(SPREAD, BUCKETS, &rows[i]);
		rows[i].key[0] = rows[i].key[0] == 5 || i % 2 ? 2 : rows[i].key[0];
	}
	struct budget budget = {.limit = 1 << 30};
	struct sorter *s = sort(rows, ROWS, &budget);
	struct key_shape shape = shape_of(BUCKETS);
	struct key_weights w = sorter_weights(s);
	for (size_t c = 0; c < COUNT(counts); c++) {
		const struct division d = {.shape = &shape,
					   .regions = counts[c],
					   .align_salt = true};
		struct splits got = {0};
		struct error err;
		size_t in[BUCKETS] = {1}; /* regions that begin inside a bucket */

		assert_int_equal(divide(&w, &d, &got, &err), RC_OK);
		for (uint8_t b = 1; b < BUCKETS; b++) {
			size_t r = splits_region(&got, bytes_of(&b, 1));

			assert_true(r > 0 && got.keys[r - 1].len == 1);
			assert_int_equal(got.keys[r - 1].ptr[0], b);
		}
		for (size_t i = 0; i < got.count; i++)
			in[got.keys[i].ptr[0]]++;
		assert_int_equal(got.count + 1, counts[c] < BUCKETS ? BUCKETS : counts[c]);
		assert_int_equal(in[5], 1);
		assert_true(counts[c] <= BUCKETS || in[2] > 1);
		splits_release(&got);
	}
	sorter_free(s);
	mem_free(rows);
}

static void nothing_to_divide(void **state)
{
	(void)state;
	struct budget budget = {.limit = 1 << 30};
	struct sorter *s = sort(NULL, 0, &budget);
	struct key_shape shape = shape_of(16);
	struct key_weights w = sorter_weights(s);
	const struct division d = {.shape = &shape, .regions = 16, .align_salt = true};
	struct splits got = {0};
	struct error err;
	assert_int_equal(divide(&w, &d, &got, &err), RC_OK);
	assert_int_equal(got.count, 0);
	sorter_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_the_naive_one),
		cmocka_unit_test(even_buckets_are_regions),
		cmocka_unit_test(aligned),
		cmocka_unit_test(nothing_to_divide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
