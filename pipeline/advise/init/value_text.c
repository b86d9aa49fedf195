/*
 * value_text.c - compare a typed value with the text that the file has, for a proof
 *
 * The comparison does not use the parsers of a load. Numbers are compared as digits, and times by
 * strptime of the C library.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>

#include "value_proof.h"
#include "bytes.h"

#define LONGEST 400 /* longer texts are no numbers and no times */

static bool begins(struct bytes t, struct bytes with)
{
	return t.len >= with.len && memcmp(t.ptr, with.ptr, with.len) == 0;
}

/* Append the number in plain form: no separators, a sign before it, and a point. */
static void plain_number(struct bytes t, const struct csv_source *csv, struct buf *out)
{
	struct bytes thousands = bytes_str(csv->thousands ? csv->thousands : "");
	struct bytes decimal = bytes_str(csv->decimal ? csv->decimal : ".");
	bool minus = t.len && t.ptr[t.len - 1] == '-';

	if (minus)
		buf_put(out, '-');
	for (size_t i = 0; i + minus < t.len;) {
		struct bytes rest = bytes_of(t.ptr + i, t.len - i);

		if (thousands.len && begins(rest, thousands)) {
			i += thousands.len;
		} else if (begins(rest, decimal)) {
			buf_put(out, '.');
			i += decimal.len;
		} else {
			buf_put(out, t.ptr[i++]);
		}
	}
}

/* Remove a plus, zeros before the number, and zeros after the point. */
static struct bytes shortest(struct bytes t, bool *negative)
{
	*negative = t.len && t.ptr[0] == '-';
	if (t.len && (t.ptr[0] == '-' || t.ptr[0] == '+'))
		t = bytes_of(t.ptr + 1, t.len - 1);
	while (t.len > 1 && t.ptr[0] == '0')
		t = bytes_of(t.ptr + 1, t.len - 1);
	if (t.len && memchr(t.ptr, '.', t.len)) {
		while (t.ptr[t.len - 1] == '0')
			t.len--;
		t.len -= t.ptr[t.len - 1] == '.';
	}
	if (t.len && t.ptr[0] == '0' && t.len > 1)
		t = bytes_of(t.ptr + 1, t.len - 1);
	if (t.len == 0 || (t.len == 1 && t.ptr[0] == '0')) {
		*negative = false;
		t = bytes_of("0", 1);
	}
	return t;
}

static bool same_number(struct bytes source, struct bytes text, const struct csv_source *csv,
			bool real)
{
	struct buf plain = {0};
	bool a, b, same;

	plain_number(source, csv, &plain);
	buf_put(&plain, 0);
	if (real || strpbrk((const char *)plain.ptr, "eE")) {
		char *end;
		double x = strtod((const char *)plain.ptr, &end);

		same = !*end && x == strtod((const char *)text.ptr, NULL);
	} else {
		struct bytes x = shortest(bytes_of(plain.ptr, plain.len - 1), &a);

		same = bytes_eq(x, shortest(text, &b)) && a == b;
	}
	buf_release(&plain);
	return same;
}

/*
 * Read the digits after a point as microseconds. Return the text after them. Sets `*finer` if a
 * load drops a digit, because a time has microseconds.
 */
static const char *read_fraction(const char *p, int64_t *micros, bool *finer)
{
	int64_t unit = 100000;

	*micros = 0;
	if (*p != '.' && *p != ',')
		return p;
	for (p++; isdigit((unsigned char)*p); p++, unit /= 10) {
		*micros += unit * (*p - '0');
		*finer |= unit == 0 && *p != '0';
	}
	return p;
}

/* Read Z, +02, +0200 or +02:00. Return false for anything else. */
static bool read_offset(const char *p, int64_t *seconds)
{
	int h = 0, m = 0, n = 0;

	*seconds = 0;
	while (*p == ' ')
		p++;
	if (!*p || strcmp(p, "Z") == 0 || strcmp(p, "z") == 0)
		return true;
	if ((*p != '+' && *p != '-') || strchr("+-", p[1]))
		return false;
	if (sscanf(p + 1, "%2d:%2d%n", &h, &m, &n) < 2 && sscanf(p + 1, "%2d%2d%n", &h, &m, &n) < 2)
		n = 2;
	*seconds = (*p == '-' ? -1 : 1) * (h * 3600 + m * 60);
	return p[1 + n] == 0;
}

/* Read `n` digits. Return the text after them, or NULL. */
static const char *read_digits(const char *p, int n, int *value)
{
	*value = 0;
	for (; p && n > 0; n--, p++) {
		if (!isdigit((unsigned char)*p))
			return NULL;
		*value = *value * 10 + (*p - '0');
	}
	return p;
}

/* Read the sign and `n` digits after it. Return the text after them, or NULL. */
static const char *read_after(const char *p, char sign, int n, int *value)
{
	return p && *p == sign ? read_digits(p + 1, n, value) : NULL;
}

/* Read ISO 8601. Return false for a form that this reader does not have. For `finer`, see
 * read_fraction. */
