/*
 * checkpoint.h - what a state's records say together, so that opening need not read them all
 *
 * checkpoint.json is made of the records and of nothing else, and is used only where the folder
 * holds just the records that it counts and maybe later ones; in any doubt all are read.
 */
#ifndef SALTMILL_STATE_CHECKPOINT_H
#define SALTMILL_STATE_CHECKPOINT_H

#include "mem.h"
#include "state.h"

#define CHECKPOINT_EVERY 500 /* records: as many are read at most, beside a few files */

struct checkpoint {
	size_t records;
	const char *last;   /* the newest record's name */
	const char *newest; /* of the newest load; NULL: there are only positions set by hand */
	struct offset_range *positions; /* empty ranges */
	size_t npositions;
};

/* Failing is no harm. */
void checkpoint_write(const char *dir, const struct checkpoint *c);
/* False: there is none that can be trusted. */
bool checkpoint_read(const char *dir, struct checkpoint *c, struct arena *a);

#endif
