/*
 * batch.c - read many cells of a block at once, with the difference of each cell from the previous
 * cell
 */
#include "quick_diff.h"
#include "reader.h"

/* Compare short strings like memcmp, but inline. */
static inline int short_cmp(const uint8_t *a, const uint8_t *b, size_t n)
{
	if (n < 8) {
		for (size_t i = 0; i < n; i++)
			if (a[i] != b[i])
				return a[i] < b[i] ? -1 : 1;
		return 0;
	}
	for (size_t i = 0;; i += 8) {
		if (i + 8 > n)
			i = n - 8;
		uint64_t x = load_word(a + i), y = load_word(b + i);
		if (x != y)
			return __builtin_bswap64(x) < __builtin_bswap64(y) ? -1 : 1;
		if (i + 8 >= n)
			return 0;
	}
}

static inline int slice_cmp(struct bytes a, struct bytes b)
{
	int c = short_cmp(a.ptr, b.ptr, a.len < b.len ? a.len : b.len);

	return c ? c : (a.len > b.len) - (a.len < b.len);
}

/* Compare `c` with the previous cell. Returns false if `c` sorts before the previous cell. */
static inline bool find_step(const struct cell *before, struct cell *c, uint8_t *step)
{
	int order = slice_cmp(before->row, c->row);

	*step = HFILE_NEW_ROW;
	if (order)
		return order < 0;
	order = slice_cmp(before->family, c->family);
	if (order == 0)
		c->family = before->family;
	if (order == 0)
		order = slice_cmp(before->qualifier, c->qualifier);
	*step = order ? HFILE_NEW_COLUMN : HFILE_SAME_COLUMN;
	if (order)
		return order < 0;
	return before->ts > c->ts || (before->ts == c->ts && before->type >= c->type);
}

/*
 * Parse the cell at `p`. Returns the cell's length without tags and mvcc, or 0 if the cell is
 * damaged. The reader of single cells then reports the error.
 */
static inline size_t parse(const uint8_t *p, size_t room, struct cell *c)
{
	if (room < KV_LENGTHS + KEY_FIXED)
		return 0;
	uint64_t key = get_be32(p), value = get_be32(p + 4);
	size_t row = get_be16(p + KV_LENGTHS);
	if (key < KEY_FIXED + row || key + value > room - KV_LENGTHS || row == 0 ||
	    row > CELL_ROW_MAX)
		return 0;
	const uint8_t *family = p + KV_LENGTHS + 2 + row + 1, *end = p + KV_LENGTHS + key;
	size_t nfamily = family[-1];
	if (nfamily > CELL_FAMILY_MAX || key < KEY_FIXED + row + nfamily)
		return 0;
	c->row = bytes_of(p + KV_LENGTHS + 2, row);
	c->family = bytes_of(family, nfamily);
	c->qualifier = bytes_of(family + nfamily, (size_t)(end - 9 - family) - nfamily);
	c->ts = (int64_t)get_be64(end - 9);
	c->type = end[-1];
	c->value = bytes_of(end, value);
	c->tags = (struct bytes){NULL, 0};
	c->mvcc = 0;
	if (c->ts < 0 || (c->type != CELL_PUT && !cell_type_known(c->type)))
		return 0;
	return KV_LENGTHS + key + value;
}

/*
 * Add the next cell of the open block. Returns false at the end, or if the reader of single cells
 * must read the next cell.
 */
static inline bool add(struct hfile *f, struct hfile_batch *b)
{
	const uint8_t *p = f->cells.ptr + f->cell_at;
	size_t room = f->cells.len - f->cell_at, tail = 0;
	struct cell *c = &f->ready.cell[b->n];
	size_t size = parse(p, room, c);

	if (size && (f->format.tail.tags || f->format.tail.mvcc))
		tail = hfile_kv_tail(p + size, p + room, f->format.tail, &c->tags, &c->mvcc);
	if (size == 0 || tail == SIZE_MAX || !find_step(c - 1, c, &f->ready.step[b->n]))
		return false;
	b->plain &= c->type == CELL_PUT && c->tags.len == 0;
	f->cell_at += size + tail;
	b->n++;
	return true;
}

/*
 * Compare a key with the previous key, if row and family have equal lengths. All parts up to the
 * qualifier then have the same offsets, so one comparison is enough. 9 more bytes follow both keys.
 */
