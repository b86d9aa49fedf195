/*
 * block_encode.c - PREFIX, DIFF, FAST_DIFF and ROW_INDEX_V1 data blocks (README.md 4)
 *
 * The delta encodings store the difference between a cell and the previous cell of the block:
 *
 *   PREFIX     v7 rest of key | v7 value | v7 common | rest of flat key | value
 *   DIFF       flag | [v7 key] | [v7 value] | v7 common | remainder | time | [type] | value
 *   FAST_DIFF  flag | [v7 key] | [v7 value] | v7 common | remainder | time | [type] | [value]
 *
 * each followed by v7 tagsLength, tags and vlong mvcc when the file has them.
 */
#include "block_encode.h"

#include "quick_diff.h"

/* The parts of a cell; sizes in bytes. */
struct parts_of_cell {
	struct bytes key, value;
	size_t row, family; /* lengths */
	const uint8_t *qualifier, *ts, *type;
	size_t qualifier_bytes;
};

static struct parts_of_cell view_of(const struct kv *kv)
{
	struct parts_of_cell v = {.key = kv->key, .value = kv->value};

	v.row = get_be16(v.key.ptr);
	v.family = v.key.ptr[2 + v.row];
	v.qualifier = v.key.ptr + 3 + v.row + v.family;
	v.qualifier_bytes = v.key.len - KEY_FIXED - v.row - v.family;
	v.ts = v.qualifier + v.qualifier_bytes;
	v.type = v.ts + 8;
	return v;
}

static size_t common(const uint8_t *a, size_t a_bytes, const uint8_t *b, size_t b_bytes)
{
	size_t n = a_bytes < b_bytes ? a_bytes : b_bytes, i = 0;

	for (uint64_t x, y; i + 8 <= n; i += 8) {
		memcpy(&x, a + i, 8);
		memcpy(&y, b + i, 8);
		if (x != y)
			return i + (size_t)__builtin_ctzll(x ^ y) / 8;
	}
	while (i < n && a[i] == b[i])
		i++;
	return i;
}

/*
 * Return the number of leading bytes that the flat key shares with the previous flat key, without
 * time and type (4.2).
 */
static size_t common_key(const struct parts_of_cell *p, const struct parts_of_cell *c)
{
	if (p->row != c->row)
		return p->key.ptr[0] == c->key.ptr[0];
	size_t n = common(p->key.ptr + 2, p->row, c->key.ptr + 2, c->row);
	if (n < c->row)
		return 2 + n;
	return 3 + c->row + c->family +
	       common(p->qualifier, p->qualifier_bytes, c->qualifier, c->qualifier_bytes);
}

static void put_v7(struct buf *out, uint64_t v)
{
	out->len += put_varint(out->ptr + out->len, v);
}

/*
 * Put the rest of row length and row and the whole qualifier. If the rows are equal, put only the
 * rest of the qualifier.
 */
static void put_remainder(struct buf *out, const struct parts_of_cell *c, size_t shared)
{
	if (shared < 2 + c->row) {
		buf_fill(out, c->key.ptr + shared, 2 + c->row - shared);
		buf_fill(out, c->qualifier, c->qualifier_bytes);
		return;
	}
	size_t known = shared - 3 - c->row - c->family;
	buf_fill(out, c->qualifier + known, c->qualifier_bytes - known);
}

static void encode_prefix(struct buf *out, const struct parts_of_cell *p,
			  const struct parts_of_cell *c)
{
	size_t shared = p ? common_key(p, c) : 0;

	if (p && p->key.len == c->key.len && shared == c->key.len - 9) {
		size_t n = common(p->ts, 8, c->ts, 8);

		shared += n + (n == 8 && *p->type == *c->type);
	}
	put_v7(out, c->key.len - shared);
	put_v7(out, c->value.len);
	put_v7(out, shared);
	buf_fill(out, c->key.ptr + shared, c->key.len - shared);
	buf_fill(out, c->value.ptr, c->value.len);
}

