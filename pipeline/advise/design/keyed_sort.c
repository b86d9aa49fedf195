/*
 * keyed_sort.c - sort the events by their row keys
 *
 * Keys of one width are packed first: only the bits that vary count, and the first 64 of them tell
 * almost all keys apart. Other keys, and keys that are equal so far, are sorted by 8 bytes at a time.
 * Comparing whole keys would read each key about 20 times, from random places of a large buffer.
 */
#include <stdlib.h>

#include "keyed.h"

#define HEAD_BYTES   8	 /* bytes of a pass */
#define HEAD_BITS    64	 /* bits of a pass */
#define HEADS_MOST   64	 /* after so many equal bytes, compare whole keys */
#define RADIX_LEAST  256 /* a radix sort of fewer keys is slower than qsort */
#define INSERT_MOST  24	 /* an insertion sort of more keys is slower than qsort */
#define DIGIT_BITS   8
#define DIGIT_VALUES (1 << DIGIT_BITS)

/* --- heads --- */

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

/* Up to 8 adjacent bytes of a key whose values vary. */
struct varying_run {
	size_t at;
	unsigned bytes, bits; /* `bits` without the first ones, which do not vary */
};
struct head_packing {
	struct varying_run run[HEAD_BITS];
	size_t n;
	unsigned bits;
	size_t next; /* the first byte that the packed head lacks */
};

/* Find the bits of the first HEADS_MOST bytes that differ between keys. */
static void find_varying(const struct keyed *k, uint8_t varying[HEADS_MOST])
{
	size_t width = k->width < HEADS_MOST ? k->width : HEADS_MOST;
	size_t words = (width + HEAD_BYTES - 1) / HEAD_BYTES;
	uint64_t bits[HEADS_MOST / HEAD_BYTES] = {0}, first[HEADS_MOST / HEAD_BYTES];

	for (size_t w = 0; w < words; w++)
		first[w] = get_be64(k->keys + w * HEAD_BYTES);
	for (size_t i = 0; i < k->e->n; i++)
		for (size_t w = 0; w < words; w++)
			bits[w] |= first[w] ^ get_be64(k->keys + i * k->width + w * HEAD_BYTES);
	for (size_t b = 0; b < width; b++)
		varying[b] = (uint8_t)(bits[b / HEAD_BYTES] >> (56 - b % HEAD_BYTES * 8));
}

static unsigned bits_of(uint8_t byte)
{
	return byte ? 32 - (unsigned)__builtin_clz(byte) : 0;
}

/* Find the bits to pack, from the first byte that varies. */
static struct head_packing pack_bits(const struct keyed *k)
{
	uint8_t varying[HEADS_MOST] = {0};
	struct head_packing p = {.next = 0};

	find_varying(k, varying);
	for (; p.next < k->width && p.next < HEADS_MOST; p.next++) {
		bool joins = p.n && p.run[p.n - 1].at + p.run[p.n - 1].bytes == p.next &&
			     p.run[p.n - 1].bytes < HEAD_BYTES;
		unsigned bits = joins && varying[p.next] ? 8 : bits_of(varying[p.next]);

		if (!bits)
			continue;
		if (p.bits + bits > HEAD_BITS)
			break;
		if (!joins)
			p.run[p.n++] = (struct varying_run){.at = p.next};
		p.run[p.n - 1].bytes++;
		p.run[p.n - 1].bits += bits;
		p.bits += bits;
	}
	return p;
}

static uint64_t packed(const struct head_packing *p, const uint8_t *key)
{
	uint64_t head = 0;

	for (size_t i = 0; i < p->n; i++) {
		const struct varying_run *r = &p->run[i];
		uint64_t value = get_be64(key + r->at) >> (HEAD_BITS - 8 * r->bytes);

		if (r->bits == HEAD_BITS)
			return value;
		head = head << r->bits | (value & ((UINT64_C(1) << r->bits) - 1));
	}
	return p->bits ? head << (HEAD_BITS - p->bits) : 0;
}

/* --- sorting by heads; equal heads stay in the order of the events --- */

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

static void insertion_sort(struct sorted_key *a, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct sorted_key one = a[i];
		size_t at = i;

		for (; at && a[at - 1].head > one.head; at--)
			a[at] = a[at - 1];
		a[at] = one;
	}
}

/* Move the keys from `a` to `b` in the order of one digit of their heads, and keep equal ones in order. */
static void radix_pass(const struct sorted_key *a, struct sorted_key *b, size_t n, unsigned shift,
		       const uint32_t *count)
{
	uint32_t next[DIGIT_VALUES], sum = 0;

	for (unsigned v = 0; v < DIGIT_VALUES; v++) {
		next[v] = sum;
		sum += count[v];
	}
	for (size_t i = 0; i < n; i++)
		b[next[a[i].head >> shift & (DIGIT_VALUES - 1)]++] = a[i];
}

