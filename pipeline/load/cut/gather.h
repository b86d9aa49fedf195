/* gather.h - the cells of one row from several events, in HBase's order, without duplicates */
#ifndef SALTMILL_CUT_GATHER_H
#define SALTMILL_CUT_GATHER_H

#include "cut.h"

/* Copies of the records of one row key. {0} is empty; memory is kept from row to row. */
struct gather {
	struct buf bytes; /* copies of key, secondary and payload */
	struct gathered {
		size_t key_at, minor_at, payload_at; /* in bytes */
		size_t key_len, payload_len;
		uint64_t seq;
		uint32_t cells_left; /* not overwritten */
	} * records;
	size_t nrecords, cap;
	struct gathered_cell {
		struct row_cell cell;
		size_t record;
	} * cells;
	size_t ncells, cells_cap;
};

void gather_reset(struct gather *g);
void gather_add(struct gather *g, const struct record *r, size_t secondary_bytes);
/* Memory of the row when it is expanded to so many cells, in bytes. */
uint64_t gather_memory(const struct gather *g, uint64_t cells);
/*
 * Expand, sort and remove duplicates. Calls emit for each cell to store, and counts in *out
 * (loaded, deduplicated, cells_deduplicated).
 */
int gather_emit(struct gather *g, const struct cut_table *t,
		int (*emit)(void *ctx, const struct row_cell *c, struct error *err), void *ctx,
		struct cut_result *out, struct error *err);
void gather_release(struct gather *g);

/* Keep the first collision of a region. */
void note_collision(struct cut_result *out, struct bytes row, uint64_t lost, uint64_t kept);

/* Write the message of `duplicates: error`. */
int duplicate_error(const struct cut_table *t, const struct row_cell *a, const struct row_cell *b,
		    struct error *err);

#endif
