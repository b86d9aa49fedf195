/* filter.c - apply a filter with the functions of its kind, or as FilterBase does */
#include "filter_kinds.h"

#include "mem.h"

static const struct filter_kind *const kinds[FILTER_TYPES] = {
	[FILTER_LIST_AND] = &list_and_kind,
	[FILTER_LIST_OR] = &list_or_kind,
	[FILTER_SINGLE_COLUMN_VALUE] = &single_kind,
	[FILTER_SINGLE_COLUMN_VALUE_EXCLUDE] = &single_exclude_kind,
	[FILTER_VALUE] = &value_kind,
	[FILTER_QUALIFIER] = &qualifier_kind,
	[FILTER_FAMILY] = &family_kind,
	[FILTER_ROW] = &row_kind,
	[FILTER_KEY_ONLY] = &key_only_kind,
	[FILTER_FIRST_KEY_ONLY] = &first_key_only_kind,
	[FILTER_PREFIX] = &prefix_kind,
	[FILTER_PAGE] = &page_kind,
	[FILTER_COLUMN_COUNT_GET] = &count_kind,
	[FILTER_COLUMN_PAGINATION] = &pagination_kind,
	[FILTER_COLUMN_PREFIX] = &column_prefix_kind,
	[FILTER_COLUMN_RANGE] = &column_range_kind,
	[FILTER_INCLUSIVE_STOP] = &inclusive_stop_kind,
	[FILTER_TIMESTAMPS] = &timestamps_kind,
	[FILTER_FUZZY_ROW] = &fuzzy_row_kind,
	[FILTER_MULTI_ROW_RANGE] = &multi_row_range_kind,
	[FILTER_SKIP] = &skip_kind,
	[FILTER_WHILE_MATCH] = &while_match_kind,
};

static const struct filter_kind *kind_of(const struct filter *f)
{
	return kinds[f->type];
}

static int check_ranges(const struct filter *f, struct error *err)
{
	for (size_t i = 0; i < f->nranges; i++) {
		const struct filter_range *r = &f->ranges[i];
		int order = bytes_cmp(r->start, r->stop);

		if (r->stop.len && (order > 0 || (order == 0 && !r->start_inclusive)))
			return error_set(
				err, RC_CONFIG,
				"found a range of rows with the start after the stop, expected "
				"the start before the stop");
	}
	return 0;
}

int filter_open(struct filter *f, struct error *err)
{
	f->memory = mem_calloc(1, sizeof *f->memory);
	if (f->type == FILTER_LIST_OR)
		f->memory->states = mem_calloc(f->nof + 1, sizeof *f->memory->states);
	if (f->type == FILTER_LIST_AND)
		f->memory->hinted = mem_calloc(f->nof + 1, sizeof *f->memory->hinted);
	int rc = comparator_open(&f->with, err);
	if (rc == RC_OK)
		rc = check_ranges(f, err);
	for (size_t i = 0; rc == RC_OK && i < f->nof; i++)
		rc = filter_open(f->of[i], err);
	if (rc == RC_OK)
		filter_reset(f);
	return rc;
}

int filter_check(const struct filter *f, struct error *err)
{
	int rc = 0;

	if (comparator_gave_up(&f->with))
		return error_set(
			err, RC_LIMIT,
			"the expression `%.*s` needed more than 10 million steps for a cell; use "
			"one without nested repeats",
			(int)(f->with.value.len < 100 ? f->with.value.len : 100),
			(const char *)f->with.value.ptr);
	for (size_t i = 0; rc == RC_OK && i < f->nof; i++)
		rc = filter_check(f->of[i], err);
	return rc;
}

void filter_close(struct filter *f)
{
	if (!f)
		return;
	comparator_close(&f->with);
	for (size_t i = 0; f->memory && i < f->nof; i++) {
		if (f->memory->states) {
			buf_release(&f->memory->states[i].family);
			buf_release(&f->memory->states[i].qualifier);
			buf_release(&f->memory->states[i].hint);
		}
		filter_close(f->of[i]);
	}
	if (f->memory) {
		mem_free(f->memory->states);
		mem_free(f->memory->hinted);
	}
	mem_free(f->memory);
	f->memory = NULL;
}

void filter_start(struct filter *f, bool reversed)
{
	f->memory->reversed = reversed;
	/* SkipFilter and WhileMatchFilter do not forward the call */
	bool list = f->type == FILTER_LIST_AND || f->type == FILTER_LIST_OR;
	for (size_t i = 0; i < f->nof; i++)
		filter_start(f->of[i], reversed && list);
}

bool filter_has_row(const struct filter *f)
{
	bool list = f->type == FILTER_LIST_AND || f->type == FILTER_LIST_OR;

	for (size_t i = 0; list && i < f->nof; i++)
		if (filter_has_row(f->of[i]))
			return true;
	return kind_of(f)->has_row;
}

bool filter_hinting(const struct filter *f)
{
	return kind_of(f)->hinting;
}

bool filter_all_remaining(const struct filter *f)
{
	const struct filter_kind *k = kind_of(f);

	return k->all_remaining && k->all_remaining(f);
}

bool filter_row_key(struct filter *f, struct bytes row)
{
	const struct filter_kind *k = kind_of(f);

	return k->row_key ? k->row_key(f, row) : filter_all_remaining(f);
}

enum filter_code filter_cell(struct filter *f, const struct cell *c)
{
	const struct filter_kind *k = kind_of(f);

	return k->cell ? k->cell(f, c) : CODE_INCLUDE;
}

bool filter_hint(struct filter *f, const struct cell *c, struct filter_hint *out)
{
	const struct filter_kind *k = kind_of(f);

	return k->hint && k->hint(f, c, out);
}

bool filter_row(struct filter *f)
{
	const struct filter_kind *k = kind_of(f);

	return k->row && k->row(f);
}

void filter_reset(struct filter *f)
{
	const struct filter_kind *k = kind_of(f);

	if (k->reset)
		k->reset(f);
}

void filter_change(struct filter *f, struct cell *c, uint8_t *room)
{
	const struct filter_kind *k = kind_of(f);

	if (k->change)
		k->change(f, c, room);
}

bool filter_keeps(const struct filter *f, const struct cell *c)
{
	const struct filter_kind *k = kind_of(f);

	return !k->keeps || k->keeps(f, c);
}

int filter_hint_cmp(const struct filter_hint *a, const struct filter_hint *b)
{
	if (a->next_row || b->next_row)
		return a->next_row - b->next_row;
	int order = bytes_cmp(a->qualifier, b->qualifier);
	return order ? order : (a->ts < b->ts) - (a->ts > b->ts);
}

bool filter_hint_reached(const struct filter_hint *h, const struct cell *c)
{
	if (h->next_row)
		return false;
	int order = bytes_cmp(c->qualifier, h->qualifier);
	return order > 0 || (order == 0 && c->ts <= h->ts);
}
