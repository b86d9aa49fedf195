/*
 * where.h - a question asked of a table's stored rows: where they can be, and which they are
 *
 *   where_new, where_put, query_open, where_free
 *
 * Implemented in pipeline/ask.  A name is a field of the job, wherever the table holds it, or a
 * column family:qualifier.  What is asked of the row key or of a column is asked of the row: of a
 * column its newest version within the question's time range; one that is not there is null, and
 * what compares with a null is not so (SingleColumnValueFilter with filterIfMissing; without it
 * is `or f:q is null`).  What is asked of a field that qualifiers or cell timestamps hold is asked
 * of each cell.
 */
#ifndef SALTMILL_WHERE_H
#define SALTMILL_WHERE_H

#include "key_ranges.h"
#include "query.h"
#include "stored.h"

struct where;

/*
 * families: the query's, for the numbers of columns.  All are borrowed.  RC_CONFIG: with the place
 * of what cannot be asked; RC_LIMIT: as key_ranges.
 */
int where_new(struct where **out, const struct stored *stored, const struct query_family *families,
	      size_t nfamilies, const struct question *q, struct error *err);
void where_free(struct where *w); /* NULL is fine */
/*
 * Let a query ask it: its ranges within the query's start and stop, its salt, judge and columns.
 * Those among them that the query did not name are for the judge alone.
 */
void where_put(struct where *w, struct query *q);
/*
 * What a server can check of it, as key_filter.h has it, in a scan by the query that where_put was
 * given: each row of the answer passes, but not each that passes is of it.  Lives as long as w;
 * *out NULL: nothing.
 */
int where_filter(struct where *w, const struct query *q, const struct filter **out,
		 struct error *err);

#endif
