/*
 * sort_rig.h - a sorter filled with rows by several threads under different budgets, and checks of
 * its ranges
 *
 * Include it after cmocka.h.
 */
#ifndef SALTMILL_TEST_SORT_RIG_H
#define SALTMILL_TEST_SORT_RIG_H

#include "pool.h"
#include "sorter.h"
#include "tests/unit/sort_rows.h"

/* ---- building a sorter from several threads ---- */

struct setting {
	unsigned threads;
	uint64_t budget;
	size_t run_bytes;
};

static const struct setting settings[] = {
	{1, 1u << 30, 0},     /* all in memory */
	{3, 1u << 30, 40000}, /* many runs in memory */
	{1, 1, 30000},	      /* all spilled, in so many runs that the sorter needs merge passes */
	{2, 300000, 20000},   /* some in memory, some spilled */
	{3, 2u << 20, 10000}, /* few in memory */
	{1, 400000, 6000},    /* many spilled, so the builder merges those in memory */
};

enum { ADD_TASKS = 7, ADD_MAX = 90 };

struct adding {
	struct sorter *s;
	const struct rows *rows;
	_Atomic size_t batched; /* rows added as batches */
};

static inline struct record row_record(const struct row *r)
{
	return (struct record){.key = bytes_of(r->key, r->key_len),
			       .secondary = r->secondary,
			       .seq = r->seq,
			       .payload = bytes_of(r->payload, r->payload_len)};
}

/* Lays out a batch in place. Its length fields are longer than necessary. */
static inline size_t write_batch(struct record_batch *out, const struct row *rows, size_t n,
				 size_t secondary_bytes)
{
	uint8_t *p = out->to;

	out->head = 7 + n % 2;
	out->key_len = rows->key_len;
	for (out->n = 0; out->n < n; out->n++) {
		const struct row *r = &rows[out->n];
		uint8_t head[8] = {(uint8_t)r->seq,	    (uint8_t)(r->seq >> 8),
				   (uint8_t)(r->seq >> 16), (uint8_t)(r->seq >> 24),
				   (uint8_t)r->key_len,	    (uint8_t)(r->key_len >> 8),
				   (uint8_t)r->payload_len};

		head[6] = (uint8_t)(head[6] | (n % 2 ? 0x80 : 0));
		out->at[out->n] = (uint32_t)(p - out->to);
		memcpy(p, head, out->head);
		p += out->head;
		memcpy(p, r->key, r->key_len);
		memcpy(p + r->key_len, r->secondary, secondary_bytes);
		memcpy(p + r->key_len + secondary_bytes, r->payload, r->payload_len);
		p += r->key_len + secondary_bytes + r->payload_len;
	}
	memset(p, 0xee, RECORD_SLACK);
	out->at[n] = (uint32_t)(p - out->to);
	out->first_seq = rows[0].seq;
	out->last_seq = rows[n - 1].seq;
	return out->at[n];
}

/* Counts the rows that can form a batch. */
static inline size_t batch_of(const struct row *rows, size_t n, size_t *bytes)
{
	size_t k = 0;

	for (*bytes = 0;
	     k < n && k < RECORD_BATCH && rows[k].payload_len < 0x80 &&
	     rows[k].key_len == rows[0].key_len && (!k || rows[k].seq >= rows[k - 1].seq);
	     k++)
		*bytes += 16 + rows[k].key_len + rows[k].payload_len;
	return k;
}

