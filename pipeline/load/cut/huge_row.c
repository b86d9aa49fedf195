/*
 * huge_row.c - sort a row that exceeds memory on disk, and write its cells
 *
 * Records of a row come newest first, but HBase stores cells by column. So each cell becomes a
 * record of a second sorter. Cells of the same column and time are then neighbours:
 *
 *   key        family (2 bytes), qualifier
 *   secondary  Long.MAX_VALUE - timestamp, 255 - type (markers precede Puts)
 *   seq        the event's seq * cells of the table + number of the cell: input order
 *   payload    varint cells of the event, varint bytes of tags, tags, value
 *
 * saltmill deduplicates an event if other cells overwrite all of its cells. A third sorter receives
 * one record for each overwritten cell. The key is the seq of the cell's event, so an event without
 * remaining cells has as many equal keys as cells. The record's seq is the seq of the event that
 * overwrites the cell.
 */
#include "huge_row.h"

#include "gather.h"
#include "mem.h"

#define PLACE_BYTES   9 /* bytes of a secondary key (time and type) */
#define RUN_BYTES_MIN (256u << 10)

struct huge_row {
	const struct cut_table *t;
	struct bytes key;
	size_t most;		 /* largest number of cells of an event */
	struct row_cell *cells;	 /* scratch memory for cells */
	struct sorter *sorted;	 /* all cells */
	struct sorter *shadowed; /* an event's seq for each overwritten cell */
	struct buf scratch;
	struct cut_result *out;
	int (*emit)(void *ctx, const struct row_cell *c, struct error *err);
	void *ctx;
};

/*
 * Return the size of a sorted run. With this size, every thread can sort such a row at the same
 * time.
 */
static size_t run_bytes(const struct cut_table *t)
{
	return t->gather_bytes > RUN_BYTES_MIN ? (size_t)t->gather_bytes / 2 : RUN_BYTES_MIN / 2;
}

static struct sorter *new_sorter(const struct cut_table *t, size_t secondary_bytes)
{
	struct sorter_options so = {.budget = t->budget,
				    .temp_dir = t->temp_dir,
				    .threads = 1,
				    .secondary_bytes = secondary_bytes,
				    .quota = t->quota,
				    .run_bytes = run_bytes(t)};

	return sorter_new(&so);
}

static int put_cell(struct huge_row *g, const struct row_cell *c, uint64_t seq, size_t ncells,
		    struct error *err)
{
	struct buf *b = &g->scratch;

	b->len = 0;
	put_be16(buf_reserve(b, 2), (uint16_t)c->family);
	b->len += 2;
	buf_append(b, c->cell.qualifier.ptr, c->cell.qualifier.len);
	size_t key_len = b->len;
	buf_be64(b, (uint64_t)(INT64_MAX - c->cell.ts));
	buf_put(b, (uint8_t)(UINT8_MAX - c->cell.type));
	size_t minor_end = b->len;
	b->len += put_varint(buf_reserve(b, 10), ncells);
	b->len += put_varint(buf_reserve(b, 10), c->cell.tags.len);
	buf_append(b, c->cell.tags.ptr, c->cell.tags.len);
	buf_append(b, c->cell.value.ptr, c->cell.value.len);
	struct record r = {
		.key = bytes_of(b->ptr, key_len),
		.secondary = b->ptr + key_len,
		.payload = bytes_of(b->ptr + minor_end, b->len - minor_end),
		.seq = seq,
	};
	return run_builder_add(sorter_builder(g->sorted, 0), &r, err);
}

/* Put all cells of the row into the second sorter. */
static int sort_cells(struct huge_row *g, struct error *err)
{
	struct buf end = {0};

	buf_append(&end, g->key.ptr, g->key.len);
	buf_put(&end, 0);
	struct record_iter rows;
	int rc = sorter_range(g->t->rows, g->key, buf_bytes(&end), &rows, err);
	buf_release(&end);
	if (rc)
		return rc;
	struct record r;
	while ((rc = rows.next(rows.self, &r, err)) == RC_OK) {
		size_t n = row_cells(g->t->plan, g->t->index, &r, g->cells);

		for (size_t i = 0; rc == RC_OK && i < n; i++)
			rc = put_cell(g, &g->cells[i], r.seq * g->most + i, n, err);
		if (rc)
			break;
		g->out->loaded++;
	}
	rows.close(rows.self);
	return rc == RC_END ? sorter_finish(g->sorted, err) : rc;
}

/* Return the cell of a record of the second sorter. The cell borrows from the record. */
static struct row_cell cell_of(const struct huge_row *g, const struct record *r, uint64_t *ncells)
{
	const uint8_t *p = r->payload.ptr, *end = p + r->payload.len;
	uint64_t tags = 0;
	p += get_varint(p, end, ncells);
	p += get_varint(p, end, &tags);
	uint32_t family = get_be16(r->key.ptr);

	return (struct row_cell){
		.cell = {.row = g->key,
			 .family = bytes_str(g->t->table->schema.families[family].name),
			 .qualifier = bytes_of(r->key.ptr + 2, r->key.len - 2),
			 .ts = INT64_MAX - (int64_t)get_be64(r->secondary),
			 .tags = bytes_of(p, (size_t)tags),
			 .value = bytes_of(p + tags, (size_t)(end - p) - (size_t)tags),
			 .type = (uint8_t)(UINT8_MAX - r->secondary[8])},
		.family = family,
		.seq = r->seq / g->most,
	};
}

