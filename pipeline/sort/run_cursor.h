/*
 * run_cursor.h - the place of a merge in one of its runs
 */
#ifndef SALTMILL_RUN_CURSOR_H
#define SALTMILL_RUN_CURSOR_H

#include "parts.h"

struct run_cursor {
	struct run_reader reader;
	uint64_t words[2]; /* packed keys of the reader's two items */
	bool ahead, done; /* `ahead` is true if the record after the current one is in memory too */
	size_t block;	  /* the next block to read */
	uint64_t stop;	  /* offset in the run where the range ends */
	uint64_t held_bytes; /* bytes of the reader's buffers, as the budget counts them */
};

/* Open a cursor at the first record of [lo, hi). The cursor is {0} before the call. */
int run_cursor_open(struct run_cursor *c, const struct sorter *s, const struct run *run,
		    struct bytes lo, struct bytes hi, struct error *err);
/*
 * Read as many whole blocks as fit in the buffer, but at least one. At the end of the range, set
 * c->done.
 */
int run_cursor_refill(struct run_cursor *c, const struct sorter *s, struct error *err);
void run_cursor_release(struct run_cursor *c, struct budget *budget);

#endif
