/*
 * sketch_sort.c - sort a level's items
 *
 * There are two kinds of levels. The lowest levels have rows in input order. These levels get a
 * radix sort by the words of the key in an item. Then the function sorts the few groups with equal
 * words. The other levels have a few sorted runs from lower levels. These get a natural merge sort,
 * which takes linear time for few runs.
 */
#include "mem.h"
#include "sketch_state.h"

#define MIN_RUN 16
/* with fewer items, the time to clear the histograms exceeds the time of a merge */
#define RADIX_ITEMS 256

/*
 * Compare the bytes after equal words. The last word of a key may overlap bytes of an earlier
 * comparison.
 */
static bool tail_below(struct bytes x, struct bytes y)
{
	size_t n = x.len < y.len ? x.len : y.len;

	for (size_t i = 8 * ITEM_WORDS; i < n; i += 8) {
		size_t at = i + 8 <= n ? i : n - 8;
		uint64_t p = get_be64(x.ptr + at), q = get_be64(y.ptr + at);

		if (p != q)
			return p < q;
	}
	return x.len < y.len;
}

static inline bool below(const struct level *l, const struct sketch_item *a, const struct level *m,
			 const struct sketch_item *b)
{
	for (size_t i = 0; i < ITEM_WORDS; i++)
		if (a->word[i] != b->word[i])
			return a->word[i] < b->word[i];
	return tail_below(item_key(l, a), item_key(m, b));
}

bool item_below(const struct level *l, const struct sketch_item *a, const struct level *m,
		const struct sketch_item *b)
{
	return below(l, a, m, b);
}

/*
 * Return the length of the ascending run at the start of `a`. Insertion extends a short run to
 * MIN_RUN.
 */
static size_t take_run(const struct level *l, struct sketch_item *a, size_t left)
{
	size_t n = 1;

	while (n < left && !below(l, &a[n], l, &a[n - 1]))
		n++;
	for (; n < left && n < MIN_RUN; n++) {
		struct sketch_item it = a[n];
		size_t i = n;

		for (; i && below(l, &it, l, &a[i - 1]); i--)
			a[i] = a[i - 1];
		a[i] = it;
	}
	return n;
}

/* Merge the adjacent runs [0, n) and [n, n + m) of `a`. `scratch` has room for `n` items. */
static void merge_runs(const struct level *l, struct sketch_item *a, size_t n, size_t m,
		       struct sketch_item *scratch)
{
	size_t i = 0, j = n, out = 0;

	if (!below(l, &a[n], l, &a[n - 1]))
		return;
	memcpy(scratch, a, n * sizeof *a);
	while (i < n && j < n + m)
		a[out++] = below(l, &a[j], l, &scratch[i]) ? a[j++] : scratch[i++];
	memcpy(a + out, scratch + i, (n - i) * sizeof *a);
}

/*
 * Sort by merging. Runs are on a stack. Each run is at most half as long as the next lower run, so
 * SKETCH_LEVELS entries suffice.
 */
static void merge_sort(const struct level *l, struct sketch_item *a, size_t count,
		       struct sketch_item *scratch)
{
	size_t start[SKETCH_LEVELS], length[SKETCH_LEVELS], runs = 0;

	for (size_t at = 0; at < count || runs > 1;) {
		if (at < count) {
			start[runs] = at;
			length[runs] = take_run(l, a + at, count - at);
			at += length[runs++];
		}
		while (runs > 1 && (at == count || length[runs - 2] <= 2 * length[runs - 1])) {
			runs--;
			merge_runs(l, a + start[runs - 1], length[runs - 1], length[runs], scratch);
			length[runs - 1] += length[runs];
		}
	}
}

/* Do one pass over a byte, unless all items have the same byte. */
static bool radix_pass(const struct sketch_item *from, struct sketch_item *to, size_t count,
		       unsigned word, unsigned shift, uint32_t h[256])
{
	uint32_t sum = 0;

	if (h[from[0].word[word] >> shift & 0xFF] == count)
		return false;
	for (unsigned v = 0; v < 256; v++) {
		uint32_t n = h[v];

		h[v] = sum;
		sum += n;
	}
	for (size_t i = 0; i < count; i++)
		to[h[from[i].word[word] >> shift & 0xFF]++] = from[i];
	return true;
}

/* Sort by radix, least significant byte first. */
static void radix_sort(struct sketch_item *a, size_t count, struct sketch_item *scratch)
{
	struct sketch_item *from = a, *to = scratch;

	for (unsigned word = ITEM_WORDS; word-- > 0;) {
		uint32_t histogram[8][256] = {{0}};

		for (size_t i = 0; i < count; i++)
			for (unsigned byte = 0; byte < 8; byte++)
				histogram[byte][a[i].word[word] >> (8 * byte) & 0xFF]++;
		for (unsigned byte = 0; byte < 8; byte++) {
			if (!radix_pass(from, to, count, word, 8 * byte, histogram[byte]))
				continue;
			struct sketch_item *t = from;
			from = to;
			to = t;
		}
		if (from != a)
			memcpy(a, from, count * sizeof *a);
		from = a;
		to = scratch;
	}
}

static bool same_words(const struct sketch_item *a, const struct sketch_item *b)
{
	return memcmp(a->word, b->word, sizeof a->word) == 0;
}

/*
 * Return true if the level has more runs than lower levels can give. The rows of such a level are
 * in input order.
 */
static bool is_unsorted(const struct level *l)
{
	size_t descents = 0;

	for (size_t i = 1; i < l->count; i++)
		descents += l->items[i].word[0] < l->items[i - 1].word[0] ||
			    (l->items[i].word[0] == l->items[i - 1].word[0] &&
			     l->items[i].word[1] < l->items[i - 1].word[1]);
	return descents > l->count / MIN_RUN;
}

void level_sort(struct sketch *s, struct level *l)
{
	struct sketch_item *a = l->items;

	if (l->count < 2)
		return;
	if (s->scratch_cap < l->count) {
		s->scratch_cap = l->count;
		mem_free(s->scratch);
		s->scratch = mem_alloc(s->scratch_cap * sizeof *s->scratch);
	}
	if (l->count < RADIX_ITEMS || !is_unsorted(l)) {
		merge_sort(l, a, l->count, s->scratch);
		return;
	}
	radix_sort(a, l->count, s->scratch);
	for (size_t i = 0, n; i < l->count; i += n) {
		for (n = 1; i + n < l->count && same_words(&a[i + n], &a[i]);)
			n++;
		if (n > 1)
			merge_sort(l, a + i, n, s->scratch);
	}
}
