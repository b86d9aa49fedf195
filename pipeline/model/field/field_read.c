/*
 * field_read.c - parse a field's text
 *
 * The parser goes byte by byte only if digits.h does not accept the text. To save time, the
 * function builds messages only after a fault.
 */
#include "digits.h"
#include "field.h"

#include <arpa/inet.h>
#include <stdlib.h>

#include "encoding.h"
#include "numbers.h"
#include "bytes.h"
#include "timefmt.h"

static inline enum number_fault signed_number(struct bytes t, uint64_t *out)
{
	if (t.len && t.ptr[0] != '-') {
		enum number_fault fault = unsigned_number(t, out);

		return !fault && *out > INT64_MAX ? NUMBER_LARGE : fault;
	}
	uint64_t v = 0;
	enum number_fault fault = t.len > 1 ? long_number(t.ptr + 1, t.len - 1, &v) : NUMBER_BAD;
	if (fault)
		return fault;
	*out = 0 - v;
	return v > (uint64_t)INT64_MAX + 1 ? NUMBER_LARGE : NUMBER_FINE;
}

static int bad_integer(const struct field *f, struct bytes text, enum number_fault fault,
		       struct reject *why)
{
	uint64_t v;
	const char *range = f->type == FIELD_U32   ? "a whole number 0..4294967295"
			    : f->type == FIELD_U64 ? "a whole number 0..18446744073709551615"
			    : f->type == FIELD_I64
				    ? "a whole number -9223372036854775808..9223372036854775807"
				    : "a number of time units since 1970 that fits 64 bits in ms";

	/* a valid negative number in an unsigned field is out of range, not bad */
	if (fault == NUMBER_BAD && text.len > 1 && text.ptr[0] == '-' &&
	    long_number(text.ptr + 1, text.len - 1, &v) != NUMBER_BAD)
		fault = NUMBER_LARGE;
	return reject_value(why, fault == NUMBER_BAD ? "bad_number" : "out_of_range", f->name, text,
			    "expected %s", range);
}

static int decode_unsigned(const struct field *f, struct value *v, uint64_t max, struct reject *why)
{
	enum number_fault fault = unsigned_number(v->text, &v->u);

	return fault || v->u > max ? bad_integer(f, v->text, fault, why) : 0;
}

static int decode_signed(const struct field *f, struct value *v, struct reject *why)
{
	enum number_fault fault = signed_number(v->text, &v->u);

	return fault ? bad_integer(f, v->text, fault, why) : 0;
}

static int bad_time(const struct field *f, struct bytes text, enum time_fault fault,
		    struct reject *why)
{
	switch (fault) {
	case TIME_NO_DATE:
		return reject_value(why, "bad_date", f->name, text,
				    "expected a day that exists (format %s)", f->format);
	case TIME_WEEKDAY:
		return reject_value(why, "bad_date", f->name, text,
				    "expected the weekday of this date (format %s)", f->format);
	case TIME_NO_YEAR:
		return reject_value(
			why, "bad_time", f->name, text,
			"expected a file with a date such as 2026-01-03 in its name, because "
			"`year: file` takes the year from it");
	case TIME_GAP:
		return reject_value(
			why, "bad_time", f->name, text,
			"expected a local time that exists in %s (clocks jumped over it)",
			f->zone->name);
	case TIME_FINE:
	case TIME_NO_MATCH: break;
	}
	if (strcmp(f->format, TIME_ISO8601) == 0)
		return reject_value(why, "bad_time", f->name, text,
				    "expected an ISO 8601 time, such as 2012-09-01 or "
				    "2012-09-01T16:00:05.123Z");
	return reject_value(why, "bad_time", f->name, text, "expected a time in the format %s",
			    f->format);
}

static struct year_of year_of(const struct field_form *form, const struct field_scratch *s)
{
	const struct field *f = form->field;

