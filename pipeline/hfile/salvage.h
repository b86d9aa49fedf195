/* salvage.h - read a damaged file block by block */
#ifndef SALTMILL_HFILE_SALVAGE_H
#define SALTMILL_HFILE_SALVAGE_H

#include "reader.h"

/*
 * Read the first intact block at or after `*at` into `b` without decompressing it, and set `*at` to
 * its offset. Returns RC_END if there is none. `why` gets the fault at the first offset, if any.
 */
int hfile_salvage_find(struct hfile *f, uint64_t *at, struct hblock *b, struct error *why,
		       struct error *err);
/*
 * Check that a decoded block has only whole cells of one family, in order. Set *first
 * to the first cell. Returns RC_DATA if they are not.
 */
int hfile_salvage_check(const struct hfile *f, struct bytes cells, struct cell *first,
			struct error *err);
/*
 * Find codec, encoding and form of the cells of a file without file info, from its data blocks.
 * Returns RC_DATA if no data block is intact, or if several forms fit.
 */
int hfile_salvage_form(struct hfile *f, struct error *err);

#endif
