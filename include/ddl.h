/*
 * ddl.h - the create-table script for `hbase shell -n`,
 *
 * Implemented in splitter/.  Grammar and traps: splitter/README.md.
 */
#ifndef SALTMILL_DDL_H
#define SALTMILL_DDL_H

#include "splits.h"
#include "table.h"
#include "error.h"
#include "bytes.h"
#include "mem.h"

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

/*
 * --- the checks that HBase's master would make of a table
 *
 * Implemented in splitter/, which knows every attribute.
 */

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

/*
 * --- a table's attributes as text: what `describe` prints, what a create-table script
 * says, what a cluster's own descriptor holds; and how two of them differ
 *
 * Implemented in splitter/.  Everything lives in an arena.
 */

/* One {...} of the text; name is NULL for the table's own attributes. */
struct described {
	const char *name;
	struct attributes items, configuration, metadata;
};

struct description {
	struct described table;
	struct described *families;
	size_t nfamilies;
};

/* Of `describe`.  RC_DATA: no family found, or a Hash that does not end. */
int description_parse(struct description *d, struct arena *a, const char *name, struct bytes text,
		      struct error *err);
/*
 * Of a script of ddl_create, name is its path: what its `create` and the `alter`s behind it give
 * the table, its split keys apart.  RC_DATA: not such a script.
 */
int description_of_script(struct description *d, struct arena *a, const char *name,
			  struct bytes script, struct error *err);

/* What such a script gives a table without split keys, which has passed table_check. */
int description_of_table(struct description *d, struct arena *a, const struct table *t,
			 struct error *err);

/* NULL if key is not in the list; the case of letters counts. */
const char *attributes_get(const struct attributes *list, const char *key);
void attributes_add(struct arena *a, struct attributes *list, const char *key, const char *value);
const struct described *description_family(const struct description *d, const char *name);
void description_add_family(struct description *d, struct arena *a, const struct described *f);

/* An attribute that a table should have and has not. */
struct table_difference {
	const char *family;	 /* NULL: of the table itself */
	const char *key;	 /* NULL: the family is missing */
	const char *want, *have; /* have NULL: it is not said, and its default is another */
	bool configuration;	 /* a pair of CONFIGURATION */
};
struct table_differences {
	struct table_difference *item;
	size_t count;
};
/*
 * In what `have`, a cluster's descriptor, falls short of `want`, a script's.  Values are compared
 * in one form (TTL 86400 is '1 DAY'); what want does not mention may be anything; coprocessors are
 * not looked at.
 */
void description_compare(struct table_differences *out, const struct description *want,
			 const struct description *have, struct arena *a);
/* Bring d, a cluster's descriptor, to want: what differs is set, families that lack are added. */
void description_mend(struct description *d, const struct description *want,
		      const struct table_differences *differences, struct arena *a);

#endif
