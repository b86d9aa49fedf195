/*
 * helpers.c - one queue of tasks with one lock; a task takes at least 100 us (a block to compress)
 */
#include <pthread.h>
#include <stdatomic.h>

#include "mem.h"
#include "pool.h"

enum { TASK_QUEUED, TASK_RUNNING, TASK_DONE };

struct helpers {
	pthread_mutex_t lock;
	pthread_cond_t work; /* a task is in the queue, or a thread has called helpers_close */
	pthread_cond_t done; /* a task ended */
	struct helper_task *first, *last;
	bool closed;
	_Atomic unsigned helpers;
};

struct helpers *helpers_new(void)
{
	struct helpers *h = mem_calloc(1, sizeof *h);

	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->work, NULL);
	pthread_cond_init(&h->done, NULL);
	return h;
}

void helpers_free(struct helpers *h)
{
	if (!h)
		return;
	pthread_cond_destroy(&h->work);
	pthread_cond_destroy(&h->done);
	pthread_mutex_destroy(&h->lock);
	mem_free(h);
}

/* Run the first task. The caller has the lock. The function releases the lock during the task. */
static void run_first(struct helpers *h)
{
	struct helper_task *t = h->first;

	h->first = t->next;
	if (!h->first)
		h->last = NULL;
	t->state = TASK_RUNNING;
	pthread_mutex_unlock(&h->lock);
	t->run(t);
	pthread_mutex_lock(&h->lock);
	t->state = TASK_DONE;
	pthread_cond_broadcast(&h->done);
}

void helpers_serve(struct helpers *h)
{
	pthread_mutex_lock(&h->lock);
	h->helpers++;
	while (!h->closed) {
		if (h->first)
			run_first(h);
		else
			pthread_cond_wait(&h->work, &h->lock);
	}
	h->helpers--;
	pthread_mutex_unlock(&h->lock);
}

void helpers_close(struct helpers *h)
{
	pthread_mutex_lock(&h->lock);
	h->closed = true;
	pthread_cond_broadcast(&h->work);
	pthread_mutex_unlock(&h->lock);
}

unsigned helpers_count(const struct helpers *h)
{
	return h->helpers;
}

void helpers_submit(struct helpers *h, struct helper_task *t)
{
	t->next = NULL;
	pthread_mutex_lock(&h->lock);
	t->state = TASK_QUEUED;
	if (h->last)
		h->last->next = t;
	else
		h->first = t;
	h->last = t;
	pthread_cond_signal(&h->work);
	pthread_mutex_unlock(&h->lock);
}

void helpers_wait(struct helpers *h, struct helper_task *t)
{
	pthread_mutex_lock(&h->lock);
	while (t->state != TASK_DONE) {
		if (h->first)
			run_first(h);
		else
			pthread_cond_wait(&h->done, &h->lock);
	}
	pthread_mutex_unlock(&h->lock);
}

bool helpers_done(struct helpers *h, const struct helper_task *t)
{
	pthread_mutex_lock(&h->lock);
	bool done = t->state == TASK_DONE;
	pthread_mutex_unlock(&h->lock);
	return done;
}
