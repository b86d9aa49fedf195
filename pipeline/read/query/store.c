/* store.c - merge the cells of one family from its files */
#include "store.h"

#include "mem.h"

#define NEAR_BATCHES 3 /* batches to read before a use of the index */

static bool comes_first(const void *none, const void *a, const void *b)
{
	const struct store_cursor *x = a, *y = b;
	int c = cell_key_cmp(&x->cell, &y->cell);

	(void)none;
	return c ? c < 0 : file_age_newer(x, y);
}

static void sift_top(struct store *s)
{
	heap_sift(&s->heap, 0, comes_first, NULL);
}

static void build_heap(struct store *s)
{
	s->heap.n = 0;
	for (size_t i = 0; i < s->ncursors; i++)
		if (!s->cursors[i].done)
			s->heap.items[s->heap.n++] = &s->cursors[i];
	heap_order(&s->heap, comes_first, NULL);
}

static void finish(struct store_cursor *c)
{
	if (c->hfile)
		c->reads = hfile_reads(c->hfile);
	hfile_close(c->hfile);
	mem_free(c->batch);
	c->hfile = NULL;
	c->batch = NULL;
	c->done = true;
}

static void spare(struct store_cursor *c, const char *why)
{
	c->spared = why;
	finish(c);
}

int store_init(struct store *s, const struct query *q, const struct query_family *family,
	       struct error *err)
{
	s->q = q;
	s->family = family;
	s->heap.items = mem_try_calloc(s->ncursors + 1, sizeof(struct store_cursor *));
	return s->heap.items
		       ? 0
		       : error_memory(err, s->ncursors * sizeof(struct store_cursor *), "a merge");
}

void store_release(struct store *s)
{
	for (size_t i = 0; i < s->ncursors; i++) {
		finish(&s->cursors[i]);
		buf_release(&s->cursors[i].before);
	}
	mem_free(s->cursors);
	mem_free(s->heap.items);
}

static struct cell row_start(struct bytes row)
{
	const struct bytes none = {NULL, 0};

	return cell_first(row, none, none);
}

