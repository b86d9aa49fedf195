/*
 * add.c - append cells to the open block, which is the hot path
 *
 * The writer copies each cell once, into the open block. The order check compares a cell with the
 * block's last cell, so the writer needs no other copy. All cells of one call have the same row.
 * The function compares only the first cell with the block. It compares other cells with their
 * neighbours in the caller's list, because a read of bytes soon after their write is slow.
 */
#include "kv.h"
#include "writer.h"

/* The difference between a cell and the previous cell. */
enum step { STEP_SAME, STEP_CELL, STEP_COLUMN, STEP_ROW };

static int out_of_order(const struct hfile_writer *w, const struct cell *c, struct error *err)
{
	char row[2][200], qualifier[2][80];
	struct cell k = {0};

	hfile_kv_key_parse(hfile_writer_last_key(w), &k);
	hfile_kv_show(row[0], sizeof row[0], c->row);
	hfile_kv_show(qualifier[0], sizeof qualifier[0], c->qualifier);
	hfile_kv_show(row[1], sizeof row[1], k.row);
	hfile_kv_show(qualifier[1], sizeof qualifier[1], k.qualifier);
	return error_set(
		err, RC_ORDER,
		"found cell %s/%s at %lld (%s), which sorts before the previous cell %s/%s "
		"at %lld (%s), expected cells in order",
		row[0], qualifier[0], (long long)c->ts, cell_type_name(c->type), row[1],
		qualifier[1], (long long)k.ts, cell_type_name(k.type));
}

static int other_family(const struct hfile_writer *w, const struct cell *c, struct error *err)
{
	char ours[200], other[200];

	hfile_kv_show(ours, sizeof ours, bytes_of(w->family.ptr + 1, w->family.len - 1));
	hfile_kv_show(other, sizeof other, c->family);
	return error_set(err, RC_DATA,
			 "found a cell of family %s in a file of family %s, expected one family",
			 other, ours);
}

/*
 * Check the family of a cell, which is the family of the file or empty. If the options have no
 * family, the file takes the family of the first cell.
 */
static int check_family(struct hfile_writer *w, const struct cell *c, struct error *err)
{
	struct bytes ours = {w->family.ptr + 1, w->family.len - 1};

	if (w->cells == 0 && ours.len == 0) {
		int rc = hfile_check_family(c->family, err);

		if (rc)
			return rc;
		if (!hfile_writer_set_family(w, c->family))
			return error_memory(err, c->family.len, "a family name");
		return 0;
	}
	return c->family.len == 0 || bytes_eq(c->family, ours) ? 0 : other_family(w, c, err);
}

static int check_limits(const struct hfile_writer *w, const struct cell *c, struct error *err)
{
	if (c->ts < 0 || c->ts == CELL_TS_LATEST)
		return error_set(err, RC_LIMIT, "found timestamp %lld, expected 0 to %lld",
				 (long long)c->ts, (long long)CELL_TS_LATEST - 1);
	if (!cell_type_known(c->type))
		return error_set(err, RC_DATA,
				 "found a cell of type %u, expected type 4, 8, 10, 12 or 14",
				 c->type);
	if (c->qualifier.len > HBLOCK_PLAIN_MAX / 4 || c->value.len > HBLOCK_PLAIN_MAX / 4)
		return error_set(
			err, RC_LIMIT,
			"found a qualifier of %zu bytes and a value of %zu bytes, expected at "
			"most %u each",
			c->qualifier.len, c->value.len, HBLOCK_PLAIN_MAX / 4);
	if (w->long_tails && c->mvcc > INT64_MAX)
		return error_set(err, RC_LIMIT, "found an mvcc of %llu, expected 0 to %lld",
				 (unsigned long long)c->mvcc, (long long)INT64_MAX);
	if (c->tags.len && !w->opt.tags)
		return error_set(
			err, RC_DATA,
			"found a cell with %zu bytes of tags, expected none in a file without tags",
			c->tags.len);
	if (c->tags.len > KV_TAGS_MAX || !hfile_kv_tags_fit(c->tags))
		return error_set(
			err, RC_DATA,
			"found %zu bytes of tags that are not whole tags, expected whole tags and "
			"at most %d bytes",
			c->tags.len, KV_TAGS_MAX);
	return 0;
}

