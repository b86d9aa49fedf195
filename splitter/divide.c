/*
 * divide.c - cuts at weight quantiles, with respect for salt buckets and entities
 *
 * A cut at j puts the points before j to its left.  Its key is the shortest separator of points
 * j - 1 and j, so all that matters for the balance is j: the boundary nearest to the quantile.
 * From there it moves for two reasons.  To a bucket's first row, when it would leave less than
 * SLIVER of a region on the wrong side; the cuts around it share what that costs.  And, by COST of
 * a region at most, to where fewer parts of the key are cut through: between two entities rather
 * than inside one.
 *
 * A row heavier than a region takes several quantiles; they fall on the same two boundaries, and
 * the regions that would be empty are not made.
 */
#include "divide.h"

#define SLIVER 0.04
#define COST   0.01 /* a region has two ends */

/* Bucket b's first possible key: its number in the salt's bytes. */
static struct bytes bucket_key(const struct key_shape *shape, uint64_t b, uint8_t store[8])
{
	put_be64(store, b);
	return bytes_of(store + 8 - shape->salt_bytes, shape->salt_bytes);
}

/* The first point at or above key. */
static size_t lower_bound(const struct sketch_view *v, struct bytes key)
{
	size_t low = 0, high = v->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (bytes_cmp(v->points[mid].key, key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

void divider_open(struct divider *c, const struct sketch_view *view, const struct key_shape *shape,
		  double target)
{
	uint8_t store[8];

	*c = (struct divider){.view = view, .shape = shape, .target = target};
	c->below = mem_alloc((view->count + 1) * sizeof(*c->below));
	c->below[0] = 0;
	for (size_t j = 0; j < view->count; j++)
		c->below[j + 1] = c->below[j] + view->points[j].bytes;
	if (shape->salt_bytes == 0 || shape->salt_bytes > 8 || shape->buckets < 2)
		return;
	c->nbuckets = shape->buckets;
	c->bucket_at = mem_alloc((c->nbuckets + 1) * sizeof(*c->bucket_at));
	for (size_t b = 1; b < c->nbuckets; b++)
		c->bucket_at[b] = lower_bound(view, bucket_key(shape, b, store));
	c->bucket_at[0] = 0;
	c->bucket_at[c->nbuckets] = view->count;
}

void divider_close(struct divider *c)
{
	mem_free(c->below);
	mem_free(c->bucket_at);
}

static double distance(const struct divider *c, size_t j, double at)
{
	double d = (double)c->below[j] - at;
	return d < 0 ? -d : d;
}

/* The j in [from, to] at which below[j] is nearest to `at` bytes. */
static size_t nearest(const struct divider *c, size_t from, size_t to, double at)
{
	size_t low = from, high = to;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if ((double)c->below[mid] < at)
			low = mid + 1;
		else
			high = mid;
	}
	return low > from && distance(c, low - 1, at) <= distance(c, low, at) ? low - 1 : low;
}

/* How many whole parts lie before the byte in which points j - 1 and j differ: parts cut through.
 */
static size_t depth(const struct divider *c, size_t j)
{
	size_t ends[SHAPE_MAX_PARTS], n, d = 0;
	struct bytes left = c->view->points[j - 1].key, right = c->view->points[j].key;
	size_t len = shortest_separator(left, right).len;

	n = shape_ends(c->shape, right, ends);
	while (d < n && ends[d] < len)
		d++;
	return d;
}

/* The least deep boundary of (from, to) that costs at most COST of a region; then the nearest. */
static size_t shallowest(const struct divider *c, size_t from, size_t to, size_t j, double at)
{
	double limit = distance(c, j, at) + COST * c->target;
	size_t best = j, best_depth = depth(c, j), low = j, high = j + 1;

	while (low > from && distance(c, low, at) <= limit)
		low--;
	while (high < to && distance(c, high, at) <= limit)
		high++;
	for (size_t i = low + 1; i < high && best_depth; i++) {
		size_t d = distance(c, i, at) <= limit ? depth(c, i) : best_depth + 1;
		if (d < best_depth ||
		    (d == best_depth && distance(c, i, at) < distance(c, best, at))) {
			best = i;
			best_depth = d;
		}
	}
	return best;
}

/* The bucket whose first row a cut at j should move to; 0 if there is none that near. */
static size_t snap_bucket(const struct divider *c, size_t j)
{
	size_t low = 1, high = c->nbuckets;

	if (!c->bucket_at)
		return 0;
	while (low < high) { /* the first bucket that starts at j or behind */
		size_t mid = low + (high - low) / 2;
		if (c->bucket_at[mid] < j)
			low = mid + 1;
		else
			high = mid;
	}
	size_t best = 0;
	double least = SLIVER * c->target;
	for (size_t b = low > 1 ? low - 1 : 1; b <= low && b < c->nbuckets; b++) {
		double d = distance(c, c->bucket_at[b], (double)c->below[j]);
		if (d < least || c->bucket_at[b] == j) {
			least = d;
			best = b;
		}
	}
	return best;
}

/* A boundary of a range; j is fixed when it is a bucket's first row. */
struct boundary {
	size_t j, bucket;
	double at; /* the bytes below that j is meant to have */
};

/* Boundaries first + 1 to last - 1 at even distances between the two. */
static void spread_evenly(const struct divider *c, struct boundary *b, size_t first, size_t last)
{
	double start = (double)c->below[b[first].j], bytes = (double)c->below[b[last].j] - start;

	for (size_t i = first + 1; i < last; i++) {
		b[i].at = start + bytes * (double)(i - first) / (double)(last - first);
		b[i].j = nearest(c, b[first].j, b[last].j, b[i].at);
	}
}

/*
 * Fix those boundaries that lie near a bucket's start there, and spread the others between them
 * anew, so that what one boundary moves is borne by many regions.  That may bring others near, so
 * it is repeated; each time at least one more is fixed.
 */
static void settle(const struct divider *c, struct boundary *b, size_t parts)
{
	bool moved = true;

	while (moved) {
		moved = false;
		for (size_t first = 0, i = 1; i <= parts; i++) {
			if (i < parts && !b[i].bucket)
				continue;
			spread_evenly(c, b, first, i);
			first = i;
		}
		for (size_t i = 1; i < parts; i++) {
			size_t bucket = b[i].bucket ? 0 : snap_bucket(c, b[i].j);
			size_t j = bucket ? c->bucket_at[bucket] : 0;
			if (!bucket || j <= b[i - 1].j || j >= b[i + 1].j)
				continue;
			b[i].bucket = bucket;
			b[i].j = j;
			moved = true;
		}
	}
}

/*
 * Cut points [from, to) into `parts`; the boundaries at from and to are made by the caller.  A
 * boundary that falls on the one before it is left out.
 */
static int cut_range(struct divider *c, size_t from, size_t to, size_t parts, struct splits *out,
		     struct error *err)
{
	struct boundary *b = mem_calloc(parts + 1, sizeof(*b));
	size_t last = from;
	int rc = RC_OK;

	b[0].j = from;
	b[parts].j = to;
	settle(c, b, parts);
	for (size_t i = 1; rc == RC_OK && i < parts; i++) {
		size_t j = b[i].j;
		uint8_t store[8];
		if (j <= last || j >= to)
			continue;
		if (b[i].bucket) {
			rc = splits_add(out, bucket_key(c->shape, b[i].bucket, store), err);
		} else {
			if (c->shape->nparts)
				j = shallowest(c, last, to, j, b[i].at);
			rc = splits_add(out,
					shortest_separator(c->view->points[j - 1].key,
							   c->view->points[j].key),
					err);
		}
		last = j;
	}
	mem_free(b);
	return rc;
}

int divide_freely(struct divider *c, size_t regions, struct splits *out, struct error *err)
{
	return cut_range(c, 0, c->view->count, regions, out, err);
}

static uint64_t bucket_bytes(const struct divider *c, size_t b)
{
	return c->below[c->bucket_at[b + 1]] - c->below[c->bucket_at[b]];
}

/*
 * One region for each bucket, and the rest by largest remainder of what each bucket has above one
 * region's share.
 */
static void share_regions(const struct divider *c, size_t regions, size_t *parts)
{
	size_t n = c->nbuckets, rest = regions > n ? regions - n : 0, given = 0;
	double *want = mem_calloc(n, sizeof(*want)), sum = 0;

	for (size_t b = 0; b < n; b++) {
		want[b] = (double)bucket_bytes(c, b) / c->target - 1;
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

int divide_aligned(struct divider *c, size_t regions, struct splits *out, struct error *err)
{
	size_t *parts = mem_alloc(c->nbuckets * sizeof(*parts));
	uint8_t store[8];
	int rc = RC_OK;

	share_regions(c, regions, parts);
	for (size_t b = 0; rc == RC_OK && b < c->nbuckets; b++) {
		if (b)
			rc = splits_add(out, bucket_key(c->shape, b, store), err);
		if (rc == RC_OK)
			rc = cut_range(c, c->bucket_at[b], c->bucket_at[b + 1], parts[b], out, err);
	}
	mem_free(parts);
	return rc;
}
