/*
 * offsets.h - a stretch of one Kafka partition, and the message in front of it
 */
#ifndef SALTMILL_OFFSETS_H
#define SALTMILL_OFFSETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
