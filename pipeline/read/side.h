/* side.h - read the cells of one table of a comparison (inside pipeline/read only) */
#ifndef SALTMILL_READ_SIDE_H
#define SALTMILL_READ_SIDE_H

#include "query.h"

/* A scan of files or of a live table, with its next cell. */
struct side_reader {
	struct query_scan *files;
	struct live_scan *live;
	struct cell cell; /* the next cell, if `more` */
	bool more;
	uint64_t rows, cells; /* counts so far, with the next cell */
};

/* Start a scan. The reader borrows all arguments. Call side_close in any case. */
int side_open(struct side_reader *r, const struct diff_side *side, const struct listener *listener,
	      const struct query *q, struct error *err);
/* Read the next cell. Its bytes are valid until the next call. */
int side_next(struct side_reader *r, struct error *err);
/* Return true if the next cell is the first of its row. */
bool side_starts_row(const struct side_reader *r);
void side_close(struct side_reader *r);
/* Return a copy of the cell, with its bytes in the arena. */
struct cell side_copy(struct arena *a, const struct cell *c);

#endif
