/*
 * rekey_regions.c - write the cells of a region, which are sorted by new row keys
 *
 * The cells of an old row come in the order of the new row, too. If several old rows become one row,
 * their cells are gathered and sorted. Of equal cells, the first one is written. It is the newest one of
 * an old row, and that of the first old row.
 */
#include "rekey.h"

#include <stdlib.h>

#include "read/side.h"

/* The new row that is written. */
struct rekeyed_row {
	struct rewrite *r;
	struct region_writer *w;
	struct buf row, old_row; /* the last row, and the first of its old rows */
	bool begun, streams;	 /* cells were written, because the row is too large to gather */
	size_t old_rows;
	struct rekeyed_cell *cells; /* the gathered cells */
	size_t ncells;
	uint64_t bytes;
	struct arena arena; /* has the gathered cells */
	struct last_cell {  /* the last written cell of the row; `type` 0 means none */
		size_t family;
		struct buf qualifier;
		int64_t ts;
		uint8_t type;
	} last;
	uint64_t dropped;
};

static bool is_again(const struct last_cell *l, const struct rekeyed_cell *c)
{
	return l->type == c->cell.type && l->ts == c->cell.ts && l->family == c->family &&
	       bytes_eq(buf_bytes(&l->qualifier), c->cell.qualifier);
}

/* Write a cell, unless it is equal to the last one. */
static int put_cell(struct rekeyed_row *g, const struct rekeyed_cell *c, struct error *err)
{
	struct last_cell *l = &g->last;

	if (is_again(l, c)) {
		g->dropped++;
		return RC_OK;
	}
	l->family = c->family;
	l->ts = c->cell.ts;
	l->type = c->cell.type;
	l->qualifier.len = 0;
	buf_append(&l->qualifier, c->cell.qualifier.ptr, c->cell.qualifier.len);
	return region_writer_add(g->w, c->family, &c->cell, err);
}

/* The order of a file. Equal cells are in the order of their old rows. */
static int by_cell(const void *a, const void *b)
{
	const struct rekeyed_cell *x = a, *y = b;
	int c = (x->family > y->family) - (x->family < y->family);

	c = c ? c : cell_in_row_cmp(&x->cell, &y->cell);
	return c ? c : (x->seq > y->seq) - (x->seq < y->seq);
}

static int write_gathered(struct rekeyed_row *g, struct error *err)
{
	int rc = RC_OK;

	if (g->old_rows > 1)
		qsort(g->cells, g->ncells, sizeof *g->cells, by_cell);
	for (size_t i = 0; rc == RC_OK && i < g->ncells; i++)
		rc = put_cell(g, &g->cells[i], err);
	g->ncells = 0;
	g->bytes = 0;
	arena_release(&g->arena);
	return rc;
}

static int refuse_join(const struct rekeyed_row *g, const struct rekeyed_cell *c, struct error *err)
{
	struct buf old[3] = {{0}};

	bytes_escape(&old[0], buf_bytes(&g->old_row));
	bytes_escape(&old[1], c->old_row);
	bytes_escape(&old[2], c->cell.row);
	error_set(err, RC_DATA,
		  "found rows %.*s and %.*s, which both become row %.*s, expected one row; add the "
		  "missing field to the new row key, or join such rows with --join-rows",
		  (int)old[0].len, (const char *)old[0].ptr, (int)old[1].len,
		  (const char *)old[1].ptr, (int)old[2].len, (const char *)old[2].ptr);
	for (size_t i = 0; i < 3; i++)
		buf_release(&old[i]);
	return err->code;
}

static int refuse_large(const struct rekeyed_row *g, struct error *err)
{
	struct buf row = {0};

	bytes_escape(&row, buf_bytes(&g->row));
	error_set(err, RC_LIMIT,
		  "new row %.*s: found several old rows with more than %llu bytes, expected joined "
		  "rows that fit in memory; add memory with --memory SIZE",
		  (int)row.len, (const char *)row.ptr,
		  (unsigned long long)g->r->rekey->memory.gather_bytes);
	buf_release(&row);
	return err->code;
}

static int begin_row(struct rekeyed_row *g, const struct rekeyed_cell *c, struct error *err)
{
	int rc = write_gathered(g, err);

	g->w->r->out->regions[g->w->region].rows++;
	g->row.len = g->old_row.len = 0;
	buf_append(&g->row, c->cell.row.ptr, c->cell.row.len);
	buf_append(&g->old_row, c->old_row.ptr, c->old_row.len);
	g->begun = true;
	g->last.type = 0;
	g->streams = !g->r->opt->rekey->join_rows;
	g->old_rows = 1;
	return rc;
}

/* Keep a copy of the cell. A single old row that is too large needs no sorting, and is written. */
static int gather(struct rekeyed_row *g, const struct rekeyed_cell *c, struct error *err)
{
	struct rekeyed_cell copy = *c;

	if (g->bytes > g->r->rekey->memory.gather_bytes) {
		if (g->old_rows > 1)
			return refuse_large(g, err);
		g->streams = true;
		int rc = write_gathered(g, err);
		return rc ? rc : put_cell(g, c, err);
	}
	copy.cell = side_copy(&g->arena, &c->cell);
	g->bytes += sizeof copy + c->cell.row.len + c->cell.family.len + c->cell.qualifier.len +
		    c->cell.value.len + c->cell.tags.len;
	g->cells = mem_grow(g->cells, g->ncells, sizeof *g->cells);
	g->cells[g->ncells++] = copy;
	return RC_OK;
}

static int take_cell(struct rekeyed_row *g, const struct rekeyed_cell *c, struct error *err)
{
	int rc = RC_OK;

	if (!g->begun || !bytes_eq(buf_bytes(&g->row), c->cell.row)) {
		rc = begin_row(g, c, err);
	} else if (c->first) {
		if (g->streams)
			return g->r->opt->rekey->join_rows ? refuse_large(g, err)
							   : refuse_join(g, c, err);
		g->old_rows++;
	}
	if (rc)
		return rc;
	return g->streams ? put_cell(g, c, err) : gather(g, c, err);
}

static int write_rows(struct rekeyed_row *g, struct record_iter *cells, struct error *err)
{
	struct record rec;
	int rc;

	while ((rc = cells->next(cells->self, &rec, err)) == RC_OK) {
		const struct rekeyed_cell c = rekeyed_unpack(g->r, &rec);

		rc = take_cell(g, &c, err);
		if (rc)
			return rc;
	}
	return rc == RC_END ? write_gathered(g, err) : rc;
}

static int write_region(struct rewrite *r, struct region_writer *w, struct error *err)
{
	const struct manifest_region *of = &r->out->regions[w->region];
	struct rekeyed_row g = {.r = r, .w = w};
	struct record_iter cells;
	int rc = sorter_range(r->rekey->cells, of->start, of->end, &cells, err);

	if (rc)
		return rc;
	rc = write_rows(&g, &cells, err);
	cells.close(cells.self);
	r->dropped += g.dropped;
	buf_release(&g.row);
	buf_release(&g.old_row);
	buf_release(&g.last.qualifier);
	mem_free(g.cells);
	arena_release(&g.arena);
	return rc;
}

int rekey_regions(struct rewrite *r, struct error *err)
{
	return rewrite_run_regions(r, "writing", write_region, err);
}
