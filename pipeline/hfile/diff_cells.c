/*
 * diff_cells.c - decode a DIFF block to cells in one pass (diff_cells.h, README.md 4.4)
 *
 * The encoder has found the common part of each key and the key before it. So the first byte after
 * this part decides the order of the two keys, and no key is compared as a whole.
 */
#include "diff_cells.h"

#include "block.h"
#include "mem.h"
#include "quick_diff.h"

#define PLAIN_MOST (1u << 20) /* limits the memory of cells, which are larger than encoded ones */

_Static_assert(HBLOCK_SLACK >= 2 * QUICK_SLACK, "copies are wide");

bool hfile_block_cells_reserve(struct block_cells *c, size_t n)
{
	struct cell *cell = mem_try_reserve(c->cell, &c->cell_room, n, sizeof *cell);

	c->cell = cell ? cell : c->cell;
	uint8_t *step = mem_try_reserve(c->step, &c->step_room, n, 1);
	c->step = step ? step : c->step;
	return cell && step;
}

void hfile_block_cells_release(struct block_cells *c)
{
	mem_free(c->cell);
	mem_free(c->step);
	*c = (struct block_cells){0};
}

/* The decoder between two cells. */
struct diff_cursor {
	const uint8_t *p, *end; /* of the encoded cells */
	uint8_t *keys;		/* place for the next part of a key that is not in the payload */
	struct bytes family;
	uint64_t left; /* bytes that the declared plain size still allows */
	uint32_t key_bytes, value_bytes;
};

/* Put two parts at `*keys`. Parts begin at multiples of 16, so wide copies do not overlap. */
static inline struct bytes join(uint8_t **keys, const uint8_t *before, size_t same,
				const uint8_t *rest, size_t n)
{
	uint8_t *to = *keys;

	put_wide(put_wide(to, before, same), rest, n);
	*keys += (same + n + 15) & ~(size_t)15;
	return bytes_of(to, same + n);
}

static inline bool row_follows(struct bytes a, struct bytes b)
{
	size_t n = a.len < b.len ? a.len : b.len, at = common_bytes(a.ptr, b.ptr, n);

	return at < n ? a.ptr[at] < b.ptr[at] : a.len < b.len;
}

/*
 * Make the row from `in` bytes at `q`, of which the first ones are of the row's length if `shared`
 * is less than 2. Returns false if the row does not sort after the row of `before`.
 */
static inline bool make_row(struct diff_cursor *d, const struct cell *before, const uint8_t *q,
			    size_t shared, size_t in, struct bytes *row)
{
	if (shared < 2) {
		*row = bytes_of(q + 2 - shared, in - (2 - shared));
		return row_follows(before->row, *row);
	}
	size_t same = shared - 2;
	*row = join(&d->keys, before->row.ptr, same, q, in);
	return before->row.ptr[same] < *q;
}

/*
 * Make the qualifier in the row of `before` from `in` bytes at `q`. Returns false if the column
 * sorts before that of `before`.
 */
static inline bool make_qualifier(struct diff_cursor *d, const struct cell *before,
				  const uint8_t *q, size_t same, size_t in, struct bytes *qualifier)
{
	const struct bytes old = before->qualifier;

	*qualifier = old;
	if (in == 0)
		return same == old.len;
	if (same == 0)
		*qualifier = bytes_of(q, in);
	else
		*qualifier = join(&d->keys, old.ptr, same, q, in);
	return same == old.len || old.ptr[same] < *q;
}

/*
 * Decode the next cell. Returns false if the cell is unusual, damaged, or out of order. A damaged
 * cell cannot make the function read past the slack after the payload.
 */
