/*
 * undisturbed.c - read whole rows that are in only one file and contain only Puts (the quick path)
 *
 * Most rows of most scans are such rows. The quick path needs only two of the matcher's steps,
 * which count versions and skip expired cells. The reader already knows which cells share a row and
 * a column.
 */
#include "scan_state.h"

void quick_init(struct query_scan *s)
{
	const struct query *q = &s->q;
	struct family_scan *only = NULL;
	size_t n = 0;

	for (size_t i = 0; i < s->nfamilies; i++) {
		if (s->families[i].left_out)
			continue;
		only = &s->families[i];
		n++;
	}
	if (n != 1 || only->store.nwanted || only->store.family->min_versions || q->reversed ||
	    q->raw || q->get || q->filter || q->judge || q->from_ms || q->to_ms || q->max_columns ||
	    q->family_limit || q->family_offset)
		return;
	s->quick = (struct scan_quick){.family = only,
				       .most = only->versions,
				       .oldest = matcher_oldest(only->store.family, q)};
}

bool quick_enter(struct query_scan *s)
{
	struct scan_quick *k = &s->quick;

	if (!k->family)
		return false;
	const struct store *store = &k->family->store;
	size_t n = store_alone(store, s->q.ranges[s->range].stop);
	if (n == 0)
		return false;
	const struct store_cursor *c = store->heap.items[0];
	k->begin = k->cell = c->batch->cells + c->at;
	k->end = k->cell + n;
	k->step = c->batch->step + c->at;
	k->count = 0;
	k->row_pending = true;
	return true;
}

/* Return true if the query returns the cell. */
static inline bool takes(struct scan_quick *k, const struct cell *c, uint8_t step, bool first)
{
	bool same = step == HFILE_SAME_COLUMN && !first;

	if (step == HFILE_NEW_ROW)
		k->row_pending = true;
	if (same && k->count && c->ts == k->last_ts)
		return false;
	k->count = same ? k->count : 0;
	if (c->ts < k->oldest || ++k->count > k->most)
		return false;
	k->last_ts = c->ts;
	return true;
}

int quick_next(struct query_scan *s, struct cell *out, struct error *err)
{
	struct scan_quick *k = &s->quick;

	while (k->cell < k->end) {
		const struct cell *c = k->cell++;

		if (!takes(k, c, *k->step++, c == k->begin))
			continue;
		if (k->row_pending && s->q.limit && s->rows == s->q.limit)
			return RC_END;
		*out = *c;
		s->new_row = k->row_pending;
		s->rows += k->row_pending;
		k->row_pending = false;
		return 0;
	}
	size_t n = (size_t)(k->end - k->begin);
	k->end = NULL;
	int rc = store_skip(&k->family->store, n, err);
	return rc < 0 ? rc : RC_END;
}

void quick_count(struct query_scan *s, uint64_t *rows, uint64_t *cells)
{
	struct scan_quick k = s->quick;
	uint64_t nrows = 0, ncells = 0;

	for (; k.cell < k.end; k.cell++) {
		if (!takes(&k, k.cell, *k.step++, k.cell == k.begin))
			continue;
		ncells++;
		nrows += k.row_pending;
		k.row_pending = false;
	}
	s->quick = k;
	s->rows += nrows;
	*rows += nrows;
	*cells += ncells;
}
