/* conditions.h - a condition on a field as the bytes of a part (inside pipeline/model/key only) */
#ifndef SALTMILL_KEY_CONDITIONS_H
#define SALTMILL_KEY_CONDITIONS_H

#include "key_sets.h"
#include "asked.h"

struct laid {
	struct key_set set; /* of a part's bytes and what follows them in the key */
	bool exact;	    /* else the set has more than was asked for */
};

/* last: nothing is behind the part, and it has no terminator: a value's bytes are the end. */
struct laid condition_laid(const struct layout *l, bool last, const struct asked *q,
			   struct arena *a);
/*
 * The same by whole seconds, for AS_REVERSED_SECONDS: fractions of a second do not count, neither
 * in the key nor in the question.
 */
struct key_set condition_by_seconds(const struct layout *l, const struct asked *q, struct arena *a);
/* As condition_laid, of several conditions on one field. */
struct laid conditions_laid(const struct layout *l, bool last, const struct asked *q,
			    struct arena *a);

#endif