	if (f->year_rule == YEAR_NEAR)
		return (struct year_of){YEAR_NEAR, form->near_day};
	if (f->year_rule == YEAR_OF_FILE && s->has_file_day)
		return (struct year_of){YEAR_NEAR, s->file_day};
	return (struct year_of){f->year_rule, f->year};
}

/* Units of time, by the number of units in a second. */
static const struct {
	const char *name;
	enum time_unit unit;
	int64_t in_s;
} units[] = {{"s", TIME_S, 1},
	     {"ms", TIME_MS, 1000},
	     {"us", TIME_US, 1000000},
	     {"ns", TIME_NS, 1000000000}};

/*
 * Find a finer unit in which the number is a time of 1990 to 2099. Returns NULL if there is no such
 * unit.
 */
static const char *finer_unit(enum time_unit unit, int64_t number)
{
	const int64_t from_s = 631152000, end_s = 4102444800;
	bool finer = false;

	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		int64_t s = number / units[i].in_s;

		if (finer && s >= from_s && s < end_s)
			return units[i].name;
		finer = finer || units[i].unit == unit;
	}
	return NULL;
}

/*
 * Reject a time after the year 9999, or a number too large for 64 bits. `number` is the count of
 * units.
 */
static int far_time(const struct field *f, struct bytes text, int64_t number, bool large,
		    struct reject *why)
{
	const char *meant = finer_unit(f->unit, number);

	if (meant)
		return reject_value(
			why, "out_of_range", f->name, text,
			"expected a time before the year 10000; with `unit: %s` this is a time "
			"between 1990 and 2099",
			meant);
	return large ? bad_integer(f, text, NUMBER_LARGE, why) : RC_OK;
}

static int64_t units_of(enum time_unit unit, int64_t ms)
{
	int64_t number = unit == TIME_S ? ms / 1000 : ms;
	int64_t in_ms = unit == TIME_US ? 1000 : unit == TIME_NS ? 1000000 : 1;

	return __builtin_mul_overflow(number, in_ms, &number) ? 0 : number;
}

static int take_instant(struct value *v, struct instant t)
{
	v->u = (uint64_t)t.ms;
	v->micros = t.micros;
	v->finer = t.finer;
	return RC_OK;
}

/*
 * Convert a number of units to an instant. Round down to whole microseconds. Returns false if the
 * number is too large.
 */
static bool instant_of(enum time_unit unit, int64_t number, struct instant *out)
{
	int64_t micros = unit == TIME_NS ? floor_div(number, 1000) : number;

	*out = (struct instant){.ms = number};
	if (unit == TIME_S)
		return !__builtin_mul_overflow(number, 1000, &out->ms);
	if (unit == TIME_MS)
		return true;
	out->ms = floor_div(micros, 1000);
	out->micros = (uint32_t)(micros - 1000 * out->ms);
	out->finer = unit == TIME_NS && number % 1000;
	return true;
}

static int decode_number_of_units(const struct field *f, struct value *v, struct reject *why)
{
	struct instant t = {0};
	uint64_t u = 0;
	enum number_fault fault = signed_number(v->text, &u);
	int64_t number = (int64_t)u;

	if (fault == NUMBER_BAD) {
		fault = time_of_decimal(f->unit, v->text, &t);
		number = units_of(f->unit, t.ms);
	} else if (fault == NUMBER_FINE && !instant_of(f->unit, number, &t)) {
		return far_time(f, v->text, number, true, why);
	}
	if (fault)
		return bad_integer(f, v->text, fault, why);
	take_instant(v, t);
	return t.ms > TIME_LAST_MS ? far_time(f, v->text, number, false, why) : RC_OK;
}

/*
 * Read the time of a source with a schema. The source writes milliseconds, or ISO 8601 if
 * milliseconds are ambiguous.
 */
