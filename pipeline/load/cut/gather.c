#include "gather.h"

#include <stdlib.h>

#include "mem.h"

void gather_reset(struct gather *g)
{
	g->bytes.len = 0;
	g->nrecords = 0;
	g->ncells = 0;
}

void gather_release(struct gather *g)
{
	buf_release(&g->bytes);
	mem_free(g->records);
	mem_free(g->cells);
	*g = (struct gather){0};
}

void gather_add(struct gather *g, const struct record *r, size_t secondary_bytes)
{
	g->records = mem_reserve(g->records, &g->cap, g->nrecords + 1, sizeof *g->records);
	struct gathered *e = &g->records[g->nrecords++];
	*e = (struct gathered){.key_len = r->key.len, .payload_len = r->payload.len, .seq = r->seq};
	e->key_at = g->bytes.len;
	buf_append(&g->bytes, r->key.ptr, r->key.len);
	e->minor_at = g->bytes.len;
	buf_append(&g->bytes, r->secondary, secondary_bytes);
	e->payload_at = g->bytes.len;
	buf_append(&g->bytes, r->payload.ptr, r->payload.len);
}

uint64_t gather_memory(const struct gather *g, uint64_t cells)
{
	/* qsort may need two pointers for each cell */
	uint64_t each = sizeof *g->cells + 2 * sizeof(void *);

	return g->bytes.len + g->nrecords * sizeof *g->records + cells * each;
}

/* Expand all records. After this call, their copies do not move. */
static void expand(struct gather *g, const struct cut_table *t)
{
	size_t most = row_max_cells(t->plan, t->index);
	struct row_cell *cells = mem_alloc(most * sizeof *cells);

	for (size_t i = 0; i < g->nrecords; i++) {
		struct gathered *e = &g->records[i];
		struct record r = {
			.key = bytes_of(g->bytes.ptr + e->key_at, e->key_len),
			.secondary = g->bytes.ptr + e->minor_at,
			.payload = bytes_of(g->bytes.ptr + e->payload_at, e->payload_len),
			.seq = e->seq,
		};
		size_t n = row_cells(t->plan, t->index, &r, cells);

		e->cells_left = (uint32_t)n;
		g->cells = mem_reserve(g->cells, &g->cells_cap, g->ncells + n, sizeof *g->cells);
		for (size_t c = 0; c < n; c++)
			g->cells[g->ncells++] = (struct gathered_cell){cells[c], i};
	}
	mem_free(cells);
}

/*
 * Compare cells by HBase's order, then by input order. Within one event, cells keep the order of
 * the job.
 */
static int order_cmp(const void *pa, const void *pb)
{
	const struct row_cell *a = &((const struct gathered_cell *)pa)->cell;
	const struct row_cell *b = &((const struct gathered_cell *)pb)->cell;
	int c = cell_in_row_cmp(&a->cell, &b->cell);

	if (c)
		return c;
	if (a->seq != b->seq)
		return a->seq < b->seq ? -1 : 1;
	return (a->column > b->column) - (a->column < b->column);
}

#define SHOWN_BYTES 60 /* bytes of a key that a message shows, so that the whole message fits */

static void show(struct buf *out, struct bytes v)
{
	bytes_escape(out, bytes_of(v.ptr, v.len < SHOWN_BYTES ? v.len : SHOWN_BYTES));
	if (v.len > SHOWN_BYTES)
		buf_printf(out, "...");
}

int duplicate_error(const struct cut_table *t, const struct row_cell *a, const struct row_cell *b,
		    struct error *err)
{
	struct buf row = {0}, qualifier = {0};

	show(&row, a->cell.row);
	show(&qualifier, a->cell.qualifier);
	int rc = error_set(
		err, RC_DATA,
		"table %s: found two events with row %.*s, column %s:%.*s, timestamp %lld "
		"(input bytes %llu and %llu), expected one because of `duplicates: error`",
		t->table->schema.name, (int)row.len, (const char *)row.ptr,
		t->table->schema.families[a->family].name, (int)qualifier.len,
		qualifier.ptr ? (const char *)qualifier.ptr : "", (long long)a->cell.ts,
		(unsigned long long)a->seq, (unsigned long long)b->seq);
	buf_release(&row);
	buf_release(&qualifier);
	return rc;
}

void note_collision(struct cut_result *out, struct bytes row, uint64_t lost, uint64_t kept)
{
	struct cut_collision *c = &out->collision;

	if (c->found)
		return;
	buf_append(&c->row, row.ptr, row.len);
	c->found = true;
	c->lost = lost;
	c->kept = kept;
}

/*
 * Count the cells that cell `winner` overwrites. Cells [first, next) have the same column and time.
 */
static void shadow(struct gather *g, size_t first, size_t next, size_t winner,
		   struct cut_result *out)
{
	const struct row_cell *kept = &g->cells[winner].cell;

	for (size_t k = first; k < next; k++) {
		struct gathered *event = &g->records[g->cells[k].record];

		if (k != winner && --event->cells_left == 0)
			note_collision(out, kept->cell.row, event->seq, kept->seq);
	}
	out->cells_deduplicated += next - first - 1;
}

int gather_emit(struct gather *g, const struct cut_table *t,
		int (*emit)(void *ctx, const struct row_cell *c, struct error *err), void *ctx,
		struct cut_result *out, struct error *err)
{
	expand(g, t);
	qsort(g->cells, g->ncells, sizeof *g->cells, order_cmp);
	for (size_t i = 0, next; i < g->ncells; i = next) {
		next = i + 1;
		while (next < g->ncells &&
		       cell_in_row_cmp(&g->cells[i].cell.cell, &g->cells[next].cell.cell) == 0)
			next++;
		if (next - i > 1 && t->table->duplicates == DUPLICATES_ERROR)
			return duplicate_error(t, &g->cells[i].cell, &g->cells[i + 1].cell, err);
		size_t winner = t->table->duplicates == DUPLICATES_FIRST ? i : next - 1;
		shadow(g, i, next, winner, out);
		int rc = emit(ctx, &g->cells[winner].cell, err);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < g->nrecords; i++) {
		if (g->records[i].cells_left)
			out->loaded++;
		else
			out->deduplicated++;
	}
	return RC_OK;
}
