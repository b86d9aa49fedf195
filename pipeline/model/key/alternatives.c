/* alternatives.c - see alternatives.h */
#include "alternatives.h"

static struct alternative joined(struct arena *a, const struct alternative *x,
				 const struct alternative *y)
{
	struct alternative out = {arena_alloc(a, (x->n + y->n + 1) * sizeof *out.atom),
				  x->n + y->n};

	for (size_t i = 0; i < out.n; i++)
		out.atom[i] = i < x->n ? x->atom[i] : y->atom[i - x->n];
	return out;
}

bool alternatives_of(const struct asked *q, struct arena *a, struct alternatives *out)
{
	struct alternatives x, y;
	size_t field;

	*out = (struct alternatives){0};
	if (!asked_is_group(q) || asked_of_one_field(q, &field)) {
		*out = (struct alternatives){arena_alloc(a, sizeof *out->item), 1};
		*out->item = (struct alternative){arena_alloc(a, sizeof *out->item->atom), 1};
		*out->item->atom = q;
		return true;
	}
	if (!alternatives_of(q->left, a, &x) || !alternatives_of(q->right, a, &y))
		return false;
	size_t n = q->kind == ASKED_OR ? x.n + y.n : x.n * y.n;
	if (n > ALTERNATIVES)
		return false;
	out->item = arena_alloc(a, (n + 1) * sizeof *out->item);
	for (size_t i = 0; i < x.n; i++)
		for (size_t k = 0; q->kind == ASKED_AND && k < y.n; k++)
			out->item[out->n++] = joined(a, &x.item[i], &y.item[k]);
	for (size_t i = 0; q->kind == ASKED_OR && i < n; i++)
		out->item[out->n++] = i < x.n ? x.item[i] : y.item[i - x.n];
	return true;
}
