/*
 * ranges.h - the ranges that are being read, and whether their topics are still the same
 *
 * Reading begins at the last message that was loaded, not behind it: the first message that comes
 * tells whether the topic was made anew, or lost what it had, and costs no request of its own.
 */
#ifndef SALTMILL_SOURCE_RANGES_H
#define SALTMILL_SOURCE_RANGES_H

#include "error.h"
#include "event.h"

struct reading_range {
	struct offset_range range;
	struct anchor before; /* to be seen first */
	int64_t next;
	bool done;
	bool unchecked; /* `before` was not seen yet */
	bool gone;	/* it is not there any more, neither is another in its place */
	bool wrong;	/* another is */
};

struct ranges {
	struct reading_range *item;
	struct reading_range **by_place; /* the same by topic and partition */
	struct reading_range *found;	 /* by ranges_find, lately; NULL: nothing yet */
	size_t count, left;		 /* left: not done */
	size_t unchecked;
	size_t gone, wrong;
	bool told; /* ranges_settle has found that nothing is wrong */
};

void ranges_begin(struct ranges *s, const struct offset_range *ranges, size_t n);
void ranges_release(struct ranges *s);
/* topic: as it is in the ranges.  NULL: no such place. */
struct reading_range *ranges_find(struct ranges *s, const char *topic, int32_t partition);
/* Nothing more is wanted of it; false: it had ended before. */
bool ranges_end(struct ranges *s, struct reading_range *r);
/* `before` will not be seen. */
void ranges_miss(struct ranges *s, struct reading_range *r);
/* m is the first message of r, which is unchecked. */
void ranges_check(struct ranges *s, struct reading_range *r, const struct message *m);
/* The next message of r, checked if need be: true when it is one of the range. */
bool ranges_see(struct ranges *s, struct reading_range *r, int64_t offset);
/* m belongs to r and is, as far as is known, its last. */
void ranges_last(struct reading_range *r, const struct message *m);

/*
 * RC_OK: nothing is wrong, or not everything was looked at yet.  *note: a sentence to tell, owned
 * by the caller, once, when some of the topic could not be checked; else NULL.  RC_DATA: it is not
 * the topic whose messages were loaded; lows: where each range's partition begins,
 * in start.  topic: where the ranges name none, what they are of.
 */
int ranges_settle(struct ranges *s, const char *topic, char **note);
int ranges_refuse(const struct ranges *s, const char *topic, const struct offset_range *lows,
		  struct error *err);

#endif
