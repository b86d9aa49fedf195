/* scan_steps.c - steps that a scan and its filters share (scan_state.h) */
#include "scan_state.h"

int scan_skip_column(struct query_scan *s, struct store *store, const struct cell *c,
		     struct error *err)
{
	/* delete markers of the family sort among the cells of the empty column */
	if (c->qualifier.len == 0)
		return store_step(store, err);
	s->column.len = 0;
	s->has_column = false;
	if (!buf_try_append(&s->column, c->qualifier.ptr, c->qualifier.len))
		return error_memory(err, c->qualifier.len, "a qualifier");
	int rc = 0;
	while (rc == RC_OK && bytes_eq(c->row, buf_bytes(&s->row)) &&
	       bytes_eq(c->qualifier, buf_bytes(&s->column))) {
		rc = store_step(store, err);
		if (rc == RC_OK)
			rc = store_peek(store, &c, err);
	}
	return rc == RC_END ? 0 : rc;
}

bool scan_within_limits(struct query_scan *s, struct family_scan *f)
{
	if (f->skipped < s->q.family_offset) {
		f->skipped++;
		return false;
	}
	if (s->q.family_limit && f->taken == s->q.family_limit) {
		f->ended = true;
		return false;
	}
	f->taken++;
	return true;
}
