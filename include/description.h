/*
 * description.h - a table's attributes as text: what `describe` prints, what a create-table script
 * says, what a cluster's own descriptor holds; and how two of them differ
 *
 * Implemented in splitter/.  Everything lives in an arena.
 */
#ifndef SALTMILL_DESCRIPTION_H
#define SALTMILL_DESCRIPTION_H

#include "bytes.h"
#include "error.h"
#include "mem.h"
#include "table.h"

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
