/*
 * key_filter.h - the filters with which HBase's servers check what key ranges leave open
 *
 * Implemented in pipeline/key.  The filters are lists, FUZZY_ROW, ROW with COMPARE_COMPONENT and
 * SINGLE_COLUMN_VALUE with if_missing.
 */
#ifndef SALTMILL_KEY_FILTER_H
#define SALTMILL_KEY_FILTER_H

#include "filter.h"
#include "key_ranges.h"

/* Which filters the scan can use. */
struct key_filter_use {
	bool fuzzy, rows;
	/* May the filter read this column?  NULL: it may read every column. */
	bool (*column)(void *ctx, struct bytes family, struct bytes qualifier);
	void *ctx;
};

struct key_checks {
	struct filter *filter; /* NULL: servers can check nothing */
	bool exact; /* true: the ranges and the filter give exactly the rows of the question */
};

/*
 * Build the filter for the ranges that key_ranges gave for the question.  use NULL: all filters.
 * Every row of the answer passes the filter.  Arguments and errors are those of key_ranges.
 */
int key_filter(struct key_checks *out, const struct key_ranges *ranges, const struct key_table *k,
	       const struct field_forms *forms, const struct question *q,
	       const struct key_filter_use *use, struct arena *a, struct error *err);

#endif
