/* helpers.c - one queue of tasks under one lock: a task is a block to compress, 100 us and more */
#include <pthread.h>
#include <stdatomic.h>

#include "mem.h"
#include "pool.h"

enum { TASK_QUEUED, TASK_RUNNING, TASK_DONE };

struct helpers {
	pthread_mutex_t lock;
	pthread_cond_t work; /* a task was queued, or the helpers closed */
	pthread_cond_t done; /* a task ended */
	struct helper_task *first, *last;
	bool closed;
	_Atomic unsigned helpers;
};

struct helpers *helpers_new(void)
{
	struct helpers *c = mem_calloc(1, sizeof *c);
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->work, NULL);
	pthread_cond_init(&c->done, NULL);
	return c;
}

void helpers_free(struct helpers *c)
{
	if (!c)
		return;
	pthread_cond_destroy(&c->work);
	pthread_cond_destroy(&c->done);
	pthread_mutex_destroy(&c->lock);
	mem_free(c);
}

/* Run the first task without the lock, which is held before and after. */
static void run_first(struct helpers *c)
{
	struct helper_task *t = c->first;
	c->first = t->next;
	if (!c->first)
		c->last = NULL;
	t->state = TASK_RUNNING;
	pthread_mutex_unlock(&c->lock);
	t->run(t);
	pthread_mutex_lock(&c->lock);
	t->state = TASK_DONE;
	pthread_cond_broadcast(&c->done);
}

void helpers_serve(struct helpers *c)
{
	pthread_mutex_lock(&c->lock);
	c->helpers++;
	while (!c->closed) {
		if (c->first)
			run_first(c);
		else
			pthread_cond_wait(&c->work, &c->lock);
	}
	c->helpers--;
	pthread_mutex_unlock(&c->lock);
}

void helpers_close(struct helpers *c)
{
	pthread_mutex_lock(&c->lock);
	c->closed = true;
	pthread_cond_broadcast(&c->work);
	pthread_mutex_unlock(&c->lock);
}

unsigned helpers_count(const struct helpers *c)
{
	return c->helpers;
}

void helpers_submit(struct helpers *c, struct helper_task *t)
{
	t->next = NULL;
	pthread_mutex_lock(&c->lock);
	t->state = TASK_QUEUED;
	if (c->last)
		c->last->next = t;
	else
		c->first = t;
	c->last = t;
	pthread_cond_signal(&c->work);
	pthread_mutex_unlock(&c->lock);
}

void helpers_wait(struct helpers *c, struct helper_task *t)
{
	pthread_mutex_lock(&c->lock);
	while (t->state != TASK_DONE) {
		if (c->first)
			run_first(c);
		else
			pthread_cond_wait(&c->done, &c->lock);
	}
	pthread_mutex_unlock(&c->lock);
}

bool helpers_done(struct helpers *c, const struct helper_task *t)
{
	pthread_mutex_lock(&c->lock);
	bool done = t->state == TASK_DONE;
	pthread_mutex_unlock(&c->lock);
	return done;
}
