/*
 * table_check.h - the checks that HBase's master would make of a table
 *
 * Implemented in splitter/, which knows every attribute.
 */
#ifndef SALTMILL_TABLE_CHECK_H
#define SALTMILL_TABLE_CHECK_H

#include "error.h"
#include "table.h"

struct arena;

/*
 * Check names, limits and attribute values as the master would (RC_CONFIG, with the remedy, the
 * attribute's pos in *at), and put attributes into the form the script needs: key in HBase's
 * spelling, value and quoted (in the arena).  Keys are taken in either case.
 */
int table_check(struct table *t, struct arena *a, struct pos *at, struct error *err);

/*
 * A TTL as HBase reads it, in seconds: "FOREVER", "86400", "1 DAY 2 HOURS", or describe's
 * "93600 SECONDS (1 DAY 2 HOURS)" whose two numbers must agree; 1 to TTL_FOREVER.
 */
bool ttl_parse(const char *text, int32_t *ttl_s);

/* Where HBase splits a region of the table that table_check has passed: MAX_FILESIZE or its
 * default.
 */
uint64_t table_max_filesize(const struct table *t);

#endif
