/* arrivals.c - check that a reduce got all pieces */
#include "arrivals.h"

#include <stdlib.h>

#include "mem.h"
#include "source.h"

static void add(struct arrivals *a, struct arrival one)
{
	a->item = mem_grow(a->item, a->n, sizeof *a->item);
	a->item[a->n++] = one;
}

void arrivals_note(struct arrivals *a, const struct piece_head *h)
{
	add(a, (struct arrival){h->slice, h->records, piece_mark(h), h->table, h->region, h->number,
				h->last});
}

static int by_place(const void *a, const void *b)
{
	const struct arrival *x = a, *y = b;

	if (x->table != y->table)
		return x->table < y->table ? -1 : 1;
	if (x->region != y->region)
		return x->region < y->region ? -1 : 1;
	if (x->slice != y->slice)
		return x->slice < y->slice ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static bool same_slice(const struct arrival *a, const struct arrival *b)
{
	return a->table == b->table && a->region == b->region && a->slice == b->slice;
}

static int check_arrival(const struct arrival *a, size_t i, size_t n, struct error *err)
{
	bool first = i == 0 || !same_slice(&a[i - 1], &a[i]);
	bool last = i + 1 == n || !same_slice(&a[i], &a[i + 1]);

	unsigned long long file = a[i].slice >> 44, at = a[i].slice & (SOURCE_FILE_SEQ(1) - 1);
	if (!first && a[i].number == a[i - 1].number)
		return error_set(
			err, RC_DATA,
			"found the slice of input %llu that begins at byte %llu twice, expected "
			"each slice once",
			file, at);
	if (a[i].number != (first ? 0 : a[i - 1].number + 1) || a[i].last != last)
		return error_set(
			err, RC_IO,
			"found too few pieces of the slice of input %llu that begins at byte %llu, "
			"table %u, region %u; send all pieces of the slice's map",
			file, at, a[i].table, a[i].region);
	return RC_OK;
}

int arrivals_unite(struct arrivals *sources, size_t n, struct error *err)
{
	struct arrivals *all = &sources[0];

	for (size_t i = 1; i < n; i++)
		for (size_t k = 0; k < sources[i].n; k++)
			add(all, sources[i].item[k]);
	if (all->n)
		qsort(all->item, all->n, sizeof *all->item, by_place);
	for (size_t i = 0; i < all->n; i++) {
		int rc = check_arrival(all->item, i, all->n, err);

		if (rc)
			return rc;
	}
	return RC_OK;
}
