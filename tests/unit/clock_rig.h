/*
 * clock_rig.h - clocks that a test sets
 *
 * The program reads these clocks, but the kernel's waits ignore them. Therefore a wait until a time
 * of these clocks behaves as if the clock changed during the wait.
 */
#ifndef SALTMILL_TEST_CLOCK_RIG_H
#define SALTMILL_TEST_CLOCK_RIG_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic int64_t wall_ahead_ms, steady_ahead_ms;

/* Replaces the function of libc. */
int clock_gettime(clockid_t which, struct timespec *t)
{
	int64_t ahead = which == CLOCK_REALTIME	   ? wall_ahead_ms
			: which == CLOCK_MONOTONIC ? steady_ahead_ms
						   : 0;
	int bad = (int)syscall(SYS_clock_gettime, which, t);
	int64_t ns = t->tv_nsec + ahead % 1000 * 1000000;

	t->tv_sec += ahead / 1000 + (ns >= 1000000000) - (ns < 0);
	t->tv_nsec = ns + (ns < 0 ? 1000000000 : 0) - (ns >= 1000000000 ? 1000000000 : 0);
	return bad;
}

#endif
