/* unique.h - does the row key of a table separate its events? (inside pipeline/advise/lint only) */
#ifndef SALTMILL_LINT_UNIQUE_H
#define SALTMILL_LINT_UNIQUE_H

#include "job.h"
#include "row.h"

/*
 * Events by row key, columns and timestamps: of events that are equal in all of these, HBase stores
 * one. If there are too many groups, a random share is kept, chosen by a hash of key and timestamp.
 * The share depends neither on threads nor on the order of events.
 */
struct unique;
struct unique *unique_new(size_t most_groups);
void unique_free(struct unique *u);

/* Hash a row's key and timestamp. Any thread. */
uint64_t unique_hash(struct bytes key, int64_t ts);
bool unique_wants(const struct unique *u, uint64_t hash);
/* Add a wanted event with its n cells. Any thread. */
void unique_add(struct unique *u, uint64_t hash, uint64_t seq, const struct row_cell *cells,
		size_t n);

/* The result; valid when no thread adds any more. */
struct unique_result {
	uint64_t events; /* events in kept groups */
	uint64_t hidden; /* of these, overwritten by an event with other values */
	/* of these, overwritten by an event with equal values, which loses nothing */
	uint64_t repeated;
	double share;		/* the share of groups that was kept */
	uint64_t first, second; /* seq of the first two that collide, if hidden > 0 */
	size_t column;		/* index in job_table.cells of a cell that differs */
};
struct unique_result unique_judge(const struct unique *u, size_t columns);

#endif
