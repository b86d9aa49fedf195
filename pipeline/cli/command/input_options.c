/* input_options.c - see input_options.h */
#include "input_options.h"

#include <stdlib.h>
#include <string.h>

/* Read digits up to the byte `end`; no digits are allowed if or_nothing.  NULL: neither. */
static const char *take_number(const char *p, char end, bool or_nothing, uint64_t *out)
{
	size_t digits = strspn(p, "0123456789");

	if (p[digits] != end || digits > 18 || (digits == 0 && !or_nothing))
		return NULL;
	if (digits > 0)
		*out = strtoull(p, NULL, 10);
	return p + digits + (end != 0);
}

bool slice_parse(struct source_slice *out, const char *text)
{
	uint64_t part = 0, parts = 0;
	const char *p = take_number(text, '/', false, &part);

	*out = (struct source_slice){.to = UINT64_MAX, .exact = *text == '='};
	if (p && take_number(p, 0, false, &parts) && part >= 1 && part <= parts &&
	    parts <= SLICES_MOST) {
		out->part = (unsigned)part;
		out->parts = (unsigned)parts;
		return true;
	}
	p = take_number(text + out->exact, '-', false, &out->from);
	return p && take_number(p, 0, true, &out->to) && (out->exact || out->from <= out->to);
}

/* Fill in what the options left out. */
static int complete_feed(struct arguments *a, struct error *err)
{
	bool sized = arguments_given(a, "size"), counted = arguments_given(a, "bytes");

	a->input.feed = &a->feed;
	if (!a->feed.name)
		a->feed.name = "-";
	if (!counted)
		a->feed.bytes = UINT64_MAX;
	if (a->input.slice && !sized)
		return error_set(err, RC_CONFIG,
				 "--slice: found no --size, expected `--size S`, the size of the "
				 "whole file in bytes, for a slice of standard input");
	if (!sized)
		a->feed.size = counted ? a->feed.offset + a->feed.bytes : UINT64_MAX;
	return RC_OK;
}

int input_complete(struct arguments *a, size_t first, struct error *err)
{
	a->input.files = arguments_files(a, first);
	a->input.nfiles = a->noperands - first;
	if (arguments_given(a, "slice"))
		a->input.slice = &a->slice;
	return a->feed.name || arguments_given(a, "bytes") ? complete_feed(a, err) : RC_OK;
}
