/*
 * monitor.h - the progress line of a stream on standard error (inside this room only)
 */
#ifndef SALTMILL_CMD_MONITOR_H
#define SALTMILL_CMD_MONITOR_H

#include <stdarg.h>
#include <stdio.h>

#include "cli/metrics.h"
#include "cli/progress_text.h"

/*
 * Return what the gauges say now, with the rate by m.  *events: the published events and those of
 * the load that is being collected.
 */
struct stream_view monitor_look(const struct metrics_of *of, struct meter *m, uint64_t *events);

/*
 * Start a thread that shows the line: on a terminal it rewrites the line, elsewhere it prints one
 * when something has changed, at most every 30 s.  `shown` must outlive it.
 */
struct monitor;
struct monitor *monitor_start(const struct metrics_of *shown);
void monitor_stop(struct monitor *w);
/* Print a line of text, above the progress line if there is one.  w may be NULL.  Any thread. */
void monitor_print(struct monitor *w, FILE *to, const char *fmt, ...) ERROR_FORMAT(3, 4);

#endif
