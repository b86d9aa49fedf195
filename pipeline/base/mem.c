#include "mem_own.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARENA_BLOCK 16384
#define LARGE_BLOCK (256 << 10)
#define LEAST_LIST  16 /* elements */

struct arena_block {
	struct arena_block *next;
	size_t used, cap;
	max_align_t data[];
};

static char outcome[4200] = "saltmill published nothing";

void mem_outcome(const char *what)
{
	snprintf(outcome, sizeof outcome, "%s", what ? what : "saltmill published nothing");
}

static void die_out_of_memory(size_t size)
{
	mem_short();
	char msg[sizeof outcome + 100];
	int n = snprintf(msg, sizeof msg, "saltmill: out of memory (requested %zu bytes); %s\n",
			 size, outcome);

	if (n > 0 && write(STDERR_FILENO, msg, (size_t)n) < 0)
		_exit(1);
	_exit(1);
}

void mem_setup(void)
{
	(void)mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK);
	(void)mallopt(M_TRIM_THRESHOLD, 4 * LARGE_BLOCK);
}

void *mem_try_alloc(size_t size)
{
	return mem_own(malloc(size ? size : 1));
}

void *mem_try_calloc(size_t count, size_t size)
{
	return mem_own(calloc(count ? count : 1, size ? size : 1));
}

void *mem_try_realloc(void *ptr, size_t size)
{
	bool owned = mem_disown(ptr);
	void *moved = realloc(ptr, size ? size : 1);

	if (!moved && owned)
		mem_own(ptr);
	return mem_own(moved);
}

char *mem_try_strdup(const char *s)
{
	size_t n = strlen(s) + 1;
	char *copy = mem_try_alloc(n);

	return copy ? memcpy(copy, s, n) : NULL;
}

void *mem_alloc(size_t size)
{
	void *p = mem_try_alloc(size);

	if (!p)
		die_out_of_memory(size);
	return p;
}

void *mem_calloc(size_t count, size_t size)
{
	void *p = mem_try_calloc(count, size);

	if (!p)
		die_out_of_memory(size);
	return p;
}

void *mem_realloc(void *ptr, size_t size)
{
	void *p = mem_try_realloc(ptr, size);

	if (!p)
		die_out_of_memory(size);
	return p;
}

void *mem_alloc_aligned(size_t alignment, size_t size)
{
	void *p = mem_own(aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment));

	if (!p)
		die_out_of_memory(size);
	return p;
}

char *mem_strdup(const char *s)
{
	size_t n = strlen(s) + 1;

	return memcpy(mem_alloc(n), s, n);
}

char *mem_vformat(const char *fmt, va_list ap)
{
	char *s = NULL;

	if (vasprintf(&s, fmt, ap) < 0 || !(s = mem_own(s)))
		die_out_of_memory(0);
	return s;
}

char *mem_format(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	char *s = mem_vformat(fmt, ap);
	va_end(ap);
	return s;
}

void mem_free(void *ptr)
{
	mem_disown(ptr);
	free(ptr);
}

void *mem_try_enlarge(void *list, size_t *cap, size_t need, size_t size)
{
	size_t more = *cap > SIZE_MAX / 2 ? SIZE_MAX : 2 * *cap, bytes;

	if (more < need)
		more = need;
	if (more < LEAST_LIST)
		more = LEAST_LIST;
	if (__builtin_mul_overflow(more, size, &bytes))
		return NULL;
	list = mem_try_realloc(list, bytes);
	if (list)
		*cap = more;
	return list;
}

void *mem_enlarge(void *list, size_t *cap, size_t need, size_t size)
{
	void *larger = mem_try_enlarge(list, cap, need, size);

	if (!larger)
		die_out_of_memory(need > SIZE_MAX / size ? SIZE_MAX : need * size);
	return larger;
}

/*
 * Return the bytes of a list that mem_grow or arena_grow must move at `n` elements. Returns 0 if
 * the list need not move.
 */
static size_t grown_bytes(size_t n, size_t size)
{
	size_t bytes;

	if (n & (n - 1))
		return 0;
	if (__builtin_mul_overflow(n ? n : 1, n ? 2 * size : size, &bytes))
		die_out_of_memory(SIZE_MAX);
	return bytes;
}

void *mem_grow(void *list, size_t n, size_t size)
{
	size_t bytes = grown_bytes(n, size);

	return bytes ? mem_realloc(list, bytes) : list;
}

void *arena_alloc(struct arena *a, size_t size)
{
	size = (size + 15) & ~(size_t)15;
	struct arena_block *b = a->blocks;
	if (!b || b->cap - b->used < size) {
		size_t cap = size > ARENA_BLOCK ? size : ARENA_BLOCK;

		b = mem_calloc(1, sizeof *b + cap);
		b->cap = cap;
		b->next = a->blocks;
		a->blocks = b;
	}
	void *p = (char *)b->data + b->used;
	b->used += size;
	return p;
}

void *arena_grow(struct arena *a, void *list, size_t n, size_t size)
{
	size_t bytes = grown_bytes(n, size);

	if (!bytes)
		return list;
	void *larger = arena_alloc(a, bytes);
	if (n)
		memcpy(larger, list, n * size);
	return larger;
}

void *arena_dup(struct arena *a, const void *list, size_t bytes)
{
	void *p = arena_alloc(a, bytes ? bytes : 1);

	if (bytes)
		memcpy(p, list, bytes);
	return p;
}

char *arena_strndup(struct arena *a, const void *s, size_t len)
{
	char *p = arena_alloc(a, len + 1);

	if (len)
		memcpy(p, s, len);
	return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

struct bytes arena_bytes(struct arena *a, struct bytes b)
{
	return bytes_of(arena_strndup(a, b.ptr, b.len), b.len);
}

char *arena_vformat(struct arena *a, const char *fmt, va_list ap)
{
	char *text = mem_vformat(fmt, ap), *kept = arena_strdup(a, text);

	mem_free(text);
	return kept;
}

char *arena_format(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	char *s = arena_vformat(a, fmt, ap);
	va_end(ap);
	return s;
}

void arena_release(struct arena *a)
{
	while (a->blocks) {
		struct arena_block *next = a->blocks->next;

		mem_free(a->blocks);
		a->blocks = next;
	}
}

bool budget_take(struct budget *b, uint64_t bytes)
{
	uint64_t used = atomic_load(&b->used);

	do {
		if (used + bytes > b->limit)
			return false;
	} while (!atomic_compare_exchange_weak(&b->used, &used, used + bytes));
	return true;
}

void budget_force(struct budget *b, uint64_t bytes)
{
	atomic_fetch_add(&b->used, bytes);
}

void budget_give(struct budget *b, uint64_t bytes)
{
	atomic_fetch_sub(&b->used, bytes);
}
