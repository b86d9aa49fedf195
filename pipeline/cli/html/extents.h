/* extents.h - where a table's bytes lie in the key space, and in time, by the indexes of its files
 */
#ifndef SALTMILL_PAGE_EXTENTS_H
#define SALTMILL_PAGE_EXTENTS_H

#include "mem.h"
#include "publish.h"
#include "run.h"

/* Blocks that stand one behind the other, as one entry of a file's root index has them. */
struct extent {
	struct bytes row;  /* no row of it is before */
	struct bytes last; /* nor behind; nothing: not known */
	uint64_t bytes;	   /* on disk */
	bool timed;	   /* ts: of its first cell, for some of the places */
	int64_t ts;
};

struct extents {
	struct extent *item; /* by row */
	size_t n, room;
	uint64_t bytes;
	size_t timed;
};

/*
 * Of the table's files below dir, each of which is then done; rows are in *a.  About `times` of the
 * places are timed.  Release with extents_release, whatever the result.
 */
int extents_read(struct extents *p, const char *dir, const struct manifest_table *t, size_t times,
		 struct progress *progress, struct arena *a, struct error *err);
void extents_release(struct extents *p);

#endif
