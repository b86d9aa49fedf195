/*
 * keyed.h - the events in the order of a row key, and the regions that they write (inside this
 * folder only)
 *
 *   keyed_make, keyed_below*, keyed_release
 */
#ifndef SALTMILL_DESIGN_KEYED_H
#define SALTMILL_DESIGN_KEYED_H

#include "keys.h"
#include "plan.h"

/* The events by row key. Members are owned. */
struct keyed {
	const struct events *e;
	const struct candidate *candidate;
	struct key_table table;
	struct buf keys; /* all keys, in the order of the events */
	uint32_t *at;	 /* [n + 1]: offset of each event's key; NULL if all keys have `width` */
	uint32_t width;
	uint32_t *order;       /* [n]: events in the order of their keys, the later last */
	uint32_t *rows_below;  /* [n + 1]: different keys before this place of the order */
	uint64_t *bytes_below; /* [n + 1]: stored bytes of these rows, with their keys */
	uint64_t hidden;       /* events whose row a later event replaces */
	uint64_t failed;       /* events that cannot have this key */
};

/* Return the key of an event. */
static inline struct bytes keyed_key(const struct keyed *k, size_t event)
{
	if (!k->at)
		return bytes_of(k->keys.ptr + event * k->width, k->width);
	return bytes_of(k->keys.ptr + k->at[event], k->at[event + 1] - k->at[event]);
}

/* Build and sort the keys of all events. */
void keyed_make(struct keyed *k, const struct events *e, const struct candidate *c);
void keyed_release(struct keyed *k);
/* Set k->order (keyed_sort.c). */
void keyed_sort(struct keyed *k);
/* Return the number of events with a smaller key, which is a place in `order`. */
size_t keyed_below(const struct keyed *k, struct bytes key);

/* The order in which events arrive: by the first time without nulls, else as in the input. */
uint32_t *arrival_order(const struct events *e);

/* Regions that the oldest events give, and the events after them. */
struct written_regions {
	struct splits splits;
	size_t *place; /* [splits.count + 2]: place in the order at which each region starts */
	struct write_replay replay;
};
/*
 * Cut regions of the oldest 80 % of the events, as `plan` does, and replay the others. `window` is
 * the number of events in a minute.
 */
int written_make(struct written_regions *w, const struct keyed *k, const uint32_t *arrival,
		 size_t regions, size_t servers, uint64_t window, struct error *err);
void written_release(struct written_regions *w);

#endif
