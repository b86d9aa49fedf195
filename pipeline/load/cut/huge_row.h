/* huge_row.h - a row with more events than fit in the memory for a row */
#ifndef SALTMILL_HUGE_ROW_H
#define SALTMILL_HUGE_ROW_H

#include "cut.h"

/*
 * Emit and count all cells of the row `key` within the memory budget. A sorter that spills sorts
 * them.
 */
int huge_row_write(const struct cut_table *t, struct bytes key,
		   int (*emit)(void *ctx, const struct row_cell *c, struct error *err), void *ctx,
		   struct cut_result *out, struct error *err);

#endif
