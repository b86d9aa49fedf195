/*
 * whole_row.c - gather a whole row for filters and judges, which need more than one cell
 *
 * The code follows RegionScannerImpl.nextInternal, StoreScanner.next and
 * UserScanQueryMatcher.mergeFilterResponse (README.md 6).
 */
#include "mem.h"
#include "scan_state.h"

void gathered_release(struct scan_gathered *g)
{
	mem_free(g->cells);
	buf_release(&g->bytes);
}

static bool put_bytes(struct scan_gathered *g, struct bytes *b)
{
	bool fits = buf_try_append(&g->bytes, b->ptr, b->len);

	b->ptr = NULL; /* the bytes may move, so point_to_bytes sets this pointer later */
	return fits;
}

static int add_cell(struct scan_gathered *g, const struct query_scan *s, size_t family,
		    const struct cell *c, struct error *err)
{
	struct cell *p = mem_try_reserve(g->cells, &g->cap, g->n + 1, sizeof *p);

	if (!p)
		return error_memory(err, (g->n + 1) * sizeof *p, "a row");
	g->cells = p;
	struct cell *to = &g->cells[g->n++];
	*to = *c;
	to->row = buf_bytes(&s->row);
	to->family = s->families[family].store.family->name;
	if (!put_bytes(g, &to->qualifier) || !put_bytes(g, &to->value) || !put_bytes(g, &to->tags))
		return error_memory(err, c->value.len, "a row");
	return 0;
}

/* Set the pointers of the cells. Call this function when the bytes no longer move. */
static void point_to_bytes(struct scan_gathered *g)
{
	size_t at = 0;

	for (size_t i = 0; i < g->n; i++) {
		struct bytes *const part[] = {&g->cells[i].qualifier, &g->cells[i].value,
					      &g->cells[i].tags};

		for (size_t k = 0; k < 3; k++) {
			part[k]->ptr = part[k]->len ? g->bytes.ptr + at : NULL;
			at += part[k]->len;
		}
	}
}

/* --- the cells of a family --- */

/* Counts the versions of a column that the filter included. */
struct counter {
	struct buf column; /* column of the last included cell */
	bool any;
	uint32_t n;
};

/* Go to the place of a hint in this row, or to the end of the row. */
static int skip_to(struct query_scan *s, struct family_scan *f, const struct filter_hint *h,
		   struct error *err)
{
	const struct cell *c;
	int rc = 0;

	while (rc == RC_OK && (rc = store_peek(&f->store, &c, err)) == 0 &&
	       bytes_eq(c->row, buf_bytes(&s->row)) && !filter_hint_reached(h, c))
		rc = store_step(&f->store, err);
	return rc == RC_END ? 0 : rc;
}

/*
 * Follow a hint. If its place is not after the cell, go one cell forward. In a reversed scan,
 * always go one cell forward.
 */
static int follow_hint(struct query_scan *s, struct family_scan *f, const struct cell *c,
		       struct error *err)
{
	struct filter_hint h;
	bool any = !s->q.reversed && filter_hint(s->q.filter, c, &h);

	if (!any || filter_hint_reached(&h, c))
		return store_step(&f->store, err);
	/*
	 * copy the column, because it may point into the cell, which the store's next step
	 * overwrites
	 */
	s->column.len = 0;
	if (!buf_try_append(&s->column, h.qualifier.ptr, h.qualifier.len))
		return error_memory(err, h.qualifier.len, "a qualifier");
	h.qualifier = buf_bytes(&s->column);
	return skip_to(s, f, &h, err);
}

/* Return true if the cell exceeds the versions of its column. */
static bool is_beyond(struct counter *k, const struct family_scan *f, const struct cell *c,
		      struct error *err, int *rc)
{
	if (!k->any || !bytes_eq(c->qualifier, buf_bytes(&k->column))) {
		k->any = true;
		k->n = 0;
		k->column.len = 0;
		if (!buf_try_append(&k->column, c->qualifier.ptr, c->qualifier.len))
			*rc = error_memory(err, c->qualifier.len, "a qualifier");
	}
	return ++k->n > f->versions;
}

/* Apply the filter to a cell that the matcher took. Then make the step that the filter returns. */
static int ask_filter(struct query_scan *s, struct family_scan *f, size_t family,
		      const struct cell *c, struct counter *k, struct error *err)
{
	enum filter_code code = filter_cell(s->q.filter, c);
	uint8_t room[4];
	int rc = 0;

	if (code == CODE_HINT)
		return follow_hint(s, f, c, err);
	if (code_includes(code) && !is_beyond(k, f, c, err, &rc)) {
		if (rc == RC_OK && scan_within_limits(s, f)) {
			struct cell changed = *c;

			filter_change(s->q.filter, &changed, room);
			rc = add_cell(&s->gathered, s, family, &changed, err);
		}
	} else if (code_includes(code)) {
		code = code == CODE_INCLUDE_NEXT_ROW ? CODE_NEXT_ROW : CODE_NEXT_COLUMN;
	}
	if (rc)
		return rc;
	if (code == CODE_INCLUDE_NEXT_ROW || code == CODE_NEXT_ROW)
		f->ended = true;
	if (code != CODE_INCLUDE_NEXT_COLUMN && code != CODE_NEXT_COLUMN)
		return store_step(&f->store, err);
	matcher_next_column(f->matcher, c);
	return scan_skip_column(s, &f->store, c, err);
}

