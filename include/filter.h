/*
 * filter.h - an HBase filter, which is a tree that selects rows and cells of a scan
 *
 * A node has a type and the members that the type needs. key_filter (key.h) builds filters. query.h
 * applies filters to files, hbase.h sends them to servers, and reports print them. A member's
 * comment names the types that use the member. If it names no type, all types use the member.
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

/* A cell passes if `cell op given` is true. The order is that of HBase's CompareType. */
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
	COMPARE_SUBSTRING, /* substring of UTF-8 text, without regard to case */
	/*
	 * matches anywhere in the value; `.` matches any character (pattern.h; read/query/README.md
	 * 7)
	 */
	COMPARE_REGEX,
	COMPARE_NULL,
	COMPARE_LONG,	  /* 8 bytes, signed */
	COMPARE_COMPONENT /* BinaryComponentComparator: compares the bytes from `at` on */
};

struct comparator {
	enum comparator_type type;
	struct bytes value;
	int64_t number; /* for COMPARE_LONG */
	size_t at;	/* for COMPARE_COMPONENT */
	struct compared_pattern
		*compiled; /* the expression of COMPARE_REGEX, compiled by filter_open (query.h) */
};

struct filter_fuzzy {
	/*
	 * `key` and `mask` have equal lengths; a mask byte of 0 means that the key's byte is fixed
	 */
	struct bytes key, mask;
};

struct filter_range {
	struct bytes start, stop; /* row keys; an empty key means unbounded */
	bool start_inclusive, stop_inclusive;
};

struct filter {
	enum filter_type type;
	struct bytes family, qualifier; /* SINGLE_COLUMN_VALUE */
	enum filter_op op;		/* SINGLE_COLUMN_VALUE, VALUE, QUALIFIER, FAMILY, ROW */
	struct comparator with;
	bool if_missing; /* filterIfMissing: drop rows without the column */
	/* true if one matching version is enough; false if the newest version must match */
	bool all_versions;
	bool lengths;		    /* KEY_ONLY: replace the value by its length */
	uint64_t limit, offset;	    /* PAGE, COLUMN_COUNT_GET, COLUMN_PAGINATION */
	bool from_column;	    /* COLUMN_PAGINATION: begin at `start` instead of `offset` */
	struct bytes start, stop;   /* PREFIX, COLUMN_PREFIX: start; INCLUSIVE_STOP: stop */
	bool open_start, open_stop; /* COLUMN_RANGE: the range has no such bound */
	bool start_inclusive, stop_inclusive; /* COLUMN_RANGE */
	bool hints;			      /* TIMESTAMPS: canHint */
	int64_t *timestamps;		      /* rising */
	size_t ntimestamps;
	const struct filter_fuzzy *fuzzy;
	size_t nfuzzy;
	struct filter_range *ranges; /* filter_open sorts the ranges and joins overlapping ones */
	size_t nranges;
	/* child filters; lists have any number, but SKIP and WHILE_MATCH have one child */
	struct filter **of;
	size_t nof;
	struct filter_memory *memory; /* state during a scan, which filter_open (query.h) creates */
};

#endif
