/*
 * sketch.c - a byte-weighted KLL quantile sketch (Karnin, Lang, Liberty, FOCS 2016)
 *
 * Levels. An item at level e represents 2^e bytes. A compaction sorts a level and moves every
 * second item to the next level, with double weight. A random bit decides whether this is the
 * first, third, ... or the second, fourth, ... item. At level `top`, all bytes so far fit in k
 * items. The level j levels below `top` has room for k(2/3)^j items. Compactions begin when the
 * items exceed the room of all levels together.
 *
 * Sampling. The lowest level is `base`. The sketch samples one random byte of each 2^base bytes of
 * the input, and adds the byte's row to level `base`. With a fixed stride, rows of equal size and
 * a cycling salt could always hit the same salts. `base` stays DEPTH below `top`, so the sketch
 * adds only a part of a large input's rows. While `base` is 0, every byte counts. Until the first
 * compaction the sketch is exact.
 *
 * Rows. A sampled row of b bytes counts as 2^base / b rows. In a compaction, an item adds the rows
 * of the item that it replaces. So the sketch estimates the rows of a range together with the
 * bytes.
 *
 * Error. For a fixed key range, a compaction at level e has an error of -2^e, 0 or 2^e, with a
 * random sign. The sum of these errors is sub-Gaussian with variance V = sum of 4^e, which the
 * compactions count. Sampling from windows of S = 2^base bytes has variance at most S * m for a
 * range of m bytes, and steps of at most S. By Bernstein's inequality
 *     |error| <= sqrt(2 L (V + S m)) + 2 S L / 3,   L = ln(2 / risk).
 * A measurement with k = 32768 gave 0.7 / k of all bytes for sqrt(V). At a risk of 1 %, the bound
 * for a region with a thousandth of all bytes is 8 to 9 % of the region. t-digest has no such bound
 * and does not support byte strings. DataSketches' KLL counts only rows (README.md 3.1).
 *
 * The windows of a picker have the same effect as windows of 2^base bytes. S is then the larger of
 * both sizes.
 *
 * If keys are too long for the state, k_now is less than k. The smaller k_now raises V, so the
 * bound is still right.
 */
#include "sketch_state.h"

#include <math.h>

#include "mem.h"

#define DEPTH	       8
#define MIN_CAPACITY   8
#define KEEP_ITEMS     16384 /* an empty level keeps memory for this many items */
#define KEEP_KEY_BYTES (384u << 10)
/*
 * Bytes of items and keys. With growth by a quarter and the memory for sorting, the total stays
 * below SKETCH_STATE_BYTES.
 */
#define BUDGET_BYTES (10u << 20)

/* splitmix64 (Steele, Lea, Flood, OOPSLA 2014) */
static uint64_t splitmix(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return z ^ z >> 31;
}

static uint64_t random_next(struct sketch *s)
{
	return splitmix(&s->random);
}

static void start_window(struct sketch *s, uint64_t at)
{
	s->window = at;
	s->stride = s->base;
	s->next = at + (random_next(s) & ((UINT64_C(1) << s->base) - 1));
}

struct sketch *sketch_new(uint32_t k, uint64_t seed)
{
	struct sketch *s = mem_calloc(1, sizeof *s);

	s->k = k < SKETCH_K_MIN ? SKETCH_K_MIN : k > SKETCH_K_MAX ? SKETCH_K_MAX : k;
	s->k_now = s->k;
	s->random = seed;
	sketch_set_limit(s);
	start_window(s, 0);
	return s;
}

void sketch_free(struct sketch *s)
{
	if (!s)
		return;
	for (unsigned e = 0; e < SKETCH_LEVELS; e++) {
		mem_free(s->level[e].items);
		mem_free(s->level[e].keys);
	}
	mem_free(s->scratch);
	mem_free(s);
}

static void set_words(struct sketch_item *it, struct bytes key)
{
	uint8_t first[8 * ITEM_WORDS] = {0};
	const uint8_t *from = key.ptr;

	if (key.len < sizeof first) {
		if (key.len)
			memcpy(first, key.ptr, key.len);
		from = first;
	}
	for (size_t i = 0; i < ITEM_WORDS; i++)
		it->word[i] = get_be64(from + 8 * i);
}

