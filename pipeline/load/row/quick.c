/*
 * quick.c - encode up to 64 usual events together, a column at a time (the fast path)
 *
 * The fast path handles jobs with fields of whole numbers and texts, keys of numbers with the usual
 * salt, and cells of text or numbers. This path converts every number and tests every text without
 * a branch for faults. The fast path refuses a batch if one event is unusual (a null, a sign, a
 * fault, a very long text). The slow path (values.c, build_key.c and pack.c) then encodes all
 * events of the batch. Both paths write the same bytes.
 *
 * The function writes records at their final place, each field by one store of fixed size. Later
 * writes overwrite the excess bytes of such a store. Therefore it writes payloads first, from left
 * to right, then keys from the last part to the first, then the heads before the keys.
 */
#include "digits.h"
#include "field.h"
#include "compiled.h"
#include "key.h"

#define SHORT_BYTES EVENT_ROOM_BYTES
#define TEXT_MAX    120 /* longest text, so that length + 1 is a varint of one byte */
#define HEAD_MAX    (RECORD_HEAD + 2)
#define PAUSE_MAX   16

/* Return true if a null spelling consists of digits, so that it looks like a number. */
static bool some_null_is_digits(const struct binding *b)
{
	for (size_t i = 0; i < b->nnulls; i++) {
		size_t n = 0;

		while (n < b->nulls[i].len && b->nulls[i].ptr[n] >= '0' &&
		       b->nulls[i].ptr[n] <= '9')
			n++;
		if (n > 0 && n == b->nulls[i].len)
			return true;
	}
	return false;
}

static bool compile_bindings(struct row_plan *p)
{
	p->quick_numbers = arena_alloc(&p->arena, (p->nbindings + 1) * sizeof *p->quick_numbers);
	p->quick_texts = arena_alloc(&p->arena, (p->nbindings + 1) * sizeof *p->quick_texts);
	for (size_t i = 0; i < p->nbindings; i++) {
		const struct binding *b = &p->bindings[i];

		if (b->computed || b->quick == QUICK_SLOW)
			return false;
		if (b->quick == QUICK_TEXT) {
			p->quick_texts[p->nquick_texts++] =
				(struct quick_text){b->column, b->null_lengths, b};
			continue;
		}
		if (some_null_is_digits(b))
			return false;
		p->quick_numbers[p->nquick_numbers++] =
			(struct quick_number){b->column, i, b->quick_max, b->quick_scale};
	}
	return true;
}

/* Count the cells so far that contain the text of the column. */
static size_t count_copies(const struct table_plan *t, size_t column)
{
	size_t n = 0;

	for (size_t i = 0; i < t->nquick_cells; i++)
		n += t->quick_cells[i].text && t->quick_cells[i].column == column;
	return n;
}

static bool compile_cells(struct row_plan *p, struct table_plan *t)
{
	t->quick_cells = arena_alloc(&p->arena, (t->ncells + 1) * sizeof *t->quick_cells);
	for (const struct cell_step *s = t->cells; s < t->cells + t->ncells; s++) {
		if (s->computed || s->refers || s->ttl_unit_ms ||
		    (!s->constant && !s->plain && s->layout.kind != LAY_NUMBER))
			return false;
		if (s->constant)
			continue;
		size_t copies =
			s->plain ? 1 + count_copies(t, p->bindings[s->layout.slot].column) : 0;
		t->quick_copies = copies > t->quick_copies ? copies : t->quick_copies;
		t->quick_cells[t->nquick_cells++] = (struct quick_cell){
			s->plain,	s->layout.width, p->bindings[s->layout.slot].column,
			s->layout.slot, s->layout.bias,	 s->layout.span,
			s->layout.flip};
		t->quick_bytes += s->plain ? 1 : 1 + s->layout.width;
	}
	return t->ncells > 0;
}

