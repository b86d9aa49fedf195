/* alternatives.h - a question as alternatives, each a list of conditions (inside pipeline/model/key only)
 */
#ifndef SALTMILL_KEY_ALTERNATIVES_H
#define SALTMILL_KEY_ALTERNATIVES_H

#include "asked.h"

#define ALTERNATIVES 4096 /* at most */

/* Conditions that must all hold.  Each asks one field or one column. */
struct alternative {
	const struct asked **atom;
	size_t n;
};

struct alternatives {
	struct alternative *item;
	size_t n;
};

/* Of them one or more hold.  False: there are too many. */
bool alternatives_of(const struct asked *q, struct arena *a, struct alternatives *out);

#endif
