/*
 * matcher.h - which cells of a row of one family are the answer (README.md 2 and 3)
 *
 *   matcher_new, (matcher_row, matcher_take*)*, matcher_free
 */
#ifndef SALTMILL_QUERY_MATCHER_H
#define SALTMILL_QUERY_MATCHER_H

#include "query.h"

enum verdict {
	VERDICT_SKIP,
	VERDICT_TAKE,
	VERDICT_NEXT_COLUMN,
	VERDICT_NEXT_ROW,
	VERDICT_NO_MEMORY
};

struct matcher;
/*
 * wanted: the family's named qualifiers, sorted, each once; none: all.  With a filter or judge all
 * versions that the family keeps are taken.  NULL: no memory.
 */
struct matcher *matcher_new(const struct query_family *f, const struct query *q,
			    const struct bytes *wanted, size_t nwanted);
void matcher_free(struct matcher *m);
/* A new row begins. */
void matcher_row(struct matcher *m);
/* The next cell of the row, in order.  Its bytes need not stay. */
enum verdict matcher_take(struct matcher *m, const struct cell *c);
/* No more of the cell's column is wanted. */
void matcher_next_column(struct matcher *m, const struct cell *c);
/* Cells that are older are expired. */
int64_t matcher_oldest(const struct query_family *f, const struct query *q);
/* How many versions of a column the question takes of those. */
uint32_t matcher_versions(const struct query_family *f, const struct query *q);

#endif
