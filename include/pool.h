/*
 * pool.h - run independent tasks on several threads, and the stop flag
 */
#ifndef SALTMILL_POOL_H
#define SALTMILL_POOL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "error.h"

typedef int pool_task(void *ctx, unsigned worker, size_t index, struct error *err);

/*
 * Call task(ctx, worker, index) once for each index in [0, ntasks), in rising order of start, on
 * up to `threads` threads (worker is 0..threads-1; one thread runs in the caller).  When a task
 * fails no new one starts; the failure with the lowest index is returned.
 */
int pool_run(unsigned threads, size_t ntasks, pool_task *task, void *ctx, struct error *err);

/* Set by SIGINT and SIGTERM; long loops look at it and return stop_check's RC_STOPPED. */
extern volatile sig_atomic_t stop_flag;
static inline int stop_check(struct error *err)
{
	return stop_flag ? error_set(err, RC_STOPPED, "stopped by a signal") : RC_OK;
}

#endif