static bool read_iso(const char *text, int64_t *micros, bool *finer)
{
	struct tm tm = {0};
	int64_t rest = 0, offset = 0;
	const char *p = read_digits(text, 4, &tm.tm_year), *seconds;

	p = read_after(p, '-', 2, &tm.tm_mon);
	p = read_after(p, '-', 2, &tm.tm_mday);
	if (p && (*p == 'T' || *p == 't' || *p == ' ')) {
		p = read_digits(p + 1, 2, &tm.tm_hour);
		p = read_after(p, ':', 2, &tm.tm_min);
		seconds = read_after(p, ':', 2, &tm.tm_sec);
		p = seconds ? read_fraction(seconds, &rest, finer) : p;
	}
	if (!p)
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	if (!read_offset(p, &offset))
		return false;
	*micros = ((int64_t)timegm(&tm) - offset) * 1000000 + rest;
	return true;
}

static bool read_unit(enum time_unit unit, const char *text, int64_t *micros)
{
	char *end;
	long long v = strtoll(text, &end, 10);

	if (*end || end == text)
		return false;
	switch (unit) {
	case TIME_S: *micros = v * 1000000; return true;
	case TIME_MS: *micros = v * 1000; return true;
	case TIME_US: *micros = v; return true;
	case TIME_NS: *micros = v / 1000; return true;
	case TIME_FORMAT:
	case TIME_OF_SOURCE: break;
	}
	return false;
}

static bool read_format(const char *format, const char *text, int64_t *micros)
{
	struct tm tm = {.tm_mday = 1};

	if (strstr(format, "%f") || strstr(format, "%Z"))
		return false;
	const char *end = strptime(text, format, &tm);
	long offset = tm.tm_gmtoff;
	if (!end || *end)
		return false;
	*micros = ((int64_t)timegm(&tm) - offset) * 1000000;
	return true;
}

/* Compare a time. Clears `*known` for a form that only the load can read. */
static bool compare_time(const struct field *f, struct bytes t, const struct value *v, bool *known)
{
	char text[LONGEST + 1];
	int64_t micros = 0;
	bool finer = false;

	*known = t.len <= LONGEST && !f->zone && !f->year_rule;
	if (!*known)
		return true;
	memcpy(text, t.ptr, t.len);
	text[t.len] = 0;
	if (!f->format)
		*known = read_unit(f->unit, text, &micros);
	else if (strcmp(f->format, TIME_ISO8601) == 0)
		*known = read_iso(text, &micros, &finer);
	else
		*known = read_format(f->format, text, &micros);
	return !finer && micros == (int64_t)v->u * 1000 + (int64_t)v->micros;
}

static bool same_flag(struct bytes t, bool value)
{
	static const char *const words[] = {"true", "t", "yes", "y", "1", "on", NULL};
	bool is = false;

	for (size_t i = 0; words[i]; i++)
		is = is || (t.len == strlen(words[i]) &&
			    strncasecmp((const char *)t.ptr, words[i], t.len) == 0);
	return is == value;
}

static bool same_address(struct bytes t, struct bytes value)
{
	static const uint8_t mapped[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	char text[64];
	uint8_t bytes[16];

	if (t.len >= sizeof text || value.len != 16)
		return false;
	memcpy(text, t.ptr, t.len);
	text[t.len] = 0;
	memcpy(bytes, mapped, sizeof mapped);
	bool read =
		inet_pton(AF_INET, text, bytes + 12) == 1 || inet_pton(AF_INET6, text, bytes) == 1;
	return read && memcmp(bytes, value.ptr, 16) == 0;
}

/* Compare the hex digits of a UUID. */
static bool same_uuid(struct bytes t, struct bytes value)
{
	static const char digits[] = "0123456789abcdef";
	size_t n = 0;

	for (size_t i = 0; i < t.len; i++) {
		if (!isxdigit(t.ptr[i]))
			continue;
		if (n >= 2 * value.len)
			return false;
		uint8_t b = value.ptr[n / 2];
		if (tolower(t.ptr[i]) != digits[n % 2 ? b & 0xf : b >> 4])
			return false;
		n++;
	}
	return n == 2 * value.len;
}

static bool is_written_number(enum field_type type)
{
	return type == FIELD_U32 || type == FIELD_U64 || type == FIELD_I64 ||
	       type == FIELD_DECIMAL || type == FIELD_F64;
}

static void put_value_text(const struct field *f, const struct value *v, struct buf *text)
{
	field_text(f, v, text);
	buf_put(text, 0);
	text->len--;
}

enum proof_result value_compare(const struct field *f, const struct csv_source *csv, struct bytes t,
				const struct value *v, struct buf *text)
{
	bool same = true, known = true;

	text->len = 0;
	if (is_written_number(f->type))
		put_value_text(f, v, text);
	switch (f->type) {
	case FIELD_TIME: same = compare_time(f, t, v, &known); break;
	case FIELD_TEXT: same = bytes_eq(t, v->text); break;
	case FIELD_BOOL: same = same_flag(t, (v->u & 0xff) != 0); break;
	case FIELD_UUID: same = same_uuid(t, v->bytes); break;
	case FIELD_IP: same = same_address(t, v->bytes); break;
	case FIELD_U32:
	case FIELD_U64:
	case FIELD_I64:
	case FIELD_DECIMAL: same = same_number(t, buf_bytes(text), csv, false); break;
	case FIELD_F64: same = same_number(t, buf_bytes(text), csv, true); break;
	case FIELD_BYTES:
	case FIELD_HEX:
	case FIELD_CODE: known = false; break;
	}
	if (!known)
		return PROOF_NONE;
	if (!same && !text->len)
		put_value_text(f, v, text);
	return same ? PROOF_SAME : PROOF_DIFFERS;
}
