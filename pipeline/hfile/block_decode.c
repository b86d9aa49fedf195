/*
 * block_decode.c - decode data blocks to plain cells (README.md 4)
 *
 * The payload is untrusted. All reads use `struct in`, which fails at the first read past the end.
 * Before it stores a byte, the function limits each cell by the size that the block declares.
 */
#include "block_encode.h"

#include "quick_diff.h"

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

/* Return true if the open cell has room for `n` more bytes. The cell's lengths may be wrong. */
static bool has_room(struct delta *d, size_t n)
{
	if (n > d->cell_end - d->store->len)
		d->in.bad = true;
	return !d->in.bad;
}

/* Append `n` bytes of the input to the open cell. */
static void copy_in(struct delta *d, size_t n)
{
	const uint8_t *p = take(&d->in, n);

	if (p && has_room(d, n))
		buf_fill(d->store, p, n);
}

/* Append `n` bytes of the stored cells, from offset `at` on, to the open cell. */
static void copy_stored(struct delta *d, size_t at, size_t n)
{
	if (has_room(d, n))
		buf_fill(d->store, d->store->ptr + at, n);
}

/* Append `n` bytes of the previous key, from offset `at` on. */
static void copy_key(struct delta *d, size_t at, size_t n)
{
	copy_stored(d, d->key_at + at, n);
}

/* Make room for more bytes of the open cell, up to the declared size of the block. */
static bool extend_cell(struct delta *d, uint64_t size)
{
	if (d->in.bad || size > d->left)
		return false;
	d->left -= size;
	if (!buf_try_reserve(d->store, size)) {
		d->no_memory = true;
		return false;
	}
	d->cell_end = d->store->len + size;
	return true;
}

/* Begin a cell by writing its lengths. */
static bool begin_cell(struct delta *d, uint32_t key_bytes, uint32_t value_bytes)
{
	if (key_bytes < KEY_FIXED ||
	    !extend_cell(d, KV_LENGTHS + (uint64_t)key_bytes + value_bytes))
		return false;
	buf_fill_be32(d->store, key_bytes);
	buf_fill_be32(d->store, value_bytes);
	return true;
}

