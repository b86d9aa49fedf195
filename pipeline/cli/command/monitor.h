/*
 * monitor.h - the progress line of a stream on standard error (inside this folder only)
 */
#ifndef SALTMILL_CMD_MONITOR_H
#define SALTMILL_CMD_MONITOR_H

#include <stdarg.h>
#include <stdio.h>

#include "cli/metrics.h"
#include "cli/progress_text.h"

/*
 * Return the present figures of the gauges. The meter `m` computes the rate. *events counts the
 * events of published loads and of the load in progress.
 */
struct stream_view monitor_look(const struct metrics_of *of, struct meter *m, uint64_t *events);

/*
 * Start a thread that shows the progress line. On a terminal, the thread updates the line in place.
 * If there is no terminal, the thread prints the line when it changes, at most every 30 s. `shown`
 * must outlive the thread.
 */
struct monitor;
struct monitor *monitor_start(const struct metrics_of *shown);
void monitor_stop(struct monitor *w);
/*
 * Print a line of text, above the progress line if there is one. `w` may be NULL. Any thread may
 * call this function.
 */
void monitor_print(struct monitor *w, FILE *to, const char *fmt, ...) ERROR_FORMAT(3, 4);

#endif
