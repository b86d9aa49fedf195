/*
 * radix.c - pack varying key bits into a u64, sort {u64, offset} by LSD radix, then repair groups
 * that the digits could not separate
 *
 * There are five digits. A sixth digit for the last bits costs more than comparing words in the few
 * equal groups. An entry has 32 more bits after the word. If these bits complete the key, as in
 * most tables, the sort reads no record again. Digits have 10 bits, so that the 1024 places to
 * which a pass writes stay in the first and second cache. 9, 11 and 12 bits were slower (2^18
 * records of 16 bytes).
 *
 * An insertion sort sorts short groups of equal digits. A radix sort on the bits in which the group
 * varies sorts long groups (shared long text, wide random tails), or else a merge sort. Insertion
 * and merge sort compare word, rest, key, secondary and seq, so the place of a record never
 * matters.
 */
#include "radix.h"

enum { INSERTION_MAX = 16, RADIX_MIN = 768, DEPTH_MAX = 6 };

struct radix_group {
	struct sort_entry *a, *b; /* `a` is sorted; `b` is scratch */
	size_t n;
};

static inline void read_key(const struct radix *x, const struct sort_entry *e, struct bytes *key)
{
	struct record r;

	record_read(&x->codec, x->base + e->at, &r);
	*key = r.key;
}

static bool less_in_full(const struct radix *x, const struct sort_entry *a,
			 const struct sort_entry *b)
{
	struct record ra, rb;

	record_read(&x->codec, x->base + a->at, &ra);
	record_read(&x->codec, x->base + b->at, &rb);
	return record_compare(&ra, &rb, x->codec.secondary_bytes) < 0;
}

static inline bool less(const struct radix *x, const struct sort_entry *a,
			const struct sort_entry *b)
{
	if (a->prefix != b->prefix)
		return a->prefix < b->prefix;
	if (a->rest != b->rest)
		return a->rest < b->rest;
	return !x->by_place && less_in_full(x, a, b);
}

static void insertion_sort(const struct radix *x, struct sort_entry *a, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct sort_entry e = a[i];
		size_t j = i;

		for (; j > 0 && less(x, &e, &a[j - 1]); j--)
			a[j] = a[j - 1];
		a[j] = e;
	}
}

static void merge_sort(const struct radix *x, struct sort_entry *a, struct sort_entry *b, size_t n)
{
	if (n <= INSERTION_MAX) {
		insertion_sort(x, a, n);
		return;
	}
	size_t half = n / 2;
	merge_sort(x, a, b, half);
	merge_sort(x, a + half, b, n - half);
	if (!less(x, &a[half], &a[half - 1]))
		return;
	memcpy(b, a, half * sizeof *a);
	size_t left = 0, right = half, to = 0;
	while (left < half && right < n) {
		if (less(x, &a[right], &b[left]))
			a[to++] = a[right++];
		else
			a[to++] = b[left++];
	}
	memcpy(a + to, b + left, (half - left) * sizeof *a);
}

/* Find the bits that vary in the window at byte s->skip of the strings. */
static void scan_window(const struct radix *x, const struct radix_group *g, struct key_span *s,
			size_t skip)
{
	size_t bytes = span_string_bytes(s, x->codec.secondary_bytes);
	bool fixed = s->min_len == s->max_len;
	size_t nwords = (bytes - skip + 7) / 8;

	if (nwords > SPAN_WORDS)
		nwords = SPAN_WORDS;
	uint64_t first[SPAN_WORDS], varies[SPAN_WORDS] = {0};
	struct bytes key;
	read_key(x, &g->a[0], &key);
	for (size_t w = 0; w < nwords; w++)
		first[w] = fixed ? get_be64(key.ptr + skip + 8 * w)
				 : padded_word(key.ptr, key.len, skip + 8 * w);
	for (size_t i = 1; i < g->n; i++) {
		read_key(x, &g->a[i], &key);
		for (size_t w = 0; fixed && w < nwords; w++)
			varies[w] |= get_be64(key.ptr + skip + 8 * w) ^ first[w];
		for (size_t w = 0; !fixed && w < nwords; w++)
			varies[w] |= padded_word(key.ptr, key.len, skip + 8 * w) ^ first[w];
	}
	s->skip = skip;
	for (size_t w = 0; w < SPAN_WORDS; w++)
		put_be64(s->mask + 8 * w, varies[w]);
	for (size_t i = 0; i < SPAN_BYTES; i++)
		if (skip + i >= bytes)
			s->mask[i] = 0; /* the bytes after the string, at the time of the read */
}

