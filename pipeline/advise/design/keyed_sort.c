/*
 * keyed_sort.c - sort the events by their row keys
 *
 * A pass sorts by 8 bytes of the keys, and the next pass sorts the groups that these bytes leave equal.
 * Comparing whole keys would read each key about 20 times, from random places of a large buffer.
 */
#include <stdlib.h>

#include "keyed.h"

#define HEAD_BYTES   8	 /* bytes of a pass */
#define HEADS_MOST   64	 /* after so many equal bytes, compare whole keys */
#define RADIX_LEAST  256 /* a radix sort of fewer keys is slower than qsort */
#define DIGIT_VALUES 256

struct sorted_key {
	uint64_t head; /* 8 bytes of the key, big-endian */
	uint32_t event;
};

/* Return the 8 bytes of the key at `at`. A key that ends there has zeros. */
static uint64_t head_at(const struct keyed *k, size_t event, size_t at)
{
	struct bytes key = keyed_key(k, event);
	uint8_t first[HEAD_BYTES] = {0};

	if (key.len >= at + HEAD_BYTES)
		return get_be64(key.ptr + at);
	if (key.len > at)
		memcpy(first, key.ptr + at, key.len - at);
	return get_be64(first);
}

static int compare_heads(const void *x, const void *y)
{
	const struct sorted_key *a = x, *b = y;

	if (a->head != b->head)
		return a->head < b->head ? -1 : 1;
	return (a->event > b->event) - (a->event < b->event);
}

static int compare_keys(const void *x, const void *y, void *keyed)
{
	const struct sorted_key *a = x, *b = y;
	int c = bytes_cmp(keyed_key(keyed, a->event), keyed_key(keyed, b->event));

	return c ? c : (a->event > b->event) - (a->event < b->event);
}

/* Move the keys from `a` to `b` in the order of one byte of their heads, and keep equal ones in order. */
static void radix_pass(const struct sorted_key *a, struct sorted_key *b, size_t n, unsigned shift,
		       const uint32_t *count)
{
	uint32_t next[DIGIT_VALUES], sum = 0;

	for (unsigned v = 0; v < DIGIT_VALUES; v++) {
		next[v] = sum;
		sum += count[v];
	}
	for (size_t i = 0; i < n; i++)
		b[next[a[i].head >> shift & 0xff]++] = a[i];
}

/* Sort by the heads. `b` has room for `n` keys. */
static void radix_heads(struct sorted_key *a, struct sorted_key *b, size_t n)
{
	uint32_t count[HEAD_BYTES][DIGIT_VALUES] = {{0}};
	struct sorted_key *from = a, *to = b;

	for (size_t i = 0; i < n; i++)
		for (unsigned d = 0; d < HEAD_BYTES; d++)
			count[d][a[i].head >> 8 * d & 0xff]++;
	for (unsigned d = 0; d < HEAD_BYTES; d++) {
		struct sorted_key *swap = to;

		if (count[d][from->head >> 8 * d & 0xff] == n)
			continue;
		radix_pass(from, to, n, 8 * d, count[d]);
		to = from;
		from = swap;
	}
	if (from != a)
		memcpy(a, from, n * sizeof *a);
}

/* Sort keys that are equal before byte `at`. */
static void sort_from(struct keyed *k, struct sorted_key *a, struct sorted_key *b, size_t n,
		      size_t at)
{
	for (size_t i = 0; i < n; i++)
		a[i].head = head_at(k, a[i].event, at);
	if (n < RADIX_LEAST)
		qsort(a, n, sizeof *a, compare_heads);
	else
		radix_heads(a, b, n);
	at += HEAD_BYTES;
	if (k->width && at >= k->width)
		return;
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && a[end].head == a[i].head; end++)
			;
		if (end - i == 1)
			continue;
		if (at < HEADS_MOST)
			sort_from(k, a + i, b + i, end - i, at);
		else
			qsort_r(a + i, end - i, sizeof *a, compare_keys, k);
	}
}

void keyed_sort(struct keyed *k)
{
	size_t n = k->e->n;
	struct sorted_key *a = mem_alloc((n + 1) * sizeof *a), *b = mem_alloc((n + 1) * sizeof *b);

	for (size_t i = 0; i < n; i++)
		a[i].event = (uint32_t)i;
	sort_from(k, a, b, n, 0);
	k->order = mem_alloc((n + 1) * sizeof *k->order);
	for (size_t i = 0; i < n; i++)
		k->order[i] = a[i].event;
	mem_free(b);
	mem_free(a);
}
