/*
 * matcher.h - selects the cells of a row of one family that a query returns (README.md 2 and 3)
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
 * wanted: the family's named qualifiers, sorted and unique; none: all qualifiers. With a filter or
 * judge, the matcher takes all versions that the family keeps. Returns NULL if there is no memory.
 */
struct matcher *matcher_new(const struct query_family *f, const struct query *q,
			    const struct bytes *wanted, size_t nwanted);
void matcher_free(struct matcher *m);
/* Begin a new row. */
void matcher_row(struct matcher *m);
/* Judge the next cell of the row, in order. The caller may reuse its bytes afterwards. */
enum verdict matcher_take(struct matcher *m, const struct cell *c);
/* Skip the rest of the cell's column. */
void matcher_next_column(struct matcher *m, const struct cell *c);
/* Returns the timestamp before which cells are expired. */
int64_t matcher_oldest(const struct query_family *f, const struct query *q);
/* Returns how many versions of a column the query returns. */
uint32_t matcher_versions(const struct query_family *f, const struct query *q);

#endif
