/*
 * Tests that the digest of a file is the sum of the XXH3-128 of its chunks, and that the sums of
 * parts add up to it, wherever the file is cut.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "hash.h"
#include "mem.h"
#include "tests/unit/draw.h"

#define SIZE ((unsigned)(3 * FILE_CHUNK + 12345))

static uint8_t *file;

/* Add up the chunks, 32 bits at a time. */
static void by_hand(size_t size, uint8_t digest[16])
{
	uint64_t sum[4] = {0}, seed = 0;

	for (size_t at = 0; at < size || at == 0; at += FILE_CHUNK, seed++) {
		size_t n = size - at < FILE_CHUNK ? size - at : FILE_CHUNK;
		XXH128_hash_t h = XXH3_128bits_withSeed(file + at, n, seed);

		sum[0] += h.low64 & UINT32_MAX;
		sum[1] += h.low64 >> 32;
		sum[2] += h.high64 & UINT32_MAX;
		sum[3] += h.high64 >> 32;
	}
	for (size_t i = 0; i < 16; i++) {
		if (i && i % 4 == 0)
			sum[i / 4] += sum[i / 4 - 1] >> 32;
		digest[15 - i] = (uint8_t)(sum[i / 4] >> 8 * (i % 4));
	}
}

/* Read [begin, end) in pieces, and digest the chunks that begin in [from, to). */
static void read_part(size_t begin, size_t end, uint64_t from, uint64_t to, uint8_t digest[16])
{
	struct file_digest d;

	file_digest_open(&d, 0);
	file_digest_limit(&d, from, to);
	if (begin)
		file_digest_move(&d, begin);
	while (begin < end) {
		size_t n = pick(900000);

		n = n < end - begin ? n : end - begin;
		file_digest_add(&d, file + begin, n);
		begin += n;
	}
	file_digest_sum(&d, digest);
	file_digest_close(&d);
}

static void test_whole_files(void **state)
{
	const size_t sizes[] = {0, 1, 300, FILE_CHUNK - 1, FILE_CHUNK, FILE_CHUNK + 1, SIZE};
	uint8_t expected[16], found[16];

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		by_hand(sizes[i], expected);
		read_part(0, sizes[i], 0, UINT64_MAX, found);
		assert_memory_equal(found, expected, 16);
	}
}

static void test_parts_add_up(void **state)
{
	uint8_t expected[16], sum[16], part[16];

	(void)state;
	by_hand(SIZE, expected);
	for (int round = 0; round < 40; round++) {
		uint64_t cut = pick(SIZE), end = file_chunk_end(cut);
		/* a part may begin before its first chunk, and end after its last one */
		size_t begin = cut - pick((unsigned)cut / 2 + 1);

		end = end < SIZE ? end : SIZE;
		read_part(0, end + pick((unsigned)(SIZE - end) + 1), 0, cut, sum);
		read_part(begin, SIZE, cut, UINT64_MAX, part);
		digest_add(sum, part);
		assert_memory_equal(sum, expected, 16);
	}
}

static void test_the_end_of_a_chunk(void **state)
{
	(void)state;
	assert_int_equal(file_chunk_end(0), 0);
	assert_int_equal(file_chunk_end(1), FILE_CHUNK);
	assert_int_equal(file_chunk_end(FILE_CHUNK), FILE_CHUNK);
	assert_int_equal(file_chunk_end(FILE_CHUNK + 1), 2 * FILE_CHUNK);
}

static void test_a_sum_carries_and_wraps(void **state)
{
	uint8_t sum[16], one[16] = {[15] = 1}, zero[16] = {0}, two[16] = {[15] = 2};

	(void)state;
	memset(sum, 0xff, sizeof sum);
	digest_add(sum, one);
	assert_memory_equal(sum, zero, 16);
	memset(sum, 0xff, sizeof sum);
	digest_add(sum, sum);
	digest_add(sum, two);
	assert_memory_equal(sum, zero, 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_files),
		cmocka_unit_test(test_parts_add_up),
		cmocka_unit_test(test_the_end_of_a_chunk),
		cmocka_unit_test(test_a_sum_carries_and_wraps),
	};

	file = mem_alloc(SIZE);
	random_state = 32;
	draw_bytes(file, SIZE);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	mem_free(file);
	return failed;
}
