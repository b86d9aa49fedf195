/*
 * key_shape.h - where the parts of a table's row keys end, as far as cutting regions needs it
 *
 * Implemented in splitter/.
 */
#ifndef SALTMILL_KEY_SHAPE_H
#define SALTMILL_KEY_SHAPE_H

#include "bytes.h"

#define SHAPE_MAX_PARTS 16

/*
 * A part has a fixed width, or ends with (and includes) its terminator, or is the rest of the key.
 * {0}: nothing is known.
 */
struct key_shape {
	struct {
		uint32_t width; /* bytes; 0: not fixed */
		int terminator; /* byte; below 0: the rest of the key */
	} parts[SHAPE_MAX_PARTS];
	size_t nparts;
	uint32_t salt_bytes; /* of a salt in front, big-endian; 0: not salted */
	uint32_t buckets;    /* its values are 0 to buckets - 1 */
};

/* Where the part that begins at `at` ends; SIZE_MAX: it is not all there. */
size_t shape_part_end(uint32_t width, int terminator, struct bytes key, size_t at);
/* Where the parts end, rising; at most SHAPE_MAX_PARTS.  A part that is not all there ends none. */
size_t shape_ends(const struct key_shape *shape, struct bytes key, size_t ends[SHAPE_MAX_PARTS]);
/* How many whole parts `below` and `key` (above it) share: those that a border between cuts. */
unsigned shape_depth(const struct key_shape *shape, struct bytes below, struct bytes key);

#endif
