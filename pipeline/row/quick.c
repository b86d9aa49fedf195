/*
 * quick.c - some usual events at once, a column at a time, without a branch on what they hold
 *
 * For plans of whole numbers and texts, keys of numbers and the usual salt, and cells of text or
 * numbers: every number is converted, every text tested, and what is wrong is only collected.
 * What the plan says is so read once for all events.  If one of them is not as usual - a null, a
 * sign, a fault, a very long text - all are left to decode.c, key.c and encode.c, which judge them
 * from their start; both ways give the same bytes.
 */
#include "digits.h"
#include "plan.h"
#include "simple.h"

#define SHORT_BYTES EVENT_ROOM_BYTES
#define TEXT_MAX    120 /* its length + 1 is a varint of one byte */
#define NUMBER_ROOM (1 + 8)
#define ROOM_MAX    ((size_t)1 << 20) /* for the payloads of all events; wider tables go the long way */
#define PAUSE_MAX   16

/* A null spelling that would pass for a number. */
static bool some_null_is_digits(const struct binding *b)
{
	for (size_t i = 0; i < b->nnulls; i++) {
		size_t n = 0;
		while (n < b->nulls[i].len && b->nulls[i].ptr[n] >= '0' && b->nulls[i].ptr[n] <= '9')
			n++;
		if (n > 0 && n == b->nulls[i].len)
			return true;
	}
	return false;
}

