/* counts.h - counts of lint_watch.c that lint_rows.c judges */
#ifndef SALTMILL_LINT_COUNTS_H
#define SALTMILL_LINT_COUNTS_H

#include "key.h"
#include "lint.h"
#include "unique.h"

struct family_count {
	uint64_t rows, bytes; /* rows with a cell; bytes of qualifiers and values; in the sample */
};

/* Counts of one table, of one worker or all. */
struct table_count {
	uint64_t rows, key_bytes;
	/* keys above, and keys below, all keys before them in their piece of input */
	uint64_t rising, falling;
	uint64_t in_piece;
	struct buf highest, lowest; /* keys of the current piece */
	int64_t oldest_ms, newest_ms;
	uint64_t sampled, cells;       /* rows that were examined, and their cells */
	struct family_count *families; /* [families] */
	uint64_t *part_bytes;	       /* [parts]; in the sample */
	uint64_t *filled; /* [parts]: padded parts with no room for a longer value; in the sample */
};

struct lint_watch {
	const struct job *job;
	const struct row_plan *plan;
	struct key_table *keys;	    /* [tables] */
	struct table_count *counts; /* [workers][tables] */
	struct unique **unique;	    /* [tables] */
	struct {
		struct row_cell *cells;
		struct key_piece *pieces;
	} * scratch; /* [workers] */
	unsigned nworkers, every;
};

/* Add the counts of all workers for a table to sum, whose arrays the caller owns. */
void lint_watch_sum(const struct lint_watch *w, size_t table, struct table_count *sum);

#endif
