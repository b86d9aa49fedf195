/*
 * arrivals.h - which pieces came to a reduce: each slice's from the first to the last, none twice
 */
#ifndef SALTMILL_HALVES_ARRIVALS_H
#define SALTMILL_HALVES_ARRIVALS_H

#include "pieces.h"

/* A piece that was read. */
struct arrival {
	uint64_t slice, records;
	uint32_t table, region, number;
	bool last;
};
/* {0}; item is freed by who holds it. */
struct arrivals {
	struct arrival *item;
	size_t n, cap;
};

void arrivals_note(struct arrivals *a, const struct piece_head *h);
/*
 * All of them by table, region, slice and number, in sources[0].  RC_DATA: a slice came twice;
 * RC_IO: a piece is missing.  n is 1 at least.
 */
int arrivals_unite(struct arrivals *sources, size_t n, struct error *err);

#endif
