/*
 * test_sort.c - the sorter against qsort and a naive rank, over shapes of keys, budgets, threads
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "pipeline/sort/prefix.h"
#include "sorter.h"
#include "pool.h"
#include "tests/unit/draw.h"

struct row {
	uint8_t *key;
	size_t key_len;
	uint8_t minor[8];
	uint64_t seq;
	uint8_t *payload;
	size_t payload_len;
};

struct rows {
	struct row *v;
	size_t n;
	size_t minor_bytes;
};

/* ---- shapes of keys: fill key, return its length ---- */

typedef size_t draw_key(uint8_t *key);

static size_t key_fixed21(uint8_t *key)
{
	key[0] = (uint8_t)(draw() % 16);
	put_be64(key + 1, draw() % 300);
	put_be64(key + 9, INT64_MAX - draw() % 1000000000);
	put_be32(key + 17, (uint32_t)draw() % 3);
	return 21;
}

static size_t key_random16(uint8_t *key)
{
	draw_bytes(key, 16);
	return 16;
}

static size_t key_variable(uint8_t *key)
{
	size_t n = 1 + draw() % 40;
	draw_bytes(key, n);
	return n;
}

/* Long common text, then few differences, in keys of two lengths. */
static size_t key_shared_prefix(uint8_t *key)
{
	memset(key, 'p', 150);
	key[149] = (uint8_t)(draw() % 5);
	size_t n = 150 + 9 * (draw() % 2);
	memset(key + 150, 'q', 9);
	key[n - 1] = (uint8_t)(draw() % 200);
	return n;
}

/* All the same length, differing in bytes 70 to 100 only, mostly in the last ones. */
static size_t key_late_difference(uint8_t *key)
{
	memset(key, 'x', 100);
	key[70] = (uint8_t)(draw() % 2);
	draw_bytes(key + 92, 8);
	return 100;
}

/* Many equal first 64 varying bits: a random word out of three, then a random tail. */
static size_t key_wide_tail(uint8_t *key)
{
	memset(key, (int)(0x11 * (1 + draw() % 3)), 40);
	draw_bytes(key + 40, 12);
	return 52;
}

static size_t key_all_equal(uint8_t *key)
{
	memcpy(key, "the same row", 12);
	return 12;
}

/* Zero bytes, and prefixes of one another. */
static size_t key_zeros(uint8_t *key)
{
	size_t n = 1 + draw() % 20;
	memset(key, 0, n);
	if (draw() % 3 == 0)
		key[draw() % n] = 1;
	return n;
}

static size_t key_few(uint8_t *key)
{
	key[0] = 'k';
	key[1] = (uint8_t)('0' + draw() % 7);
	return 2;
}

static size_t key_ones(uint8_t *key)
{
	memset(key, 0xff, 12);
	if (draw() % 2)
		key[11] = (uint8_t)draw();
	return 8 + draw() % 5;
}

static size_t key_longest(uint8_t *key)
{
	memset(key, 'L', ROW_KEY_MAX);
	key[ROW_KEY_MAX - 1] = (uint8_t)draw();
	return ROW_KEY_MAX - draw() % 2;
}

struct shape {
	const char *name;
	draw_key *key;
	size_t minor_bytes;
	size_t n;
	size_t giants; /* records with a payload of 3 MB */
};

enum { SHAPE_FIXED, SHAPE_MINORS, SHAPE_FEW_KEYS = 12 };

static const struct shape shapes[] = {
	{"fixed keys", key_fixed21, 0, 12000, 0},
	{"fixed keys and minors", key_fixed21, 8, 12000, 0},
	{"random keys", key_random16, 0, 12000, 0},
	{"variable keys", key_variable, 0, 12000, 0},
	{"variable keys and minors", key_variable, 8, 12000, 0},
	{"shared prefix", key_shared_prefix, 8, 5000, 0},
	{"late difference", key_late_difference, 0, 5000, 0},
	{"wide tails", key_wide_tail, 0, 12000, 0},
	{"all equal", key_all_equal, 0, 5000, 0},
	{"all equal, minors", key_all_equal, 8, 5000, 0},
	{"zeros", key_zeros, 0, 5000, 0},
	{"zeros, minors", key_zeros, 8, 5000, 0},
	{"few keys", key_few, 0, 5000, 0},
	{"ones", key_ones, 8, 5000, 0},
	{"longest keys", key_longest, 8, 60, 0},
	{"giant records", key_fixed21, 8, 1000, 3},
	{"one record", key_fixed21, 0, 1, 0},
	{"nothing", key_fixed21, 0, 0, 0},
};

