/*
 * block_decode.c - data block payloads back to plain cells (README.md 4)
 *
 * Made for damaged and hostile payloads: every read goes through struct in, which turns bad at
 * the first read beyond the end, and every cell is bounded by the size the block declares before
 * a byte of it is stored.
 */
#include "block_encode.h"

#include "kv.h"

struct in {
	const uint8_t *p, *end;
	bool bad;
};

/* What a delta encoding carries from cell to cell; offsets, as store moves when it grows. */
struct delta {
	struct in in;
	struct buf *store;
	struct cell_tail tail;
	uint64_t left; /* of the declared unencoded size */
	bool first;
	size_t key_at, value_at;
	uint32_t key_bytes, value_bytes;
	uint64_t ts; /* previous cell */
	uint8_t type;
	struct bytes family; /* DIFF: length and name, stored once a block */
};

static const uint8_t *take(struct in *in, size_t n)
{
	if (in->bad || n > (size_t)(in->end - in->p)) {
		in->bad = true;
		return NULL;
	}
	in->p += n;
	return in->p - n;
}

static uint32_t take_v7(struct in *in)
{
	uint64_t v = 0;
	size_t n = in->bad ? 0 : get_varint(in->p, in->end, &v);
	if (n == 0 || v > INT32_MAX) {
		in->bad = true;
		return 0;
	}
	in->p += n;
	return (uint32_t)v;
}

/* Append n bytes of the input to the cell in the making. */
static void copy_in(struct delta *d, size_t n)
{
	const uint8_t *p = take(&d->in, n);
	if (p)
		buf_append(d->store, p, n);
}

/* Append n bytes of the previous key from offset at on. */
static void copy_key(struct delta *d, size_t at, size_t n)
{
	buf_reserve(d->store, n);
	buf_append(d->store, d->store->ptr + d->key_at + at, n);
}

/* Begin a cell: its lengths, if it fits what the block declared. */
static bool begin_cell(struct delta *d, uint32_t key_bytes, uint32_t value_bytes)
{
	uint64_t size = KV_LENGTHS + (uint64_t)key_bytes + value_bytes;
	if (d->in.bad || key_bytes < KEY_FIXED || size > d->left)
		return false;
	d->left -= size;
	buf_reserve(d->store, size);
	buf_be32(d->store, key_bytes);
	buf_be32(d->store, value_bytes);
	return true;
}

/* The cell just made becomes the previous one; false when it is not well formed. */
static bool end_cell(struct delta *d, size_t cell_at, uint32_t key_bytes, uint32_t value_bytes)
{
	struct kv kv;
	struct kv_key key;
	const uint8_t *cell = d->store->ptr + cell_at, *end = d->store->ptr + d->store->len;
	if (d->in.bad || !kv_parse(cell, end, &kv) || cell + kv.size != end ||
	    !kv_key_parse(kv.key, &key))
		return false;
	d->key_at = cell_at + KV_LENGTHS;
	d->value_at = d->key_at + key_bytes;
	d->key_bytes = key_bytes;
	d->value_bytes = value_bytes;
	d->ts = (uint64_t)key.ts;
	d->type = key.type;
	d->first = false;
	return true;
}

/* Family and qualifier behind a row that is known; shared counts from the flat key's start. */
static bool make_family(struct delta *d, size_t row, size_t shared, uint32_t key_bytes)
{
	size_t family_at = d->store->len;
	if (d->family.len)
		buf_append(d->store, d->family.ptr, d->family.len);
	else {
		size_t previous_row = get_be16(d->store->ptr + d->key_at);
		copy_key(d, 2 + previous_row, 1 + d->store->ptr[d->key_at + 2 + previous_row]);
	}
	size_t head = 2 + row + (d->store->len - family_at);
	if (key_bytes < head + 9)
		return false;
	size_t qualifier = key_bytes - head - 9, known = 0;
	if (shared >= 2 + row) {
		if (shared < head || shared - head > qualifier || shared > d->key_bytes - 9)
			return false;
		known = shared - head;
		copy_key(d, head, known);
	}
	copy_in(d, qualifier - known);
	return !d->in.bad;
}

/* Row, family and qualifier of DIFF and FAST_DIFF from the common prefix and the remainder. */
static bool make_key(struct delta *d, size_t shared, uint32_t key_bytes)
{
	size_t key_at = d->store->len, row;
	if (d->first ? shared > 0 : shared > d->key_bytes)
		return false;
	if (shared < 2) {
		copy_key(d, 0, shared);
		copy_in(d, 2 - shared);
		if (d->in.bad)
			return false;
		row = get_be16(d->store->ptr + key_at);
		if (row > key_bytes)
			return false;
		copy_in(d, row);
	} else {
		row = get_be16(d->store->ptr + d->key_at);
		size_t known = shared < 2 + row ? shared : 2 + row;
		copy_key(d, 0, known);
		copy_in(d, 2 + row - known);
	}
	return !d->in.bad && make_family(d, row, shared, key_bytes);
}

