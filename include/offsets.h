/*
 * offsets.h - a stretch of one Kafka partition, and the message in front of it
 */
#ifndef SALTMILL_OFFSETS_H
#define SALTMILL_OFFSETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/*
 * A place is a partition of a topic.  The topic is NULL where the source has one topic only
 * (`topic: orders`), or is the one that a state calls by no name (state.h): what knows of one topic
 * needs none.  Two topics have the same numbers of partitions, so that places are compared and
 * written by these alone.
 */
static inline int place_order(const char *topic_a, int32_t a, const char *topic_b, int32_t b)
{
	int order = topic_a == topic_b ? 0
		    : !topic_a	       ? -1
		    : !topic_b	       ? 1
				       : strcmp(topic_a, topic_b);
	return order ? order : (a > b) - (a < b);
}

struct place_text {
	char text[264]; /* a name has up to 249 bytes */
};
/* "3", "orders/3": as `saltmill seek` takes it. */
static inline struct place_text place_text(const char *topic, int32_t partition)
{
	struct place_text out;
	snprintf(out.text, sizeof(out.text), "%s%s%d", topic ? topic : "", topic ? "/" : "",
		 (int)partition);
	return out;
}

/*
 * A message to be known again by: where another one stands at its offset, the topic is not the one
 * that it was of.
 */
struct anchor {
	bool known;
	int64_t offset, timestamp_ms;
	uint8_t digest[16]; /* XXH3-128 of key and value, and of whether they are null */
};

struct offset_range {
	const char *topic; /* NULL: the only one; owned by who made the range */
	int32_t partition;
	int64_t start, end; /* [start, end) */
	/*
	 * Messages found in it, once it was read.  The other offsets hold no event: markers and
	 * messages of transactions that were aborted, and what compaction removed.
	 */
	int64_t events;
	/*
	 * The last message that was loaded: in front of start until the range was read, then the
	 * last one in front of end.
	 */
	struct anchor last;
};

#endif
