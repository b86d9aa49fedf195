/* arrivals.h - which pieces came to a reduce: all pieces of each slice, none twice */
#ifndef SALTMILL_HALVES_ARRIVALS_H
#define SALTMILL_HALVES_ARRIVALS_H

#include "pieces.h"

/* A piece that was read. */
struct arrival {
	uint64_t slice, records;
	uint32_t table, region, number;
	bool last;
};
/* {0} is empty; the owner frees item. */
struct arrivals {
	struct arrival *item;
	size_t n;
};

void arrivals_note(struct arrivals *a, const struct piece_head *h);
/*
 * Sort all arrivals by table, region, slice and number into sources[0]. RC_DATA: a slice came
 * twice. RC_IO: a piece is missing. n is at least 1.
 */
int arrivals_unite(struct arrivals *sources, size_t n, struct error *err);

#endif
