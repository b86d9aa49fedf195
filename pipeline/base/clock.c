#include "clock.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

static struct timespec now(clockid_t which)
{
	struct timespec t;

	clock_gettime(which, &t);
	return t;
}

static struct timespec span(int64_t ms)
{
	return (struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
}

double clock_seconds(void)
{
	struct timespec t = now(CLOCK_MONOTONIC);

	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

double clock_thread_seconds(void)
{
	struct timespec t = now(CLOCK_THREAD_CPUTIME_ID);

	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int64_t in_ms(struct timespec t)
{
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t clock_ms(void)
{
	return in_ms(now(CLOCK_MONOTONIC));
}

int64_t clock_wall_ms(void)
{
	return in_ms(now(CLOCK_REALTIME));
}

/*
 * Use the monotonic clock. With the wall clock and set back by an hour, the wait
 * would take an hour longer.
 */
void clock_wait(pthread_cond_t *c, pthread_mutex_t *lock, int64_t ms)
{
	struct timespec t = now(CLOCK_MONOTONIC), s = span(ms);

	t.tv_sec += s.tv_sec;
	t.tv_nsec += s.tv_nsec;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	pthread_cond_clockwait(c, lock, CLOCK_MONOTONIC, &t);
}

void clock_sleep_ms(int64_t ms)
{
	struct timespec t = span(ms);

	nanosleep(&t, NULL);
}

unsigned clock_local_minute(void)
{
	struct tm tm = {0};
	time_t t = now(CLOCK_REALTIME).tv_sec;

	localtime_r(&t, &tm);
	return (unsigned)(tm.tm_hour * 60 + tm.tm_min);
}

int source_date_epoch(int64_t *ms, struct error *err)
{
	const char *text = getenv("SOURCE_DATE_EPOCH");

	*ms = -1;
	if (!text || !*text)
		return RC_OK;
	char *end;
	errno = 0;
	long long s = strtoll(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || s > INT64_MAX / 1000)
		return error_set(
			err, RC_CONFIG,
			"SOURCE_DATE_EPOCH: found `%.60s`, expected whole seconds since 1970",
			text);
	*ms = s * 1000;
	return RC_OK;
}
