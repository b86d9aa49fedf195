#include "hidden.h"

#include <stdlib.h>

#include "mem.h"

/* A row may have any number of these markers, so the list keeps only the newest ones. */
#define VERSIONS_MOST 4096

static void forget_column(struct hidden *h)
{
	h->column.present = h->one.present = false;
}

void hidden_reset(struct hidden *h)
{
	h->in_family = h->family.present = false;
	h->nversions = 0;
	forget_column(h);
}

void hidden_release(struct hidden *h)
{
	mem_free(h->versions);
	buf_release(&h->qualifier);
	*h = (struct hidden){0};
}

static void add_version(struct hidden *h, struct hiding_mark mark)
{
	if (h->nversions == VERSIONS_MOST)
		return;
	h->versions = mem_reserve(h->versions, &h->cap, h->nversions + 1, sizeof *h->versions);
	h->versions[h->nversions++] = mark;
}

static bool in_column(const struct hidden *h, struct bytes qualifier)
{
	return (h->column.present || h->one.present) &&
	       bytes_eq(buf_bytes(&h->qualifier), qualifier);
}

static void enter_column(struct hidden *h, struct bytes qualifier)
{
	if (in_column(h, qualifier))
		return;
	forget_column(h);
	h->qualifier.len = 0;
	buf_append(&h->qualifier, qualifier.ptr, qualifier.len);
}

static void take_marker(struct hidden *h, const struct row_cell *c)
{
	struct hiding_mark mark = {true, c->cell.ts, c->seq};

	switch (c->cell.type) {
	case CELL_DELETE_FAMILY: h->family = h->family.present ? h->family : mark; break;
	case CELL_DELETE_FAMILY_VERSION: add_version(h, mark); break;
	case CELL_DELETE_COLUMN:
		enter_column(h, c->cell.qualifier);
		h->column = h->column.present ? h->column : mark;
		break;
	default: enter_column(h, c->cell.qualifier); h->one = mark;
	}
}

static int by_falling_ts(const void *pa, const void *pb)
{
	const struct hiding_mark *a = pa, *b = pb;

	return (a->ts < b->ts) - (a->ts > b->ts);
}

/* Return the marker that hides the Put, or NULL. */
static const struct hiding_mark *marker_of(const struct hidden *h, const struct cell *put)
{
	const struct hiding_mark at = {.ts = put->ts};

	if (h->family.present && put->ts <= h->family.ts)
		return &h->family;
	if (in_column(h, put->qualifier)) {
		if (h->column.present && put->ts <= h->column.ts)
			return &h->column;
		if (h->one.present && put->ts == h->one.ts)
			return &h->one;
	}
	return h->nversions
		       ? bsearch(&at, h->versions, h->nversions, sizeof *h->versions, by_falling_ts)
		       : NULL;
}

/*
 * Keep the event as an example. An event that comes after its marker in the input is the better
 * example, because its loss is probably not intended.
 */
static void note(struct cut_result *out, struct bytes row, uint64_t lost, uint64_t kept)
{
	for (size_t i = 0; i < CUT_EXAMPLES; i++) {
		struct cut_collision *e = &out->hidden[i];

		if (e->found && (lost < kept || e->lost > e->kept))
			continue;
		e->row.len = 0;
		buf_append(&e->row, row.ptr, row.len);
		e->found = true;
		e->lost = lost;
		e->kept = kept;
		return;
	}
}

void hidden_take(struct hidden *h, const struct row_cell *c, struct cut_result *out)
{
	if (!h->in_family || h->number != c->family)
		hidden_reset(h);
	h->in_family = true;
	h->number = c->family;
	if (c->cell.type != CELL_PUT) {
		take_marker(h, c);
		return;
	}
	const struct hiding_mark *by = marker_of(h, &c->cell);
	if (!by)
		return;
	out->cells_hidden++;
	note(out, c->cell.row, c->seq, by->seq);
}
