/*
 * Tests that pieces return the added records, compressed or not, and that the reader detects each
 * changed bit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "mem.h"
#include "pipeline/load/map_reduce/pieces.h"
#include "pipeline/sort/sorted_run.h"
#include "tests/unit/draw.h"

#define RECORDS 3000

/* A record and its bytes, with the padding that readers of records may touch. */
struct kept {
	struct record r;
	uint8_t *bytes;
};

static struct kept make(size_t secondary_bytes, const struct kept *before)
{
	size_t key = 1 + pick(30), payload = pick(9) ? pick(40) : pick(70000);
	struct kept k = {
		.bytes = mem_calloc(1, key + secondary_bytes + payload + RECORD_ROOM_BYTES)};

	draw_bytes(k.bytes, key + secondary_bytes + payload);
	if (before && pick(3))
		memcpy(k.bytes, before->bytes,
		       pick((unsigned)(before->r.key.len < key ? before->r.key.len : key) + 1));
	k.r = (struct record){.key = bytes_of(k.bytes, key),
			      .secondary = k.bytes + key,
			      .seq = 1000 + (draw() >> 20),
			      .payload = bytes_of(k.bytes + key + secondary_bytes, payload)};
	return k;
}

static void put(struct buf *all, struct piece_writer *w, bool last)
{
	struct bytes piece;
	struct error err;
	uint64_t mark;

	assert_int_equal(piece_end(w, last, &piece, &mark, &err), RC_OK);
	buf_append(all, piece.ptr, piece.len);
}

static void expect(const struct record *want, const struct record *got, size_t secondary_bytes)
{
	assert_int_equal(got->seq, want->seq);
	assert_true(bytes_eq(got->key, want->key) && bytes_eq(got->payload, want->payload));
	assert_memory_equal(got->secondary, want->secondary, secondary_bytes);
}

/* Expect exactly these records in a piece. */
static void expect_piece(const struct packed_records *p, const struct kept *want, bool large,
			 size_t secondary_bytes)
{
	struct run run = {.codec = p->codec};
	struct run_reader rd = {0};

	reader_start(&rd, &run);
	rd.next = p->bytes.ptr;
	rd.end = p->bytes.ptr + p->bytes.len;
	for (size_t i = 0; i < p->records; i++) {
		assert_true(rd.next < rd.end && reader_take(&rd));
		expect(&want[i].r, &reader_item(&rd, rd.turn)->rec, secondary_bytes);
		large |= want[i].r.payload.len >= LARGE_PAYLOAD_BYTES;
	}
	assert_ptr_equal(rd.next, rd.end);
	assert_true(p->large == large);
	reader_release(&rd);
}

/* Return a codec for the records of `make`. */
static struct run_codec codec_for(size_t secondary_bytes)
{
	return packed_codec(1000, 6, 30 + secondary_bytes, secondary_bytes, false);
}

static void round_trip(size_t secondary_bytes, enum piece_packing packing)
{
	struct kept *kept = mem_calloc(RECORDS, sizeof *kept);
	struct piece_writer w = {.head = {.slice = 1000, .packing = packing}};
	struct piece_reader r = {0};
	struct piece_head h = {.last = false};
	struct run_codec codec = codec_for(secondary_bytes);
	struct buf all = {0};
	struct packed_records got;
	struct error err;

	piece_region(&w, 3, 70000, &codec);
	for (size_t i = 0; i < RECORDS; i++) {
		kept[i] = make(secondary_bytes, i ? &kept[i - 1] : NULL);
		if (!piece_fits(&w, &kept[i].r))
			put(&all, &w, false);
		piece_add(&w, &kept[i].r);
	}
	put(&all, &w, true);
	buf_reserve(&all, PACKED_ROOM_BYTES);
	size_t at = 0, n = 0;
	uint32_t number = 0;
	for (; at < all.len; at += PIECE_HEAD_BYTES + h.stored) {
		assert_int_equal(piece_head_read(&h, all.ptr + at, "x", &err), RC_OK);
		assert_true(h.table == 3 && h.region == 70000 && h.number == number++);
		assert_true(h.plain <= PIECE_BYTES);
		assert_int_equal(piece_open(&r, &h, all.ptr + at, all.ptr + at + PIECE_HEAD_BYTES,
					    secondary_bytes, &got, "x", &err),
				 RC_OK);
		assert_int_equal(got.records, h.records);
		expect_piece(&got, &kept[n], false, secondary_bytes);
		n += got.records;
		assert_true(h.last == (at + PIECE_HEAD_BYTES + h.stored == all.len));
	}
	assert_true(n == RECORDS && number > 1);
	for (size_t i = 0; i < RECORDS; i++)
		mem_free(kept[i].bytes);
	mem_free(kept);
	buf_release(&all);
	piece_writer_release(&w);
	piece_reader_release(&r);
}

