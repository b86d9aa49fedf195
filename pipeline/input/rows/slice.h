/*
 * slice.h - a part of a file in place of the file, and what was read of it
 */
#ifndef SALTMILL_SOURCE_SLICE_H
#define SALTMILL_SOURCE_SLICE_H

#include "source.h"

struct cursor;

struct slice {
	bool given;
	struct source_slice asked;
	uint64_t to;
	struct source_part read;
	void *digest; /* XXH3 state over the slice's bytes */
};

/* Take over and check slice, feed and columns file, before the first file is opened. */
int slice_open(struct source *s, const struct job *job, struct error *err);
/* The first file is open and stands behind its header: go to the first row of the slice. */
int slice_begin(struct source *s, struct cursor *c, struct error *err);
/*
 * Of `cut` bytes of whole rows at the cursor: how many belong to the slice.  Whoever asks hands
 * them out.
 */
size_t slice_cut(struct source *s, const struct cursor *c, const uint8_t *data, size_t cut);
/* No row of the slice is left. */
bool slice_done(const struct source *s, const struct cursor *c);
/* The first file is at its end, or the slice at its. */
void slice_end(struct source *s, struct cursor *c);
void slice_release(struct slice *s);

#endif
