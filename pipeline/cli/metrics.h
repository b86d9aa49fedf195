/*
 * metrics.h - serves the figures of a stream and of apply over HTTP, for Prometheus
 */
#ifndef SALTMILL_METRICS_H
#define SALTMILL_METRICS_H

#include "apply.h"
#include "stream.h"

/* The figures of `watch`. Rates and shares are of the newest window. */
struct watch_gauges {
	const char *table;
	_Atomic uint64_t reads, writes; /* since the start */
	_Atomic uint64_t regions, windows, moved, restarted, made;
	_Atomic double reads_s, writes_s; /* a second */
	_Atomic double hot_share; /* share of the hot region or server; 0 if there is none */
	_Atomic double region_share[2], server_share[2]; /* the busiest; reads, writes */
};

struct metrics;
/*
 * Serve http://ADDRESS/metrics in a thread until metrics_stop. `address` has the form
 * "127.0.0.1:9109" or "[::1]:9109". The members of `shown` must outlive the thread. Returns
 * RC_CONFIG if the address is invalid or in use.
 */
struct metrics_of {
	const struct stream_gauges *stream; /* NULL if no stream runs */
	const struct progress *progress;    /* progress of the stream */
	const struct follow_gauges *follow; /* NULL if the process applies no loads */
	const char *job_path;		    /* for the label job_file; NULL means no label */
	const struct watch_gauges *watch;   /* NULL if the process watches no table */
};
int metrics_start(struct metrics **out, const char *address, const struct metrics_of *shown,
		  struct error *err);
void metrics_stop(struct metrics *m); /* `m` may be NULL */

#endif
