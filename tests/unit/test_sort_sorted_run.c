/*
 * test_sort_sorted_run.c - tests that runs return the written records, from any start.
 * Damaged bytes in a temporary file end in an error, never in a crash.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "pipeline/sort/large_values.h"
#include "pipeline/sort/sorted_run.h"
#include "tests/unit/draw.h"

/* ---- records: key, secondary and payload together, as in a builder's buffer ---- */

struct row {
	uint8_t *bytes; /* with SLACK_BYTES of padding */
	size_t key_len, secondary_bytes, payload_len;
	uint64_t seq;
	bool large;
};

typedef size_t draw_key(uint8_t *key);

static size_t key_rating(uint8_t *key)
{
	uint64_t user = draw() % 2000;

	key[0] = (uint8_t)(user % 16);
	put_be64(key + 1, user);
	put_be64(key + 9, INT64_MAX - (1500000000000 + draw() % 100000000 * 1000));
	put_be32(key + 17, (uint32_t)draw() % 100000);
	return 21;
}

static size_t key_random(uint8_t *key)
{
	size_t n = draw() % 70;

	draw_bytes(key, n);
	return n;
}

/* Makes zero bytes and empty keys. Some keys are prefixes of other keys, also key and secondary
 * together. */
static size_t key_zeros(uint8_t *key)
{
	size_t n = draw() % 12;

	memset(key, 0, n);
	if (n && draw() % 4 == 0)
		key[n - 1] = 1;
	return n;
}

static size_t key_few(uint8_t *key)
{
	size_t n = draw() % 3;

	memset(key, 'k', n);
	return n;
}

/* Lengths around MERGED_BYTES, and lengths at which the varint grows. */
static size_t key_lengths(uint8_t *key)
{
	static const size_t lengths[] = {55, 56, 57, 63, 64, 65, 127, 128, 129, 300};
	size_t n = lengths[draw() % (sizeof lengths / sizeof *lengths)];

	memset(key, 'v', n);
	key[draw() % n] = (uint8_t)draw();
	return n;
}

static size_t key_longest(uint8_t *key)
{
	memset(key, 'L', ROW_KEY_MAX);
	key[draw() % 2 ? ROW_KEY_MAX - 1 : draw() % ROW_KEY_MAX] = (uint8_t)draw();
	return ROW_KEY_MAX - draw() % 2;
}

static size_t key_same(uint8_t *key)
{
	memcpy(key, "the same row key", 16);
	return 16;
}

struct shape {
	const char *name;
	draw_key *key;
	size_t n, secondary_bytes, payload_max;
	unsigned seq_bits;
};