static inline bool find_step_alike(const struct cell *before, const uint8_t *key, size_t fixed,
				   size_t qualifier, int64_t ts, struct cell *c, uint8_t *step)
{
	size_t shorter = qualifier < before->qualifier.len ? qualifier : before->qualifier.len;
	size_t at = common_bytes(before->row.ptr, key, fixed + shorter);

	*step = at < before->row.len ? HFILE_NEW_ROW : HFILE_NEW_COLUMN;
	if (at >= fixed)
		c->family.ptr = before->family.ptr;
	if (at < fixed + shorter)
		return before->row.ptr[at] < key[at];
	if (qualifier != before->qualifier.len)
		return shorter < qualifier;
	*step = HFILE_SAME_COLUMN;
	return before->ts >= ts;
}

/*
 * Add Puts without tags and mvcc whose row and family lengths equal those of the previous cell.
 * This is the fast path for most cells.
 */
static void add_alike(struct hfile *f, struct hfile_batch *b)
{
	struct cell *c = &f->ready.cell[b->n], *end = &f->ready.cell[HFILE_BATCH];
	const size_t row = c[-1].row.len, family = c[-1].family.len, fixed = row + 1 + family;
	const uint8_t *p = f->cells.ptr + f->cell_at, *stop = f->cells.ptr + f->cells.len;
	uint8_t *step = &f->ready.step[b->n];

	for (; c < end && (size_t)(stop - p) >= KV_LENGTHS + 2 + fixed + 9; c++, step++) {
		uint64_t lengths = get_be64(p);
		size_t nkey = lengths >> 32, value = (uint32_t)lengths;
		const uint8_t *key = p + KV_LENGTHS + 2;
		size_t qualifier = nkey - 2 - fixed - 9;

		if (get_be16(key - 2) != row || key[row] != family || nkey < 2 + fixed + 9 ||
		    nkey + value > (size_t)(stop - p) - KV_LENGTHS)
			break;
		const uint8_t *time = key + fixed + qualifier;
		int64_t ts = (int64_t)get_be64(time);
		c->family.ptr = key + row + 1;
		if (ts < 0 || time[8] != CELL_PUT ||
		    !find_step_alike(c - 1, key, fixed, qualifier, ts, c, step))
			break;
		c->row = bytes_of(key, row);
		c->family.len = family;
		c->qualifier = bytes_of(key + fixed, qualifier);
		c->ts = ts;
		c->mvcc = 0;
		c->value = bytes_of(time + 9, value);
		c->tags = (struct bytes){NULL, 0};
		c->type = CELL_PUT;
		p = c->value.ptr + value;
	}
	b->n = (size_t)(c - f->ready.cell);
	f->cell_at = (size_t)(p - f->cells.ptr);
}

/* Take the next cells of a block that is decoded to cells. */
static int take_ready(struct hfile *f, struct hfile_batch *b, struct error *err)
{
	struct block_cells *r = &f->ready;

	b->cells = &r->cell[r->at];
	b->step = &r->step[r->at];
	b->n = r->n - r->at < HFILE_BATCH ? r->n - r->at : HFILE_BATCH;
	b->plain = r->plain;
	if (!b->plain) {
		b->plain = true;
		for (size_t i = 0; i < b->n; i++)
			b->plain &= b->cells[i].type == CELL_PUT;
	}
	return hfile_reader_pass(f, b->n, err);
}

/* Parse the next cells of a plain block. */
static int parse_cells(struct hfile *f, struct hfile_batch *b, struct error *err)
{
	struct block_cells *r = &f->ready;

	if (!hfile_block_cells_reserve(r, HFILE_BATCH))
		return error_memory(err, HFILE_BATCH * sizeof *r->cell, "cells");
	int rc = hfile_next_cell(f, &r->cell[0], err);
	if (rc)
		return rc;
	b->cells = r->cell;
	b->step = r->step;
	b->n = 1;
	r->step[0] = HFILE_NEW_ROW;
	b->plain = b->cells[0].type == CELL_PUT && b->cells[0].tags.len == 0;
	bool tails = f->format.tail.tags || f->format.tail.mvcc;
	do
		if (!tails && b->cells[b->n - 1].type == CELL_PUT)
			add_alike(f, b);
	while (b->n < HFILE_BATCH && f->cell_at < f->cells.len && add(f, b));
	const struct cell *last = &b->cells[b->n - 1];
	f->seen += b->n - 1;
	f->before = *last;
	if (f->cell_at < f->cells.len || b->n == 1)
		return 0;
	f->last.len = 0;
	return hfile_kv_key_append(&f->last, last) ? 0 : error_memory(err, last->row.len, "a key");
}

int hfile_next_batch(struct hfile *f, struct hfile_batch *b, struct error *err)
{
	b->n = 0;
	int rc = hfile_reader_open_next(f, err);
	if (rc)
		return rc;
	return f->ready.n ? take_ready(f, b, err) : parse_cells(f, b, err);
}
