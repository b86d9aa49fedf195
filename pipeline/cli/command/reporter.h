/*
 * reporter.h - the progress of a command on standard error (inside this room only)
 */
#ifndef SALTMILL_CMD_REPORTER_H
#define SALTMILL_CMD_REPORTER_H

#include "run.h"

/*
 * Start a thread that shows progress: on a terminal a line that it rewrites four times a second,
 * elsewhere one line a phase.  `progress` must outlive it.
 */
struct reporter;
struct reporter *reporter_start(struct progress *progress);
/* The same, but only on a terminal: for commands that print nothing else but errors. */
struct reporter *reporter_start_on_terminal(struct progress *progress);
void reporter_stop(struct reporter *r); /* r may be NULL */

#endif
