/*
 * quick_diff.c - the fast path of DIFF blocks, in both directions (quick_diff.h)
 *
 * A cell costs one test of the room, and copies without branches on short lengths. The encoder
 * compares rows in words of 8 bytes.
 */
#include "quick_diff.h"

/* --- encoding --- */

/* The parts of a cell to compare with the next cell. */
struct diff_cell {
	const uint8_t *key, *qualifier;
	size_t key_bytes, value_bytes, row, qualifier_bytes;
	uint64_t ts;
	uint8_t type;
};

static inline struct diff_cell diff_cell_at(const uint8_t *p, size_t family)
{
	uint64_t lengths = get_be64(p);
	struct diff_cell c = {.key = p + KV_LENGTHS,
			      .key_bytes = lengths >> 32,
			      .value_bytes = (uint32_t)lengths,
			      .row = get_be16(p + KV_LENGTHS)};
	const uint8_t *time = c.key + c.key_bytes - 9;

	c.qualifier = c.key + 3 + c.row + family;
	c.qualifier_bytes = (size_t)(time - c.qualifier);
	c.ts = get_be64(time);
	c.type = time[8];
	return c;
}

/* Put the common length and all of the key that differs, without time and type. */
static inline uint8_t *put_key(uint8_t *to, const struct diff_cell *p, const struct diff_cell *c,
			       size_t family)
{
	size_t shared = p->key[0] == c->key[0], same = 0;

	if (p->row == c->row)
		shared = 2 + common_bytes(p->key + 2, c->key + 2, c->row);
	if (shared == 2 + c->row) {
		size_t n = p->qualifier_bytes < c->qualifier_bytes ? p->qualifier_bytes
								   : c->qualifier_bytes;

		same = common_bytes(p->qualifier, c->qualifier, n);
		to = put_length(to, 3 + c->row + family + same);
	} else {
		to = put_length(to, shared);
		to = put_wide(to, c->key + shared, 2 + c->row - shared);
	}
	return put_wide(to, c->qualifier + same, c->qualifier_bytes - same);
}

static inline uint8_t *put_diff(uint8_t *to, const struct diff_cell *p, const struct diff_cell *c,
				size_t family)
{
	const struct diff_time time = diff_time_of(p->ts, c->ts);
	uint8_t *flag = to++;
	unsigned bits = time.bits;

	if (p->key_bytes == c->key_bytes)
		bits |= DIFF_SAME_KEY_BYTES;
	else
		to = put_length(to, c->key_bytes);
	if (p->value_bytes == c->value_bytes)
		bits |= DIFF_SAME_VALUE_BYTES;
	else
		to = put_length(to, c->value_bytes);
	to = put_key(to, p, c, family);
	to = put_time(to, &time);
	*to = c->type;
	to += p->type != c->type;
	bits |= p->type == c->type ? DIFF_SAME_TYPE : 0;
	*flag = (uint8_t)bits;
	return put_wide(to, c->key + c->key_bytes, c->value_bytes);
}

size_t hfile_quick_diff_encode(struct bytes cells, size_t *before, size_t at, struct buf *out)
{
	const uint8_t *key = cells.ptr + *before + KV_LENGTHS;
	const size_t family = key[2 + get_be16(key)];
	struct diff_cell p = diff_cell_at(cells.ptr + *before, family), c;

	while (cells.len - at > KV_LENGTHS + KEY_FIXED + QUICK_SLACK) {
		c = diff_cell_at(cells.ptr + at, family);
		size_t size = KV_LENGTHS + c.key_bytes + c.value_bytes;
		if (cells.len - at < size + QUICK_SLACK)
			break;
		if (out->cap - out->len < size + ENCODED_ROOM &&
		    !buf_try_reserve(out, size + ENCODED_ROOM))
			break;
		uint8_t *end = put_diff(out->ptr + out->len, &p, &c, family);
		out->len = (size_t)(end - out->ptr);
		*before = at;
		at += size;
		p = c;
	}
	return at;
}

/* --- decoding --- */

