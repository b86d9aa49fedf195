/* parse_slice.c - the value of --slice */
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

/* Digits up to the byte `end`, or nothing where there may be nothing; NULL: neither. */
static const char *take_number(const char *p, char end, bool or_nothing, uint64_t *out)
{
	size_t digits = strspn(p, "0123456789");
	if (p[digits] != end || digits > 18 || (digits == 0 && !or_nothing))
		return NULL;
	if (digits > 0)
		*out = strtoull(p, NULL, 10);
	return p + digits + (end != 0);
}

int parse_slice(const char *text, struct source_slice *out, struct error *err)
{
	uint64_t part = 0, parts = 0;
	*out = (struct source_slice){.to = UINT64_MAX, .exact = *text == '='};
	const char *p = take_number(text, '/', false, &part);
	if (p && take_number(p, 0, false, &parts) && part >= 1 && part <= parts &&
	    parts <= SLICES_MOST) {
		out->part = (unsigned)part;
		out->parts = (unsigned)parts;
		return RC_OK;
	}
	p = take_number(text + out->exact, '-', false, &out->from);
	if (p && take_number(p, 0, true, &out->to) && (out->exact || out->from <= out->to))
		return RC_OK;
	return error_set(err, RC_CONFIG,
			 "--slice: found `%s`, expected bytes A-B of the file, =A-B where a row "
			 "starts at A, "
			 "or the K-th of N parts, K/N, up to %u",
			 text, SLICES_MOST);
}
