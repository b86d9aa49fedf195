/*
 * numbers.c - numbers with signs other than a point, and decimals of a fixed scale
 *
 * The value of 1.234 depends on whether the point separates thousands or is the decimal sign. So
 * the parser accepts each sign only in the role that the job gives it.
 */
#include "numbers.h"

#include "event.h"
#include "error.h"

static bool is_digit(const uint8_t *p, const uint8_t *end)
{
	return p < end && *p >= '0' && *p <= '9';
}

static bool starts_with(const uint8_t *p, const uint8_t *end, struct bytes sign)
{
	return sign.len && (size_t)(end - p) >= sign.len && memcmp(p, sign.ptr, sign.len) == 0;
}

/* Take the digits before the decimal sign. Returns NULL if a group does not have three digits. */
static const uint8_t *whole_part(const struct field_form *form, const uint8_t *p,
				 const uint8_t *end, struct buf *out)
{
	size_t digits = 0;
	/* a number such as 0.123 has no thousands sign, so its point is always the decimal sign */
	bool grouped = false, zero = p < end && *p == '0';

	for (;;) {
		for (; is_digit(p, end); digits++)
			buf_put(out, *p++);
		if (grouped ? digits != 3 : digits > 3 && starts_with(p, end, form->thousands))
			return NULL;
		if (digits == 0 || !starts_with(p, end, form->thousands))
			return p;
		if (zero)
			return NULL;
		p += form->thousands.len;
		grouped = true;
		digits = 0;
	}
}

/* Remove a trailing minus sign or parentheses. Returns false if the text has none. */
static bool take_minus(const struct field_form *form, struct bytes *t)
{
	size_t n = t->len;

	if (form->minus == MINUS_TRAILING && n > 1 && t->ptr[n - 1] == '-')
		*t = bytes_of(t->ptr, n - 1);
	else if (form->minus == MINUS_PARENTHESES && n > 2 && t->ptr[0] == '(' &&
		 t->ptr[n - 1] == ')')
		*t = bytes_of(t->ptr + 1, n - 2);
	else
		return false;
	return true;
}

bool number_plain(const struct field_form *form, struct bytes text, struct buf *out)
{
	bool minus = take_minus(form, &text);
	const uint8_t *p = text.ptr, *end = p + text.len;

	out->len = 0;
	buf_reserve(out, text.len + 1 + EVENT_ROOM_BYTES);
	if (minus)
		buf_put(out, '-');
	else if (p < end && (*p == '-' || *p == '+'))
		buf_put(out, *p++);
	p = whole_part(form, p, end, out);
	if (!p)
		return false;
	struct bytes point = form->decimal.len ? form->decimal : bytes_str(".");
	if (starts_with(p, end, point)) {
		buf_put(out, '.');
		p += point.len;
	} else if (p < end && *p == '.') {
		return false;
	}
	if (memchr(p, '.', (size_t)(end - p)))
		return false;
	buf_append(out, p, (size_t)(end - p));
	buf_reserve(out, EVENT_ROOM_BYTES);
	return true;
}

/* Append one digit. Returns false if the number is too large. */
static bool push_digit(uint64_t *v, uint8_t digit)
{
	return !__builtin_mul_overflow(*v, 10, v) && !__builtin_add_overflow(*v, digit, v);
}

enum decimal_fault { DECIMAL_FINE, DECIMAL_BAD, DECIMAL_FINER, DECIMAL_LARGE };

/* Parse [+-]digits[.digits]. Digits beyond the scale must be zeros. */
static enum decimal_fault parse_decimal(struct bytes text, uint32_t scale, bool *minus,
					uint64_t *out)
{
	const uint8_t *p = text.ptr, *end = p + text.len;
	uint32_t places = 0;
	size_t digits = 0;
	bool large = false, finer = false;

	*out = 0;
	*minus = p < end && *p == '-';
	p += p < end && (*p == '-' || *p == '+');
	for (; is_digit(p, end); p++, digits++)
		large = !push_digit(out, (uint8_t)(*p - '0')) || large;
	if (p < end && *p == '.') {
		for (p++; is_digit(p, end); p++, digits++) {
			if (places == scale) {
				finer = finer || *p != '0';
				continue;
			}
			large = !push_digit(out, (uint8_t)(*p - '0')) || large;
			places++;
		}
	}
	if (p != end || digits == 0)
		return DECIMAL_BAD;
	for (; places < scale; places++)
		large = !push_digit(out, 0) || large;
	if (finer)
		return DECIMAL_FINER;
	return large || *out > (uint64_t)INT64_MAX + *minus ? DECIMAL_LARGE : DECIMAL_FINE;
}

static struct bytes decimal_text(uint64_t magnitude, bool minus, uint32_t scale, struct buf *out)
{
	uint64_t unit = 1;

	for (uint32_t i = 0; i < scale; i++)
		unit *= 10;
	out->len = 0;
	buf_printf(out, "%s%llu", minus && magnitude ? "-" : "",
		   (unsigned long long)(magnitude / unit));
	if (scale)
		buf_printf(out, ".%0*llu", (int)scale, (unsigned long long)(magnitude % unit));
	buf_reserve(out, EVENT_ROOM_BYTES);
	return buf_bytes(out);
}

int decimal_decode(const struct field *f, struct value *v, struct buf *out, struct reject *why)
{
	uint64_t magnitude;
	bool minus;

	switch (parse_decimal(v->text, f->scale, &minus, &magnitude)) {
	case DECIMAL_FINE: break;
	case DECIMAL_BAD:
		return reject_value(why, "bad_number", f->name, v->text,
				    "expected a decimal number with %u digits after the point",
				    f->scale);
	case DECIMAL_FINER:
		return reject_value(
			why, "bad_number", f->name, v->text,
			"expected at most %u digits after the point, because saltmill does not round",
			f->scale);
	case DECIMAL_LARGE:
		return reject_value(why, "out_of_range", f->name, v->text,
				    "expected a number that fits 64 bits, counted in units of its "
				    "last digit (scale %u)",
				    f->scale);
	}
	v->text = decimal_text(magnitude, minus, f->scale, out);
	v->u = minus ? 0 - magnitude : magnitude;
	return RC_OK;
}
