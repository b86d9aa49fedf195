/* conditions.h - a condition on a field as the bytes of a part (inside pipeline/model/key only) */
#ifndef SALTMILL_KEY_CONDITIONS_H
#define SALTMILL_KEY_CONDITIONS_H

#include "key_sets.h"
#include "asked.h"

struct laid {
	struct key_set set; /* the part's bytes and the bytes after them in the key */
	bool exact;	    /* false if the set also contains other values */
};

/*
 * Find the bytes of a part for a condition. `last` is true if the part is the last one and has no
 * terminator. Then a value's bytes end the key.
 */
struct laid condition_laid(const struct layout *l, bool last, const struct asked *q,
			   struct arena *a);
/*
 * Find the bytes as condition_laid does, for AS_REVERSED_SECONDS. The function ignores fractions of
 * a second, in the key and in the question.
 */
struct key_set condition_by_seconds(const struct layout *l, const struct asked *q, struct arena *a);
/* Find the bytes as condition_laid does, for several conditions on one field. */
struct laid conditions_laid(const struct layout *l, bool last, const struct asked *q,
			    struct arena *a);

#endif
