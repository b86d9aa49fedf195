/*
 * quick_row.c - add a short row to a direct block in one step (direct.h)
 *
 * Nearly all rows take this path, so it calls no function, except that every eighth row makes the
 * bloom filter hash its keys. A call would force the compiler to keep its values in memory. The
 * bytes are those of hfile_direct_add.
 */
#include "writer.h"

#define SHORT_CELL 512 /* bytes that a cell of short lengths may write, with all slack */

/*
 * Copy `n` bytes as put_wide does, without a call. Up to 32 bytes are read if `n` is less, and no
 * byte after `n` if it is more.
 */
static inline uint8_t *put_piece(uint8_t *to, const uint8_t *from, size_t n)
{
	memcpy(to, from, 16);
	if (n > 16) {
		memcpy(to + 16, from + 16, 16);
		for (size_t at = 32; at < n; at += 16) {
			size_t here = at + 16 <= n ? at : n - 16;

			memcpy(to + here, from + here, 16);
		}
	}
	return to + n;
}

/*
 * Put the first cell of a row. The row before has the same length, and its last cell is a Put,
 * because hfile_direct_add or this file has added it.
 */
static inline uint8_t *put_first(uint8_t *to, const struct direct *d, struct bytes row, size_t same,
				 uint64_t ts, struct cell_value v, struct bytes head, size_t family)
{
	const size_t key_bytes = KEY_FIXED - 1 + row.len + head.len;
	const struct diff_time time = diff_time_of(d->ts, ts);
	const unsigned same_key = d->key_bytes == key_bytes;
	const unsigned same_value = d->value_bytes == v.len;

	to[0] = (uint8_t)(time.bits | same_key * DIFF_SAME_KEY_BYTES |
			  same_value * DIFF_SAME_VALUE_BYTES | DIFF_SAME_TYPE);
	to[1] = (uint8_t)key_bytes;
	to += 2 - same_key;
	*to = (uint8_t)v.len;
	to += 1 - same_value;
	*to++ = (uint8_t)(2 + same);
	to = put_piece(to, row.ptr + same, row.len - same);
	to = put_piece(to, head.ptr + family, head.len - family);
	to = put_time(to, &time);
	return put_piece(to, v.ptr, v.len);
}

/*
 * Put a cell after the column before. The time has more than one byte, so the difference of 0 is
 * shorter.
 */
static inline uint8_t *put_next(uint8_t *to, size_t row, size_t value_before, struct cell_value v,
				const struct column_head *head)
{
	const unsigned same_value = value_before == v.len, flag = head->next_flag;

	to[0] = (uint8_t)(flag | same_value * DIFF_SAME_VALUE_BYTES);
	to[1] = (uint8_t)(KEY_FIXED - 1 + row + head->all.len);
	to += 2 - (flag & DIFF_SAME_KEY_BYTES);
	*to = (uint8_t)v.len;
	to += 1 - same_value;
	memcpy(to, head->next, sizeof head->next);
	*to = (uint8_t)(2 + row + head->same);
	return put_piece(to + head->next_bytes, v.ptr, v.len);
}

/* Put a cell after any column, because columns are absent or `next` has no room for the head. */
static inline uint8_t *put_after(uint8_t *to, size_t row, size_t value_before, struct cell_value v,
				 struct bytes before, struct bytes head)
{
	const size_t least = before.len < head.len ? before.len : head.len;
	const size_t same = common_bytes(before.ptr, head.ptr, least);
	const unsigned same_key = before.len == head.len;
	const unsigned same_value = value_before == v.len;

	to[0] = (uint8_t)(DIFF_SAME_TYPE | DIFF_TIME_DIFFERENCE | same_key * DIFF_SAME_KEY_BYTES |
			  same_value * DIFF_SAME_VALUE_BYTES);
	to[1] = (uint8_t)(KEY_FIXED - 1 + row + head.len);
	to += 2 - same_key;
	*to = (uint8_t)v.len;
	to += 1 - same_value;
	*to++ = (uint8_t)(2 + row + same);
	to = put_piece(to, head.ptr + same, head.len - same);
	*to++ = 0;
	return put_piece(to, v.ptr, v.len);
}

