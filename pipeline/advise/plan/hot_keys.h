/* hot_keys.h - the keys of events in the order of their arrival (inside pipeline/advise/plan only) */
#ifndef SALTMILL_PLAN_HOT_KEYS_H
#define SALTMILL_PLAN_HOT_KEYS_H

#include <pthread.h>

#include "planning.h"

/* A kept event. */
struct hot_key {
	uint64_t order;	       /* place in the input, or the time of a message */
	uint32_t key, key_len; /* place in the keys of its list */
};

/* The kept events of a table, or those that a worker has not added to them yet. */
struct hot_list {
	struct hot_key *item;
	size_t n;
	struct buf keys;
	unsigned rarity; /* the list keeps one event in 2^rarity */
	uint64_t events; /* all events */
	int64_t oldest_ms, newest_ms;
};

struct hot_keys {
	const struct job *job;
	const struct row_plan *plan;
	unsigned threads;
	struct hot_list *table;	 /* [tables], guarded by `lock` */
	struct hot_list *worker; /* [threads * tables] */
	pthread_mutex_t lock;
};

/* Return the key of a kept event. */
static inline struct bytes hot_key_at(const struct hot_list *l, size_t i)
{
	return bytes_of(l->keys.ptr + l->item[i].key, l->item[i].key_len);
}

/* Return the kept events of a table in the order of arrival. */
const struct hot_list *hot_keys_sorted(struct hot_keys *a, size_t table);

#endif
