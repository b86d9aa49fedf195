/*
 * reporter.h - shows the progress of a command on standard error (inside this folder only)
 */
#ifndef SALTMILL_CMD_REPORTER_H
#define SALTMILL_CMD_REPORTER_H

#include "run.h"

/*
 * Start a thread that shows progress. On a terminal, the thread updates a line four times a second.
 * If there is no terminal, the thread prints one line for each phase. `progress` must outlive the
 * reporter.
 */
struct reporter;
struct reporter *reporter_start(struct progress *progress);
/*
 * Start a reporter only if standard error is a terminal. Use this function for commands that
 * normally print only errors.
 */
struct reporter *reporter_start_on_terminal(struct progress *progress);
void reporter_stop(struct reporter *r); /* `r` may be NULL */

#endif