/* Note that event `by` overwrites a cell of event `seq`, which has `ncells` cells. */
static int drop(struct huge_row *g, uint64_t seq, uint64_t ncells, uint64_t by, struct error *err)
{
	uint8_t key[8], count[10];

	put_be64(key, seq);
	struct record r = {.key = bytes_of(key, sizeof key),
			   .secondary = key,
			   .seq = by,
			   .payload = bytes_of(count, put_varint(count, ncells))};
	g->out->cells_deduplicated++;
	return run_builder_add(sorter_builder(g->shadowed, 0), &r, err);
}

/* The cell to keep, so far, of the cells with the same column and time. */
struct winner {
	struct buf bytes; /* qualifier, value, tags */
	struct row_cell cell;
	uint64_t ncells;
	bool present;
};

static void keep(struct winner *w, const struct row_cell *c, uint64_t ncells)
{
	const struct bytes qualifier = c->cell.qualifier, value = c->cell.value,
			   tags = c->cell.tags;

	w->bytes.len = 0;
	buf_append(&w->bytes, qualifier.ptr, qualifier.len);
	buf_append(&w->bytes, value.ptr, value.len);
	buf_append(&w->bytes, tags.ptr, tags.len);
	w->cell = *c;
	w->cell.cell.qualifier = bytes_of(w->bytes.ptr, qualifier.len);
	w->cell.cell.value = bytes_of(w->bytes.ptr + qualifier.len, value.len);
	w->cell.cell.tags = bytes_of(w->bytes.ptr + qualifier.len + value.len, tags.len);
	w->ncells = ncells;
	w->present = true;
}

static int take(struct huge_row *g, struct winner *w, const struct record *r, struct error *err)
{
	uint64_t ncells = 0;
	struct row_cell c = cell_of(g, r, &ncells);
	int rc = RC_OK;

	if (!w->present || cell_in_row_cmp(&w->cell.cell, &c.cell)) {
		if (w->present)
			rc = g->emit(g->ctx, &w->cell, err);
		keep(w, &c, ncells);
		return rc;
	}
	if (g->t->table->duplicates == DUPLICATES_ERROR)
		return duplicate_error(g->t, &w->cell, &c, err);
	if (g->t->table->duplicates == DUPLICATES_FIRST)
		return drop(g, c.seq, ncells, w->cell.seq, err);
	rc = drop(g, w->cell.seq, w->ncells, c.seq, err);
	keep(w, &c, ncells);
	return rc;
}

static int emit_cells(struct huge_row *g, struct error *err)
{
	struct bytes none = {0};
	struct record_iter cells;
	struct winner w = {0};
	struct record r;
	int rc = sorter_range(g->sorted, none, none, &cells, err);

	if (rc)
		return rc;
	while ((rc = cells.next(cells.self, &r, err)) == RC_OK)
		if ((rc = take(g, &w, &r, err)) != RC_OK)
			break;
	cells.close(cells.self);
	if (rc == RC_END)
		rc = w.present ? g->emit(g->ctx, &w.cell, err) : RC_OK;
	buf_release(&w.bytes);
	return rc;
}

/* Count events if other cells overwrite all their cells. */
static int count_shadowed(struct huge_row *g, struct error *err)
{
	struct bytes none = {0};
	struct record_iter it;
	struct record r;
	uint64_t seq = 0, lost = 0, ncells = 0;
	int rc = sorter_finish(g->shadowed, err);

	if (rc == RC_OK)
		rc = sorter_range(g->shadowed, none, none, &it, err);
	if (rc)
		return rc;
	while ((rc = it.next(it.self, &r, err)) == RC_OK) {
		uint64_t this = get_be64(r.key.ptr);

		lost = lost && this == seq ? lost + 1 : 1;
		seq = this;
		get_varint(r.payload.ptr, r.payload.ptr + r.payload.len, &ncells);
		if (lost == ncells) {
			note_collision(g->out, g->key, seq, r.seq);
			g->out->deduplicated++;
			g->out->loaded--;
		}
	}
	it.close(it.self);
	return rc == RC_END ? RC_OK : rc;
}

int huge_row_write(const struct cut_table *t, struct bytes key,
		   int (*emit)(void *ctx, const struct row_cell *c, struct error *err), void *ctx,
		   struct cut_result *out, struct error *err)
{
	struct huge_row g = {.t = t,
			     .key = key,
			     .most = row_max_cells(t->plan, t->index),
			     .out = out,
			     .emit = emit,
			     .ctx = ctx};

	g.cells = mem_alloc(g.most * sizeof *g.cells);
	g.sorted = new_sorter(t, PLACE_BYTES);
	g.shadowed = new_sorter(t, 0);
	int rc = sort_cells(&g, err);
	if (rc == RC_OK)
		rc = emit_cells(&g, err);
	if (rc == RC_OK)
		rc = count_shadowed(&g, err);
	sorter_free(g.sorted);
	sorter_free(g.shadowed);
	buf_release(&g.scratch);
	mem_free(g.cells);
	return rc;
}
