/*
 * threads.c - runs one thread of all processes at a time, by a schedule drawn from the seed
 *
 * All processes and threads are fibers (fibers.c). One of them runs, and hands over at the seams:
 * system calls, locks, waits and calls of libraries.
 */
#include "threads.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "cli/commands.h"
#include "fibers.h"
#include "mem.h"
#include "pool.h"

enum { HUNG_S = 20, DIRECTOR = 0, NOBODY = -1, ARGS = 40, ALTERNATE_BYTES = 64 << 10 };
#define WORLD_BYTES ((size_t)1 << 30)

struct sim_world *W;
int sim_self;
void *sim_escape;

/* The streams to which each process prints; the director uses the system's stream. */
static FILE *said[SIM_PROCS], *real_out, *real_err;
static const char *const *args_of[SIM_PROCS];

/* --- chance, memory, trace --- */

/* End the history, from the handler of a signal. The scheduler forgets a crashed fiber. */
static _Noreturn void break_off(const char *why, int number)
{
	snprintf(W->violation, sizeof W->violation, "%s%d", why, number);
	sim_hand_over(DIRECTOR);
}

static void on_fault(int sig)
{
	if (W->loud || sim_self == DIRECTOR) {
		signal(sig, SIG_DFL);
		raise(sig);
	}
	break_off("a process was ended by a fault, signal ", sig);
}

/* Handle the signal that comes each second of computing time. */
static void on_second(int sig)
{
	static uint64_t steps;
	static int seconds;

	(void)sig;
	seconds = steps == W->steps && sim_self != DIRECTOR ? seconds + 1 : 0;
	steps = W->steps;
	if (seconds < HUNG_S)
		return;
	seconds = 0;
	break_off("an endless loop: a thread computes, and makes no call, for seconds: ", HUNG_S);
}

static void handle(int sig, void (*handler)(int sig))
{
	struct sigaction a = {.sa_handler = handler, .sa_flags = SA_ONSTACK | SA_NODEFER};

	if (sigaction(sig, &a, NULL) != 0)
		abort();
}

