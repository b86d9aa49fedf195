/*
 * monitor.h - what people see of a stream while it runs: a line on standard error
 */
#ifndef SALTMILL_MONITOR_H
#define SALTMILL_MONITOR_H

#include <stdarg.h>
#include <stdio.h>

#include "stream.h"

struct monitored {
	uint64_t lag, loads;
	double rate;	    /* events a second, over the last minute */
	uint64_t cut;	    /* offsets of the open cut; 0: it is empty */
	double cut_age_s;   /* since its first event was seen */
	int loading;	    /* it is being loaded, */
	uint64_t cut_read;  /* and so many of its events were read */
	double published_s; /* since the last publication; below 0: none */
};
/* "lag 1,200 offsets, 350 events/s, open cut 1,200 offsets (3 s), 4 loads, the last 8 s ago" */
void monitor_format(struct buf *out, const struct monitored *w);

/*
 * Show the line: on a terminal rewritten in place, otherwise when something has changed, at most
 * every 30 s.  gauges and progress must outlive it.
 */
struct monitor;
struct monitor *monitor_start(const struct stream_gauges *gauges, const struct progress *progress);
void monitor_stop(struct monitor *w);
/* Print a line of text, above the progress line if there is one.  w may be NULL.  Any thread. */
void monitor_print(struct monitor *w, FILE *to, const char *fmt, ...) ERROR_FORMAT(3, 4);

#endif
