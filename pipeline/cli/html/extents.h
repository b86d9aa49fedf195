/*
 * extents.h - finds the distribution of a table's bytes by key and by time in the indexes of its
 * files
 */
#ifndef SALTMILL_PAGE_EXTENTS_H
#define SALTMILL_PAGE_EXTENTS_H

#include "mem.h"
#include "publish.h"
#include "run.h"

/* Consecutive blocks that belong to one entry of a file's root index. */
struct extent {
	struct bytes row;  /* lower bound of its rows */
	struct bytes last; /* upper bound of its rows; empty if unknown */
	uint64_t bytes;	   /* on disk */
	bool timed; /* true if `ts` is the timestamp of the first cell; false if there is no time */
	int64_t ts;
};

struct extents {
	struct extent *item; /* sorted by row */
	size_t n, room;
	uint64_t bytes;
	size_t timed;
};

/*
 * Reads the places of the table's files below `dir`. Closes each file afterwards. *a owns the rows.
 * Reads the timestamps of about `times` places. Always call extents_release, also after an error.
 */
int extents_read(struct extents *p, const char *dir, const struct manifest_table *t, size_t times,
		 struct progress *progress, struct arena *a, struct error *err);
void extents_release(struct extents *p);

#endif
