/* huge_row.h - write a row with more events than fit into the memory for a row */
#ifndef SALTMILL_HUGE_ROW_H
#define SALTMILL_HUGE_ROW_H

#include "cut.h"

/*
 * Emit and count all cells of the row `key` within the memory budget. The function sorts the cells
 * on disk if necessary.
 */
int huge_row_write(const struct cut_table *t, struct bytes key,
		   int (*emit)(void *ctx, const struct row_cell *c, struct error *err), void *ctx,
		   struct cut_result *out, struct error *err);

#endif
