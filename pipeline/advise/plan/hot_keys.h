/* hot_keys.h - the keys of events in the order of their arrival (inside pipeline/advise/plan only) */
#ifndef SALTMILL_PLAN_HOT_KEYS_H
#define SALTMILL_PLAN_HOT_KEYS_H

#include "planning.h"

/* A kept event. */
struct hot_key {
	uint64_t order; /* place in the input, or the time of a message */
	size_t key;	/* offset in the keys of its list */
	uint32_t key_len;
	struct bytes at; /* the key, after hot_keys_sorted */
};

/* The kept events of one table and worker. */
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
	struct hot_list *list; /* [threads * tables] */
};

/*
 * Return the kept events of a table in the order of arrival, which the caller frees. The keys
 * borrow from `a`. Sets *all to the sums of all lists.
 */
struct hot_key *hot_keys_sorted(const struct hot_keys *a, size_t table, struct hot_list *all);

#endif
