/*
 * unique.h - check whether different events of a table have different keys (private to this folder)
 */
#ifndef SALTMILL_LINT_UNIQUE_H
#define SALTMILL_LINT_UNIQUE_H

#include "job.h"
#include "row.h"

/*
 * Groups of events with equal row key, columns and timestamps. HBase returns only one event of each
 * group. If there are too many groups, a hash of key and timestamp chooses a random share to keep.
 * The share depends neither on threads nor on the order of events.
 */
struct unique;
struct unique *unique_new(size_t most_groups);
void unique_free(struct unique *u);

/* Hash a row's key and timestamp. Any thread may call this function. */
uint64_t unique_hash(struct bytes key, int64_t ts);
bool unique_wants(const struct unique *u, uint64_t hash);
/*
 * Add an event with its `n` cells, if `u` keeps its hash. Any thread may call this function.
 */
void unique_add(struct unique *u, uint64_t hash, uint64_t seq, const struct row_cell *cells,
		size_t n);

/* The result of all events. Read the result after all threads have added their events. */
struct unique_result {
	uint64_t events; /* events in kept groups */
	uint64_t hidden; /* events in kept groups that other values overwrite */
	/* events in kept groups that equal values overwrite, without loss */
	uint64_t repeated;
	double share;		/* the share of the groups that remains */
	uint64_t first, second; /* `seq` of the first two events that collide, if `hidden` > 0 */
	size_t column;		/* index in job_table.cells of a cell that differs */
};
struct unique_result unique_judge(const struct unique *u, size_t columns);

#endif
