/*
 * radix.h - sort the records of one buffer
 */
#ifndef SALTMILL_RADIX_H
#define SALTMILL_RADIX_H

#include "sorted_run.h"

struct sort_entry {
	uint64_t prefix; /* packed key bits */
	uint32_t rest;	 /* the key bits after those of `prefix` */
	uint32_t at;	 /* offset of the record in the buffer */
};

enum { DIGIT_BITS = 10, DIGIT_VALUES = 1 << DIGIT_BITS, DIGITS_MAX = 5 };

struct radix {
	const uint8_t *base;
	struct record_codec codec;
	bool seq_rises;			    /* records are in the buffer in order of seq */
	bool by_place;			    /* entries with equal bits keep their order */
	struct sort_entry *entries, *other; /* `n` entries each */
	uint32_t counts[DIGITS_MAX][DIGIT_VALUES];
};

/*
 * Sort the `n` >= 1 records that follow each other from x->base on. x->entries[0..n) get the sorted
 * order, and *span gets the span of all records. If `w` is not lost, `w` already has this span.
 */
void radix_sort(struct radix *x, size_t n, const struct span_watch *w, struct key_span *span);
/*
 * Append the `n` sorted records to a run that is still empty. SLACK_BYTES after the last record
 * must be readable.
 */
int run_writer_put_sorted(struct run_writer *w, const struct radix *x, size_t n, struct error *err);

#endif
