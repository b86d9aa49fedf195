/*
 * undisturbed.c - read whole rows whose families are each in only one file and contain only Puts (the
 * quick path)
 *
 * Most rows of most scans are such rows. The quick path needs only two of the matcher's steps,
 * which count versions and skip expired cells. The reader already knows which cells share a row and
 * a column. Each family has a lane of whole rows. The quick path ends when the first lane is empty.
 */
#include "scan_state.h"

static bool possible(const struct query *q)
{
	return !(q->reversed || q->raw || q->get || q->filter || q->judge || q->from_ms ||
		 q->to_ms || q->nspans || q->max_columns || q->family_limit || q->family_offset);
}

void quick_init(struct query_scan *s)
{
	size_t n = 0;

	for (size_t i = 0; possible(&s->q) && i < s->nfamilies; i++) {
		struct family_scan *f = &s->families[i];

		if (f->left_out)
			continue;
		if (n == QUICK_LANES || f->store.nwanted || f->store.family->min_versions)
			return;
		s->quick.lanes[n++] =
			(struct quick_lane){.family = f,
					    .most = f->versions,
					    .oldest = matcher_oldest(f->store.family, &s->q)};
	}
	s->quick.nlanes = n;
}

/* Set *has to false if the family has no more cells. Return false if its row needs the matcher. */
static bool fill(struct quick_lane *l, struct bytes stop, bool *has)
{
	const struct store *store = &l->family->store;
	size_t n = store_alone(store, stop);

	*has = store->heap.n > 0;
	if (n == 0) {
		l->begin = l->cell = l->end = NULL;
		return !*has;
	}
	const struct store_cursor *c = store->heap.items[0];
	l->begin = l->cell = c->batch->cells + c->at;
	l->end = l->cell + n;
	l->step = c->batch->step + c->at;
	l->count = 0;
	l->in_row = false;
	return true;
}

bool quick_enter(struct query_scan *s)
{
	struct scan_quick *k = &s->quick;
	bool any = false, has;

	for (size_t i = 0; i < k->nlanes; i++) {
		if (!fill(&k->lanes[i], s->q.ranges[s->range].stop, &has))
			return false;
		any |= has;
	}
	k->open = any;
	k->lane = k->nlanes;
	return any;
}

/* Begin the next row, in all lanes that have it. Return false if a lane has no more whole rows. */
static inline bool begin_row(struct scan_quick *k)
{
	const struct cell *least = NULL;

	for (size_t i = 0; i < k->nlanes; i++) {
		const struct quick_lane *l = &k->lanes[i];

		if (!l->begin)
			continue;
		if (l->cell == l->end)
			return false;
		if (!least || bytes_cmp(l->cell->row, least->row) < 0)
			least = l->cell;
	}
	k->lane = k->nlanes;
	for (size_t i = k->nlanes; i-- > 0;) {
		struct quick_lane *l = &k->lanes[i];

		l->in_row = l->begin && (l->cell == least || bytes_eq(l->cell->row, least->row));
		if (l->in_row)
			k->lane = i;
	}
	k->row_pending = true;
	return true;
}

/* Go to the next cell of the row. Return false if the lane's part of the row has ended. */
static inline bool go_on(struct quick_lane *l)
{
	l->cell++;
	l->step++;
	l->in_row = l->cell < l->end && *l->step != HFILE_NEW_ROW;
	return l->in_row;
}

/* Return true if the query returns the lane's cell. */
static inline bool takes(struct quick_lane *l)
{
	const struct cell *c = l->cell;
	bool same = *l->step == HFILE_SAME_COLUMN && c != l->begin;

	if (same && l->count && c->ts == l->last_ts)
		return false;
	l->count = same ? l->count : 0;
	if (c->ts < l->oldest || ++l->count > l->most)
		return false;
	l->last_ts = c->ts;
	return true;
}

static int leave(struct query_scan *s, struct error *err)
{
	struct scan_quick *k = &s->quick;
	int rc = RC_OK;

	k->open = false;
	for (size_t i = 0; rc == RC_OK && i < k->nlanes; i++) {
		struct quick_lane *l = &k->lanes[i];

		if (l->cell > l->begin)
			rc = store_skip(&l->family->store, (size_t)(l->cell - l->begin), err);
	}
	return rc < 0 ? rc : RC_END;
}

int quick_next(struct query_scan *s, struct cell *out, struct error *err)
{
	struct scan_quick *k = &s->quick;

	for (;;) {
		while (k->lane < k->nlanes) {
			struct quick_lane *l = &k->lanes[k->lane];
			const struct cell *c = l->cell;
			bool taken = l->in_row && takes(l);

			if (taken && k->row_pending && s->q.limit && s->rows == s->q.limit)
				return RC_END;
			if (!l->in_row || !go_on(l))
				k->lane++;
			if (!taken)
				continue;
			*out = *c;
			s->new_row = k->row_pending;
			s->rows += k->row_pending;
			k->row_pending = false;
			return 0;
		}
		if (!begin_row(k))
			return leave(s, err);
	}
}

/* Count the rest of the lane's part of the row, and with `all` also its later rows. */
static void count_lane(struct scan_quick *k, struct quick_lane *lane, bool all, uint64_t *rows,
		       uint64_t *cells)
{
	struct quick_lane l = *lane;
	bool pending = k->row_pending;

	for (; l.in_row; l.in_row = go_on(&l) || (all && l.cell < l.end)) {
		pending |= all && *l.step == HFILE_NEW_ROW;
		if (!takes(&l))
			continue;
		++*cells;
		*rows += pending;
		pending = false;
	}
	k->row_pending = pending;
	*lane = l;
}

void quick_count(struct query_scan *s, uint64_t *rows, uint64_t *cells)
{
	struct scan_quick *k = &s->quick;
	uint64_t nrows = 0, ncells = 0;

	do
		for (; k->lane < k->nlanes; k->lane++)
			count_lane(k, &k->lanes[k->lane], k->nlanes == 1, &nrows, &ncells);
	while (begin_row(k));
	s->rows += nrows;
	*rows += nrows;
	*cells += ncells;
}