/* Return the sum of the marks of four rows, in pieces of at most `each` rows. */
static uint64_t marks(bool unordered, size_t each, const uint64_t seq[4], const char *payload)
{
	struct piece_writer w = {.head = {.slice = 1000, .unordered = unordered}};
	struct run_codec codec = codec_for(8);
	uint8_t bytes[4][64] = {{0}};
	uint64_t sum = 0, mark;
	struct piece_head h;
	struct bytes piece;
	struct error err;

	piece_region(&w, 0, 0, &codec);
	for (size_t i = 0; i < 4; i++) {
		memcpy(bytes[i], "key0secondary", 12);
		bytes[i][3] = (uint8_t)('0' + i);
		memcpy(bytes[i] + 12, payload, strlen(payload));
		struct record r = {.key = bytes_of(bytes[i], 4),
				   .secondary = bytes[i] + 4,
				   .seq = 1000 + seq[i],
				   .payload = bytes_of(bytes[i] + 12, strlen(payload))};
		piece_add(&w, &r);
		if ((i + 1) % each && i < 3)
			continue;
		assert_int_equal(piece_end(&w, i == 3, &piece, &mark, &err), RC_OK);
		assert_int_equal(piece_head_read(&h, piece.ptr, "x", &err), RC_OK);
		assert_true(h.unordered == unordered && piece_mark(&h) == mark);
		sum += mark;
	}
	piece_writer_release(&w);
	return sum;
}

/* The marks identify rows. Without an order, neither the seqs nor the borders of pieces count. */
static void test_marks_identify_rows(void **state)
{
	(void)state;
	static const uint64_t rising[4] = {0, 1, 2, 3}, other[4] = {3, 1, 0, 2};
	uint64_t free = marks(true, 4, rising, "value"), fixed = marks(false, 4, rising, "value");

	assert_true(free == marks(true, 4, other, "value") &&
		    free == marks(true, 1, rising, "value"));
	assert_true(free != marks(true, 4, rising, "Value") &&
		    free != marks(true, 4, rising, "valu"));
	assert_true(fixed == marks(false, 4, rising, "value"));
	assert_true(fixed != marks(false, 4, other, "value") &&
		    fixed != marks(false, 4, rising, "Value"));
}

static void test_records_come_back(void **state)
{
	(void)state;
	random_state = 5;
	for (int i = 0; i < 4; i++)
		round_trip(i & 1 ? 8 : 0, i & 2 ? PIECE_ZSTD : PIECE_PLAIN);
}