/*
 * Do the same as bytes_cmp, but faster, because most qualifiers differ in their first byte or are
 * one constant.
 */
static inline int qualifier_cmp(struct bytes a, struct bytes b)
{
	if (a.len && b.len && a.ptr[0] != b.ptr[0])
		return a.ptr[0] < b.ptr[0] ? -1 : 1;
	return a.ptr == b.ptr && a.len == b.len ? 0 : bytes_cmp(a, b);
}

/* Return the order of two cells of one row and family (cell.h). Set `*step` to their difference. */
static inline int compare_in_row(struct bytes qualifier, int64_t ts, uint8_t type,
				 const struct cell *c, enum step *step)
{
	int order = qualifier_cmp(qualifier, c->qualifier);

	*step = STEP_COLUMN;
	if (order == 0) {
		order = (ts < c->ts) - (ts > c->ts);
		order = order ? order : (type < c->type) - (type > c->type);
		*step = order ? STEP_CELL : STEP_SAME;
	}
	return order;
}

/* Compare the last cell of the file with the first cell of a row, and set `*step`. */
static int compare_to_last(const struct hfile_writer *w, const struct cell *c, enum step *step)
{
	*step = STEP_ROW;
	if (w->cells == 0)
		return -1;
	struct bytes last = hfile_writer_last_key(w), last_row = hfile_kv_key_row(last);
	int order = bytes_cmp(last_row, c->row);
	if (order)
		return order;
	size_t head = 2 + c->row.len + w->family.len;
	struct bytes qualifier = {last.ptr + head, last.len - head - 9};
	const uint8_t *end = last.ptr + last.len;
	return compare_in_row(qualifier, (int64_t)get_be64(end - 9), end[-1], c, step);
}

/*
 * Copy `n` bytes. The copy may overwrite up to WRITER_SLACK bytes after the target, but reads only
 * the `n` bytes.
 */
static inline uint8_t *put_bytes(uint8_t *to, const uint8_t *from, size_t n)
{
	if (n > 32) {
		memcpy(to, from, n);
	} else if (n >= 16) {
		memcpy(to + n - 16, from + n - 16, 16);
		memcpy(to, from, 16);
	} else if (n >= 8) {
		memcpy(to + n - 8, from + n - 8, 8);
		memcpy(to, from, 8);
	} else if (n >= 4) {
		memcpy(to + n - 4, from + n - 4, 4);
		memcpy(to, from, 4);
	} else if (n) {
		to[0] = from[0];
		to[n / 2] = from[n / 2];
		to[n - 1] = from[n - 1];
	}
	return to + n;
}

/* Write the length and the name of the family. WRITER_SLACK readable bytes must follow the name. */
static inline uint8_t *put_family(uint8_t *to, const struct buf *family)
{
	if (family->len > 16)
		return put_bytes(to, family->ptr, family->len);
	memcpy(to, family->ptr, 16);
	return to + family->len;
}

static int no_room(size_t bytes, struct error *err)
{
	return error_memory(err, bytes, "a block of cells");
}

/* Write tags and an mvcc if the file has them. */
static uint8_t *put_long_tail(uint8_t *p, const struct hfile_writer *w, const struct cell *c)
{
	if (w->opt.tags) {
		put_be16(p, (uint16_t)c->tags.len);
		p = put_bytes(p + 2, c->tags.ptr, c->tags.len);
	}
	return p + hfile_kv_vint_put(p, (int64_t)c->mvcc);
}

