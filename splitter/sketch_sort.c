/*
 * sketch_sort.c - put a level's items in order
 *
 * A level is one of two kinds.  The lowest ones hold rows as they came: a radix sort by the eight
 * bytes of the key that an item carries, and then the few groups that are equal in these.  The
 * others hold a few sorted runs from below: a natural merge sort, linear for them.
 */
#include "mem.h"
#include "sketch_state.h"

#define MIN_RUN	    16
#define RADIX_ITEMS 256 /* below this clearing the histograms costs more than merging */

/* Order behind equal prefixes, in words; the last one may overlap what was compared before. */
static bool tail_below(struct bytes x, struct bytes y)
{
	size_t n = x.len < y.len ? x.len : y.len;

	for (size_t i = 8; i < n; i += 8) {
		size_t at = i + 8 <= n ? i : n - 8;
		uint64_t p = get_be64(x.ptr + at), q = get_be64(y.ptr + at);
		if (p != q)
			return p < q;
	}
	return x.len < y.len;
}

static inline bool item_below(const struct level *l, const struct item *a, const struct item *b)
{
	if (a->prefix != b->prefix)
		return a->prefix < b->prefix;
	return tail_below(item_key(l, a), item_key(l, b));
}

/* The length of the ascending run that a starts with, made MIN_RUN by insertion if it is short. */
static size_t take_run(const struct level *l, struct item *a, size_t left)
{
	size_t n = 1;

	while (n < left && !item_below(l, &a[n], &a[n - 1]))
		n++;
	for (; n < left && n < MIN_RUN; n++) {
		struct item it = a[n];
		size_t i = n;
		for (; i && item_below(l, &it, &a[i - 1]); i--)
			a[i] = a[i - 1];
		a[i] = it;
	}
	return n;
}

/* Merge the neighbouring runs [0, n) and [n, n + m) of a; scratch holds n items. */
static void merge_runs(const struct level *l, struct item *a, size_t n, size_t m,
		       struct item *scratch)
{
	size_t i = 0, j = n, out = 0;

	if (!item_below(l, &a[n], &a[n - 1]))
		return;
	memcpy(scratch, a, n * sizeof(*a));
	while (i < n && j < n + m)
		a[out++] = item_below(l, &a[j], &scratch[i]) ? a[j++] : scratch[i++];
	memcpy(a + out, scratch + i, (n - i) * sizeof(*a));
}

/* Runs wait on a stack on which lengths at least halve, so SKETCH_LEVELS are enough. */
static void merge_sort(const struct level *l, struct item *a, size_t count, struct item *scratch)
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

/* Least significant byte first; a byte that is the same in all items takes no pass. */
static void radix_sort(struct item *a, size_t count, struct item *scratch)
{
	uint32_t histogram[8][256] = {{0}};
	struct item *from = a, *to = scratch;

	for (size_t i = 0; i < count; i++)
		for (unsigned byte = 0; byte < 8; byte++)
			histogram[byte][a[i].prefix >> (8 * byte) & 0xFF]++;
	for (unsigned byte = 0; byte < 8; byte++) {
		uint32_t *h = histogram[byte], sum = 0;
		if (h[a[0].prefix >> (8 * byte) & 0xFF] == count)
			continue;
		for (unsigned v = 0; v < 256; v++) {
			uint32_t n = h[v];
			h[v] = sum;
			sum += n;
		}
		for (size_t i = 0; i < count; i++)
			to[h[from[i].prefix >> (8 * byte) & 0xFF]++] = from[i];
		struct item *t = from;
		from = to;
		to = t;
	}
	if (from != a)
		memcpy(a, from, count * sizeof(*a));
}

/* More runs than a few from below: rows as they came. */
static bool is_unsorted(const struct level *l)
{
	size_t descents = 0;

	for (size_t i = 1; i < l->count; i++)
		descents += l->items[i].prefix < l->items[i - 1].prefix;
	return descents > l->count / MIN_RUN;
}

void level_sort(struct sketch *s, struct level *l)
{
	struct item *a = l->items;

	if (l->count < 2)
		return;
	if (s->scratch_cap < l->count) {
		s->scratch_cap = l->count;
		mem_free(s->scratch);
		s->scratch = mem_alloc(s->scratch_cap * sizeof(*s->scratch));
	}
	if (l->count < RADIX_ITEMS || !is_unsorted(l)) {
		merge_sort(l, a, l->count, s->scratch);
		return;
	}
	radix_sort(a, l->count, s->scratch);
	for (size_t i = 0, n; i < l->count; i += n) {
		for (n = 1; i + n < l->count && a[i + n].prefix == a[i].prefix;)
			n++;
		if (n > 1)
			merge_sort(l, a + i, n, s->scratch);
	}
}