void sim_setup(void)
{
	static uint8_t alternate[ALTERNATE_BYTES];
	const struct itimerval second = {.it_interval.tv_sec = 1, .it_value.tv_sec = 1};

	W = mmap(NULL, WORLD_BYTES, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (W == MAP_FAILED)
		abort();
	/* a short process should not clear huge pages at its start */
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	setenv("HADOOP_USER_NAME", "ann", 1);
	unsetenv("TMPDIR");
	unsetenv("NOTIFY_SOCKET");
	tzset();
	real_out = stdout;
	real_err = stderr;
	fibers_setup();
	sigaltstack(&(stack_t){.ss_sp = alternate, .ss_size = sizeof alternate}, NULL);
	handle(SIGSEGV, on_fault);
	handle(SIGBUS, on_fault);
	handle(SIGFPE, on_fault);
	handle(SIGABRT, on_fault);
	handle(SIGVTALRM, on_second);
	setitimer(ITIMER_VIRTUAL, &second, NULL);
}

void sim_begin(uint64_t seed, bool loud)
{
	memset(W, 0, sizeof *W);
	W->seed = seed;
	W->rng = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
	W->loud = loud;
	W->now = 1000 * SIM_S;
	W->hash = UINT64_C(0xcbf29ce484222325);
	W->nslots = 1;
	W->slot[DIRECTOR] = (struct sim_slot){.state = SLOT_RUNS, .proc = NOBODY};
	sim_self = DIRECTOR;
}

/* splitmix64 */
uint64_t sim_random(void)
{
	uint64_t z = W->rng += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

uint64_t sim_below(uint64_t n)
{
	return n ? sim_random() % n : 0;
}

bool sim_fault(unsigned odds)
{
	return odds && !W->calm && sim_below(odds) == 0;
}

void *sim_new(size_t bytes)
{
	size_t need = (bytes + 63) & ~(size_t)63;

	if (offsetof(struct sim_world, heap) + W->used + need > WORLD_BYTES)
		sim_violate("the world is full: the history writes too much");
	void *p = W->heap + W->used;
	W->used += need;
	return memset(p, 0, bytes);
}

char *sim_text(const char *text)
{
	size_t n = strlen(text) + 1;

	return memcpy(sim_new(n), text, n);
}

static void mix(uint64_t v)
{
	W->hash = (W->hash ^ v) * UINT64_C(0x100000001b3);
	W->hash ^= W->hash >> 29;
}

void sim_note(const char *what, uint64_t a, uint64_t b)
{
	for (const char *p = what; *p; p++)
		W->hash = (W->hash ^ (uint8_t)*p) * UINT64_C(0x100000001b3);
	mix(a);
	mix(b);
	mix((uint64_t)sim_self);
	if (W->loud)
		sim_say("%s %llu %llu", what, (unsigned long long)a, (unsigned long long)b);
}

void sim_say(const char *fmt, ...)
{
	char text[1000];

	if (!W->loud)
		return;
	int p = W->slot[sim_self].proc;
	int n = snprintf(text, sizeof text, "%8llu %10.3f %-12s %2d  ",
			 (unsigned long long)W->steps, (double)W->now / 1e9 - 1000,
			 p == NOBODY ? "" : W->proc[p].name, sim_self);
	va_list ap;
	va_start(ap, fmt);
	n += vsnprintf(text + n, sizeof text - (size_t)n - 1, fmt, ap);
	va_end(ap);
	if (n > (int)sizeof text - 2)
		n = (int)sizeof text - 2;
	text[n++] = '\n';
	if (syscall(SYS_write, STDOUT_FILENO, text, (size_t)n) < 0)
		_exit(9);
}

/* --- the token --- */

static void set_output(int to)
{
	int p = W->slot[to].proc;

	stdout = p == NOBODY ? real_out : said[p];
	stderr = p == NOBODY ? real_err : said[p];
}

void sim_hand_over(int to)
{
	set_output(to);
	fibers_leave(to);
}

static void look_at_clock(void)
{
	for (int i = 0; i < W->nslots; i++)
		if (W->slot[i].state == SLOT_WAITS && W->slot[i].until <= W->now)
			W->slot[i].state = SLOT_RUNS;
}

int sim_choose(void)
{
	for (;;) {
		int ready[SIM_SLOTS], n = 0;
		int64_t first = SIM_NEVER;

		look_at_clock();
		for (int i = 0; i < W->nslots; i++) {
			if (W->slot[i].state == SLOT_RUNS)
				ready[n++] = i;
			else if (W->slot[i].state == SLOT_WAITS && W->slot[i].until < first)
				first = W->slot[i].until;
		}
		if (n)
			return ready[sim_below((uint64_t)n)];
		if (first == SIM_NEVER) {
			W->deadlock = true;
			W->slot[DIRECTOR].state = SLOT_RUNS;
			return DIRECTOR;
		}
		W->now = first;
	}
}

static void switch_to(int to)
{
	if (to == sim_self)
		return;
	set_output(to);
	fibers_switch(to);
}

static void deliver_stop(void)
{
	int p = W->slot[sim_self].proc;

	if (p == NOBODY || !W->proc[p].stop_after || --W->proc[p].stop_after)
		return;
	W->proc[p].stopping = true;
	sim_note("signal", (uint64_t)p, 0);
	if (!stop_flag)
		stop_flag = SIGTERM;
}

void sim_step(const char *what)
{
	W->steps++;
	W->now += (int64_t)(1000 + sim_random() % 16384);
	sim_note(what, W->steps, (uint64_t)W->now);
	deliver_stop();
	if (sim_self == DIRECTOR)
		return;
	if (W->wake_step && W->steps >= W->wake_step) {
		W->wake_step = 0;
		W->slot[DIRECTOR].state = SLOT_RUNS;
		W->slot[DIRECTOR].woken = true;
		switch_to(DIRECTOR);
	} else if (W->odds.change && sim_below(W->odds.change) == 0) {
		switch_to(sim_choose());
	}
}

void sim_did(unsigned deed)
{
	if (!(W->aim.kinds & deed) || !W->aim.left || --W->aim.left)
		return;
	W->aim.proc = sim_proc_of_self();
	W->wake_step = W->steps + 1;
}

bool sim_wait(const void *on, int64_t until)
{
	struct sim_slot *s = &W->slot[sim_self];

	s->on = on;
	s->until = until;
	s->woken = false;
	s->state = SLOT_WAITS;
	switch_to(sim_choose());
	s->state = SLOT_RUNS;
	return s->woken;
}

static bool is_shared(const void *p)
{
	const uint8_t *at = p;

	return at >= (const uint8_t *)W && at < (const uint8_t *)W + WORLD_BYTES;
}

void sim_wake(const void *on, int most)
{
	int found[SIM_SLOTS], n = 0;

	for (int i = 0; i < W->nslots; i++) {
		struct sim_slot *s = &W->slot[i];

		if (s->state == SLOT_WAITS && s->on == on &&
		    (is_shared(on) || s->proc == W->slot[sim_self].proc))
			found[n++] = i;
	}
	while (n && most-- > 0) {
		int k = (int)sim_below((uint64_t)n);

		W->slot[found[k]].state = SLOT_RUNS;
		W->slot[found[k]].woken = true;
		found[k] = found[--n];
	}
}

void sim_sleep(int64_t ns)
{
	sim_wait(NULL, W->now + (ns > 0 ? ns : 0));
}

int sim_proc_of_self(void)
{
	return W->slot[sim_self].proc;
}

void sim_violate(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	if (!W->violation[0])
		vsnprintf(W->violation, sizeof W->violation, fmt, ap);
	va_end(ap);
	if (sim_self == DIRECTOR)
		siglongjmp(*(sigjmp_buf *)sim_escape, 1);
	sim_hand_over(DIRECTOR);
}

int sim_new_slot(int proc)
{
	int i = 1;

	while (i < W->nslots && W->slot[i].state != SLOT_FREE)
		i++;
	if (i == SIM_SLOTS)
		sim_violate("too many threads");
	if (i == W->nslots)
		W->nslots++;
	W->slot[i].state = SLOT_RUNS;
	W->slot[i].proc = proc;
	return i;
}

/* --- processes --- */

static _Noreturn void leave(int status)
{
	int p = W->slot[sim_self].proc;

	sim_note("process ends", (uint64_t)W->proc[p].number, (uint64_t)status);
	W->proc[p].status = status;
	W->proc[p].ended = true;
	for (int i = 1; i < W->nslots; i++)
		if (W->slot[i].state != SLOT_FREE && W->slot[i].proc == p)
			W->slot[i].state = SLOT_FREE;
	W->slot[DIRECTOR].state = SLOT_RUNS;
	W->slot[DIRECTOR].woken = true;
	sim_hand_over(DIRECTOR);
}

void __wrap__exit(int status)
{
	leave(status);
}

static ssize_t take_said(void *ctx, const char *text, size_t n)
{
	(void)ctx;
	if (W->loud)
		sim_say("> %.*s", (int)(n && text[n - 1] == '\n' ? n - 1 : n), text);
	return (ssize_t)n;
}

static void run_process(void *arg)
{
	int p = sim_proc_of_self(), argc = 1;
	char *argv[ARGS + 1] = {strdup("saltmill")};
	const char *const *args = args_of[p];

	(void)arg;
	said[p] = fopencookie(NULL, "w", (cookie_io_functions_t){.write = take_said});
	setvbuf(said[p], NULL, _IOLBF, 1024);
	set_output(sim_self);
	for (; args[argc - 1]; argc++)
		argv[argc] = strdup(args[argc - 1]);
	if (W->loud)
		for (int i = 1; i < argc; i++)
			sim_say("argument %s", argv[i]);
	leave(commands_run(argc, argv));
}

/* Write /proc/PID/stat, whose 22nd value shows the program whether a process is still alive. */
static void show_process(int p, bool lives)
{
	char path[40], text[100];

	snprintf(path, sizeof path, "/proc/%d/stat", 1000 + W->proc[p].number);
	if (!lives) {
		disk_drop(path);
		return;
	}
	snprintf(text, sizeof text, "%d (saltmill) S 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 %d",
		 1000 + W->proc[p].number, 7000 + W->proc[p].number);
	disk_put(path, text);
}

int sim_start(const char *name, const char *const *args)
{
	int p = 0;

	while (p < SIM_PROCS && W->proc[p].name)
		p++;
	if (p == SIM_PROCS)
		abort();
	W->proc[p] = (struct sim_proc){.name = name, .number = ++W->nprocs_made};
	show_process(p, true);
	int slot = sim_new_slot(p);
	sim_note("process starts", (uint64_t)W->nprocs_made, 0);
	args_of[p] = args;
	fibers_new_process(p);
	fibers_set(slot, run_process, NULL);
	return p;
}

/* Free the memory of a process outside of the world. */
static void forget_process(int p)
{
	disk_close_streams(p);
	if (said[p])
		fclose(said[p]);
	said[p] = NULL;
	heap_reset(p);
}

static void check_memory(int p)
{
	size_t peak = heap_peak(p);

	if (W->proc[p].memory && peak > W->proc[p].memory)
		sim_violate("%s allocated %zu bytes, and may allocate %zu", W->proc[p].name, peak,
			    W->proc[p].memory);
}

static void bury(int p)
{
	check_memory(p);
	forget_process(p);
	for (int i = 1; i < W->nslots; i++)
		if (W->slot[i].state != SLOT_FREE && W->slot[i].proc == p)
			W->slot[i].state = SLOT_FREE;
	show_process(p, false);
	disk_proc_ended(p);
	broker_proc_ended(p);
	hdfs_proc_ended(p);
	W->proc[p].name = NULL;
}

void sim_kill(int p)
{
	sim_note("process is killed", (uint64_t)W->proc[p].number, 0);
	bury(p);
}

void sim_stop(int p, int after)
{
	W->proc[p].stop_after = after;
}

int sim_reap(int p)
{
	int status = W->proc[p].status;

	bury(p);
	return status;
}

void sim_direct(int64_t until)
{
	W->slot[DIRECTOR].until = until;
	W->slot[DIRECTOR].on = NULL;
	W->slot[DIRECTOR].woken = false;
	W->slot[DIRECTOR].state = SLOT_WAITS;
	switch_to(sim_choose());
	W->slot[DIRECTOR].state = SLOT_RUNS;
	if (W->violation[0])
		siglongjmp(*(sigjmp_buf *)sim_escape, 1);
}

void sim_end(void)
{
	for (int p = 0; p < SIM_PROCS; p++)
		if (W->proc[p].name) {
			forget_process(p);
			W->proc[p].name = NULL;
		}
}