static void rows_make(struct rows *rows, const struct shape *shape, uint64_t seed)
{
	static uint8_t key[ROW_KEY_MAX];
	random_state = seed * 0x9e3779b97f4a7c15u + 1;
	rows->n = shape->n;
	rows->minor_bytes = shape->minor_bytes;
	rows->v = mem_calloc(shape->n, sizeof(*rows->v));
	for (size_t i = 0; i < shape->n; i++) {
		struct row *r = &rows->v[i];
		r->key_len = shape->key(key);
		r->key = mem_alloc(r->key_len);
		memcpy(r->key, key, r->key_len);
		put_be64(r->minor, INT64_MAX - draw() % 50);
		r->payload_len = i < shape->giants ? 3000000 + draw() % 1000 : draw() % 160;
		r->payload = mem_alloc(r->payload_len);
		draw_bytes(r->payload, r->payload_len < 160 ? r->payload_len : 160);
		r->seq = i;
	}
	for (size_t i = rows->n; i > 1; i--) { /* out of the order of seq */
		size_t k = draw() % i;
		struct row swap = rows->v[i - 1];
		rows->v[i - 1] = rows->v[k];
		rows->v[k] = swap;
	}
}

static void rows_release(struct rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		mem_free(rows->v[i].key);
		mem_free(rows->v[i].payload);
	}
	mem_free(rows->v);
}

static int compare_keys(const struct row *a, const struct row *b)
{
	for (size_t i = 0; i < a->key_len && i < b->key_len; i++)
		if (a->key[i] != b->key[i])
			return a->key[i] < b->key[i] ? -1 : 1;
	return (a->key_len > b->key_len) - (a->key_len < b->key_len);
}

static int compare_without_minor(const void *a, const void *b)
{
	const struct row *ra = a, *rb = b;
	int c = compare_keys(ra, rb);
	return c ? c : (ra->seq > rb->seq) - (ra->seq < rb->seq);
}

static int compare_with_minor(const void *a, const void *b)
{
	const struct row *ra = a, *rb = b;
	int c = compare_keys(ra, rb);
	if (c == 0)
		c = memcmp(ra->minor, rb->minor, 8);
	return c ? c : (ra->seq > rb->seq) - (ra->seq < rb->seq);
}

/* A sorted copy that borrows the bytes. */
static struct row *rows_sorted(const struct rows *rows)
{
	struct row *v = mem_alloc(rows->n * sizeof(*v));
	if (rows->n)
		memcpy(v, rows->v, rows->n * sizeof(*v));
	qsort(v, rows->n, sizeof(*v), rows->minor_bytes ? compare_with_minor : compare_without_minor);
	return v;
}

/* ---- building a sorter from several threads ---- */

struct setting {
	unsigned threads;
	uint64_t budget;
	size_t run_bytes;
};

static const struct setting settings[] = {
	{1, 1u << 30, 0},          /* in memory */
	{3, 1u << 30, 40000},      /* many runs in memory */
	{1, 1, 30000},             /* all spilled; more runs than the smallest fan-in: merge passes */
	{2, 300000, 20000},        /* some in memory, some spilled */
	{3, 2u << 20, 10000},      /* few in memory */
};

enum { ADD_TASKS = 7, ADD_MAX = 90 };

struct adding {
	struct sorter *s;
	const struct rows *rows;
	_Atomic size_t batched; /* rows that went in as batches */
};

static struct record row_record(const struct row *r)
{
	return (struct record){.key = bytes_of(r->key, r->key_len),
			       .minor = r->minor,
			       .seq = r->seq,
			       .payload = bytes_of(r->payload, r->payload_len)};
}

