/*
 * arrow_value.c - write values of Arrow arrays as text
 *
 * The functions work column by column, so that they check the type once for many rows.
 */
#include "input/arrow_batch.h"
#include "input/spell.h"
#include "input/spell_short.h"

static bool bit(const uint8_t *bits, uint64_t i)
{
	return bits[i / 8] >> (i % 8) & 1;
}

static bool is_null(const struct arrow_array *a, uint64_t row)
{
	if (a->valid && !bit(a->valid, row))
		return true;
	for (size_t i = 0; i < a->nabove; i++)
		if (!bit(a->above[i], row))
			return true;
	return false;
}

static struct column text(const uint8_t *ptr, size_t len, bool quoted)
{
	return (struct column){.ptr = ptr, .len = (uint32_t)len, .quoted = quoted};
}

/* Read a whole number of 1..8 bytes. */
static uint64_t whole(const uint8_t *p, size_t bytes)
{
	switch (bytes) {
	case 1: return *p;
	case 2: return get_le16(p);
	case 4: return get_le32(p);
	default: return get_le64(p);
	}
}

static int64_t signed_whole(const uint8_t *p, size_t bytes)
{
	unsigned shift = 64 - 8 * (unsigned)bytes;

	return (int64_t)(whole(p, bytes) << shift) >> shift;
}

/* --- bytes of any length --- */

static const char far_offset[] = "an offset that exceeds its data";

static const char *binary(const struct arrow_array *a, uint64_t row, struct column *c)
{
	bool large = a->type->kind == ARROW_LARGE_UTF8 || a->type->kind == ARROW_LARGE_BINARY;
	const uint8_t *p = a->offsets.ptr + row * (large ? 8 : 4);
	uint64_t from = large ? get_le64(p) : get_le32(p);
	uint64_t end = large ? get_le64(p + 8) : get_le32(p + 4);

	if (from > end || end > a->data.len || end - from > UINT32_MAX)
		return far_offset;
	*c = text(a->data.ptr + from, (size_t)(end - from), true);
	return NULL;
}

/* Get the bytes of a view. Up to 12 bytes are in the view itself. */
static const char *view(const struct arrow_array *a, uint64_t row, struct column *c)
{
	const uint8_t *p = a->data.ptr + row * 16;
	uint32_t len = get_le32(p), buffer = get_le32(p + 8), from = get_le32(p + 12);

	if (len > 12 && (buffer >= a->nviews || from > a->views[buffer].len ||
			 len > a->views[buffer].len - from))
		return far_offset;
	*c = text(len > 12 ? a->views[buffer].ptr + from : p + 4, len, true);
	return NULL;
}

/* --- numbers and times --- */

static size_t half(uint8_t *to, uint16_t v)
{
	uint32_t exponent = v >> 10 & 31, fraction = v & 1023, bits;
	float f;

	if (exponent == 0) { /* a float is exact for a subnormal */
		f = (float)fraction / 16777216.0f;
		f = v >> 15 ? -f : f;
		return spell_f32(to, f);
	}
	bits = (uint32_t)(v >> 15) << 31 | (exponent == 31 ? 255 : exponent + 112) << 23 |
	       fraction << 13;
	memcpy(&f, &bits, sizeof f);
	return spell_f32(to, f);
}

static size_t real(uint8_t *to, const uint8_t *p, size_t bytes)
{
	float narrow;
	double wide;

	if (bytes == 2)
		return half(to, get_le16(p));
	if (bytes == 4) {
		memcpy(&narrow, p, sizeof narrow);
		return spell_f32(to, narrow);
	}
	memcpy(&wide, p, sizeof wide);
	return spell_f64(to, wide);
}

/* Return true if the little-endian number has the same value in its first DECIMAL_BYTES. */
static bool fits_decimal(const uint8_t *p, size_t bytes)
{
	for (size_t i = DECIMAL_BYTES; i < bytes; i++)
		if (p[i] != (p[DECIMAL_BYTES - 1] >> 7 ? 0xff : 0))
			return false;
	return true;
}

static const char *decimal(const struct arrow_type *t, const uint8_t *p, struct column *c,
			   uint8_t *to)
{
	size_t bytes = t->bytes < DECIMAL_BYTES ? t->bytes : DECIMAL_BYTES;
	uint8_t big[DECIMAL_BYTES];

	if (!fits_decimal(p, t->bytes))
		return "a decimal of more than 128 bits, expected at most 38 digits";
	for (size_t i = 0; i < bytes; i++)
		big[i] = p[bytes - 1 - i];
	*c = text(to, spell_decimal(to, decimal_of(big, bytes), t->scale), false);
	return NULL;
}

