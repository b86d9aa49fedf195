/*
 * reporter.h - progress on standard error while a command runs (inside pipeline/cli/command only)
 */
#ifndef SALTMILL_CMD_REPORTER_H
#define SALTMILL_CMD_REPORTER_H

#include "run.h"

/*
 * A thread that shows progress: a line rewritten four times a second on a terminal, otherwise one
 * line a phase.  progress must outlive it.
 */
struct reporter;
struct reporter *reporter_start(struct progress *progress);
/* The same of a command whose other standard error is its errors alone: on a terminal only. */
struct reporter *reporter_start_on_terminal(struct progress *progress);
void reporter_stop(struct reporter *r); /* NULL is fine */

#endif