/* As a batch: in place, with more bytes for a length than it needs. */
static size_t write_batch(struct record_batch *out, const struct row *rows, size_t n,
			  size_t minor_bytes)
{
	uint8_t *p = out->to;
	out->head = 7 + n % 2;
	out->key_len = rows->key_len;
	for (out->n = 0; out->n < n; out->n++) {
		const struct row *r = &rows[out->n];
		uint8_t head[8] = {(uint8_t)r->seq, (uint8_t)(r->seq >> 8), (uint8_t)(r->seq >> 16),
				   (uint8_t)(r->seq >> 24), (uint8_t)r->key_len,
				   (uint8_t)(r->key_len >> 8), (uint8_t)r->payload_len};
		head[6] = (uint8_t)(head[6] | (n % 2 ? 0x80 : 0));
		out->at[out->n] = (uint32_t)(p - out->to);
		memcpy(p, head, out->head);
		p += out->head;
		memcpy(p, r->key, r->key_len);
		memcpy(p + r->key_len, r->minor, minor_bytes);
		memcpy(p + r->key_len + minor_bytes, r->payload, r->payload_len);
		p += r->key_len + minor_bytes + r->payload_len;
	}
	memset(p, 0xee, RECORD_SLACK);
	out->at[n] = (uint32_t)(p - out->to);
	out->first_seq = rows[0].seq;
	out->last_seq = rows[n - 1].seq;
	return out->at[n];
}

/* How many of the rows can be a batch. */
static size_t batch_of(const struct row *rows, size_t n, size_t *bytes)
{
	size_t k = 0;
	for (*bytes = 0; k < n && k < RECORD_BATCH && rows[k].payload_len < 0x80 &&
			 rows[k].key_len == rows[0].key_len && (!k || rows[k].seq >= rows[k - 1].seq);
	     k++)
		*bytes += 16 + rows[k].key_len + rows[k].payload_len;
	return k;
}

/* One alone, others as batches where there is room for them. */
static int add_some(struct adding *a, struct run_builder *b, const struct row *rows, size_t n,
		    struct error *err)
{
	int rc = RC_OK;
	for (size_t some, bytes; n > 0 && rc == RC_OK; rows += some, n -= some) {
		struct record_batch batch = {0};
		some = batch_of(rows, n, &bytes);
		if (some > 1)
			rc = run_builder_room(b, bytes, rows[0].seq, rows[some - 1].seq, &batch.to, err);
		if (rc == RC_OK && batch.to) {
			assert_true(write_batch(&batch, rows, some, a->rows->minor_bytes) <= bytes);
			run_builder_take(b, &batch);
			a->batched += some;
			continue;
		}
		struct record r = row_record(rows);
		some = 1;
		if (rc == RC_OK)
			rc = run_builder_add(b, &r, err);
	}
	return rc;
}

static int compare_seq(const void *a, const void *b)
{
	uint64_t x = ((const struct row *)a)->seq, y = ((const struct row *)b)->seq;
	return (x > y) - (x < y);
}

/* As an input gives them, many at once. */
static int add_in_order(struct adding *a, struct run_builder *b, size_t from, size_t end,
			struct error *err)
{
	struct row *v = mem_alloc((end - from) * sizeof(*v));
	size_t some;
	int rc = run_builder_flush(b, err);
	for (size_t i = from; i < end; i++)
		v[i - from] = a->rows->v[i];
	qsort(v, end - from, sizeof(*v), compare_seq);
	for (size_t i = 0; i < end - from && rc == RC_OK; i += some) {
		some = 1 + i % ADD_MAX < end - from - i ? 1 + i % ADD_MAX : end - from - i;
		rc = add_some(a, b, v + i, some, err);
	}
	mem_free(v);
	return rc;
}

static int add_part(void *ctx, unsigned worker, size_t index, struct error *err)
{
	struct adding *a = ctx;
	struct run_builder *b = sorter_builder(a->s, worker);
	size_t n = a->rows->n, from = n * index / ADD_TASKS, end = n * (index + 1) / ADD_TASKS;
	int rc = index % 2 && from < end ? add_in_order(a, b, from, end, err) : RC_OK;
	for (size_t i = from; index % 2 == 0 && i < end && rc == RC_OK; i++)
		rc = add_some(a, b, &a->rows->v[i], 1, err);
	return rc == RC_OK && index % 3 == 2 ? run_builder_flush(b, err) : rc;
}

static uint64_t weigh_row(const void *ctx, const struct record *r)
{
	return *(const uint64_t *)ctx + r->key.len + r->payload.len;
}

static const uint64_t weight_base = 11;

