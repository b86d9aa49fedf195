/*
 * test_hfile_quick_diff.c - the fast path of DIFF against the general path, for random cells and for
 * damaged blocks; test_hfile_writer.c compares DIFF files with HBase's
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/diff_cells_judge.h"

#define ROUNDS 3000

static uint64_t state_of_random = 29;

static uint32_t draw(uint32_t below)
{
	state_of_random = state_of_random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state_of_random >> 33) % below;
}

/* A length that is mostly short, sometimes around a limit of a copy or of a varint. */
static size_t draw_length(void)
{
	static const size_t edges[] = {0,  1,  7,  8,	9,   15,  16,	 17,
				       31, 32, 33, 127, 128, 300, 16383, 16384};

	return draw(4) ? draw(12) : edges[draw(draw(20) ? 13 : 16)];
}

/* Change the end of `part`, or keep it as in the previous cell. */
static size_t draw_part(uint8_t *part, size_t len, size_t most)
{
	if (draw(3) == 0)
		return len;
	size_t n = draw(3) ? len : draw_length();
	n = n < most ? n : most;
	for (size_t i = draw(2) ? 0 : n - n / 4; i < n; i++)
		part[i] = (uint8_t)draw(draw(2) ? 256 : 3);
	return n;
}

/* Append random cells, in any order, because DIFF does not depend on the order. */
static void make_cells(struct buf *out)
{
	static uint8_t row[40000], qualifier[20000], value[20000], family[127];
	static const uint8_t types[] = {4, 4, 4, 8, 12, 14};
	size_t nrow = 1, nqualifier = 0, nvalue = 0, nfamily = draw(20) ? draw(3) : draw(128);
	uint64_t ts = 1500000000000;

	for (uint32_t i = 0, n = 1 + draw(60); i < n; i++) {
		nrow = draw_part(row, nrow, 32767);
		nrow += nrow == 0;
		nqualifier = draw_part(qualifier, nqualifier, 20000);
		nvalue = draw_part(value, nvalue, 20000);
		if (draw(2))
			ts = draw(8) ? ts + draw(1000) - 500 : (uint64_t)draw(1u << 31) << draw(32);
		struct cell c = {.row = bytes_of(row, nrow),
				 .family = bytes_of(family, nfamily),
				 .qualifier = bytes_of(qualifier, nqualifier),
				 .ts = (int64_t)ts,
				 .type = types[draw(6)]};
		buf_be32(out, (uint32_t)hfile_kv_key_bytes(&c));
		buf_be32(out, (uint32_t)nvalue);
		assert_true(hfile_kv_key_append(out, &c));
		buf_append(out, value, nvalue);
	}
}

/* Decode an exact copy, so that a sanitizer sees each read past the end. */
static int decode(struct bytes payload, bool careful, struct buf *store, struct bytes *out,
		  struct error *err)
{
	const struct block_format format = {.encoding = ENCODING_DIFF, .careful = careful};
	uint8_t *copy = mem_alloc(payload.len + 1);

	memcpy(copy, payload.ptr, payload.len);
	int rc = hfile_block_decode(&format, bytes_of(copy, payload.len), store, out, err);
	mem_free(copy);
	return rc;
}

static void encode(struct bytes cells, bool careful, struct buf *out)
{
	const struct block_format format = {.encoding = ENCODING_DIFF, .careful = careful};
	uint8_t *copy = mem_alloc(cells.len + 1);
	struct error err;

	memcpy(copy, cells.ptr, cells.len);
	out->len = 0;
	assert_int_equal(hfile_block_encode(&format, bytes_of(copy, cells.len), out, &err), 0);
	mem_free(copy);
}

static void assert_same(struct bytes a, struct bytes b)
{
	assert_int_equal(a.len, b.len);
	if (a.len)
		assert_memory_equal(a.ptr, b.ptr, a.len);
}

