/*
 * keyed.h - the events in the order of a row key, and the regions that they write (inside this
 * folder only)
 *
 *   keyed_make, keyed_below*, written_make, written_release, keyed_release; keyed_room_close
 */
#ifndef SALTMILL_DESIGN_KEYED_H
#define SALTMILL_DESIGN_KEYED_H

#include "keys.h"
#include "plan.h"

/* An event in the order of the keys. */
struct sorted_key {
	uint64_t head; /* after keyed_sort: equal for equal keys */
	uint32_t event;
	uint32_t bytes; /* stored bytes of the event with its key */
};

/* Memory of a thread for the keys that it measures one after the other. {0} is empty. */
struct keyed_room {
	struct buf keys;
	uint32_t *at;
	struct sorted_key *sorted, *swap;
	uint32_t *order, *rows_below, *old_place, *arrived;
	uint64_t *bytes_below, *old_before;
};
/* The largest memory of a room for each event, without the keys. */
#define KEYED_ROOM_BYTES                                                                           \
	(2 * sizeof(struct sorted_key) + 5 * sizeof(uint32_t) + 2 * sizeof(uint64_t))
void keyed_room_close(struct keyed_room *r);

/* The events by row key. The lists are in the room. */
struct keyed {
	const struct events *e;
	const struct candidate *candidate;
	struct keyed_room *room;
	struct key_table table;
	const uint8_t *keys; /* all keys, in the order of the events, and 8 bytes after them */
	size_t keys_len;
	uint32_t *at; /* [n + 1]: offset of each event's key; NULL if all keys have `width` */
	uint32_t width;
	struct sorted_key *sorted; /* [n]: events in the order of their keys, the later last */
	uint32_t *order;	   /* [n]: their numbers */
	uint32_t *rows_below;	   /* [n + 1]: different keys before this place of the order */
	uint64_t *bytes_below;	   /* [n + 1]: stored bytes of these rows, with their keys */
	uint64_t hidden;	   /* events whose row a later event replaces */
	uint64_t failed;	   /* events that cannot have this key */
};

/* Return the key of an event. */
static inline struct bytes keyed_key(const struct keyed *k, size_t event)
{
	if (!k->at)
		return bytes_of(k->keys + event * k->width, k->width);
	return bytes_of(k->keys + k->at[event], k->at[event + 1] - k->at[event]);
}

/* Build and sort the keys of all events. The room must not serve another key until the release. */
void keyed_make(struct keyed *k, const struct events *e, const struct candidate *c,
		struct keyed_room *room);
void keyed_release(struct keyed *k);
/* Sort k->sorted, whose events rise, and set k->order (keyed_sort.c). */
void keyed_sort(struct keyed *k);
/* Sort `n` numbers. */
void words_sort(uint64_t *words, size_t n);
/* Return the number of events with a smaller key, which is a place in `order`. */
size_t keyed_below(const struct keyed *k, struct bytes key);

/*
 * Return the place of each event in the order of arrival: by the first time without nulls, else as
 * in the input. NULL means that the events arrive in the order of the input. The caller frees it.
 */
uint32_t *arrival_ranks(const struct events *e);

/* Regions that the oldest events give, and the events after them. */
struct written_regions {
	struct splits splits;
	size_t *place; /* [splits.count + 2]: place in the order at which each region starts */
	struct write_replay replay;
};
/*
 * Cut regions of the oldest 80 % of the events, as a load of them does, and replay the others.
 * `window` is the number of events in a minute. `rank` is that of arrival_ranks.
 */
int written_make(struct written_regions *w, const struct keyed *k, const uint32_t *rank,
		 size_t regions, size_t servers, uint64_t window, struct error *err);
void written_release(struct written_regions *w);

#endif
