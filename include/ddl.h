/*
 * ddl.h - the create-table script for `hbase shell -n`, and the checks the master would make
 *
 * Implemented in splitter/.  Grammar and traps: hbase-shell.md.
 */
#ifndef SALTMILL_DDL_H
#define SALTMILL_DDL_H

#include "splits.h"
#include "table.h"

/*
 * Check names, limits and attribute values as the master would (RC_CONFIG, with the remedy, the
 * attribute's pos in *at), and put values into the form the script needs (in the arena).
 */
struct arena;
int ddl_check(struct table *t, struct arena *a, struct pos *at, struct error *err);

/*
 * The script: namespace if needed, create with families and attributes apart, split keys in
 * single quotes with upper-case \xHH, a split policy that does not undo the splits; a second run
 * changes nothing.  Ends with `exit`.
 */
int ddl_create(struct buf *out, const struct table *t, const struct splits *s, struct error *err);

#endif
