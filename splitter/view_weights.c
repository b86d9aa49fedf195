/* view_weights.c - the points of a sketch as weights over keys */
#include "view_weights.h"

#include "mem.h"

void split_point_release(struct split_point *p)
{
	buf_release(&p->below);
	buf_release(&p->key);
	p->weight_below = 0;
}

static uint64_t distance(const struct view_weights *w, size_t j, uint64_t at)
{
	return w->before[j] > at ? w->before[j] - at : at - w->before[j];
}

/* Return the first j in [0, count] with at least `at` bytes before point j. */
static size_t first_from(const struct view_weights *w, uint64_t at)
{
	size_t low = 0, high = w->view->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (w->before[mid] < at)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static unsigned depth_of(const struct view_weights *w, const struct split_choice *c, size_t j)
{
	return j ? c->depth(c->ctx, w->view->points[j - 1].key, w->view->points[j].key) : 0;
}

/* Return the point with the best place for a border. The border is before this point. */
static size_t choose(const struct view_weights *w, uint64_t at, const struct split_choice *c)
{
	size_t count = w->view->count, j = first_from(w, at), best = j < count ? j : count - 1;

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

static int select_points(void *self, const uint64_t *targets, size_t n,
			 const struct split_choice *choice, struct split_point *out,
			 struct error *err)
{
	const struct view_weights *w = self;

	(void)err;
	for (size_t i = 0; i < n && w->view->count; i++) {
		size_t j = choose(w, targets[i], choice);
		struct bytes key = w->view->points[j].key;

		out[i].weight_below = w->before[j];
		buf_append(&out[i].key, key.ptr, key.len);
		if (j == 0)
			continue;
		key = w->view->points[j - 1].key;
		buf_append(&out[i].below, key.ptr, key.len);
	}
	return RC_OK;
}

static int bytes_below(void *self, struct bytes key, bool exact, uint64_t *least, uint64_t *most,
		       struct error *err)
{
	const struct view_weights *w = self;
	size_t low = 0, high = w->view->count;

	(void)exact, (void)err;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (bytes_cmp(w->view->points[mid].key, key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	*least = *most = w->before[low];
	return RC_OK;
}

void view_weights_open(struct view_weights *w, const struct sketch_view *view,
		       struct key_weights *out)
{
	w->view = view;
	w->before = mem_alloc((view->count + 1) * sizeof *w->before);
	w->before[0] = 0;
	for (size_t j = 0; j < view->count; j++)
		w->before[j + 1] = w->before[j] + view->points[j].bytes;
	*out = (struct key_weights){.self = w,
				    .total = w->before[view->count],
				    .select = select_points,
				    .below = bytes_below};
}

void view_weights_close(struct view_weights *w)
{
	mem_free(w->before);
	*w = (struct view_weights){0};
}
