/*
 * sort_rows.h - rows with keys of many shapes, and their order by qsort
 */
#ifndef SALTMILL_TEST_SORT_ROWS_H
#define SALTMILL_TEST_SORT_ROWS_H

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "mem.h"
#include "tests/unit/draw.h"

struct row {
	uint8_t *key;
	size_t key_len;
	uint8_t secondary[8];
	uint64_t seq;
	uint8_t *payload;
	size_t payload_len;
};

struct rows {
	struct row *v;
	size_t n;
	size_t secondary_bytes;
};

/* ---- shapes of keys ---- */

typedef size_t draw_key(uint8_t *key);

static inline size_t key_fixed21(uint8_t *key)
{
	key[0] = (uint8_t)(draw() % 16);
	put_be64(key + 1, draw() % 300);
	put_be64(key + 9, INT64_MAX - draw() % 1000000000);
	put_be32(key + 17, (uint32_t)draw() % 3);
	return 21;
}

static inline size_t key_random16(uint8_t *key)
{
	draw_bytes(key, 16);
	return 16;
}

static inline size_t key_variable(uint8_t *key)
{
	size_t n = 1 + draw() % 40;

	draw_bytes(key, n);
	return n;
}

/* Makes keys of two lengths with a long common text and few differences after it. */
static inline size_t key_shared_prefix(uint8_t *key)
{
	memset(key, 'p', 150);
	key[149] = (uint8_t)(draw() % 5);
	size_t n = 150 + 9 * (draw() % 2);
	memset(key + 150, 'q', 9);
	key[n - 1] = (uint8_t)(draw() % 200);
	return n;
}

/* Makes keys of one length, which differ only in bytes 70 to 100, mostly in the last bytes. */
static inline size_t key_late_difference(uint8_t *key)
{
	memset(key, 'x', 100);
	key[70] = (uint8_t)(draw() % 2);
	draw_bytes(key + 92, 8);
	return 100;
}

/* Makes keys that often share their first 64 varying bits. A key is one of three random words and a
 * random tail.
 */
static inline size_t key_wide_tail(uint8_t *key)
{
	memset(key, (int)(0x11 * (1 + draw() % 3)), 40);
	draw_bytes(key + 40, 12);
	return 52;
}

static inline size_t key_all_equal(uint8_t *key)
{
	memcpy(key, "the same row", 12);
	return 12;
}

/* Makes keys of zero bytes, of which many are prefixes of others. */
static inline size_t key_zeros(uint8_t *key)
{
	size_t n = 1 + draw() % 20;

	memset(key, 0, n);
	if (draw() % 3 == 0)
		key[draw() % n] = 1;
	return n;
}

static inline size_t key_few(uint8_t *key)
{
	key[0] = 'k';
	key[1] = (uint8_t)('0' + draw() % 7);
	return 2;
}

static inline size_t key_ones(uint8_t *key)
{
	memset(key, 0xff, 12);
	if (draw() % 2)
		key[11] = (uint8_t)draw();
	return 8 + draw() % 5;
}

static inline size_t key_longest(uint8_t *key)
{
	memset(key, 'L', ROW_KEY_MAX);
	key[ROW_KEY_MAX - 1] = (uint8_t)draw();
	return ROW_KEY_MAX - draw() % 2;
}

struct shape {
	const char *name;
	draw_key *key;
	size_t secondary_bytes;
	size_t n;
	size_t large; /* records with a payload of 3 MB */
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
	{"huge records", key_fixed21, 8, 1000, 3},
	{"one record", key_fixed21, 0, 1, 0},
	{"nothing", key_fixed21, 0, 0, 0},
};

static inline void rows_make(struct rows *rows, const struct shape *shape, uint64_t seed)
{
	static uint8_t key[ROW_KEY_MAX];

	random_state = seed * 0x9e3779b97f4a7c15u + 1;
	rows->n = shape->n;
	rows->secondary_bytes = shape->secondary_bytes;
	rows->v = mem_calloc(shape->n, sizeof *rows->v);
	for (size_t i = 0; i < shape->n; i++) {
		struct row *r = &rows->v[i];

		r->key_len = shape->key(key);
		r->key = mem_alloc(r->key_len);
		memcpy(r->key, key, r->key_len);
		put_be64(r->secondary, INT64_MAX - draw() % 50);
		r->payload_len = i < shape->large ? 3000000 + draw() % 1000 : draw() % 160;
		r->payload = mem_alloc(r->payload_len);
		draw_bytes(r->payload, r->payload_len < 160 ? r->payload_len : 160);
		r->seq = i;
	}
	for (size_t i = rows->n; i > 1; i--) { /* not in the order of seq */
		size_t k = draw() % i;
		struct row swap = rows->v[i - 1];
		rows->v[i - 1] = rows->v[k];
		rows->v[k] = swap;
	}
}

static inline void rows_release(struct rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		mem_free(rows->v[i].key);
		mem_free(rows->v[i].payload);
	}
	mem_free(rows->v);
}

static inline int compare_keys(const struct row *a, const struct row *b)
{
	for (size_t i = 0; i < a->key_len && i < b->key_len; i++)
		if (a->key[i] != b->key[i])
			return a->key[i] < b->key[i] ? -1 : 1;
	return (a->key_len > b->key_len) - (a->key_len < b->key_len);
}

static inline int compare_without_minor(const void *a, const void *b)
{
	const struct row *ra = a, *rb = b;
	int c = compare_keys(ra, rb);

	return c ? c : (ra->seq > rb->seq) - (ra->seq < rb->seq);
}

static inline int compare_with_minor(const void *a, const void *b)
{
	const struct row *ra = a, *rb = b;
	int c = compare_keys(ra, rb);

	if (c == 0)
		c = memcmp(ra->secondary, rb->secondary, 8);
	return c ? c : (ra->seq > rb->seq) - (ra->seq < rb->seq);
}

/* Makes a sorted copy that borrows the rows' bytes. */
static inline struct row *rows_sorted(const struct rows *rows)
{
	struct row *v = mem_alloc(rows->n * sizeof *v);

	if (rows->n)
		memcpy(v, rows->v, rows->n * sizeof *v);
	qsort(v, rows->n, sizeof *v,
	      rows->secondary_bytes ? compare_with_minor : compare_without_minor);
	return v;
}

#endif
