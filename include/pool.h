/* pool.h - run tasks on several threads, helpers for a busy thread, the stop flag, and tickers */
#ifndef SALTMILL_POOL_H
#define SALTMILL_POOL_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "error.h"

typedef int pool_task(void *ctx, unsigned worker, size_t index, struct error *err);

/*
 * Call task(ctx, worker, index) once for each `index` in [0, ntasks), in rising order, on up to
 * `threads` threads. `worker` is 0..threads-1. One of the threads is the caller. After a failure no
 * new task starts. The result is the failure with the lowest index.
 */
int pool_run(unsigned threads, size_t ntasks, pool_task *task, void *ctx, struct error *err);

/*
 * Helpers are idle threads in helpers_serve. A busy thread submits small tasks (helpers_submit) and
 * waits for them (helpers_wait). If no helper has begun a task, helpers_wait runs it.
 */
struct helpers;
struct helper_task { /* a part of larger work; reusable after helpers_wait */
	void (*run)(struct helper_task *t);
	struct helper_task *next; /* private to the helpers */
	int state;
};

struct helpers *helpers_new(void);
/* Free the helpers. No thread may be in helpers_serve. NULL is fine. */
void helpers_free(struct helpers *h);
/* Run tasks until helpers_close. */
void helpers_serve(struct helpers *h);
/* Make all helpers_serve calls return, now and later. */
void helpers_close(struct helpers *h);
/* Return how many threads are in helpers_serve now. */
unsigned helpers_count(const struct helpers *h);
/* Submit a task. A thread calls t->run once, on any thread, before helpers_wait(t) returns. */
void helpers_submit(struct helpers *h, struct helper_task *t);
/*
 * Wait for a task. During the wait, this thread runs tasks of the helpers, including other tasks.
 */
void helpers_wait(struct helpers *h, struct helper_task *t);
/* Return true if helpers_wait would return at once. */
bool helpers_done(struct helpers *h, const struct helper_task *t);

/*
 * The received signal, SIGINT or SIGTERM, or 0. Long loops call stop_check and return its
 * RC_STOPPED.
 */
extern volatile sig_atomic_t stop_flag;
/* stop_check sets this flag. A watchdog clears this flag to find out whether the work continues. */
extern atomic_bool stop_asked;
/*
 * A second stop flag, only for this thread. NULL means no such flag. If another thread sets the
 * flag, stop_check returns RC_STOPPED in this thread. The flag ends a wait of this thread.
 */
extern _Thread_local const atomic_bool *stop_leave;
/*
 * True in a thread that does not do the watched work. In such a thread, and in threads that it
 * starts with pool_run, stop_check does not set stop_asked.
 */
extern _Thread_local bool stop_unwatched;
static inline int stop_check(struct error *err)
{
	if (!stop_unwatched && !atomic_load_explicit(&stop_asked, memory_order_relaxed))
		atomic_store_explicit(&stop_asked, true, memory_order_relaxed);
	if (stop_leave && atomic_load_explicit(stop_leave, memory_order_relaxed))
		return error_set(err, RC_STOPPED, "another thread ended the wait");
	return stop_flag ? error_set(err, RC_STOPPED, "stopped by a signal") : RC_OK;
}

/* --- tickers: a thread that repeats a call until its stop --- */

struct ticker;
/*
 * Start a thread that calls tick(ctx) every every_ms milliseconds. The first call is after
 * every_ms.
 */
struct ticker *ticker_start(int every_ms, void (*tick)(void *ctx), void *ctx);
/* Stop a ticker. No tick runs after this call. NULL is fine. */
void ticker_stop(struct ticker *t);

#endif
