/*
 * terminal.h - the line at the bottom of standard error that is rewritten (inside pipeline/cli/command
 * only)
 *
 * It never wraps, and nothing of it is left behind: who prints something else clears it first.  No
 * colours are used, so NO_COLOR asks for what is so anyway.  Any thread.
 */
#ifndef SALTMILL_CMD_TERMINAL_H
#define SALTMILL_CMD_TERMINAL_H

#include <stdio.h>

#include "bytes.h"

/* Is standard error a terminal that can do this?  (TERM=dumb cannot.) */
bool terminal_rewrites(void);
/* Show the line in place of the one before, as much as the width has room for, by whole parts
 * (", "). */
void terminal_line(struct bytes line);
/* Take it away, if there is one. */
void terminal_clear(void);
/* Write text to standard error or output in its place, at once. */
void terminal_print(FILE *to, struct bytes text);

#endif
