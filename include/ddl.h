/*
 * ddl.h - the create-table script for `hbase shell -n`,
 *
 * Implemented in splitter/.  Grammar and traps: splitter/README.md.
 */
#ifndef SALTMILL_DDL_H
#define SALTMILL_DDL_H

#include "splits.h"
#include "table.h"

struct error;

struct ddl_options {
	size_t inline_keys;	 /* more split keys than this stay in splits_file; 0: 500 */
	const char *splits_file; /* in the script's folder; NULL: "splits.txt" */
	enum split_algorithm algorithm;
	uint32_t algorithm_regions; /* > 1: NUMREGIONS and SPLITALGO in place of keys */
};

/*
 * The script: namespace if needed, create with families and attributes apart, split keys in
 * single quotes with upper-case \xHH, a split policy that does not undo the splits; a second run
 * changes nothing.  Ends with `exit`.  t has passed table_check.
 */
int ddl_create(struct buf *out, const struct table *t, const struct splits *s, struct error *err);
/* Does the script hold the split keys itself, or none at all? */
bool ddl_keys_inline(const struct splits *s, const struct ddl_options *options);
/* The same with options; NULL: the defaults. */
int ddl_create_with(struct buf *out, const struct table *t, const struct splits *s,
		    const struct ddl_options *options, struct error *err);
/*
 * The script that brings an existing table to t's attributes: describe is what `describe` printed,
 * name its file for messages.  What t does not mention stays.  RC_DATA: not such a text.
 */
int ddl_alter(struct buf *out, const struct table *t, const char *name, struct bytes describe,
	      struct error *err);
/* The script that disables and drops the table if it exists. */
void ddl_drop(struct buf *out, const struct table *t);

#endif
