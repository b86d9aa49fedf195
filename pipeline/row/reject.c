/*
 * reject.c - why an event was not taken, in words
 *
 * A value is quoted shortened to QUOTE_MAX bytes; what would not print (controls, bytes that are
 * no UTF-8) stands as \xHH, so that the detail is always a valid, harmless line of text.
 */
#include "reject.h"

#include <stdarg.h>
#include <stdio.h>

#define QUOTE_MAX 60

static bool continues(const uint8_t *p, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return false;
	return true;
}

/* Unicode 15, table 3-7: the second byte's range keeps out overlong forms and surrogates. */
size_t utf8_char(const uint8_t *p, const uint8_t *end)
{
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	if (n == 0 || p[0] > 0xf4 || n > (size_t)(end - p) || !continues(p, n))
		return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

static bool prints(const uint8_t *p, size_t n)
{
	if (n == 1)
		return p[0] >= 0x20 && p[0] != 0x7f;
	return n > 0 && !(p[0] == 0xc2 && p[1] < 0xa0);
}

static void quote(char out[QUOTE_MAX + 8], struct bytes v)
{
	const uint8_t *p = v.ptr, *end = p + v.len;
	size_t at = 0;
	while (p < end) {
		size_t n = utf8_char(p, end);
		bool plain = prints(p, n);
		if (at + (plain ? n : 4) > QUOTE_MAX) {
			memcpy(out + at, "...", 3);
			at += 3;
			break;
		}
		if (plain) {
			memcpy(out + at, p, n);
			at += n;
			p += n;
		} else {
			at += (size_t)snprintf(out + at, 5, "\\x%02X", *p);
			p++;
		}
	}
	out[at] = 0;
}

static int ERROR_FORMAT(5, 0)
	reject_format(struct reject *why, const char *reason, const char *field, size_t at,
		      const char *fmt, va_list ap)
{
	why->reason = reason;
	why->field = field;
	vsnprintf(why->detail + at, sizeof(why->detail) - at, fmt, ap);
	return RC_DATA;
}

int reject_set(struct reject *why, const char *reason, const char *field, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int rc = reject_format(why, reason, field, 0, fmt, ap);
	va_end(ap);
	return rc;
}

int reject_value(struct reject *why, const char *reason, const char *field, struct bytes found,
		 const char *fmt, ...)
{
	char text[QUOTE_MAX + 8];
	quote(text, found);
	int at = snprintf(why->detail, sizeof(why->detail), "found `%s`, ", text);
	va_list ap;
	va_start(ap, fmt);
	int rc = reject_format(why, reason, field, (size_t)at, fmt, ap);
	va_end(ap);
	return rc;
}
