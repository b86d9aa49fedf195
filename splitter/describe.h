/*
 * describe.h - what the shell's `describe` printed, as attributes
 */
#ifndef SALTMILL_SPLITTER_DESCRIBE_H
#define SALTMILL_SPLITTER_DESCRIBE_H

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

/* Everything lives in the arena.  RC_DATA: no family found, or a Hash that does not end. */
int description_parse(struct description *d, struct arena *a, const char *name, struct bytes text,
		      struct error *err);
/* NULL if key is not in the list; the case of letters counts. */
const char *attributes_get(const struct attributes *list, const char *key);

#endif
