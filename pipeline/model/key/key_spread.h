/* key_spread.h - the distribution of a key's part values (inside pipeline/model/key only) */
#ifndef SALTMILL_KEY_SPREAD_H
#define SALTMILL_KEY_SPREAD_H

#include "key.h"

/*
 * The bytes of one or more parts of a key, in order. Either `nitems` byte strings have weights, or
 * all numbers from `least` to `least + many - 1` are equally likely. A number follows `head` with
 * `digits` digits.
 */
struct part_spread {
	struct weighted {
		struct bytes bytes;
		uint64_t weight;
	} * items; /* rising */
	size_t nitems;
	uint64_t weight; /* the sum of all items' weights */
	struct bytes head;
	uint64_t least, many;
	uint32_t digits, radix; /* radix 10 and 16 are characters, and radix 256 is bytes */
	bool ends;		/* nothing is known about the bytes after these */
};

struct key_spread {
	struct part_spread part[SHAPE_MAX_PARTS];
	size_t n;
	const char *unknown; /* the first field of which nothing is known; NULL means none */
};

/*
 * Find out, from the parts of the key, the spreads and the histogram of `regions:`, the
 * distribution of keys. Appends to `assumed`, unless it is NULL, the names of the fields whose
 * values the result assumes to be even. All memory is in the arena. Returns RC_CONFIG if a value of
 * a spread or of the histogram is invalid, and the errors of reading the histogram.
 */
int key_spread(struct key_spread *out, const struct key_table *k, const struct field_forms *forms,
	       struct arena *a, struct buf *assumed, struct error *err);

#endif
