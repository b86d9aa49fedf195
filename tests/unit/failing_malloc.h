/*
 * failing_malloc.h - allocations of the test program that fail, and the number of its blocks
 *
 * The functions replace those of libc. With a sanitizer, which has its own, OWN_MALLOC is 0.
 */
#ifndef SALTMILL_TEST_FAILING_MALLOC_H
#define SALTMILL_TEST_FAILING_MALLOC_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OWN_MALLOC 0
#else
#define OWN_MALLOC 1
#endif

static long fail_at;  /* number of the allocation that fails, from 1 on; 0 for none */
static bool for_good; /* true if all later allocations fail, too */
static long asked;
/* allocated and not yet freed */
static _Atomic long blocks __attribute__((unused));

#if OWN_MALLOC
static bool allocation_fails(void)
{
	if (fail_at == 0)
		return false;
	asked++;
	return for_good ? asked >= fail_at : asked == fail_at;
}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *p);

static void *counted(void *p)
{
	blocks += p != NULL;
	return p;
}

void *malloc(size_t size)
{
	return allocation_fails() ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
	return allocation_fails() ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *p, size_t size)
{
	if (allocation_fails())
		return NULL;
	return p ? __libc_realloc(p, size) : counted(__libc_malloc(size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return allocation_fails() ? NULL : counted(__libc_memalign(alignment, size));
}

void free(void *p)
{
	blocks -= p != NULL;
	__libc_free(p);
}
#endif

static inline void fail_from(long n, bool all_later)
{
	asked = 0;
	for_good = all_later;
	fail_at = n;
}

#endif
