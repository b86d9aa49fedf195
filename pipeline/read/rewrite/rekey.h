/* rekey.h - sort the cells of a table by new row keys (inside this folder only) */
#ifndef SALTMILL_REKEY_H
#define SALTMILL_REKEY_H

#include "key_map.h"
#include "pass.h"
#include "rewrite.h"
#include "sorter.h"

struct rekey {
	struct key_map map;
	struct memory_plan memory;
	struct budget budget;
	struct sorter *cells;
};

/*
 * A sorted cell. `family` is its number in the families of the source. `first` is true for the first
 * cell of an old row. `old_row` is then the old row key.
 */
struct rekeyed_cell {
	struct cell cell;
	size_t family;
	bool first;
	struct bytes old_row;
	uint64_t seq; /* rises in the order of the old rows */
};
/* Append a cell as the payload of a record. `old_row` is NULL unless the cell is the first of a row. */
void rekeyed_pack(struct buf *out, const struct cell *c, size_t family,
		  const struct bytes *old_row);
/* Return the cell of a record, which borrows from the record. */
struct rekeyed_cell rekeyed_unpack(const struct rewrite *r, const struct record *rec);

#endif