/* A cell in the encoded block, before the copy of its parts. All sizes are in bytes. */
struct diff_plan {
	const uint8_t *p; /* the parts of the key in the block */
	uint32_t key, value, shared;
	size_t row, row_in;	   /* the row, and the part of its length and bytes in the block */
	size_t same, qualifier_in; /* the qualifier: equal bytes, and the part in the block */
	unsigned flag, width;
};

/*
 * Read the lengths of the next cell. Returns false if the cell is unusual, damaged, or near the end
 * of the block. `row` and `family` are lengths, `family` without its own byte.
 */
static inline bool plan_cell(const struct delta *d, size_t row, size_t family, struct diff_plan *c)
{
	const uint8_t *q = d->in.p;

	if (d->in.end - q < 2 * QUICK_SLACK)
		return false;
	c->flag = *q++;
	c->key = d->key_bytes;
	c->value = d->value_bytes;
	if (!(c->flag & DIFF_SAME_KEY_BYTES) && !(q = take_length(q, &c->key)))
		return false;
	if (!(c->flag & DIFF_SAME_VALUE_BYTES) && !(q = take_length(q, &c->value)))
		return false;
	if (!(q = take_length(q, &c->shared)))
		return false;
	c->p = q;
	c->row = row;
	if (c->shared < 2)
		c->row = c->shared ? (row & 0xff00) | *q : get_be16(q);
	bool row_known = c->shared >= 2 + c->row;
	size_t head = 3 + c->row + family;
	if (c->key < head + 9 || c->row > CELL_ROW_MAX ||
	    (row_known && (c->shared < head || c->shared > d->key_bytes - 9)))
		return false;
	size_t qualifier = c->key - head - 9;
	c->same = row_known ? c->shared - head : 0;
	c->row_in = row_known ? 0 : 2 + c->row - c->shared;
	if (c->same > qualifier)
		return false;
	c->qualifier_in = qualifier - c->same;
	c->width = diff_time_width(c->flag);
	size_t in = c->row_in + c->qualifier_in + c->width + !(c->flag & DIFF_SAME_TYPE) + c->value;
	return (size_t)(d->in.end - q) >= in + QUICK_SLACK;
}

/* Put the planned cell at `to`. `before` is the flat key of the previous cell. */
static inline void put_cell(struct delta *d, const struct diff_plan *c, const uint8_t *before,
			    uint8_t *to)
{
	const size_t known = 2 + c->row - c->row_in;
	const uint8_t *p = c->p;

	put_be64(to, (uint64_t)c->key << 32 | c->value);
	to = put_wide(to + KV_LENGTHS, before, known);
	to = put_wide(to, p, c->row_in);
	p += c->row_in;
	to = put_wide(to, d->family.ptr, d->family.len);
	if (c->same)
		to = put_wide(to, before + 2 + c->row + d->family.len, c->same);
	to = put_wide(to, p, c->qualifier_in);
	p += c->qualifier_in;
	d->ts = diff_time_at(p, c->flag, d->ts);
	p += c->width;
	put_be64(to, d->ts);
	if (!(c->flag & DIFF_SAME_TYPE))
		d->type = *p++;
	to[8] = d->type;
	put_wide(to + 9, p, c->value);
	d->in.p = p + c->value;
}

void hfile_quick_diff_decode(struct delta *d)
{
	struct buf *store = d->store;
	const size_t family = d->family.len - 1;
	size_t row = get_be16(store->ptr + d->key_at);
	struct diff_plan c;

	while (plan_cell(d, row, family, &c)) {
		uint64_t size = KV_LENGTHS + (uint64_t)c.key + c.value;

		if (size > d->left)
			return;
		if (store->cap - store->len < size + 2 * QUICK_SLACK &&
		    !buf_try_reserve(store, size + 2 * QUICK_SLACK))
			return;
		put_cell(d, &c, store->ptr + d->key_at, store->ptr + store->len);
		d->key_at = store->len + KV_LENGTHS;
		d->value_at = d->key_at + c.key;
		d->key_bytes = c.key;
		d->value_bytes = c.value;
		d->left -= size;
		store->len += size;
		row = c.row;
	}
}