static unsigned width_of(uint64_t v)
{
	return v ? 8 - (unsigned)__builtin_clzll(v) / 8 : 1;
}

/*
 * Choose the time field, which is little-endian with the fewest bytes. Use the difference only if
 * it is shorter.
 */
static unsigned diff_time(const struct parts_of_cell *p, const struct parts_of_cell *c,
			  uint64_t *field)
{
	uint64_t ts = get_be64(c->ts);
	unsigned width = width_of(ts), flag = 0;

	*field = ts;
	if (p) {
		uint64_t difference = get_be64(p->ts) - ts;
		bool minus = (int64_t)difference < 0;

		if (minus)
			difference = 0 - difference;
		if (width_of(difference) < width) {
			width = width_of(difference);
			*field = difference;
			flag = minus ? 0x88 : 0x08;
		}
	}
	return flag | (width - 1) << 4;
}

static void encode_diff(struct buf *out, const struct parts_of_cell *p,
			const struct parts_of_cell *c)
{
	uint64_t field;
	unsigned flag = diff_time(p, c, &field), width = (flag >> 4 & 7) + 1;
	size_t shared = p ? common_key(p, c) : 0;

	if (p)
		flag |= (unsigned)(p->key.len == c->key.len) |
			(unsigned)(p->value.len == c->value.len) << 1 |
			(unsigned)(*p->type == *c->type) << 2;
	else
		buf_fill(out, c->key.ptr + 2 + c->row, 1 + c->family);
	buf_fill_byte(out, (uint8_t)flag);
	if (!(flag & 1))
		put_v7(out, c->key.len);
	if (!(flag & 2))
		put_v7(out, c->value.len);
	put_v7(out, shared);
	put_remainder(out, c, shared);
	for (unsigned i = 0; i < width; i++)
		buf_fill_byte(out, (uint8_t)(field >> 8 * i));
	if (!(flag & 4))
		buf_fill_byte(out, *c->type);
	buf_fill(out, c->value.ptr, c->value.len);
}

static void encode_fast_first(struct buf *out, const struct parts_of_cell *c)
{
	buf_fill_byte(out, 0);
	put_v7(out, c->key.len);
	put_v7(out, c->value.len);
	put_v7(out, 0);
	buf_fill(out, c->key.ptr, c->key.len);
	buf_fill(out, c->value.ptr, c->value.len);
}

static void encode_fast_diff(struct buf *out, const struct parts_of_cell *p,
			     const struct parts_of_cell *c)
{
	if (!p) {
		encode_fast_first(out, c);
		return;
	}
	size_t shared = common_key(p, c), same_time = common(p->ts, 7, c->ts, 7);
	bool same_value = bytes_eq(p->value, c->value);
	unsigned flag = (unsigned)same_time | (unsigned)(p->key.len == c->key.len) << 3 |
			(unsigned)(p->value.len == c->value.len) << 4 |
			(unsigned)(*p->type == *c->type) << 5 | (unsigned)same_value << 6;
	buf_fill_byte(out, (uint8_t)flag);
	if (!(flag & 0x08))
		put_v7(out, c->key.len);
	if (!(flag & 0x10))
		put_v7(out, c->value.len);
	put_v7(out, shared);
	put_remainder(out, c, shared);
	buf_fill(out, c->ts + same_time, 8 - same_time);
	if (!(flag & 0x20))
		buf_fill_byte(out, *c->type);
	if (!same_value)
		buf_fill(out, c->value.ptr, c->value.len);
}

/*
 * An upper limit of the bytes that an encoding adds to a cell (flag, three numbers, time, length of
 * tags, mvcc).
 */
#define CELL_ROOM 64

/* Return the tags after a cell that ends at `p`, and set *mvcc to its stored bytes. */
static struct bytes tail_of(const uint8_t *p, const uint8_t *end, struct cell_tail tail,
			    struct bytes *mvcc)
{
	struct bytes tags = {NULL, 0};
	int64_t v;

