/* arrivals.h - the keys of events in the order of their arrival (inside pipeline/advise/plan only) */
#ifndef SALTMILL_PLAN_ARRIVALS_H
#define SALTMILL_PLAN_ARRIVALS_H

#include "planning.h"

/* A kept event. */
struct arrival {
	uint64_t order; /* place in the input, or the time of a message */
	size_t key;	/* offset in the keys of its list */
	uint32_t key_len;
	struct bytes at; /* the key, after arrivals_sorted */
};

/* The kept events of one table and worker. */
struct arrival_list {
	struct arrival *item;
	size_t n;
	struct buf keys;
	unsigned rarity; /* one event in 2^rarity is kept */
	uint64_t events; /* all events */
	int64_t oldest_ms, newest_ms;
};

struct arrivals {
	const struct job *job;
	const struct row_plan *plan;
	unsigned threads;
	struct arrival_list *list; /* [threads * tables] */
};

/*
 * Return the kept events of a table in the order of arrival, which the caller frees. The keys
 * borrow from `a`. Sets *all to the sums of all lists.
 */
struct arrival *arrivals_sorted(const struct arrivals *a, size_t table, struct arrival_list *all);

#endif
