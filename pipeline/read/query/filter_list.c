/*
 * filter_list.c - apply filters that contain filters: FilterList (AND is MUST_PASS_ALL, OR is
 * MUST_PASS_ONE), SkipFilter and WhileMatchFilter
 */
#include "filter_kinds.h"

static bool any_remaining_out(const struct filter *f)
{
	for (size_t i = 0; i < f->nof; i++)
		if (filter_all_remaining(f->of[i]))
			return true;
	return false;
}

static void reset_all(struct filter *f)
{
	for (size_t i = 0; i < f->nof; i++)
		filter_reset(f->of[i]);
}

static bool all_keep(const struct filter *f, const struct cell *c)
{
	for (size_t i = 0; i < f->nof; i++)
		if (!filter_keeps(f->of[i], c))
			return false;
	return true;
}

/* Returns how far a code advances the scan. */
static int step_of(enum filter_code c)
{
	return c == CODE_INCLUDE_NEXT_ROW || c == CODE_NEXT_ROW		? 2
	       : c == CODE_INCLUDE_NEXT_COLUMN || c == CODE_NEXT_COLUMN ? 1
									: 0;
}

static enum filter_code code_of(bool includes, int step)
{
	enum filter_code first = includes ? CODE_INCLUDE : CODE_SKIP;

	return (enum filter_code)((int)first + step);
}

/* --- AND --- */

static bool and_row_key(struct filter *f, struct bytes row)
{
	bool out = false, hinting_passed = false;

	for (size_t i = 0; i < f->nof; i++) {
		if (filter_all_remaining(f->of[i]))
			return true;
		if (filter_row_key(f->of[i], row))
			out = true;
		else if (filter_hinting(f->of[i]))
			hinting_passed = true;
	}
	return out && !hinting_passed;
}

static enum filter_code and_cell(struct filter *f, const struct cell *c)
{
	bool includes = true, hints = false;
	int step = 0;
	size_t i = 0;

	memset(f->memory->hinted, 0, f->nof);
	for (; i < f->nof && includes; i++) {
		if (filter_all_remaining(f->of[i]))
			return CODE_NEXT_ROW;
		enum filter_code one = filter_cell(f->of[i], c);
		int far = step_of(one);
		hints |= f->memory->hinted[i] = one == CODE_HINT;
		includes = code_includes(one);
		step = far > step ? far : step;
	}
	/* after a member has excluded the cell, only hints matter */
	for (; i < f->nof; i++)
		if (filter_hinting(f->of[i]))
			hints |= f->memory->hinted[i] = filter_cell(f->of[i], c) == CODE_HINT;
	return hints ? CODE_HINT : code_of(includes, step);
}

/* Returns the farthest hint of the members. */
static bool and_hint(struct filter *f, const struct cell *c, struct filter_hint *out)
{
	bool any = false;

	for (size_t i = 0; i < f->nof; i++) {
		struct filter_hint h;

		if (!f->memory->hinted[i] || filter_all_remaining(f->of[i]) ||
		    !filter_hint(f->of[i], c, &h))
			continue;
		if (!any || filter_hint_cmp(&h, out) > 0)
			*out = h;
		any = true;
	}
	return any;
}

static bool and_row(struct filter *f)
{
	for (size_t i = 0; i < f->nof; i++)
		if (filter_row(f->of[i]))
			return true;
	return false;
}

static void and_change(struct filter *f, struct cell *c, uint8_t *room)
{
	for (size_t i = 0; i < f->nof; i++)
		filter_change(f->of[i], c, room);
}

const struct filter_kind list_and_kind = {.row_key = and_row_key,
					  .cell = and_cell,
					  .hint = and_hint,
					  .row = and_row,
					  .all_remaining = any_remaining_out,
					  .reset = reset_all,
					  .change = and_change,
					  .keeps = all_keep};

/* --- OR --- */

static bool or_all_remaining(const struct filter *f)
{
	for (size_t i = 0; i < f->nof; i++)
		if (!filter_all_remaining(f->of[i]))
			return false;
	return f->nof > 0;
}

static bool or_row_key(struct filter *f, struct bytes row)
{
	bool out = f->nof > 0;

	for (size_t i = 0; i < f->nof; i++)
		if (!filter_all_remaining(f->of[i]) && !filter_row_key(f->of[i], row))
			out = false;
	return out;
}

/*
 * Returns false if the member wants to continue at a later cell. The list does not call the member
 * before that cell.
 */
static bool wants_cell(const struct list_state *s, const struct cell *c)
{
	if (!s->asked)
		return true;
	bool same_family = bytes_eq(c->family, buf_bytes(&s->family));
	const struct filter_hint h = {s->hint_behind_row, buf_bytes(&s->hint), s->hint_ts};
	switch (s->code) {
	case CODE_INCLUDE:
	case CODE_SKIP: return true;
	case CODE_NEXT_COLUMN:
	case CODE_INCLUDE_NEXT_COLUMN:
		return !same_family || !bytes_eq(c->qualifier, buf_bytes(&s->qualifier));
	case CODE_NEXT_ROW:
	case CODE_INCLUDE_NEXT_ROW: return !same_family;
	case CODE_HINT: break;
	}
	return !s->has_hint || (same_family ? filter_hint_reached(&h, c) : !h.next_row);
}

