/*
 * hot_keys.c - keep the keys of events in the order of their arrival
 *
 * To limit memory, a full list drops half of its events by a hash of their places. In the end all
 * lists have the rarity that keeps at most HOT_KEYS_MOST events of all lists together. A list alone
 * never needs a higher rarity, so the kept events do not depend on the threads.
 */
#include "hot_keys.h"

#include <stdlib.h>
#include <string.h>

#include "row.h"

struct hot_keys *hot_keys_new(void)
{
	return mem_calloc(1, sizeof(struct hot_keys));
}

void hot_keys_free(struct hot_keys *a)
{
	if (!a)
		return;
	for (size_t i = 0; a->list && i < a->threads * a->job->ntables; i++) {
		mem_free(a->list[i].item);
		buf_release(&a->list[i].keys);
	}
	mem_free(a->list);
	mem_free(a);
}

void hot_keys_open(struct hot_keys *a, const struct job *job, const struct row_plan *plan,
		   unsigned threads)
{
	*a = (struct hot_keys){.job = job, .plan = plan, .threads = threads};
	a->list = mem_calloc(threads * job->ntables, sizeof *a->list);
	for (size_t i = 0; i < threads * job->ntables; i++) {
		a->list[i].oldest_ms = INT64_MAX;
		a->list[i].newest_ms = INT64_MIN;
	}
}

static bool is_kept(uint64_t order, unsigned rarity)
{
	uint64_t hash = order * UINT64_C(0x9E3779B97F4A7C15);

	hash = (hash ^ hash >> 29) * UINT64_C(0xBF58476D1CE4E5B9);
	return (hash >> 20 & ((UINT64_C(1) << rarity) - 1)) == 0;
}

/* Drop the events that a higher rarity does not keep. */
static void thin(struct hot_list *l)
{
	size_t n = 0, at = 0;

	l->rarity++;
	for (size_t i = 0; i < l->n; i++) {
		struct hot_key e = l->item[i];

		if (!is_kept(e.order, l->rarity))
			continue;
		memmove(l->keys.ptr + at, l->keys.ptr + e.key, e.key_len);
		e.key = at;
		at += e.key_len;
		l->item[n++] = e;
	}
	l->n = n;
	l->keys.len = at;
}

void hot_keys_add(struct hot_keys *a, unsigned worker, size_t table, const struct record *r)
{
	struct hot_list *l = &a->list[worker * a->job->ntables + table];
	int64_t ms = row_timestamp(a->plan, table, r);
	uint64_t order = a->job->source == SOURCE_KAFKA ? (uint64_t)ms : r->seq;

	l->events++;
	l->oldest_ms = ms < l->oldest_ms ? ms : l->oldest_ms;
	l->newest_ms = ms > l->newest_ms ? ms : l->newest_ms;
	if (!is_kept(order, l->rarity))
		return;
	if (l->n == HOT_KEYS_MOST)
		thin(l);
	if (!is_kept(order, l->rarity))
		return;
	l->item = mem_grow(l->item, l->n, sizeof *l->item);
	l->item[l->n++] = (struct hot_key){.order = order,
					   .key = l->keys.len,
					   .key_len = (uint32_t)r->key.len};
	buf_append(&l->keys, r->key.ptr, r->key.len);
}

static int by_order(const void *a, const void *b)
{
	const struct hot_key *x = a, *y = b;

	return x->order < y->order ? -1 : x->order > y->order ? 1 : bytes_cmp(x->at, y->at);
}

/* Add the events of a list that the rarity keeps. `out` NULL only counts them. */
static size_t gather(const struct hot_list *l, unsigned rarity, struct hot_key *out)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		if (!is_kept(l->item[i].order, rarity))
			continue;
		if (out) {
			out[n] = l->item[i];
			out[n].at = bytes_of(l->keys.ptr + out[n].key, out[n].key_len);
		}
		n++;
	}
	return n;
}

static size_t gather_all(const struct hot_keys *a, size_t table, unsigned rarity,
			 struct hot_key *out)
{
	size_t n = 0;

	for (unsigned w = 0; w < a->threads; w++)
		n += gather(&a->list[w * a->job->ntables + table], rarity, out ? out + n : NULL);
	return n;
}

struct hot_key *hot_keys_sorted(const struct hot_keys *a, size_t table, struct hot_list *all)
{
	*all = (struct hot_list){.oldest_ms = INT64_MAX, .newest_ms = INT64_MIN};
	for (unsigned w = 0; w < a->threads; w++) {
		const struct hot_list *l = &a->list[w * a->job->ntables + table];

		all->events += l->events;
		all->rarity = l->rarity > all->rarity ? l->rarity : all->rarity;
		all->oldest_ms = l->oldest_ms < all->oldest_ms ? l->oldest_ms : all->oldest_ms;
		all->newest_ms = l->newest_ms > all->newest_ms ? l->newest_ms : all->newest_ms;
	}
	while ((all->n = gather_all(a, table, all->rarity, NULL)) > HOT_KEYS_MOST)
		all->rarity++;
	struct hot_key *out = mem_alloc((all->n + 1) * sizeof *out);
	gather_all(a, table, all->rarity, out);
	qsort(out, all->n, sizeof *out, by_order);
	return out;
}