static const struct shape shapes[] = {
	{"ratings", key_rating, 6000, 0, 12, 23},
	{"ratings, minors", key_rating, 3000, 8, 12, 40},
	{"random", key_random, 3000, 0, 40, 64},
	{"random, minors", key_random, 3000, 8, 200, 33},
	{"zeros", key_zeros, 3000, 0, 3, 17},
	{"zeros, minors", key_zeros, 3000, 8, 3, 8},
	{"few keys", key_few, 3000, 8, 0, 9},
	{"lengths", key_lengths, 3000, 0, 129, 16},
	{"lengths, minors", key_lengths, 3000, 8, 20000, 16},
	{"longest", key_longest, 60, 0, 50, 5},
	{"longest, minors", key_longest, 60, 8, 200000, 5},
	{"one key", key_same, 3000, 0, 9, 12},
	{"one key, minors", key_same, 3000, 8, 9, 12},
	{"one record", key_rating, 1, 8, 9, 64},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void draw_row(struct row *r, const struct shape *shape)
{
	static uint8_t key[ROW_KEY_MAX];
	size_t len = shape->key(key);

	*r = (struct row){.key_len = len, .secondary_bytes = shape->secondary_bytes};
	r->large = draw() % 50 == 0;
	r->payload_len = r->large ? LARGE_REF_BYTES : draw() % (shape->payload_max + 1);
	r->seq = draw() >> (64 - shape->seq_bits);
	r->bytes = mem_calloc(len + r->secondary_bytes + r->payload_len + SLACK_BYTES, 1);
	memcpy(r->bytes, key, len);
	if (r->secondary_bytes)
		put_be64(r->bytes + len, draw() % 5 << (draw() % 8 * 8));
	draw_bytes(r->bytes + len + r->secondary_bytes, r->payload_len);
	if (r->large) /* the weight must not overflow in sums */
		memset(r->bytes + len + r->secondary_bytes + 20, 0, 4);
}

static struct record_item row_item(const struct row *r)
{
	const uint8_t *secondary = r->bytes + r->key_len;

	return (struct record_item){.rec = {.key = bytes_of(r->bytes, r->key_len),
					    .secondary = secondary,
					    .seq = r->seq,
					    .payload = bytes_of(secondary + r->secondary_bytes,
								r->payload_len)},
				    .large = r->large};
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *ra = a, *rb = b;
	size_t n = ra->key_len < rb->key_len ? ra->key_len : rb->key_len;
	int c = memcmp(ra->bytes, rb->bytes, n);

	if (c == 0)
		c = (ra->key_len > rb->key_len) - (ra->key_len < rb->key_len);
	if (c == 0)
		c = memcmp(ra->bytes + ra->key_len, rb->bytes + rb->key_len, ra->secondary_bytes);
	return c ? c : (ra->seq > rb->seq) - (ra->seq < rb->seq);
}

/* ---- a run of records ---- */

struct fixture {
	const struct shape *shape;
	struct row *rows;
	size_t n;
	uint64_t *weights; /* weight of the rows before each row, and of all rows */
	size_t most_bytes; /* size limit of the run */
	struct budget budget;
	struct spill spill;
	struct run *run;
	struct weigher weigher;
};

static uint64_t weigh(const void *ctx, const struct record *r)
{
	(void)ctx;
	return 3 + r->key.len + r->payload.len;
}

static void make_rows(struct fixture *f)
{
	struct record_codec whole = {.secondary_bytes = f->shape->secondary_bytes};

	f->n = f->shape->n;
	f->rows = mem_calloc(f->n, sizeof *f->rows);
	f->weights = mem_calloc(f->n + 1, sizeof *f->weights);
	for (size_t i = 0; i < f->n; i++)
		draw_row(&f->rows[i], f->shape);
	qsort(f->rows, f->n, sizeof *f->rows, compare_rows);
	for (size_t i = 0; i < f->n; i++) {
		struct record_item it = row_item(&f->rows[i]);
		uint64_t weight = weigh(NULL, &it.rec);

		if (it.large)
			memcpy(&weight, it.rec.payload.ptr + 16, 8);
		f->weights[i + 1] = f->weights[i] + weight;
		f->most_bytes += record_bytes(&whole, &it.rec) + PACKED_EXTRA_BYTES +
				 (f->shape->seq_bits > 32 ? 4 : 0); /* a buffer has no such seqs */
	}
}

static void set_codec(struct fixture *f)
{
	struct key_span *s = &f->run->span;
	uint64_t least = UINT64_MAX, largest = 0;

	span_start(s, bytes_of(f->rows[0].bytes, f->rows[0].key_len), f->rows[0].bytes, 0);
	for (size_t i = 0; i < f->n; i++) {
		const struct row *r = &f->rows[i];

		s->min_len = r->key_len < s->min_len ? r->key_len : s->min_len;
		s->max_len = r->key_len > s->max_len ? r->key_len : s->max_len;
		least = r->seq < least ? r->seq : least;
		largest = r->seq > largest ? r->seq : largest;
	}
	run_codec_init(&f->run->codec, s, f->shape->secondary_bytes, least, largest);
}

static void setup(struct fixture *f, const struct shape *shape, bool spilled)
{
	enum { CAP = ROW_KEY_MAX + 64 };
	struct error err = {0};
	random_state = 77 + shape->n;
	*f = (struct fixture){.shape = shape, .budget = {.limit = UINT64_MAX}};
	f->spill = (struct spill){.fd = -1, .dir = "/tmp"};
	f->weigher.weigh = weigh;
	make_rows(f);
	f->run = mem_calloc(1, sizeof *f->run);
	set_codec(f);
	struct run_writer w = {.budget = &f->budget, .weigher = f->weigher};
	uint8_t *buf = mem_alloc(CAP + SLACK_BYTES);
	if (spilled) {
		assert_int_equal(run_writer_spill(&w, f->run, &f->spill, buf, CAP, &err), RC_OK);
	} else {
		budget_force(&f->budget, f->most_bytes);
		run_writer_memory(&w, f->run, f->most_bytes);
	}
	for (size_t i = 0; i < f->n; i++) {
		struct record_item it = row_item(&f->rows[i]);

		assert_int_equal(run_writer_put(&w, &it, &err), RC_OK);
	}
	assert_int_equal(run_writer_end(&w, &err), RC_OK);
	run_writer_release(&w);
	mem_free(buf);
}

static void teardown(struct fixture *f)
{
	run_free(f->run, &f->budget);
	assert_int_equal(atomic_load(&f->budget.used), 0);
	spill_close(&f->spill);
	for (size_t i = 0; i < f->n; i++)
		mem_free(f->rows[i].bytes);
	mem_free(f->rows);
	mem_free(f->weights);
}

static void each_run(void (*check)(struct fixture *f))
{
	for (size_t i = 0; i < SHAPES; i++)
		for (int spilled = 0; spilled < 2; spilled++) {
			struct fixture f;

			setup(&f, &shapes[i], spilled);
			check(&f);
			teardown(&f);
		}
}

static void expect_item(const struct record_item *it, const struct row *want)
{
	const struct record *r = &it->rec;

	assert_int_equal(r->key.len, want->key_len);
	assert_memory_equal(r->key.ptr, want->bytes, want->key_len);
	assert_memory_equal(r->secondary, want->bytes + want->key_len, want->secondary_bytes);
	assert_true(r->seq == want->seq);
	assert_int_equal(it->large, want->large);
	assert_int_equal(r->payload.len, want->payload_len);
	assert_memory_equal(r->payload.ptr, want->bytes + want->key_len + want->secondary_bytes,
			    want->payload_len);
}

static bool same_key(const struct row *a, const struct row *b)
{
	return a->key_len == b->key_len && !memcmp(a->bytes, b->bytes, a->key_len);
}

/* Reads rows from i on until the loaded blocks end. Returns the first unread row. */
static size_t expect_rows(struct run_reader *rd, const struct fixture *f, size_t i, bool first)
{
	struct error err = {0};

	for (; rd->next < rd->end; i++, first = false) {
		assert_true(i < f->n);
		assert_int_equal(reader_read(rd, &err), RC_OK);
		const struct record_item *it = reader_item(rd, rd->turn);
		expect_item(it, &f->rows[i]);
		if (it->rec.new_key)
			assert_false(same_key(&f->rows[i], &f->rows[i - 1]));
		if (!first) /* the record before is still valid */
			expect_item(reader_item(rd, rd->turn - 1), &f->rows[i - 1]);
	}
	return i;
}

static void check_reading(struct fixture *f)
{
	struct error err = {0};
	struct run_reader rd = {0};

	reader_start(&rd, f->run);
	assert_int_equal(reader_load(&rd, 0, f->run->nblocks, &err), RC_OK);
	assert_int_equal(expect_rows(&rd, f, 0, true), f->n);
	size_t at = 0;
	for (size_t b = 0; b < f->run->nblocks; b++) { /* read each block alone */
		assert_true(f->run->blocks[b].weight == f->weights[at]);
		assert_true(bytes_eq(run_block_key(f->run, b),
				     bytes_of(f->rows[at].bytes, f->rows[at].key_len)));
		assert_int_equal(reader_load(&rd, b, b + 1, &err), RC_OK);
		at = expect_rows(&rd, f, at, true);
	}
	assert_int_equal(at, f->n);
	assert_true(f->run->bytes <= f->most_bytes);
	assert_int_equal(f->run->records, f->n);
	reader_release(&rd);
}

static void test_reading(void **state)
{
	(void)state;
	each_run(check_reading);
}

static void expect_found(struct fixture *f, struct run_reader *rd, struct bytes key)
{
	struct error err = {0};
	struct run_position at;
	struct buf below = {0};
	size_t i = 0;

	reader_start(rd, f->run);
	assert_int_equal(run_seek(rd, key, &f->weigher, &at, &below, &err), RC_OK);
	while (i < f->n && bytes_cmp(bytes_of(f->rows[i].bytes, f->rows[i].key_len), key) < 0)
		i++;
	assert_true(at.weight_below == f->weights[i]);
	if (i > 0)
		assert_true(bytes_eq(buf_bytes(&below),
				     bytes_of(f->rows[i - 1].bytes, f->rows[i - 1].key_len)));
	size_t next = expect_rows(rd, f, i, true);
	assert_true(next > i || i == f->n || at.offset == f->run->blocks[at.block].offset);
	buf_release(&below);
}

static void check_seeking(struct fixture *f)
{
	static uint8_t key[ROW_KEY_MAX];
	struct run_reader rd = {0};

	for (size_t k = 0; k < 60; k++) {
		const struct row *r = &f->rows[draw() % f->n];

		expect_found(f, &rd, bytes_of(r->bytes, r->key_len));
		expect_found(f, &rd, bytes_of(key, f->shape->key(key)));
	}
	expect_found(f, &rd, bytes_of(key, 0));
	memset(key, 0xff, 100);
	expect_found(f, &rd, bytes_of(key, 100));
	reader_release(&rd);
}

static void test_seeking(void **state)
{
	(void)state;
	each_run(check_seeking);
}

/* Tests the intended use, which is a run of 6000 ratings, the worst case of records that share
 * little. */
static void test_size(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, &shapes[0], false);
	uint64_t payloads = 0;
	for (size_t i = 0; i < f.n; i++)
		payloads += f.rows[i].payload_len;
	/* 21 bytes of key, 4 of seq, 3 of lengths, less at least half */
	assert_true(f.run->bytes - payloads < 16 * f.n);
	assert_in_range(atomic_load(&f.budget.used), f.run->bytes, f.run->bytes + 4096);
	teardown(&f);
}

