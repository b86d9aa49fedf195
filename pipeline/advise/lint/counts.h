/* counts.h - counts of rows, which lint_watch.c makes and the rules in lint_rows.c use */
#ifndef SALTMILL_LINT_COUNTS_H
#define SALTMILL_LINT_COUNTS_H

#include "key.h"
#include "lint.h"
#include "unique.h"

#define WIDE_SLOTS (1u << 14)

struct family_count {
	/* rows with a cell, and bytes of qualifiers and values, in the sample */
	uint64_t rows, bytes;
};

/* Counts of one table, for one worker or for all workers. */
struct table_count {
	uint64_t rows, key_bytes;
	/* keys above all earlier keys of their piece of input, and keys below all earlier keys */
	uint64_t rising, falling;
	uint64_t in_piece;
	struct buf highest, lowest; /* keys of the current piece */
	int64_t oldest_ms, newest_ms;
	uint64_t sampled, cells;       /* rows that lint examined, and their cells */
	struct family_count *families; /* [families] */
	uint64_t *part_bytes;	       /* [parts], in the sample */
	uint64_t *regions;	       /* [regions of the job], number of rows */
	/* [WIDE_SLOTS], events by a hash of the row key; NULL if no qualifier has a field */
	uint64_t *wide;
	uint64_t *buckets; /* [buckets of the salt], number of rows; NULL if no field gives it */
	uint64_t *filled;  /* [parts], number of padded parts that are full, in the sample */
};

struct lint_watch {
	const struct job *job;
	const struct row_plan *plan;
	struct key_table *keys;	    /* [tables] */
	struct table_count *counts; /* [workers][tables] */
	struct unique **unique;	    /* [tables] */
	struct splits *splits;	    /* [tables], the splits that the job gives without data */
	struct {
		struct row_cell *cells;
		struct key_piece *pieces;
	} * scratch; /* [workers] */
	unsigned nworkers, every;
};

/* Return the field of a qualifier that makes rows wide, or NULL. */
const struct key_part *lint_wide_part(const struct job_table *t);
/* Return zeros for the buckets of a salt that fields give. Otherwise return NULL. */
uint64_t *lint_buckets_new(const struct job_table *t);
/* Add the counts of all workers for a table to `sum`. The caller owns the arrays of `sum`. */
void lint_watch_sum(const struct lint_watch *w, size_t table, struct table_count *sum);

#endif
