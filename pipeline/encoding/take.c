/*
 * take.c - bytes back to the value they were made of
 */
#include <inttypes.h>
#include <math.h>
#include <time.h>

#include "encoding.h"

static uint64_t number_of(struct bytes b)
{
	uint64_t u = 0;
	for (size_t i = 0; i < b.len; i++)
		u = u << 8 | b.ptr[i];
	return u;
}

static uint64_t type_max(enum field_type t)
{
	return t == FIELD_U32 ? UINT32_MAX : UINT64_MAX;
}

static int bad_bytes(const struct layout *l, struct bytes in, const char *expected,
		     struct error *err)
{
	struct buf hex = {0};
	bytes_hex(&hex, in);
	error_set(err, RC_DATA, "%s: found the bytes %.*s, expected %s (%s as %s)", l->name,
		  (int)hex.len, (const char *)hex.ptr, expected, field_type_name(l->from),
		  encodings[l->as].name);
	buf_release(&hex);
	return RC_DATA;
}

static int take_number(const struct layout *l, struct bytes in, struct value *v, struct error *err)
{
	enum number_range range = encodings[l->as].range;
	uint64_t u = number_of(in) ^ l->flip;
	unsigned spare = 64 - 8 * l->width;
	if (range == RANGE_SIGNED)
		u = (uint64_t)((int64_t)(u << spare) >> spare);
	if (range == RANGE_BOOL && u != 0 && u != 0xff)
		return bad_bytes(l, in, "00 or ff", err);
	if ((range == RANGE_TIME || range == RANGE_TIME_REVERSED) && u - l->bias > l->span)
		return bad_bytes(l, in, "a time from 1970 on", err);
	if (u - l->bias > l->span || u > type_max(l->from))
		return bad_bytes(l, in, "a number of the field's type", err);
	v->u = u;
	return RC_OK;
}

/* A whole number that came from an integer field. */
static int take_whole(const struct layout *l, struct bytes in, double d, struct value *v,
		      struct error *err)
{
	bool has_sign = l->from == FIELD_I64;
	double above = has_sign ? 0x1p63 : l->from == FIELD_U32 ? 0x1p32 : 0x1p64;
	if (d != trunc(d) || d < (has_sign ? -0x1p63 : 0) || d > above)
		return bad_bytes(l, in, "a whole number of the field's type", err);
	/* the largest were rounded up */
	if (d == above)
		v->u = has_sign ? INT64_MAX : type_max(l->from);
	else
		v->u = has_sign ? (uint64_t)(int64_t)d : (uint64_t)d;
	return RC_OK;
}

static int take_real(const struct layout *l, struct bytes in, double d, struct value *v,
		     struct error *err)
{
	if (!isfinite(d))
		return bad_bytes(l, in, "a finite number", err);
	if (l->from != FIELD_F64)
		return take_whole(l, in, d, v, err);
	v->f = d;
	return RC_OK;
}

static double f64_of(const struct layout *l, struct bytes in)
{
	uint64_t bits = number_of(in);
	double d;
	if (l->ordered)
		bits ^= bits >> 63 ? (uint64_t)1 << 63 : UINT64_MAX;
	memcpy(&d, &bits, 8);
	return d;
}

static double f32_of(const struct layout *l, struct bytes in)
{
	uint32_t bits = (uint32_t)number_of(in);
	float f;
	if (l->ordered)
		bits ^= bits >> 31 ? (uint32_t)1 << 31 : UINT32_MAX;
	memcpy(&f, &bits, 4);
	return (double)f;
}

static bool is_number(enum field_type t)
{
	return t == FIELD_U32 || t == FIELD_U64 || t == FIELD_I64 || t == FIELD_F64;
}

/* What fills it up is not of the value; a number keeps its last digit. */
static struct bytes unpadded(const struct layout *l, struct bytes in)
{
	size_t least = is_number(l->from);
	while (l->width && in.len > least && in.ptr[l->pad_left ? 0 : in.len - 1] == l->pad) {
		in.ptr += l->pad_left;
		in.len--;
	}
	return in;
}

static int take_slice(const struct layout *l, struct bytes in, struct arena *a, struct value *v,
		      struct error *err)
{
	struct bytes body = in;
	if (l->kind == LAY_REVERSED) {
		uint8_t *to = arena_alloc(a, in.len + 1);
		for (size_t i = 0; i < in.len; i++) {
			to[i] = in.ptr[in.len - 1 - i];
			if (to[i] & 0x80)
				return bad_bytes(l, in, "ASCII only", err);
		}
		body = bytes_of(to, in.len);
	}
	body = unpadded(l, body);
	if (l->kind == LAY_BYTES)
		v->bytes = body;
	else
		v->text = body.len ? body : bytes_of("", 0);
	return RC_OK;
}

int layout_take(const struct layout *l, struct bytes in, struct arena *a, struct value *v,
		struct error *err)
{
	*v = (struct value){0};
	if (l->width && in.len != l->width)
		return bad_bytes(l, in, "as many bytes as the part has", err);
	switch (l->kind) {
	case LAY_NUMBER: return take_number(l, in, v, err);
	case LAY_F64: return take_real(l, in, f64_of(l, in), v, err);
	case LAY_F32: return take_real(l, in, f32_of(l, in), v, err);
	case LAY_TEXT:
	case LAY_BYTES:
	case LAY_REVERSED: break;
	}
	return take_slice(l, in, a, v, err);
}

void millis_text(int64_t ms, struct buf *out)
{
	int64_t part = ms % 1000 + (ms % 1000 < 0 ? 1000 : 0);
	time_t s = (time_t)((ms - part) / 1000);
	struct tm t;
	if (!gmtime_r(&s, &t)) {
		buf_printf(out, "%" PRId64 " ms", ms);
		return;
	}
	buf_printf(out, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", t.tm_year + 1900, t.tm_mon + 1,
		   t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, (int)part);
}

void layout_text(const struct layout *l, const struct value *v, struct buf *out)
{
	if (l->kind == LAY_BYTES || v->text.ptr) {
		bytes_escape(out, v->text.ptr ? v->text : v->bytes);
		return;
	}
	switch (l->from) {
	case FIELD_DECIMAL:
	case FIELD_I64: buf_printf(out, "%" PRId64, (int64_t)v->u); return;
	case FIELD_F64: buf_printf(out, "%.17g", v->f); return;
	case FIELD_BOOL: buf_append_str(out, v->u ? "true" : "false"); return;
	case FIELD_TIME: millis_text((int64_t)v->u, out); return;
	default: buf_printf(out, "%" PRIu64, v->u); return;
	}
}
