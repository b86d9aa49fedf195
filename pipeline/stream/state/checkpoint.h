/*
 * checkpoint.h - a summary of a state's records, so that opening a state need not read all records
 *
 * The records also contain everything in checkpoint.json. The reader uses the checkpoint only if
 * the folder has all records that the checkpoint counts, and possibly newer ones. In all other
 * cases, the reader reads all records.
 */
#ifndef SALTMILL_STATE_CHECKPOINT_H
#define SALTMILL_STATE_CHECKPOINT_H

#include "mem.h"
#include "state.h"

#define CHECKPOINT_EVERY 500 /* maximum number of records that opening reads */

struct checkpoint {
	size_t records;
	const char *last;   /* the newest record's name */
	const char *newest; /* name of the newest load, NULL if a user set all positions by hand */
	struct offset_range *positions; /* the positions, as empty ranges */
	size_t npositions;
};

/* Write a checkpoint. Ignore failures, because the next opening then reads all records. */
void checkpoint_write(const char *dir, const struct checkpoint *c);
/* Read the checkpoint. Return false if there is no intact checkpoint. */
bool checkpoint_read(const char *dir, struct checkpoint *c, struct arena *a);

#endif