static size_t grown(size_t cap, size_t need)
{
	size_t more = cap + cap / 4 + 16;

	return more < need ? need : more;
}

void sketch_append(struct sketch *s, unsigned level, struct bytes key, float rows)
{
	struct level *l = &s->level[level];

	if (l->count == l->cap) {
		l->cap = grown(l->cap, 0);
		l->items = mem_realloc(l->items, l->cap * sizeof *l->items);
	}
	if (l->keys_cap - l->keys_len < key.len) {
		l->keys_cap = grown(l->keys_cap, l->keys_len + key.len);
		l->keys = mem_realloc(l->keys, l->keys_cap);
	}
	struct sketch_item *it = &l->items[l->count++];
	*it = (struct sketch_item){.offset = (uint32_t)l->keys_len,
				   .rows = rows,
				   .len = (uint16_t)key.len};
	set_words(it, key);
	if (key.len)
		memcpy(l->keys + l->keys_len, key.ptr, key.len);
	l->keys_len += key.len;
	s->key_bytes += key.len;
	s->nitems++;
}

/*
 * Return the largest number of items that level `e` should have. From level `top` on, there is no
 * limit, because all bytes fit in k_now items.
 */
static size_t capacity(const struct sketch *s, unsigned e)
{
	double cap = s->k_now;

	if (e >= s->top)
		return SIZE_MAX;
	for (; e < s->top; e++)
		cap *= 2.0 / 3.0;
	return cap < MIN_CAPACITY ? MIN_CAPACITY : (size_t)cap;
}

void sketch_set_limit(struct sketch *s)
{
	s->limit = s->k_now;
	for (unsigned e = s->base; e < s->top; e++)
		s->limit += capacity(s, e);
}

/* Free a level's unused memory. */
static void trim(struct level *l)
{
	l->cap = l->count;
	l->keys_cap = l->keys_len;
	if (l->cap == 0) {
		mem_free(l->items);
		mem_free(l->keys);
		*l = (struct level){0};
		return;
	}
	l->items = mem_realloc(l->items, l->cap * sizeof *l->items);
	if (l->keys_cap)
		l->keys = mem_realloc(l->keys, l->keys_cap);
}

/* Keep only the item at `keep`. If `keep` is l->count, keep no item. */
static void empty_level(struct sketch *s, struct level *l, size_t keep)
{
	size_t kept = keep < l->count;

	s->nitems -= l->count - kept;
	s->key_bytes -= l->keys_len;
	l->keys_len = 0;
	l->count = kept;
	if (kept) {
		struct sketch_item it = l->items[keep];

		memmove(l->keys, l->keys + it.offset, it.len);
		it.offset = 0;
		l->items[0] = it;
		l->keys_len = it.len;
		s->key_bytes += it.len;
	}
	if (l->cap > KEEP_ITEMS || l->keys_cap > KEEP_KEY_BYTES)
		trim(l);
}

/*
 * Move every second item of level `e` to the next level. If the number of items is odd, one item
 * stays. V grows by the squared weight.
 */
static void compact(struct sketch *s, unsigned e)
{
	struct level *l = &s->level[e];
	size_t pairs = l->count / 2 * 2;

	if (pairs == 0)
		return;
	level_sort(s, l);
	size_t coin = random_next(s) >> 63;
	for (size_t i = 0; i < pairs; i += 2)
		sketch_append(s, e + 1, item_key(l, &l->items[i + coin]),
			      l->items[i].rows + l->items[i + 1].rows);
	s->variance += ldexp(1.0, 2 * (int)e);
	empty_level(s, l, pairs);
}