static int decode_source_time(const struct field *f, struct value *v, struct reject *why)
{
	struct instant t = {0};
	uint64_t u;

	if (signed_number(v->text, &u) == NUMBER_FINE)
		t.ms = (int64_t)u;
	else if (time_of_decimal(TIME_MS, v->text, &t) != NUMBER_FINE &&
		 iso_parse(v->text, f->zone, &t) != TIME_FINE)
		return reject_value(why, "bad_time", f->name, v->text,
				    "expected a time of the years 0 to 9999 as in ISO 8601%s",
				    f->zone ? " that exists in its zone" : "");
	return take_instant(v, t);
}

static int decode_time(const struct field_form *form, struct value *v,
		       const struct field_scratch *s, struct reject *why)
{
	const struct field *f = form->field;
	struct instant t;

	if (f->unit == TIME_OF_SOURCE)
		return decode_source_time(f, v, why);
	if (f->unit != TIME_FORMAT)
		return decode_number_of_units(f, v, why);
	enum time_fault fault = time_parse(form->format, f->zone, year_of(form, s), v->text, &t);
	return fault ? bad_time(f, v->text, fault, why) : take_instant(v, t);
}

/*
 * Return the offset of the first byte that is NUL or not UTF-8, or the text's length if all bytes
 * are valid.
 */
static size_t text_fault(struct bytes t)
{
	const uint8_t *p = t.ptr, *end = p + t.len;

	while (p < end) {
		if (end - p >= 8 && plain_word(load64(p))) {
			p += 8;
			continue;
		}
		size_t n = *p ? utf8_char(p, end) : 0;
		if (!n)
			break;
		p += n;
	}
	return (size_t)(p - t.ptr);
}

static int check_text(const struct field *f, const struct value *v, struct reject *why)
{
	size_t at = text_fault(v->text);

	if (at == v->text.len)
		return 0;
	if (v->text.ptr[at] == 0)
		return reject_value(why, "nul_byte", f->name, v->text,
				    "expected text without NUL, but byte %zu is NUL", at);
	return reject_value(why, "bad_utf8", f->name, v->text,
			    "expected UTF-8, but byte %zu (%02X) is not UTF-8", at,
			    v->text.ptr[at]);
}

static int hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int decode_hex(const struct field *f, struct value *v, struct buf *out, struct reject *why)
{
	size_t n = v->text.len / 2;

	if (v->text.len % 2)
		return reject_value(why, "bad_hex", f->name, v->text,
				    "expected an even number of hex digits, found %zu",
				    v->text.len);
	out->len = 0;
	uint8_t *to = buf_room(out, n + 1);
	for (size_t i = 0; i < n; i++) {
		int hi = hex_digit(v->text.ptr[2 * i]), lo = hex_digit(v->text.ptr[2 * i + 1]);

		if ((hi | lo) < 0)
			return reject_value(why, "bad_hex", f->name, v->text,
					    "expected hex digits, but byte %zu is no hex digit",
					    2 * i + (hi >= 0));
		to[i] = (uint8_t)(hi << 4 | lo);
	}
	v->bytes = bytes_of(to, n);
	return 0;
}

static int decode_uuid(const struct field *f, struct value *v, struct buf *out, struct reject *why)
{
	bool fine = v->text.len == 36;
	uint8_t *to = buf_room(out, 17);

	out->len = 0;
	for (size_t i = 0, n = 0; fine && i < 36; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;
		int digit = dash ? 0 : hex_digit(v->text.ptr[i]);

		fine = dash ? v->text.ptr[i] == '-' : digit >= 0;
		if (dash || !fine)
			continue;
		to[n / 2] = (uint8_t)(n % 2 ? to[n / 2] | digit : digit << 4);
		n++;
	}
	if (!fine)
		return reject_value(why, "bad_uuid", f->name, v->text,
				    "expected a UUID, such as "
				    "123e4567-e89b-12d3-a456-426614174000");
	v->bytes = bytes_of(to, 16);
	return 0;
}

