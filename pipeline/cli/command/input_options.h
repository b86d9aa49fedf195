/*
 * input_options.h - the options of load, plan, map and digest that describe the input
 */
#ifndef SALTMILL_CMD_INPUT_OPTIONS_H
#define SALTMILL_CMD_INPUT_OPTIONS_H

#include "cmd.h"

enum { OPT_SLICE = 800, OPT_COLUMNS, OPT_NAME, OPT_BYTES, OPT_OFFSET, OPT_SIZE };

/* clang-format off */
#define FEED_OPTIONS                                                        \
	{"name", required_argument, NULL, OPT_NAME},                        \
	{"bytes", required_argument, NULL, OPT_BYTES}
#define INPUT_OPTIONS                                                       \
	FEED_OPTIONS,                                                       \
	{"slice", required_argument, NULL, OPT_SLICE},                      \
	{"columns", required_argument, NULL, OPT_COLUMNS},                  \
	{"offset", required_argument, NULL, OPT_OFFSET},                    \
	{"size", required_argument, NULL, OPT_SIZE}
/* clang-format on */

/* For --help. */
#define FEED_HELP                                                                                  \
	"  --name PATH             the file that standard input, `-`, is of\n"                     \
	"  --bytes N               how many bytes standard input has; fewer are an error, and "    \
	"more\n"
#define INPUT_HELP                                                                                 \
	"  --slice A-B|=A-B|K/N    only the rows that begin in these bytes of the one file, or "   \
	"in "                                                                                      \
	"the K-th of N parts;\n"                                                                   \
	"                          where A is known to begin a row, =A-B\n"                        \
	"  --columns FILE          the header line stands there, and not in the input\n" FEED_HELP \
	"  --offset O              of a slice: standard input begins at this byte of the file, A " \
	"- "                                                                                       \
	"1 at most,\n"                                                                             \
	"                          of =A-B A; it goes on to behind the last row of the slice, or " \
	"as "                                                                                      \
	"far as it\n"                                                                              \
	"                          likes: what is not needed is not read\n"                        \
	"  --size S                of the whole file; a slice of standard input needs it\n"

/* {0} before the first option.  Stays where it is: `input` points to the other members. */
struct input_options {
	struct input input;
	struct source_slice slice;
	struct source_feed feed;
	bool sized, counted;
};

/* Take one option.  RC_END: the option is none of these. */
int input_option(struct input_options *o, int opt, const char *arg, struct error *err);
/* After the last option: add the files.  RC_CONFIG: the options contradict each other. */
int input_complete(struct input_options *o, char **files, size_t nfiles, struct error *err);

#endif
