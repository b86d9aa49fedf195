/*
 * fix.h - changed parts of the job as YAML (inside pipeline/advise/lint only)
 *
 * A fix is a line or two of YAML. `rowkey: [...]`, `families: {...}` and `cells: [...]` replace
 * those of the table. Each entry of `fields: {...}` replaces one of the job. Texts are in the arena
 * of the lint.
 */
#ifndef SALTMILL_LINT_FIX_H
#define SALTMILL_LINT_FIX_H

#include "findings_of.h"

/* The items of a list or mapping that will be changed. */
struct draft {
	const struct written *of;
	const char **text; /* [n]; NULL: left out */
	size_t n;
	const char *front, *back; /* one more item at the front or back of a list, or NULL */
};
struct draft draft_of(struct lint *l, const struct written *w);
/* The index of the item at this place; n: there is none, and nothing can be changed. */
size_t draft_find(const struct draft *d, struct pos at);
/* "key: [...]" or "key: {...}". */
const char *draft_text(struct lint *l, const struct draft *d, const char *key);

/* The value of a key in "{a: 1, b: [2]}", or NULL. */
const char *fix_get(struct lint *l, const char *map, const char *key);
/* Returns the mapping with a key set; value NULL: without the key. */
const char *fix_set(struct lint *l, const char *map, const char *key, const char *value);
/* Returns a name as YAML. */
const char *fix_name(struct lint *l, const char *name);

/* The table's row key with the part at this place replaced; NULL: without it. */
const char *fix_part(struct lint *l, const struct job_table *t, struct pos at, const char *instead);
/* The table's families with one key of a family set. */
const char *fix_family(struct lint *l, const struct job_table *t, const struct family *f,
		       const char *key, const char *value);
/*
 * Families and cells with all families for which `is_small` holds merged into the family `large`.
 */
const char *fix_join_families(struct lint *l, const struct job_table *t, const bool *is_small,
			      size_t large);
/*
 * The row key with a salt at the front, over its fields that are no times; buckets: at least this
 * many.
 */
const char *fix_salt(struct lint *l, const struct job *job, const struct job_table *t,
		     uint32_t buckets);
/*
 * The row key with short forms of its long texts, and cells for the texts that it loses. bytes: the
 * mean size of each part.
 */
const char *fix_long_key(struct lint *l, const struct job *job, const struct job_table *t,
			 const double *bytes);
/* The row key with one more field at its end. */
const char *fix_tell_apart(struct lint *l, const struct job *job, const struct job_table *t,
			   size_t field);

/* The time that a field is, also if a text field uses the column of a time; NULL: none. */
const struct field *time_behind(const struct job *job, const struct field *f);

#endif