size_t store_find_range(const struct query *q, struct bytes row)
{
	size_t low = 0, high = q->nranges;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct bytes stop = q->ranges[middle].stop;

		if (stop.len && bytes_cmp(stop, row) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Return a bound before all rows of the file; empty means unknown. */
static struct bytes least_row(const struct query_file *f)
{
	return bytes_cmp(f->first_row, f->rows.start) > 0 ? f->first_row : f->rows.start;
}

/*
 * Return true if the file's row keys are outside the query. Use only facts that are known without
 * the file.
 */
static bool outside(const struct query *q, const struct query_file *f)
{
	size_t i = store_find_range(q, least_row(f));

	if (i == q->nranges)
		return true;
	struct bytes start = q->ranges[i].start, stop = f->rows.stop;
	return (f->first_row.len && bytes_cmp(start, f->last_row) > 0) ||
	       (stop.len && bytes_cmp(start, stop) >= 0);
}

static void place(struct store_cursor *c, struct bytes row)
{
	struct bytes least = least_row(c->file);

	c->cell = row_start(bytes_cmp(least, row) > 0 ? least : row);
	c->placed = true;
}

void store_start(struct store *s)
{
	for (size_t i = 0; i < s->ncursors; i++) {
		if (outside(s->q, s->cursors[i].file))
			spare(&s->cursors[i], "row keys");
		else
			place(&s->cursors[i], s->q->ranges[0].start);
	}
	build_heap(s);
}

void store_go_to(struct store *s, struct bytes row)
{
	for (size_t i = 0; i < s->ncursors; i++) {
		struct store_cursor *c = &s->cursors[i];

		if (!c->done && bytes_cmp(c->cell.row, row) < 0)
			place(c, row);
	}
	build_heap(s);
}

/* Return true if the file's TIMERANGE is outside the query (README.md 5). */
static bool times_outside(const struct store *s, struct hfile *h)
{
	const struct query *q = s->q;
	struct bytes v;

	if (!hfile_info_get(h, "TIMERANGE", &v) || v.len != 16)
		return false;
	int64_t least = (int64_t)get_be64(v.ptr), greatest = (int64_t)get_be64(v.ptr + 8);
	if ((q->from_ms || q->to_ms) && (least >= q->to_ms || greatest < q->from_ms))
		return true;
	return !q->raw && s->family->min_versions == 0 && s->family->ttl_ms &&
	       greatest < q->now_ms - s->family->ttl_ms;
}

static int bloom_lacks(const struct store *s, struct hfile *h, bool *lacks, struct error *err)
{
	struct hfile_bloom b;
	bool found = true;
	const struct bytes none = {NULL, 0};

	*lacks = false;
	hfile_bloom(h, &b);
	if (!s->q->get || !b.present || (b.type == BLOOM_ROWCOL && s->nwanted != 1))
		return 0;
	int rc = hfile_may_contain(h, s->q->start, s->nwanted ? s->wanted[0] : none, &found, err);
	if (rc == RC_OK && !found && b.type == BLOOM_ROWCOL)
		rc = hfile_may_contain(h, s->q->start, none, &found, err);
	*lacks = rc == RC_OK && !found;
	return rc;
}

/* Return the row of a flat key, or nothing if the key is damaged. */
static struct bytes row_of(struct bytes key)
{
	size_t n = key.len >= 2 ? get_be16(key.ptr) : 0;

	return n && n + 2 <= key.len ? bytes_of(key.ptr + 2, n) : (struct bytes){0};
}

/* Check that a whole file has only rows of its region, because other rows would be lost. */
static int check_rows(const struct query_file *f, const struct hfile *h, struct error *err)
{
	struct hfile_index_entry e;
	struct bytes last;

	if (f->is_half || hfile_root_entry(h, 0, &e) != RC_OK ||
	    !hfile_info_get(h, "hfile.LASTKEY", &last))
		return RC_OK;
	struct bytes first = row_of(e.key);
	last = row_of(last);
	if (bytes_cmp(first, f->rows.start) >= 0 &&
	    (!f->rows.stop.len || bytes_cmp(last, f->rows.stop) < 0))
		return RC_OK;
	return error_set(err, RC_DATA,
			 "%s: found rows outside the file's region, expected only rows of the "
			 "region; repair the table with HBCK2",
			 f->name);
}

/* Open a file. If the query can skip the file, only set `c->done`. */
static int open_file(const struct store *s, struct store_cursor *c, struct error *err)
{
	struct hfile_source source;
	bool lacks = false;
	int rc = c->file->open(c->file, &source, err);

	if (rc == RC_OK)
		rc = hfile_open_source(&c->hfile, &source, err);
	if (rc)
		return rc;
	c->batch = mem_try_alloc(sizeof *c->batch);
	if (!c->batch)
		return error_memory(err, sizeof *c->batch, "cells");
	if (c->file->of_server)
		file_age_read(&c->age, c->file, c->hfile);
	rc = check_rows(c->file, c->hfile, err);
	if (rc)
		return rc;
	bool first = !c->tried;
	c->tried = true;
	if (first && times_outside(s, c->hfile)) {
		spare(c, "timestamps");
		return 0;
	}
	rc = bloom_lacks(s, c->hfile, &lacks, err);
	if (rc == RC_OK && lacks)
		spare(c, "bloom filter");
	return rc;
}

/* Remove the rows after the last row of a half file. Returns RC_END if no cell is left. */
static int cut_batch(const struct query_file *f, struct hfile_batch *b)
{
	while (f->rows.stop.len && b->n && bytes_cmp(b->cells[b->n - 1].row, f->rows.stop) >= 0)
		b->n--;
	return b->n ? RC_OK : RC_END;
}

static int next_batch(struct store_cursor *c, struct error *err)
{
	int rc = hfile_next_batch(c->hfile, c->batch, err);

	if (rc == RC_OK)
		rc = cut_batch(c->file, c->batch);
	c->at = 0;
	if (rc == RC_OK)
		c->cell = c->batch->cells[0];
	return rc;
}

/* Set `*may` to false if the row's first cells in the file are not family deletes. */
static int may_delete_family(struct hfile *h, struct bytes row, bool *may, struct error *err)
{
	struct bytes count;

	*may = !hfile_info_get(h, "DELETE_FAMILY_COUNT", &count) || count.len != 8 ||
	       get_be64(count.ptr) != 0;
	return *may ? hfile_may_delete(h, row, may, err) : RC_OK;
}

/* Place a get at its first column, if no cell before that column has an effect. */
static int go_to_column(const struct store *s, struct store_cursor *c, struct error *err)
{
	bool may = true;

	if (!s->q->get || !s->first_column.len || c->cell.qualifier.len ||
	    !bytes_eq(c->cell.row, s->q->start))
		return RC_OK;
	int rc = may_delete_family(c->hfile, c->cell.row, &may, err);
	if (rc == RC_OK && !may)
		c->cell = cell_first(c->cell.row, s->family->name, s->first_column);
	return rc;
}

/* Move a placed cursor to the first cell at or after its place. */
static int settle(const struct store *s, struct store_cursor *c, struct error *err)
{
	int rc = c->hfile ? 0 : open_file(s, c, err);

	if (rc == RC_OK && !c->done)
		rc = go_to_column(s, c, err);
	if (rc || c->done)
		return rc;
	c->placed = false;
	rc = hfile_seek(c->hfile, &c->cell, err);
	if (rc == RC_OK)
		rc = next_batch(c, err);
	if (rc != RC_END)
		return rc;
	if (s->q->reversed)
		c->done = true; /* the cursor is done for this row only */
	else
		finish(c);
	return 0;
}

static void drop_top(struct store *s)
{
	heap_pop(&s->heap, comes_first, NULL);
}

/* Return the cursor with the smallest cell, or NULL if all files are at their end. */
static struct store_cursor *top(const struct store *s)
{
	return s->heap.n ? s->heap.items[0] : NULL;
}

int store_peek(struct store *s, const struct cell **out, struct error *err)
{
	struct store_cursor *c;

	while ((c = top(s)) && c->placed) {
		int rc = settle(s, c, err);

		if (rc)
			return rc;
		if (c->done)
			drop_top(s);
		else
			sift_top(s);
	}
	if (!c)
		return RC_END;
	*out = &c->cell;
	return 0;
}

int store_resolve(const struct store *s, struct mob_reader **m, struct cell *c, struct error *err)
{
	return c->tags.len ? mob_resolve(m, top(s)->file, c, err) : RC_OK;
}

/* Mark that the file has no more cells or, in a reversed scan, no more cells for this row. */
static void end_file(const struct store *s, struct store_cursor *c)
{
	if (s->q->reversed)
		c->done = true;
	else
		finish(c);
}

int store_skip(struct store *s, size_t ncells, struct error *err)
{
	struct store_cursor *c = top(s);
	int rc = 0;

	c->at += ncells;
	if (c->at < c->batch->n)
		c->cell = c->batch->cells[c->at];
	else
		rc = next_batch(c, err);
	if (rc < 0)
		return rc;
	if (rc == RC_END) {
		end_file(s, c);
		drop_top(s);
	} else if (s->heap.n > 1) {
		sift_top(s);
	}
	return 0;
}

int store_step(struct store *s, struct error *err)
{
	return store_skip(s, 1, err);
}

/* Search the next few batches for the key, which is often in the open block. */
static int seek_near(struct store_cursor *c, const struct cell *key, bool *found, struct error *err)
{
	int rc = RC_OK;

	*found = false;
	for (unsigned i = 0; rc == RC_OK && i < NEAR_BATCHES; i++) {
		const struct hfile_batch *b = c->batch;

		if (cell_key_cmp(&b->cells[b->n - 1], key) >= 0) {
			while (cell_key_cmp(&b->cells[c->at], key) < 0)
				c->at++;
			c->cell = b->cells[c->at];
			*found = true;
			return RC_OK;
		}
		rc = i + 1 < NEAR_BATCHES ? next_batch(c, err) : RC_OK;
	}
	return rc;
}

static int seek_file(const struct store *s, struct store_cursor *c, const struct cell *key,
		     struct error *err)
{
	bool found = false;
	int rc = c->placed ? RC_OK : seek_near(c, key, &found, err);

	if (rc == RC_END) {
		end_file(s, c);
		return RC_OK;
	}
	if (rc || found)
		return rc;
	c->cell = *key;
	return settle(s, c, err);
}

int store_seek(struct store *s, const struct cell *key, struct error *err)
{
	for (size_t i = 0; i < s->ncursors; i++) {
		struct store_cursor *c = &s->cursors[i];
		int rc = c->done || cell_key_cmp(&c->cell, key) >= 0 ? RC_OK
								     : seek_file(s, c, key, err);

		if (rc)
			return rc;
	}
	build_heap(s);
	return RC_OK;
}

size_t store_alone(const struct store *s, struct bytes stop)
{
	const struct store_cursor *c = top(s);

	if (!c || c->placed || !c->batch->plain)
		return 0;
	const struct hfile_batch *b = c->batch;
	size_t end = b->n - 1;
	while (end > c->at && b->step[end] != HFILE_NEW_ROW)
		end--;
	if (end <= c->at)
		return 0;
	struct bytes last = b->cells[end - 1].row;
	for (size_t i = 1; i < 3 && i < s->heap.n; i++) {
		const struct store_cursor *next = s->heap.items[i];

		if (bytes_cmp(last, next->cell.row) >= 0)
			return 0;
	}
	return stop.len && bytes_cmp(last, stop) >= 0 ? 0 : end - c->at;
}

/* --- reversed --- */

void store_at_row(struct store *s, struct bytes row)
{
	for (size_t i = 0; i < s->ncursors; i++) {
		struct store_cursor *c = &s->cursors[i];

		/* keep only the cursors whose greatest row below the bound is this row */
		c->done = c->spared || c->exhausted || !c->before_known ||
			  !bytes_eq(buf_bytes(&c->before), row);
		c->placed = !c->done;
		c->cell = row_start(row);
		if (!c->done)
			c->before_known = false;
	}
	build_heap(s);
}

static int cursor_before(struct store *s, struct store_cursor *c, const struct cell *key,
			 struct error *err)
{
	const struct bytes least = least_row(c->file), stop = c->file->rows.stop;

	if (least.len && bytes_cmp(least, key->row) > 0 && key->row.len)
		return 0; /* all rows of the file come after the key */
	int rc = c->hfile ? 0 : open_file(s, c, err);
	if (rc || c->spared)
		return rc;
	const struct cell end = row_start(stop);
	bool cut = stop.len && bytes_cmp(key->row, stop) > 0;
	rc = hfile_row_before(c->hfile, cut ? &end : key, &c->before, err);
	if (rc == RC_OK && bytes_cmp(buf_bytes(&c->before), c->file->rows.start) < 0)
		rc = RC_END;
	c->before_known = true;
	if (rc != RC_END)
		return rc;
	c->exhausted = true;
	c->before.len = 0;
	finish(c);
	return 0;
}

int store_row_before(struct store *s, const struct cell *key, struct buf *row, struct error *err)
{
	for (size_t i = 0; i < s->ncursors; i++) {
		struct store_cursor *c = &s->cursors[i];

		if (!c->spared && outside(s->q, c->file))
			spare(c, "row keys");
		if (c->spared || c->exhausted)
			continue;
		if (c->before_known && bytes_cmp(buf_bytes(&c->before), key->row) >= 0)
			c->before_known = false;
		int rc = c->before_known ? 0 : cursor_before(s, c, key, err);
		if (rc)
			return rc;
		if (!c->before_known || c->before.len == 0 ||
		    bytes_cmp(buf_bytes(&c->before), buf_bytes(row)) <= 0)
			continue;
		row->len = 0;
		if (!buf_try_append(row, c->before.ptr, c->before.len))
			return error_memory(err, c->before.len, "a row key");
	}
	return 0;
}