static inline bool take(struct diff_cursor *d, const struct cell *before, struct cell *c,
			uint8_t *step)
{
	const uint8_t *q = d->p;
	const unsigned flag = *q++, width = diff_time_width(flag);
	uint32_t key = d->key_bytes, value = d->value_bytes, shared;

	if (!(flag & DIFF_SAME_KEY_BYTES) && !(q = take_length(q, &key)))
		return false;
	if (!(flag & DIFF_SAME_VALUE_BYTES) && !(q = take_length(q, &value)))
		return false;
	if (!(q = take_length(q, &shared)))
		return false;
	size_t row = before->row.len, row_in = 0, same = 0;
	if (shared == 0)
		row = get_be16(q);
	else if (shared == 1 && row) /* the first cell shares nothing */
		row = (row & 0xff00) | *q;
	const size_t head = 3 + row + d->family.len;
	if (key < head + 9 || row == 0 || row > CELL_ROW_MAX)
		return false;
	size_t qualifier_in = key - head - 9;
	if (shared < 2 + row) {
		row_in = 2 + row - shared;
	} else {
		same = shared - head;
		if (shared < head || same > qualifier_in || same > before->qualifier.len)
			return false;
		qualifier_in -= same;
	}
	size_t in = row_in + qualifier_in + width + !(flag & DIFF_SAME_TYPE) + value;
	uint64_t size = KV_LENGTHS + (uint64_t)key + value;
	if ((ptrdiff_t)in > d->end - q || size > d->left)
		return false;
	if (row_in) {
		if (!make_row(d, before, q, shared, row_in, &c->row))
			return false;
		q += row_in;
		c->qualifier = bytes_of(q, qualifier_in);
		*step = HFILE_NEW_ROW;
	} else {
		if (!make_qualifier(d, before, q, same, qualifier_in, &c->qualifier))
			return false;
		c->row = before->row;
		*step = qualifier_in ? HFILE_NEW_COLUMN : HFILE_SAME_COLUMN;
	}
	q += qualifier_in;
	c->ts = (int64_t)diff_time_at(q, flag, (uint64_t)before->ts);
	q += width;
	c->type = flag & DIFF_SAME_TYPE ? before->type : *q;
	q += !(flag & DIFF_SAME_TYPE);
	if (c->ts < 0 || (c->type != CELL_PUT && !cell_type_known(c->type)))
		return false;
	if (*step == HFILE_SAME_COLUMN &&
	    (before->ts < c->ts || (before->ts == c->ts && before->type < c->type)))
		return false;
	c->family = d->family;
	c->value = bytes_of(q, value);
	c->tags = (struct bytes){NULL, 0};
	c->mvcc = 0;
	d->p = q + value;
	d->left -= size;
	d->key_bytes = key;
	d->value_bytes = value;
	return true;
}

/* Decode cells into the room of `out`. Returns false if a cell needs the general path. */
static bool take_cells(struct diff_cursor *state, struct block_cells *out)
{
	static const struct cell none;
	const size_t room = out->cell_room < out->step_room ? out->cell_room : out->step_room;
	const struct cell *before = out->n ? &out->cell[out->n - 1] : &none;
	struct cell *c = &out->cell[out->n], *end = &out->cell[room];
	uint8_t *step = &out->step[out->n];
	struct diff_cursor d = *state;
	unsigned others = 0;

	for (; c < end && d.p < d.end; before = c++) {
		if (!take(&d, before, c, step++))
			return false;
		others |= c->type ^ CELL_PUT;
	}
	*state = d;
	out->n = (size_t)(c - out->cell);
	out->plain &= others == 0;
	return true;
}

static bool decode(struct bytes payload, struct buf *keys, struct block_cells *out)
{
	const uint8_t *p = payload.ptr;

	if (payload.len < 8 || get_be16(p) != ENCODING_DIFF)
		return false;
	size_t plain = get_be32(p + 2), family = p[6];
	/* bits of the first cell cannot refer to a cell before it */
	if (plain > PLAIN_MOST || family > CELL_FAMILY_MAX || payload.len - 7 <= family ||
	    (p[7 + family] &
	     (DIFF_SAME_KEY_BYTES | DIFF_SAME_VALUE_BYTES | DIFF_SAME_TYPE | DIFF_TIME_DIFFERENCE)))
		return false;
	keys->len = 0;
	/* the parts of all keys have at most as many bytes as the plain cells */
	if (!buf_try_reserve(keys, plain + HBLOCK_SLACK))
		return false;
	struct diff_cursor d = {.p = p + 7 + family,
				.end = p + payload.len,
				.keys = keys->ptr,
				.family = {p + 7, family},
				.left = plain};
	while (d.p < d.end)
		if (!hfile_block_cells_reserve(out, out->n + HFILE_BATCH) || !take_cells(&d, out))
			return false;
	return d.left == 0;
}

bool hfile_diff_cells(struct bytes payload, struct buf *keys, struct block_cells *out)
{
	out->n = out->at = 0;
	out->plain = true;
	bool ok = decode(payload, keys, out);
	out->n = ok ? out->n : 0;
	return ok;
}
