/*
 * key_ranges.h - which row keys can answer a question
 *
 * Implemented in pipeline/key.
 */
#ifndef SALTMILL_KEY_RANGES_H
#define SALTMILL_KEY_RANGES_H

#include "key.h"
#include "question.h"

/* start inclusive, stop exclusive, empty: open. */
struct key_range {
	struct bytes start, stop;
};

struct key_ranges {
	struct key_range *range; /* rising, none touches the next */
	size_t n;
	bool exact; /* no row in them is another than was asked for; else each is to be checked */
	bool whole; /* a part in front, which the question leaves open, makes it a scan of all */
	/* a field that the key has only in a form that cannot be asked like this; NULL: none */
	const char *lost;
};

/*
 * The ranges hold every key that answers the question (NULL: all rows).  A name in it is a field of
 * the job or a column family:qualifier of the table; a value is spelt as the field is in the
 * source, a time also as ISO 8601.  In the arena, which must outlive them.  RC_CONFIG with the
 * place of a name or value that is none; RC_LIMIT: the ranges are too many to list.
 */
int key_ranges(struct key_ranges *out, const struct key_table *k, const struct field_forms *forms,
	       const struct question *q, struct arena *a, struct error *err);

#endif