static int decode_ip(const struct field *f, struct value *v, struct buf *out, struct reject *why)
{
	char text[INET6_ADDRSTRLEN];
	uint8_t *to = buf_room(out, 17);
	bool fine = v->text.len < sizeof text && !memchr(v->text.ptr, 0, v->text.len);

	out->len = 0;
	if (fine) {
		memcpy(text, v->text.ptr, v->text.len);
		text[v->text.len] = 0;
		memset(to, 0, 10);
		memset(to + 10, 0xff, 2);
		fine = inet_pton(AF_INET, text, to + 12) == 1 || inet_pton(AF_INET6, text, to) == 1;
	}
	if (!fine)
		return reject_value(why, "bad_ip", f->name, v->text,
				    "expected an IPv4 or IPv6 address, such as 192.0.2.7 or "
				    "2001:db8::7");
	v->bytes = bytes_of(to, 16);
	return 0;
}

static int decode_code(const struct field *f, struct value *v, struct reject *why)
{
	uint32_t code = f->unknown;

	if (!codes_find(f->codes, v->text, &code) && !f->has_unknown)
		return reject_value(
			why, "unknown_name", f->name, v->text,
			"expected one of the %zu names under `codes` (with `unknown: NAME`, others "
			"get the code of NAME)",
			f->codes->n);
	v->u = code;
	return 0;
}

static int decode_bool(const struct field *f, struct value *v, struct reject *why)
{
	static const char *const words[] = {"false", "true", "f", "t", "no", "yes", "0", "1"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (bytes_is_word(v->text, words[i])) {
			v->u = i % 2 ? 0xff : 0;
			return 0;
		}
	}
	return reject_value(why, "bad_bool", f->name, v->text,
			    "expected true or false (also t/f, yes/no, 1/0)");
}

static size_t skip_digits(struct bytes t, size_t at)
{
	while (at < t.len && t.ptr[at] >= '0' && t.ptr[at] <= '9')
		at++;
	return at;
}

/*
 * Return true if the text has the form [+-]digits[.digits][e[+-]digits]. strtod also accepts hex,
 * inf and nan.
 */
static bool is_real(struct bytes t)
{
	size_t at = t.len && (t.ptr[0] == '-' || t.ptr[0] == '+');
	size_t whole = skip_digits(t, at), end = whole, digits = whole - at;

	if (whole < t.len && t.ptr[whole] == '.') {
		end = skip_digits(t, whole + 1);
		digits += end - whole - 1;
	}
	if (!digits)
		return false;
	if (end < t.len && (t.ptr[end] | 0x20) == 'e') {
		at = end + 1;
		at += at < t.len && (t.ptr[at] == '-' || t.ptr[at] == '+');
		end = skip_digits(t, at);
		if (end == at)
			return false;
	}
	return end == t.len;
}

static int decode_real(const struct field_form *form, struct value *v, struct buf *number,
		       struct reject *why)
{
	const struct field *f = form->field;

	if (!is_real(v->text))
		return reject_value(why, "bad_number", f->name, v->text,
				    "expected a decimal number such as -12.5 or 3e8");
	number->len = 0;
	buf_append(number, v->text.ptr, v->text.len);
	buf_put(number, 0);
	v->f = strtod_l((const char *)number->ptr, NULL, form->c_locale);
	if (v->f - v->f != 0)
		return reject_value(why, "out_of_range", f->name, v->text,
				    "expected a number that a 64-bit float can hold");
	return 0;
}

static bool is_number(const struct field *f)
{
	enum field_type t = f->type;

	return t == FIELD_U32 || t == FIELD_U64 || t == FIELD_I64 || t == FIELD_F64 ||
	       t == FIELD_DECIMAL ||
	       (t == FIELD_TIME && f->unit != TIME_FORMAT && f->unit != TIME_OF_SOURCE);
}

