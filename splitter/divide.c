/*
 * divide.c - choose split keys at weight quantiles, near salt buckets and between entities
 *
 * Step one uses only weights. Borders begin at even shares. A border near the start of a salt
 * bucket moves to this start and is then fixed. The code spreads the free borders evenly between
 * the fixed borders, so many regions share the cost of each move. The move may bring other borders
 * near a bucket, so step one repeats. Each round fixes at least one more border. Step two finds the
 * rows around the borders that are still free.
 *
 * The exact weight below a bucket's start is necessary only if the start may be near a border.
 */
#include "splits.h"

#include <math.h>

#include "mem.h"

#define SLIVER 0.02 /* share of a region by which a border may move to a bucket's start */
/* share of a region by which each end may move, to cut through fewer parts of the key */
#define COST 0.01

enum known_weight { UNKNOWN, BOUNDED, EXACT };

/* The weight below a bucket's first possible key. */
struct divided_bucket {
	enum known_weight known;
	/* bounds of the weight that need no reading of rows; both rise with the bucket */
	uint64_t least, most;
	uint64_t below; /* the exact weight, after the search */
};

struct border {
	uint64_t at;	 /* wanted weight below the border */
	uint32_t bucket; /* the bucket that starts at the border; 0 means that the border is free */
	uint64_t before; /* weight of the next fixed border, which limits a free border */
};

struct divider {
	const struct key_weights *weights;
	const struct key_shape *shape;
	uint64_t from, to;		/* weights of the range to cut */
	uint64_t sliver, slack;		/* weights */
	struct divided_bucket *buckets; /* the salt buckets; NULL means that the key has no salt */
	uint32_t nbuckets;
	struct border *borders; /* the caller sets the first and the last border */
	size_t nborders;
};

/* Return the first possible key of bucket `b`. The key is the number `b` in the salt's bytes. */
static struct bytes bucket_key(const struct divider *c, uint32_t b, uint8_t store[8])
{
	put_be64(store, b);
	return bytes_of(store + 8 - c->shape->salt_bytes, c->shape->salt_bytes);
}

/*
 * Find the weight below a bucket. The function reads rows only if the bounds without reading are
 * not exact.
 */
static int look_up(const struct divider *c, uint32_t b, enum known_weight want, struct error *err)
{
	struct divided_bucket *k = &c->buckets[b];
	uint8_t store[8];
	uint64_t least, most;
	int rc = RC_OK;

	while (rc == RC_OK && k->known < want) {
		enum known_weight step = k->known;

		rc = c->weights->below(c->weights->self, bucket_key(c, b, store), step == BOUNDED,
				       &least, &most, err);
		if (rc)
			break;
		if (step == UNKNOWN) {
			k->least = least;
			k->most = most;
		}
		k->below = least;
		k->known = least == most ? EXACT : BOUNDED;
	}
	return rc;
}

/*
 * Find the first of the buckets [low, high) with a weight below of at least `at`. The result is
 * `high` if there is no such bucket.
 */
static int first_bucket(const struct divider *c, uint32_t low, uint32_t high, uint64_t at,
			enum known_weight known, uint32_t *out, struct error *err)
{
	int rc = RC_OK;

