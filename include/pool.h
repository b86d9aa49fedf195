/*
 * pool.h - run independent tasks on several threads, lend a hand to a thread, and the stop flag
 */
#ifndef SALTMILL_POOL_H
#define SALTMILL_POOL_H

#include <signal.h>
#include <stdatomic.h>
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

/*
 * Helpers: threads that have nothing else to do serve; threads in need of help submit small tasks
 * and wait for them.  No task is left undone: helpers_wait does itself what nobody has begun.
 *
 *   who helps: helpers_serve           who is helped: helpers_submit, then helpers_wait
 */
struct helpers;
struct helper_task { /* part of something larger; free for reuse when it is done */
	void (*run)(struct helper_task *t);
	struct helper_task *next; /* of the helpers */
	int state;
};

struct helpers *helpers_new(void);
/* Nobody may be serving.  NULL is fine. */
void helpers_free(struct helpers *h);
/* Do tasks until helpers_close. */
void helpers_serve(struct helpers *h);
/* Let all who serve go, now and later. */
void helpers_close(struct helpers *h);
/* How many serve now. */
unsigned helpers_count(const struct helpers *h);
/* t->run will be called once, on any thread, before helpers_wait(t) returns. */
void helpers_submit(struct helpers *h, struct helper_task *t);
/* Meanwhile tasks of the helpers are done on this thread, others' too. */
void helpers_wait(struct helpers *h, struct helper_task *t);
/* Would helpers_wait return at once? */
bool helpers_done(struct helpers *h, const struct helper_task *t);

/* 0, or the signal that came, SIGINT or SIGTERM; long loops look at it and return stop_check's
 * RC_STOPPED. */
extern volatile sig_atomic_t stop_flag;
/* stop_check was called: who watches whether the work goes on clears it. */
extern atomic_bool stop_asked;
/*
 * What this thread alone looks at besides, NULL or another's wish that it leave what it waits for:
 * once it is true, its stop_check says RC_STOPPED too.
 */
extern _Thread_local const atomic_bool *stop_leave;
/* This thread goes on beside the work: stop_check tells nobody of it, nor of those that it starts
 * by pool_run. */
extern _Thread_local bool stop_unwatched;
static inline int stop_check(struct error *err)
{
	if (!stop_unwatched && !atomic_load_explicit(&stop_asked, memory_order_relaxed))
		atomic_store_explicit(&stop_asked, true, memory_order_relaxed);
	if (stop_leave && atomic_load_explicit(stop_leave, memory_order_relaxed))
		return error_set(err, RC_STOPPED, "left by who waited for it");
	return stop_flag ? error_set(err, RC_STOPPED, "stopped by a signal") : RC_OK;
}

/*
 * --- a thread that does something every so often until it is stopped ---
 */

struct ticker;
/* tick(ctx) every every_ms, the first time after as long. */
struct ticker *ticker_start(int every_ms, void (*tick)(void *ctx), void *ctx);
/* No tick after it returns.  NULL is fine. */
void ticker_stop(struct ticker *t);

#endif