static bool compile_bindings(struct row_plan *p)
{
	p->quick_numbers = arena_alloc(&p->arena, (p->nbindings + 1) * sizeof(*p->quick_numbers));
	p->quick_texts = arena_alloc(&p->arena, (p->nbindings + 1) * sizeof(*p->quick_texts));
	for (size_t i = 0; i < p->nbindings; i++) {
		const struct binding *b = &p->bindings[i];
		if (b->ncolumns != 1 || b->quick == QUICK_SLOW)
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

static bool compile_cells(struct row_plan *p, struct table_plan *t)
{
	t->quick_cells = arena_alloc(&p->arena, (t->ncells + 1) * sizeof(*t->quick_cells));
	for (const struct cell_step *s = t->cells; s < t->cells + t->ncells; s++) {
		if (s->computed || (!s->constant && !s->plain && s->op.kind != OP_NUMBER))
			return false;
		if (s->constant)
			continue;
		t->quick_cells[t->nquick_cells++] =
			(struct quick_cell){s->plain, s->op.width, p->bindings[s->op.slot].column,
					    s->op.slot, s->op.bias, s->op.span, s->op.flip};
		t->quick_bytes += s->plain ? 1 + TEXT_MAX + SHORT_BYTES : NUMBER_ROOM;
	}
	return t->ncells > 0 && t->quick_bytes <= ROOM_MAX / EVENT_BATCH;
}

void quick_compile(struct row_plan *p)
{
	p->quick = compile_bindings(p);
	for (size_t i = 0; p->quick && i < p->ntables; i++) {
		struct table_plan *t = &p->tables[i];
		p->quick = t->key.simple && t->key.fixed > 0 && compile_cells(p, t) &&
			   (t->key.nderived == 0 || t->key.one_salt);
	}
}

static bool numbers_portable(const struct quick_number *q, const struct event *ev, size_t n,
			     uint64_t *u)
{
	for (size_t i = 0; i < n; i++) {
		const struct column *c = &ev[i].columns[q->column];
		if (!digits_portable(bytes_of(c->ptr, c->len), &u[i]) || u[i] > q->max)
			return false;
		u[i] *= q->scale;
	}
	return true;
}

#if defined(__x86_64__)
static SSE41 bool numbers_sse41(const struct quick_number *q, const struct event *ev, size_t n,
				uint64_t *u)
{
	__m128i over = _mm_setzero_si128();
	bool bad = false;
	for (size_t i = 0; i < n; i++) {
		const struct column *c = &ev[i].columns[q->column];
		size_t len = c->len;
		if (len - 1 >= SHORT_BYTES)
			return false;
		uint64_t v = sixteen_sse41(c->ptr, len, &over);
		bad |= v > q->max;
		u[i] = v * q->scale;
	}
	return !bad && _mm_testz_si128(over, over);
}

/* As sixteen_sse41, of two events. */
static AVX2 bool numbers_avx2(const struct quick_number *q, const struct event *ev, size_t n,
			      uint64_t *u)
{
	const size_t at = q->column;
	const uint64_t scale = q->scale;
	const __m256i max = _mm256_set1_epi64x(q->max < INT64_MAX ? (int64_t)q->max : INT64_MAX);
	__m256i over = _mm256_setzero_si256();
	for (size_t i = 0; i < n; i += 2) {
		size_t k = i + (i + 1 < n);
		const struct column *a = &ev[i].columns[at], *b = &ev[k].columns[at];
		size_t len_a = a->len, len_b = b->len;
		if (((len_a - 1) | (len_b - 1)) >= SHORT_BYTES)
			return false;
		__m256i x = load_two(a->ptr, b->ptr);
		__m256i to = load_two(digit_slide + len_a, digit_slide + len_b);
		x = _mm256_shuffle_epi8(_mm256_sub_epi8(x, _mm256_set1_epi8('0')), to);
		over = _mm256_or_si256(over, _mm256_subs_epu8(x, _mm256_set1_epi8(9)));
		x = _mm256_maddubs_epi16(x, _mm256_set1_epi16(1 << 8 | 10));
		x = _mm256_madd_epi16(x, _mm256_set1_epi32(1 << 16 | 100));
		x = _mm256_madd_epi16(_mm256_packus_epi32(x, x), _mm256_set1_epi32(1 << 16 | 10000));
		x = _mm256_add_epi64(_mm256_mul_epu32(x, _mm256_set1_epi64x(100000000)),
				     _mm256_srli_epi64(x, 32));
		over = _mm256_or_si256(over, _mm256_cmpgt_epi64(x, max));
		u[i] = (uint64_t)_mm_cvtsi128_si64(_mm256_castsi256_si128(x)) * scale;
		u[k] = (uint64_t)_mm_cvtsi128_si64(_mm256_extracti128_si256(x, 1)) * scale;
	}
	return _mm256_testz_si256(over, over);
}

size_t quick_ways(take_numbers *ways[QUICK_WAYS])
{
	ways[0] = numbers_portable;
	ways[1] = numbers_sse41;
	ways[2] = numbers_avx2;
	if (!__builtin_cpu_supports("sse4.1"))
		return 1;
	return __builtin_cpu_supports("avx2") ? 3 : 2;
}
#else
size_t quick_ways(take_numbers *ways[QUICK_WAYS])
{
	ways[0] = numbers_portable;
	return 1;
}
#endif

static bool spells_null(const struct binding *b, struct bytes text)
{
	for (size_t i = 0; i < b->nnulls; i++)
		if (bytes_eq(b->nulls[i], text))
			return true;
	return false;
}

/* ASCII, and no null. */
static inline bool test_text(const struct quick_text *q, const struct column *c)
{
	size_t len = c->len;
	if (q->null_lengths >> (len < 63 ? len : 63) & 1 &&
	    spells_null(q->binding, bytes_of(c->ptr, len)))
		return false;
	return len <= SHORT_BYTES ? plain_short(c->ptr, len) : is_plain_ascii(bytes_of(c->ptr, len));
}

static bool take_columns(struct row_encoder *e, const struct event *ev, size_t n)
{
	const struct row_plan *p = e->plan;
	for (const struct quick_number *q = p->quick_numbers, *end = q + p->nquick_numbers; q < end;
	     q++)
		if (!e->take_numbers(q, ev, n, e->numbers + q->slot * EVENT_BATCH))
			return false;
	for (const struct quick_text *q = p->quick_texts, *end = q + p->nquick_texts; q < end; q++)
		for (size_t i = 0; i < n; i++)
			if (!test_text(q, &ev[i].columns[q->column]))
				return false;
	return true;
}

static size_t key_stride(const struct table_plan *t)
{
	return t->key.fixed + 8; /* what is behind a number is written to */
}

static bool put_keys(struct row_encoder *e, const struct table_plan *t, struct table_output *o,
		     size_t n)
{
	const struct parts *parts = &t->key;
	size_t stride = key_stride(t);
	uint8_t *keys = buf_room(&o->keys, EVENT_BATCH * stride);
	bool bad = false;
	for (const struct number *x = parts->numbers, *end = x + parts->nnumbers; x < end; x++) {
		const uint64_t *u = e->numbers + x->slot * EVENT_BATCH;
		const struct number part = *x;
		uint8_t *to = keys + part.at;
		for (size_t i = 0; i < n; i++, to += stride) {
			bad |= u[i] - part.bias > part.span;
			put_be64(to, (u[i] ^ part.flip) << part.shift);
		}
	}
	for (size_t i = 0; parts->nderived && i < n; i++)
		salt_put(e, parts, keys + i * stride);
	return !bad;
}

/* Where the cell ends; NULL: it does not fit, or is out of its range. */
static inline uint8_t *put_cell(const struct quick_cell *q, const struct column *columns,
				const uint64_t *numbers, uint8_t *to)
{
	if (q->text) {
		const struct column *c = &columns[q->column];
		size_t len = c->len;
		*to++ = (uint8_t)(len + 1);
		if (__builtin_expect(len > TEXT_MAX, 0))
			return NULL;
		if (len <= SHORT_BYTES)
			memcpy(to, c->ptr, SHORT_BYTES);
		else
			copy_short(to, c->ptr, len);
		return to + len;
	}
	uint64_t u = numbers[q->slot * EVENT_BATCH];
	*to++ = (uint8_t)(q->width + 1);
	put_be64(to, (u ^ q->flip) << (64 - 8 * q->width));
	return u - q->bias > q->span ? NULL : to + q->width;
}

/* Keys stand already. */
static bool put_records(struct row_encoder *e, const struct table_plan *t, struct table_output *o,
			const struct event *ev, size_t n, struct record *out)
{
	size_t stride = key_stride(t), step = e->plan->ntables;
	uint8_t *key = o->keys.ptr, *to = buf_room(&o->payload, EVENT_BATCH * t->quick_bytes);
	const struct quick_cell *first = t->quick_cells, *end = first + t->nquick_cells;
	for (size_t i = 0; i < n; i++, key += stride, out += step) {
		const struct column *columns = ev[i].columns;
		const uint8_t *payload = to;
		for (const struct quick_cell *q = first; q < end; q++)
			if (!(to = put_cell(q, columns, e->numbers + i, to)))
				return false;
		*out = (struct record){.key = bytes_of(key, t->key.fixed),
				       .minor = o->minors[i],
				       .seq = ev[i].seq,
				       .payload = bytes_of(payload, (size_t)(to - payload))};
	}
	return true;
}

/* Raises *newest_ms; false: one means "now". */
static bool put_times(const struct row_encoder *e, const struct table_plan *t,
		      struct table_output *o, size_t n, int64_t *newest_ms)
{
	const uint64_t *u = e->numbers + t->ts_slot * EVENT_BATCH;
	int64_t newest = t->ts_constant;
	if (t->ts != TS_CONSTANT) {
		newest = 0;
		for (size_t i = 0; i < n; i++)
			newest = (int64_t)u[i] > newest ? (int64_t)u[i] : newest;
		if (newest == INT64_MAX)
			return false;
	}
	for (size_t i = 0; t->ts == TS_MINOR && i < n; i++)
		put_be64(o->minors[i], (uint64_t)INT64_MAX - u[i]);
	if (*newest_ms < newest)
		*newest_ms = newest;
	return true;
}

static bool encode_all(struct row_encoder *e, const struct event *ev, size_t n, struct record *out)
{
	const struct row_plan *p = e->plan;
	int64_t newest_ms = e->newest_ms;
	if (!take_columns(e, ev, n))
		return false;
	for (size_t i = 0; i < p->ntables; i++) {
		const struct table_plan *t = &p->tables[i];
		struct table_output *o = &e->out[i];
		o->keys.len = o->payload.len = 0;
		if (!put_keys(e, t, o, n) || !put_times(e, t, o, n, &newest_ms) ||
		    !put_records(e, t, o, ev, n, out + i))
			return false;
	}
	e->newest_ms = newest_ms;
	return true;
}

void quick_start(struct row_encoder *e)
{
	take_numbers *ways[QUICK_WAYS];
	e->take_numbers = ways[quick_ways(ways) - 1];
	e->numbers = mem_calloc((e->plan->nbindings + 1) * EVENT_BATCH, sizeof(*e->numbers));
}

/* Where it has failed it is tried the less the more often it has failed. */
bool row_encode_batch(struct row_encoder *e, const struct event *ev, size_t n, struct record *out)
{
	if (!e->plan->quick || ev->ncolumns < e->plan->ncolumns)
		return false;
	if (e->wait > 0) {
		e->wait--;
		return false;
	}
	if (encode_all(e, ev, n, out)) {
		e->pause = 0;
		return true;
	}
	e->wait = e->pause;
	e->pause = e->pause < PAUSE_MAX ? 2 * e->pause + 1 : PAUSE_MAX;
	return false;
}