static void test_each_bit_counts(void **state)
{
	(void)state;
	for (int packing = 0; packing < PIECE_PACKINGS; packing++) {
		struct piece_writer w = {.head = {.packing = (enum piece_packing)packing}};
		struct run_codec codec = codec_for(0);
		struct kept k[8];
		struct buf all = {0};
		struct error err;

		piece_region(&w, 0, 0, &codec);
		for (size_t i = 0; i < 8; i++) {
			k[i] = make(0, NULL);
			while (k[i].r.payload.len > 40) {
				mem_free(k[i].bytes);
				k[i] = make(0, NULL);
			}
			piece_add(&w, &k[i].r);
		}
		put(&all, &w, true);
		buf_reserve(&all, PACKED_ROOM_BYTES);
		for (size_t bit = 0; bit < 8 * all.len; bit++) {
			struct piece_reader r = {0};
			struct packed_records got;
			struct piece_head h;

			all.ptr[bit / 8] ^= (uint8_t)(1 << bit % 8);
			int rc = piece_head_read(&h, all.ptr, "x", &err);
			if (rc == RC_OK && h.stored <= all.len - PIECE_HEAD_BYTES)
				rc = piece_open(&r, &h, all.ptr, all.ptr + PIECE_HEAD_BYTES, 0,
						&got, "x", &err);
			else
				rc = RC_IO;
			assert_int_equal(rc, RC_IO);
			piece_reader_release(&r);
			all.ptr[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		for (size_t i = 0; i < 8; i++)
			mem_free(k[i].bytes);
		buf_release(&all);
		piece_writer_release(&w);
	}
}

/* Pass a piece of one record with these bytes to a sorter, with the right digest. */
static int add_piece(const uint8_t *bytes, size_t len, bool in_order, struct error *err)
{
	struct piece_writer w = {.head = {.records = 0}};
	struct piece_reader r = {0};
	struct run_codec codec = packed_codec(0, 1, 30, 0, false);
	struct packed_records got;
	struct piece_head h;
	struct bytes piece;
	uint64_t mark;

	piece_region(&w, 0, 0, &codec);
	buf_append(&w.rows.bytes, bytes, len);
	w.head.records = 1;
	assert_int_equal(piece_end(&w, true, &piece, &mark, err), RC_OK);
	uint8_t *copy = mem_calloc(1, piece.len + PACKED_ROOM_BYTES);
	memcpy(copy, piece.ptr, piece.len);
	assert_int_equal(piece_head_read(&h, copy, "x", err), RC_OK);
	assert_int_equal(piece_open(&r, &h, copy, copy + PIECE_HEAD_BYTES, 0, &got, "x", err),
			 RC_OK);
	struct budget budget = {.limit = 64u << 20};
	struct sorter *s = sorter_new(
		&(struct sorter_options){.budget = &budget, .temp_dir = "/tmp", .threads = 1});
	struct run_builder *b = sorter_builder(s, 0);
	assert_int_equal(run_builder_stretch(b, in_order ? UINT64_MAX : 0, false, err), RC_OK);
	int rc = run_builder_add_packed(b, &got, err);
	sorter_free(s);
	mem_free(copy);
	piece_writer_release(&w);
	piece_reader_release(&r);
	return rc;
}

/*
 * A sorter refuses wrong lengths, even if the digest is right, and whether it merges or sorts the
 * piece.
 */
static void test_a_record_beyond_its_piece_is_refused(void **state)
{
	(void)state;
	/* shared, tail, payload + 1, seq, then the tail */
	static const uint8_t right[] = {0, 1, 1, 0, 'x'},
			     wrong[][5] = {{1, 1, 1, 0, 'x'},
					   {0, 0, 1, 0, 'x'},
					   {0, 2, 1, 0, 'x'},
					   {0, 1, 2, 0, 'x'},
					   {0, 1, 0, 0, 'x'},
					   {0, 31, 1, 0, 'x'},
					   {0x80, 0x80, 0x80, 0x80, 0x80}};
	static const uint8_t two[] = {0, 1, 1, 0, 'x', 0, 1, 1, 0, 'y'};
	struct error err;

	for (int in_order = 0; in_order < 2; in_order++) {
		assert_int_equal(add_piece(right, sizeof right, in_order, &err), RC_OK);
		for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
			assert_int_equal(add_piece(wrong[i], 5, in_order, &err), RC_IO);
			assert_non_null(strstr(err.msg, "x: damaged: found a row beyond the end"));
		}
		assert_int_equal(add_piece(two, sizeof two, in_order, &err), RC_IO);
		assert_non_null(strstr(err.msg, "found bytes after the last row of a piece"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records_come_back),
		cmocka_unit_test(test_marks_identify_rows),
		cmocka_unit_test(test_each_bit_counts),
		cmocka_unit_test(test_a_record_beyond_its_piece_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
