/*
 * input_options.h - turns the options of load, plan, map and digest into struct input (source.h)
 */
#ifndef SALTMILL_CMD_INPUT_OPTIONS_H
#define SALTMILL_CMD_INPUT_OPTIONS_H

#include "arguments.h"

/*
 * Complete a->input. The operands from `first` on are the files of the input, and the options
 * choose a part of these files. Returns RC_CONFIG if the options contradict each other.
 */
int input_complete(struct arguments *a, size_t first, struct error *err);

#endif
