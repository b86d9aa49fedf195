#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "heavy.h"
#include "mem.h"

#define KEYS 5000

static uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);
	x = (x ^ x >> 32) * UINT64_C(0xD6E8FEB86659FD93);
	return x ^ x >> 29;
}

static void add(struct heavy *h, uint64_t key, uint64_t bytes)
{
	uint8_t raw[8];
	put_be64(raw, key);
	heavy_add(h, bytes_of(raw, key % 5 + 4), bytes);
}

static uint64_t key_number(struct bytes key)
{
	uint8_t raw[8] = {0};
	memcpy(raw, key.ptr, key.len);
	return get_be64(raw);
}

/* Rank r comes about n / r times, in random order. */
static uint64_t zipf(uint64_t *seed, uint64_t n)
{
	uint64_t below = n;
	for (int i = 0; i < 3; i++)
		below = random_next(seed) % below + 1;
	return below - 1;
}

/* The low byte decides the length and stays in the key: all of these are different. */
static uint64_t spread(uint64_t rank)
{
	return rank << 40 | rank % 5;
}

static uint64_t true_key(struct bytes key)
{
	return key_number(key) >> 40;
}

/* Every bound of the list against the exact counts, and nothing heavy left out. */
static void check_bounds(const struct heavy *h, const uint64_t *exact, uint32_t counters)
{
	struct heavy_key *list;
	uint64_t all = 0;
	bool *listed = mem_calloc(KEYS, sizeof(*listed));
	for (size_t i = 0; i < KEYS; i++)
		all += exact[i];
	assert_int_equal(heavy_bytes(h), all);
	assert_true(heavy_error(h) <= 2 * all / counters);
	size_t n = heavy_list(h, 0, &list);
	assert_true(n <= counters);
	for (size_t i = 0; i < n; i++) {
		uint64_t truth = exact[true_key(list[i].key)];
		assert_true(list[i].at_least <= truth && truth <= list[i].at_most);
		assert_true(i == 0 || list[i - 1].at_least >= list[i].at_least);
		listed[true_key(list[i].key)] = true;
	}
	for (size_t i = 0; i < KEYS; i++)
		assert_true(listed[i] || exact[i] <= heavy_error(h));
	mem_free(list);
	mem_free(listed);
}

static void bounds_hold(void **state)
{
	static const uint32_t counters[] = {16, 64, 500, 8192};
	uint64_t *exact = mem_alloc(KEYS * sizeof(*exact));
	(void)state;
	for (size_t c = 0; c < 4; c++) {
		for (uint64_t seed = 0; seed < 20; seed++) {
			struct heavy *h = heavy_new(counters[c]);
			uint64_t random = seed;
			memset(exact, 0, KEYS * sizeof(*exact));
			for (int i = 0; i < 20000; i++) {
				uint64_t key = zipf(&random, KEYS);
				uint64_t bytes = seed % 2 ? 1 + random_next(&random) % 1000 : 1;
				exact[key] += bytes;
				add(h, spread(key), bytes);
			}
			check_bounds(h, exact, counters[c]);
			heavy_free(h);
		}
	}
	mem_free(exact);
}

static void exact_with_enough_counters(void **state)
{
	struct heavy *h = heavy_new(64);
	struct heavy_key *list;
	(void)state;
	for (uint64_t i = 0; i < 64; i++)
		for (uint64_t j = 0; j <= i; j++)
			add(h, spread(i), 10);
	assert_int_equal(heavy_list(h, 610, &list), 4);
	for (uint64_t i = 0; i < 4; i++) {
		assert_int_equal(true_key(list[i].key), 63 - i);
		assert_int_equal(list[i].at_least, 640 - 10 * i);
		assert_int_equal(list[i].at_most, list[i].at_least);
	}
	mem_free(list);
	heavy_free(h);
}

static void merged_bounds_hold(void **state)
{
	uint64_t *exact = mem_calloc(KEYS, sizeof(*exact));
	struct heavy *part[4];
	uint64_t seed = 77;
	(void)state;
	for (int i = 0; i < 4; i++)
		part[i] = heavy_new(100);
	for (int i = 0; i < 50000; i++) {
		uint64_t key = zipf(&seed, KEYS), bytes = 1 + random_next(&seed) % 50;
		exact[key] += bytes;
		add(part[i % 7 % 4], spread(key), bytes);
	}
	for (int i = 1; i < 4; i++)
		heavy_merge(part[0], part[i]);
	check_bounds(part[0], exact, 100);
	for (int i = 0; i < 4; i++)
		heavy_free(part[i]);
	mem_free(exact);
}

static void saved_and_loaded(void **state)
{
	struct heavy *h = heavy_new(50), *back;
	struct buf file = {0}, again = {0};
	struct error err;
	uint64_t seed = 5;
	(void)state;
	for (int i = 0; i < 3000; i++)
		add(h, spread(zipf(&seed, KEYS)), 3);
	heavy_save(h, &file);
	assert_int_equal(heavy_load(&back, "f", buf_bytes(&file), &err), 0);
	heavy_save(back, &again);
	assert_true(bytes_eq(buf_bytes(&file), buf_bytes(&again)));
	heavy_free(back);
	for (size_t i = 0; i < file.len; i++) {
		file.ptr[i] ^= 1;
		assert_int_equal(heavy_load(&back, "f", buf_bytes(&file), &err), RC_DATA);
		assert_null(back);
		file.ptr[i] ^= 1;
		assert_int_equal(heavy_load(&back, "f", bytes_of(file.ptr, i), &err), RC_DATA);
	}
	buf_put(&file, 0);
	assert_int_equal(heavy_load(&back, "f", buf_bytes(&file), &err), RC_DATA);
	heavy_free(h);
	heavy_free(NULL);
	buf_release(&file);
	buf_release(&again);
}

/* 32 KB keys: only as many as fit in 4 MB, and the bounds stay true. */
static void long_keys(void **state)
{
	struct heavy *h = heavy_new(8192);
	struct heavy_key *list;
	uint8_t *key = mem_calloc(32767, 1);
	size_t held = 0;
	(void)state;
	for (uint32_t i = 0; i < 2000; i++) {
		put_be32(key + 30000, i % 10 ? i : 7777);
		heavy_add(h, bytes_of(key, 32767), 5);
	}
	size_t n = heavy_list(h, 1, &list);
	for (size_t i = 0; i < n; i++)
		held += list[i].key.len;
	assert_true(held <= 4u << 20);
	assert_int_equal(get_be32(list[0].key.ptr + 30000), 7777);
	assert_true(list[0].at_least <= 1000 && list[0].at_most >= 1000);
	mem_free(list);
	heavy_free(h);
	mem_free(key);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounds_hold),	      cmocka_unit_test(exact_with_enough_counters),
		cmocka_unit_test(merged_bounds_hold), cmocka_unit_test(saved_and_loaded),
		cmocka_unit_test(long_keys),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
