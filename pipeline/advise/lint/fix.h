/*
 * fix.h - write changed parts of the job as YAML (private to this folder)
 *
 * A fix is one or two lines of YAML. `rowkey: [...]`, `families: {...}` and `cells: [...]` replace
 * the same keys of the table. Each entry of `fields: {...}` replaces a field of the job. The arena
 * of the lint owns the texts.
 */
#ifndef SALTMILL_LINT_FIX_H
#define SALTMILL_LINT_FIX_H

#include "findings_of.h"

/* The items of a list or mapping that a fix changes. */
struct draft {
	const struct written *of;
	const char **text; /* [n]; NULL for an omitted item */
	size_t n;
	const char *front, *back; /* additional item at the start or the end of a list, or NULL */
};
struct draft draft_of(struct lint *l, const struct written *w);
/*
 * Return the index of the item at this place in the job file. Return `n` if no item is there. With
 * the index `n`, the functions below change nothing.
 */
size_t draft_find(const struct draft *d, struct pos at);
/* Return "key: [...]" or "key: {...}". */
const char *draft_text(struct lint *l, const struct draft *d, const char *key);

/* Return the value of a key in "{a: 1, b: [2]}", or NULL. */
const char *fix_get(struct lint *l, const char *map, const char *key);
/*
 * Return the mapping with the key set to `value`. If `value` is NULL, remove the key.
 */
const char *fix_set(struct lint *l, const char *map, const char *key, const char *value);
/* Returns a name as YAML. */
const char *fix_name(struct lint *l, const char *name);

/*
 * Return the table's row key with the part at this place replaced by `instead`. If `instead` is
 * NULL, remove the part.
 */
const char *fix_part(struct lint *l, const struct job_table *t, struct pos at, const char *instead);
/* Return the table's families after the change of one key of a family. */
const char *fix_family(struct lint *l, const struct job_table *t, const struct family *f,
		       const char *key, const char *value);
/*
 * Return families and cells after a merge. All families for which `is_small` is true become part of
 * the family `large`.
 */
const char *fix_join_families(struct lint *l, const struct job_table *t, const bool *is_small,
			      size_t large);
/*
 * Return the row key with a salt at the front. The salt depends on the fields that are not times,
 * and has at least `buckets` buckets.
 */
const char *fix_salt(struct lint *l, const struct job *job, const struct job_table *t,
		     uint32_t buckets);
/* Return the row key with a salt of all its fields. */
const char *fix_salt_of_all(struct lint *l, const struct job *job, const struct job_table *t);
/*
 * Return the row key with short forms of its long texts, and cells for the texts that the key
 * loses. `bytes` has the mean size of each part.
 */
const char *fix_long_key(struct lint *l, const struct job *job, const struct job_table *t,
			 const double *bytes);
/* Return the job's field after the change of one of its keys. */
const char *fix_field(struct lint *l, const struct job *job, const struct field *f, const char *key,
		      const char *value);
/* Return true if the field is the text of this column alone. */
bool reads_column(const struct field *f, const char *column);
/* Return the row key with one more field at the end. */
const char *fix_tell_apart(struct lint *l, const struct job *job, const struct job_table *t,
			   size_t field);

/*
 * Return the time field that reads the same column as `f`, or NULL if there is none. `f` may also
 * be a text field.
 */
const struct field *time_behind(const struct job *job, const struct field *f);

#endif
