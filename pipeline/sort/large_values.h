/*
 * large_values.h - large payloads, put aside when a record is added and read back when it is needed
 *
 * Sorting and merging then move only a reference. A merge of many runs has one large payload in
 * memory instead of one for each run, and no payload is written twice. The record has instead of
 * its payload:
 *
 *   builder u32 | number u32 | payload bytes u64 | weight of the record u64
 */
#ifndef SALTMILL_LARGE_VALUES_H
#define SALTMILL_LARGE_VALUES_H

#include "sorted_run.h"

/* The payloads that one builder put aside. */
struct large_values {
	struct large_item {
		uint8_t *data; /* NULL: in the spill file */
		uint64_t at;
		size_t len;
	} * items;
	size_t count, cap;
	size_t evicted; /* no payload before this one is in memory */
	uint64_t bytes, spilled_bytes;
};

/* Keep a copy of the payload and fill in its reference. */
int large_put(struct large_values *a, uint32_t builder, struct bytes payload, uint64_t weight,
	      struct budget *budget, struct spill *spill, uint8_t ref[LARGE_REF_BYTES],
	      struct error *err);
/* Move one payload from memory to disk; RC_END: none is left in memory. */
int large_evict(struct large_values *a, struct budget *budget, struct spill *spill,
		struct error *err);
/*
 * Get the payload of ref, of n builders: from memory, or read into scratch. RC_IO: ref is damaged.
 */
int large_get(const struct large_values *large, unsigned n, const struct spill *spills,
	      struct bytes ref, struct buf *scratch, struct bytes *payload, struct error *err);
void large_release(struct large_values *a, struct budget *budget);

#endif
