/*
 * filter_kinds.h - the functions of each kind of filter (inside pipeline/read/query only)
 *
 * README.md 6 has the calls and their order.
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

/* The last answer of one member of an OR, and the cell that it was for. */
struct list_state {
	bool asked, included;
	enum filter_code code;
	struct buf family, qualifier, hint; /* hint: its qualifier, if it is in the row */
	int64_t hint_ts;
	bool has_hint, hint_behind_row;
};

/*
 * The state of a filter. reset clears it at the end of a row, except what is marked "for the scan".
 */
struct filter_memory {
	bool reversed;	      /* for the scan */
	bool done;	      /* for the scan: all that remains is out */
	uint64_t accepted;    /* for the scan: rows */
	bool found, matched;  /* SINGLE_COLUMN_VALUE, FIRST_KEY_ONLY: found */
	bool out;	      /* the row is out */
	enum filter_code row; /* the code for the cells of the row */
	uint64_t count;
	struct list_state *states; /* OR: one for each member */
	bool *hinted;		   /* AND: the members that gave a hint for this cell */
};

/* Where to continue: at the first cell of this place, or at the next row. */
struct filter_hint {
	bool next_row;
	struct bytes qualifier;
	int64_t ts; /* CELL_TS_LATEST: the whole column */
};

struct filter_kind {
	bool has_row; /* the filter judges the row as a whole */
	bool hinting; /* a list asks it for a hint even if the cell is out */
	/* A function that is NULL does what FilterBase does. */
	bool (*row_key)(struct filter *f, struct bytes row); /* true: the row is out */
	enum filter_code (*cell)(struct filter *f, const struct cell *c);
	bool (*hint)(struct filter *f, const struct cell *c, struct filter_hint *out);
	bool (*row)(struct filter *f); /* true: the row is out */
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
/* Call after CODE_HINT. Returns false if there is no hint. */
bool filter_hint(struct filter *f, const struct cell *c, struct filter_hint *out);
bool filter_row(struct filter *f);
void filter_reset(struct filter *f);
void filter_change(struct filter *f, struct cell *c, uint8_t *room);
bool filter_keeps(const struct filter *f, const struct cell *c);

/* Compares two places in a row: negative if a comes first. */
int filter_hint_cmp(const struct filter_hint *a, const struct filter_hint *b);
/* Is the cell at the place or after it? The cell is in the same row and family. */
bool filter_hint_reached(const struct filter_hint *h, const struct cell *c);

/* compare.c: does the value pass? */
bool comparator_passes(const struct comparator *with, enum filter_op op, struct bytes value);
int comparator_open(struct comparator *c, struct error *err);
void comparator_close(struct comparator *c);
/* The expression needed too many steps, so its answer is not valid. */
bool comparator_gave_up(const struct comparator *c);
/* RC_LIMIT: a comparator in the filter gave up. */
int filter_check(const struct filter *f, struct error *err);

#endif