static void compile_uses(struct row_plan *p, size_t ncolumns)
{
	p->uses = arena_alloc(&p->arena, ncolumns + 1);
	for (size_t i = 0; i < p->nquick_numbers; i++)
		p->uses[p->quick_numbers[i].column] |= USE_NUMBER;
	for (size_t i = 0; i < p->nquick_texts; i++)
		p->uses[p->quick_texts[i].column] |= USE_TEXT;
	for (size_t t = 0; t < p->ntables; t++)
		for (size_t i = 0; i < p->tables[t].nquick_cells; i++)
			if (p->tables[t].quick_cells[i].text)
				p->uses[p->tables[t].quick_cells[i].column] |= USE_TEXT;
}

const uint8_t *row_batch_uses(const struct row_plan *p)
{
	return p->quick ? p->uses : NULL;
}

void quick_compile(struct row_plan *p, size_t ncolumns)
{
	p->quick = !p->conditional && compile_bindings(p);
	for (size_t i = 0; p->quick && i < p->ntables; i++) {
		struct table_plan *t = &p->tables[i];

		p->quick = t->key.simple && t->key.fixed > 0 && compile_cells(p, t) &&
			   (t->key.nderived == 0 || t->key.one_salt || t->key.drawn);
	}
	if (p->quick)
		compile_uses(p, ncolumns);
}

static bool spells_null(const struct binding *b, struct bytes text)
{
	for (size_t i = 0; i < b->nnulls; i++)
		if (bytes_eq(b->nulls[i], text))
			return true;
	return false;
}

/*
 * Return true if the text is ASCII and not null. `ascii` is true if all texts of the batch are
 * ASCII.
 */
static inline bool test_text(const struct quick_text *q, struct bytes text, bool ascii)
{
	if (q->null_lengths >> (text.len < 63 ? text.len : 63) & 1 && spells_null(q->binding, text))
		return false;
	return ascii || (text.len - 1 < 7 ? plain_word(load64(text.ptr) | ONES << 8 * text.len)
					  : is_plain_ascii(text));
}

static bool test_texts(const struct quick_text *q, const struct event_rows *rows, bool ascii)
{
	const uint16_t *end = rows->ends + q->column;

	for (size_t i = 0; i < rows->n; i++, end += rows->stride) {
		struct row_field f = row_field(end);

		if (!test_text(q, bytes_of(rows->text + f.at, f.len), ascii))
			return false;
	}
	return true;
}

/* --- columns of batches from binary formats and JSON --- */

static const struct column *made_texts(const struct event_rows *rows, size_t column)
{
	return rows->made->texts + column * EVENT_BATCH;
}

/* Return the text of a column, which is in the short texts if the column has short texts. */
static inline struct bytes made_text(const struct event_rows *rows, size_t column, size_t row)
{
	const struct short_text *shorts = rows->made->shorts[column];
	const struct column *c = made_texts(rows, column) + row;

	return shorts ? bytes_of(shorts[row].bytes + 1, shorts[row].bytes[0] - 1u)
		      : bytes_of(c->ptr, c->len);
}

static bool test_made_texts(const struct quick_text *q, const struct event_rows *rows)
{
	const bool ascii = rows->made->shorts[q->column] != NULL;

	for (size_t i = 0; i < rows->n; i++)
		if (!test_text(q, made_text(rows, q->column, i), ascii))
			return false;
	return true;
}

static inline __attribute__((always_inline)) bool
scale_all(uint64_t max, uint64_t scale, const uint64_t *from, size_t n, uint64_t *u)
{
	bool bad = false;

	for (size_t i = 0; i < n; i++) {
		bad |= from[i] > max;
		u[i] = from[i] * scale;
	}
	return !bad;
}

static bool scale_numbers(const struct quick_number *q, const uint64_t *from, size_t n, uint64_t *u)
{
	return q->scale == 1 ? scale_all(q->max, 1, from, n, u)
			     : scale_all(q->max, q->scale, from, n, u);
}

static bool take_made_numbers(const struct quick_number *q, const struct event_rows *rows,
			      uint64_t *u)
{
	const uint64_t *given = rows->made->numbers[q->column];

	for (size_t i = 0; !given && i < rows->n; i++)
		if (!digits_portable(made_text(rows, q->column, i), &u[i]))
			return false;
	return scale_numbers(q, given ? given : u, rows->n, u);
}

