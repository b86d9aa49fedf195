/*
 * values.c - column text to typed values
 *
 * The good path is digits.h; text that is not plain there is looked at byte by byte.  Words that
 * explain a fault are put together only after one was found.
 */
#include "digits.h"
#include "compiled.h"
#include "reject.h"
#include "text.h"

#include <stdlib.h>

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
	/* a well-formed negative number in an unsigned field is out of range, not malformed */
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
	if (fault == TIME_NO_DATE)
		return reject_value(why, "bad_date", f->name, text,
				    "expected a date that the calendar has (%s)", f->format);
	if (fault == TIME_GAP)
		return reject_value(
			why, "bad_time", f->name, text,
			"expected a local time that exists in %s (clocks jumped over it)",
			f->zone->name);
	return reject_value(why, "bad_time", f->name, text, "expected a time written as %s",
			    f->format);
}

static inline int decode_time(const struct binding *b, struct value *v, struct reject *why)
{
	const struct field *f = b->field;
	int64_t t;
	if (f->unit == TIME_FORMAT) {
		enum time_fault fault = time_parse(b->format, f->zone, v->text, &t);
		v->u = (uint64_t)t;
		return fault ? bad_time(f, v->text, fault, why) : 0;
	}
	enum number_fault fault = signed_number(v->text, &v->u);
	t = (int64_t)v->u;
	if (fault == NUMBER_BAD) {
		fault = time_of_decimal(f->unit, v->text, &t);
		v->u = (uint64_t)t;
		return fault ? bad_integer(f, v->text, fault, why) : 0;
	}
	if (fault)
		return bad_integer(f, v->text, fault, why);
	if (f->unit == TIME_S && __builtin_mul_overflow(t, 1000, &t))
		return bad_integer(f, v->text, NUMBER_LARGE, why);
	if (f->unit == TIME_US)
		t = floor_div(t, 1000);
	if (f->unit == TIME_NS)
		t = floor_div(t, 1000000);
	v->u = (uint64_t)t;
	return 0;
}

/* The first byte that is NUL or not UTF-8; t.len: none. */
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
				    "expected text; byte %zu is NUL", at);
	return reject_value(why, "bad_utf8", f->name, v->text,
			    "expected UTF-8; byte %zu (%02X) is not", at, v->text.ptr[at]);
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
				    "expected an even number of hex digits, there are %zu",
				    v->text.len);
	out->len = 0;
	uint8_t *to = buf_room(out, n + 1);
	for (size_t i = 0; i < n; i++) {
		int hi = hex_digit(v->text.ptr[2 * i]), lo = hex_digit(v->text.ptr[2 * i + 1]);
		if ((hi | lo) < 0)
			return reject_value(why, "bad_hex", f->name, v->text,
					    "expected hex digits; byte %zu is none",
					    2 * i + (hi >= 0));
		to[i] = (uint8_t)(hi << 4 | lo);
	}
	v->bytes = bytes_of(to, n);
	return 0;
}

static bool equals_nocase(struct bytes t, const char *word)
{
	size_t n = strlen(word);
	return t.len == n && strncasecmp((const char *)t.ptr, word, n) == 0;
}

