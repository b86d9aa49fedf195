/* keyed_regions.c - cut regions of the oldest events of a key, and replay the events after them */
#include <stdlib.h>

#include "keyed.h"

/* --- the order of arrival --- */

struct arrived {
	uint64_t time;
	uint32_t event;
};

static int compare_arrived(const void *x, const void *y)
{
	const struct arrived *a = x, *b = y;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (a->event > b->event) - (a->event < b->event);
}

static bool rises(const uint64_t *number, size_t n)
{
	size_t i = 1;

	while (i < n && number[i] >= number[i - 1])
		i++;
	return i >= n;
}

uint32_t *arrival_ranks(const struct events *e)
{
	const struct event_column *time = NULL;

	for (size_t f = 0; !time && f < e->job->nfields; f++)
		if (e->job->fields[f].type == FIELD_TIME && !e->column[f].nulls)
			time = &e->column[f];
	if (!time || rises(time->number, e->n))
		return NULL;
	struct arrived *all = mem_alloc((e->n + 1) * sizeof *all);
	uint32_t *rank = mem_alloc((e->n + 1) * sizeof *rank);
	for (size_t i = 0; i < e->n; i++)
		all[i] = (struct arrived){time->number[i], (uint32_t)i};
	qsort(all, e->n, sizeof *all, compare_arrived);
	for (size_t i = 0; i < e->n; i++)
		rank[all[i].event] = (uint32_t)i;
	mem_free(all);
	return rank;
}

/* --- regions --- */

static struct bytes old_key(const void *keyed, size_t i)
{
	const struct keyed *k = keyed;

	return keyed_key(k, k->order[k->room->old_place[i]]);
}

/*
 * List the different keys of the first `old` events to arrive, with their bytes, and set the place of
 * each event after them in k->room->arrived. Returns the number of keys.
 */
static size_t list_old(const struct keyed *k, const uint32_t *rank, size_t old)
{
	struct keyed_room *r = k->room;
	uint64_t bytes = 0;
	uint32_t row = UINT32_MAX;
	size_t n = 0;

	for (size_t i = 0; i < k->e->n; i++) {
		uint32_t event = k->sorted[i].event, at = rank ? rank[event] : event;

		if (at >= old) {
			r->arrived[at - old] = (uint32_t)i;
			continue;
		}
		if (k->rows_below[i] != row) {
			row = k->rows_below[i];
			r->old_place[n] = (uint32_t)i;
			r->old_before[n++] = bytes;
		}
		bytes += k->sorted[i].bytes;
	}
	r->old_before[n] = bytes;
	return n;
}

/* Find the place in the order at which each region starts. */
static void find_places(struct written_regions *w, const struct keyed *k)
{
	size_t count = w->splits.count + 1;

	w->place = mem_calloc(count + 1, sizeof *w->place);
	for (size_t r = 1; r < count; r++)
		w->place[r] = keyed_below(k, w->splits.keys[r - 1]);
	w->place[count] = k->e->n;
}

/* Return the region of a place in the order. */
static size_t region_of(const struct written_regions *w, size_t place)
{
	size_t lo = 0, hi = w->splits.count;

	while (lo < hi) {
		size_t mid = (lo + hi + 1) / 2;

		if (w->place[mid] <= place)
			lo = mid;
		else
			hi = mid - 1;
	}
	return lo;
}

int written_make(struct written_regions *w, const struct keyed *k, const uint32_t *rank,
		 size_t regions, size_t servers, uint64_t window, struct error *err)
{
	const struct key_shape shape = key_shape(k->table.table);
	const struct division d = {.shape = &shape, .regions = regions};
	size_t n = k->e->n, old = n - n / 5;
	uint32_t *arrived = k->room->arrived;

	*w = (struct written_regions){0};
	struct listed_keys keys = {k, old_key, list_old(k, rank, old), k->room->old_before};
	const struct key_weights weights = listed_weights(&keys);
	int rc = divide(&weights, &d, &w->splits, err);
	if (rc)
		return rc;
	find_places(w, k);
	size_t count = w->splits.count + 1;
	uint64_t *before = mem_calloc(count, sizeof *before);
	for (size_t r = 0; r < count; r++)
		before[r] = w->place[r + 1] - w->place[r];
	for (size_t i = 0; i < n - old; i++) {
		arrived[i] = (uint32_t)region_of(w, arrived[i]);
		before[arrived[i]]--;
	}
	const struct replay_options o = {.regions = count,
					 .servers = servers,
					 .window = window,
					 .before = before};
	replay_make(&w->replay, arrived, n - old, &o);
	mem_free(before);
	return RC_OK;
}

void written_release(struct written_regions *w)
{
	splits_release(&w->splits);
	replay_release(&w->replay);
	mem_free(w->place);
}
