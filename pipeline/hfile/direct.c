/* direct.c - encode rows of known columns straight into a DIFF block (direct.h) */
#include "direct.h"

#include "writer.h"

#define PLAIN_BYTES_AT (HBLOCK_HEADER + 2) /* after the encoding id */
#define PAUSE_MOST     64

static const struct block_format diff = {.encoding = ENCODING_DIFF};

/* Note the length of the last row, and whether quick_row.c may add the next row. */
static inline void set_row_bytes(struct hfile_writer *w, size_t row_bytes)
{
	bool fits = KEY_FIXED - 1 + row_bytes + w->head_most < SHORT_LENGTHS;

	w->direct.row_bytes = row_bytes;
	w->direct.short_row = fits && w->bloom.type != BLOOM_ROWPREFIX ? row_bytes : 0;
}

int hfile_direct_begin(struct hfile_writer *w, size_t row_bytes, struct error *err)
{
	struct direct *d = &w->direct;
	struct buf *cells = &w->buffers->cells, *encoded = &w->buffers->encoded;

	if (d->wait || !w->previous_at || cells->len >= w->full_at || row_bytes > DIRECT_ROW_MOST)
		return 0;
	struct kv last = hfile_kv_at(cells->ptr + w->previous_at - KV_LENGTHS);
	struct bytes row = hfile_kv_key_row(last.key);
	if (row.len > DIRECT_ROW_MOST)
		return 0;
	const struct bytes plain = {cells->ptr + HBLOCK_HEADER, cells->len - HBLOCK_HEADER};
	int rc = hfile_block_begin(encoded, cells->len, err);
	if (rc == RC_OK)
		rc = hfile_block_encode(&diff, plain, encoded, err);
	if (rc)
		return rc;
	memcpy(d->row, row.ptr, row.len);
	set_row_bytes(w, row.len);
	d->key_bytes = last.key.len;
	d->value_bytes = (uint32_t)last.value.len;
	d->ts = get_be64(last.key.ptr + last.key.len - 9);
	d->type = last.key.ptr[last.key.len - 1];
	d->cell_bytes = cells->len;
	d->open = true;
	return 0;
}

static inline uint8_t *put_value(uint8_t *to, const struct cell_value *v)
{
	if (__builtin_expect(v->roomy, 1))
		return put_wide(to, v->ptr, v->len);
	copy_short(to, v->ptr, v->len);
	return to + v->len;
}

/* Put what differs from the row before, which is of another length. */
static uint8_t *put_other_length(uint8_t *to, size_t before, struct bytes row)
{
	bool alike = before >> 8 == row.len >> 8;

	*to++ = alike;
	*to = (uint8_t)(row.len >> 8);
	to += !alike;
	*to++ = (uint8_t)row.len;
	return put_wide(to, row.ptr, row.len);
}

/* Put the first cell of a row, which differs from the row before. */
static inline uint8_t *put_first(uint8_t *to, const struct direct *d, const struct direct_row *r,
				 const struct column_head *head, size_t family)
{
	const size_t key_bytes = KEY_FIXED - 1 + r->key.len + head->all.len;
	const struct diff_time time = diff_time_of(d->ts, r->ts);
	unsigned flag = time.bits;
	uint8_t *start = to++;

	if (d->key_bytes == key_bytes)
		flag |= DIFF_SAME_KEY_BYTES;
	else
		to = put_length(to, key_bytes);
	if (d->value_bytes == r->values->len)
		flag |= DIFF_SAME_VALUE_BYTES;
	else
		to = put_length(to, r->values->len);
	if (__builtin_expect(d->row_bytes == r->key.len, 1)) {
		to = put_length(to, 2 + r->same);
		to = put_wide(to, r->key.ptr + r->same, r->key.len - r->same);
	} else {
		to = put_other_length(to, d->row_bytes, r->key);
	}
	to = put_wide(to, head->all.ptr + family, head->all.len - family);
	to = put_time(to, &time);
	if (__builtin_expect(d->type == CELL_PUT, 1))
		flag |= DIFF_SAME_TYPE;
	else
		*to++ = CELL_PUT;
	*start = (uint8_t)flag;
	return put_value(to, r->values);
}

/*
 * Put a cell with the row and the time of the cell before, which has the column `before` and the
 * value v[-1].
 */
static inline uint8_t *put_next(uint8_t *to, size_t row, uint64_t ts, const struct cell_value *v,
				const struct column_head *before, const struct column_head *head)
{
	unsigned flag = DIFF_SAME_TYPE;
	uint8_t *start = to++;
	size_t same = head->same;

	if (before->all.len == head->all.len)
		flag |= DIFF_SAME_KEY_BYTES;
	else
		to = put_length(to, KEY_FIXED - 1 + row + head->all.len);
	if (v[-1].len == v->len)
		flag |= DIFF_SAME_VALUE_BYTES;
	else
		to = put_length(to, v->len);
	if (head != before + 1) { /* columns are absent */
		size_t least = before->all.len < head->all.len ? before->all.len : head->all.len;

		same = common_bytes(before->all.ptr, head->all.ptr, least);
	}
	to = put_length(to, 2 + row + same);
	to = put_wide(to, head->all.ptr + same, head->all.len - same);
	/* a time of one byte is as short as the difference 0 */
	*to++ = ts > UINT8_MAX ? 0 : (uint8_t)ts;
	*start = (uint8_t)(ts > UINT8_MAX ? flag | DIFF_TIME_DIFFERENCE : flag);
	return put_value(to, v);
}

