/*
 * attributes.h - every attribute that the shell knows, with its kind and limits (README.md 2.3,
 * 2.4)
 */
#ifndef SALTMILL_SPLITTER_ATTRIBUTES_H
#define SALTMILL_SPLITTER_ATTRIBUTES_H

#include "error.h"
#include "mem.h"
#include "table.h"

#define BLOOM_PREFIX_KEY "RowPrefixBloomFilter.prefix_length"

enum attribute_scope { SCOPE_FAMILY, SCOPE_TABLE };

enum attribute_kind {
	KIND_TEXT,
	KIND_CLASS, /* a full class name; HBase's own classes may be given by their last part */
	KIND_BOOL,
	KIND_INT,
	KIND_BYTES, /* a number of bytes, or "10G" or "1 MB 512 KB" */
	KIND_TTL,
	KIND_WORD,	  /* one of words, in upper case */
	KIND_COPROCESSOR, /* "path|class|priority|arguments"; only `alter` accepts it */
	KIND_REFUSED	  /* known, but not an attribute; initial is the reason */
};

struct attribute_def {
	const char *name;
	enum attribute_kind kind;
	const char *initial; /* HBase's default in the script's form; NULL: none */
	int64_t min, max;
	const char *const *words; /* NULL-terminated */
	bool own_field;		  /* struct family has its own member for it */
};

/* Find an attribute by name, in upper or lower case; NULL: this scope has none. */
const struct attribute_def *attribute_find(enum attribute_scope scope, const char *key);
const char *attribute_near(enum attribute_scope scope, const char *key);
/*
 * Parse text as d's value. *out gets key, quoted, and value in the one form that the script writes
 * (in the arena). RC_CONFIG: the message says what was expected.
 */
int attribute_read(const struct attribute_def *d, const char *text, struct arena *a,
		   struct attribute *out, struct error *err);

/*
 * True if an existing table's value equals want, which is in that form. there NULL: the value is
 * not given, so HBase's default applies.
 */
bool attribute_same(const struct attribute_def *d, const struct attribute *want, const char *there,
		    struct arena *a);

/*
 * Return everything that the script says of a family, including defaults, without NAME and hashes;
 * in the arena.
 */
struct attributes family_items(struct arena *a, const struct family *f);
/* Return a family's CONFIGURATION, with the prefix length of a ROWPREFIX bloom filter. */
struct attributes family_configuration(struct arena *a, const struct family *f);

#endif
