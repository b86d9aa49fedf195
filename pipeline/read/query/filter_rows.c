/* filter_rows.c - apply filters on row keys and on the number of rows */
#include <stdlib.h>

#include "filter_kinds.h"

static enum filter_code code_of_row(struct filter *f, const struct cell *c)
{
	(void)c;
	return f->memory->row;
}

static bool is_out(struct filter *f)
{
	return f->memory->out;
}

static bool is_done(const struct filter *f)
{
	return f->memory->done;
}

static bool hint_next_row(struct filter *f, const struct cell *c, struct filter_hint *out)
{
	(void)f, (void)c;
	*out = (struct filter_hint){.next_row = true};
	return true;
}

/* --- RowFilter --- */

static bool row_row_key(struct filter *f, struct bytes row)
{
	f->memory->out = !comparator_passes(&f->with, f->op, row);
	f->memory->row = f->memory->out ? CODE_NEXT_ROW : CODE_INCLUDE;
	return f->memory->out;
}

static void row_reset(struct filter *f)
{
	f->memory->out = false;
	f->memory->row = CODE_INCLUDE;
}

const struct filter_kind row_kind = {.row_key = row_row_key,
				     .cell = code_of_row,
				     .row = is_out,
				     .reset = row_reset};

/* --- PrefixFilter --- */

static bool prefix_row_key(struct filter *f, struct bytes row)
{
	struct filter_memory *m = f->memory;

	if (m->done)
		return true;
	if (row.len > f->start.len)
		row.len = f->start.len;
	int order = bytes_cmp(row, f->start);
	order = m->reversed ? -order : order;
	m->done = order > 0;
	m->out = order != 0;
	m->row = order == 0 ? CODE_INCLUDE : order < 0 ? CODE_HINT : CODE_NEXT_ROW;
	return m->done;
}

static void prefix_reset(struct filter *f)
{
	f->memory->out = true;
}

const struct filter_kind prefix_kind = {.hinting = true,
					.row_key = prefix_row_key,
					.cell = code_of_row,
					.hint = hint_next_row,
					.row = is_out,
					.all_remaining = is_done,
					.reset = prefix_reset};

/* --- InclusiveStopFilter --- */

static bool stop_row_key(struct filter *f, struct bytes row)
{
	struct filter_memory *m = f->memory;
	int order = bytes_cmp(row, f->stop);

	m->done = m->done || (m->reversed ? order < 0 : order > 0);
	return m->done;
}

const struct filter_kind inclusive_stop_kind = {.row_key = stop_row_key, .all_remaining = is_done};

/* --- PageFilter --- */

static bool page_row(struct filter *f)
{
	return ++f->memory->accepted > f->limit;
}

static bool page_full(const struct filter *f)
{
	return f->memory->accepted >= f->limit;
}

const struct filter_kind page_kind = {.has_row = true, .row = page_row, .all_remaining = page_full};

/* --- FuzzyRowFilter --- */

static bool fuzzy_matches(const struct filter_fuzzy *z, struct bytes row)
{
	for (size_t i = 0; i < z->key.len && i < row.len; i++)
		if (z->mask.ptr[i] == 0 && z->key.ptr[i] != row.ptr[i])
			return false;
	return true;
}

static enum filter_code fuzzy_cell(struct filter *f, const struct cell *c)
{
	for (size_t i = 0; i < f->nfuzzy; i++)
		if (fuzzy_matches(&f->fuzzy[i], c->row))
			return CODE_INCLUDE;
	return CODE_HINT;
}

const struct filter_kind fuzzy_row_kind = {.hinting = true,
					   .cell = fuzzy_cell,
					   .hint = hint_next_row};

/* --- MultiRowRangeFilter --- */

static bool is_behind_start(const struct filter_range *r, struct bytes row)
{
	int order = bytes_cmp(row, r->start);

	return order > 0 || (order == 0 && r->start_inclusive);
}

static bool is_before_stop(const struct filter_range *r, struct bytes row)
{
	int order = bytes_cmp(row, r->stop);

	return r->stop.len == 0 || order < 0 || (order == 0 && r->stop_inclusive);
}

static bool ranges_row_key(struct filter *f, struct bytes row)
{
	struct filter_memory *m = f->memory;

	if (m->done)
		return true;
	bool inside = false, ahead = false;
	for (size_t i = 0; i < f->nranges; i++) {
		bool behind_start = is_behind_start(&f->ranges[i], row);
		bool before_stop = is_before_stop(&f->ranges[i], row);

		inside |= behind_start && before_stop;
		ahead |= m->reversed ? !before_stop : !behind_start;
	}
	m->row = inside ? CODE_INCLUDE : ahead ? CODE_HINT : CODE_NEXT_ROW;
	m->done = !inside && !ahead;
	return false;
}

const struct filter_kind multi_row_range_kind = {.hinting = true,
						 .row_key = ranges_row_key,
						 .cell = code_of_row,
						 .hint = hint_next_row,
						 .all_remaining = is_done};
