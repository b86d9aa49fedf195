/* walk.h - the ranges of a question that was read (inside pipeline/model/key only) */
#ifndef SALTMILL_KEY_WALK_H
#define SALTMILL_KEY_WALK_H

#include "asked.h"
#include "key.h"

/* As key_ranges; q NULL: all rows. */
int ranges_of(struct key_ranges *out, const struct key_table *k, const struct asked *q,
	      struct arena *a, struct error *err);

#endif
