/* where_parts.h - the members of struct where (private to this folder) */
#ifndef SALTMILL_ASK_WHERE_PARTS_H
#define SALTMILL_ASK_WHERE_PARTS_H

#include "field.h"
#include "by_field.h"

/*
 * The place of a condition's value. In the places from PLACE_QUALIFIER on, each cell has its own
 * value.
 */
enum where_place {
	PLACE_NONE, /* the condition needs no place, because the ranges decide it */
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
	struct key_condition bytes;	    /* for PLACE_BYTES */
	const struct stored_column *column; /* for PLACE_QUALIFIER and PLACE_VALUE */
	struct bytes family, qualifier;	    /* for PLACE_COLUMN */
	size_t family_number;
	struct layout layout;
	bool known; /* true if the next member has the value for this row or cell */
	enum answer answer;
	struct arena arena;
	struct field_scratch scratch;
};

struct where {
	const struct stored *stored;
	const struct query_family *families;
	size_t nfamilies;
	const struct question *question;
	struct question rest;	      /* the conditions that the ranges do not decide */
	struct where_source *sources; /* one for each condition */
	struct field_forms forms;     /* one for each condition */
	const struct predicate *predicate;
	const char *note;
	bool of_columns, of_cells;
	bool any_version;  /* true if conditions also read older versions of a column */
	bool each_version; /* true if conditions read each version of a cell, not only the newest */
	struct key_ranges ranges;
	struct query_range *split; /* the ranges, cut at the borders of the salts */
	size_t nsplit;
	struct query_column *columns; /* the query's columns, then those that conditions read */
	size_t nasked;		      /* number of the query's columns */
	bool selective;		      /* the query names columns */
	/* the column whose qualifiers the query limits, with their ranges; NULL if none */
	const struct stored_column *wide;
	struct query_range *spans;
	size_t nspans;
	bool spans_exact; /* true if all rows and cells in the ranges and spans match */
	struct query_judge judge;
	struct key_piece *pieces, *cell_pieces;
	struct bytes row;
	bool deferred; /* true while a condition is open */
	struct error *err;
	int rc;
	const struct cell *cells, *cell; /* cells of the row, and the current cell */
	size_t ncells;
	struct arena arena;
};

/* Find the values of the conditions that the ranges do not decide (where_names.c). */
int where_bind(struct where *w, struct error *err);
/*
 * Find a field in the parts of a column's computed qualifier, or in its value. Returns false if
 * neither has it (where_names.c).
 */
bool where_find_field(const struct stored_column *c, size_t field, struct where_source *s);
/* Find out whether the query limits the columns to read (where_spans.c). */
void where_find_spans(struct where *w);
/* Limit the query to the spans of where_find_spans and to the columns that conditions read. */
void where_put_spans(struct where *w, struct query *q);
/* The judge for struct query (query.h, where_judge.c). */
extern const struct query_judge where_judge;

#endif
