/* take.c - decode the bytes of values */
#include <arpa/inet.h>
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
	return t == FIELD_U32 || t == FIELD_CODE ? UINT32_MAX : UINT64_MAX;
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

static int take_time(const struct layout *l, struct bytes in, struct value *v, struct error *err)
{
	uint64_t t = number_of(in) ^ l->flip;
	bool seconds = l->as == AS_REVERSED_SECONDS;

	if (t > (seconds ? l->span / 1000 : l->span))
		return bad_bytes(l, in, "a time from 1970 on", err);
	v->u = seconds ? t * 1000 : t / 1000;
	v->micros = seconds ? 0 : (uint32_t)(t % 1000);
	return RC_OK;
}

/* Decode the digits of a year, month, day or hour. */
static int take_date(const struct layout *l, struct bytes in, struct value *v, struct error *err)
{
	return date_take(l->date, in, &v->u)
		       ? RC_OK
		       : bad_bytes(l, in, "the digits of a part of a date", err);
}

/* Decode bytes, and expand an IPv4 address to the 16 bytes of struct value. */
static int take_fixed(const struct layout *l, struct bytes in, struct arena *a, struct value *v)
{
	uint8_t *to = arena_alloc(a, 16);

	memset(to, 0, 10);
	memset(to + 10, 0xff, 2);
	memcpy(to + 16 - l->width, in.ptr, l->width);
	v->bytes = bytes_of(to, 16);
	return RC_OK;
}

/* Decode a whole number of an integer field from a real number. */
static int take_whole(const struct layout *l, struct bytes in, double d, struct value *v,
		      struct error *err)
{
	bool has_sign = l->from == FIELD_I64;
	double above = has_sign ? 0x1p63 : l->from == FIELD_U32 ? 0x1p32 : 0x1p64;

	if (d != trunc(d) || d < (has_sign ? -0x1p63 : 0) || d > above)
		return bad_bytes(l, in, "a whole number of the field's type", err);
	/* the encoder rounded the largest values up */
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

/* Remove the padding, but not the last digit of a number. */
static struct bytes unpadded(const struct layout *l, struct bytes in)
{
	size_t least = is_number(l->from);

	while (l->width && !l->exact && in.len > least &&
	       in.ptr[l->pad_left ? 0 : in.len - 1] == l->pad) {
		in.ptr += l->pad_left;
		in.len--;
	}
	return in;
}

static int take_slice(const struct layout *l, struct bytes in, struct arena *a, struct value *v,
		      struct error *err)
{
	struct bytes body = in;

