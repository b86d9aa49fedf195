/*
 * attributes.h - every attribute the shell knows, with its kind and limits
 * (README.md 2.3, 2.4)
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
	KIND_CLASS, /* a full class name; those of HBase may go by their last part */
	KIND_BOOL,
	KIND_INT,
	KIND_BYTES, /* a number of bytes, also "10G" or "1 MB 512 KB" */
	KIND_TTL,
	KIND_WORD,	  /* one of words, in upper case */
	KIND_COPROCESSOR, /* "path|class|priority|arguments"; only `alter` takes it */
	KIND_REFUSED	  /* known, but not an attribute; initial is the reason */
};

struct attribute_def {
	const char *name;
	enum attribute_kind kind;
	const char *initial; /* HBase's default as the script would write it; NULL: none */
	int64_t min, max;
	const char *const *words; /* NULL-terminated */
	bool own_field;		  /* has a field of its own in struct family */
};

/* In either case of letters; NULL if there is none of that name in this scope. */
const struct attribute_def *attribute_find(enum attribute_scope scope, const char *key);
const char *attribute_near(enum attribute_scope scope, const char *key);
/*
 * Read text as d's value; *out gets key, value in the one form that the script writes (in the
 * arena) and quoted.  RC_CONFIG with what was expected.
 */
int attribute_read(const struct attribute_def *d, const char *text, struct arena *a,
		   struct attribute *out, struct error *err);

/*
 * Does an existing table say the same as want, which is in that form?  there NULL: it says nothing,
 * so that HBase's default holds.
 */
bool attribute_same(const struct attribute_def *d, const struct attribute *want, const char *there,
		    struct arena *a);

/* All that the script says of a family, NAME and hashes apart; defaults included, in the arena. */
struct attributes family_items(struct arena *a, const struct family *f);
/* CONFIGURATION of a family, with the length of a ROWPREFIX bloom filter's prefix. */
struct attributes family_configuration(struct arena *a, const struct family *f);

#endif