static size_t date(uint8_t *to, const uint8_t *p, const struct arrow_type *t, enum typed_as as)
{
	int64_t v = signed_whole(p, t->bytes), day_ms = INT64_C(86400000);

	if (as != TYPED_TEXT)
		return spell_i64(to, t->parts ? v : v * day_ms);
	return spell_date(to, t->parts ? v / day_ms - (v % day_ms < 0) : v);
}

static size_t moment(uint8_t *to, const uint8_t *p, const struct arrow_type *t, enum typed_as as)
{
	int64_t v = signed_whole(p, t->bytes);

	if (t->kind == ARROW_TIME)
		return v >= 0 && v / t->parts < DAY_S ? spell_time(to, v, t->parts)
						      : spell_i64(to, v);
	return as != TYPED_TEXT ? spell_ms(to, v, t->parts)
				: spell_stamp(to, v, t->parts, t->local);
}

/* --- any --- */

/* Get the value at `row`, which must not be null. */
static inline __attribute__((always_inline)) const char *value_of(enum arrow_kind kind,
								  const struct arrow_array *a,
								  enum typed_as as, uint64_t row,
								  struct column *c, uint8_t *to)
{
	const struct arrow_type *t = a->type;
	const uint8_t *p = a->data.ptr + row * t->bytes;

	switch ((int)kind) {
	case ARROW_INT:
		*c = text(to,
			  t->is_signed ? spell_i64(to, signed_whole(p, t->bytes))
				       : spell_u64(to, whole(p, t->bytes)),
			  false);
		return NULL;
	case ARROW_FLOAT: *c = text(to, real(to, p, t->bytes), false); return NULL;
	case ARROW_DECIMAL: return decimal(t, p, c, to);
	case ARROW_DATE: *c = text(to, date(to, p, t, as), as == TYPED_TEXT); return NULL;
	case ARROW_TIME:
	case ARROW_TIMESTAMP: *c = text(to, moment(to, p, t, as), as == TYPED_TEXT); return NULL;
	case ARROW_FIXED_BINARY: *c = text(p, t->bytes, true); return NULL;
	case ARROW_BOOL: *c = text(to, spell_bool(to, bit(a->data.ptr, row)), false); return NULL;
	case ARROW_UTF8_VIEW:
	case ARROW_BINARY_VIEW: return view(a, row, c);
	case ARROW_NULL: *c = (struct column){.absent = true}; return NULL;
	default: return binary(a, row, c);
	}
}

static const char *value(const struct arrow_array *a, enum typed_as as, uint64_t row,
			 struct column *c, uint8_t *to)
{
	return value_of(a->type->kind, a, as, row, c, to);
}

static const char *dictionary_value(const struct arrow_array *a, enum typed_as as, uint64_t row,
				    struct column *c, uint8_t *to)
{
	const struct arrow_dictionary *d = a->dictionary;
	uint64_t i = whole(a->data.ptr + row * a->type->bytes, a->type->bytes);

	while (d && i < d->first)
		d = d->before;
	if (!d || i - d->first >= d->values.n)
		return "an index that its dictionary does not have";
	if (is_null(&d->values, i - d->first)) {
		*c = (struct column){.absent = true};
		return NULL;
	}
	return value(&d->values, as, i - d->first, c, to);
}

static bool none_null(const struct arrow_array *a, uint64_t from, size_t n)
{
	if (a->nabove > 0)
		return false;
	if (!a->valid)
		return true;
	if (n % 8 == 0 && from % 8 == 0) {
		uint8_t all = UINT8_MAX;

		for (size_t i = 0; i < n / 8; i++)
			all &= a->valid[from / 8 + i];
		return all == UINT8_MAX;
	}
	for (size_t i = 0; i < n; i++)
		if (!bit(a->valid, from + i))
			return false;
	return true;
}

static inline __attribute__((always_inline)) const char *
texts_of(enum arrow_kind kind, const struct arrow_array *a, enum typed_as as, uint64_t from,
	 size_t n, struct column *columns, size_t stride, uint8_t *to)
{
	const char *fault = NULL;

	for (size_t i = 0; !fault && i < n; i++, columns += stride, to += SPELL_BYTES)
		fault = value_of(kind, a, as, from + i, columns, to);
	return fault;
}

const char *arrow_texts(const struct arrow_array *array, enum typed_as as, uint64_t from, size_t n,
			struct column *columns, size_t stride, uint8_t *to)
{
	const char *fault = NULL;