/* ---- damage ---- */

static void damage(const struct fixture *f)
{
	uint8_t bytes[9];
	size_t n = 1 + draw() % sizeof bytes;

	draw_bytes(bytes, n);
	if (draw() % 2)
		memset(bytes, 0xff, n);
	off_t at = (off_t)(draw() % f->run->bytes);
	assert_int_equal(pwrite(f->spill.fd, bytes, n, at), (ssize_t)n);
}

static bool within(struct bytes b, const uint8_t *from, size_t bytes)
{
	return b.ptr >= from && b.len <= bytes && (size_t)(b.ptr - from) <= bytes - b.len;
}

/* Reads all blocks as far as possible. The reader reads only bytes inside the buffer. */
static int read_damaged(struct fixture *f, struct run_reader *rd, size_t first, struct error *err)
{
	reader_start(rd, f->run);
	int rc = reader_load(rd, first, f->run->nblocks, err);
	size_t len = (size_t)(rd->end - rd->next);
	while (rc == RC_OK && rd->next < rd->end) {
		rc = reader_read(rd, err);
		if (rc)
			break;
		const struct record *r = &reader_item(rd, rd->turn)->rec;
		size_t string = r->key.len + f->shape->secondary_bytes;
		assert_true(string <= f->run->codec.string_max);
		assert_ptr_equal(r->key.ptr, reader_string(rd, rd->turn));
		assert_true(within(r->payload, rd->blocks.ptr, len));
		assert_true(!reader_item(rd, rd->turn)->large || r->payload.len == LARGE_REF_BYTES);
	}
	return rc;
}

