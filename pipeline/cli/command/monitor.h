/*
 * monitor.h - what people see of a stream while it runs: a line on standard error (inside
 * pipeline/cli/command only)
 */
#ifndef SALTMILL_CMD_MONITOR_H
#define SALTMILL_CMD_MONITOR_H

#include <stdarg.h>
#include <stdio.h>

#include "cli/metrics.h"
#include "cli/progress_text.h"

/*
 * What the gauges say now, the rate by m.  *events: published ones and those of the open cut.
 */
struct stream_view monitor_look(const struct metrics_of *of, struct meter *m, uint64_t *events);

/*
 * Show the line: on a terminal rewritten in place, otherwise when something has changed, at most
 * every 30 s.  What is shown must outlive it.
 */
struct monitor;
struct monitor *monitor_start(const struct metrics_of *shown);
void monitor_stop(struct monitor *w);
/* Print a line of text, above the progress line if there is one.  w may be NULL.  Any thread. */
void monitor_print(struct monitor *w, FILE *to, const char *fmt, ...) ERROR_FORMAT(3, 4);

#endif