/* Raise the lowest level and the stride. An odd item gets double weight or leaves the sketch. */
static void raise_base(struct sketch *s)
{
	struct level *l = &s->level[s->base];

	compact(s, s->base);
	if (l->count) {
		if (random_next(s) >> 63)
			sketch_append(s, s->base + 1, item_key(l, l->items), 2 * l->items[0].rows);
		s->variance += ldexp(1.0, 2 * (int)s->base);
		empty_level(s, l, l->count);
	}
	trim(l);
	s->base++;
}

/* Set `top`, `base` and `limit` from `bytes` and `k_now`. */
static void set_levels(struct sketch *s)
{
	while (s->top < SKETCH_LEVELS - 2 && s->bytes >> s->top > s->k_now)
		s->top++;
	while (s->base + DEPTH < s->top)
		raise_base(s);
	sketch_set_limit(s);
}

static bool over_budget(const struct sketch *s)
{
	return s->nitems * sizeof(struct sketch_item) + s->key_bytes > BUDGET_BYTES;
}

/*
 * Return the lowest level with more items than it should have, or SKETCH_LEVELS if there is no such
 * level.
 */
static unsigned overfull_level(const struct sketch *s)
{
	for (unsigned e = s->base; e < s->top; e++)
		if (s->level[e].count > capacity(s, e))
			return e;
	return SKETCH_LEVELS;
}

static void shrink(struct sketch *s)
{
	bool over = over_budget(s);

	set_levels(s);
	while (over || s->nitems > s->limit) {
		unsigned e = overfull_level(s);

		if (e < SKETCH_LEVELS) {
			compact(s, e);
		} else if (s->k_now > SKETCH_K_MIN) {
			s->k_now /= 2;
			set_levels(s);
		} else {
			return;
		}
		over = over && over_budget(s);
	}
}

/*
 * Decide whether to keep the sample of a window that began before `base` grew. The window has fewer
 * than 2^base bytes. So the sample counts 2^base bytes with a probability of the window's bytes /
 * 2^base.
 */
static bool promote_sample(struct sketch *s)
{
	if (s->stride == s->base)
		return true;
	s->variance += ldexp(0.25, 2 * (int)s->base);
	return random_next(s) >> (64 - (s->base - s->stride)) == 0;
}

/* Return the number of sampled bytes from s->next to below s->bytes, and advance the window. */
static uint64_t take_samples(struct sketch *s)
{
	uint64_t after = s->window + (UINT64_C(1) << s->stride);
	uint64_t count = promote_sample(s);

	if (s->bytes > after) { /* each window inside the row has one sample */
		count += (s->bytes - after) >> s->base;
		after += (s->bytes - after) >> s->base << s->base;
	}
	start_window(s, after);
	if (s->next < s->bytes) {
		count++;
		start_window(s, after + (UINT64_C(1) << s->base));
	}
	return count;
}

void sketch_add_share(struct sketch *s, struct bytes key, uint64_t bytes, double rows)
{
	s->bytes += bytes;
	if (s->next >= s->bytes)
		return;
	uint64_t count = take_samples(s);
	double each = rows / (double)bytes;
	for (unsigned e = s->base; count; e++, count >>= 1)
		if (count & 1)
			sketch_append(s, e, key, (float)(each * (double)(UINT64_C(1) << e)));
	if (s->bytes >> s->top > s->k_now || s->nitems > s->limit || over_budget(s))
		shrink(s);
}

void sketch_add(struct sketch *s, struct bytes key, uint64_t bytes)
{
	s->rows++;
	s->all += bytes;
	sketch_add_share(s, key, bytes, 1);
}

void sketch_count(struct sketch *s, const struct picker *p)
{
	s->rows += p->rows;
	s->all += p->bytes;
	if (p->window > 1 && p->window > s->picked)
		s->picked = p->window;
	if (p->window > 1) /* account for the last window, which was incomplete */
		s->variance += (double)p->window * (double)p->window / 4;
}

static void open_window(struct picker *p, uint64_t at)
{
	p->start = at;
	p->next = at + (splitmix(&p->random) & (p->window - 1));
}

void picker_start(struct picker *p, uint64_t seed, unsigned window_log2)
{
	*p = (struct picker){.window = UINT64_C(1) << window_log2, .random = seed};
	open_window(p, 0);
}

