/*
 * ddl.h - the create-table script for `hbase shell -n`, table checks, and table descriptions
 *
 * Implemented in splitter/. Grammar and known problems of the shell: splitter/README.md.
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
	size_t inline_keys;	 /* more split keys than this go into splits_file; 0: 500 */
	const char *splits_file; /* in the script's folder; NULL: "splits.txt" */
	enum split_algorithm algorithm;
	uint32_t algorithm_regions; /* > 1: use NUMREGIONS and SPLITALGO instead of keys */
};

/*
 * Append the create script: the namespace if needed, then create with families and attributes, then
 * split keys in single quotes with upper-case \xHH. It sets a split policy that keeps the regions,
 * and a second run changes nothing. Ends with `exit`. t must have passed table_check.
 */
int ddl_create(struct buf *out, const struct table *t, const struct splits *s, struct error *err);
/* True if the script contains the split keys itself, or if there are none. */
bool ddl_keys_inline(const struct splits *s, const struct ddl_options *options);
/* The same with options; NULL: the defaults. */
int ddl_create_with(struct buf *out, const struct table *t, const struct splits *s,
		    const struct ddl_options *options, struct error *err);
/*
 * Append the script that changes an existing table to t's attributes. describe is the output of
 * `describe`, name its file for messages. Attributes that t does not mention stay. RC_DATA:
 * describe cannot be parsed.
 */
int ddl_alter(struct buf *out, const struct table *t, const char *name, struct bytes describe,
	      struct error *err);
/* Append the script that disables and drops the table if it exists. */
void ddl_drop(struct buf *out, const struct table *t);

/*
 * --- checks: the checks that HBase's master would make of a table ---
 *
 * Implemented in splitter/attributes.c, which knows every attribute.
 */

struct arena;

/*
 * Check names, limits and attribute values as the master would. RC_CONFIG, with the fix; *at is the
 * position of the attribute. Attributes get the form that the script needs: key in HBase's
 * spelling, value and quoted (in the arena). Keys are accepted in upper and lower case.
 */
int table_check(struct table *t, struct arena *a, struct pos *at, struct error *err);

/*
 * Parse a TTL as HBase does, in seconds from 1 to TTL_FOREVER: "FOREVER", "86400", "1 DAY 2 HOURS",
 * or "93600 SECONDS (1 DAY 2 HOURS)" from `describe`, whose two numbers must agree.
 */
bool ttl_parse(const char *text, int32_t *ttl_s);

/*
 * Return the size at which HBase splits a region: MAX_FILESIZE or its default. The table has passed
 * table_check.
 */
uint64_t table_max_filesize(const struct table *t);

/*
 * --- descriptions: a table's attributes as text, and the differences between two ---
 *
 * A description is read from the output of `describe`, from a create-table script or from a
 * cluster's own descriptor. Everything lives in an arena.
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

/* Parse the output of `describe`. RC_DATA: no family found, or a Hash that does not end. */
int description_parse(struct description *d, struct arena *a, const char *name, struct bytes text,
		      struct error *err);
/*
 * Parse a script of ddl_create; name is its path. The result is what its `create` and the following
 * `alter`s give the table, without split keys. RC_DATA: it is not such a script.
 */
int description_of_script(struct description *d, struct arena *a, const char *name,
			  struct bytes script, struct error *err);

/*
 * Make the description that such a script gives a table without split keys; t has passed
 * table_check.
 */
int description_of_table(struct description *d, struct arena *a, const struct table *t,
			 struct error *err);

/* Return the value; NULL: key is not in the list. Upper and lower case differ. */
const char *attributes_get(const struct attributes *list, const char *key);
void attributes_add(struct arena *a, struct attributes *list, const char *key, const char *value);
const struct described *description_family(const struct description *d, const char *name);
void description_add_family(struct description *d, struct arena *a, const struct described *f);

/* An attribute that a table should have and does not have. */
struct table_difference {
	const char *family;	 /* NULL: an attribute of the table itself */
	const char *key;	 /* NULL: the family is missing */
	const char *want, *have; /* have NULL: not given, and its default differs */
	bool configuration;	 /* a pair of CONFIGURATION */
};
struct table_differences {
	struct table_difference *item;
	size_t count;
};
/*
 * List what `have`, a cluster's descriptor, lacks of `want`, a script's. Values are compared in one
 * form (TTL 86400 is '1 DAY'). Attributes that want does not mention, and coprocessors, are
 * ignored.
 */
void description_compare(struct table_differences *out, const struct description *want,
			 const struct description *have, struct arena *a);
/* Change d, a cluster's descriptor, to match want: set different values, add missing families. */
void description_mend(struct description *d, const struct description *want,
		      const struct table_differences *differences, struct arena *a);

#endif
