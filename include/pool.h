/*
 * pool.h - run independent tasks on several threads, lend a hand to a thread, and the stop flag
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

/*
 * A crew: threads that have nothing else to do serve; threads in need of help submit small tasks
 * and wait for them.  No task is left undone: crew_wait does itself what nobody has begun.
 *
 *   helpers: crew_serve             others: crew_submit, then crew_wait
 */
struct crew;
struct crew_task { /* part of something larger; free for reuse when it is done */
	void (*run)(struct crew_task *t);
	struct crew_task *next; /* of the crew */
	int state;
};

struct crew *crew_new(void);
/* Nobody may be serving.  NULL is fine. */
void crew_free(struct crew *c);
/* Do tasks until crew_close. */
void crew_serve(struct crew *c);
/* Let all who serve go, now and later. */
void crew_close(struct crew *c);
/* How many serve now. */
unsigned crew_helpers(const struct crew *c);
/* t->run will be called once, on any thread, before crew_wait(t) returns. */
void crew_submit(struct crew *c, struct crew_task *t);
/* Meanwhile tasks of the crew are done on this thread, others' too. */
void crew_wait(struct crew *c, struct crew_task *t);
/* Would crew_wait return at once? */
bool crew_done(struct crew *c, const struct crew_task *t);

/* Set by SIGINT and SIGTERM; long loops look at it and return stop_check's RC_STOPPED. */
extern volatile sig_atomic_t stop_flag;
static inline int stop_check(struct error *err)
{
	return stop_flag ? error_set(err, RC_STOPPED, "stopped by a signal") : RC_OK;
}

#endif
