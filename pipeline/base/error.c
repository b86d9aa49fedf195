#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "mem.h"

int error_set(struct error *err, int code, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof err->msg, fmt, ap);
	va_end(ap);
	err->code = code;
	return code;
}

int error_errno(struct error *err, const char *fmt, ...)
{
	int errnum = errno;

	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(err->msg, sizeof err->msg, fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof err->msg)
		snprintf(err->msg + n, sizeof err->msg - (size_t)n, ": %s", strerror(errnum));
	err->code = RC_IO;
	return RC_IO;
}

int error_memory(struct error *err, size_t bytes, const char *what)
{
	return error_set(err, RC_MEMORY, "out of memory: %zu bytes for %s", bytes, what);
}

int error_prefix(struct error *err, const char *fmt, ...)
{
	char old[sizeof err->msg];

	memcpy(old, err->msg, sizeof old);
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(err->msg, sizeof err->msg, fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof err->msg)
		snprintf(err->msg + n, sizeof err->msg - (size_t)n, "%s", old);
	return err->code;
}

void vreport_to(const struct listener *l, const char *fmt, va_list ap)
{
	if (!l || !l->hear)
		return;
	char *sentence = mem_vformat(fmt, ap);

	l->hear(l->ctx, sentence);
	mem_free(sentence);
}

void report_to(const struct listener *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vreport_to(l, fmt, ap);
	va_end(ap);
}
