/*
 * alternatives.h - split a question into alternatives, each a list of conditions (inside
 * pipeline/model/key only)
 */
#ifndef SALTMILL_KEY_ALTERNATIVES_H
#define SALTMILL_KEY_ALTERNATIVES_H

#include "asked.h"

#define ALTERNATIVES 4096 /* the most alternatives of a question */

/* Conditions that must all be true. Each condition is about one field or one column. */
struct alternative {
	const struct asked **atom;
	size_t n;
};

struct alternatives {
	struct alternative *item;
	size_t n;
};

/*
 * Split a question into alternatives. The question is true if at least one alternative is true.
 * Returns false if there are too many alternatives.
 */
bool alternatives_of(const struct asked *q, struct arena *a, struct alternatives *out);

#endif