/*
 * Add a whole row to the open direct block, the bloom filter and the counts. Return false and
 * change nothing if the block ends inside the row, or if the row is unusual or out of order.
 */
static inline __attribute__((always_inline)) bool put_row(struct hfile_writer *w, struct bytes row,
							  int64_t time,
							  const struct cell_value *values,
							  size_t count, bool quick_bloom)
{
	_Static_assert(DIFF_SAME_KEY_BYTES == 1, "the bit is a number of bytes");
	struct direct *d = &w->direct;
	struct buf *out = &w->buffers->encoded;
	const uint64_t ts = (uint64_t)time;

	if (d->short_row != row.len || count == 0 ||
	    ts - (UINT8_MAX + 1) >= CELL_TS_LATEST - (UINT8_MAX + 1))
		return false;
	const size_t same = common_bytes(d->row, row.ptr, row.len);
	if (same == row.len || d->row[same] > row.ptr[same])
		return false;
	const struct column_head *head = &w->heads[values->column];
	const struct cell_value *next = values + 1, *stop_values = values + count;
	struct cell_value v = *values; /* a copy, because a store to the block may not change it */
	uint8_t *to = out->ptr + out->len;
	size_t heads = head->all.len, value_bytes = v.len;

	if (v.len >= SHORT_LENGTHS || !v.roomy || out->cap - out->len < SHORT_CELL)
		return false;
	const uint8_t *stop = out->ptr + out->cap - SHORT_CELL;
	to = put_first(to, d, row, same, ts, v, head->all, w->family.len);
	for (; next < stop_values; next++) {
		const struct column_head *before = head;
		const size_t value_before = v.len;

		v = *next;
		head = &w->heads[v.column];
		if (v.len >= SHORT_LENGTHS || !v.roomy || to > stop)
			return false;
		if (__builtin_expect(head == before + 1 && head->next_bytes, 1))
			to = put_next(to, row.len, value_before, v, head);
		else if (head > before)
			to = put_after(to, row.len, value_before, v, before->all, head->all);
		else
			return false;
		heads += head->all.len;
		value_bytes += v.len;
	}
	const size_t key = KEY_FIXED - 1 + row.len, last = head->all.len;
	const size_t end = d->cell_bytes + count * (KV_LENGTHS + key) + heads + value_bytes;
	if (end - (KV_LENGTHS + key + last + v.len) >= w->full_at)
		return false;
	if (quick_bloom)
		hfile_bloom_add_quick(&w->bloom, row);
	else if (w->bloom.type == BLOOM_ROW &&
		 !hfile_bloom_add(&w->bloom, row, (struct bytes){NULL, 0}))
		return false;
	w->key_bytes += count * key + heads;
	out->len = (size_t)(to - out->ptr);
	put_piece(d->row, row.ptr, row.len);
	d->cell_bytes = end;
	d->key_bytes = key + last;
	d->value_bytes = v.len;
	d->column = v.column;
	d->ts = ts;
	hfile_writer_count_row(w, time, count, value_bytes);
	return true;
}

/* Add a row that hfile_bloom_add_quick cannot add, or that has no bloom filter. */
static __attribute__((noinline)) int add_otherwise(struct hfile_writer *w, struct bytes row,
						   int64_t ts, const struct cell_value *values,
						   size_t count, struct error *err)
{
	if (w->direct.open && put_row(w, row, ts, values, count, false))
		return 0;
	return hfile_writer_add_any(w, row, ts, values, count, err);
}

int hfile_add_values(struct hfile_writer *w, struct bytes row, int64_t ts,
		     const struct cell_value *values, size_t count, struct error *err)
{
	if (!w->direct.open || w->bloom.type != BLOOM_ROW || !hfile_bloom_is_quick(&w->bloom, row))
		return add_otherwise(w, row, ts, values, count, err);
	if (__builtin_expect(put_row(w, row, ts, values, count, true), 1))
		return 0;
	return hfile_writer_add_any(w, row, ts, values, count, err);
}
