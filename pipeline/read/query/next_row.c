/* next_row.c - find the next row of a scan */
#include "scan_state.h"

static int set_row(struct query_scan *s, struct bytes row, struct error *err)
{
	s->row.len = 0;
	if (!buf_try_append(&s->row, row.ptr, row.len))
		return error_memory(err, row.len, "a row key");
	return 0;
}

/* Find the smallest current row of all stores. Return RC_END if no store has a row. */
static int least_row(struct query_scan *s, struct bytes *row, struct error *err)
{
	const struct cell *least = NULL, *c;

	for (size_t i = 0; i < s->nfamilies; i++) {
		struct family_scan *f = &s->families[i];

		if (f->left_out || f->finished)
			continue;
		if (!s->started)
			store_start(&f->store);
		int rc = store_peek(&f->store, &c, err);
		if (rc < 0)
			return rc;
		if (rc == RC_OK && (!least || bytes_cmp(c->row, least->row) < 0))
			least = c;
	}
	s->started = true;
	if (!least)
		return RC_END;
	*row = least->row;
	return 0;
}

static bool is_behind(const struct query_range *r, struct bytes row)
{
	return r->stop.len && bytes_cmp(row, r->stop) >= 0;
}

static int next_forward(struct query_scan *s, struct error *err)
{
	for (;;) {
		struct bytes row;
		int rc = least_row(s, &row, err);

		if (rc)
			return rc;
		const struct query_range *r = &s->q.ranges[s->range];
		if (is_behind(r, row)) {
			s->range = store_find_range(&s->q, row);
			if (s->range == s->q.nranges)
				return RC_END;
			r = &s->q.ranges[s->range];
		}
		if (bytes_cmp(row, r->start) >= 0)
			return set_row(s, row, err);
		for (size_t i = 0; i < s->nfamilies; i++)
			if (!s->families[i].left_out && !s->families[i].finished)
				store_go_to(&s->families[i].store, r->start);
	}
}

/* Find the greatest row before `bound`. Return RC_END if there is no such row. */
static int row_before(struct query_scan *s, struct bytes bound, struct buf *row, struct error *err)
{
	const struct bytes none = {NULL, 0};
	struct cell key = cell_first(bound, none, none);
	int rc = 0;

	row->len = 0;
	for (size_t i = 0; rc == RC_OK && i < s->nfamilies; i++)
		if (!s->families[i].left_out && !s->families[i].finished)
			rc = store_row_before(&s->families[i].store, &key, row, err);
	return rc == RC_OK && row->len == 0 ? RC_END : rc;
}

/* Returns a bound after all rows of a range. */
static struct bytes bound_of(const struct query_scan *s, size_t range)
{
	struct bytes stop = s->q.ranges[range].stop;

	return stop.len ? stop : bytes_of(s->beyond, BEYOND_BYTES);
}

static int find_reversed(struct query_scan *s, struct buf *row, struct error *err)
{
	struct bytes bound = s->started ? buf_bytes(&s->row) : bound_of(s, s->range);

	for (;;) {
		int rc = row_before(s, bound, row, err);

		s->started = true;
		if (rc)
			return rc;
		while (bytes_cmp(buf_bytes(row), s->q.ranges[s->range].start) < 0) {
			if (s->range == 0)
				return RC_END;
			s->range--;
		}
		if (!is_behind(&s->q.ranges[s->range], buf_bytes(row)))
			return 0;
		bound = bound_of(s, s->range);
	}
}

static int next_reversed(struct query_scan *s, struct error *err)
{
	struct buf row = {0};
	int rc = find_reversed(s, &row, err);

	if (rc == RC_OK)
		rc = set_row(s, buf_bytes(&row), err);
	for (size_t i = 0; rc == RC_OK && i < s->nfamilies; i++)
		if (!s->families[i].left_out && !s->families[i].finished)
			store_at_row(&s->families[i].store, buf_bytes(&s->row));
	buf_release(&row);
	return rc;
}

static void enter_row(struct query_scan *s)
{
	s->in_row = true;
	s->emitted = s->has_column = false;
	s->columns = 0;
	s->family = 0;
	for (size_t i = 0; i < s->nfamilies; i++) {
		struct family_scan *f = &s->families[i];

		matcher_row(f->matcher);
		f->taken = f->skipped = 0;
		f->ended = false;
	}
}

int scan_next_row(struct query_scan *s, struct error *err)
{
	if (s->q.nranges == 0 || (s->q.limit && s->rows == s->q.limit))
		return RC_END;
	int rc = s->q.reversed ? next_reversed(s, err) : next_forward(s, err);
	if (rc == RC_OK)
		enter_row(s);
	return rc;
}