size_t hfile_direct_add(struct hfile_writer *w, const struct direct_row *r)
{
	struct direct *d = &w->direct;
	struct buf *out = &w->buffers->encoded;
	const size_t family = w->family.len, row = r->key.len, full_at = w->full_at;
	const size_t fixed = KV_LENGTHS + KEY_FIXED - 1 + row;
	const size_t most = r->value_bytes + r->count * (fixed + w->head_most + ENCODED_ROOM);
	const struct cell_value *v = r->values, *end = v + r->count;
	const struct column_head *head = &w->heads[v->column];
	size_t cell_bytes = d->cell_bytes, heads;

	if (cell_bytes >= full_at || (out->cap - out->len < most && !buf_try_reserve(out, most)))
		return 0;
	uint8_t *to = put_first(out->ptr + out->len, d, r, head, family);
	cell_bytes += fixed + head->all.len + v->len;
	heads = head->all.len;
	for (v++; v < end && cell_bytes < full_at; v++) {
		const struct column_head *before = head;

		head = &w->heads[v->column];
		to = put_next(to, row, r->ts, v, before, head);
		cell_bytes += fixed + head->all.len + v->len;
		heads += head->all.len;
	}
	const size_t n = (size_t)(v - r->values);
	w->key_bytes += n * (fixed - KV_LENGTHS) + heads;
	out->len = (size_t)(to - out->ptr);
	put_wide(d->row, r->key.ptr, row);
	d->cell_bytes = cell_bytes;
	set_row_bytes(w, row);
	d->key_bytes = fixed - KV_LENGTHS + head->all.len;
	d->value_bytes = v[-1].len;
	d->column = v[-1].column;
	d->ts = r->ts;
	d->type = CELL_PUT;
	return n;
}

void hfile_direct_head(struct column_head *head, bool same_bytes)
{
	const size_t rest = head->all.len - head->same;

	head->next_flag = DIFF_SAME_TYPE | DIFF_TIME_DIFFERENCE;
	if (same_bytes)
		head->next_flag |= DIFF_SAME_KEY_BYTES;
	if (1 + rest + 1 > sizeof head->next)
		return;
	memcpy(head->next + 1, head->all.ptr + head->same, rest);
	head->next_bytes = (uint8_t)(1 + rest + 1);
}

/* Put the length of the plain cells into the payload. */
static void end_payload(struct hfile_writer *w)
{
	put_be32(w->buffers->encoded.ptr + PLAIN_BYTES_AT,
		 (uint32_t)(w->direct.cell_bytes - HBLOCK_HEADER));
}

int hfile_direct_leave(struct hfile_writer *w, struct error *err)
{
	struct direct *d = &w->direct;
	struct buf *cells = &w->buffers->cells;
	const struct buf *encoded = &w->buffers->encoded;
	struct bytes plain;

	end_payload(w);
	int rc = hfile_block_decode(&diff,
				    bytes_of(encoded->ptr + HBLOCK_HEADER,
					     encoded->len - HBLOCK_HEADER),
				    &w->scratch->work, &plain, err);
	if (rc)
		return rc;
	cells->len = HBLOCK_HEADER;
	if (!buf_try_reserve(cells, plain.len + KV_TAIL_MAX + WRITER_SLACK))
		return error_memory(err, plain.len, "a block of cells");
	buf_fill(cells, plain.ptr, plain.len);
	w->previous_bytes = d->key_bytes;
	w->previous_at = cells->len - d->value_bytes - d->key_bytes;
	d->open = false;
	d->pause = d->pause < PAUSE_MOST ? 2 * d->pause + 1 : d->pause;
	d->wait = d->pause;
	return 0;
}

bool hfile_direct_last(struct hfile_writer *w, struct buf *last)
{
	struct direct *d = &w->direct;
	const struct bytes head = w->heads[d->column].all;

	end_payload(w);
	last->len = 0;
	if (!buf_try_reserve(last, d->key_bytes + WRITER_SLACK))
		return false;
	put_be16(last->ptr, (uint16_t)d->row_bytes);
	last->len = 2;
	buf_fill(last, d->row, d->row_bytes);
	buf_fill(last, head.ptr, head.len);
	buf_fill_be64(last, d->ts);
	buf_fill_byte(last, CELL_PUT);
	return true;
}

void hfile_direct_ended(struct hfile_writer *w)
{
	struct direct *d = &w->direct;

	d->pause = d->open ? 0 : d->pause;
	d->wait -= d->wait > 0;
	d->open = false;
}
