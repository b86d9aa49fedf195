/*
 * filter_kinds.h - the functions of each kind of filter (private to this folder)
 *
 * README.md 6 lists the calls in their order.
 */
#ifndef SALTMILL_QUERY_FILTER_KINDS_H
#define SALTMILL_QUERY_FILTER_KINDS_H

#include "query.h"

/* The codes of Filter.ReturnCode. */
enum filter_code {
	CODE_INCLUDE,
	CODE_INCLUDE_NEXT_COLUMN,
	CODE_INCLUDE_NEXT_ROW,
	CODE_SKIP,
	CODE_NEXT_COLUMN,
	CODE_NEXT_ROW,
	CODE_HINT
};

static inline bool code_includes(enum filter_code c)
{
	return c <= CODE_INCLUDE_NEXT_ROW;
}

/* The last answer of one member of an OR, and its cell. */
struct list_state {
	bool asked, included;
	enum filter_code code;
	struct buf family, qualifier, hint; /* qualifier of the hint, if the hint is in the row */
	int64_t hint_ts;
	bool has_hint, hint_behind_row;
};

/*
 * The state of a filter. reset clears the state at the end of a row, except the members marked "for
 * the scan".
 */
struct filter_memory {
	bool reversed;	      /* for the scan */
	bool done;	      /* for the scan; true if the filter excludes all later rows */
	uint64_t accepted;    /* for the scan, the number of accepted rows */
	bool found, matched;  /* for SINGLE_COLUMN_VALUE and FIRST_KEY_ONLY */
	bool out;	      /* true if the filter excludes the row */
	enum filter_code row; /* the code for the cells of the row */
	uint64_t count;
	struct list_state *states; /* for OR, one for each member */
	bool *hinted;		   /* for AND, the members that gave a hint for this cell */
};

/* The place at which to continue, which is the first cell of a column or the next row. */
struct filter_hint {
	bool next_row;
	struct bytes qualifier;
	int64_t ts; /* CELL_TS_LATEST for the whole column */
};

struct filter_kind {
	bool has_row; /* the filter judges the row as a whole */
	bool hinting; /* true if a list calls the hint function even for an excluded cell */
	/* if a function is NULL, the filter behaves as FilterBase does */
	/* returns true if the filter excludes the row */
	bool (*row_key)(struct filter *f, struct bytes row);
	enum filter_code (*cell)(struct filter *f, const struct cell *c);
	bool (*hint)(struct filter *f, const struct cell *c, struct filter_hint *out);
	bool (*row)(struct filter *f); /* returns true if the filter excludes the row */
	bool (*all_remaining)(const struct filter *f);
	void (*reset)(struct filter *f);
	void (*change)(struct filter *f, struct cell *c, uint8_t *room); /* `room` has 4 bytes */
	bool (*keeps)(const struct filter *f, const struct cell *c);
};

extern const struct filter_kind list_and_kind, list_or_kind, skip_kind,
	while_match_kind; /* filter_list.c */
extern const struct filter_kind row_kind, prefix_kind, inclusive_stop_kind, page_kind,
	fuzzy_row_kind, multi_row_range_kind; /* filter_rows.c */
/* filter_cells.c */
extern const struct filter_kind single_kind, single_exclude_kind, value_kind, qualifier_kind,
	family_kind, key_only_kind, first_key_only_kind, count_kind, pagination_kind,
	column_prefix_kind, column_range_kind, timestamps_kind;

void filter_start(struct filter *f, bool reversed);
bool filter_has_row(const struct filter *f);
bool filter_hinting(const struct filter *f);
bool filter_row_key(struct filter *f, struct bytes row);
enum filter_code filter_cell(struct filter *f, const struct cell *c);
/*
 * Set `*out` to the filter's hint. Call this function after CODE_HINT. Returns false if there is no
 * hint.
 */
bool filter_hint(struct filter *f, const struct cell *c, struct filter_hint *out);
bool filter_row(struct filter *f);
void filter_reset(struct filter *f);
void filter_change(struct filter *f, struct cell *c, uint8_t *room);
bool filter_keeps(const struct filter *f, const struct cell *c);

/* Compares two places in a row. Returns a negative number if `a` comes first. */
int filter_hint_cmp(const struct filter_hint *a, const struct filter_hint *b);
/* Returns true if the cell is at the place or after it. Both must be in the same row and family. */
bool filter_hint_reached(const struct filter_hint *h, const struct cell *c);

/* Returns true if the value passes (compare.c). */
bool comparator_passes(const struct comparator *with, enum filter_op op, struct bytes value);
int comparator_open(struct comparator *c, struct error *err);
void comparator_close(struct comparator *c);
/*
 * Returns true if the expression needed too many steps. The answer of the comparator is then
 * invalid.
 */
bool comparator_gave_up(const struct comparator *c);
/* Returns RC_LIMIT if a comparator in the filter exceeded the limit of steps. */
int filter_check(const struct filter *f, struct error *err);

#endif
