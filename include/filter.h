/*
 * filter.h - a filter of HBase: which rows and cells of a scan are in the answer
 *
 * A filter is a tree of {.type = ..., what the type needs}.  Row keys build it (key.h), a scan
 * of files applies it (query.h), a server gets it with a scan (hbase.h), and reports print it.
 * A member that no comment limits to a type is for every type.
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
	COMPARE_SUBSTRING, /* of UTF-8, in any case */
	COMPARE_REGEX, /* found anywhere; `.` is any character (pattern.h; read/query/README.md 7) */
	COMPARE_NULL,
	COMPARE_LONG,	  /* 8 bytes, signed */
	COMPARE_COMPONENT /* BinaryComponentComparator: as many bytes as are given, from `at` on */
};

struct comparator {
	enum comparator_type type;
	struct bytes value;
	int64_t number;			   /* of COMPARE_LONG */
	size_t at;			   /* of COMPARE_COMPONENT */
	struct compared_pattern *compiled; /* of COMPARE_REGEX; private to query's filter_open */
};

struct filter_fuzzy {
	struct bytes key, mask; /* as long; mask 0: the byte is fixed */
};

struct filter_range {
	struct bytes start, stop; /* empty: open */
	bool start_inclusive, stop_inclusive;
};

struct filter {
	enum filter_type type;
	struct bytes family, qualifier; /* SINGLE_COLUMN_VALUE */
	enum filter_op op;		/* it, VALUE, QUALIFIER, FAMILY, ROW */
	struct comparator with;
	bool if_missing;	    /* drop rows without the column */
	bool all_versions;	    /* one version that passes is enough; else the newest has to */
	bool lengths;		    /* KEY_ONLY: the value's length stands for it */
	uint64_t limit, offset;	    /* PAGE, COLUMN_COUNT_GET, COLUMN_PAGINATION */
	bool from_column;	    /* COLUMN_PAGINATION: from `start` on, instead of offset */
	struct bytes start, stop;   /* PREFIX, COLUMN_PREFIX: start; INCLUSIVE_STOP: stop */
	bool open_start, open_stop; /* COLUMN_RANGE: no such bound */
	bool start_inclusive, stop_inclusive; /* COLUMN_RANGE */
	bool hints;			      /* TIMESTAMPS: canHint */
	int64_t *timestamps;		      /* rising */
	size_t ntimestamps;
	const struct filter_fuzzy *fuzzy;
	size_t nfuzzy;
	struct filter_range *ranges; /* sorted and joined by filter_open */
	size_t nranges;
	struct filter **of; /* lists, SKIP, WHILE_MATCH: one */
	size_t nof;
	struct filter_memory *memory; /* private to query's filter_open */
};

#endif
