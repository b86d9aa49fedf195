/*
 * unique.h - do the row keys of a table tell its events apart? (inside pipeline/advise/lint only)
 */
#ifndef SALTMILL_LINT_UNIQUE_H
#define SALTMILL_LINT_UNIQUE_H

#include "job.h"
#include "row.h"

/*
 * Events by row key, columns and timestamps: of those that are alike in all of it one is stored.
 * With more than so many groups a random share of them is kept, by a hash of key and timestamp, so
 * whole; which is kept depends on neither threads nor the order of the events.
 */
struct unique;
struct unique *unique_new(size_t most_groups);
void unique_free(struct unique *u);

/* Of a row's key and timestamp: is it in the share that is kept?  Any thread. */
uint64_t unique_hash(struct bytes key, int64_t ts);
bool unique_wants(const struct unique *u, uint64_t hash);
/* An event that is wanted, with its n cells.  Any thread. */
void unique_add(struct unique *u, uint64_t hash, uint64_t seq, const struct row_cell *cells,
		size_t n);

/* What was found; when no thread adds any more. */
struct unique_result {
	uint64_t events;	/* that were kept */
	uint64_t hidden;	/* of them: another one with other values takes their place */
	uint64_t repeated;	/* the same with equal values, which loses nothing */
	double share;		/* of all groups, that was kept */
	uint64_t first, second; /* seq of the two first that collide; hidden > 0 */
	size_t column;		/* index in job_table.cells of a cell in which they differ */
};
struct unique_result unique_judge(const struct unique *u, size_t columns);

#endif
