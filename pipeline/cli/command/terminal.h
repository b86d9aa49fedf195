/*
 * terminal.h - a line on standard error that is rewritten in place (inside this room only)
 *
 * The line never wraps.  Whoever prints something else clears it first.  There are no colours, so
 * NO_COLOR has no effect.  Any thread may call these functions.
 */
#ifndef SALTMILL_CMD_TERMINAL_H
#define SALTMILL_CMD_TERMINAL_H

#include <stdio.h>

#include "bytes.h"

/* Can standard error rewrite a line?  TERM=dumb cannot. */
bool terminal_rewrites(void);
/* Replace the line.  If it is too wide, leave out its last parts (", "). */
void terminal_line(struct bytes line);
/* Clear the line, if there is one. */
void terminal_clear(void);
/* Clear the line and write text to standard error or output at once. */
void terminal_print(FILE *to, struct bytes text);

#endif