/* Adds one row alone, then batches of rows if they fit. */
static inline int add_some(struct adding *a, struct run_builder *b, const struct row *rows,
			   size_t n, struct error *err)
{
	int rc = RC_OK;

	for (size_t some, bytes; n > 0 && rc == RC_OK; rows += some, n -= some) {
		struct record_batch batch = {0};

		some = batch_of(rows, n, &bytes);
		if (some > 1)
			rc = run_builder_room(b, bytes, rows[0].seq, rows[some - 1].seq, &batch.to,
					      err);
		if (rc == RC_OK && batch.to) {
			assert_true(write_batch(&batch, rows, some, a->rows->secondary_bytes) <=
				    bytes);
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

static inline int compare_seq(const void *a, const void *b)
{
	uint64_t x = ((const struct row *)a)->seq, y = ((const struct row *)b)->seq;

	return (x > y) - (x < y);
}

/* Adds many rows at once, as an input does. */
static inline int add_in_order(struct adding *a, struct run_builder *b, size_t from, size_t end,
			       struct error *err)
{
	struct row *v = mem_alloc((end - from) * sizeof *v);
	size_t some;
	int rc = run_builder_flush(b, err);

	for (size_t i = from; i < end; i++)
		v[i - from] = a->rows->v[i];
	qsort(v, end - from, sizeof *v, compare_seq);
	for (size_t i = 0; i < end - from && rc == RC_OK; i += some) {
		some = 1 + i % ADD_MAX < end - from - i ? 1 + i % ADD_MAX : end - from - i;
		rc = add_some(a, b, v + i, some, err);
	}
	mem_free(v);
	return rc;
}

static inline int compare_rows_of(const void *a, const void *b, void *secondary_bytes)
{
	const struct row *x = a, *y = b;
	size_t len = x->key_len < y->key_len ? x->key_len : y->key_len;
	int c = memcmp(x->key, y->key, len);

	if (c == 0)
		c = (x->key_len > y->key_len) - (x->key_len < y->key_len);
	if (c == 0)
		c = memcmp(x->secondary, y->secondary, *(const size_t *)secondary_bytes);
	return c ? c : compare_seq(a, b);
}

/* Packs sorted rows. The caller releases the writer, which holds the bytes. */
static inline struct packed_records pack_rows(struct packed_writer *w, const struct row *rows,
					      size_t n, size_t secondary_bytes)
{
	struct packed_records p = {.records = n, .name = "the rows"};
	struct buf row = {0};
	size_t shortest = SIZE_MAX, longest = 0;
	uint64_t least = UINT64_MAX, most = 0;

	for (size_t i = 0; i < n; i++) {
		shortest = rows[i].key_len < shortest ? rows[i].key_len : shortest;
		longest = rows[i].key_len > longest ? rows[i].key_len : longest;
		least = rows[i].seq < least ? rows[i].seq : least;
		most = rows[i].seq > most ? rows[i].seq : most;
		p.large |= rows[i].payload_len >= LARGE_PAYLOAD_BYTES;
	}
	size_t seq_bytes = 0;
	while (seq_bytes < 8 && (most - least) >> 8 * seq_bytes)
		seq_bytes++;
	w->codec = p.codec = packed_codec(least, seq_bytes, longest + secondary_bytes,
					  secondary_bytes, shortest == longest);
	packed_begin(w);
	for (size_t i = 0; i < n; i++) {
		struct record r = row_record(&rows[i]);

		row.len = 0;
		buf_append(&row, r.key.ptr, r.key.len);
		buf_append(&row, r.secondary, secondary_bytes);
		buf_append(&row, r.payload.ptr, r.payload.len);
		memset(buf_room(&row, RECORD_ROOM_BYTES), 0xee, RECORD_ROOM_BYTES);
		r.key.ptr = row.ptr;
		r.secondary = row.ptr + r.key.len;
		r.payload.ptr = row.ptr + r.key.len + secondary_bytes;
		packed_put(w, &r);
	}
	buf_release(&row);
	p.bytes = buf_bytes(&w->bytes);
	return p;
}

/* Adds sorted stretches, with the longer ones in the middle. Reports only a few of
 * the stretches to the builder. */
static inline int add_sorted(struct adding *a, struct run_builder *b, size_t from, size_t end,
			     struct error *err)
{
	struct row *v = mem_alloc((end - from) * sizeof *v);
	size_t secondary_bytes = a->rows->secondary_bytes, n = end - from;
	size_t borders[] = {0, n / 50, n / 2, n - n / 50, n};
	int rc = RC_OK;

	for (size_t i = from; i < end; i++)
		v[i - from] = a->rows->v[i];
	for (size_t k = 0; k < 4; k++) {
		qsort_r(v + borders[k], borders[k + 1] - borders[k], sizeof *v, compare_rows_of,
			&secondary_bytes);
		for (size_t i = borders[k], some; i < borders[k + 1] && rc == RC_OK; i += some) {
			struct packed_writer w = {.block_end = 0};

			some = borders[k + 1] - i < 300 ? borders[k + 1] - i : 300;
			struct packed_records p = pack_rows(&w, v + i, some, secondary_bytes);
			rc = run_builder_stretch(b, (i + k) % 3 ? UINT64_MAX : 10, i > borders[k],
						 err);
			if (rc == RC_OK)
				rc = run_builder_add_packed(b, &p, err);
			packed_writer_release(&w);
		}
	}
	mem_free(v);
	return rc;
}

static inline int add_part(void *ctx, unsigned worker, size_t index, struct error *err)
{
	struct adding *a = ctx;
	struct run_builder *b = sorter_builder(a->s, worker);
	size_t n = a->rows->n, from = n * index / ADD_TASKS, end = n * (index + 1) / ADD_TASKS;
	bool sorted = index % 4 == 2;
	int rc = index % 2 && from < end ? add_in_order(a, b, from, end, err) : RC_OK;

	if (sorted)
		rc = add_sorted(a, b, from, end, err);
	for (size_t i = from; index % 2 == 0 && !sorted && i < end && rc == RC_OK; i++)
		rc = add_some(a, b, &a->rows->v[i], 1, err);
	return rc == RC_OK && index % 3 == 2 ? run_builder_flush(b, err) : rc;
}

static inline uint64_t weigh_row(const void *ctx, const struct record *r)
{
	return *(const uint64_t *)ctx + r->key.len + r->payload.len;
}

static const uint64_t weight_base = 11;

static inline struct sorter *build(const struct rows *rows, const struct setting *set,
				   struct budget *budget)
{
	struct error err = {0};

	*budget = (struct budget){.limit = set->budget};
	struct sorter_options opt = {.budget = budget,
				     .temp_dir = "/tmp",
				     .threads = set->threads,
				     .secondary_bytes = rows->secondary_bytes,
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

static inline void drop(struct sorter *s, struct budget *budget)
{
	sorter_free(s);
	assert_int_equal(atomic_load(&budget->used), 0);
}

/* ---- ranges of a sorter ---- */

static inline void expect_row(const struct record *r, const struct row *want,
			      size_t secondary_bytes)
{
	assert_int_equal(r->key.len, want->key_len);
	assert_memory_equal(r->key.ptr, want->key, want->key_len);
	if (secondary_bytes)
		assert_memory_equal(r->secondary, want->secondary, secondary_bytes);
	assert_true(r->seq == want->seq);
	assert_int_equal(r->payload.len, want->payload_len);
	if (want->payload_len)
		assert_memory_equal(r->payload.ptr, want->payload, want->payload_len);
}

/* The sorter may leave out new_key, but it must never be wrong. */
static inline void expect_new_key(const struct record *r, const struct row *before)
{
	if (!r->new_key)
		return;
	assert_non_null(before);
	assert_false(bytes_eq(r->key, bytes_of(before->key, before->key_len)));
}

/*
 * Reads the same range in batches and sometimes single records. All records of a batch stay valid
 * until the caller reads the last record.
 */
static inline void expect_batches(struct sorter *s, struct bytes lo, struct bytes hi,
				  const struct row *want, size_t from, size_t to,
				  size_t secondary_bytes)
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
			expect_row(&r[k], &want[i + k], secondary_bytes);
			expect_new_key(&r[k], i + k > from ? &want[i + k - 1] : NULL);
			touched ^= r[k].key.ptr[r[k].key.len + RECORD_ROOM_BYTES - 1] ^
				   r[k].payload.ptr[r[k].payload.len + RECORD_ROOM_BYTES - 1];
		}
	}
	size_t n;
	assert_int_equal(it.next_many(it.self, r, MOST, &n, &err), RC_END);
	assert_int_equal(it.next_many(it.self, r, 1, &n, &err), RC_END);
	assert_in_range(touched, 0, UINT8_MAX); /* the sanitizer checks this read */
	it.close(it.self);
}

/* Checks that the range contains exactly want[from..to). */
static inline void expect_range(struct sorter *s, struct bytes lo, struct bytes hi,
				const struct row *want, size_t from, size_t to,
				size_t secondary_bytes)
{
	struct error err = {0};
	struct record_iter it;
	struct record r;

	if (sorter_range(s, lo, hi, &it, &err))
		fail_msg("%s", err.msg);
	for (size_t i = from; i < to; i++) {
		assert_int_equal(it.next(it.self, &r, &err), RC_OK);
		expect_row(&r, &want[i], secondary_bytes);
		expect_new_key(&r, i > from ? &want[i - 1] : NULL);
	}
	assert_int_equal(it.next(it.self, &r, &err), RC_END);
	assert_int_equal(it.next(it.self, &r, &err), RC_END);
	it.close(it.self);
	expect_batches(s, lo, hi, want, from, to, secondary_bytes);
}

#ifdef __SANITIZE_THREAD__ /* ten times as slow; one thread has no races, and no shape has its own */
enum { THREADS_LEAST = 2, SHAPES_STEP = 4, PAIRS_STEP = 1 };
#elif defined(__SANITIZE_ADDRESS__) /* each shape and each setting, and a third of their pairs */
enum { THREADS_LEAST = 1, SHAPES_STEP = 1, PAIRS_STEP = 3 };
#else
enum { THREADS_LEAST = 1, SHAPES_STEP = 1, PAIRS_STEP = 1 };
#endif

static inline void each_shape(void (*check)(const struct shape *, const struct setting *))
{
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i += SHAPES_STEP)
		for (size_t k = 0; k < sizeof settings / sizeof *settings; k++)
			if (settings[k].threads >= THREADS_LEAST && (i + k) % PAIRS_STEP == 0)
				check(&shapes[i], &settings[k]);
}

#endif
