/*
 * offsets.h - a stretch of one Kafka partition
 */
#ifndef SALTMILL_OFFSETS_H
#define SALTMILL_OFFSETS_H

#include <stddef.h>
#include <stdint.h>

struct offset_range {
	int32_t partition;
	int64_t start, end; /* [start, end) */
	/*
	 * Messages found in it, once it was read.  The other offsets hold no event: markers and
	 * messages of transactions that were aborted, and what compaction removed.
	 */
	int64_t events;
};

#endif