static bool take_made_columns(struct row_encoder *e, const struct event_rows *rows)
{
	const struct row_plan *p = e->plan;

	for (const struct quick_number *q = p->quick_numbers, *end = q + p->nquick_numbers; q < end;
	     q++)
		if (!take_made_numbers(q, rows, e->numbers + q->slot * EVENT_BATCH))
			return false;
	for (const struct quick_text *q = p->quick_texts, *end = q + p->nquick_texts; q < end; q++)
		if (!test_made_texts(q, rows))
			return false;
	return true;
}

/* --- columns of text --- */

/* Return the text from the first row's start to the last row's end. */
static struct bytes whole_text(const struct event_rows *rows)
{
	size_t at = rows_start(rows, 0);
	size_t end = rows->ends[(rows->n - 1) * rows->stride + rows->ncolumns - 1];

	return bytes_of(rows->text + at, end - at);
}

static bool take_columns(struct row_encoder *e, const struct event_rows *rows)
{
	const struct row_plan *p = e->plan;

	for (const struct quick_number *q = p->quick_numbers, *end = q + p->nquick_numbers; q < end;
	     q++)
		if (!e->take_numbers(q, rows, e->numbers + q->slot * EVENT_BATCH))
			return false;
	if (p->nquick_texts == 0)
		return true;
	struct bytes text = whole_text(rows);
	bool ascii = plain_run(text.ptr, text.len);
	for (const struct quick_text *q = p->quick_texts, *end = q + p->nquick_texts; q < end; q++)
		if (!test_texts(q, rows, ascii))
			return false;
	return true;
}

static size_t secondary_bytes(const struct table_plan *t)
{
	return t->ts == TS_MINOR ? 8 : 0;
}

static inline struct bytes cell_text(const struct event_rows *rows, size_t column, size_t row,
				     bool made)
{
	if (made)
		return made_text(rows, column, row);
	struct row_field f = row_field(rows->ends + row * rows->stride + column);
	return bytes_of(rows->text + f.at, f.len);
}

/*
 * Write a cell. Return the end of the cell, or NULL if the cell does not fit or its number is out
 * of range.
 */
static inline uint8_t *put_cell(const struct quick_cell *q, const struct event_rows *rows,
				size_t row, const struct short_text *const *shorts,
				const uint64_t *numbers, uint8_t *to)
{
	const bool made = shorts != NULL;

	if (q->text && made && shorts[q->column]) {
		const struct short_text *text = shorts[q->column] + row;

		memcpy(to, text, sizeof *text);
		return to + text->bytes[0];
	}
	if (q->text) {
		struct bytes text = cell_text(rows, q->column, row, made);

		*to++ = (uint8_t)(text.len + 1);
		if (__builtin_expect(text.len > TEXT_MAX, 0))
			return NULL;
		if (text.len <= SHORT_BYTES)
			memcpy(to, text.ptr, SHORT_BYTES);
		else
			copy_short(to, text.ptr, text.len);
		return to + text.len;
	}
	uint64_t u = numbers[q->slot * EVENT_BATCH];
	*to++ = (uint8_t)(q->width + 1);
	put_be64(to, (u ^ q->flip) << (64 - 8 * q->width));
	return u - q->bias > q->span ? NULL : to + q->width;
}

/* Write the payloads. Each payload overwrites the excess bytes of the payload before. */
static inline __attribute__((always_inline)) bool put_payloads(const struct row_encoder *e,
							       const struct table_plan *t,
							       const struct event_rows *rows,
							       bool made, struct record_batch *out)
{
	/* copies, because a store to a payload may not change them */
	const struct event_rows r = *rows;
	const struct short_text *const *shorts = made ? r.made->shorts : NULL;
	const size_t before = out->head + t->key.fixed + secondary_bytes(t);
	const struct quick_cell *first = t->quick_cells, *end = first + t->nquick_cells;
	const uint64_t *numbers = e->numbers;
	uint8_t *start = out->to, *to = start;

	for (size_t i = 0; i < r.n; i++) {
		out->at[i] = (uint32_t)(to - start);
		to += before;
		for (const struct quick_cell *q = first; q < end; q++)
			if (!(to = put_cell(q, &r, i, shorts, numbers + i, to)))
				return false;
	}
	out->at[r.n] = (uint32_t)(to - start);
	return true;
}

