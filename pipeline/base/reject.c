/*
 * reject.c - format the reasons of rejects
 *
 * The message quotes a value with visible characters (bytes.h) and shortens it. So the detail is
 * always one line of valid text without control characters.
 */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

#include "bytes.h"

#define QUOTE_MAX 60

static int ERROR_FORMAT(5, 0)
	reject_format(struct reject *why, const char *reason, const char *field, size_t at,
		      const char *fmt, va_list ap)
{
	why->reason = reason;
	why->field = field;
	vsnprintf(why->detail + at, sizeof why->detail - at, fmt, ap);
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
	char text[QUOTE_MAX + 4];

	text_quote(text, QUOTE_MAX, found);
	int at = snprintf(why->detail, sizeof why->detail, "found `%s`, ", text);
	va_list ap;
	va_start(ap, fmt);
	int rc = reject_format(why, reason, field, (size_t)at, fmt, ap);
	va_end(ap);
	return rc;
}