static struct sorter *build(const struct rows *rows, const struct setting *set,
			    struct budget *budget)
{
	struct error err = {0};
	*budget = (struct budget){.limit = set->budget};
	struct sorter_options opt = {.budget = budget,
				     .temp_dir = "/tmp",
				     .threads = set->threads,
				     .minor_bytes = rows->minor_bytes,
				     .weigh = weigh_row,
				     .weigh_ctx = &weight_base,
				     .usual = {weight_base, 1, set->threads > 1 ? 80 : 0},
				     .run_bytes = set->run_bytes};
	struct adding a = {.s = sorter_new(&opt), .rows = rows};
	if (pool_run(set->threads, ADD_TASKS, add_part, &a, &err) || sorter_finish(a.s, &err))
		fail_msg("%s", err.msg);
	if (rows->n > 5000 && rows->v[0].key_len == 21)
		assert_true(a.batched > rows->n / 4);
	return a.s;
}

static void drop(struct sorter *s, struct budget *budget)
{
	sorter_free(s);
	assert_int_equal(atomic_load(&budget->used), 0);
}

static void expect_row(const struct record *r, const struct row *want, size_t minor_bytes)
{
	assert_int_equal(r->key.len, want->key_len);
	assert_memory_equal(r->key.ptr, want->key, want->key_len);
	if (minor_bytes)
		assert_memory_equal(r->minor, want->minor, minor_bytes);
	assert_true(r->seq == want->seq);
	assert_int_equal(r->payload.len, want->payload_len);
	if (want->payload_len)
		assert_memory_equal(r->payload.ptr, want->payload, want->payload_len);
}

/* new_key may be left out, but never be wrong. */
static void expect_new_key(const struct record *r, const struct row *before)
{
	if (!r->new_key)
		return;
	assert_non_null(before);
	assert_false(bytes_eq(r->key, bytes_of(before->key, before->key_len)));
}

/* The same with several records at once, sometimes one: all are valid when the last one is there. */
static void expect_batches(struct sorter *s, struct bytes lo, struct bytes hi,
			   const struct row *want, size_t from, size_t to, size_t minor_bytes)
{
	enum { MOST = 40 };
	struct error err = {0};
	struct record_iter it;
	struct record r[MOST];
	uint8_t touched = 0;
	assert_int_equal(sorter_range(s, lo, hi, &it, &err), RC_OK);
	for (size_t i = from, n = 1; i < to; i += n) {
		size_t most = 1 + i % 7 * (i % 5);
		if (i % 11 == 0)
			assert_int_equal(it.next(it.self, r, &err), RC_OK);
		else
			assert_int_equal(it.next_many(it.self, r, most, &n, &err), RC_OK);
		n = i % 11 == 0 ? 1 : n;
		assert_in_range(n, 1, most < to - i ? most : to - i);
		for (size_t k = 0; k < n; k++) {
			expect_row(&r[k], &want[i + k], minor_bytes);
			expect_new_key(&r[k], i + k > from ? &want[i + k - 1] : NULL);
			touched ^= r[k].key.ptr[r[k].key.len + RECORD_ROOM_BYTES - 1] ^
				   r[k].payload.ptr[r[k].payload.len + RECORD_ROOM_BYTES - 1];
		}
	}
	size_t n;
	assert_int_equal(it.next_many(it.self, r, MOST, &n, &err), RC_END);
	assert_int_equal(it.next_many(it.self, r, 1, &n, &err), RC_END);
	assert_in_range(touched, 0, UINT8_MAX); /* the sanitizer judges */
	it.close(it.self);
}

/* The range gives want[from..to) and ends. */
static void expect_range(struct sorter *s, struct bytes lo, struct bytes hi, const struct row *want,
			 size_t from, size_t to, size_t minor_bytes)
{
	struct error err = {0};
	struct record_iter it;
	struct record r;
	if (sorter_range(s, lo, hi, &it, &err))
		fail_msg("%s", err.msg);
	for (size_t i = from; i < to; i++) {
		assert_int_equal(it.next(it.self, &r, &err), RC_OK);
		expect_row(&r, &want[i], minor_bytes);
		expect_new_key(&r, i > from ? &want[i - 1] : NULL);
	}
	assert_int_equal(it.next(it.self, &r, &err), RC_END);
	assert_int_equal(it.next(it.self, &r, &err), RC_END);
	it.close(it.self);
	expect_batches(s, lo, hi, want, from, to, minor_bytes);
}

