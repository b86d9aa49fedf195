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
 * Call task(ctx, worker, index) once for each index in [0, ntasks), started in rising order, on up
 * to `threads` threads. worker is 0..threads-1; one of the threads is the caller. After a failure
 * no new task starts; the failure with the lowest index is returned.
 */
int pool_run(unsigned threads, size_t ntasks, pool_task *task, void *ctx, struct error *err);

/*
 * Helpers are idle threads that serve (helpers_serve). A busy thread calls helpers_submit with
 * small tasks, then helpers_wait. Every task is done: helpers_wait runs a task itself if no helper
 * has begun it.
 */
struct helpers;
struct helper_task { /* a part of larger work; reusable when it is done */
	void (*run)(struct helper_task *t);
	struct helper_task *next; /* private to the helpers */
	int state;
};

struct helpers *helpers_new(void);
/* Free the helpers. No thread may be serving. NULL is fine. */
void helpers_free(struct helpers *h);
/* Run tasks until helpers_close. */
void helpers_serve(struct helpers *h);
/* Make all helpers_serve calls return, now and later. */
void helpers_close(struct helpers *h);
/* Return how many threads serve now. */
unsigned helpers_count(const struct helpers *h);
/* Submit a task: t->run is called once, on any thread, before helpers_wait(t) returns. */
void helpers_submit(struct helpers *h, struct helper_task *t);
/* Wait for a task. Meanwhile this thread runs tasks of the helpers, including other tasks. */
void helpers_wait(struct helpers *h, struct helper_task *t);
/* True if helpers_wait would return at once. */
bool helpers_done(struct helpers *h, const struct helper_task *t);

/*
 * 0, or the received signal: SIGINT or SIGTERM. Long loops call stop_check and return its
 * RC_STOPPED.
 */
extern volatile sig_atomic_t stop_flag;
/* stop_check was called. A watchdog clears it to see whether the work continues. */
extern atomic_bool stop_asked;
/*
 * A second stop flag, only for this thread; NULL: none. Another thread sets it to true so that this
 * one stops waiting: stop_check then returns RC_STOPPED.
 */
extern _Thread_local const atomic_bool *stop_leave;
/*
 * This thread runs beside the work: stop_check does not set stop_asked here, nor in the threads
 * that it starts by pool_run.
 */
extern _Thread_local bool stop_unwatched;
static inline int stop_check(struct error *err)
{
	if (!stop_unwatched && !atomic_load_explicit(&stop_asked, memory_order_relaxed))
		atomic_store_explicit(&stop_asked, true, memory_order_relaxed);
	if (stop_leave && atomic_load_explicit(stop_leave, memory_order_relaxed))
		return error_set(err, RC_STOPPED, "the waiting thread was told to stop");
	return stop_flag ? error_set(err, RC_STOPPED, "stopped by a signal") : RC_OK;
}

/* --- tickers: a thread that repeats a call until it is stopped --- */

struct ticker;
/* Call tick(ctx) every every_ms, first after every_ms. */
struct ticker *ticker_start(int every_ms, void (*tick)(void *ctx), void *ctx);
/* Stop; no tick runs after it returns. NULL is fine. */
void ticker_stop(struct ticker *t);

#endif