/* Replace the job's decimal and thousands signs by a plain decimal point. */
static int take_signs(const struct field_form *b, struct value *v, struct buf *plain,
		      struct reject *why)
{
	if (!number_plain(b, v->text, plain))
		return reject_value(why, "bad_number", b->field->name, v->text,
				    "expected a number with the decimal sign `%s`%s%s%s",
				    b->decimal.len ? (const char *)b->decimal.ptr : ".",
				    b->thousands.len ? " and groups of three digits by `" : "",
				    b->thousands.len ? (const char *)b->thousands.ptr : "",
				    b->thousands.len ? "`" : " alone");
	v->text = buf_bytes(plain);
	return RC_OK;
}

int field_form_init(struct field_form *form, struct arena *a, const struct job *job,
		    const struct field *f, locale_t c_locale, struct error *err)
{
	*form = (struct field_form){.field = f, .c_locale = c_locale};
	if (job->csv.thousands)
		form->thousands = bytes_str(job->csv.thousands);
	if (job->csv.decimal)
		form->decimal = bytes_str(job->csv.decimal);
	form->minus = job->csv.minus;
	if (f->type != FIELD_TIME || f->unit != TIME_FORMAT)
		return RC_OK;
	if (f->year_near && !field_day_of(f->year_near, &form->near_day))
		return error_set(err, RC_CONFIG,
				 "year: found `near: %.60s`, expected a date like "
				 "2026-01-03",
				 f->year_near);
	return time_format_new(&form->format, a, f->format, err);
}

int field_read(const struct field_form *form, struct value *v, struct field_scratch *s,
	       struct reject *why)
{
	const struct field *f = form->field;

	if ((form->thousands.len || form->decimal.len || form->minus) && is_number(f) &&
	    take_signs(form, v, &s->decoded, why))
		return RC_DATA;
	switch (f->type) {
	case FIELD_TEXT: return check_text(f, v, why);
	case FIELD_BYTES: return 0;
	case FIELD_HEX: return decode_hex(f, v, &s->decoded, why);
	case FIELD_U32: return decode_unsigned(f, v, UINT32_MAX, why);
	case FIELD_U64: return decode_unsigned(f, v, UINT64_MAX, why);
	case FIELD_I64: return decode_signed(f, v, why);
	case FIELD_F64: return decode_real(form, v, &s->number, why);
	case FIELD_BOOL: return decode_bool(f, v, why);
	case FIELD_TIME: return decode_time(form, v, s, why);
	case FIELD_DECIMAL: return decimal_decode(f, v, &s->decoded, why);
	case FIELD_UUID: return decode_uuid(f, v, &s->decoded, why);
	case FIELD_IP: return decode_ip(f, v, &s->decoded, why);
	case FIELD_CODE: return decode_code(f, v, why);
	}
	return 0;
}

void field_scratch_release(struct field_scratch *s)
{
	buf_release(&s->decoded);
	buf_release(&s->number);
}

int field_read_loosely(const struct field_form *form, struct value *v, struct field_scratch *s,
		       struct reject *why)
{
	struct instant t;

	v->text = transform_asked(form->field, v->text);
	int rc = field_read(form, v, s, why);
	if (rc && form->field->type == FIELD_TIME &&
	    iso_parse(v->text, form->field->zone, &t) == TIME_FINE)
		return take_instant(v, t);
	return rc;
}

int field_read_kept(const struct field_form *form, struct value *v, struct arena *a,
		    struct reject *why)
{
	struct field_scratch s = {0};
	int rc = field_read_loosely(form, v, &s, why);

	if (rc == RC_OK) {
		char *text = arena_strndup(a, v->text.ptr, v->text.len);

		v->text = bytes_of(text, v->text.len);
	}
	if (rc == RC_OK && field_has_bytes(form->field->type)) {
		uint8_t *kept = arena_alloc(a, v->bytes.len + 1);

		copy_short(kept, v->bytes.ptr, v->bytes.len);
		v->bytes.ptr = kept;
	}
	field_scratch_release(&s);
	return rc;
}
