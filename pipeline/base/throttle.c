/* throttle.c - let all threads together send at most a number of bytes a second */
#include "clock.h"
#include "pool.h"

#define LOOK_S 0.05 /* a signal ends a wait within this time */

void throttle_init(struct throttle *t, uint64_t rate)
{
	*t = (struct throttle){.rate = rate};
	pthread_mutex_init(&t->lock, NULL);
}

void throttle_release(struct throttle *t)
{
	pthread_mutex_destroy(&t->lock);
}

/* Reserve the time of a send of `bytes` bytes. Return its start. */
static double reserve(struct throttle *t, size_t bytes)
{
	pthread_mutex_lock(&t->lock);
	double now = clock_seconds(), start = t->free_s > now ? t->free_s : now;
	t->free_s = start + (double)bytes / (double)t->rate;
	pthread_mutex_unlock(&t->lock);
	return start;
}

int throttle_wait(struct throttle *t, size_t bytes, struct error *err)
{
	int rc = RC_OK;

	if (!t->rate)
		return RC_OK;
	double start = reserve(t, bytes), left;
	while ((left = start - clock_seconds()) > 0 && (rc = stop_check(err)) == RC_OK)
		clock_sleep_ms((int64_t)((left < LOOK_S ? left : LOOK_S) * 1e3) + 1);
	return rc;
}
