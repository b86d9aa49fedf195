/* seek_column.c - skip the columns of a wide row that the query does not want */
#include "scan_state.h"

/* Return the index of the first span that ends after the qualifier. */
static size_t find_span(const struct family_scan *f, struct bytes qualifier)
{
	size_t low = 0, high = f->nspans;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct bytes stop = f->spans[middle].stop;

		if (stop.len && bytes_cmp(stop, qualifier) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Return the index of the first named qualifier that is not less than this qualifier. */
static size_t find_name(const struct store *s, struct bytes qualifier)
{
	size_t low = 0, high = s->nwanted;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (bytes_cmp(s->wanted[middle], qualifier) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Find the first qualifier, from this qualifier on, that the query may want. Return false if there
 * is no such qualifier.
 */
static bool next_column(const struct family_scan *f, struct bytes qualifier, struct bytes *out)
{
	size_t i = f->nspans ? find_span(f, qualifier) : find_name(&f->store, qualifier);

	if (i == (f->nspans ? f->nspans : f->store.nwanted))
		return false;
	*out = f->nspans ? f->spans[i].start : f->store.wanted[i];
	if (bytes_cmp(*out, qualifier) < 0)
		*out = qualifier;
	return true;
}

/* Go to the first cell of the store after the row. */
static int leave_row(struct query_scan *s, struct family_scan *f, struct error *err)
{
	struct bytes none = {NULL, 0};

	f->finished = s->q.get; /* a get reads no other row */
	if (f->finished)
		return RC_OK;
	s->behind.len = 0;
	if (!buf_try_append(&s->behind, s->row.ptr, s->row.len) ||
	    !buf_try_append(&s->behind, "", 1))
		return error_memory(err, s->row.len, "a row key");
	struct cell key = cell_first(buf_bytes(&s->behind), none, none);
	return store_seek(&f->store, &key, err);
}

int scan_seek_column(struct query_scan *s, struct family_scan *f, const struct cell *c, bool *moved,
		     struct error *err)
{
	struct bytes to;

	*moved = f->nspans || f->store.nwanted;
	if (!*moved)
		return RC_OK;
	if (f->ended)
		return leave_row(s, f, err);
	/* markers of the family have the empty qualifier */
	*moved = c->qualifier.len > 0 || (f->nspans && c->type == CELL_PUT);
	if (!*moved)
		return RC_OK;
	if (!next_column(f, c->qualifier, &to))
		return c->qualifier.len ? leave_row(s, f, err) : store_step(&f->store, err);
	if (bytes_eq(to, c->qualifier)) {
		*moved = false;
		return RC_OK;
	}
	if (c->qualifier.len == 0) /* a marker of the family may follow */
		return store_step(&f->store, err);
	struct cell key = cell_first(buf_bytes(&s->row), f->store.family->name, to);
	return store_seek(&f->store, &key, err);
}
