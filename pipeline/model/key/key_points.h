/* key_points.h - the single values of an interval of a part (inside pipeline/model/key only) */
#ifndef SALTMILL_KEY_POINTS_H
#define SALTMILL_KEY_POINTS_H

#include "encoding.h"
#include "key_sets.h"

#define COUNTED_MOST 64	   /* most numbers of an interval to list as single values */
#define BUCKETS_MOST 10000 /* most years, months, days or hours of an interval to list */

/* Return true if no width and no terminator ends the part. */
bool is_open_end(const struct layout *l);
/* Return true if the interval contains the keys of only one value. */
bool is_point(struct arena *a, const struct layout *l, struct interval i);
/*
 * List the values of an interval of whole numbers, or of consecutive parts of a date that rise with
 * the time. Returns 0 for any other interval, and for more than `most` values. `*too_many`, unless it
 * is NULL, becomes true if a date has more. The values are in the arena.
 */
size_t list_points(struct bytes **out, const struct layout *l, struct interval i, size_t most,
		   bool *too_many, struct arena *a);

#endif