	while (rc == RC_OK && low < high) {
		uint32_t mid = low + (high - low) / 2;
		const struct divided_bucket *k = &c->buckets[mid];

		rc = look_up(c, mid, known, err);
		if (rc == RC_OK && (known == EXACT ? k->below : k->most) < at)
			low = mid + 1;
		else
			high = mid;
	}
	*out = low;
	return rc;
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/*
 * Find the bucket that starts nearest to `at`, less than a sliver away. *out is 0 if there is no
 * such bucket.
 */
static int near_bucket(const struct divider *c, uint64_t at, uint32_t *out, struct error *err)
{
	uint64_t low = at > c->sliver ? at - c->sliver : 0, high = at + c->sliver;
	uint32_t first = 0, b = 0, end;

	*out = 0;
	if (!c->buckets || c->sliver == 0)
		return RC_OK;
	int rc = first_bucket(c, 1, c->nbuckets, low, BOUNDED, &first, err);
	/*
	 * Find the last bucket that may start before `high`. The lower bounds rise with the bucket.
	 */
	for (end = first; rc == RC_OK && end < c->nbuckets; end++) {
		rc = look_up(c, end, BOUNDED, err);
		if (rc == RC_OK && c->buckets[end].least >= high)
			break;
	}
	if (rc == RC_OK && first < end)
		rc = first_bucket(c, first, end, at, EXACT, &b, err);
	uint64_t least = c->sliver;
	for (uint32_t k = b > first ? b - 1 : b; rc == RC_OK && first < end && k <= b && k < end;
	     k++) {
		rc = look_up(c, k, EXACT, err);
		if (rc == RC_OK && apart(c->buckets[k].below, at) < least) {
			least = apart(c->buckets[k].below, at);
			*out = k;
		}
	}
	return rc;
}

/* Put borders first + 1 to last - 1 at even distances between borders `first` and `last`. */
static void spread_evenly(struct border *b, size_t first, size_t last)
{
	uint64_t start = b[first].at, weight = b[last].at - start;

	for (size_t i = first + 1; i < last; i++)
		b[i].at = start + (uint64_t)((__uint128_t)weight * (i - first) / (last - first));
}

/* Spread all free borders evenly between the fixed borders. */
static void spread(const struct divider *c)
{
	for (size_t first = 0, i = 1; i < c->nborders; i++) {
		if (i + 1 < c->nborders && !c->borders[i].bucket)
			continue;
		spread_evenly(c->borders, first, i);
		first = i;
	}
}

/* Move borders to buckets until no border moves (step one at the head of this file). */
static int settle(struct divider *c, struct error *err)
{
	struct border *b = c->borders;
	bool moved = true;
	int rc = RC_OK;

	while (rc == RC_OK && moved) {
		moved = false;
		spread(c);
		for (size_t i = 1; rc == RC_OK && i + 1 < c->nborders; i++) {
			uint32_t bucket = 0;

			if (!b[i].bucket)
				rc = near_bucket(c, b[i].at, &bucket, err);
			uint64_t at = bucket ? c->buckets[bucket].below : 0;
			if (!bucket || at <= b[i - 1].at || at >= b[i + 1].at)
				continue;
			b[i] = (struct border){.at = at, .bucket = bucket};
			moved = true;
		}
	}
	return rc;
}

static unsigned depth_of(const void *shape, struct bytes below, struct bytes key)
{
	return shape_depth(shape, below, key);
}

/* Find the rows around the free borders. `points` has an entry for each border. */
static int select_free(const struct divider *c, struct split_point *points, struct error *err)
{
	struct split_choice choice = {.slack = c->slack, .depth = depth_of, .ctx = c->shape};
	bool parts = c->shape && c->shape->nparts;
	uint64_t *targets = mem_alloc(c->nborders * sizeof *targets);
	struct split_point *found = mem_calloc(c->nborders, sizeof *found);
	size_t n = 0;

	for (size_t i = 1; i + 1 < c->nborders; i++)
		if (!c->borders[i].bucket)
			targets[n++] = c->borders[i].at;
	int rc = n == 0 ? RC_OK
			: c->weights->select(c->weights->self, targets, n, parts ? &choice : NULL,
					     found, err);
	for (size_t i = 1, next = 0; i + 1 < c->nborders; i++)
		if (!c->borders[i].bucket)
			points[i] = found[next++];
	mem_free(found);
	mem_free(targets);
	return rc;
}

/*
 * Add a free border, unless a heavy row puts the border at the same place as the previous or the
 * next border. Such a row can also move a border from its quantile to a place near a bucket.
 */
static int add_free(const struct divider *c, size_t i, const struct split_point *p, uint64_t *last,
		    struct splits *out, struct error *err)
{
	uint64_t end = c->borders[i].before, at = p->weight_below;
	uint32_t bucket = 0;
	uint8_t store[8];
	int rc = RC_OK;

