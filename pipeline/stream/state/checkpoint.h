/*
 * checkpoint.h - the sum of a state's records, so that opening need not read all of them
 *
 * checkpoint.json is made only from the records. It is used only if the folder contains exactly the
 * records that it counts, and perhaps later ones. In any doubt all records are read.
 */
#ifndef SALTMILL_STATE_CHECKPOINT_H
#define SALTMILL_STATE_CHECKPOINT_H

#include "mem.h"
#include "state.h"

#define CHECKPOINT_EVERY 500 /* records: the most that opening reads */

struct checkpoint {
	size_t records;
	const char *last;   /* the newest record's name */
	const char *newest; /* name of the newest load; NULL: only positions set by hand */
	struct offset_range *positions; /* empty ranges */
	size_t npositions;
};

/* Write a checkpoint; a failure does no harm. */
void checkpoint_write(const char *dir, const struct checkpoint *c);
/* Read the checkpoint. False: there is none, or it cannot be trusted. */
bool checkpoint_read(const char *dir, struct checkpoint *c, struct arena *a);

#endif