	if (!array->dictionary && none_null(array, from, n))
		switch ((int)array->type->kind) { /* only the frequent types */
		case ARROW_INT: return texts_of(ARROW_INT, array, as, from, n, columns, stride, to);
		case ARROW_FLOAT:
			return texts_of(ARROW_FLOAT, array, as, from, n, columns, stride, to);
		case ARROW_UTF8:
			return texts_of(ARROW_UTF8, array, as, from, n, columns, stride, to);
		default: break;
		}
	for (size_t i = 0; !fault && i < n; i++, columns += stride, to += SPELL_BYTES) {
		if (is_null(array, from + i))
			*columns = (struct column){.absent = true};
		else if (array->dictionary)
			fault = dictionary_value(array, as, from + i, columns, to);
		else
			fault = value(array, as, from + i, columns, to);
	}
	return fault;
}

/* --- numbers --- */

/*
 * Return the factor, and set `*divisor`, to turn a value into the number in its text. Return 0 if
 * the value's text is not a number.
 */
static int64_t factor_of(const struct arrow_type *t, enum typed_as as, int64_t *divisor)
{
	*divisor = 1;
	if (t->kind == ARROW_INT)
		return 1;
	if (as == TYPED_TEXT)
		return 0;
	if (t->kind == ARROW_DATE)
		return t->parts ? 1 : INT64_C(86400000);
	if (t->kind != ARROW_TIMESTAMP)
		return 0;
	*divisor = t->parts > 1000 ? t->parts / 1000 : 1;
	return t->parts == 1 ? 1000 : 1;
}

static inline __attribute__((always_inline)) bool plain_of(size_t bytes, const uint8_t *p, size_t n,
							   uint64_t *numbers)
{
	int64_t all = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t v = signed_whole(p + i * bytes, bytes);

		all |= v;
		numbers[i] = (uint64_t)v;
	}
	return all >= 0;
}

static bool plain_numbers(const uint8_t *p, size_t bytes, size_t n, uint64_t *numbers)
{
	return bytes == 4   ? plain_of(4, p, n, numbers)
	       : bytes == 8 ? plain_of(8, p, n, numbers)
			    : plain_of(bytes, p, n, numbers);
}

/* up to this limit, a multiplication of days or seconds does not overflow */
#define MOST_MULTIPLIED (INT64_C(1) << 36)

bool arrow_numbers(const struct arrow_array *a, enum typed_as as, uint64_t from, size_t n,
		   uint64_t *numbers)
{
	const struct arrow_type *t = a->type;
	int64_t divisor, factor = factor_of(t, as, &divisor);
	const uint8_t *p = a->data.ptr + from * t->bytes;

	if (factor == 0 || a->dictionary || !none_null(a, from, n))
		return false;
	if (t->kind == ARROW_INT && !t->is_signed) {
		for (size_t i = 0; i < n; i++)
			numbers[i] = whole(p + i * t->bytes, t->bytes);
		return true;
	}
	if (factor == 1 && divisor == 1)
		return plain_numbers(p, t->bytes, n, numbers);
	bool bad = false;
	for (size_t i = 0; i < n; i++) {
		int64_t v = signed_whole(p + i * t->bytes, t->bytes);

		bad |= v < 0 || (factor > 1 && v > MOST_MULTIPLIED) || v % divisor != 0;
		numbers[i] = (uint64_t)(v / divisor) * (uint64_t)factor;
	}
	return !bad;
}

/* --- short texts --- */

bool arrow_shorts(const struct arrow_array *a, uint64_t from, size_t n, struct short_text *to)
{
	const struct arrow_type *t = a->type;
	const uint8_t *p = a->data.ptr + from * t->bytes;
	uint64_t whole_ones[EVENT_BATCH];
	double real_ones[EVENT_BATCH];

	if (t->kind == ARROW_INT)
		return arrow_numbers(a, TYPED_TEXT, from, n, whole_ones) &&
		       spell_short_u64(to, whole_ones, n);
	if (t->kind != ARROW_FLOAT || t->bytes != 8 || a->dictionary || !none_null(a, from, n))
		return false;
	memcpy(real_ones, p, n * sizeof *real_ones);
	return spell_short_f64(to, real_ones, n);
}

bool arrow_always_sound(const struct arrow_array *a)
{
	switch ((int)a->type->kind) {
	case ARROW_INT:
	case ARROW_FLOAT:
	case ARROW_BOOL:
	case ARROW_DATE:
	case ARROW_TIMESTAMP:
	case ARROW_FIXED_BINARY: return !a->dictionary;
	case ARROW_DECIMAL: return !a->dictionary && a->type->bytes <= DECIMAL_BYTES;
	default: return false;
	}
}