/* Return true if no accepted number can exceed the part's range. */
static bool always_fits(const struct row_plan *p, const struct number *part)
{
	const struct binding *b = &p->bindings[part->slot];
	uint64_t most;

	return part->bias == 0 && !__builtin_mul_overflow(b->quick_max, b->quick_scale, &most) &&
	       most <= part->span;
}

static bool all_fit(const uint64_t *u, size_t n, const struct number *part)
{
	bool bad = false;

	for (size_t i = 0; i < n; i++)
		bad |= u[i] - part->bias > part->span;
	return !bad;
}

/* Return the bytes of the event without its line end. */
static struct bytes row_text(const struct event_rows *rows, size_t row)
{
	if (rows->made)
		return rows->made->raws ? rows->made->raws[row] : bytes_of("", 0);
	const uint16_t *ends = rows->ends + row * rows->stride;
	size_t at = row_field(ends).at;
	return bytes_of(rows->text + at, ends[rows->ncolumns - 1] - at);
}

static void draw_salts(const struct key_schema *key, const struct event_rows *rows,
		       const struct record_batch *out, uint8_t *keys)
{
	const struct key_derived *d = key->derived;

	for (size_t i = 0; i < out->n; i++) {
		uint64_t salt = salt_drawn(d->part, row_text(rows, i), rows->line + i);
		uint8_t *to = keys + out->at[i] + key->spans[d->at].at;

		for (uint32_t k = d->width; k-- > 0; salt >>= 8)
			to[k] = (uint8_t)salt;
	}
}

/*
 * Write the keys, from the last part to the first. One store of eight bytes writes each part, and
 * ends at the end of the part.
 */
static bool put_keys(struct row_encoder *e, const struct table_plan *t,
		     const struct event_rows *rows, struct record_batch *out)
{
	const struct key_schema *key = &t->key;
	uint8_t *keys = out->to + out->head;

	for (size_t k = key->nnumbers; k-- > 0;) {
		const struct number part = key->numbers[k];
		const uint64_t *u = e->numbers + part.slot * EVENT_BATCH;
		uint8_t *to = keys + part.at - part.shift / 8;

		if (!always_fits(e->plan, &part) && !all_fit(u, out->n, &part))
			return false;
		for (size_t i = 0, n = out->n; i < n; i++)
			put_be64(to + out->at[i], u[i] ^ part.flip);
	}
	if (key->drawn)
		draw_salts(key, rows, out, keys);
	for (size_t i = 0; key->one_salt && i < out->n; i++)
		salt_put(&e->keys, key, keys + out->at[i]);
	return true;
}

/*
 * Raise `*newest_ms` to the newest timestamp of the batch. Return false if a timestamp means "now".
 */
static bool put_times(const struct row_encoder *e, const struct table_plan *t,
		      const struct record_batch *out, int64_t *newest_ms)
{
	const uint64_t *u = e->numbers + t->ts_slot * EVENT_BATCH;
	int64_t newest = t->ts_constant;

	if (t->ts != TS_CONSTANT) {
		newest = 0;
		for (size_t i = 0; i < out->n; i++)
			newest = (int64_t)u[i] > newest ? (int64_t)u[i] : newest;
		if (newest == INT64_MAX)
			return false;
	}
	for (size_t i = 0; t->ts == TS_MINOR && i < out->n; i++)
		put_be64(out->to + out->at[i] + out->head + out->key_len,
			 (uint64_t)INT64_MAX - u[i]);
	if (*newest_ms < newest)
		*newest_ms = newest;
	return true;
}

