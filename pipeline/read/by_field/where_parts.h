/* where_parts.h - what the files behind struct where share (inside pipeline/read/by_field only) */
#ifndef SALTMILL_ASK_WHERE_PARTS_H
#define SALTMILL_ASK_WHERE_PARTS_H

#include "field.h"
#include "by_field.h"

/* Where a condition finds its value.  From QUALIFIER on, each cell has its own. */
enum where_place {
	PLACE_NONE, /* nowhere: the ranges answer the condition */
	PLACE_KEY,
	PLACE_BYTES, /* of the key, which decide the condition without a value */
	PLACE_COLUMN,
	PLACE_QUALIFIER,
	PLACE_VALUE,
	PLACE_TIME
};

struct where_source {
	enum where_place place;
	size_t part;			    /* of the key or the qualifier */
	struct key_condition bytes;	    /* of BYTES */
	const struct stored_column *column; /* of QUALIFIER and VALUE */
	struct bytes family, qualifier;	    /* of COLUMN */
	size_t family_number;
	struct layout layout;
	bool known; /* for this row or cell; then: */
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
	struct field_forms forms;     /* the same */
	const struct predicate *predicate;
	const char *note;
	bool of_columns, of_cells;
	bool any_version;  /* a column's older versions are asked too */
	bool each_version; /* each version of a cell is asked, not only the newest one */
	struct key_ranges ranges;
	struct query_range *split; /* by salt */
	size_t nsplit;
	struct query_column *columns; /* the question's and those that conditions read */
	size_t nasked;		      /* of those: the question's */
	bool selective;		      /* there were any */
	struct query_judge judge;
	struct key_piece *pieces, *cell_pieces;
	struct bytes row;
	bool deferred; /* a value was not known yet */
	struct error *err;
	int rc;
	const struct cell *cells, *cell; /* of the row; the one that is asked */
	size_t ncells;
	struct arena arena;
};

/* where_names.c: find where the conditions that the ranges leave open have their values. */
int where_bind(struct where *w, struct error *err);
/* where_judge.c: the judge of query.h. */
extern const struct query_judge where_judge;

#endif
