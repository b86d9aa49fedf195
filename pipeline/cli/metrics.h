/*
 * metrics.h - the gauges of a stream, and of what hands loads to HBase, for Prometheus, over HTTP
 */
#ifndef SALTMILL_METRICS_H
#define SALTMILL_METRICS_H

#include "apply.h"
#include "stream.h"

struct metrics;
/*
 * Serve http://address/metrics ("127.0.0.1:9109", "[::1]:9109") from a thread of its own until
 * metrics_stop.  What is shown must outlive it.  RC_CONFIG: no such address, or taken.
 */
struct metrics_of {
	const struct stream_gauges *stream; /* NULL: it is no stream */
	const struct progress *progress;    /* of stream */
	const struct follow_gauges *follow; /* NULL: nothing goes into HBase */
};
int metrics_start(struct metrics **out, const char *address, const struct metrics_of *shown,
		  struct error *err);
void metrics_stop(struct metrics *m); /* NULL is fine */

#endif