static void check_damage(struct fixture *f)
{
	size_t failed = 0, rounds = 200;

	if (f->run->data)
		return;
	for (size_t i = 0; i < rounds; i++) {
		struct run_reader rd = {0};
		struct error err = {0};
		struct run_position at;

		damage(f);
		int rc = read_damaged(f, &rd, draw() % f->run->nblocks, &err);
		assert_true(rc == RC_OK || rc == RC_IO);
		failed += rc != RC_OK;
		const struct row *r = &f->rows[draw() % f->n];
		reader_start(&rd, f->run);
		rc = run_seek(&rd, bytes_of(r->bytes, r->key_len), &f->weigher, &at, NULL, &err);
		assert_true(rc == RC_OK || rc == RC_IO);
		assert_true(rc != RC_IO || strstr(err.msg, "/tmp"));
		reader_release(&rd);
	}
	/* In long payloads most changes hit the payload. */
	assert_true(f->shape->payload_max > 200 || f->n < 100 || failed > rounds / 10);
}

static void test_damage(void **state)
{
	(void)state;
	each_run(check_damage);
}

static void test_truncated(void **state)
{
	(void)state;
	struct fixture f;
	struct run_reader rd = {0};
	struct error err = {0};
	setup(&f, &shapes[1], true);
	assert_int_equal(ftruncate(f.spill.fd, (off_t)f.run->bytes - 1), 0);
	assert_int_equal(read_damaged(&f, &rd, 0, &err), RC_IO);
	reader_release(&rd);
	teardown(&f);
}

