/*
 * input_options.h - from the options of load, plan, map and digest to struct input (source.h)
 */
#ifndef SALTMILL_CMD_INPUT_OPTIONS_H
#define SALTMILL_CMD_INPUT_OPTIONS_H

#include "arguments.h"

/* Parse "0-1000000", "=0-1000000" or "3/8", part K of N; false: the text is none of them. */
#define SLICES_MOST 1000000u
bool slice_parse(struct source_slice *out, const char *text);

/*
 * Complete a->input: the operands from `first` on are its files, and the options say what part of
 * them is read.  RC_CONFIG: the options contradict each other.
 */
int input_complete(struct arguments *a, size_t first, struct error *err);

#endif
