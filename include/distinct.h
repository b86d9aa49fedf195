/*
 * distinct.h - how many different values were seen, exactly up to a million
 */
#ifndef SALTMILL_DISTINCT_H
#define SALTMILL_DISTINCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DISTINCT_MOST ((size_t)1 << 20)

/* Hashes of 64 bits, of values that their owner hashes well.  {0} is empty. */
struct distinct {
	uint64_t *hash;
	size_t n, room;
	bool many; /* more than DISTINCT_MOST: n is that, and what else comes is not looked at */
};
/* true: it is new to the set, as far as that can be told. */
bool distinct_add(struct distinct *d, uint64_t hash);
void distinct_release(struct distinct *d);

#endif