static bool decode_prefix(struct delta *d)
{
	uint32_t rest = take_v7(&d->in), value = take_v7(&d->in), shared = take_v7(&d->in);
	uint64_t key = (uint64_t)rest + shared;
	size_t at = d->store->len;
	if (shared > (d->first ? 0 : d->key_bytes) || key > INT32_MAX)
		return false;
	if (!begin_cell(d, (uint32_t)key, value))
		return false;
	copy_key(d, 0, shared);
	copy_in(d, rest);
	copy_in(d, value);
	return end_cell(d, at, (uint32_t)key, value);
}

static uint64_t take_time(struct delta *d, unsigned flag)
{
	unsigned width = (flag >> 4 & 7) + 1;
	const uint8_t *p = take(&d->in, width);
	uint64_t v = 0;
	for (unsigned i = 0; p && i < width; i++)
		v |= (uint64_t)p[i] << 8 * i;
	if (flag & 0x80)
		v = 0 - v;
	return flag & 0x08 ? d->ts - v : v;
}

static bool decode_diff(struct delta *d)
{
	if (d->first) {
		const uint8_t *p = take(&d->in, 1);
		if (!p || *p > FAMILY_MAX || !take(&d->in, *p))
			return false;
		d->family = bytes_of(p, 1 + (size_t)*p);
	}
	const uint8_t *flag = take(&d->in, 1);
	if (!flag || (d->first && *flag & 0x0f))
		return false;
	uint32_t key = *flag & 1 ? d->key_bytes : take_v7(&d->in);
	uint32_t value = *flag & 2 ? d->value_bytes : take_v7(&d->in);
	uint32_t shared = take_v7(&d->in);
	size_t at = d->store->len;
	if (!begin_cell(d, key, value) || !make_key(d, shared, key))
		return false;
	buf_be64(d->store, take_time(d, *flag));
	if (*flag & 4)
		buf_put(d->store, d->type);
	else
		copy_in(d, 1);
	copy_in(d, value);
	return end_cell(d, at, key, value);
}

static void copy_value(struct delta *d, bool same, uint32_t value)
{
	if (!same) {
		copy_in(d, value);
		return;
	}
	buf_reserve(d->store, value);
	buf_append(d->store, d->store->ptr + d->value_at, value);
}

static bool decode_fast_first(struct delta *d)
{
	uint32_t key = take_v7(&d->in), value = take_v7(&d->in), shared = take_v7(&d->in);
	size_t at = d->store->len;
	if (shared || !begin_cell(d, key, value))
		return false;
	copy_in(d, key);
	copy_in(d, value);
	return end_cell(d, at, key, value);
}

static bool decode_fast_diff(struct delta *d)
{
	const uint8_t *flag = take(&d->in, 1);
	if (!flag || (d->first && *flag))
		return false;
	if (d->first)
		return decode_fast_first(d);
	uint32_t key = *flag & 0x08 ? d->key_bytes : take_v7(&d->in);
	uint32_t value = *flag & 0x10 ? d->value_bytes : take_v7(&d->in);
	uint32_t shared = take_v7(&d->in);
	size_t at = d->store->len, same_time = *flag & 7;
	uint8_t ts[8];
	if (*flag & 0x80 || (*flag & 0x50) == 0x40)
		return false;
	if (!begin_cell(d, key, value) || !make_key(d, shared, key))
		return false;
	put_be64(ts, d->ts);
	buf_append(d->store, ts, same_time);
	copy_in(d, 8 - same_time);
	if (*flag & 0x20)
		buf_put(d->store, d->type);
	else
		copy_in(d, 1);
	copy_value(d, *flag & 0x40, value);
	return end_cell(d, at, key, value);
}

/* Skip tags and mvcc; lengths of tags are v7 here. */
static bool skip_tail(struct delta *d)
{
	uint64_t size = 0;
	if (d->tail.tags) {
		uint32_t tags = take_v7(&d->in);
		take(&d->in, tags);
		size = 2 + (uint64_t)tags;
	}
	if (d->tail.mvcc && !d->in.bad) {
		int64_t mvcc;
		size_t n = kv_vint_get(d->in.p, d->in.end, &mvcc);
		d->in.bad = n == 0;
		d->in.p += n;
		size += n;
	}
	if (d->in.bad || size > d->left)
		return false;
	d->left -= size;
	return true;
}

