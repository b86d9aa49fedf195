/* stacks.c - finds the callers of a call and the libraries that they belong to (stacks.h) */
#include "stacks.h"

#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { MODULES = 128 };

static struct module {
	uintptr_t from, to;
	uint64_t name;
} modules[MODULES];
static size_t nmodules;
static pthread_mutex_t modules_lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t mix(uint64_t hash, uint64_t more)
{
	hash = (hash ^ more) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

static int add_module(struct dl_phdr_info *object, size_t size, void *unused)
{
	(void)size, (void)unused;
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];
		if (part->p_type != PT_LOAD || !(part->p_flags & PF_X) || nmodules == MODULES)
			continue;
		struct module m = {object->dlpi_addr + part->p_vaddr, 0, strlen(object->dlpi_name)};
		m.to = m.from + part->p_memsz;
		for (const char *p = object->dlpi_name; *p; p++)
			m.name = mix(m.name, (unsigned char)*p);
		modules[nmodules++] = m;
	}
	return 0;
}

/* Address ranges of all objects. The library reads them again if no range contains an address. */
static const struct module *module_of(uintptr_t at)
{
	for (int tries = 0; tries < 2; tries++) {
		for (size_t i = 0; i < nmodules; i++)
			if (at >= modules[i].from && at < modules[i].to)
				return &modules[i];
		nmodules = 0;
		dl_iterate_phdr(add_module, NULL);
	}
	return NULL;
}

uint64_t stack_of(void *const *callers, int n)
{
	uint64_t hash = 0;

	pthread_mutex_lock(&modules_lock);
	for (int i = 0; i < n; i++) {
		const struct module *m = module_of((uintptr_t)callers[i]);

		if (m && m == module_of((uintptr_t)stack_of))
			continue; /* the path of this library */
		hash = m ? mix(mix(hash, m->name), (uintptr_t)callers[i] - m->from) : mix(hash, 1);
	}
	pthread_mutex_unlock(&modules_lock);
	return hash;
}

/* --- libraries without faults --- */

static struct apart {
	char name[24];	    /* "": no library */
	bool itself;	    /* only calls of the library itself, not calls of other libraries */
	uintptr_t from, to; /* the library's address range, or 0, 0 for another library */
} apart[3];
static uintptr_t program_from, program_to;

enum { APART = sizeof apart / sizeof *apart };

void read_apart(const char *text)
{
	for (int i = 0; i < APART && *text; i++) {
		size_t n = strcspn(text, ",");

		apart[i].itself = *text == '=';
		snprintf(apart[i].name, sizeof apart[i].name, "%.*s", (int)n - apart[i].itself,
			 text + apart[i].itself);
		text += n + (text[n] == ',');
	}
}

static void find_apart(const struct dl_phdr_info *object, struct apart *a)
{
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];
		if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
			continue;
		a->from = object->dlpi_addr + part->p_vaddr;
		a->to = a->from + part->p_memsz;
	}
}

/* The first object is the program. */
static int find_program(struct dl_phdr_info *object, size_t size, void *unused)
{
	struct apart a = {0};

	(void)size, (void)unused;
	find_apart(object, &a);
	program_from = a.from;
	program_to = a.to;
	return 1;
}

static int look_for_apart(struct dl_phdr_info *object, size_t size, void *unused)
{
	(void)size, (void)unused;
	for (int i = 0; i < APART; i++)
		if (apart[i].name[0] && !apart[i].to && strstr(object->dlpi_name, apart[i].name))
			find_apart(object, &apart[i]);
	return 0;
}

static bool lies_apart(const void *at, bool deep)
{
	for (int i = 0; i < APART; i++)
		if ((uintptr_t)at >= apart[i].from && (uintptr_t)at < apart[i].to &&
		    !(deep && apart[i].itself))
			return true;
	return false;
}

bool comes_from_apart(const void *caller)
{
	enum { DEEPER = 64 };
	void *callers[DEEPER];
	bool deep = false;
	if ((uintptr_t)caller >= program_from && (uintptr_t)caller < program_to)
		return false;
	for (int i = 0; i < APART; i++)
		deep = deep || (apart[i].to && !apart[i].itself);
	if (lies_apart(caller, false))
		return true;
	if (!deep)
		return false;
	int n = backtrace(callers, DEEPER);
	for (int i = 0; i < n; i++)
		if (lies_apart(callers[i], true))
			return true;
	return false;
}

void look_for_libraries(void)
{
	dl_iterate_phdr(look_for_apart, NULL);
}

void look_for_program(void)
{
	dl_iterate_phdr(find_program, NULL);
}
