/* side.c - read the cells of one table of a comparison (read/side.h) */
#include "read/side.h"

int side_open(struct side_reader *r, const struct diff_side *side, const struct listener *listener,
	      const struct query *q, struct error *err)
{
	const struct published *p = side->files;
	const struct live_options live = {.hbase = side->hbase,
					  .table = side->table,
					  .families = p->families,
					  .nfamilies = p->nfamilies,
					  .query = q,
					  .listener = *listener};

	return side->hbase ? live_open(&r->live, &live, err)
			   : query_open(&r->files, p->families, p->nfamilies, p->files, p->nfiles,
					q, err);
}

bool side_starts_row(const struct side_reader *r)
{
	return r->live ? live_starts_row(r->live) : query_starts_row(r->files);
}

int side_next(struct side_reader *r, struct error *err)
{
	int rc = r->live ? live_next(r->live, &r->cell, err) : query_next(r->files, &r->cell, err);

	r->more = rc == RC_OK;
	if (r->more) {
		r->cells++;
		r->rows += side_starts_row(r);
	}
	return rc < 0 ? rc : RC_OK;
}

void side_close(struct side_reader *r)
{
	query_close(r->files);
	live_close(r->live);
}

struct cell side_copy(struct arena *a, const struct cell *c)
{
	struct cell copy = *c;

	copy.row = arena_bytes(a, c->row);
	copy.family = arena_bytes(a, c->family);
	copy.qualifier = arena_bytes(a, c->qualifier);
	copy.value = arena_bytes(a, c->value);
	copy.tags = arena_bytes(a, c->tags);
	return copy;
}
