/*
 * matcher.h - select the cells of a row of one family that a query returns (README.md 2 and 3)
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
 * Create a matcher. `wanted` lists the family's named qualifiers, sorted and unique. `wanted` is
 * empty if the query wants all qualifiers. If the query has a filter or a judge, the matcher takes
 * all versions that the family keeps. Returns NULL if memory runs out.
 */
struct matcher *matcher_new(const struct query_family *f, const struct query *q,
			    const struct bytes *wanted, size_t nwanted);
/*
 * Create a matcher that takes the cells, including delete markers, that a major compaction keeps
 * (README.md 8). No Put of the compacted files is older than `earliest_put`. Returns NULL if memory
 * runs out.
 */
struct matcher *matcher_new_compacting(const struct query_family *f, int64_t now_ms,
				       int64_t earliest_put);
void matcher_free(struct matcher *m);
/* Begin a new row. */
void matcher_row(struct matcher *m);
/*
 * Judge the next cell of the row. Pass the cells in order. The caller may reuse the cell's bytes
 * afterwards.
 */
enum verdict matcher_take(struct matcher *m, const struct cell *c);
/* Skip the rest of the cell's column. */
void matcher_next_column(struct matcher *m, const struct cell *c);
/* Returns the timestamp before which cells are expired. */
int64_t matcher_oldest(const struct query_family *f, const struct query *q);
/* Returns the number of versions of a column that the query returns. */
uint32_t matcher_versions(const struct query_family *f, const struct query *q);

#endif