/* Write the heads again, because the store of the key's first part has overwritten them. */
static void put_heads(const struct table_plan *t, const struct event_rows *rows,
		      const struct record_batch *out)
{
	/* copies, because a store to a head may not change them */
	const struct event_rows r = *rows;
	const size_t head = out->head, before = head + t->key.fixed + secondary_bytes(t);
	const uint16_t key_len = (uint16_t)t->key.fixed;
	uint8_t *to = out->to;

	for (size_t i = 0; i < r.n; i++) {
		uint8_t *p = to + out->at[i];
		uint32_t seq = (uint32_t)row_seq(&r, i);
		size_t payload = out->at[i + 1] - out->at[i] - before, k = RECORD_HEAD;

		memcpy(p, &seq, 4);
		memcpy(p + 4, &key_len, 2);
		for (; k + 1 < head; k++, payload >>= 7)
			p[k] = (uint8_t)(payload | 0x80);
		p[k] = (uint8_t)payload;
	}
}

static size_t payload_most(const struct table_plan *t, size_t longest)
{
	return t->quick_bytes + t->quick_copies * longest;
}

static bool encode_table(struct row_encoder *e, const struct table_plan *t,
			 const struct event_rows *rows, int64_t *newest_ms,
			 struct record_batch *out)
{
	size_t most = payload_most(t, rows->longest);

	out->n = rows->n;
	out->head = RECORD_HEAD + (most < 1u << 7 ? 1u : 2u);
	out->key_len = t->key.fixed;
	out->first_seq = row_seq(rows, 0);
	out->last_seq = row_seq(rows, rows->n - 1);
	if (most >= RECORD_PAYLOAD ||
	    !(rows->made ? put_payloads(e, t, rows, true, out)
			 : put_payloads(e, t, rows, false, out)) ||
	    !put_keys(e, t, rows, out) || !put_times(e, t, out, newest_ms))
		return false;
	put_heads(t, rows, out);
	return true;
}

static bool encode_all(struct row_encoder *e, const struct event_rows *rows,
		       struct record_batch *out)
{
	const struct row_plan *p = e->plan;
	int64_t newest_ms = e->newest_ms;

	_Static_assert(EVENT_BATCH <= RECORD_BATCH && SHORT_BYTES <= RECORD_SLACK, "there is room");
	if (!(rows->made ? take_made_columns(e, rows) : take_columns(e, rows)))
		return false;
	for (size_t i = 0; i < p->ntables; i++)
		if (!encode_table(e, &p->tables[i], rows, &newest_ms, &out[i]))
			return false;
	e->newest_ms = newest_ms;
	return true;
}

void quick_start(struct row_encoder *e)
{
	take_numbers *ways[QUICK_WAYS];
	e->take_numbers = ways[quick_ways(ways) - 1];
	e->numbers = mem_calloc((e->plan->nbindings + 1) * EVENT_BATCH, sizeof *e->numbers);
}

size_t row_batch_bytes(const struct row_encoder *e, size_t table, const struct event_rows *rows)
{
	const struct table_plan *t = &e->plan->tables[table];

	if (!e->plan->quick || rows->ncolumns < e->plan->ncolumns)
		return 0;
	if (payload_most(t, rows->longest) >= RECORD_PAYLOAD)
		return 0; /* row_encode takes these events, so the batch needs no space */
	size_t each = HEAD_MAX + t->key.fixed + secondary_bytes(t) + t->quick_bytes;
	size_t bytes = rows->made ? rows->made->bytes : whole_text(rows).len;
	return rows->n * each + t->quick_copies * bytes;
}

/* Encode a batch. After each refusal, try the fast path less often. */
bool row_encode_batch(struct row_encoder *e, const struct event_rows *rows,
		      struct record_batch *out)
{
	if (!e->plan->quick || rows->ncolumns < e->plan->ncolumns)
		return false;
	if (e->wait > 0) {
		e->wait--;
		return false;
	}
	if (encode_all(e, rows, out)) {
		e->pause = 0;
		return true;
	}
	e->wait = e->pause;
	e->pause = e->pause < PAUSE_MAX ? 2 * e->pause + 1 : PAUSE_MAX;
	return false;
}
