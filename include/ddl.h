/*
 * ddl.h - the create-table script for `hbase shell -n`, table checks, and table descriptions
 *
 * Implemented in splitter/. splitter/README.md describes the grammar and the known problems of the
 * shell.
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
	/* most split keys in the script; more keys go into splits_file; 0 means 500 */
	size_t inline_keys;
	const char
		*splits_file; /* name of a file in the script's folder; NULL means "splits.txt" */
	enum split_algorithm algorithm;
	/* if greater than 1, use NUMREGIONS and SPLITALGO instead of keys */
	uint32_t algorithm_regions;
};

/*
 * Append the create script. The script creates the namespace if needed, and then the table with
 * families, attributes and split keys. Split keys are in single quotes, with upper-case \xHH. The
 * script sets a split policy that keeps the regions and ends with `exit`. A second run of the
 * script changes nothing. `t` must have passed table_check.
 */
int ddl_create(struct buf *out, const struct table *t, const struct splits *s, struct error *err);
/* Return true if the script contains the split keys, or if the table has no split keys. */
bool ddl_keys_inline(const struct splits *s, const struct ddl_options *options);
/* Append the create script as ddl_create does, with options. If `options` is NULL, the defaults
 * apply. */
int ddl_create_with(struct buf *out, const struct table *t, const struct splits *s,
		    const struct ddl_options *options, struct error *err);
/*
 * Append the script that gives an existing table the attributes of `t`. `describe` is the output of
 * the shell's `describe`, and `name` is the file of that output, for messages. Attributes that `t`
 * does not mention stay. Returns RC_DATA if it cannot parse `describe`.
 */
int ddl_alter(struct buf *out, const struct table *t, const char *name, struct bytes describe,
	      struct error *err);
/* Append the script that disables and drops the table if it exists. */
void ddl_drop(struct buf *out, const struct table *t);

/*
 * --- checks: the checks that HBase's master makes before it creates a table ---
 *
 * Implemented in splitter/attributes.c, which has a table of all attributes.
 */

struct arena;

/*
 * Check names, limits and attribute values as the master would. Returns RC_CONFIG, with the fix in
 * the message and the attribute's position in *at. The function replaces each attribute by the form
 * that the script needs, in the arena. The form has the key in HBase's spelling, the value, and the
 * flag `quoted`. In the job, keys may be in upper or lower case.
 */
int table_check(struct table *t, struct arena *a, struct pos *at, struct error *err);

/*
 * Parse a TTL as HBase does, in seconds from 1 to TTL_FOREVER. Accepted forms are "FOREVER",
 * "86400", "1 DAY 2 HOURS", and "93600 SECONDS (1 DAY 2 HOURS)" from `describe`. The two times of
 * the last form must agree.
 */
bool ttl_parse(const char *text, int32_t *ttl_s);

/*
 * Return the size in bytes at which HBase splits a region. The size is MAX_FILESIZE or its default.
 * The table has passed table_check.
 */
uint64_t table_max_filesize(const struct table *t);

/*
 * --- descriptions: a table's attributes as text, and the differences between two ---
 *
 * A description comes from the output of `describe`, from a create-table script or from a cluster's
 * own descriptor. All its data is in an arena.
 */

/* One {...} of the description. `name` is NULL for the table's own attributes. */
struct described {
	const char *name;
	struct attributes items, configuration, metadata;
};

struct description {
	const char *creates; /* name of the table in a create-table script; NULL if not from one */
	struct described table;
	struct described *families;
	size_t nfamilies;
};

/*
 * Parse the output of `describe`. Returns RC_DATA if the text has no family, or if a Ruby hash has
 * no closing brace.
 */
int description_parse(struct description *d, struct arena *a, const char *name, struct bytes text,
		      struct error *err);
/*
 * Append the table's attributes and families in the form of the shell's `describe`, without the
 * line of the table's state. `d` is a cluster's descriptor.
 */
void description_print(struct buf *out, const char *table, const struct description *d);
/*
 * Parse a script of ddl_create. `name` is the path of the script. The result has the attributes
 * that the script's `create` and `alter` commands give the table. It has no split keys. Returns
 * RC_DATA if `script` is not such a script.
 */
int description_of_script(struct description *d, struct arena *a, const char *name,
			  struct bytes script, struct error *err);

/*
 * Make the description of a table that a script of ddl_create creates, without split keys. `t` has
 * passed table_check.
 */
int description_of_table(struct description *d, struct arena *a, const struct table *t,
			 struct error *err);

/*
 * Make the schema of a described table, which passes table_check. Attributes that HBase's shell does
 * not know become METADATA. Returns RC_CONFIG if saltmill cannot write the codec of a family. All data
 * is in the arena or is that of `d`.
 */
int table_of_description(struct table *t, const char *name, const struct description *d,
			 struct arena *a, struct error *err);

/* Return the value, or NULL if `key` is not in the list. Upper and lower case are different. */
const char *attributes_get(const struct attributes *list, const char *key);
void attributes_add(struct arena *a, struct attributes *list, const char *key, const char *value);
const struct described *description_family(const struct description *d, const char *name);
void description_add_family(struct description *d, struct arena *a, const struct described *f);

/* An attribute that a table lacks, or that has another value there. */
struct table_difference {
	const char *family; /* name of the family; NULL means an attribute of the table itself */
	const char *key;    /* name of the attribute; NULL means that the family is missing */
	/*
	 * `want` is the script's value; `have` is the table's value, or NULL if the table has no
	 * value and the default differs
	 */
	const char *want, *have;
	bool configuration; /* the attribute is a pair of CONFIGURATION */
};
struct table_differences {
	struct table_difference *item;
	size_t count;
};
/*
 * List the attributes of `want`, a script's description, that `have`, a cluster's descriptor,
 * lacks. Different spellings of a value are equal, for example TTL 86400 and '1 DAY'. The function
 * ignores coprocessors and attributes that `want` does not mention.
 */
void description_compare(struct table_differences *out, const struct description *want,
			 const struct description *have, struct arena *a);
/*
 * Change `d`, a cluster's descriptor, to match `want`. The function replaces different values and
 * adds missing families.
 */
void description_mend(struct description *d, const struct description *want,
		      const struct table_differences *differences, struct arena *a);

#endif
