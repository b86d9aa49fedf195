/*
 * hot_keys.c - keep the keys of events in the order of their arrival
 *
 * To limit memory, a full list drops half of its events by a hash of their places. In the end, the
 * list of a table has the lowest rarity that keeps at most HOT_KEYS_MOST events and HOT_KEY_BYTES of
 * keys. So the kept events do not depend on the threads.
 */
#include "hot_keys.h"

#include <stdlib.h>
#include <string.h>

#include "row.h"

#define HOT_KEY_BYTES (8u << 20)
/* events and key bytes that a worker collects before it adds them to the list of the table */
#define BATCH_MOST  256
#define BATCH_BYTES (64u << 10)
_Static_assert(HOT_KEYS_MOST * sizeof(struct hot_key) + HOT_KEY_BYTES <= HOT_TABLE_BYTES,
	       "a table's list must fit");

int hot_keys_reserve(struct run_options *run, size_t tables, struct error *err)
{
	uint64_t need = tables * (uint64_t)HOT_TABLE_BYTES;

	if (need > run->memory_bytes / 2)
		return error_set(err, RC_CONFIG,
				 "--hotspot keeps keys of %zu tables: found --memory %lluM, "
				 "expected at least %lluM; give --memory %lluM",
				 tables, (unsigned long long)run->memory_bytes >> 20,
				 (unsigned long long)need >> 19, (unsigned long long)need >> 19);
	run->memory_bytes -= need;
	return RC_OK;
}

struct hot_keys *hot_keys_new(void)
{
	return mem_calloc(1, sizeof(struct hot_keys));
}

static void release_lists(struct hot_list *l, size_t n)
{
	for (size_t i = 0; l && i < n; i++) {
		mem_free(l[i].item);
		buf_release(&l[i].keys);
	}
	mem_free(l);
}

void hot_keys_free(struct hot_keys *a)
{
	if (!a)
		return;
	if (a->table) {
		release_lists(a->table, a->job->ntables);
		release_lists(a->worker, a->threads * a->job->ntables);
		pthread_mutex_destroy(&a->lock);
	}
	mem_free(a);
}

static struct hot_list *new_lists(size_t n)
{
	struct hot_list *l = mem_calloc(n, sizeof *l);

	for (size_t i = 0; i < n; i++) {
		l[i].oldest_ms = INT64_MAX;
		l[i].newest_ms = INT64_MIN;
	}
	return l;
}

void hot_keys_open(struct hot_keys *a, const struct job *job, const struct row_plan *plan,
		   unsigned threads)
{
	*a = (struct hot_keys){.job = job,
			       .plan = plan,
			       .threads = threads,
			       .lock = PTHREAD_MUTEX_INITIALIZER};
	a->table = new_lists(job->ntables);
	a->worker = new_lists(threads * job->ntables);
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
	size_t n = 0;
	uint32_t at = 0;

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

static void append(struct hot_list *l, uint64_t order, struct bytes key)
{
	l->item = mem_grow(l->item, l->n, sizeof *l->item);
	l->item[l->n++] = (struct hot_key){.order = order,
					   .key = (uint32_t)l->keys.len,
					   .key_len = (uint32_t)key.len};
	buf_append(&l->keys, key.ptr, key.len);
}

static void keep(struct hot_list *l, uint64_t order, struct bytes key)
{
	while (is_kept(order, l->rarity) &&
	       (l->n == HOT_KEYS_MOST || l->keys.len + key.len > HOT_KEY_BYTES))
		thin(l);
	if (is_kept(order, l->rarity))
		append(l, order, key);
}

/* Add the events of a worker to the list of the table. */
static void flush(struct hot_keys *a, struct hot_list *from, struct hot_list *to)
{
	pthread_mutex_lock(&a->lock);
	to->events += from->events;
	to->oldest_ms = from->oldest_ms < to->oldest_ms ? from->oldest_ms : to->oldest_ms;
	to->newest_ms = from->newest_ms > to->newest_ms ? from->newest_ms : to->newest_ms;
	for (size_t i = 0; i < from->n; i++)
		keep(to, from->item[i].order, hot_key_at(from, i));
	from->rarity = to->rarity;
	pthread_mutex_unlock(&a->lock);
	from->events = 0;
	from->n = 0;
	from->keys.len = 0;
}

void hot_keys_add(struct hot_keys *a, unsigned worker, size_t table, const struct record *r)
{
	struct hot_list *l = &a->worker[worker * a->job->ntables + table];
	int64_t ms = row_timestamp(a->plan, table, r);
	uint64_t order = a->job->source == SOURCE_KAFKA ? (uint64_t)ms : r->seq;

	l->events++;
	l->oldest_ms = ms < l->oldest_ms ? ms : l->oldest_ms;
	l->newest_ms = ms > l->newest_ms ? ms : l->newest_ms;
	if (!is_kept(order, l->rarity))
		return;
	append(l, order, r->key);
	if (l->n == BATCH_MOST || l->keys.len > BATCH_BYTES)
		flush(a, l, &a->table[table]);
}

static int by_order(const void *a, const void *b, void *keys)
{
	const struct hot_key *x = a, *y = b;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return bytes_cmp(bytes_of((const uint8_t *)keys + x->key, x->key_len),
			 bytes_of((const uint8_t *)keys + y->key, y->key_len));
}

const struct hot_list *hot_keys_sorted(struct hot_keys *a, size_t table)
{
	struct hot_list *l = &a->table[table];

	for (unsigned w = 0; w < a->threads; w++)
		flush(a, &a->worker[w * a->job->ntables + table], l);
	if (l->n)
		qsort_r(l->item, l->n, sizeof *l->item, by_order, l->keys.ptr);
	return l;
}
