/* arrivals.h - check that a reduce got each piece of each slice exactly once */
#ifndef SALTMILL_HALVES_ARRIVALS_H
#define SALTMILL_HALVES_ARRIVALS_H

#include "pieces.h"

/* The place of a piece. */
struct arrival {
	uint64_t slice, records, mark; /* `mark` is piece_mark */
	uint32_t table, region, number;
	bool last;
};
/* A list of pieces. {0} is empty. The owner frees `item`. */
struct arrivals {
	struct arrival *item;
	size_t n;
};

void arrivals_note(struct arrivals *a, const struct piece_head *h);
/*
 * Sort all arrivals by table, region, slice and number into sources[0]. Return RC_DATA if a slice
 * came twice, and RC_IO if a piece is missing. `n` is at least 1.
 */
int arrivals_unite(struct arrivals *sources, size_t n, struct error *err);

#endif