/* Write tags and a zero mvcc if the file has them. */
static inline uint8_t *put_tail(uint8_t *p, const struct hfile_writer *w, const struct cell *c)
{
	const struct bytes tags = c->tags;

	if (w->long_tails)
		return put_long_tail(p, w, c);
	if (tags.len) {
		put_be16(p, (uint16_t)tags.len);
		p = put_bytes(p + 2, tags.ptr, tags.len);
		*p = 0;
		return p + w->opt.mvcc;
	}
	memset(p, 0, KV_TAIL_ZERO);
	return p + w->tail_bytes;
}

static inline int append_cell(struct hfile_writer *w, struct bytes row, const struct cell *c,
			      struct error *err)
{
	struct buf *b = &w->buffers->cells;
	size_t key_bytes = KEY_FIXED - 1 + row.len + w->family.len + c->qualifier.len;
	size_t size = KV_LENGTHS + key_bytes + c->value.len + c->tags.len;

	if (b->cap - b->len < size + KV_TAIL_MAX + WRITER_SLACK &&
	    !buf_try_reserve(b, size + KV_TAIL_MAX + WRITER_SLACK))
		return no_room(size, err);
	uint8_t *p = b->ptr + b->len;
	put_be64(p, (uint64_t)key_bytes << 32 | c->value.len);
	put_be16(p + KV_LENGTHS, (uint16_t)row.len);
	p = put_bytes(p + KV_LENGTHS + 2, row.ptr, row.len);
	p = put_family(p, &w->family);
	p = put_bytes(p, c->qualifier.ptr, c->qualifier.len);
	put_be64(p, (uint64_t)c->ts);
	p[8] = c->type;
	p = put_bytes(p + 9, c->value.ptr, c->value.len);
	p = put_tail(p, w, c);
	w->previous_at = b->len + KV_LENGTHS;
	w->previous_bytes = key_bytes;
	b->len = (size_t)(p - b->ptr);
	w->key_bytes += key_bytes;
	w->value_bytes += c->value.len;
	return 0;
}

/* Return the row of the last cell. */
static inline struct bytes last_row(const struct hfile_writer *w)
{
	if (w->direct.open)
		return bytes_of(w->direct.row, w->direct.row_bytes);
	return hfile_kv_key_row(hfile_writer_last_key(w));
}

/* Add a new row or column to the bloom filter before the block may end (1.1). */
static bool note_bloom(struct hfile_writer *w, struct bytes row, struct bytes qualifier,
		       enum step step)
{
	struct hbloom *b = &w->bloom;

	if (b->type == BLOOM_ROWPREFIX && w->cells) {
		struct bytes before = last_row(w), now = row;

		before.len = before.len < b->prefix ? before.len : b->prefix;
		now.len = now.len < b->prefix ? now.len : b->prefix;
		if (bytes_eq(before, now))
			return true;
	}
	if (step == STEP_ROW || b->type == BLOOM_ROWCOL)
		return hfile_bloom_add(b, row, qualifier);
	return true;
}

/*
 * Add a row with a family delete to the second filter. HBase does not write this filter for ROWCOL.
 */
static bool note_family_delete(struct hfile_writer *w, struct bytes row)
{
	if (w->row_deleted || w->bloom.type == BLOOM_ROWCOL)
		return true;
	w->row_deleted = true;
	return hfile_bloom_add(&w->deletes, row, (struct bytes){NULL, 0});
}

static int bloom_full(struct error *err)
{
	return error_memory(err, 0, "the bloom filter");
}

/* Count the extra bytes that ROW_INDEX_V1 stores for a new row. */
static inline void charge_row(struct hfile_writer *w, enum step step)
{
	if (w->row_cost && (step == STEP_ROW || w->buffers->cells.len == HBLOCK_HEADER))
		w->full_at -= w->full_at > w->row_cost ? w->row_cost : w->full_at;
}

