/* input_options.c - turns options about the input into struct input */
#include "input_options.h"

#include <stdlib.h>
#include <string.h>

/* Sets the members whose options are absent. */
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
