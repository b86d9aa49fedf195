/* init_table.h - `saltmill init` for a table (inside this folder only) */
#ifndef SALTMILL_CMD_INIT_TABLE_H
#define SALTMILL_CMD_INIT_TABLE_H

#include "arguments.h"
#include "first_rows.h"

/*
 * Find the place of the table: --hbase, --table-dir or --snapshot, or a folder of HFiles. Returns
 * false if the operand is a file of events.
 */
bool init_asks_table(const struct arguments *a, struct offline_place *out);
/*
 * Sample the table and infer its job. Returns RC_CONFIG if the options or the table are wrong, and
 * RC_DATA if the table has no row.
 */
int init_table(const struct arguments *a, const struct offline_place *place, struct inferred *out,
	       struct error *err);

#endif
