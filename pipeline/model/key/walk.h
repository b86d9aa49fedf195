/* walk.h - compute the ranges of a question (inside pipeline/model/key only) */
#ifndef SALTMILL_KEY_WALK_H
#define SALTMILL_KEY_WALK_H

#include "asked.h"
#include "key.h"

/* A condition that must be true, and whether the ranges already decide it. */
struct key_conjunct {
	const struct asked *asked;
	size_t node; /* index of the question's node that must be true */
	bool answered;
};

/*
 * Find consecutive parts of one date, which questions treat as one part. Returns the number of
 * these parts from this step on. `l` gets the layout of all of them.
 */
size_t date_run(const struct key_schema *s, size_t step, struct layout *l);
/* Compute ranges as key_ranges does, but without the rest and the conjuncts. A NULL `q` means all
 * rows. */
int ranges_of(struct key_ranges *out, const struct key_table *k, const struct asked *q,
	      struct arena *a, struct error *err);

#endif
