/*
 * terminal.h - a line on standard error with the latest state (inside this folder only)
 *
 * The line never wraps. Clear the line before other output. The line has no colours, so NO_COLOR
 * has no effect. Any thread may call these functions.
 */
#ifndef SALTMILL_CMD_TERMINAL_H
#define SALTMILL_CMD_TERMINAL_H

#include <stdio.h>

#include "bytes.h"

/* Return true if standard error can update a line in place. A terminal with TERM=dumb cannot. */
bool terminal_rewrites(void);
/* Replace the line. If the line is too wide, leave out its last parts, which ", " separates. */
void terminal_line(struct bytes line);
/* Clear the line, if there is one. */
void terminal_clear(void);
/* Clear the line and write text to standard error or standard output at once. */
void terminal_print(FILE *to, struct bytes text);

#endif
