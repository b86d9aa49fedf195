/* input_options.c - see input_options.h */
#include "input_options.h"

#include <stdlib.h>
#include <string.h>

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

static int parse_bytes(const char *option, const char *text, uint64_t *out, struct error *err)
{
	return take_number(text, 0, false, out)
		       ? RC_OK
		       : error_set(err, RC_CONFIG, "%s: found `%s`, expected a number of bytes",
				   option, text);
}

int input_option(struct input_options *o, int opt, const char *arg, struct error *err)
{
	if (opt == OPT_NAME || opt == OPT_BYTES || opt == OPT_OFFSET || opt == OPT_SIZE)
		o->input.feed = &o->feed;
	switch (opt) {
	case OPT_SLICE: o->input.slice = &o->slice; return parse_slice(arg, &o->slice, err);
	case OPT_COLUMNS: o->input.columns_file = arg; return RC_OK;
	case OPT_NAME: o->feed.name = arg; return RC_OK;
	case OPT_BYTES: o->counted = true; return parse_bytes("--bytes", arg, &o->feed.bytes, err);
	case OPT_OFFSET: return parse_bytes("--offset", arg, &o->feed.offset, err);
	case OPT_SIZE: o->sized = true; return parse_bytes("--size", arg, &o->feed.size, err);
	default: return RC_END;
	}
}

/* Fill in what the options left out. */
static int complete_feed(struct input_options *o, struct error *err)
{
	if (!o->feed.name)
		o->feed.name = "-";
	if (!o->counted)
		o->feed.bytes = UINT64_MAX;
	if (o->input.slice && !o->sized)
		return error_set(err, RC_CONFIG,
				 "--slice of standard input needs --size, the size of the whole "
				 "file in bytes");
	if (!o->sized)
		o->feed.size = o->counted ? o->feed.offset + o->feed.bytes : UINT64_MAX;
	if (!o->counted && (o->sized || o->feed.offset))
		return error_set(err, RC_CONFIG, "--offset and --size need --bytes");
	return RC_OK;
}

int input_complete(struct input_options *o, char **files, size_t nfiles, struct error *err)
{
	o->input.files = (const char *const *)files;
	o->input.nfiles = nfiles;
	return o->input.feed ? complete_feed(o, err) : RC_OK;
}