static void each_shape(void (*check)(const struct shape *, const struct setting *))
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		for (size_t k = 0; k < sizeof(settings) / sizeof(*settings); k++)
			check(&shapes[i], &settings[k]);
}

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
	expect_range(s, bytes_of(NULL, 0), bytes_of(NULL, 0), want, 0, rows.n, rows.minor_bytes);
	drop(s, &budget);
	mem_free(want);
	rows_release(&rows);
}

static void test_sort_is_qsort(void **state)
{
	(void)state;
	each_shape(check_sorted);
}

/* ---- ranges: [lo, hi) for present and absent keys; consecutive ones cover everything ---- */

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
	for (size_t i = 1; i <= CUTS && rows.n; i++) { /* rising keys: of rows, or drawn */
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
			     rows.minor_bytes);
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

/* ---- select: against all distinct keys one by one ---- */

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

/* ---- seq: high halves that differ, between runs and inside a merged one ---- */

/* Batches go behind what is there, or nowhere. */
static void test_room(void **state)
{
	(void)state;
	struct budget budget = {.limit = 1 << 20};
	struct sorter_options opt = {.budget = &budget, .temp_dir = "/tmp", .threads = 1, .run_bytes = 4096};
	struct sorter *s = sorter_new(&opt);
	struct run_builder *b = sorter_builder(s, 0);
	struct error err;
	const uint64_t half = UINT64_C(1) << 32;
	static const struct {
		size_t bytes;
		uint64_t first, last;
		bool room;
	} cases[] = {
		{100, half - 1, half, false}, {4097, 5, 6, false}, {4096, half + 5, half + 6, true},
		{100, 7, 8, false},           {100, half + 4, half + 9, false},
		{100, 2 * half, 2 * half + 1, false}, {100, half + 6, half + 6, true},
		{100, 2 * half - 1, 2 * half, false}, {4000, half + 7, half + 9, true},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint8_t key[] = {1, 2, 3, 4}, payload[300] = {0};
		struct record r = {.key = bytes_of(key, 4), .minor = key, .seq = half + 6,
				   .payload = bytes_of(payload, sizeof(payload))};
		struct record_batch batch = {0};
		assert_int_equal(run_builder_room(b, cases[i].bytes, cases[i].first, cases[i].last,
						  &batch.to, &err), RC_OK);
		assert_int_equal(batch.to != NULL, cases[i].room);
		if (batch.to) /* all of it is ours */
			memset(batch.to, 0xff, cases[i].bytes + RECORD_SLACK);
		if (batch.to && i == 2)
			assert_int_equal(run_builder_add(b, &r, &err), RC_OK);
	}
	assert_int_equal(sorter_finish(s, &err), RC_OK);
	assert_int_equal(sorter_totals(s).records, 1);
	drop(s, &budget);
}