uint64_t picker_share(struct picker *p, uint64_t bytes)
{
	if (bytes >= p->window)
		return bytes;
	open_window(p, p->start + p->window);
	if (p->next >= p->small)
		return p->window;
	open_window(p, p->start +
			       /*
			        * the row extends into the next window, and the next window also
			        * picks it
			        */
			       p->window);
	return 2 * p->window;
}

void sketch_merge(struct sketch *into, const struct sketch *from)
{
	/*
	 * Each sketch has an incomplete window. A sample of such a window adds at most a quarter of
	 * the squared window to the variance.
	 */
	into->variance += from->variance + ldexp(0.25, 2 * (int)into->base) +
			  ldexp(0.25, 2 * (int)from->base);
	into->bytes += from->bytes;
	into->all += from->all;
	into->rows += from->rows;
	if (from->picked > into->picked)
		into->picked = from->picked;
	if (from->k_now < into->k_now)
		into->k_now = from->k_now;
	if (from->base < into->base)
		into->base = from->base;
	for (unsigned e = 0; e < SKETCH_LEVELS; e++) {
		const struct level *l = &from->level[e];

		for (size_t i = 0; i < l->count; i++)
			sketch_append(into, e, item_key(l, &l->items[i]), l->items[i].rows);
	}
	shrink(into);
	for (unsigned e = 0; e < SKETCH_LEVELS; e++)
		trim(&into->level[e]);
	start_window(into, into->bytes);
}

uint64_t sketch_bytes(const struct sketch *s)
{
	return s->all;
}

uint64_t sketch_rows(const struct sketch *s)
{
	return s->rows;
}

double sketch_error(const struct sketch *s, uint64_t bytes, double risk)
{
	double l = log(2 / risk), stride = s->base ? ldexp(1.0, (int)s->base) : 0;
	double m = (double)bytes, rest = (double)s->all - m;

	if (stride < (double)s->picked)
		stride = (double)s->picked;
	if (rest >= 0 && rest < m)
		m = rest;
	/* `m` is an estimate, so use an upper bound of `m` */
	double t = sqrt(2 * l * (s->variance + stride * m)) + 2 * stride * l / 3;
	return sqrt(2 * l * (s->variance + stride * (m + t))) + 2 * stride * l / 3;
}

/*
 * Return the level whose next item has the lowest key. at[e] is the number of items taken from
 * level `e`.
 */
static unsigned lowest_head(const struct sketch *s, const size_t *at)
{
	unsigned best = SKETCH_LEVELS;

	for (unsigned e = s->base; e < SKETCH_LEVELS; e++) {
		const struct level *l = &s->level[e], *m = &s->level[best % SKETCH_LEVELS];

		if (at[e] == l->count)
			continue;
		if (best == SKETCH_LEVELS ||
		    item_below(l, &l->items[at[e]], m, &m->items[at[best]]))
			best = e;
	}
	return best;
}

void sketch_view_open(struct sketch_view *v, struct sketch *s)
{
	size_t at[SKETCH_LEVELS] = {0};

	*v = (struct sketch_view){0};
	v->points = mem_alloc((s->nitems + 1) * sizeof *v->points);
	for (unsigned e = 0; e < SKETCH_LEVELS; e++)
		level_sort(s, &s->level[e]);
	for (;;) {
		unsigned e = lowest_head(s, at);

		if (e == SKETCH_LEVELS)
			break;
		const struct sketch_item *it = &s->level[e].items[at[e]++];
		struct bytes key = item_key(&s->level[e], it);
		uint64_t weight = UINT64_C(1) << e;
		if (v->count == 0 || !bytes_eq(v->points[v->count - 1].key, key))
			v->points[v->count++] = (struct sketch_point){.key = key};
		struct sketch_point *p = &v->points[v->count - 1];
		p->bytes += weight;
		p->rows += (double)it->rows;
		v->bytes += weight;
	}
}

void sketch_view_close(struct sketch_view *v)
{
	mem_free(v->points);
	*v = (struct sketch_view){0};
}
