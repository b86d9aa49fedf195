/* listed_weights.c - the weights of row keys that are in memory, in rising order */
#include "splits.h"

void split_point_release(struct split_point *p)
{
	buf_release(&p->below);
	buf_release(&p->key);
	p->weight_below = 0;
}

static uint64_t distance(const struct listed_keys *w, size_t j, uint64_t at)
{
	return w->before[j] > at ? w->before[j] - at : at - w->before[j];
}

/* Return the first j in [0, count] with at least the weight `at` before key j. */
static size_t first_from(const struct listed_keys *w, uint64_t at)
{
	size_t low = 0, high = w->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (w->before[mid] < at)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static unsigned depth_of(const struct listed_keys *w, const struct split_choice *c, size_t j)
{
	return j ? c->depth(c->ctx, w->key(w->ctx, j - 1), w->key(w->ctx, j)) : 0;
}

/* Return the key with the best place for a border. The border is before this key. */
static size_t choose(const struct listed_keys *w, uint64_t at, const struct split_choice *c)
{
	size_t count = w->count, j = first_from(w, at), best = j < count ? j : count - 1;

	if (best > 0 && best == j && distance(w, j - 1, at) <= distance(w, j, at))
		best = j - 1;
	if (!c || !c->depth || distance(w, best, at) > c->slack)
		return best;
	unsigned least = depth_of(w, c, best);
	size_t i = first_from(w, at > c->slack ? at - c->slack : 0);
	for (; i < count && distance(w, i, at) <= c->slack; i++) {
		unsigned depth = depth_of(w, c, i);

		if (depth > least ||
		    (depth == least && distance(w, i, at) >= distance(w, best, at)))
			continue;
		best = i;
		least = depth;
	}
	return best;
}

static int select_keys(void *self, const uint64_t *targets, size_t n,
		       const struct split_choice *choice, struct split_point *out,
		       struct error *err)
{
	const struct listed_keys *w = self;

	(void)err;
	for (size_t i = 0; i < n && w->count; i++) {
		size_t j = choose(w, targets[i], choice);
		struct bytes key = w->key(w->ctx, j);

		out[i].weight_below = w->before[j];
		buf_append(&out[i].key, key.ptr, key.len);
		if (j == 0)
			continue;
		key = w->key(w->ctx, j - 1);
		buf_append(&out[i].below, key.ptr, key.len);
	}
	return RC_OK;
}

static int weight_below(void *self, struct bytes key, bool exact, uint64_t *least, uint64_t *most,
			struct error *err)
{
	const struct listed_keys *w = self;
	size_t low = 0, high = w->count;

	(void)exact, (void)err;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (bytes_cmp(w->key(w->ctx, mid), key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	*least = *most = w->before[low];
	return RC_OK;
}

struct key_weights listed_weights(struct listed_keys *keys)
{
	return (struct key_weights){.self = keys,
				    .total = keys->before[keys->count],
				    .select = select_keys,
				    .below = weight_below};
}
