/* compaction.c - the cells of a family that a major compaction keeps, or all of its cells */
#include "mem.h"
#include "store.h"
#include "matcher.h"

struct compaction {
	struct query q; /* the range of rows, for the store */
	struct query_range rows;
	struct query_family family;
	struct store store;
	struct mob_reader *mobs;
	struct matcher *matcher; /* NULL means that all cells are kept */
	uint64_t *cells;	 /* of each file */
	bool step;		 /* the store's next cell was returned */
	bool in_row;
	struct buf row;
	bool skipping; /* skip the rest of `column` */
	struct buf column;
};

static int make_store(struct compaction *c, const struct query_file *files, size_t n,
		      struct error *err)
{
	struct store *s = &c->store;

	s->cursors = mem_try_calloc(n + 1, sizeof *s->cursors);
	c->cells = mem_try_calloc(n + 1, sizeof *c->cells);
	if (!s->cursors || !c->cells)
		return error_memory(err, n * sizeof *s->cursors, "a merge");
	s->ncursors = n;
	for (size_t i = 0; i < n; i++)
		s->cursors[i].file = &files[i];
	int rc = store_init(s, &c->q, &c->family, err);
	if (rc == RC_OK)
		store_start(s);
	return rc;
}

int compaction_open(struct compaction **out, const struct query_family *family,
		    const struct query_file *files, size_t nfiles,
		    const struct compaction_options *o, struct error *err)
{
	struct compaction *c = mem_try_calloc(1, sizeof *c);

	*out = NULL;
	if (!c)
		return error_memory(err, sizeof *c, "a merge");
	c->family = *family;
	c->rows = o->rows;
	/* a raw query skips no file */
	c->q = (struct query){.raw = true, .ranges = &c->rows, .nranges = 1};
	if (!o->keep_all)
		c->matcher = matcher_new_compacting(&c->family, o->now_ms, o->earliest_put);
	int rc = o->keep_all || c->matcher ? make_store(c, files, nfiles, err)
					   : error_memory(err, 0, "a merge");
	if (rc)
		compaction_close(c);
	else
		*out = c;
	return rc;
}

static bool keep_bytes(struct buf *b, struct bytes bytes)
{
	b->len = 0;
	return buf_try_append(b, bytes.ptr, bytes.len);
}

/* Judge a cell. After the last wanted cell of a column, the rest of the column is skipped. */
static enum verdict judge(struct compaction *c, const struct cell *cell)
{
	if (!c->in_row || !bytes_eq(cell->row, buf_bytes(&c->row))) {
		if (!keep_bytes(&c->row, cell->row))
			return VERDICT_NO_MEMORY;
		c->in_row = true;
		c->skipping = false;
		matcher_row(c->matcher);
	}
	if (c->skipping && bytes_eq(cell->qualifier, buf_bytes(&c->column)))
		return VERDICT_SKIP;
	enum verdict v = matcher_take(c->matcher, cell);
	/* markers of the family are in the empty column, so each of its cells is judged */
	c->skipping = v == VERDICT_NEXT_COLUMN && cell->qualifier.len;
	if (c->skipping && !keep_bytes(&c->column, cell->qualifier))
		return VERDICT_NO_MEMORY;
	return v;
}

int compaction_next(struct compaction *c, struct cell *out, struct error *err)
{
	const struct cell *cell;

	for (;;) {
		int rc = c->step ? store_step(&c->store, err) : RC_OK;

		c->step = false;
		if (rc == RC_OK)
			rc = store_peek(&c->store, &cell, err);
		if (rc)
			return rc;
		if (c->rows.stop.len && bytes_cmp(cell->row, c->rows.stop) >= 0)
			return RC_END;
		const struct store_cursor *top = c->store.heap.items[0];
		c->cells[top - c->store.cursors]++;
		c->step = true;
		enum verdict v = c->matcher ? judge(c, cell) : VERDICT_TAKE;
		if (v == VERDICT_NO_MEMORY)
			return error_memory(err, cell->row.len + cell->qualifier.len, "a column");
		if (v == VERDICT_TAKE) {
			int64_t id = file_age_sequence(top);

			*out = *cell;
			out->mvcc = id > 0 ? (uint64_t)id : 0;
			return store_resolve(&c->store, &c->mobs, out, err);
		}
	}
}

int64_t compaction_sequence(const struct compaction *c)
{
	int64_t most = -1;

	for (size_t i = 0; i < c->store.ncursors; i++)
		if (c->store.cursors[i].tried && c->store.cursors[i].age.sequence > most)
			most = c->store.cursors[i].age.sequence;
	return most;
}

uint64_t compaction_cells(const struct compaction *c, size_t i)
{
	return c->cells[i];
}

void compaction_close(struct compaction *c)
{
	if (!c)
		return;
	store_release(&c->store);
	matcher_free(c->matcher);
	mob_close(c->mobs);
	mem_free(c->cells);
	buf_release(&c->row);
	buf_release(&c->column);
	mem_free(c);
}
