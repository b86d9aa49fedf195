/*
 * cell_sample.h - a small part of a table's rows, written to be looked at
 */
#ifndef SALTMILL_CELL_SAMPLE_H
#define SALTMILL_CELL_SAMPLE_H

#include "cut.h"
#include "sorter.h"

/* Which rows, out of all that a sorter holds. */
struct cell_sample {
	uint64_t bytes;	   /* of uncompressed cells, about */
	uint64_t row_most; /* a row that weighs more is left out; 0: none is */
	bool (*wanted)(const void *ctx, struct bytes key); /* rows that count; NULL: all */
	const void *ctx;
};

/*
 * Write what follows 16 places, evenly spread over the rows' weight, as one HFile a family into
 * t->hfiles_dir, which is made.  It depends on the rows alone, not on threads, runs or time.
 */
int cell_sample_write(const struct cut_table *t, struct sorter *sorter, unsigned threads,
		      const struct cell_sample *sample, struct cut_result *files,
		      struct error *err);

#endif