static size_t first_varying_byte(const struct key_span *s)
{
	size_t i = 0;

	while (i < SPAN_BYTES && s->mask[i] == 0)
		i++;
	return i;
}

/* Find the varying bits of a group. The window starts at the first byte that varies, unless all
 * strings end inside the first window. */
static void scan_span(const struct radix *x, const struct radix_group *g, struct key_span *s)
{
	struct record r;

	record_read(&x->codec, x->base + g->a[0].at, &r);
	span_start(s, r.key, r.secondary, x->codec.secondary_bytes);
	for (size_t i = 1; i < g->n; i++) {
		struct bytes key;

		read_key(x, &g->a[i], &key);
		if (key.len < s->min_len)
			s->min_len = key.len;
		if (key.len > s->max_len)
			s->max_len = key.len;
	}
	size_t bytes = span_string_bytes(s, x->codec.secondary_bytes);
	size_t skip = 0, same;
	do {
		scan_window(x, g, s, skip);
		same = first_varying_byte(s);
		skip += SPAN_BYTES;
	} while (same == SPAN_BYTES && skip < bytes);
	if (same > 0 && same < SPAN_BYTES && skip < bytes)
		scan_window(x, g, s, s->skip + same);
}

static void fill_prefixes(const struct radix *x, const struct key_plan *plan, struct radix_group *g,
			  struct sort_entry *to)
{
	for (size_t i = 0; i < g->n; i++) {
		struct bytes key;
		uint32_t at = g->a[i].at;

		read_key(x, &g->a[i], &key);
		struct packed_key k = plan->pack_long(plan, key.ptr, key.len);
		to[i] = (struct sort_entry){k.word, k.rest, at};
	}
}

static inline __attribute__((always_inline)) void walk_with(const struct radix *x,
							    const struct key_plan *plan, size_t n,
							    struct sort_entry *to,
							    key_pack_long *pack_long)
{
	const struct record_codec codec = x->codec;
	const uint8_t *base = x->base, *p = base;

	for (size_t i = 0; i < n; i++) {
		struct record r;
		uint32_t at = (uint32_t)(p - base);
		struct packed_key k = {0};

		p = record_read(&codec, p, &r);
		if (plan)
			k = pack_long(plan, r.key.ptr, r.key.len);
		to[i] = (struct sort_entry){k.word, k.rest, at};
	}
}

#if defined(__x86_64__)
__attribute__((target("bmi2"))) static void
walk_pext(const struct radix *x, const struct key_plan *plan, size_t n, struct sort_entry *to)
{
	walk_with(x, plan, n, to, pack_short_long_pext);
}
#endif

/* Pack the bits of all records of the buffer, in buffer order. */
static void walk_prefixes(const struct radix *x, const struct key_plan *plan, size_t n,
			  struct sort_entry *to)
{
#if defined(__x86_64__)
	if (plan && plan->short_pext) {
		walk_pext(x, plan, n, to);
		return;
	}
#endif
	walk_with(x, plan, n, to, plan ? plan->pack_long : NULL);
}

/* The digits of a word. The last `drop` bits of the word are in no digit. */
struct digits {
	unsigned passes, width, drop;
};

static struct digits cut_digits(unsigned bits)
{
	struct digits d = {.drop = bits > DIGITS_MAX * DIGIT_BITS ? bits - DIGITS_MAX * DIGIT_BITS
								  : 0};

	bits -= d.drop;
	d.passes = (bits + DIGIT_BITS - 1) / DIGIT_BITS;
	d.width = (bits + d.passes - 1) / d.passes;
	return d;
}

/* Count all DIGITS_MAX digits, because this is faster than a loop over the wanted digits. */
static void count_digits(struct radix *x, const struct sort_entry *e, size_t n, struct digits d)
{
	const unsigned width = d.width;
	const uint64_t low = (UINT64_C(1) << width) - 1;

	_Static_assert(DIGITS_MAX == 5, "one line a digit");
	memset(x->counts, 0, sizeof x->counts);
	for (size_t i = 0; i < n; i++) {
		uint64_t v = e[i].prefix >> d.drop;

		x->counts[0][v & low]++;
		x->counts[1][v >> width & low]++;
		x->counts[2][v >> 2 * width & low]++;
		x->counts[3][v >> 3 * width & low]++;
		x->counts[4][v >> 4 * width & low]++;
	}
}