	if (tail.tags)
		tags = bytes_of(p + 2, get_be16(p));
	p += tail.tags ? 2 + tags.len : 0;
	*mvcc = bytes_of(p, tail.mvcc ? hfile_kv_vint_get(p, end, &v) : 0);
	return tags;
}

static size_t tail_bytes(struct bytes tags, struct bytes mvcc, struct cell_tail tail)
{
	return (tail.tags ? 2 + tags.len : 0) + mvcc.len;
}

static int full(const struct buf *out, struct error *err)
{
	return error_memory(err, out->len, "an encoded block");
}

static int encode_deltas(const struct block_format *format, struct bytes cells, struct buf *out,
			 struct error *err)
{
	const enum block_encoding e = format->encoding;
	const struct cell_tail tail = format->tail;
	struct parts_of_cell previous, current;
	const struct parts_of_cell *p = NULL;
	const bool quick = e == ENCODING_DIFF && !tail.tags && !tail.mvcc && !format->careful;

	if (!buf_try_reserve(out, 4))
		return full(out, err);
	buf_fill_be32(out, (uint32_t)cells.len);
	for (size_t at = 0, before = 0; at < cells.len;) {
		if (p && quick) {
			at = hfile_quick_diff_encode(cells, &before, at, out);
			struct kv last = hfile_kv_at(cells.ptr + before);
			previous = view_of(&last);
		}
		struct kv kv = hfile_kv_at(cells.ptr + at);
		struct bytes mvcc, tags = tail_of(cells.ptr + at + kv.size, cells.ptr + cells.len,
						  tail, &mvcc);

		if (!buf_try_reserve(out, kv.size + tags.len + CELL_ROOM))
			return full(out, err);
		current = view_of(&kv);
		if (e == ENCODING_PREFIX)
			encode_prefix(out, p, &current);
		else if (e == ENCODING_DIFF)
			encode_diff(out, p, &current);
		else
			encode_fast_diff(out, p, &current);
		if (tail.tags)
			put_v7(out, tags.len);
		buf_fill(out, tags.ptr, tags.len);
		if (mvcc.len)
			buf_fill(out, mvcc.ptr, mvcc.len);
		previous = current;
		p = &previous;
		before = at;
		at += kv.size + tail_bytes(tags, mvcc, tail);
	}
	return 0;
}

/* cells | i32 rows | i32 offset of each row's first cell | i32 bytes of cells (4.1) */
static int encode_row_index(struct bytes cells, struct cell_tail tail, struct buf *out,
			    struct error *err)
{
	if (!buf_try_reserve(out, cells.len + 8))
		return full(out, err);
	buf_fill(out, cells.ptr, cells.len);
	size_t count_at = out->len;
	uint32_t rows = 0;
	struct bytes row = {NULL, 0};
	buf_fill_be32(out, 0);
	for (size_t at = 0; at < cells.len;) {
		struct kv kv = hfile_kv_at(cells.ptr + at);
		struct bytes r = hfile_kv_key_row(kv.key);

		if (!buf_try_reserve(out, 8))
			return full(out, err);
		if (rows == 0 || !bytes_eq(r, row)) {
			buf_fill_be32(out, (uint32_t)at);
			rows++;
		}
		row = r;
		struct bytes mvcc, tags = tail_of(cells.ptr + at + kv.size, cells.ptr + cells.len,
						  tail, &mvcc);
		at += kv.size + tail_bytes(tags, mvcc, tail);
	}
	put_be32(out->ptr + count_at, rows);
	buf_fill_be32(out, (uint32_t)cells.len);
	return 0;
}

int hfile_block_encode(const struct block_format *format, struct bytes cells, struct buf *out,
		       struct error *err)
{
	if (!buf_try_reserve(out, 2))
		return full(out, err);
	buf_fill_byte(out, 0);
	buf_fill_byte(out, (uint8_t)format->encoding);
	if (format->encoding == ENCODING_ROW_INDEX_V1)
		return encode_row_index(cells, format->tail, out, err);
	return encode_deltas(format, cells, out, err);
}