	if (at <= *last || at >= end)
		return RC_OK;
	if (apart(at, c->borders[i].at) > c->slack)
		rc = near_bucket(c, at, &bucket, err);
	if (rc)
		return rc;
	uint64_t moved = bucket ? c->buckets[bucket].below : at;
	if (bucket && moved > *last && moved < end) {
		*last = moved;
		return splits_add(out, bucket_key(c, bucket, store), err);
	}
	*last = at;
	return splits_add(out, shortest_separator(buf_bytes(&p->below), buf_bytes(&p->key)), err);
}

static int add_borders(const struct divider *c, struct splits *out, struct error *err)
{
	struct split_point *points = mem_calloc(c->nborders, sizeof *points);
	uint64_t last = c->from, before = c->to;
	int rc = select_free(c, points, err);

	for (size_t i = c->nborders; i-- > 0;) {
		c->borders[i].before = before;
		before = c->borders[i].bucket ? c->borders[i].at : before;
	}
	for (size_t i = 1; rc == RC_OK && i + 1 < c->nborders; i++) {
		const struct border *b = &c->borders[i];
		uint8_t store[8];

		if (b->bucket) {
			rc = splits_add(out, bucket_key(c, b->bucket, store), err);
			last = b->at;
		} else {
			rc = add_free(c, i, &points[i], &last, out, err);
		}
	}
	for (size_t i = 0; i < c->nborders; i++)
		split_point_release(&points[i]);
	mem_free(points);
	return rc;
}

static int divide_freely(struct divider *c, size_t regions, struct splits *out, struct error *err)
{
	c->nborders = regions + 1;
	c->borders = mem_calloc(c->nborders, sizeof *c->borders);
	c->borders[0].at = c->from;
	c->borders[regions].at = c->to;
	int rc = settle(c, err);
	return rc ? rc : add_borders(c, out, err);
}

/*
 * Give each bucket one region. Distribute the other regions by largest remainder, by the content of
 * each bucket above one region's share.
 */
static void share_regions(const struct divider *c, size_t regions, size_t *parts)
{
	size_t n = c->nbuckets, rest = regions > n ? regions - n : 0, given = 0;
	double *want = mem_calloc(n, sizeof *want), sum = 0;
	double target = (double)c->weights->total / (double)regions;

	for (size_t b = 0; b < n; b++) {
		want[b] = (double)(c->buckets[b + 1].below - c->buckets[b].below) / target - 1;
		want[b] = want[b] > 0 ? want[b] : 0;
		sum += want[b];
	}
	for (size_t b = 0; b < n; b++) {
		want[b] = sum > 0 ? want[b] * (double)rest / sum : 0;
		parts[b] = 1 + (size_t)want[b];
		given += (size_t)want[b];
		want[b] -= (double)(size_t)want[b];
	}
	for (; sum > 0 && given < rest; given++) {
		size_t most = 0;

		for (size_t b = 1; b < n; b++)
			if (want[b] > want[most])
				most = b;
		parts[most]++;
		want[most] -= 1;
	}
	mem_free(want);
}

static int divide_aligned(struct divider *c, size_t regions, struct splits *out, struct error *err)
{
	size_t *parts = mem_alloc(c->nbuckets * sizeof *parts), all = 0;
	int rc = RC_OK;

	for (uint32_t b = 1; rc == RC_OK && b < c->nbuckets; b++)
		rc = look_up(c, b, EXACT, err);
	if (rc == RC_OK) {
		share_regions(c, regions, parts);
		for (uint32_t b = 0; b < c->nbuckets; b++)
			all += parts[b];
		c->nborders = all + 1;
		c->borders = mem_calloc(c->nborders, sizeof *c->borders);
		for (uint32_t b = 0, at = 0; b <= c->nbuckets; b++) {
			c->borders[at] = (struct border){.at = c->buckets[b].below, .bucket = b};
			at += b < c->nbuckets ? (uint32_t)parts[b] : 0;
		}
		spread(c);
		rc = add_borders(c, out, err);
	}
	mem_free(parts);
	return rc;
}

static int weight_below(const struct key_weights *w, struct bytes key, uint64_t none, uint64_t *out,
			struct error *err)
{
	uint64_t most;

	*out = none;
	return key.len ? w->below(w->self, key, true, out, &most, err) : RC_OK;
}

static void open_buckets(struct divider *c)
{
	const struct key_shape *s = c->shape;

	if (!s || s->salt_bytes == 0 || s->salt_bytes > 8 || s->buckets < 2)
		return;
	c->nbuckets = s->buckets;
	c->buckets = mem_calloc((size_t)c->nbuckets + 1, sizeof *c->buckets);
	c->buckets[0].known = c->buckets[c->nbuckets].known = EXACT;
	c->buckets[c->nbuckets].below = c->weights->total;
}

int divide(const struct key_weights *w, const struct division *d, struct splits *out,
	   struct error *err)
{
	struct divider c = {.weights = w, .shape = d->shape};

	int rc = weight_below(w, d->start, 0, &c.from, err);
	if (rc == RC_OK)
		rc = weight_below(w, d->end, w->total, &c.to, err);
	if (rc || c.from >= c.to)
		return rc;
	bool aligned = d->align_salt && !d->start.len && !d->end.len;
	if (d->regions < 2 && !aligned)
		return RC_OK;
	double target = (double)(c.to - c.from) / (double)d->regions;
	c.sliver = (uint64_t)ceil(SLIVER * target);
	c.slack = (uint64_t)(COST * target);
	open_buckets(&c);
	rc = aligned && c.buckets ? divide_aligned(&c, d->regions, out, err)
				  : divide_freely(&c, d->regions, out, err);
	mem_free(c.borders);
	mem_free(c.buckets);
	return rc;
}
