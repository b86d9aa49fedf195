/*
 * gather.h - collect the cells of one row from several events, in HBase's order, without duplicates
 */
#ifndef SALTMILL_CUT_GATHER_H
#define SALTMILL_CUT_GATHER_H

#include "cut.h"

/* Copies of the records of one row key. {0} is empty. The next row reuses the memory. */
struct gather {
	struct buf bytes; /* copies of key, secondary and payload */
	struct gathered {
		size_t key_at, minor_at, payload_at; /* positions in `bytes` */
		size_t key_len, payload_len;
		uint64_t seq;
		uint32_t cells_left; /* cells that no other cell overwrites */
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
/* Return the memory in bytes that the row needs for `cells` cells. */
uint64_t gather_memory(const struct gather *g, uint64_t cells);
/*
 * Expand and sort the cells, and remove duplicates. Call `emit` for each cell to store. Add to
 * `loaded`, `deduplicated` and `cells_deduplicated` of `*out`.
 */
int gather_emit(struct gather *g, const struct cut_table *t,
		int (*emit)(void *ctx, const struct row_cell *c, struct error *err), void *ctx,
		struct cut_result *out, struct error *err);
void gather_release(struct gather *g);

/* Record that event `kept` overwrites event `lost`, if this is the region's first collision. */
void note_collision(struct cut_result *out, struct bytes row, uint64_t lost, uint64_t kept);

/*
 * Return RC_DATA for cells `a` and `b` of one column and timestamp, which `duplicates: error`
 * forbids.
 */
int duplicate_error(const struct cut_table *t, const struct row_cell *a, const struct row_cell *b,
		    struct error *err);

#endif
