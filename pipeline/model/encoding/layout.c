/* layout.c - encode one value as bytes */
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "encoding.h"

#define LONG_MAX_VALUE ((uint64_t)INT64_MAX)

static void set_range(struct layout *l)
{
	uint64_t max = UINT64_MAX >> (64 - 8 * l->width);
	bool from_signed = l->from == FIELD_I64;

	switch (encodings[l->as].range) {
	case RANGE_TIME_REVERSED: l->span = l->flip = LONG_MAX_VALUE; return;
	case RANGE_TIME: l->span = l->ordered ? LONG_MAX_VALUE : UINT64_MAX; return;
	case RANGE_SIGNED:
		l->bias = from_signed ? 0 - (max / 2 + 1) : 0;
		l->span = from_signed ? max : max / 2;
		l->flip = l->ordered ? max / 2 + 1 : 0;
		return;
	case RANGE_BOOL:
	case RANGE_UNSIGNED: break;
	}
	/* as unsigned, a negative number exceeds Long.MAX_VALUE */
	l->span = from_signed && max > LONG_MAX_VALUE ? LONG_MAX_VALUE : max;
}

struct layout layout_of(const char *name, enum field_type t, enum encode_as as, bool key)
{
	const struct encoding *e = &encodings[as];
	bool falls = e->order == ORDER_FALLING;
	struct layout l = {.kind = e->kind == LAY_BYTES && !field_has_bytes(t) ? LAY_TEXT : e->kind,
			   .width = e->width,
			   .ordered = key || falls, /* inverted values sort as in keys */
			   .from = t == FIELD_DECIMAL ? FIELD_I64 : t,
			   .as = as,
			   .terminator = NO_TERMINATOR,
			   .name = name,
			   .title = name};

	if (l.kind == LAY_NUMBER || l.kind == LAY_TIME)
		set_range(&l);
	if (l.kind == LAY_DATE)
		l.date = DATE_YEAR << (as - AS_YEAR);
	if (falls && l.kind == LAY_TEXT)
		l.invert = 0xff;
	if (falls && l.kind == LAY_NUMBER && e->range != RANGE_TIME_REVERSED)
		l.flip ^= UINT64_MAX >> (64 - 8 * l.width);
	return l;
}

static int bad_range(const struct layout *l, const struct value *v, struct reject *why)
{
	const struct encoding *e = &encodings[l->as];

	if (e->range == RANGE_TIME || e->range == RANGE_TIME_REVERSED)
		return reject_value(why, "out_of_range", l->name, v->text,
				    "expected no time before 1970 (as %s)", e->name);
	uint64_t max = l->width == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * l->width) - 1;
	if (e->range != RANGE_SIGNED)
		return reject_value(why, "out_of_range", l->name, v->text,
				    "expected 0..%llu (as %s)", (unsigned long long)max, e->name);
	long long top = (long long)(max >> 1);
	return reject_value(why, "out_of_range", l->name, v->text, "expected %lld..%lld (as %s)",
			    -top - 1, top, e->name);
}

/*
 * Write a number as 8 bytes, of which the first l->width are the value. The caller provides room
 * for 8 bytes.
 */
static inline int put_number(const struct layout *l, const struct value *v, uint8_t *to,
			     struct reject *why)
{
	if (__builtin_expect(v->u - l->bias > l->span, 0))
		return bad_range(l, v, why);
	put_be64(to, (v->u ^ l->flip) << (64 - 8 * l->width));
	return 0;
}

/* Convert the time to the layout's unit. Returns false if the converted time does not fit. */
static bool in_unit(const struct layout *l, const struct value *v, uint64_t *t)
{
	if (l->as == AS_REVERSED_SECONDS) {
		*t = v->u / 1000;
		return true;
	}
	return !__builtin_mul_overflow(v->u, (uint64_t)1000, t) &&
	       !__builtin_add_overflow(*t, (uint64_t)v->micros, t) && *t <= l->span;
}

static int put_time(const struct layout *l, const struct value *v, uint8_t *to, struct reject *why)
{
	uint64_t t;

	if (v->u > l->span)
		return bad_range(l, v, why);
	if (!in_unit(l, v, &t))
		return reject_value(why, "out_of_range", l->name, v->text,
				    "expected a time whose microseconds since 1970 fit 63 bits "
				    "(as %s)",
				    encodings[l->as].name);
	put_be64(to, t ^ l->flip);
	return 0;
}

static int put_date(const struct layout *l, const struct value *v, uint8_t *to, struct reject *why)
{
	if (v->u > LONG_MAX_VALUE)
		return bad_range(l, v, why);
	if (!date_put(l->date, zone_local(l->zone, (int64_t)(v->u / 1000)), to))
		return reject_value(why, "out_of_range", l->name, v->text,
				    "expected a time before the year 10000 (as %s)",
				    encodings[l->as].name);
	return 0;
}

static int put_fixed(const struct layout *l, const struct value *v, uint8_t *to, struct reject *why)
{
	static const uint8_t v4_mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

	if (l->as == AS_IPV4 && memcmp(v->bytes.ptr, v4_mapped, sizeof v4_mapped) != 0)
		return reject_value(why, "out_of_range", l->name, v->text,
				    "expected an IPv4 address (as ipv4)");
	memcpy(to, v->bytes.ptr + v->bytes.len - l->width, l->width);
	return 0;
}

static double as_real(const struct layout *l, const struct value *v)
{
	return l->from == FIELD_F64   ? v->f
	       : l->from == FIELD_I64 ? (double)(int64_t)v->u
				      : (double)v->u;
}

