/*
 * fibers.c - threads of the history as fibers of one thread of the system
 *
 * A switch between two processes exchanges the program's variables (.data and .bss). A switch
 * between two threads exchanges errno and the variables that are _Thread_local. So a history needs
 * no fork, no futex and no page faults.
 */
#include "fibers.h"

#include <errno.h>
#include <link.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "pool.h"

enum { DIRECTOR = 0, NOBODY = -1, LOCALS_MOST = 256, IMAGE_MOST = 64 << 10 };
#define STACK_BYTES ((size_t)2 << 20)
#define GUARD_BYTES ((size_t)64 << 10)

struct fiber {
	jmp_buf at;
	uint8_t *stack;
	void (*run)(void *arg); /* not NULL if the fiber has not begun */
	void *arg;
	int errnum;
	uint8_t locals[LOCALS_MOST];
};

/* The linker puts the objects of the simulation before those of the program (zone_end.c). */
extern char __data_start[], _edata[], _end[], sim_last[];

static struct fiber fibers[SIM_SLOTS];
static uint8_t images[SIM_PROCS][IMAGE_MOST], pristine[IMAGE_MOST];
static size_t data_bytes, bss_bytes;
static int loaded; /* the process whose variables are in place */
static uint8_t *locals;
static size_t locals_bytes;
static uint8_t new_locals[LOCALS_MOST];

static void save(uint8_t *to)
{
	memcpy(to, __data_start, data_bytes);
	memcpy(to + data_bytes, sim_last, bss_bytes);
}

static void load(const uint8_t *from)
{
	memcpy(__data_start, from, data_bytes);
	memcpy(sim_last, from + data_bytes, bss_bytes);
}

static int find_locals(struct dl_phdr_info *info, size_t size, void *ctx)
{
	(void)size, (void)ctx;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_TLS) {
			locals = info->dlpi_tls_data;
			locals_bytes = info->dlpi_phdr[i].p_memsz;
		}
	return 1; /* the first one is the program */
}

void fibers_setup(void)
{
	data_bytes = (size_t)(_edata - __data_start);
	bss_bytes = (size_t)(_end - sim_last);
	dl_iterate_phdr(find_locals, NULL);
	bool ours = (char *)&W < sim_last && (char *)fibers < sim_last;
	uintptr_t theirs = (uintptr_t)&stop_flag;
	if (!ours || theirs < (uintptr_t)sim_last || theirs >= (uintptr_t)_end ||
	    data_bytes + bss_bytes > IMAGE_MOST || locals_bytes > LOCALS_MOST) {
		fprintf(stderr, "simulate: the linker did not put zone_end.o before the program\n");
		exit(2);
	}
	memcpy(new_locals, locals, locals_bytes);
	save(pristine);
	loaded = NOBODY;
	for (int i = 1; i < SIM_SLOTS; i++) {
		uint8_t *p = mmap(NULL, GUARD_BYTES + STACK_BYTES, PROT_NONE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (p == MAP_FAILED ||
		    mprotect(p + GUARD_BYTES, STACK_BYTES, PROT_READ | PROT_WRITE))
			abort();
		fibers[i].stack = p + GUARD_BYTES;
	}
}

void fibers_new_process(int proc)
{
	if (loaded == proc)
		loaded = NOBODY;
	memcpy(images[proc], pristine, data_bytes + bss_bytes);
}

void fibers_set(int slot, void (*run)(void *arg), void *arg)
{
	struct fiber *f = &fibers[slot];

	f->run = run;
	f->arg = arg;
	f->errnum = 0;
	memcpy(f->locals, new_locals, locals_bytes);
}

static void begin(void)
{
	struct fiber *f = &fibers[sim_self];
	void (*run)(void *) = f->run;

	f->run = NULL;
	run(f->arg);
	abort();
}

/* Exchange the variables. The director runs with the variables of the process that ran before. */
static void exchange_variables(int proc)
{
	if (proc == NOBODY || proc == loaded)
		return;
	if (loaded != NOBODY)
		save(images[loaded]);
	load(images[proc]);
	loaded = proc;
}

static _Noreturn void enter(int to)
{
	struct fiber *f = &fibers[to];

	sim_self = to;
	exchange_variables(W->slot[to].proc);
	heap_use(W->slot[to].proc);
	memcpy(locals, f->locals, locals_bytes);
	errno = f->errnum;
	if (f->run) {
		ucontext_t c;

		getcontext(&c);
		c.uc_stack.ss_sp = f->stack;
		c.uc_stack.ss_size = STACK_BYTES;
		c.uc_link = NULL;
		makecontext(&c, begin, 0);
		setcontext(&c);
		abort();
	}
	_longjmp(f->at, 1);
}

void fibers_switch(int to)
{
	struct fiber *f = &fibers[sim_self];

	f->errnum = errno;
	memcpy(f->locals, locals, locals_bytes);
	if (_setjmp(f->at) == 0)
		enter(to);
}

void fibers_leave(int to)
{
	enter(to);
}
