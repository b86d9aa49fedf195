/*
 * ranges.h - the ranges that are being read, and the check that their topics are still the same
 *
 * Reading starts at the last loaded message, not after it. That first message shows whether the
 * topic was recreated or lost data, without an extra request.
 */
#ifndef SALTMILL_SOURCE_RANGES_H
#define SALTMILL_SOURCE_RANGES_H

#include "error.h"
#include "event.h"

struct reading_range {
	struct offset_range range;
	struct anchor before; /* the message to see first */
	int64_t next;
	bool done;
	bool unchecked; /* `before` was not seen yet */
	bool gone;	/* `before` was deleted, and its offset is empty */
	bool wrong;	/* another message has its offset */
};

struct ranges {
	struct reading_range *item;
	struct reading_range **by_place; /* the items by topic and partition */
	struct reading_range *found;	 /* last result of ranges_find; NULL: none yet */
	size_t count, left;		 /* left: not done */
	size_t unchecked;
	size_t gone, wrong;
	bool told; /* ranges_settle has found no fault */
};

void ranges_begin(struct ranges *s, const struct offset_range *ranges, size_t n);
void ranges_release(struct ranges *s);
/* Find a range. topic: as in the ranges. NULL: there is none. */
struct reading_range *ranges_find(struct ranges *s, const char *topic, int32_t partition);
/* End a range; false: it had ended before. */
bool ranges_end(struct ranges *s, struct reading_range *r);
/* Record that `before` no longer exists. */
void ranges_miss(struct ranges *s, struct reading_range *r);
/* Compare m, the first message of the unchecked r, with `before`. */
void ranges_check(struct ranges *s, struct reading_range *r, const struct message *m);
/* Advance r to the message at offset; true: the message belongs to the range. */
bool ranges_see(struct ranges *s, struct reading_range *r, int64_t offset);
/* Record m, a message of r, as the last one seen so far. */
void ranges_last(struct reading_range *r, const struct message *m);

/*
 * Report the result of the checks. RC_OK: no fault, or not all ranges are checked yet. RC_DATA: it
 * is not the topic whose messages were loaded; ranges_refuse sets the error. *note: a message to
 * report once because a part could not be checked, owned by the caller; or NULL. lows: the first
 * offset of each range's partition, in start. topic: the topic of ranges that name none.
 */
int ranges_settle(struct ranges *s, const char *topic, char **note);
int ranges_refuse(const struct ranges *s, const char *topic, const struct offset_range *lows,
		  struct error *err);

#endif
