/*
 * shown.h - fast conversion of stored fields to CSV text (inside pipeline/cli/text only)
 *
 * Each column gets one conversion, to digits of a number, to a time, or to text that needs no
 * quotes. For unusual values, the caller uses the slow path, which supports every encoding and
 * reports errors.
 */
#ifndef SALTMILL_SHOW_SHOWN_H
#define SALTMILL_SHOW_SHOWN_H

#include "encoding.h"

enum shown_kind {
	SHOWN_OTHERWISE, /* always takes the slow path */
	SHOWN_DIGITS,	 /* an integer of fixed length */
	SHOWN_TIME,	 /* an integer of fixed length, in milliseconds since 1970 */
	SHOWN_NUMBER,	 /* a number stored as text */
	SHOWN_TEXT
};

struct shown {
	enum shown_kind kind;
	uint32_t width;
	/* `most` is the largest value of the field's type; struct layout explains the other
	 * members */
	uint64_t bias, span, flip, most;
};

static inline struct shown shown_of(const struct layout *l, enum field_type t)
{
	struct shown s = {.width = l->width, .bias = l->bias, .span = l->span, .flip = l->flip};
	enum number_range range = encodings[l->as].range;
	bool number = l->kind == LAY_NUMBER && l->width && l->width <= 8;
	bool as_is = l->kind == LAY_TEXT && !l->width && !l->invert;
	bool whole = t == FIELD_U32 || t == FIELD_U64;

	s.most = t == FIELD_U32 ? UINT32_MAX : UINT64_MAX;
	if (number && whole && range == RANGE_UNSIGNED)
		s.kind = SHOWN_DIGITS;
	else if (number && t == FIELD_TIME && (range == RANGE_TIME || range == RANGE_TIME_REVERSED))
		s.kind = SHOWN_TIME;
	else if (as_is && (whole || t == FIELD_I64 || t == FIELD_F64 || t == FIELD_DECIMAL))
		s.kind = SHOWN_NUMBER;
	else if (as_is && (t == FIELD_TEXT || t == FIELD_BYTES))
		s.kind = SHOWN_TEXT;
	return s;
}

/*
 * Returns true if `t` is a decimal number as JSON writes it. The report prints such numbers
 * unchanged.
 */
static inline bool is_plain_number(struct bytes t)
{
	const uint8_t *p = t.ptr, *end = p + t.len;

	p += p < end && *p == '-';
	if (p == end || (*p == '0' && end - p > 1 && p[1] != '.'))
		return false;
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	if (p < end && *p == '.' && end - p > 1 && p > t.ptr && p[-1] != '-')
		for (p++; p < end && *p >= '0' && *p <= '9';)
			p++;
	return p == end;
}

/* Returns true if `v` contains only characters that need no quotes in CSV. */
static inline bool is_plain_text(struct bytes v)
{
	for (size_t i = 0; i < v.len; i++)
		if (v.ptr[i] < ' ' || v.ptr[i] > '~' || v.ptr[i] == ',' || v.ptr[i] == '"')
			return false;
	return v.len > 0;
}

static inline void put_bytes(struct buf *out, struct bytes v)
{
	copy_short(buf_room(out, v.len + 1), v.ptr, v.len);
	out->len += v.len;
}

/* Appends the value as CSV. Returns false and appends nothing if the value needs the slow path. */
static inline bool shown_put(const struct shown *s, struct bytes in, struct buf *out)
{
	uint64_t u = 0;

	switch (s->kind) {
	case SHOWN_OTHERWISE: return false;
	case SHOWN_NUMBER:
		if (!is_plain_number(in))
			return false;
		put_bytes(out, in);
		return true;
	case SHOWN_TEXT:
		if (!is_plain_text(in))
			return false;
		put_bytes(out, in);
		return true;
	case SHOWN_DIGITS:
	case SHOWN_TIME: break;
	}
	if (in.len != s->width)
		return false;
	if (in.len == 8)
		u = get_be64(in.ptr);
	else if (in.len == 4)
		u = get_be32(in.ptr);
	else
		for (size_t i = 0; i < in.len; i++)
			u = u << 8 | in.ptr[i];
	u ^= s->flip;
	if (u - s->bias > s->span || u > s->most)
		return false;
	if (s->kind == SHOWN_TIME)
		millis_text((int64_t)u, out);
	else
		buf_digits(out, u);
	return true;
}

#endif
