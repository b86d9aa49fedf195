/*
 * heavy.h - the keys that hold most of the bytes, with bounds that hold for certain
 *
 * A Misra-Gries summary with weights.  Implemented in splitter/; one thread at a time.
 */
#ifndef SALTMILL_HEAVY_H
#define SALTMILL_HEAVY_H

#include "bytes.h"
#include "error.h"

struct heavy;

/*
 * counters: how many keys are counted at once, 16 at least.  Keys with 2 / counters of all bytes
 * or more are always found.  Keys take 4 MB at most; very long ones leave room for fewer.
 */
struct heavy *heavy_new(uint32_t counters);
void heavy_free(struct heavy *h);
/* key: 65,535 bytes at most. */
void heavy_add(struct heavy *h, struct bytes key, uint64_t bytes);
/* As if what from was given had been added to into. */
void heavy_merge(struct heavy *into, const struct heavy *from);

uint64_t heavy_bytes(const struct heavy *h);
/* A key that heavy_list does not name has this many bytes at most. */
uint64_t heavy_error(const struct heavy *h);

/* The bytes of key are between at_least and at_most. */
struct heavy_key {
	struct bytes key; /* borrowed; valid until the next heavy_add or heavy_merge */
	uint64_t at_least, at_most;
};
/*
 * The keys whose at_least is min_bytes or more, heaviest first, equal ones by key.  Returns how
 * many; *out is the caller's (mem_free).
 */
size_t heavy_list(const struct heavy *h, uint64_t min_bytes, struct heavy_key **out);

/* The file form, and back: as sketch_save and sketch_load. */
void heavy_save(const struct heavy *h, struct buf *out);
int heavy_load(struct heavy **out, const char *name, struct bytes file, struct error *err);

#endif