/* Sort by the digits from bit `low` up to bit `high`. `b` has room for `n` keys. */
static void radix_digits(struct sorted_key *a, struct sorted_key *b, size_t n, unsigned low,
			 unsigned high)
{
	uint32_t count[HEAD_BYTES][DIGIT_VALUES];
	unsigned digits = (high - low) / DIGIT_BITS;
	struct sorted_key *from = a, *to = b;

	memset(count, 0, digits * sizeof *count);
	for (size_t i = 0; i < n; i++)
		for (unsigned d = 0; d < digits; d++)
			count[d][a[i].head >> (low + DIGIT_BITS * d) & (DIGIT_VALUES - 1)]++;
	for (unsigned d = 0; d < digits; d++) {
		unsigned shift = low + DIGIT_BITS * d;
		struct sorted_key *swap = to;

		if (count[d][from->head >> shift & (DIGIT_VALUES - 1)] == n)
			continue;
		radix_pass(from, to, n, shift, count[d]);
		to = from;
		from = swap;
	}
	if (from != a)
		memcpy(a, from, n * sizeof *a);
}

/* Return the digits that leave few of `n` even keys equal, as bits. */
static unsigned bits_for(size_t n, unsigned most)
{
	unsigned bits = DIGIT_BITS;

	while (bits < most && n >> (bits > 4 ? bits - 4 : 0))
		bits += DIGIT_BITS;
	return bits < most ? bits : most;
}

/* Sort by the bits of the heads below `high`. The bits from `high` on are equal. */
static void sort_heads(struct sorted_key *a, struct sorted_key *b, size_t n, unsigned high)
{
	if (n <= INSERT_MOST) {
		insertion_sort(a, n);
		return;
	}
	if (n < RADIX_LEAST) {
		qsort(a, n, sizeof *a, compare_heads);
		return;
	}
	unsigned low = high - bits_for(n, high);
	radix_digits(a, b, n, low, high);
	for (size_t i = 0, end; low && i < n; i = end) {
		for (end = i + 1; end < n && a[end].head >> low == a[i].head >> low; end++)
			;
		if (end - i > 1)
			sort_heads(a + i, b + i, end - i, low);
	}
}

static void sort_from(struct keyed *k, struct sorted_key *a, struct sorted_key *b, size_t n,
		      size_t at);

/* Sort the groups of keys that are equal before byte `at`. */
static void sort_groups(struct keyed *k, struct sorted_key *a, struct sorted_key *b, size_t n,
			size_t at)
{
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

/* Sort keys that are equal before byte `at`. */
static void sort_from(struct keyed *k, struct sorted_key *a, struct sorted_key *b, size_t n,
		      size_t at)
{
	for (size_t i = 0; i < n; i++)
		a[i].head = head_at(k, a[i].event, at);
	sort_heads(a, b, n, HEAD_BITS);
	sort_groups(k, a, b, n, at + HEAD_BYTES);
}

void keyed_sort(struct keyed *k)
{
	size_t n = k->e->n;
	struct sorted_key *a = k->sorted, *b = k->room->swap;

	if (k->width && n) {
		struct head_packing p = pack_bits(k);

		for (size_t i = 0; i < n; i++)
			a[i].head = packed(&p, k->keys + i * k->width);
		sort_heads(a, b, n, HEAD_BITS);
		sort_groups(k, a, b, n, p.next);
	} else {
		sort_from(k, a, b, n, 0);
	}
	for (size_t i = 0; i < n; i++)
		k->order[i] = a[i].event;
}

void words_sort(uint64_t *words, size_t n)
{
	uint64_t *swap = mem_alloc((n + 1) * sizeof *swap), *from = words, *to = swap;

	for (unsigned shift = 0; n && shift < HEAD_BITS; shift += DIGIT_BITS) {
		uint32_t next[DIGIT_VALUES + 1] = {0};
		uint64_t *was = from;

		for (size_t i = 0; i < n; i++)
			next[(from[i] >> shift & (DIGIT_VALUES - 1)) + 1]++;
		if (next[(from[0] >> shift & (DIGIT_VALUES - 1)) + 1] == n)
			continue;
		for (unsigned v = 0; v < DIGIT_VALUES; v++)
			next[v + 1] += next[v];
		for (size_t i = 0; i < n; i++)
			to[next[from[i] >> shift & (DIGIT_VALUES - 1)]++] = from[i];
		from = to;
		to = was;
	}
	if (from != words)
		memcpy(words, from, n * sizeof *words);
	mem_free(swap);
}
