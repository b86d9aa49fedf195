/*
 * radix.h - sort the records of one buffer
 */
#ifndef SALTMILL_RADIX_H
#define SALTMILL_RADIX_H

#include "sorted_run.h"

struct sort_entry {
	uint64_t prefix; /* packed key bits */
	uint32_t rest;	 /* the bits after those */
	uint32_t at;	 /* of the record in the buffer */
};

enum { DIGIT_BITS = 10, DIGIT_VALUES = 1 << DIGIT_BITS, DIGITS_MAX = 5 };

struct radix {
	const uint8_t *base;
	struct record_codec codec;
	bool seq_rises;			    /* records are in the buffer in order of seq */
	bool by_place;			    /* entries with equal bits keep their order */
	struct sort_entry *entries, *other; /* n each */
	uint32_t counts[DIGITS_MAX][DIGIT_VALUES];
};

/*
 * Sort the n >= 1 records that follow each other from base on; entries[0..n) become their order.
 * *span becomes the span of all records. w may already know it.
 */
void radix_sort(struct radix *x, size_t n, const struct span_watch *w, struct key_span *span);

#endif
