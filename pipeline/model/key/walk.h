/* walk.h - the ranges of a question that was read (inside pipeline/model/key only) */
#ifndef SALTMILL_KEY_WALK_H
#define SALTMILL_KEY_WALK_H

#include "asked.h"
#include "key.h"

/* A condition that must hold, and whether the ranges alone make it hold. */
struct key_conjunct {
	const struct asked *asked;
	size_t node; /* of the question's nodes that must all hold */
	bool answered;
};

/*
 * Year, month, day and hour one after another are one part for questions.  Returns how many parts
 * that are from this one on, and the layout of all of them.
 */
size_t date_run(const struct key_schema *s, size_t step, struct layout *l);
/* As key_ranges, but without the rest and the conjuncts; q NULL: all rows. */
int ranges_of(struct key_ranges *out, const struct key_table *k, const struct asked *q,
	      struct arena *a, struct error *err);

#endif