static int decode_bool(const struct field *f, struct value *v, struct reject *why)
{
	static const char *const words[] = {"false", "true", "f", "t", "no", "yes", "0", "1"};
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (equals_nocase(v->text, words[i])) {
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

/* What strtod takes, without hex, inf and nan: [+-]digits[.digits][e[+-]digits]. */
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

static int decode_real(struct row_encoder *e, const struct field *f, struct value *v,
		       struct reject *why)
{
	if (!is_real(v->text))
		return reject_value(why, "bad_number", f->name, v->text,
				    "expected a decimal number such as -12.5 or 3e8");
	e->number.len = 0;
	buf_append(&e->number, v->text.ptr, v->text.len);
	buf_put(&e->number, 0);
	v->f = strtod_l((const char *)e->number.ptr, NULL, e->plan->c_locale);
	if (v->f - v->f != 0)
		return reject_value(why, "out_of_range", f->name, v->text,
				    "expected a number that a 64-bit float can hold");
	return 0;
}

static bool spells_null(const struct binding *b, const struct column *c)
{
	for (size_t i = 0; i < b->nnulls && (!c->quoted || b->quoted_nulls); i++)
		if (bytes_eq(b->nulls[i], bytes_of(c->ptr, c->len)))
			return true;
	return false;
}

static inline bool is_null(const struct binding *b, const struct column *c)
{
	if (c->absent)
		return true;
	return (b->null_lengths >> (c->len < 63 ? c->len : 63) & 1) && spells_null(b, c);
}

static int null_value(const struct binding *b, const struct column *c, struct reject *why)
{
	const char *use = b->need == NEED_KEY	 ? "the row key"
			  : b->need == NEED_CELL ? "a cell"
						 : "the cell timestamp";
	const char *advice = b->need == NEED_CELL ? "; mark the cell `optional: true`" : "";
	if (c->absent)
		return reject_set(why, "null_value", b->field->name,
				  "found no value, expected one: %s of table %s needs it%s", use,
				  b->needed_by, advice);
	return reject_value(why, "null_value", b->field->name, bytes_of(c->ptr, c->len),
			    "which means no value, expected one: %s of table %s needs it%s", use,
			    b->needed_by, advice);
}

/* The field's default, or a null where one may be. */
static int no_value(const struct binding *b, const struct column *c, struct value *v,
		    struct reject *why)
{
	v->text = b->fallback;
	return v->text.ptr || !b->need ? RC_OK : null_value(b, c, why);
}

static int join_columns(const struct binding *b, const struct event *ev, struct buf *out,
			struct value *v, struct reject *why)
{
	out->len = 0;
	buf_room(out, 1);
	for (size_t i = 0; i < b->ncolumns; i++) {
		const struct column *c = &ev->columns[b->columns[i]];
		if (is_null(b, c))
			return no_value(b, c, v, why);
		if (i)
			buf_append(out, b->join.ptr, b->join.len);
		buf_append(out, c->ptr, c->len);
	}
	buf_room(out, EVENT_ROOM_BYTES);
	v->text = buf_bytes(out);
	return 0;
}

static const uint8_t nothing[EVENT_ROOM_BYTES];

/* What is not plainly one column's text: joined, quoted, as short as a null spelling. */
static int take_text(struct row_encoder *e, const struct binding *b, const struct event *ev,
		     struct value *v, struct reject *why)
{
	const struct column *c = &ev->columns[b->column];
	if (b->ncolumns > 1)
		return join_columns(b, ev, &e->scratch[b - e->plan->bindings].joined, v, why);
	if (is_null(b, c))
		return no_value(b, c, v, why);
	v->text = bytes_of(c->len ? c->ptr : nothing, c->len);
	return 0;
}

static bool is_number(enum field_type t)
{
	return t == FIELD_U32 || t == FIELD_U64 || t == FIELD_I64 || t == FIELD_F64 ||
	       t == FIELD_DECIMAL;
}

/* A number with the job's own signs becomes one with a point alone. */
static int take_signs(const struct binding *b, struct value *v, struct buf *plain,
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

/* All that the quick way cannot take, and the words for what nobody can. */
static int decode_slowly(struct row_encoder *e, const struct binding *b, struct value *v,
			 struct reject *why)
{
	const struct field *f = b->field;
	struct buf *decoded = &e->scratch[b - e->plan->bindings].decoded;
	if ((b->thousands.len || b->decimal.len) && is_number(f->type) &&
	    take_signs(b, v, decoded, why))
		return RC_DATA;
	switch (f->type) {
	case FIELD_TEXT: return check_text(f, v, why);
	case FIELD_BYTES: return 0;
	case FIELD_HEX: return decode_hex(f, v, decoded, why);
	case FIELD_U32: return decode_unsigned(f, v, UINT32_MAX, why);
	case FIELD_U64: return decode_unsigned(f, v, UINT64_MAX, why);
	case FIELD_I64: return decode_signed(f, v, why);
	case FIELD_F64: return decode_real(e, f, v, why);
	case FIELD_BOOL: return decode_bool(f, v, why);
	case FIELD_TIME: return decode_time(b, v, why);
	case FIELD_DECIMAL: return decimal_decode(f, v, decoded, why);
	}
	return 0;
}

int defaults_check(const struct row_plan *p, struct error *err)
{
	struct row_encoder *e = row_encoder_new(p);
	int rc = RC_OK;
	for (size_t i = 0; i < p->nbindings && rc == RC_OK; i++) {
		const struct binding *b = &p->bindings[i];
		const struct field *f = b->field;
		struct value v = {.text = b->fallback};
		struct reject why;
		if (v.text.ptr && decode_slowly(e, b, &v, &why))
			rc = error_set(err, RC_CONFIG, "%s:%u:%u: default of field `%s`: %s",
				       p->job->path, f->pos.line, f->pos.column, f->name,
				       why.detail);
	}
	row_encoder_free(e);
	return rc;
}

typedef bool parse_digits(struct bytes t, uint64_t *out);

/* false: look closer. */
static inline __attribute__((always_inline)) bool
decode_quickly(const struct binding *b, struct value *v, parse_digits *digits, bool roomy)
{
	struct bytes text = v->text;
	uint64_t u = 0;
	if (b->quick == QUICK_TEXT)
		return roomy && text.len < 8 ? plain_word(load64(text.ptr) | ONES << 8 * text.len)
					     : is_plain_ascii(text);
	if (b->quick != QUICK_NUMBER || !digits(text, &u) || u > b->quick_max)
		return false;
	v->u = u * b->quick_scale;
	return true;
}

static inline __attribute__((always_inline)) int decode_with(struct row_encoder *e,
							     const struct event *ev,
							     struct reject *why,
							     parse_digits *digits, bool roomy)
{
	const struct row_plan *p = e->plan;
	const struct column *columns = ev->columns;
	struct value *v = e->values;
	for (const struct binding *b = p->bindings, *end = b + p->nbindings; b < end; b++, v++) {
		const struct column *c = &columns[b->column];
		v->text = bytes_of(c->ptr, c->len);
		if (__builtin_expect(c->len <= b->null_max || c->absent, 0)) {
			int rc = take_text(e, b, ev, v, why);
			if (rc)
				return rc;
			if (!v->text.ptr)
				continue;
		}
		if (!decode_quickly(b, v, digits, roomy) && decode_slowly(e, b, v, why))
			return RC_DATA;
	}
	return 0;
}

static int decode_portable(struct row_encoder *e, const struct event *ev, struct reject *why)
{
	return decode_with(e, ev, why, digits_portable, false);
}

#if defined(__x86_64__)
static SSE41 int decode_sse41(struct row_encoder *e, const struct event *ev, struct reject *why)
{
	return decode_with(e, ev, why, digits_sse41, true);
}

decode_values *choose_decode(void)
{
	return __builtin_cpu_supports("sse4.1") ? decode_sse41 : decode_portable;
}
#else
decode_values *choose_decode(void)
{
	return decode_portable;
}
#endif

int values_decode(struct row_encoder *e, const struct event *ev, struct reject *why)
{
	if (ev->ncolumns < e->plan->ncolumns)
		return reject_set(why, "too_few_columns", NULL, "found %zu columns, expected %zu",
				  ev->ncolumns, e->plan->ncolumns);
	return ev->roomy ? e->decode_roomy(e, ev, why) : decode_portable(e, ev, why);
}
