#include "pool.h"

#include <pthread.h>
#include <stdatomic.h>

#include "mem.h"

volatile sig_atomic_t stop_flag;
atomic_bool stop_asked;
_Thread_local const atomic_bool *stop_leave;
_Thread_local bool stop_unwatched;

struct pool {
	pool_task *task;
	void *ctx;
	size_t ntasks;
	_Atomic size_t next;
	atomic_bool failed;
	bool unwatched;
	pthread_mutex_t lock;
	size_t failed_index; /* under lock */
	struct error
		error; /* the error of the failed task with the lowest index; protected by `lock` */
};

struct pool_worker {
	struct pool *pool;
	unsigned id;
	pthread_t thread;
};

static void pool_fail(struct pool *p, size_t index, const struct error *err)
{
	pthread_mutex_lock(&p->lock);
	if (!atomic_load(&p->failed) || index < p->failed_index) {
		p->failed_index = index;
		p->error = *err;
	}
	atomic_store(&p->failed, true);
	pthread_mutex_unlock(&p->lock);
}

static void *pool_work(void *arg)
{
	struct pool_worker *w = arg;
	struct pool *p = w->pool;

	stop_unwatched = p->unwatched;
	while (!atomic_load(&p->failed)) {
		size_t i = atomic_fetch_add(&p->next, 1);

		if (i >= p->ntasks)
			break;
		struct error err;
		if (p->task(p->ctx, w->id, i, &err) < 0)
			pool_fail(p, i, &err);
	}
	return NULL;
}

int pool_run(unsigned threads, size_t ntasks, pool_task *task, void *ctx, struct error *err)
{
	struct pool p = {.task = task, .ctx = ctx, .ntasks = ntasks, .unwatched = stop_unwatched};

	pthread_mutex_init(&p.lock, NULL);
	if (threads > ntasks)
		threads = (unsigned)ntasks;
	if (threads == 0)
		threads = 1;
	struct pool_worker *w = mem_calloc(threads, sizeof *w);
	unsigned started = 0;
	for (unsigned i = 0; i < threads; i++)
		w[i] = (struct pool_worker){.pool = &p, .id = i};
	/* if a thread does not start, the other threads run its tasks */
	while (started + 1 < threads &&
	       pthread_create(&w[started + 1].thread, NULL, pool_work, &w[started + 1]) == 0)
		started++;
	pool_work(&w[0]);
	for (unsigned i = 1; i <= started; i++)
		pthread_join(w[i].thread, NULL);
	mem_free(w);
	pthread_mutex_destroy(&p.lock);
	if (!p.failed)
		return RC_OK;
	*err = p.error;
	return err->code;
}
