/*
 * filter_kinds.h - what each filter does when it is asked (inside pipeline/read/query only)
 *
 * The calls and their order are README.md 6.
 */
#ifndef SALTMILL_QUERY_FILTER_KINDS_H
#define SALTMILL_QUERY_FILTER_KINDS_H

#include "query.h"

/* Filter.ReturnCode. */
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

/* Of one member of an OR: what it said last, and of which cell. */
struct list_state {
	bool asked, included;
	enum filter_code code;
	struct buf family, qualifier, hint; /* hint: the qualifier of it, if it is in the row */
	int64_t hint_ts;
	bool has_hint, hint_behind_row;
};

/* What a filter remembers; all but what is marked until the end of the row. */
struct filter_memory {
	bool reversed;	      /* for good */
	bool done;	      /* for good: all that remains is out */
	uint64_t accepted;    /* for good: rows */
	bool found, matched;  /* SINGLE_COLUMN_VALUE, FIRST_KEY_ONLY: found */
	bool out;	      /* the row */
	enum filter_code row; /* for the cells of the row */
	uint64_t count;
	struct list_state *states; /* OR: of each member */
	bool *hinted;		   /* AND: who gave a hint for this cell */
};

/* Where to go on: the first cell of the place, or the next row. */
struct filter_hint {
	bool next_row;
	struct bytes qualifier;
	int64_t ts; /* CELL_TS_LATEST: all of the column */
};

struct filter_kind {
	bool has_row; /* the row is judged as a whole */
	bool hinting; /* asked by a list for its hint even when the cell is out */
	/* NULL: as FilterBase has it */
	bool (*row_key)(struct filter *f, struct bytes row); /* true: out */
	enum filter_code (*cell)(struct filter *f, const struct cell *c);
	bool (*hint)(struct filter *f, const struct cell *c, struct filter_hint *out);
	bool (*row)(struct filter *f); /* true: out */
	bool (*all_remaining)(const struct filter *f);
	void (*reset)(struct filter *f);
	void (*change)(struct filter *f, struct cell *c, uint8_t *room); /* room: 4 bytes */
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
/* Behind CODE_HINT; false: there is none. */
bool filter_hint(struct filter *f, const struct cell *c, struct filter_hint *out);
bool filter_row(struct filter *f);
void filter_reset(struct filter *f);
void filter_change(struct filter *f, struct cell *c, uint8_t *room);
bool filter_keeps(const struct filter *f, const struct cell *c);

/* Which of two places in a row comes first. */
int filter_hint_cmp(const struct filter_hint *a, const struct filter_hint *b);
/* Is the cell, of the same row and family, at the place or behind it? */
bool filter_hint_reached(const struct filter_hint *h, const struct cell *c);

/* compare.c: does value pass? */
bool comparator_passes(const struct comparator *with, enum filter_op op, struct bytes value);
int comparator_open(struct comparator *c, struct error *err);
void comparator_close(struct comparator *c);
/* An expression looked for too long: what passed was not true. */
bool comparator_gave_up(const struct comparator *c);
/* Any in the filter; RC_LIMIT. */
int filter_check(const struct filter *f, struct error *err);

#endif
