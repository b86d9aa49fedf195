/*
 * parked_places.h - the parked partitions of a stream whose partitions have one state together
 *
 * A load leaves out parked partitions, so their positions do not change. A separate load retries
 * each parked partition. If the stream has parked all partitions, it ends.
 */
#ifndef SALTMILL_PARKED_PLACES_H
#define SALTMILL_PARKED_PLACES_H

#include "error.h"
#include "event.h"

/* Return true if an error with the code `rc` concerns only one partition. */
bool parking_is_for(int rc);
/*
 * Return the delay before the next attempt, in ms. `last_ms` is the previous delay, or 0 before the
 * first attempt.
 */
int64_t parked_delay(int64_t last_ms);

struct parked_place {
	const char *topic; /* the name that offset ranges use */
	int32_t partition;
	int64_t try_ms, delay_ms;
	char *why;
};

struct parked_places {
	struct parked_place *item;
	size_t n;
	uint64_t lag; /* offsets that the last query found in parked partitions */
};

/* Return the parked place of a range, or NULL if there is none. */
struct parked_place *parked_find(const struct parked_places *p, const struct offset_range *r);
/* Park the place of a range and report why. If the place already has an entry, the delay grows. */
void parked_put(struct parked_places *p, const struct offset_range *r,
		const struct listener *listener, const char *why);
/* If the place of a range has an entry, record and report that the place continues. */
void parked_end(struct parked_places *p, const struct offset_range *r,
		const struct listener *listener);
void parked_release(struct parked_places *p);

#endif