static int decode_deltas(enum block_encoding e, struct bytes body, struct cell_tail tail,
			 struct buf *store, struct error *err)
{
	if (body.len < 4)
		return error_set(err, RC_DATA, "the encoded block ends within its size");
	uint32_t plain = get_be32(body.ptr);
	if (!hblock_growth_fits(plain, body.len))
		return error_set(err, RC_DATA, "%zu encoded bytes claim to be %u bytes of cells",
				 body.len, plain);
	struct delta d = {.in = {body.ptr + 4, body.ptr + body.len, false},
			  .store = store,
			  .tail = tail,
			  .left = plain,
			  .first = true};
	bool ok = true;
	while (ok && d.in.p < d.in.end) {
		ok = e == ENCODING_PREFIX ? decode_prefix(&d)
		     : e == ENCODING_DIFF ? decode_diff(&d)
					  : decode_fast_diff(&d);
		ok = ok && skip_tail(&d);
	}
	if (!ok)
		return error_set(err, RC_DATA, "an encoded cell before byte %zu of %zu is damaged",
				 (size_t)(d.in.p - body.ptr), body.len);
	if (d.left)
		return error_set(err, RC_DATA, "the cells are %u bytes, the block says %u",
				 plain - (uint32_t)d.left, plain);
	return 0;
}

/* Bytes of an un-encoded cell's tags and mvcc at p, or SIZE_MAX. */
static size_t tail_bytes(const uint8_t *p, const uint8_t *end, struct cell_tail tail)
{
	size_t n = 0, room = (size_t)(end - p);
	if (tail.tags) {
		if (room < 2)
			return SIZE_MAX;
		n = 2 + (size_t)get_be16(p);
		if (n > room)
			return SIZE_MAX;
	}
	if (tail.mvcc) {
		int64_t mvcc;
		size_t m = kv_vint_get(p + n, end, &mvcc);
		if (m == 0)
			return SIZE_MAX;
		n += m;
	}
	return n;
}

static int strip_tails(struct bytes cells, struct cell_tail tail, struct buf *store,
		       struct error *err)
{
	const uint8_t *end = cells.ptr + cells.len;
	for (const uint8_t *p = cells.ptr; p < end;) {
		struct kv kv;
		size_t n = SIZE_MAX;
		if (kv_parse(p, end, &kv))
			n = tail_bytes(p + kv.size, end, tail);
		if (n == SIZE_MAX)
			return error_set(err, RC_DATA, "the cell at byte %zu of %zu is damaged",
					 (size_t)(p - cells.ptr), cells.len);
		buf_append(store, p, kv.size);
		p += kv.size + n;
	}
	return 0;
}

/* Each offset of a ROW_INDEX_V1 block must be that of the next row's first cell. */
static bool row_index_fits(struct bytes cells, struct cell_tail tail, const uint8_t *offsets,
			   uint32_t rows)
{
	const uint8_t *end = cells.ptr + cells.len;
	struct bytes row = {NULL, 0};
	uint32_t seen = 0;
	for (const uint8_t *p = cells.ptr; p < end;) {
		struct kv kv;
		if (!kv_parse(p, end, &kv))
			return false;
		size_t n = tail_bytes(p + kv.size, end, tail);
		if (n == SIZE_MAX)
			return false;
		struct bytes r = kv_key_row(kv.key);
		if (seen == 0 || !bytes_eq(r, row)) {
			if (seen == rows ||
			    get_be32(offsets + 4 * (size_t)seen) != (size_t)(p - cells.ptr))
				return false;
			seen++;
		}
		row = r;
		p += kv.size + n;
	}
	return seen == rows;
}

static int row_index_cells(struct bytes body, struct cell_tail tail, struct bytes *cells,
			   struct error *err)
{
	if (body.len < 8)
		return error_set(err, RC_DATA, "the row-indexed block has %zu bytes", body.len);
	uint64_t n = get_be32(body.ptr + body.len - 4);
	if (n + 8 > body.len)
		return error_set(err, RC_DATA, "the row index says %llu bytes of cells in %zu",
				 (unsigned long long)n, body.len);
	uint32_t rows = get_be32(body.ptr + n);
	if (n + 8 + 4 * (uint64_t)rows != body.len)
		return error_set(err, RC_DATA, "the row index of %u rows does not fill the block",
				 rows);
	*cells = bytes_of(body.ptr, n);
	if (!row_index_fits(*cells, tail, body.ptr + n + 4, rows))
		return error_set(err, RC_DATA, "the row index does not point to the rows");
	return 0;
}

int hblock_decode(enum block_encoding e, struct bytes payload, struct cell_tail tail,
		  struct buf *store, struct bytes *out, struct error *err)
{
	int rc = 0;
	store->len = 0;
	*out = payload;
	if (e != ENCODING_NONE) {
		if (payload.len < 2 || (get_be16(payload.ptr)) != (unsigned)e)
			return error_set(err, RC_DATA, "the block's encoding is not %s (%d)",
					 encoding_name(e), (int)e);
		*out = bytes_of(payload.ptr + 2, payload.len - 2);
	}
	if (e != ENCODING_NONE && e != ENCODING_ROW_INDEX_V1) {
		rc = decode_deltas(e, *out, tail, store, err);
		*out = buf_bytes(store);
		return rc;
	}
	if (e == ENCODING_ROW_INDEX_V1)
		rc = row_index_cells(*out, tail, out, err);
	if (rc || (!tail.tags && !tail.mvcc))
		return rc;
	rc = strip_tails(*out, tail, store, err);
	*out = buf_bytes(store);
	return rc;
}