static void count_cell(struct hfile_writer *w, const struct cell *c)
{
	w->cells++;
	w->min_ts = c->ts < w->min_ts ? c->ts : w->min_ts;
	w->max_ts = c->ts > w->max_ts ? c->ts : w->max_ts;
	w->max_tags = c->tags.len > w->max_tags ? (uint32_t)c->tags.len : w->max_tags;
	w->max_mvcc = c->mvcc > w->max_mvcc ? c->mvcc : w->max_mvcc;
	switch (c->type) {
	case CELL_PUT: w->earliest_put = c->ts < w->earliest_put ? c->ts : w->earliest_put; break;
	case CELL_DELETE_FAMILY: w->column_deletes = true; /* fall through */
	case CELL_DELETE_FAMILY_VERSION: w->family_deletes++; break;
	case CELL_DELETE_COLUMN: w->column_deletes = true; break;
	default: break;
	}
}

static inline int add_cell(struct hfile_writer *w, struct bytes row, const struct cell *c,
			   enum step step, struct error *err)
{
	if (w->bloom.type != BLOOM_NONE && step >= STEP_COLUMN &&
	    !note_bloom(w, row, c->qualifier, step))
		return bloom_full(err);
	w->row_deleted = w->row_deleted && step != STEP_ROW;
	if (cell_type_marks_family(c->type) && !note_family_delete(w, row))
		return bloom_full(err);
	if (w->buffers->cells.len >= w->full_at && step != STEP_SAME) {
		int rc = hfile_writer_end_block(w, false, err);

		if (rc)
			return rc;
	}
	if (step == STEP_ROW)
		w->rows++;
	if (w->cells == 0 && !buf_try_append(&w->first_row, row.ptr, row.len))
		return no_room(row.len, err);
	charge_row(w, step);
	int rc = append_cell(w, row, c, err);
	if (rc)
		return rc;
	count_cell(w, c);
	if (w->buffers->cells.len > HBLOCK_PLAIN_MAX)
		return error_set(
			err, RC_LIMIT,
			"found %zu bytes of equal cells, expected at most one block of %u bytes",
			w->buffers->cells.len, HBLOCK_PLAIN_MAX);
	return 0;
}