static int take_cell(struct query_scan *s, struct family_scan *f, size_t family,
		     const struct cell *c, struct counter *k, struct error *err)
{
	switch (f->ended ? VERDICT_NEXT_ROW : matcher_take(f->matcher, c)) {
	case VERDICT_NO_MEMORY: return error_memory(err, c->qualifier.len, "a scan");
	case VERDICT_NEXT_ROW: f->ended = true; break;
	case VERDICT_SKIP: break;
	case VERDICT_NEXT_COLUMN: return scan_skip_column(s, &f->store, c, err);
	case VERDICT_TAKE: {
		struct cell whole = *c;
		int rc = store_resolve(&f->store, &s->mobs, &whole, err);

		if (rc)
			return rc;
		if (s->q.filter)
			return ask_filter(s, f, family, &whole, k, err);
		rc = scan_within_limits(s, f) ? add_cell(&s->gathered, s, family, &whole, err) : 0;
		if (rc)
			return rc;
	}
	}
	return store_step(&f->store, err);
}

static int gather_family(struct query_scan *s, size_t family, struct error *err)
{
	struct family_scan *f = &s->families[family];
	struct counter k = {0};
	const struct cell *c;
	int rc;
	bool any = false;

	while ((rc = store_peek(&f->store, &c, err)) == 0) {
		bool here = bytes_eq(c->row, buf_bytes(&s->row));

		/* check this for every family with cells in the row, even after its last cell */
		if ((here || any) && s->q.filter && filter_all_remaining(s->q.filter))
			f->finished = true;
		if (!here || f->finished)
			break;
		any = true;
		bool moved;
		rc = scan_seek_column(s, f, c, &moved, err);
		if (rc == RC_OK && !moved)
			rc = take_cell(s, f, family, c, &k, err);
		if (rc < 0)
			break;
	}
	buf_release(&k.column);
	return rc < 0 ? rc : 0;
}

/* --- the row --- */

/* Remove the cells that the filter removes from the list. */
static void keep_cells(struct query_scan *s)
{
	struct scan_gathered *g = &s->gathered;
	size_t kept = 0;

	for (size_t i = 0; i < g->n; i++)
		if (filter_keeps(s->q.filter, &g->cells[i]))
			g->cells[kept++] = g->cells[i];
	g->n = kept;
}

/* After the judge, keep only as many versions as the query wants. */
static void cut_versions(struct query_scan *s)
{
	struct scan_gathered *g = &s->gathered;
	const struct family_scan *f = s->families;
	size_t kept = 0;
	uint32_t n = 0;
	struct cell last = {0};

	for (size_t i = 0; i < g->n; i++) {
		struct cell c = g->cells[i];
		bool same_family = i && c.family.ptr == last.family.ptr;

		while (f->store.family->name.ptr != c.family.ptr)
			f++;
		n = same_family && bytes_eq(c.qualifier, last.qualifier) ? n : 0;
		n += c.type == CELL_PUT;
		last = c;
		if (n <= f->versions)
			g->cells[kept++] = c;
	}
	g->n = kept;
}

static int judge_row(struct query_scan *s, struct error *err)
{
	int rc = s->q.judge->cells(s->q.judge->ctx, s->gathered.cells, &s->gathered.n, err);

	if (rc == RC_OK)
		cut_versions(s);
	return rc;
}

static int gather_families(struct query_scan *s, struct error *err)
{
	struct scan_gathered *g = &s->gathered;

	g->n = g->at = g->bytes.len = 0;
	for (size_t i = 0; i < s->nfamilies; i++) {
		if (s->families[i].left_out || s->families[i].finished)
			continue;
		int rc = gather_family(s, i, err);
		if (rc)
			return rc;
	}
	point_to_bytes(g);
	return 0;
}

/* Pass the cells of an excluded row to the filter, because filters may remember them. */
static int leave_row(struct query_scan *s, struct error *err)
{
	int rc = s->q.reversed ? 0 : gather_families(s, err);

	s->gathered.n = 0;
	return rc;
}

static int filter_gathered(struct query_scan *s, struct error *err)
{
	struct filter *f = s->q.filter;

	if (filter_row_key(f, buf_bytes(&s->row))) {
		if (filter_all_remaining(f))
			return RC_END;
		return leave_row(s, err);
	}
	int rc = gather_families(s, err);
	if (rc == RC_OK && filter_has_row(f))
		keep_cells(s);
	if (rc == RC_OK && s->gathered.n && filter_row(f))
		s->gathered.n = 0;
	return rc;
}

/* Skip a row that the judge excludes by its key. */
static int step_over(struct query_scan *s, struct error *err)
{
	const struct filter_hint next = {.next_row = true};

	s->gathered.n = s->gathered.at = 0;
	for (size_t i = 0; !s->q.reversed && i < s->nfamilies; i++) {
		struct family_scan *f = &s->families[i];
		int rc = f->left_out || f->finished ? 0 : skip_to(s, f, &next, err);

		if (rc)
			return rc;
	}
	return 0;
}

int scan_gather_row(struct query_scan *s, struct error *err)
{
	struct filter *f = s->q.filter;
	const struct query_judge *j = s->q.judge;

	if (f && filter_all_remaining(f))
		return RC_END;
	if (j && !j->row_key(j->ctx, buf_bytes(&s->row)))
		return step_over(s, err);
	int rc = f ? filter_gathered(s, err) : gather_families(s, err);
	if (f && rc >= 0 && filter_check(f, err))
		return RC_LIMIT;
	if (f && rc == RC_OK)
		filter_reset(f);
	if (j && rc == RC_OK && s->gathered.n)
		rc = judge_row(s, err);
	return rc;
}
