/*
 * radix.c - the fastest sort of speed.md 3: varying key bits packed into a u64, LSD radix with
 * 11-bit digits on {u64, offset}, then repair of what the 64 bits could not tell apart
 *
 * Groups of equal words: short ones by insertion, long ones by the same method again on the bits
 * in which the group varies (shared long text, wide random tails), and by merge sort when that is
 * not to be had.  Insertion and merge sort compare key, minor and seq in full, so the order never
 * depends on where the records stood.
 */
#include "radix.h"

enum { INSERTION_MAX = 16, RADIX_MIN = 768, DEPTH_MAX = 6 };

struct group {
	struct sort_entry *a, *b; /* sorted in a; b is scratch */
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
	return record_compare(&ra, &rb, x->codec.minor_bytes) < 0;
}

static inline bool less(const struct radix *x, const struct sort_entry *a,
			const struct sort_entry *b)
{
	return a->prefix != b->prefix ? a->prefix < b->prefix : less_in_full(x, a, b);
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
	memcpy(b, a, half * sizeof(*a));
	size_t left = 0, right = half, to = 0;
	while (left < half && right < n) {
		if (less(x, &a[right], &b[left]))
			a[to++] = a[right++];
		else
			a[to++] = b[left++];
	}
	memcpy(a + to, b + left, (half - left) * sizeof(*a));
}

/* Which bits vary in the window of the strings at skip. */
static void scan_window(const struct radix *x, const struct group *g, struct key_span *s,
			size_t skip)
{
	size_t bytes = span_string_bytes(s, x->codec.minor_bytes);
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
			s->mask[i] = 0; /* what was read behind the string */
}

static size_t first_varying_byte(const struct key_span *s)
{
	size_t i = 0;
	while (i < SPAN_BYTES && s->mask[i] == 0)
		i++;
	return i;
}

/* The window starts at the first byte that varies, unless all strings end inside the first one. */
static void scan_span(const struct radix *x, const struct group *g, struct key_span *s)
{
	struct record r;
	record_read(&x->codec, x->base + g->a[0].at, &r);
	span_start(s, r.key, r.minor, x->codec.minor_bytes);
	for (size_t i = 1; i < g->n; i++) {
		struct bytes key;
		read_key(x, &g->a[i], &key);
		if (key.len < s->min_len)
			s->min_len = key.len;
		if (key.len > s->max_len)
			s->max_len = key.len;
	}
	size_t bytes = span_string_bytes(s, x->codec.minor_bytes);
	size_t skip = 0, same;
	do {
		scan_window(x, g, s, skip);
		same = first_varying_byte(s);
		skip += SPAN_BYTES;
	} while (same == SPAN_BYTES && skip < bytes);
	if (same > 0 && same < SPAN_BYTES && skip < bytes)
		scan_window(x, g, s, s->skip + same);
}

static void fill_prefixes(const struct radix *x, const struct key_plan *plan, struct group *g,
			  struct sort_entry *to)
{
	for (size_t i = 0; i < g->n; i++) {
		struct bytes key;
		uint32_t at = g->a[i].at;
		read_key(x, &g->a[i], &key);
		to[i] = (struct sort_entry){plan->pack(plan, key.ptr, key.len), at};
	}
}

static void count_digits(struct radix *x, const struct sort_entry *e, size_t n, unsigned passes,
			 unsigned width)
{
	uint64_t low = (UINT64_C(1) << width) - 1;
	memset(x->counts, 0, passes * sizeof(x->counts[0]));
	for (size_t i = 0; i < n; i++) {
		uint64_t v = e[i].prefix;
		for (unsigned d = 0; d < passes; d++, v >>= width)
			x->counts[d][v & low]++;
	}
}

/* One pass; false when all entries have the same digit and nothing was moved. */
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

/* Stable; the result is in a. */
static void lsd_sort(struct radix *x, const struct key_plan *plan, struct group *g)
{
	unsigned passes = (plan->bits + DIGIT_BITS - 1) / DIGIT_BITS;
	unsigned width = (plan->bits + passes - 1) / passes;
	struct sort_entry *from = passes % 2 ? g->b : g->a, *to = passes % 2 ? g->a : g->b;
	fill_prefixes(x, plan, g, from);
	count_digits(x, from, g->n, passes, width);
	for (unsigned d = 0; d < passes; d++) {
		uint64_t low = (UINT64_C(1) << width) - 1;
		if (!scatter(x->counts[d], from, to, g->n, d * width, low))
			continue;
		struct sort_entry *swap = from;
		from = to;
		to = swap;
	}
	if (from != g->a)
		memcpy(g->a, from, g->n * sizeof(*from));
}

static void sort_group(struct radix *x, struct group g, struct key_span *span, unsigned depth);

/* Put groups of equal words in order. */
static void repair(struct radix *x, const struct key_plan *plan, struct group g, unsigned depth)
{
	if (plan->complete && x->seq_rises)
		return; /* equal key and minor, and the radix sort is stable */
	for (size_t i = 0, end; i < g.n; i = end) {
		for (end = i + 1; end < g.n && g.a[end].prefix == g.a[i].prefix;)
			end++;
		struct group sub = {g.a + i, g.b + i, end - i};
		if (sub.n < RADIX_MIN || plan->complete || depth == DEPTH_MAX) {
			if (sub.n > 1)
				merge_sort(x, sub.a, sub.b, sub.n);
			continue;
		}
		struct key_span span = {0};
		sort_group(x, sub, &span, depth + 1);
		span_release(&span);
	}
}

static void sort_group(struct radix *x, struct group g, struct key_span *span, unsigned depth)
{
	struct key_plan plan;
	scan_span(x, &g, span);
	plan_init(&plan, span, x->codec.minor_bytes);
	if (plan.bits > 0 && g.n >= RADIX_MIN) {
		lsd_sort(x, &plan, &g);
		repair(x, &plan, g, depth);
		return;
	}
	if (plan.complete && plan.bits == 0 && x->seq_rises)
		return;
	fill_prefixes(x, &plan, &g, g.a);
	merge_sort(x, g.a, g.b, g.n);
}

void radix_sort(struct radix *x, size_t n, struct key_span *span)
{
	sort_group(x, (struct group){x->entries, x->other, n}, span, 0);
}
