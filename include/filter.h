/*
 * filter.h - an HBase filter: a tree that selects rows and cells of a scan
 *
 * A node is {.type = ..., the members that the type needs}. key_filter (key.h) builds filters,
 * query.h applies them to files, hbase.h sends them to servers, and reports print them. A member's
 * comment names the types that use it; without a comment, all types do.
 */
#ifndef SALTMILL_FILTER_H
#define SALTMILL_FILTER_H

#include "cell.h"

enum filter_type {
	FILTER_LIST_AND,
	FILTER_LIST_OR,
	FILTER_SINGLE_COLUMN_VALUE,
	FILTER_SINGLE_COLUMN_VALUE_EXCLUDE,
	FILTER_VALUE,
	FILTER_QUALIFIER,
	FILTER_FAMILY,
	FILTER_ROW,
	FILTER_KEY_ONLY,
	FILTER_FIRST_KEY_ONLY,
	FILTER_PREFIX,
	FILTER_PAGE,
	FILTER_COLUMN_COUNT_GET,
	FILTER_COLUMN_PAGINATION,
	FILTER_COLUMN_PREFIX,
	FILTER_COLUMN_RANGE,
	FILTER_INCLUSIVE_STOP,
	FILTER_TIMESTAMPS,
	FILTER_FUZZY_ROW,
	FILTER_MULTI_ROW_RANGE,
	FILTER_SKIP,
	FILTER_WHILE_MATCH
};
#define FILTER_TYPES (FILTER_WHILE_MATCH + 1)

/* A cell passes if `cell op given` holds; in the order of HBase's CompareType. */
enum filter_op {
	FILTER_LESS,
	FILTER_LESS_OR_EQUAL,
	FILTER_EQUAL,
	FILTER_NOT_EQUAL,
	FILTER_GREATER_OR_EQUAL,
	FILTER_GREATER
};

enum comparator_type {
	COMPARE_BINARY,
	COMPARE_BINARY_PREFIX,
	COMPARE_SUBSTRING, /* of UTF-8, ignoring case */
	/* found anywhere; `.` matches any character (pattern.h; read/query/README.md 7) */
	COMPARE_REGEX,
	COMPARE_NULL,
	COMPARE_LONG,	  /* 8 bytes, signed */
	COMPARE_COMPONENT /* BinaryComponentComparator: the given number of bytes, from `at` on */
};

struct comparator {
	enum comparator_type type;
	struct bytes value;
	int64_t number;			   /* for COMPARE_LONG */
	size_t at;			   /* for COMPARE_COMPONENT */
	struct compared_pattern *compiled; /* for COMPARE_REGEX; private to filter_open (query.h) */
};

struct filter_fuzzy {
	struct bytes key, mask; /* of equal length; mask 0: the byte is fixed */
};

struct filter_range {
	struct bytes start, stop; /* empty: open */
	bool start_inclusive, stop_inclusive;
};

struct filter {
	enum filter_type type;
	struct bytes family, qualifier; /* SINGLE_COLUMN_VALUE */
	enum filter_op op;		/* SINGLE_COLUMN_VALUE, VALUE, QUALIFIER, FAMILY, ROW */
	struct comparator with;
	bool if_missing; /* drop rows without the column */
	/* one version that passes is enough; otherwise the newest must pass */
	bool all_versions;
	bool lengths;		    /* KEY_ONLY: the value's length replaces the value */
	uint64_t limit, offset;	    /* PAGE, COLUMN_COUNT_GET, COLUMN_PAGINATION */
	bool from_column;	    /* COLUMN_PAGINATION: begin at `start` instead of offset */
	struct bytes start, stop;   /* PREFIX, COLUMN_PREFIX: start; INCLUSIVE_STOP: stop */
	bool open_start, open_stop; /* COLUMN_RANGE: no such bound */
	bool start_inclusive, stop_inclusive; /* COLUMN_RANGE */
	bool hints;			      /* TIMESTAMPS: canHint */
	int64_t *timestamps;		      /* rising */
	size_t ntimestamps;
	const struct filter_fuzzy *fuzzy;
	size_t nfuzzy;
	struct filter_range *ranges; /* filter_open sorts and joins them */
	size_t nranges;
	struct filter **of; /* lists: any number; SKIP, WHILE_MATCH: one */
	size_t nof;
	struct filter_memory *memory; /* private to filter_open (query.h) */
};

#endif