static void set_buf(struct buf *to, struct bytes from)
{
	to->len = 0;
	buf_append(to, from.ptr, from.len);
}

static void note_answer(struct filter *member, struct list_state *s, const struct cell *c,
			enum filter_code code)
{
	struct filter_hint h = {0};

	s->asked = true;
	s->code = code;
	set_buf(&s->family, c->family);
	set_buf(&s->qualifier, c->qualifier);
	s->has_hint = code == CODE_HINT && filter_hint(member, c, &h);
	s->hint_behind_row = h.next_row;
	s->hint_ts = h.ts;
	set_buf(&s->hint, h.qualifier);
}

/* Returns the code of a member that the list does not call for this cell. */
static enum filter_code code_unasked(enum filter_code last)
{
	return last == CODE_HINT ? CODE_HINT : code_of(false, step_of(last));
}

static enum filter_code or_merge(enum filter_code a, enum filter_code b)
{
	if (a == CODE_HINT && b == CODE_HINT)
		return CODE_HINT;
	int step = step_of(a) < step_of(b) ? step_of(a) : step_of(b);
	return code_of(code_includes(a) || code_includes(b), step);
}

static enum filter_code or_cell(struct filter *f, const struct cell *c)
{
	enum filter_code merged = CODE_SKIP;
	bool any = false;

	if (f->nof == 0)
		return CODE_INCLUDE;
	for (size_t i = 0; i < f->nof; i++) {
		struct list_state *s = &f->memory->states[i];

		s->included = false;
		if (filter_all_remaining(f->of[i]))
			continue;
		enum filter_code one;
		if (wants_cell(s, c)) {
			one = filter_cell(f->of[i], c);
			note_answer(f->of[i], s, c, one);
			s->included = code_includes(one);
		} else {
			one = code_unasked(s->code);
		}
		merged = any ? or_merge(merged, one) : one;
		any = true;
	}
	return merged;
}

/* Returns the nearest hint, if each member has one. */
static bool or_hint(struct filter *f, const struct cell *c, struct filter_hint *out)
{
	bool any = false;

	for (size_t i = 0; i < f->nof; i++) {
		struct filter_hint h;

		if (filter_all_remaining(f->of[i]))
			continue;
		if (!filter_hint(f->of[i], c, &h))
			return false;
		if (!any || filter_hint_cmp(&h, out) < 0)
			*out = h;
		any = true;
	}
	return any;
}

static bool or_row(struct filter *f)
{
	for (size_t i = 0; i < f->nof; i++)
		if (!filter_row(f->of[i]))
			return false;
	return f->nof > 0;
}

static void or_reset(struct filter *f)
{
	reset_all(f);
	for (size_t i = 0; i < f->nof; i++)
		f->memory->states[i].asked = f->memory->states[i].included = false;
}

static void or_change(struct filter *f, struct cell *c, uint8_t *room)
{
	for (size_t i = 0; i < f->nof; i++)
		if (f->memory->states[i].included)
			filter_change(f->of[i], c, room);
}

const struct filter_kind list_or_kind = {.row_key = or_row_key,
					 .cell = or_cell,
					 .hint = or_hint,
					 .row = or_row,
					 .all_remaining = or_all_remaining,
					 .reset = or_reset,
					 .change = or_change,
					 .keeps = all_keep};

/* --- SkipFilter, WhileMatchFilter --- */

static enum filter_code skip_cell(struct filter *f, const struct cell *c)
{
	enum filter_code one = filter_cell(f->of[0], c);

	f->memory->out |= one != CODE_INCLUDE;
	return one;
}

static bool skip_row(struct filter *f)
{
	return f->memory->out;
}

static void skip_reset(struct filter *f)
{
	filter_reset(f->of[0]);
	f->memory->out = false;
}

static void change_first(struct filter *f, struct cell *c, uint8_t *room)
{
	filter_change(f->of[0], c, room);
}

const struct filter_kind skip_kind = {.has_row = true,
				      .cell = skip_cell,
				      .row = skip_row,
				      .reset = skip_reset,
				      .change = change_first};

static bool while_all_remaining(const struct filter *f)
{
	return f->memory->done || filter_all_remaining(f->of[0]);
}

static bool while_row_key(struct filter *f, struct bytes row)
{
	bool out = filter_row_key(f->of[0], row);

	f->memory->done |= out;
	return out;
}

static enum filter_code while_cell(struct filter *f, const struct cell *c)
{
	enum filter_code one = filter_cell(f->of[0], c);

	f->memory->done |= one != CODE_INCLUDE;
	return one;
}

static bool while_row(struct filter *f)
{
	bool out = filter_row(f->of[0]);

	f->memory->done |= out;
	return out;
}

const struct filter_kind while_match_kind = {.has_row = true,
					     .row_key = while_row_key,
					     .cell = while_cell,
					     .row = while_row,
					     .all_remaining = while_all_remaining,
					     .reset = reset_all,
					     .change = change_first};
