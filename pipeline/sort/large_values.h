/*
 * large_values.h - large payloads, stored separately from their records
 *
 * Sorting and merging move only a reference to the payload. A merge of many runs then has one large
 * payload in memory instead of one for each run, and the merge writes no payload twice. A record
 * has this reference instead of the payload:
 *
 *   builder u32 | number u32 | payload bytes u64 | weight of the record u64
 */
#ifndef SALTMILL_LARGE_VALUES_H
#define SALTMILL_LARGE_VALUES_H

#include "sorted_run.h"

/* The payloads that one builder stored separately. */
struct large_values {
	struct large_item {
		uint8_t *data; /* NULL means that the payload is in the spill file */
		uint64_t at;
		size_t len;
	} * items;
	size_t count, cap;
	size_t evicted; /* index of the first payload that may be in memory */
	uint64_t bytes, spilled_bytes;
};

/* Store a copy of the payload and fill `ref` with a reference to the copy. */
int large_put(struct large_values *a, uint32_t builder, struct bytes payload, uint64_t weight,
	      struct budget *budget, struct spill *spill, uint8_t ref[LARGE_REF_BYTES],
	      struct error *err);
/* Move one payload from memory to disk. Returns RC_END if memory has no more payloads. */
int large_evict(struct large_values *a, struct budget *budget, struct spill *spill,
		struct error *err);
/*
 * Get the payload of the reference `ref` from the payloads of `n` builders. The function reads a
 * payload on disk into `scratch`. Returns RC_IO if `ref` is damaged.
 */
int large_get(const struct large_values *large, unsigned n, const struct spill *spills,
	      struct bytes ref, struct buf *scratch, struct bytes *payload, struct error *err);
void large_release(struct large_values *a, struct budget *budget);

#endif