/*
 * Do one pass of the radix sort. Returns false if all entries have the same digit, so that no entry
 * moves.
 */
static bool scatter(uint32_t *count, const struct sort_entry *from, struct sort_entry *to, size_t n,
		    unsigned shift, uint64_t low)
{
	if (count[from[0].prefix >> shift & low] == n)
		return false;
	uint32_t sum = 0;
	for (uint64_t v = 0; v <= low; v++) {
		uint32_t here = count[v];

		count[v] = sum;
		sum += here;
	}
	for (size_t i = 0; i < n; i++)
		to[count[from[i].prefix >> shift & low]++] = from[i];
	return true;
}

/* Sort the words of `from`, which is g->a or g->b. The sort is stable, and its result is in g->a.
 */
static void lsd_sort(struct radix *x, struct digits d, struct radix_group *g,
		     struct sort_entry *from)
{
	struct sort_entry *to = from == g->a ? g->b : g->a;
	uint64_t low = (UINT64_C(1) << d.width) - 1;

	count_digits(x, from, g->n, d);
	for (unsigned k = 0; k < d.passes; k++) {
		if (!scatter(x->counts[k], from, to, g->n, d.drop + k * d.width, low))
			continue;
		struct sort_entry *swap = from;
		from = to;
		to = swap;
	}
	if (from != g->a)
		memcpy(g->a, from, g->n * sizeof *from);
}

static void sort_group(struct radix *x, struct radix_group g, struct key_span *span,
		       unsigned depth);

/* Sort the entries within each group of equal digits. */
static void repair(struct radix *x, const struct key_plan *plan, unsigned drop,
		   struct radix_group g, unsigned depth)
{
	bool told_apart = plan->complete && drop == 0;

	if (told_apart && x->seq_rises)
		return; /* equal key and secondary, and the radix sort is stable */
	for (size_t i = 0, end; i < g.n; i = end) {
		uint64_t digits = g.a[i].prefix >> drop;

		for (end = i + 1; end < g.n && g.a[end].prefix >> drop == digits;)
			end++;
		struct radix_group sub = {g.a + i, g.b + i, end - i};
		if (sub.n < RADIX_MIN || told_apart || depth == DEPTH_MAX) {
			x->by_place = plan->whole && x->seq_rises;
			if (sub.n > 1)
				merge_sort(x, sub.a, sub.b, sub.n);
			continue;
		}
		struct key_span span = {0};
		sort_group(x, sub, &span, depth + 1);
		span_release(&span);
	}
}

static void sort_group(struct radix *x, struct radix_group g, struct key_span *span, unsigned depth)
{
	struct key_plan plan;

	scan_span(x, &g, span);
	plan_init(&plan, span, x->codec.secondary_bytes);
	if (plan.bits > 0 && g.n >= RADIX_MIN) {
		struct digits d = cut_digits(plan.bits);
		struct sort_entry *from = d.passes % 2 ? g.b : g.a;

		fill_prefixes(x, &plan, &g, from);
		lsd_sort(x, d, &g, from);
		repair(x, &plan, d.drop, g, depth);
		return;
	}
	if (plan.complete && plan.bits == 0 && x->seq_rises)
		return;
	fill_prefixes(x, &plan, &g, g.a);
	x->by_place = plan.whole && x->seq_rises;
	merge_sort(x, g.a, g.b, g.n);
}

void radix_sort(struct radix *x, size_t n, const struct span_watch *w, struct key_span *span)
{
	struct radix_group g = {x->entries, x->other, n};
	struct key_plan plan;
	struct record first;

	record_read(&x->codec, x->base, &first);
	if (w->lost || n < RADIX_MIN) {
		walk_prefixes(x, NULL, n, g.a);
		sort_group(x, g, span, 0);
		return;
	}
	span_watched(span, w, first.key.ptr, x->codec.secondary_bytes);
	plan_init(&plan, span, x->codec.secondary_bytes);
	struct digits d = plan.bits ? cut_digits(plan.bits) : (struct digits){0};
	struct sort_entry *from = d.passes % 2 ? g.b : g.a;
	walk_prefixes(x, &plan, n, from);
	lsd_sort(x, d, &g, from);
	repair(x, &plan, d.drop, g, 0);
}