/* Tests each field alone, with bytes written by hand from the table in record_bytes.h. */
static void test_fields(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		uint8_t bytes[12];
		size_t len, before;
		bool fixed, good;
	} cases[] = {
		{"whole", {0, 4, 3, 9, 'a', 'b', 'c', 'd', 'x', 'y'}, 10, 0, false, true},
		{"shared", {2, 2, 3, 9, 'c', 'd', 'x', 'y'}, 8, 4, false, true},
		{"all shared", {4, 0, 3, 9, 'x', 'y'}, 6, 4, false, true},
		{"fixed", {2, 3, 9, 'c', 'd', 'x', 'y'}, 7, 4, true, true},
		{"more shared than there is", {3, 1, 3, 9, 'd', 'x', 'y'}, 7, 2, false, false},
		{"shared with nothing", {1, 3, 3, 9, 'b', 'c', 'd', 'x', 'y'}, 9, 0, false, false},
		{"fixed, more shared than all", {5, 3, 9, 'x', 'y'}, 5, 4, true, false},
		{"longer than the longest", {2, 3, 1, 9, 'c', 'd', 'e'}, 7, 4, false, false},
		{"tail beyond the end", {0, 4, 1, 9, 'a', 'b', 'c'}, 7, 0, false, false},
		{"payload beyond the end", {2, 2, 4, 9, 'c', 'd', 'x', 'y'}, 8, 4, false, false},
		{"no end of a length",
		 {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		 9,
		 4,
		 false,
		 false},
		{"put aside, beyond the end", {4, 0, 0, 9, 'x', 'y'}, 6, 4, false, false},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint8_t p[128] = {0}, before[128] = "abcd", string[128] = {0};
		struct run_codec c = {.seq_base = 1000,
				      .seq_mask = 0xff,
				      .seq_bytes = 1,
				      .string_max = 4,
				      .fixed = cases[i].fixed};
		struct record_item it;

		memcpy(p + 32, cases[i].bytes, sizeof cases[i].bytes);
		const uint8_t *end = p + 32 + cases[i].len;
		const uint8_t *next =
			packed_read(&c, p + 32, end, before, cases[i].before, string, &it);
		if (!cases[i].good != !next)
			fail_msg("%s", cases[i].name);
		if (!next)
			continue;
		assert_ptr_equal(next, end);
		assert_true(bytes_eq(it.rec.key, bytes_str("abcd")));
		assert_true(bytes_eq(it.rec.payload, bytes_str("xy")));
		assert_int_equal(it.rec.seq, 1009);
	}
}

static void test_large_value_that_is_not_there(void **state)
{
	(void)state;
	struct large_values large[2] = {{0}, {0}};
	struct budget budget = {.limit = UINT64_MAX};
	struct spill spills[2] = {{.fd = -1, .dir = "/tmp"}, {.fd = -1, .dir = "/tmp"}};
	struct error err = {0};
	struct buf scratch = {0};
	struct bytes got;
	uint8_t ref[LARGE_REF_BYTES];
	assert_int_equal(large_put(&large[1], 1, bytes_str("large"), 7, &budget, &spills[1], ref,
				   &err),
			 RC_OK);
	struct bytes r = bytes_of(ref, sizeof ref);
	assert_int_equal(large_get(large, 2, spills, r, &scratch, &got, &err), RC_OK);
	assert_true(bytes_eq(got, bytes_str("large")));
	ref[4] = 1;
	assert_int_equal(large_get(large, 2, spills, r, &scratch, &got, &err), RC_IO);
	ref[4] = 0;
	ref[0] = 2;
	assert_int_equal(large_get(large, 2, spills, r, &scratch, &got, &err), RC_IO);
	buf_release(&scratch);
	large_release(&large[1], &budget);
	assert_int_equal(atomic_load(&budget.used), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reading),
		cmocka_unit_test(test_seeking),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_large_value_that_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
