/* pthreads.c - replaces libc's threads, locks, waits and clocks (-Wl,--wrap) */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

#include "fibers.h"
#include "threads.h"

#define WALL_START (INT64_C(1767225600) * SIM_S) /* 2026-01-01 */

struct thread {
	int slot;
	bool ended;
	void *(*run)(void *);
	void *arg;
};

static void run_thread(void *arg)
{
	struct thread *t = arg;

	t->run(t->arg);
	sim_step("thread ends");
	t->ended = true;
	sim_wake(t, SIM_SLOTS);
	W->slot[t->slot].state = SLOT_FREE;
	sim_hand_over(sim_choose());
}

int __wrap_pthread_create(pthread_t *out, const pthread_attr_t *a, void *(*run)(void *), void *arg)
{
	struct thread *t = calloc(1, sizeof *t);

	(void)a;
	sim_step("pthread_create");
	t->slot = sim_new_slot(W->slot[sim_self].proc);
	t->run = run;
	t->arg = arg;
	fibers_set(t->slot, run_thread, t);
	*out = (pthread_t)(uintptr_t)t;
	return 0;
}

static struct thread *thread_of(pthread_t t)
{
	return (struct thread *)(uintptr_t)t;
}

int __wrap_pthread_join(pthread_t joined, void **out)
{
	struct thread *t = thread_of(joined);

	if (out)
		*out = NULL;
	sim_step("pthread_join");
	while (!t->ended)
		sim_wait(t, SIM_NEVER);
	free(t);
	return 0;
}

int __wrap_pthread_tryjoin_np(pthread_t joined, void **out)
{
	sim_step("pthread_tryjoin");
	return thread_of(joined)->ended ? __wrap_pthread_join(joined, out) : EBUSY;
}

int __wrap_pthread_detach(pthread_t t)
{
	(void)t; /* the end of the process frees it */
	return 0;
}

/* A lock's first word is its owner, or 0 if the lock is free. */
static int *owner_of(pthread_mutex_t *m)
{
	return (int *)(void *)m;
}

int __wrap_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *a)
{
	(void)a;
	memset(m, 0, sizeof *m);
	return 0;
}

int __wrap_pthread_mutex_destroy(pthread_mutex_t *m)
{
	(void)m;
	return 0;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
	sim_step("lock");
	if (*owner_of(m) == sim_self + 1)
		sim_violate("a thread locks what it has locked");
	while (*owner_of(m))
		sim_wait(m, SIM_NEVER);
	*owner_of(m) = sim_self + 1;
	return 0;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *m)
{
	*owner_of(m) = 0;
	sim_wake(m, SIM_SLOTS);
	return 0;
}

int __wrap_pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *a)
{
	(void)a;
	memset(c, 0, sizeof *c);
	return 0;
}

int __wrap_pthread_cond_destroy(pthread_cond_t *c)
{
	(void)c;
	return 0;
}

int __wrap_pthread_cond_signal(pthread_cond_t *c)
{
	sim_wake(c, 1);
	return 0;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *c)
{
	sim_wake(c, SIM_SLOTS);
	return 0;
}

static int wait_cond(pthread_cond_t *c, pthread_mutex_t *m, int64_t until)
{
	int64_t end = until;

	if (W->odds.spurious && sim_below(W->odds.spurious) == 0 && W->now + SIM_MS < end)
		end = W->now + SIM_MS;
	__wrap_pthread_mutex_unlock(m);
	sim_note("wait", 0, 0);
	sim_wait(c, end);
	__wrap_pthread_mutex_lock(m);
	return W->now >= until ? ETIMEDOUT : 0;
}

int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	return wait_cond(c, m, SIM_NEVER);
}

int __wrap_pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t which,
				  const struct timespec *until)
{
	(void)which;
	return wait_cond(c, m, until->tv_sec * SIM_S + until->tv_nsec);
}

/* --- replacements of the clock and of process ids --- */

int __wrap_clock_gettime(clockid_t which, struct timespec *t)
{
	int64_t ns = W->now + (which == CLOCK_REALTIME ? WALL_START : 0);

	W->now += 100;
	*t = (struct timespec){.tv_sec = ns / SIM_S, .tv_nsec = ns % SIM_S};
	return 0;
}

int __wrap_nanosleep(const struct timespec *t, struct timespec *left)
{
	(void)left;
	sim_step("sleep");
	sim_sleep(t->tv_sec * SIM_S + t->tv_nsec);
	return 0;
}

ssize_t __wrap_getrandom(void *to, size_t n, unsigned flags)
{
	uint8_t *p = to;

	(void)flags;
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)sim_random();
	return (ssize_t)n;
}

int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	(void)pid;
	CPU_ZERO_S(size, set);
	CPU_SET_S(0, size, set);
	return 0;
}

pid_t __wrap_getpid(void)
{
	return 1000 + W->proc[W->slot[sim_self].proc].number;
}
