/* filter_cells.c - apply filters on family, qualifier, timestamp and value of cells */
#include "filter_kinds.h"

/* --- SingleColumnValueFilter --- */

static bool is_column(const struct filter *f, const struct cell *c)
{
	return bytes_eq(c->qualifier, f->qualifier) && bytes_eq(c->family, f->family);
}

static enum filter_code single_cell(struct filter *f, const struct cell *c)
{
	struct filter_memory *m = f->memory;

	if (m->matched)
		return CODE_INCLUDE;
	if (m->found && !f->all_versions)
		return CODE_NEXT_ROW;
	if (!is_column(f, c))
		return CODE_INCLUDE;
	m->found = true;
	m->matched = comparator_passes(&f->with, f->op, c->value);
	return m->matched || f->all_versions ? CODE_INCLUDE : CODE_NEXT_ROW;
}

static bool single_row(struct filter *f)
{
	return f->memory->found ? !f->memory->matched : f->if_missing;
}

static void reset_found(struct filter *f)
{
	f->memory->found = f->memory->matched = false;
}

static bool is_other_column(const struct filter *f, const struct cell *c)
{
	return !is_column(f, c);
}

const struct filter_kind single_kind = {.has_row = true,
					.cell = single_cell,
					.row = single_row,
					.reset = reset_found};
const struct filter_kind single_exclude_kind = {.has_row = true,
						.cell = single_cell,
						.row = single_row,
						.reset = reset_found,
						.keeps = is_other_column};

/* --- ValueFilter, QualifierFilter, FamilyFilter --- */

static enum filter_code value_cell(struct filter *f, const struct cell *c)
{
	return comparator_passes(&f->with, f->op, c->value) ? CODE_INCLUDE : CODE_SKIP;
}

static enum filter_code qualifier_cell(struct filter *f, const struct cell *c)
{
	return comparator_passes(&f->with, f->op, c->qualifier) ? CODE_INCLUDE : CODE_SKIP;
}

static enum filter_code family_cell(struct filter *f, const struct cell *c)
{
	return comparator_passes(&f->with, f->op, c->family) ? CODE_INCLUDE : CODE_NEXT_ROW;
}

const struct filter_kind value_kind = {.cell = value_cell};
const struct filter_kind qualifier_kind = {.cell = qualifier_cell};
const struct filter_kind family_kind = {.cell = family_cell};

/* --- KeyOnlyFilter, FirstKeyOnlyFilter --- */

static void key_only_change(struct filter *f, struct cell *c, uint8_t *room)
{
	put_be32(room, (uint32_t)c->value.len);
	c->value = bytes_of(room, f->lengths ? 4 : 0);
}

static enum filter_code first_cell(struct filter *f, const struct cell *c)
{
	(void)c;
	if (f->memory->found)
		return CODE_NEXT_ROW;
	f->memory->found = true;
	return CODE_INCLUDE;
}

const struct filter_kind key_only_kind = {.change = key_only_change};
const struct filter_kind first_key_only_kind = {.cell = first_cell, .reset = reset_found};

/* --- ColumnCountGetFilter, ColumnPaginationFilter --- */

static bool counted_all(const struct filter *f)
{
	return f->memory->count > f->limit;
}

static enum filter_code count_cell(struct filter *f, const struct cell *c)
{
	(void)c;
	f->memory->count++;
	return counted_all(f) ? CODE_NEXT_COLUMN : CODE_INCLUDE_NEXT_COLUMN;
}

static void reset_count(struct filter *f)
{
	f->memory->count = 0;
}

static enum filter_code pagination_cell(struct filter *f, const struct cell *c)
{
	uint64_t *n = &f->memory->count;

	if (f->from_column) {
		if (*n >= f->limit)
			return CODE_NEXT_ROW;
		if (*n == 0 && bytes_cmp(c->qualifier, f->start) < 0)
			return CODE_HINT;
		++*n;
		return CODE_INCLUDE_NEXT_COLUMN;
	}
	if (*n >= f->limit + f->offset)
		return CODE_NEXT_ROW;
	return (*n)++ < f->offset ? CODE_NEXT_COLUMN : CODE_INCLUDE_NEXT_COLUMN;
}

static bool hint_start(struct filter *f, const struct cell *c, struct filter_hint *out)
{
	(void)c;
	*out = (struct filter_hint){.qualifier = f->start, .ts = CELL_TS_LATEST};
	return true;
}

const struct filter_kind count_kind = {.cell = count_cell,
				       .reset = reset_count,
				       .all_remaining = counted_all};
const struct filter_kind pagination_kind = {.cell = pagination_cell,
					    .reset = reset_count,
					    .hint = hint_start};

/* --- ColumnPrefixFilter, ColumnRangeFilter --- */

static enum filter_code column_prefix_cell(struct filter *f, const struct cell *c)
{
	struct bytes q = c->qualifier;

	if (q.len > f->start.len)
		q.len = f->start.len;
	int order = bytes_cmp(q, f->start);
	return order < 0 ? CODE_HINT : order > 0 ? CODE_NEXT_ROW : CODE_INCLUDE;
}

static enum filter_code column_range_cell(struct filter *f, const struct cell *c)
{
	int low = f->open_start ? 1 : bytes_cmp(c->qualifier, f->start);
	int high = f->open_stop ? -1 : bytes_cmp(c->qualifier, f->stop);

	if (low < 0)
		return CODE_HINT;
	if (low == 0 && !f->start_inclusive)
		return CODE_NEXT_COLUMN;
	return high < 0 || (high == 0 && f->stop_inclusive) ? CODE_INCLUDE : CODE_NEXT_ROW;
}

const struct filter_kind column_prefix_kind = {.hinting = true,
					       .cell = column_prefix_cell,
					       .hint = hint_start};
const struct filter_kind column_range_kind = {.hinting = true,
					      .cell = column_range_cell,
					      .hint = hint_start};

/* --- TimestampsFilter --- */

/* Returns the number of the filter's timestamps that are less than `ts`. */
static size_t timestamps_below(const struct filter *f, int64_t ts)
{
	size_t n = 0;

	while (n < f->ntimestamps && f->timestamps[n] < ts)
		n++;
	return n;
}

static enum filter_code timestamps_cell(struct filter *f, const struct cell *c)
{
	size_t below = timestamps_below(f, c->ts);

	if (below < f->ntimestamps && f->timestamps[below] == c->ts)
		return CODE_INCLUDE;
	if (below == 0)
		return CODE_NEXT_COLUMN;
	return f->hints ? CODE_HINT : CODE_SKIP;
}

static bool timestamps_hint(struct filter *f, const struct cell *c, struct filter_hint *out)
{
	size_t below = timestamps_below(f, c->ts);

	if (below == 0)
		return false;
	*out = (struct filter_hint){.qualifier = c->qualifier, .ts = f->timestamps[below - 1]};
	return true;
}

const struct filter_kind timestamps_kind = {.hinting = true,
					    .cell = timestamps_cell,
					    .hint = timestamps_hint};
