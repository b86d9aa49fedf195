/*
 * metrics.h - a stream's gauges for Prometheus, over HTTP
 */
#ifndef SALTMILL_METRICS_H
#define SALTMILL_METRICS_H

#include "stream.h"

struct metrics;
/* Is libmicrohttpd built in? */
bool metrics_are_here(void);
/*
 * Serve http://address/metrics ("127.0.0.1:9109", "[::1]:9109") from a thread of its own until
 * metrics_stop.  gauges and progress must outlive it.  RC_CONFIG: no such address, or taken.
 */
int metrics_start(struct metrics **out, const char *address, const struct stream_gauges *gauges,
		  const struct progress *progress, struct error *err);
void metrics_stop(struct metrics *m); /* NULL is fine */

#endif
