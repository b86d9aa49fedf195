/* where_filter.h - what servers can check of a question, in filter.h's form (inside pipeline/ask
 * only)
 */
#ifndef SALTMILL_ASK_WHERE_FILTER_H
#define SALTMILL_ASK_WHERE_FILTER_H

#include "filter.h"
#include "key_filter.h"

struct filter_maker {
	struct arena *arena; /* of the filters */
	/* Is the column read, and what is asked of it? */
	bool (*asks_column)(void *ctx, struct bytes family, struct bytes qualifier);
	void *ctx;
	bool fuzzy; /* not of a reversed scan: HBase 2.6.4 loses rows then */
	bool rows;  /* not where columns are named: it asks about the scan's start, which is no row
		     */
};
/* NULL: nothing of it, or not here.  More rows may pass than pass f, never fewer. */
struct filter *filter_of(const struct filter_maker *m, const struct key_filter *f);

#endif
