/*
 * ranges.h - track the ranges of a load, and check that nobody recreated their topics
 *
 * Reading starts at the last loaded message, not after it. That first message shows whether the
 * topic is new or lost data, without an extra request.
 */
#ifndef SALTMILL_SOURCE_RANGES_H
#define SALTMILL_SOURCE_RANGES_H

#include "error.h"
#include "event.h"

struct reading_range {
	struct offset_range range;
	/* the message before the range; the client reads it first, as a check */
	struct anchor before;
	int64_t next;
	bool done;
	bool unchecked; /* `before` was not yet checked */
	bool gone;	/* `before` no longer exists, so its offset is empty */
	bool wrong;	/* another message has its offset */
};

struct ranges {
	struct reading_range *item;
	struct reading_range **by_place; /* the items, sorted by topic and partition */
	struct reading_range *found;	 /* last result of ranges_find, NULL if none */
	size_t count, left;		 /* number of ranges, and of unfinished ranges */
	size_t unchecked;
	size_t gone, wrong;
	bool told; /* ranges_settle has found no fault */
};

void ranges_begin(struct ranges *s, const struct offset_range *ranges, size_t n);
void ranges_release(struct ranges *s);
/* Find a range. `topic` is as in the ranges. Return NULL if there is no such range. */
struct reading_range *ranges_find(struct ranges *s, const char *topic, int32_t partition);
/* End a range. Return false if the range had ended before. */
bool ranges_end(struct ranges *s, struct reading_range *r);
/* Record that the message `before` no longer exists. */
void ranges_miss(struct ranges *s, struct reading_range *r);
/* Compare `m`, the first message of the unchecked range `r`, with `before`. */
void ranges_check(struct ranges *s, struct reading_range *r, const struct message *m);
/* Advance `r` to the message at `offset`. Return true if the message belongs to the range. */
bool ranges_see(struct ranges *s, struct reading_range *r, int64_t offset);
/* Record `m`, a message of `r`, as the last message so far. */
void ranges_last(struct reading_range *r, const struct message *m);

/*
 * Report the result of the checks. Return RC_OK if there is no fault, or if the check of some
 * ranges has not ended yet. Return RC_DATA if somebody recreated the topic. ranges_refuse then sets
 * the error. Set `*note` to a message about unchecked ranges, or to NULL. The caller owns the note
 * and reports it once. `topic` applies to ranges that do not name a topic.
 */
int ranges_settle(struct ranges *s, const char *topic, char **note);
int ranges_refuse(const struct ranges *s, const char *topic, const struct offset_range *lows,
		  struct error *err);

#endif