static void test_seq_of_64_bits(void **state)
{
	(void)state;
	struct rows rows;
	for (size_t k = 0; k < sizeof(settings) / sizeof(*settings); k++) {
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
	/* No budget: the smallest fan-in, 8.  One pass writes no byte twice: so this took several. */
	assert_in_range(t.spilled_runs, 1, 8);
	assert_true(t.spilled_bytes > 2 * t.run_bytes);
	expect_range(s, bytes_of(NULL, 0), bytes_of(NULL, 0), want, 0, rows.n, 8);
	drop(s, &budget);
	mem_free(want);
	rows_release(&rows);
}

/* ---- limits and errors ---- */

static void test_errors(void **state)
{
	(void)state;
	struct error err = {0};
	struct budget budget = {.limit = 1};
	struct sorter_options opt = {
		.budget = &budget, .temp_dir = "/nonexistent-folder", .threads = 1};
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
	low.rlim_cur = 100000; /* a full disk, as pwrite sees it */
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
	int rc = spill_some(&rows, false, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(rc, RC_IO);
	assert_non_null(strstr(err.msg, "/tmp"));
	assert_int_equal(spill_some(&rows, false, &err), RC_OK);
	rows_release(&rows);
}

/* ---- memory that others need, and the disk quota ---- */

static void test_room_for_others(void **state)
{
	(void)state;
	struct rows rows;
	struct error err = {0};
	struct budget budget = {.limit = 64u << 20}, quota = {.limit = 1u << 30};
	struct sorter_options opt = {.budget = &budget, .temp_dir = "/tmp", .threads = 2,
				     .minor_bytes = 8, .run_bytes = 100000, .quota = &quota};
	rows_make(&rows, &shapes[SHAPE_MINORS], 8);
	struct row *want = rows_sorted(&rows);
	struct adding a = {.s = sorter_new(&opt), .rows = &rows};
	assert_int_equal(pool_run(2, ADD_TASKS, add_part, &a, &err), RC_OK);
	assert_int_equal(sorter_flush(a.s, &err), RC_OK);
	uint64_t data = atomic_load(&budget.used);
	assert_int_equal(atomic_load(&quota.used), 0);
	budget_force(&budget, budget.limit - data / 2); /* what is there does not fit any more */
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
	struct sorter_options opt = {.budget = &budget, .temp_dir = "/tmp", .threads = 1,
				     .minor_bytes = 8, .run_bytes = 50000, .quota = &quota};
	rows_make(&rows, &shapes[SHAPE_MINORS], 9);
	struct adding a = {.s = sorter_new(&opt), .rows = &rows};
	assert_int_equal(pool_run(1, ADD_TASKS, add_part, &a, &err), RC_LIMIT);
	assert_non_null(strstr(err.msg, "--temp-quota"));
	assert_in_range(atomic_load(&quota.used), 100000, 200000);
	drop(a.s, &budget);
	assert_int_equal(atomic_load(&quota.used), 0);
	rows_release(&rows);
}

/* ---- packing: the portable compression equals PEXT, and both keep the order ---- */

static int compare_packed(struct packed_key a, struct packed_key b)
{
	if (a.word != b.word)
		return a.word < b.word ? -1 : 1;
	return (a.rest > b.rest) - (a.rest < b.rest);
}

/* More bits of two keys of one length, with their word before them. */
static void check_long(const struct key_plan *fast, const struct key_plan *portable,
		       const uint8_t *const keys[2], size_t len)
{
	struct packed_key got[2];
	for (int i = 0; i < 2; i++) {
		got[i] = fast->pack_long(fast, keys[i], len);
		assert_int_equal(compare_packed(got[i], portable->pack_long(portable, keys[i], len)), 0);
		assert_true(got[i].word == fast->pack(fast, keys[i], len));
	}
	int c = memcmp(keys[0], keys[1], len), packed = compare_packed(got[0], got[1]);
	assert_true(c < 0 ? packed <= 0 : c > 0 ? packed >= 0 : packed == 0);
	assert_true(!fast->whole || (packed == 0) == (c == 0));
	assert_true(fast->whole || fast->rest_bits == REST_BITS);
	assert_true(!fast->complete || (fast->whole && fast->rest_bits == 0));
}

static void test_packing(void **state)
{
	(void)state;
	uint8_t keys[2][SPAN_BYTES + SLACK_BYTES];
	random_state = 99;
	for (int round = 0; round < 3000; round++) {
		struct key_span span = {0};
		struct key_plan fast, portable;
		size_t len = 1 + draw() % SPAN_BYTES;
		draw_bytes(keys[0], sizeof(keys[0]));
		memcpy(keys[1], keys[0], sizeof(keys[0]));
		for (uint64_t n = draw() % 6; n > 0; n--)
			keys[1][draw() % len] = (uint8_t)draw();
		span_start(&span, bytes_of(keys[0], len), NULL, 0);
		for (size_t i = 0; i < len; i++) /* a superset of what varies */
			span.mask[i] = (uint8_t)((keys[0][i] ^ keys[1][i]) | (draw() & draw() & draw()));
		plan_init(&fast, &span, 0);
		plan_init_portable(&portable, &span, 0);
		uint64_t a = fast.pack(&fast, keys[0], len), b = fast.pack(&fast, keys[1], len);
		assert_true(a == portable.pack(&portable, keys[0], len));
		assert_true(b == portable.pack(&portable, keys[1], len));
		int c = memcmp(keys[0], keys[1], len);
		assert_true(c < 0 ? a <= b : c > 0 ? a >= b : a == b);
		assert_true(!fast.complete || (a == b) == (c == 0));
		check_long(&fast, &portable, (const uint8_t *const[]){keys[0], keys[1]}, len);
		span_release(&span);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packing),
		cmocka_unit_test(test_sort_is_qsort),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_ranges_from_several_threads),
		cmocka_unit_test(test_select),
		cmocka_unit_test(test_select_by_probes),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_seq_of_64_bits),
		cmocka_unit_test(test_merge_passes),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_stop_and_disk_full),
		cmocka_unit_test(test_room_for_others),
		cmocka_unit_test(test_quota),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
