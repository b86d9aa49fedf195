/* slice.h - read a part of a file, and record this part */
#ifndef SALTMILL_SOURCE_SLICE_H
#define SALTMILL_SOURCE_SLICE_H

#include "source.h"

struct cursor;

/* A digest of the bytes [lo, hi) of the file. */
struct slice_border {
	uint64_t lo, hi;
	void *state; /* XXH3 state */
};

struct slice {
	bool given;
	struct source_slice asked;
	uint64_t to;
	struct source_part read;
	void *digest; /* XXH3 state over the slice's bytes */
	struct slice_border before, after;
	bool finished; /* `read.end` is known */
};

/* Check slice, feed and columns file. Call slice_open before the source opens the first file. */
int slice_open(struct source *s, const struct job *job, struct error *err);
/* Go to the first row of the slice. The first file must be open, after its header. */
int slice_begin(struct source *s, struct cursor *c, struct error *err);
/*
 * Return how many of the `cut` bytes of whole rows at the cursor belong to the slice, and add these
 * bytes to the digest. The caller must pass these bytes on.
 */
size_t slice_cut(struct source *s, const struct cursor *c, const uint8_t *data, size_t cut);
/*
 * After the last row, read the rest of the chunks that begin in the slice, for the digest of the
 * file. A feed may end earlier.
 */
int slice_finish(struct source *s, struct cursor *c, struct error *err);
/* Return true if the slice has no more rows. */
bool slice_done(const struct source *s, const struct cursor *c);
/* At the end of the first file or of the slice, record the bytes read. */
void slice_end(struct source *s, struct cursor *c);
void slice_release(struct slice *s);

#endif
