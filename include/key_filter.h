/*
 * key_filter.h - what HBase's servers can check of a question behind its ranges of row keys
 *
 * Implemented in pipeline/key.  The filters are HBase's own: FuzzyRowFilter, RowFilter with a
 * BinaryComponentComparator, SingleColumnValueFilter with setFilterIfMissing(true), FilterList.
 */
#ifndef SALTMILL_KEY_FILTER_H
#define SALTMILL_KEY_FILTER_H

#include "key_ranges.h"

enum key_filter_kind {
	KEY_FILTER_ALL,	  /* FilterList, MUST_PASS_ALL */
	KEY_FILTER_ONE,	  /* MUST_PASS_ONE */
	KEY_FILTER_FUZZY, /* of these patterns */
	KEY_FILTER_ROW,	  /* bytes of the row key from `at` on, as many as value has */
	KEY_FILTER_COLUMN /* the newest value of a column; rows without it do not pass */
};
/* CompareOperator. */
enum key_filter_op {
	KEY_FILTER_LESS,
	KEY_FILTER_LESS_OR_EQUAL,
	KEY_FILTER_EQUAL,
	KEY_FILTER_NOT_EQUAL,
	KEY_FILTER_GREATER_OR_EQUAL,
	KEY_FILTER_GREATER
};

struct key_filter {
	enum key_filter_kind kind;
	const struct key_filter **of; /* ALL, ONE */
	size_t n;		      /* of them; of patterns */
	enum key_filter_op op;	      /* ROW, COLUMN */
	struct bytes value;
	size_t at;
	struct bytes family, qualifier;
	struct fuzzy_row {
		struct bytes key, mask; /* mask: 0 where the byte counts, 1 where any may stand */
	} * patterns;
};

struct key_checks {
	const struct key_filter *filter; /* NULL: nothing to check, or nothing that can be */
	bool exact; /* the ranges with the filter give the rows that were asked for, no other */
};

/* Of the ranges that key_ranges gave for the question; arguments and errors as there. */
int key_filter(struct key_checks *out, const struct key_ranges *ranges, const struct key_table *k,
	       const struct field_forms *forms, const struct question *q, struct arena *a,
	       struct error *err);

#endif
