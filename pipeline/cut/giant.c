/*
 * giant.c - records of one row come newest first, and those of one timestamp (a version) in input
 * order.  HBase wants all versions of the first column before the second.  So each column is
 * a pass of its own over the row, and within a version only the winning value is kept.  A pass
 * that stores nothing counts the events: an event is shadowed when all its cells are, and at most
 * one event a column can be alive in a version, so counting needs one slot a column.
 */
#include "giant.h"

#include "gather.h"
#include "mem.h"

/* One version: for each column the winner so far. */
struct version {
	struct cell cell;   /* value borrows from value */
	struct buf value;
	bool present;
	uint64_t owner;     /* seq of the winner's event */
};

struct giant {
	const struct cut_table *t;
	struct version *columns; /* [job_table.ncells] */
	size_t ncolumns;
	struct cell *cells;      /* scratch for row_cells */
	struct cut_result *out;  /* NULL in the passes that store */
};

static size_t cells_owned(const struct giant *g, uint64_t owner)
{
	size_t n = 0;
	for (size_t i = 0; i < g->ncolumns; i++)
		n += g->columns[i].present && g->columns[i].owner == owner;
	return n;
}

static void keep(struct version *v, const struct cell *c)
{
	v->value.len = 0;
	buf_append(&v->value, c->value.ptr, c->value.len);
	v->cell = *c;
	v->cell.value = buf_bytes(&v->value);
	v->present = true;
	v->owner = c->seq;
}

/* Take one event's cells into the version; only = NULL or the one column that matters. */
static int version_add(struct giant *g, const struct record *r, const size_t *only, struct error *err)
{
	size_t n = row_cells(g->t->plan, g->t->index, r, g->cells), kept = 0;
	for (size_t i = 0; i < n; i++) {
		const struct cell *c = &g->cells[i];
		struct version *v = &g->columns[c->column];
		if (only && c->column != *only)
			continue;
		if (v->present && g->t->table->duplicates == DUPLICATES_ERROR)
			return duplicate_error(g->t, &v->cell, c, err);
		if (g->out && v->present)
			g->out->cells_deduplicated++;
		if (v->present && g->t->table->duplicates == DUPLICATES_FIRST)
			continue;
		if (g->out && v->present && cells_owned(g, v->owner) == 1) {
			g->out->deduplicated++;
			g->out->loaded--;
		}
		keep(v, c);
		kept++;
	}
	if (g->out && kept)
		g->out->loaded++;
	else if (g->out)
		g->out->deduplicated++;
	return RC_OK;
}

static void version_clear(struct giant *g)
{
	for (size_t i = 0; i < g->ncolumns; i++)
		g->columns[i].present = false;
}

/* One pass; calls emit for column *only, or counts when only is NULL. */
static int pass(struct giant *g, struct bytes key, const size_t *only,
		int (*emit)(void *ctx, const struct cell *c, struct error *err), void *ctx,
		struct error *err)
{
	struct buf end = {0};
	buf_append(&end, key.ptr, key.len);
	buf_put(&end, 0);
	struct record_iter it;
	int rc = g->t->reopen(g->t->reopen_ctx, key, buf_bytes(&end), &it, err);
	buf_release(&end);
	if (rc)
		return rc;
	size_t minor_bytes = row_minor_bytes(g->t->plan, g->t->index);
	uint8_t minor[8] = {0};
	struct version *v = only ? &g->columns[*only] : NULL;
	struct record r;
	version_clear(g);
	while ((rc = it.next(it.self, &r, err)) == RC_OK) {
		if (minor_bytes && memcmp(minor, r.minor, minor_bytes) != 0) {
			memcpy(minor, r.minor, minor_bytes);
			if (v && v->present && (rc = emit(ctx, &v->cell, err)) != RC_OK)
				break;
			version_clear(g);
		}
		/* the row of a kept cell must outlive the record: the caller's key is the same bytes */
		r.key = key;
		if ((rc = version_add(g, &r, only, err)) != RC_OK)
			break;
	}
	it.close(it.self);
	if (rc == RC_END)
		rc = v && v->present ? emit(ctx, &v->cell, err) : RC_OK;
	return rc;
}

/* Columns of constant qualifiers in file order: the order row_cells gives them in. */
static size_t *columns_in_order(const struct job_table *t)
{
	size_t *order = mem_alloc(t->ncells * sizeof *order);
	struct buf a = {0}, b = {0};
	for (size_t i = 0; i < t->ncells; i++) {
		size_t k = i;
		for (; k > 0; k--) {
			const struct cell_spec *x = &t->cells[order[k - 1]], *y = &t->cells[i];
			a.len = b.len = 0;
			for (size_t p = 0; p < x->nqualifier; p++)
				buf_append(&a, x->qualifier[p].constant.ptr, x->qualifier[p].constant.len);
			for (size_t p = 0; p < y->nqualifier; p++)
				buf_append(&b, y->qualifier[p].constant.ptr, y->qualifier[p].constant.len);
			if (x->family < y->family ||
			    (x->family == y->family && bytes_cmp(buf_bytes(&a), buf_bytes(&b)) < 0))
				break;
			order[k] = order[k - 1];
		}
		order[k] = i;
	}
	buf_release(&a);
	buf_release(&b);
	return order;
}

int giant_row(const struct cut_table *t, struct bytes key,
	      int (*emit)(void *ctx, const struct cell *c, struct error *err), void *ctx,
	      struct cut_result *out, struct error *err)
{
	struct giant g = {.t = t, .ncolumns = t->table->ncells, .out = out};
	g.columns = mem_calloc(g.ncolumns, sizeof *g.columns);
	g.cells = mem_alloc(row_max_cells(t->plan, t->index) * sizeof *g.cells);
	size_t *order = columns_in_order(t->table);
	int rc = pass(&g, key, NULL, NULL, NULL, err);
	g.out = NULL;
	for (size_t i = 0; rc == RC_OK && i < g.ncolumns; i++)
		rc = pass(&g, key, &order[i], emit, ctx, err);
	for (size_t i = 0; i < g.ncolumns; i++)
		buf_release(&g.columns[i].value);
	mem_free(order);
	mem_free(g.columns);
	mem_free(g.cells);
	return rc;
}
