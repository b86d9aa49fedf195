#include "pool.h"

#include <pthread.h>
#include <stdbool.h>

#include "clock.h"
#include "mem.h"

struct ticker {
	int every_ms;
	void (*tick)(void *ctx);
	void *ctx;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stop, started;
};

static void *loop(void *arg)
{
	struct ticker *t = arg;

	pthread_mutex_lock(&t->lock);
	while (!t->stop) {
		clock_wait(&t->wake, &t->lock, t->every_ms);
		if (!t->stop)
			t->tick(t->ctx);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

struct ticker *ticker_start(int every_ms, void (*tick)(void *ctx), void *ctx)
{
	struct ticker *t = mem_calloc(1, sizeof *t);

	t->every_ms = every_ms;
	t->tick = tick;
	t->ctx = ctx;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->wake, NULL);
	t->started = pthread_create(&t->thread, NULL, loop, t) == 0;
	return t;
}

void ticker_stop(struct ticker *t)
{
	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	t->stop = true;
	pthread_cond_signal(&t->wake);
	pthread_mutex_unlock(&t->lock);
	if (t->started)
		pthread_join(t->thread, NULL);
	pthread_cond_destroy(&t->wake);
	pthread_mutex_destroy(&t->lock);
	mem_free(t);
}