/* Make the finished cell the previous cell. Returns false if the cell is malformed. */
static bool end_cell(struct delta *d, size_t cell_at, uint32_t key_bytes, uint32_t value_bytes)
{
	struct kv kv;
	struct cell key;
	const uint8_t *cell = d->store->ptr + cell_at, *end = d->store->ptr + d->store->len;

	if (d->in.bad || !hfile_kv_parse(cell, end, &kv) || cell + kv.size != end ||
	    !hfile_kv_key_parse(kv.key, &key))
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

/* Make family and qualifier after a known row. `shared` counts from the start of the flat key. */
static bool make_family(struct delta *d, size_t row, size_t shared, uint32_t key_bytes)
{
	size_t family_at = d->store->len;

	if (d->family.len) {
		if (!has_room(d, d->family.len))
			return false;
		buf_fill(d->store, d->family.ptr, d->family.len);
	} else {
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

/* Make row, family and qualifier of DIFF and FAST_DIFF from the common prefix and the remainder. */
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
		row = get_be16(d->store->ptr + key_at); /* no check, because the bytes exist */
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

		if (!p || *p > CELL_FAMILY_MAX || !take(&d->in, *p))
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
	uint64_t ts = take_time(d, *flag);
	if (!has_room(d, 9))
		return false;
	buf_fill_be64(d->store, ts);
	if (*flag & 4)
		buf_fill_byte(d->store, d->type);
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
	copy_stored(d, d->value_at, value);
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
	if (!has_room(d, 9))
		return false;
	buf_fill(d->store, ts, same_time);
	copy_in(d, 8 - same_time);
	if (*flag & 0x20)
		buf_fill_byte(d->store, d->type);
	else
		copy_in(d, 1);
	copy_value(d, *flag & 0x40, value);
	return end_cell(d, at, key, value);
}

/* Read tags, whose length is a v7 here, and store them with the length of plain blocks. */
static bool take_tags(struct delta *d)
{
	uint32_t bytes = take_v7(&d->in);

	if (bytes > KV_TAGS_MAX || !extend_cell(d, 2 + (uint64_t)bytes))
		return false;
	uint8_t length[2];
	put_be16(length, (uint16_t)bytes);
	buf_fill(d->store, length, sizeof length);
	size_t at = d->store->len;
	if (!d->tags)
		copy_in(d, bytes);
	else if (!hfile_tags_unpack(d->tags, &d->in.p, d->in.end, bytes, d->store))
		d->in.bad = true;
	return !d->in.bad && hfile_kv_tags_fit(bytes_of(d->store->ptr + at, bytes));
}

static bool take_mvcc(struct delta *d)
{
	int64_t mvcc;
	size_t n = hfile_kv_vint_get(d->in.p, d->in.end, &mvcc);

	if (n == 0 || mvcc < 0 || n > d->left)
		return false;
	d->left -= n;
	if (!buf_try_reserve(d->store, n)) {
		d->no_memory = true;
		return false;
	}
	buf_fill(d->store, d->in.p, n);
	d->in.p += n;
	return true;
}

static bool take_tail(struct delta *d)
{
	return (!d->tail.tags || take_tags(d)) && (!d->tail.mvcc || take_mvcc(d));
}

static int decode_deltas(const struct block_format *format, struct bytes body, struct buf *store,
			 struct error *err)
{
	const enum block_encoding e = format->encoding;
	struct tag_dictionary tags = {.count = 0};

	if (body.len < 4)
		return error_set(err, RC_DATA,
				 "found an encoded block of %zu bytes, expected at least 4 bytes",
				 body.len);
	uint32_t plain = get_be32(body.ptr);
	if (!hfile_block_growth_fits(plain, body.len))
		return error_set(
			err, RC_DATA,
			"found a length of %u bytes of cells, expected at most what %zu encoded "
			"bytes can contain",
			plain, body.len);
	struct delta d = {.in = {body.ptr + 4, body.ptr + body.len, false},
			  .store = store,
			  .tail = format->tail,
			  .tags = format->packed_tags ? &tags : NULL,
			  .left = plain,
			  .first = true};
	bool ok = true,
	     quick = e == ENCODING_DIFF && !d.tail.tags && !d.tail.mvcc && !format->careful;
	while (ok && d.in.p < d.in.end) {
		if (quick && !d.first)
			hfile_quick_diff_decode(&d);
		ok = e == ENCODING_PREFIX ? decode_prefix(&d)
		     : e == ENCODING_DIFF ? decode_diff(&d)
					  : decode_fast_diff(&d);
		ok = ok && take_tail(&d);
	}
	if (d.no_memory)
		return error_memory(err, store->cap, "decoded cells");
	if (!ok)
		return error_set(
			err, RC_DATA,
			"found a damaged cell before byte %zu of %zu, expected an encoded cell",
			(size_t)(d.in.p - body.ptr), body.len);
	if (d.left)
		return error_set(err, RC_DATA,
				 "found %u bytes of cells, expected %u as in the block",
				 plain - (uint32_t)d.left, plain);
	return 0;
}

/* Return true if the offsets of a ROW_INDEX_V1 block are those of the rows' first cells. */
static bool row_index_fits(struct bytes cells, struct cell_tail tail, const uint8_t *offsets,
			   uint32_t rows)
{
	const uint8_t *end = cells.ptr + cells.len;
	struct bytes row = {NULL, 0};
	uint32_t seen = 0;

	for (const uint8_t *p = cells.ptr; p < end;) {
		struct kv kv;

		if (!hfile_kv_parse(p, end, &kv))
			return false;
		struct bytes tags;
		uint64_t mvcc;
		size_t n = hfile_kv_tail(p + kv.size, end, tail, &tags, &mvcc);
		if (n == SIZE_MAX)
			return false;
		struct bytes r = hfile_kv_key_row(kv.key);
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
		return error_set(
			err, RC_DATA,
			"found a row-indexed block of %zu bytes, expected at least 8 bytes",
			body.len);
	uint64_t n = get_be32(body.ptr + body.len - 4);
	if (n + 8 > body.len)
		return error_set(err, RC_DATA,
				 "row index: found %llu bytes of cells, expected at most %zu",
				 (unsigned long long)n, body.len - 8);
	uint32_t rows = get_be32(body.ptr + n);
	if (n + 8 + 4 * (uint64_t)rows != body.len)
		return error_set(err, RC_DATA,
				 "row index: found %u rows, expected the %llu that fill the block",
				 rows, (unsigned long long)(body.len - 8 - n) / 4);
	*cells = bytes_of(body.ptr, n);
	if (!row_index_fits(*cells, tail, body.ptr + n + 4, rows))
		return error_set(
			err, RC_DATA,
			"row index: found other offsets, expected those of the first cells of %u "
			"rows",
			rows);
	return 0;
}

int hfile_block_decode(const struct block_format *format, struct bytes payload, struct buf *store,
		       struct bytes *out, struct error *err)
{
	const enum block_encoding e = format->encoding;

	store->len = 0;
	*out = payload;
	if (e == ENCODING_NONE)
		return 0;
	if (payload.len < 2 || (get_be16(payload.ptr)) != (unsigned)e)
		return error_set(err, RC_DATA, "found encoding %d, expected %d (%s)",
				 payload.len < 2 ? -1 : (int)get_be16(payload.ptr), (int)e,
				 encoding_name(e));
	struct bytes body = {payload.ptr + 2, payload.len - 2};
	if (e == ENCODING_ROW_INDEX_V1)
		return row_index_cells(body, format->tail, out, err);
	int rc = decode_deltas(format, body, store, err);
	*out = buf_bytes(store);
	return rc;
}