int hfile_add_row(struct hfile_writer *w, const struct cell *cells, size_t count, struct error *err)
{
	struct bytes row = count ? cells->row : (struct bytes){NULL, 1};

	if (row.len < 1 || row.len > CELL_ROW_MAX)
		return error_set(err, RC_LIMIT, "found a row key of %zu bytes, expected 1 to %d",
				 row.len, CELL_ROW_MAX);
	if (w->direct.open) {
		int rc = hfile_direct_leave(w, err);

		if (rc)
			return rc;
	}
	for (const struct cell *c = cells; c < cells + count; c++) {
		enum step step;
		int rc = check_limits(w, c, err);

		if (rc == RC_OK)
			rc = check_family(w, c, err);
		if (rc)
			return rc;
		int order = c == cells ? compare_to_last(w, c, &step)
				       : compare_in_row(c[-1].qualifier, c[-1].ts, c[-1].type, c,
							&step);
		if (order > 0)
			return out_of_order(w, c, err);
		rc = add_cell(w, row, c, step, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* --- rows of known columns --- */

/*
 * Return the number of leading bytes that two rows share. Set *follows to true if `row` sorts after
 * `last`. 8 readable bytes must follow each row.
 */
static inline size_t compare_rows(struct bytes last, struct bytes row, bool *follows)
{
	size_t n = last.len < row.len ? last.len : row.len;
	size_t same = common_bytes(last.ptr, row.ptr, n);

	*follows = same < n ? last.ptr[same] < row.ptr[same] : last.len < row.len;
	return same;
}

/* The place of a cell in the block. */
struct added_cell {
	size_t at, key_bytes, end;
};

/*
 * Do the same as put_bytes, without a branch on the length. CELL_ROOM_BYTES of the source must be
 * readable.
 */
static inline uint8_t *put_roomy(uint8_t *to, const uint8_t *from, size_t n)
{
	if (__builtin_expect(n > CELL_ROOM_BYTES, 0))
		return put_bytes(to, from, n);
	memcpy(to, from, 16);
	if (n > 16)
		memcpy(to + 16, from + 16, 16);
	return to + n;
}

/* Make room for `bytes` bytes at offset `at` of the block. */
static __attribute__((noinline)) bool grow_block(struct buf *b, size_t at, size_t bytes)
{
	b->len = at;
	return buf_try_reserve(b, bytes);
}

/*
 * Put the cell at offset `at` of the block without updating the block's lengths. The result's `end`
 * is 0 if memory is short.
 */
static inline struct added_cell put_value(const struct hfile_writer *w, struct buf *b, size_t at,
					  struct bytes row, uint64_t ts, const struct cell_value *v)
{
	const struct column_head *head = &w->heads[v->column];
	size_t key_bytes = KEY_FIXED - 1 + row.len + head->all.len;
	size_t end = at + KV_LENGTHS + key_bytes + v->len;

	if (__builtin_expect(end + KV_TAIL_MAX + WRITER_SLACK > b->cap, 0) &&
	    !grow_block(b, at, end - at + KV_TAIL_MAX + WRITER_SLACK))
		return (struct added_cell){0};
	uint8_t *p = b->ptr + at;
	put_be64(p, (uint64_t)key_bytes << 32 | v->len);
	put_be16(p + KV_LENGTHS, (uint16_t)row.len);
	p = put_roomy(p + KV_LENGTHS + 2, row.ptr, row.len);
	memcpy(p, head->start, sizeof head->start);
	if (head->all.len > sizeof head->start)
		put_bytes(p, head->all.ptr, head->all.len);
	p += head->all.len;
	put_be64(p, ts);
	p[8] = CELL_PUT;
	p = v->roomy ? put_roomy(p + 9, v->ptr, v->len) : put_bytes(p + 9, v->ptr, v->len);
	memset(p, 0, KV_TAIL_ZERO);
	return (struct added_cell){at, key_bytes, end + w->tail_bytes};
}

static struct cell cell_of(const struct hfile_writer *w, struct bytes row, int64_t ts,
			   const struct cell_value *v)
{
	struct bytes head = w->heads[v->column].all;

	return (struct cell){.row = row,
			     .qualifier =
				     bytes_of(head.ptr + w->family.len, head.len - w->family.len),
			     .ts = ts,
			     .value = bytes_of(v->ptr, v->len),
			     .type = CELL_PUT};
}

/* Add a row on the slow path, which handles the first row, long values and all errors. */
static __attribute__((noinline)) int add_slowly(struct hfile_writer *w, struct bytes row,
						int64_t ts, const struct cell_value *values,
						size_t count, struct error *err)
{
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < count; i++) {
		struct cell c = cell_of(w, row, ts, &values[i]);

		rc = hfile_add_row(w, &c, 1, err);
	}
	return rc;
}

/*
 * Return true if the fast path can add a row, and fill the rest of `r`. This function checks the
 * order and all limits. The first row of a file takes the slow path.
 */
static inline bool may_be_quick(const struct hfile_writer *w, struct direct_row *r)
{
	if (r->count == 0 || w->cells == 0 || r->key.len - 1 >= CELL_ROW_MAX ||
	    r->ts >= CELL_TS_LATEST || (w->direct.open && r->key.len > DIRECT_ROW_MOST))
		return false;
	size_t next = 0, longest = 0; /* `next` is a column */
	bool fine;
	r->same = compare_rows(last_row(w), r->key, &fine);
	for (const struct cell_value *v = r->values; v < r->values + r->count; v++) {
		fine &= v->column >= next;
		longest |= v->len;
		r->value_bytes += v->len;
		next = v->column + 1u;
	}
	return fine && longest < DIRECT_VALUE_MOST;
}

/* Update the block's length and the data of its last cell. */
static inline void note_cell(struct hfile_writer *w, const struct added_cell *last)
{
	w->buffers->cells.len = last->end;
	if (last->key_bytes) {
		w->previous_at = last->at + KV_LENGTHS;
		w->previous_bytes = last->key_bytes;
	}
}

/*
 * Finish a full block, or a block after each cell if the caller counts bytes. `*last` is the last
 * added cell.
 */
static __attribute__((noinline)) int before_value(struct hfile_writer *w, struct added_cell *last,
						  struct bytes row, int64_t ts,
						  const struct cell_value *v, enum step step,
						  struct error *err)
{
	struct cell c = cell_of(w, row, ts, v);

	note_cell(w, last);
	if (w->bloom.type == BLOOM_ROWCOL && !note_bloom(w, row, c.qualifier, step))
		return bloom_full(err);
	if (w->buffers->cells.len >= w->full_at) {
		int rc = hfile_writer_end_block(w, false, err);

		if (rc)
			return rc;
	}
	charge_row(w, step);
	last->end = w->buffers->cells.len;
	return 0;
}

/* Put cells into the open plain block. */
static inline int put_values(struct hfile_writer *w, const struct direct_row *r, size_t from,
			     struct error *err)
{
	bool each = w->bloom.type == BLOOM_ROWCOL || w->row_cost;
	struct buf *b = &w->buffers->cells;
	struct added_cell c = {.end = b->len};

	for (const struct cell_value *v = r->values + from; v < r->values + r->count; v++) {
		if (__builtin_expect(c.end >= w->full_at || each, 0)) {
			enum step step = v == r->values ? STEP_ROW : STEP_COLUMN;
			int rc = before_value(w, &c, r->key, (int64_t)r->ts, v, step, err);

			if (rc)
				return rc;
		}
		c = put_value(w, b, c.end, r->key, r->ts, v);
		if (__builtin_expect(c.end == 0, 0))
			return no_room(v->len, err);
		w->key_bytes += c.key_bytes;
	}
	note_cell(w, &c);
	return 0;
}

/* Put a row into a direct block, and the cells after the end of that block into a plain block. */
static inline int put_direct(struct hfile_writer *w, const struct direct_row *r, struct error *err)
{
	size_t n = 0;
	int rc = w->direct.open ? 0 : hfile_direct_begin(w, r->key.len, err);

	if (rc == RC_OK && w->direct.open) {
		n = hfile_direct_add(w, r);
		if (n == r->count)
			return 0;
		if (w->direct.cell_bytes < w->full_at)
			return no_room(r->key.len, err);
		rc = hfile_writer_end_block(w, false, err);
	}
	return rc ? rc : put_values(w, r, n, err);
}

int hfile_writer_add_any(struct hfile_writer *w, struct bytes row, int64_t ts,
			 const struct cell_value *values, size_t count, struct error *err)
{
	struct direct_row r = {.key = row, .ts = (uint64_t)ts, .values = values, .count = count};

	if (!may_be_quick(w, &r))
		return add_slowly(w, row, ts, values, count, err);
	bool fits = true;
	if (w->bloom.type == BLOOM_ROW)
		fits = hfile_bloom_add(&w->bloom, row, (struct bytes){0});
	else if (w->bloom.type == BLOOM_ROWPREFIX)
		fits = note_bloom(w, row, (struct bytes){0}, STEP_ROW);
	if (__builtin_expect(!fits, 0))
		return bloom_full(err);
	int rc = w->direct.possible ? put_direct(w, &r, err) : put_values(w, &r, 0, err);
	if (rc)
		return rc;
	hfile_writer_count_row(w, ts, count, r.value_bytes);
	return 0;
}

int hfile_add(struct hfile_writer *w, const struct cell *c, struct error *err)
{
	return hfile_add_row(w, c, 1, err);
}
