/* where_parts.h - what the files of struct where share (inside pipeline/read/by_field only) */
#ifndef SALTMILL_ASK_WHERE_PARTS_H
#define SALTMILL_ASK_WHERE_PARTS_H

#include "field.h"
#include "by_field.h"

/* The place of a condition's value. From QUALIFIER on, each cell has its own value. */
enum where_place {
	PLACE_NONE, /* none: the ranges decide the condition */
	PLACE_KEY,
	PLACE_BYTES, /* bytes of the key, which decide the condition without a value */
	PLACE_COLUMN,
	PLACE_QUALIFIER,
	PLACE_VALUE,
	PLACE_TIME
};

struct where_source {
	enum where_place place;
	size_t part;			    /* number of the part of the key or the qualifier */
	struct key_condition bytes;	    /* PLACE_BYTES */
	const struct stored_column *column; /* PLACE_QUALIFIER, PLACE_VALUE */
	struct bytes family, qualifier;	    /* PLACE_COLUMN */
	size_t family_number;
	struct layout layout;
	bool known; /* for this row or cell; then the next member is set */
	enum answer answer;
	struct arena arena;
	struct field_scratch scratch;
};

struct where {
	const struct stored *stored;
	const struct query_family *families;
	size_t nfamilies;
	const struct question *question;
	struct question rest;	      /* the same conditions, but only what the ranges leave open */
	struct where_source *sources; /* one for each condition */
	struct field_forms forms;     /* one for each condition */
	const struct predicate *predicate;
	const char *note;
	bool of_columns, of_cells;
	bool any_version;  /* conditions also read a column's older versions */
	bool each_version; /* conditions read each version of a cell, not only the newest */
	struct key_ranges ranges;
	struct query_range *split; /* the ranges, cut by salt */
	size_t nsplit;
	struct query_column *columns; /* the query's columns, then those that conditions read */
	size_t nasked;		      /* number of the query's columns */
	bool selective;		      /* the query names columns */
	struct query_judge judge;
	struct key_piece *pieces, *cell_pieces;
	struct bytes row;
	bool deferred; /* a condition could not be decided yet */
	struct error *err;
	int rc;
	const struct cell *cells, *cell; /* of the row; the current cell */
	size_t ncells;
	struct arena arena;
};

/* where_names.c: find the values of the conditions that the ranges leave open. */
int where_bind(struct where *w, struct error *err);
/* where_judge.c: the judge for struct query (query.h). */
extern const struct query_judge where_judge;

#endif