	if (l->invert) {
		uint8_t *to = arena_alloc(a, in.len + 1);

		for (size_t i = 0; i < in.len; i++)
			to[i] = in.ptr[i] ^ l->invert;
		body = bytes_of(to, in.len);
	} else if (l->kind == LAY_REVERSED) {
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
	case LAY_TIME: return take_time(l, in, v, err);
	case LAY_DATE: return take_date(l, in, v, err);
	case LAY_FIXED: return take_fixed(l, in, a, v);
	case LAY_TEXT:
	case LAY_BYTES:
	case LAY_REVERSED: break;
	}
	return take_slice(l, in, a, v, err);
}

/* Append the time up to the seconds. Returns false if the year does not fit. */
static bool seconds_text(int64_t s, struct buf *out)
{
	time_t at = (time_t)s;
	struct tm t;

	if (!gmtime_r(&at, &t))
		return false;
	buf_printf(out, "%04d-%02d-%02dT%02d:%02d:%02d", t.tm_year + 1900, t.tm_mon + 1, t.tm_mday,
		   t.tm_hour, t.tm_min, t.tm_sec);
	return true;
}

static void millis_slowly(int64_t ms, struct buf *out)
{
	int64_t part = ms % 1000 + (ms % 1000 < 0 ? 1000 : 0);

	if (seconds_text((ms - part) / 1000, out))
		buf_printf(out, ".%03dZ", (int)part);
	else
		buf_printf(out, "%" PRId64 " ms", ms);
}

static inline void put_pair(uint8_t *to, uint32_t v, uint8_t behind)
{
	put_two_digits(to, v);
	to[2] = behind;
}

/*
 * Append the time. The computation of days and years is that in H. Hinnant, "chrono-compatible
 * low-level date algorithms" (civil_from_days).
 */
void millis_text(int64_t ms, struct buf *out)
{
	const uint64_t last = UINT64_C(253402300799999); /* 9999-12-31 */

	if ((uint64_t)ms > last) {
		millis_slowly(ms, out);
		return;
	}
	uint32_t days = (uint32_t)(ms / 86400000) + 719468, rest = (uint32_t)(ms % 86400000);
	uint32_t era = days / 146097, of_era = days % 146097;
	uint32_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	uint32_t of_year = of_era - (365 * year + year / 4 - year / 100);
	uint32_t month = (5 * of_year + 2) / 153, day = of_year - (153 * month + 2) / 5 + 1;
	month = month < 10 ? month + 3 : month - 9;
	uint32_t minutes = rest / 60000, of_minute = rest % 60000;
	year += era * 400 + (month <= 2);
	uint8_t *p = buf_room(out, 24);
	put_two_digits(p, year / 100);
	put_pair(p + 2, year % 100, '-');
	put_pair(p + 5, month, '-');
	put_pair(p + 8, day, 'T');
	put_pair(p + 11, minutes / 60, ':');
	put_pair(p + 14, minutes % 60, ':');
	put_pair(p + 17, of_minute / 1000, '.');
	p[20] = (uint8_t)('0' + of_minute % 1000 / 100);
	put_pair(p + 21, of_minute % 100, 'Z');
	out->len += 24;
}

void time_text(const struct value *v, struct buf *out)
{
	millis_text((int64_t)v->u, out);
	if (v->micros && out->ptr[out->len - 1] == 'Z') {
		out->len--;
		buf_printf(out, "%03uZ", v->micros);
	}
}

void uuid_text(struct bytes b, struct buf *out)
{
	for (size_t i = 0; i < b.len; i++)
		buf_printf(out, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			   b.ptr[i]);
}

void ip_text(struct bytes b, struct buf *out)
{
	char text[INET6_ADDRSTRLEN] = "";
	struct in6_addr ip;

	memcpy(&ip, b.ptr, sizeof ip);
	if (IN6_IS_ADDR_V4MAPPED(&ip))
		inet_ntop(AF_INET, b.ptr + 12, text, sizeof text);
	else
		inet_ntop(AF_INET6, &ip, text, sizeof text);
	buf_append_str(out, text);
}

void layout_text(const struct layout *l, const struct value *v, struct buf *out)
{
	bool text = v->text.ptr && l->kind != LAY_FIXED;

	if (l->kind == LAY_DATE) {
		buf_printf(out, "%" PRIu64, v->u);
		return;
	}
	if (l->kind == LAY_BYTES || text) {
		bytes_escape(out, v->text.ptr ? v->text : v->bytes);
		return;
	}
	switch (l->from) {
	case FIELD_DECIMAL:
	case FIELD_I64: buf_printf(out, "%" PRId64, (int64_t)v->u); return;
	case FIELD_F64: buf_printf(out, "%.17g", v->f); return;
	case FIELD_BOOL: buf_append_str(out, v->u ? "true" : "false"); return;
	case FIELD_TIME: time_text(v, out); return;
	case FIELD_UUID: uuid_text(v->bytes, out); return;
	case FIELD_IP: ip_text(v->bytes, out); return;
	case FIELD_U32:
	case FIELD_U64:
	case FIELD_TEXT:
	case FIELD_BYTES:
	case FIELD_HEX:
	case FIELD_CODE: buf_printf(out, "%" PRIu64, v->u); return;
	}
}