static void same_both_ways(void **state)
{
	struct buf cells = {0}, quick = {0}, careful = {0}, store = {0};
	struct bytes back;
	struct error err;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		cells.len = 0;
		make_cells(&cells);
		encode(buf_bytes(&cells), false, &quick);
		encode(buf_bytes(&cells), true, &careful);
		assert_same(buf_bytes(&quick), buf_bytes(&careful));
		for (int way = 0; way < 2; way++) {
			assert_int_equal(decode(buf_bytes(&quick), way, &store, &back, &err), 0);
			assert_same(back, buf_bytes(&cells));
		}
	}
	buf_release(&cells);
	buf_release(&quick);
	buf_release(&careful);
	buf_release(&store);
}

/* Change a few bytes, or cut the block. The two lengths of a block's head often change, too. */
static void damage(struct buf *b)
{
	if (draw(4) == 0)
		b->len = 6 + draw((uint32_t)b->len - 5);
	for (uint32_t i = 0, n = 1 + draw(3); i < n && b->len > 2; i++)
		b->ptr[2 + draw((uint32_t)b->len - 2)] = (uint8_t)draw(draw(2) ? 256 : 3);
}

/* Both paths accept the same damaged blocks, with the same cells or the same error. */
static void same_for_damage(void **state)
{
	struct buf cells = {0}, block = {0}, a = {0}, b = {0};
	int accepted = 0;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct bytes quick, careful;
		struct error e, f;

		cells.len = 0;
		make_cells(&cells);
		encode(buf_bytes(&cells), false, &block);
		damage(&block);
		int rc = decode(buf_bytes(&block), false, &a, &quick, &e);
		assert_int_equal(decode(buf_bytes(&block), true, &b, &careful, &f), rc);
		if (rc)
			assert_string_equal(e.msg, f.msg);
		assert_same(quick, careful);
		accepted += rc == 0;
	}
	assert_in_range(accepted, ROUNDS / 20, ROUNDS - ROUNDS / 20);
	buf_release(&cells);
	buf_release(&block);
	buf_release(&a);
	buf_release(&b);
}

static int by_key(const void *a, const void *b)
{
	return cell_key_cmp(a, b);
}

/* Put the cells in order, as in a file. */
static void sort_cells(struct buf *cells)
{
	struct cell *list = mem_calloc(cells->len / KV_LENGTHS + 1, sizeof *list);
	struct buf sorted = {0};
	struct kv kv;
	size_t n = 0;

	for (size_t at = 0; at < cells->len; at += kv.size) {
		kv = hfile_kv_at(cells->ptr + at);
		assert_true(hfile_kv_key_parse(kv.key, &list[n]));
		list[n++].value = kv.value;
	}
	qsort(list, n, sizeof *list, by_key);
	for (size_t i = 0; i < n; i++) {
		buf_be32(&sorted, (uint32_t)hfile_kv_key_bytes(&list[i]));
		buf_be32(&sorted, (uint32_t)list[i].value.len);
		assert_true(hfile_kv_key_append(&sorted, &list[i]));
		buf_append(&sorted, list[i].value.ptr, list[i].value.len);
	}
	buf_release(cells);
	*cells = sorted;
	mem_free(list);
}

/* The quick path to cells takes most blocks of a file, and none with cells that are not in order. */
static void cells_of_blocks(void **state)
{
	struct buf cells = {0}, block = {0};
	int accepted[3] = {0};

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		bool yes;

		cells.len = 0;
		make_cells(&cells);
		encode(buf_bytes(&cells), true, &block);
		assert_true(diff_cells_judge(buf_bytes(&block), &yes));
		accepted[0] += yes;
		sort_cells(&cells);
		encode(buf_bytes(&cells), true, &block);
		assert_true(diff_cells_judge(buf_bytes(&block), &yes));
		accepted[1] += yes;
		damage(&block);
		assert_true(diff_cells_judge(buf_bytes(&block), &yes));
		accepted[2] += yes;
	}
	assert_in_range(accepted[0], 1, ROUNDS / 4);
	assert_in_range(accepted[1], ROUNDS * 3 / 4, ROUNDS);
	assert_in_range(accepted[2], ROUNDS / 20, ROUNDS - ROUNDS / 20);
	buf_release(&cells);
	buf_release(&block);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(same_both_ways),
					   cmocka_unit_test(same_for_damage),
					   cmocka_unit_test(cells_of_blocks)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
