/*
 * backoff.h - the one rule by which what a server did not do is asked of it again
 *
 * Waits grow as those of HBase's own clients (HConstants.RETRY_BACKOFF): 100 ms times 1, 2, 3, 5,
 * 10, 20, 40, 100, 100, ...
 */
#ifndef SALTMILL_BACKOFF_H
#define SALTMILL_BACKOFF_H

#include <stdint.h>

#include "error.h"

/* Before the n-th repetition, from 0. */
int64_t backoff_ms(unsigned n);
/*
 * Wait so long; RC_END at once when that would pass `until` (clock_seconds), RC_STOPPED when a
 * signal comes meanwhile.
 */
int backoff_wait(unsigned n, double until, struct error *err);

#endif
