/* attributes.h - all attributes of the shell, with their kinds and limits (README.md 2.3, 2.4) */
#ifndef SALTMILL_SPLITTER_ATTRIBUTES_H
#define SALTMILL_SPLITTER_ATTRIBUTES_H

#include "error.h"
#include "mem.h"
#include "table.h"

#define BLOOM_PREFIX_KEY "RowPrefixBloomFilter.prefix_length"

enum attribute_scope { SCOPE_FAMILY, SCOPE_TABLE };

enum attribute_kind {
	KIND_TEXT,
	KIND_CLASS, /* a full class name; the last part is enough for HBase's classes */
	KIND_BOOL,
	KIND_INT,
	KIND_BYTES, /* a number of bytes, or "10G" or "1 MB 512 KB" */
	KIND_TTL,
	KIND_WORD,	  /* one of `words`, in upper case */
	KIND_COPROCESSOR, /* "path|class|priority|arguments"; only `alter` accepts it */
	KIND_REFUSED	  /* a known key that is not an attribute; `initial` is the reason */
};

struct attribute_def {
	const char *name;
	enum attribute_kind kind;
	const char *initial; /* HBase's default in the script's form; NULL means no default */
	int64_t min, max;
	const char *const *words; /* allowed words, ended by NULL */
	bool own_field;		  /* struct family has a member for this attribute */
};

/*
 * Find an attribute by name, in upper or lower case. Returns NULL if the scope has no such
 * attribute.
 */
const struct attribute_def *attribute_find(enum attribute_scope scope, const char *key);
const char *attribute_near(enum attribute_scope scope, const char *key);
/*
 * Parse `text` as a value of `d`. *out gets `key`, `quoted`, and `value` in the normal form that
 * the script uses (in the arena). Returns RC_CONFIG, with found and expected values, if `text` is
 * not a value of `d`.
 */
int attribute_read(const struct attribute_def *d, const char *text, struct arena *a,
		   struct attribute *out, struct error *err);

/*
 * Return true if `there`, the value of an existing table, equals `want`, which is in the normal
 * form. If `there` is NULL, HBase's default applies.
 */
bool attribute_same(const struct attribute_def *d, const struct attribute *want, const char *there,
		    struct arena *a);

/*
 * Return all attributes of a family in the script, in the arena. Defaults are included. The
 * function leaves out NAME and hashes.
 */
struct attributes family_items(struct arena *a, const struct family *f);
/* Return a family's CONFIGURATION, with the prefix length of a ROWPREFIX bloom filter. */
struct attributes family_configuration(struct arena *a, const struct family *f);

#endif