static void put_f64(const struct layout *l, const struct value *v, uint8_t *to)
{
	double d = as_real(l, v);
	uint64_t bits;

	memcpy(&bits, &d, 8);
	if (l->ordered)
		bits ^= bits >> 63 ? UINT64_MAX : (uint64_t)1 << 63;
	put_be64(to, bits);
}

/*
 * Round the text to a float. The caller gives the text's double, rounded to the float `f`. If the
 * double is halfway between two floats (or at the largest float), only the text decides which float
 * is nearer.
 */
static float text_f32(struct bytes text, float f)
{
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	char *copy = mem_format("%.*s", (int)text.len, (const char *)text.ptr);

	if (c) {
		f = strtof_l(copy, NULL, c);
		freelocale(c);
	}
	mem_free(copy);
	return f;
}

static float as_f32(const struct layout *l, const struct value *v)
{
	if (l->from == FIELD_I64)
		return (float)(int64_t)v->u;
	if (l->from != FIELD_F64)
		return (float)v->u;
	float f = (float)v->f;
	if ((double)f == v->f || !v->text.ptr)
		return f;
	double other = (double)nextafterf(f, v->f > (double)f ? INFINITY : -INFINITY);
	bool halfway = other - v->f == v->f - (double)f || isinf(f);
	return halfway ? text_f32(v->text, f) : f;
}

static int put_f32(const struct layout *l, const struct value *v, uint8_t *to, struct reject *why)
{
	float f = as_f32(l, v);
	uint32_t bits;

	if (f - f != 0)
		return reject_value(why, "out_of_range", l->name, v->text,
				    "expected a number that a 32-bit float can hold (as f32)");
	memcpy(&bits, &f, 4);
	if (l->ordered)
		bits ^= bits >> 31 ? UINT32_MAX : (uint32_t)1 << 31;
	put_be32(to, bits);
	return 0;
}

/*
 * Return true if the value has the pad byte at the padded edge. The key of such a value would equal
 * the key of a shorter value. Leading zeros of a number do not count, because 007 is 7.
 */
static bool edge_is_pad(const struct layout *l, struct bytes in)
{
	bool number = l->from == FIELD_U32 || l->from == FIELD_U64;

	if (!l->width || l->exact || !in.len || (number && l->pad == '0' && l->pad_left))
		return false;
	return in.ptr[l->pad_left ? 0 : in.len - 1] == l->pad;
}

static int check_slice(const struct layout *l, struct bytes in, struct reject *why)
{
	if (l->width && in.len > l->width)
		return reject_value(why, "too_wide", l->name, in,
				    "%zu bytes, expected at most %u (the part's width)", in.len,
				    l->width);
	if (l->exact && in.len < l->width)
		return reject_value(why, "too_short", l->name, in,
				    "%zu bytes, expected %u (the part's width); to pad shorter "
				    "values, add `pad: '\\x00'`",
				    in.len, l->width);
	if (edge_is_pad(l, in))
		return reject_value(
			why, "pad_in_value", l->name, in,
			"which %s with the pad byte %02X, expected another byte there, because the value would have the key of a shorter value",
			l->pad_left ? "begins" : "ends", l->pad);
	if (l->terminator != NO_TERMINATOR && in.len &&
	    memchr(in.ptr, l->terminator ^ l->invert, in.len))
		return reject_value(
			why, "terminator_in_value", l->name, in,
			"which contains the byte %02X that ends this part, expected none",
			(unsigned)l->terminator ^ l->invert);
	for (size_t i = 0; l->kind == LAY_REVERSED && i < in.len; i++)
		if (in.ptr[i] & 0x80)
			return reject_value(
				why, "not_ascii", l->name, in,
				"expected only ASCII (as reversed), but byte %zu is not ASCII", i);
	return 0;
}

static void put_body(const struct layout *l, struct bytes in, uint8_t *to)
{
	if (l->kind != LAY_REVERSED) {
		copy_short(to, in.ptr, in.len);
		return;
	}
	for (size_t i = 0; i < in.len; i++)
		to[i] = in.ptr[in.len - 1 - i];
}

static int put_slice(const struct layout *l, const struct value *v, struct buf *out,
		     struct reject *why)
{
	struct bytes in = l->kind == LAY_BYTES ? v->bytes : v->text;

	if (l->kind == LAY_REVERSED || l->width || l->terminator != NO_TERMINATOR) {
		int rc = check_slice(l, in, why);

		if (rc)
			return rc;
	}
	size_t width = l->width ? l->width : in.len, fill = width - in.len;
	uint8_t *to = buf_room(out, width + 1);
	/* padding comes before reversing */
	bool front = l->pad_left != (l->kind == LAY_REVERSED);
	if (fill)
		memset(front ? to : to + in.len, l->pad, fill);
	put_body(l, in, front ? to + fill : to);
	for (size_t i = 0; l->invert && i < width; i++)
		to[i] ^= l->invert;
	out->len += width;
	return 0;
}

int layout_put(const struct layout *l, const struct value *v, struct buf *out, struct reject *why)
{
	int rc = 0;

	switch (l->kind) {
	case LAY_NUMBER: rc = put_number(l, v, buf_room(out, 9), why); break;
	case LAY_F64: put_f64(l, v, buf_room(out, 9)); break;
	case LAY_F32: rc = put_f32(l, v, buf_room(out, 9), why); break;
	case LAY_TIME: rc = put_time(l, v, buf_room(out, 9), why); break;
	case LAY_DATE: rc = put_date(l, v, buf_room(out, DATE_BYTES + 1), why); break;
	case LAY_FIXED: rc = put_fixed(l, v, buf_room(out, 17), why); break;
	case LAY_TEXT:
	case LAY_BYTES:
	case LAY_REVERSED: return put_slice(l, v, out, why);
	}
	out->len += l->width;
	return rc;
}
