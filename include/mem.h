/*
 * mem.h - allocation, growing lists, arenas, heaps, and the memory budget of a run
 *
 * mem_* and arena_* never return NULL: if there is no memory, or a size overflows, they print one
 * sentence and end the process with exit status 1. This is safe, because a run's output is a
 * temporary folder until its last rename. After the rename the sentence says so (mem_outcome).
 */
#ifndef SALTMILL_MEM_H
#define SALTMILL_MEM_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bytes.h"

/*
 * Call it once at the start: it makes freed large blocks return to the system at once. Otherwise,
 * after the first one, the C library takes such blocks from its heap, where gaps between them
 * remain.
 */
void mem_setup(void);
void *mem_alloc(size_t size);
void *mem_calloc(size_t count, size_t size);
void *mem_realloc(void *ptr, size_t size);
void *mem_alloc_aligned(size_t alignment, size_t size);
char *mem_strdup(const char *s);
char *mem_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *mem_vformat(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));
void mem_free(void *ptr);

/* Set the text after "out of memory" from now on; it is copied. NULL: "nothing was published". */
void mem_outcome(const char *what);

/*
 * The same, but return NULL if there is no memory, for code that returns RC_MEMORY. pipeline/hfile
 * allocates only here and by buf_try_*; `make symbols` proves it.
 */
void *mem_try_alloc(size_t size);
void *mem_try_calloc(size_t count, size_t size);
void *mem_try_realloc(void *ptr, size_t size);
char *mem_try_strdup(const char *s);

/*
 * Make room for one more element after the n elements of a list; return the list. The capacity is
 * a power of two and follows from n, so the caller keeps no capacity. Start with NULL and n = 0,
 * and append every element this way.
 */
void *mem_grow(void *list, size_t n, size_t size);

/* mem_try_reserve when the list must move. *cap stays if there is no memory. */
void *mem_try_enlarge(void *list, size_t *cap, size_t need, size_t size);
void *mem_enlarge(void *list, size_t *cap, size_t need, size_t size);

/*
 * Make room for `need` elements in a list with room for *cap; return the list. It at least
 * doubles. For lists that are emptied and filled again.
 */
static inline void *mem_reserve(void *list, size_t *cap, size_t need, size_t size)
{
	return need <= *cap ? list : mem_enlarge(list, cap, need, size);
}

static inline void *mem_try_reserve(void *list, size_t *cap, size_t need, size_t size)
{
	return need <= *cap ? list : mem_try_enlarge(list, cap, need, size);
}

/* Many small objects that are released together. {0} is empty. One thread at a time. */
struct arena {
	struct arena_block *blocks;
};
/* Allocate zeroed memory, aligned to 16 bytes. */
void *arena_alloc(struct arena *a, size_t size);
/* As mem_grow. A list that moves leaves its old copy in the arena. */
void *arena_grow(struct arena *a, void *list, size_t n, size_t size);
/* Copies, with a NUL after the last byte. */
char *arena_strndup(struct arena *a, const void *s, size_t len);
char *arena_strdup(struct arena *a, const char *s);
struct bytes arena_bytes(struct arena *a, struct bytes b);
char *arena_format(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *arena_vformat(struct arena *a, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));
void arena_release(struct arena *a);

/* A binary heap of pointers: items[0] comes first. The caller owns the array. */
struct heap {
	void **items;
	size_t n;
};
/* Does a come before b? */
typedef bool heap_before(const void *ctx, const void *a, const void *b);

/* Restore the order after item i changed so that it may belong further down. */
static inline void heap_sift(struct heap *h, size_t i, heap_before *before, const void *ctx)
{
	void **items = h->items, *moved = items[i];

	for (size_t child; (child = 2 * i + 1) < h->n; i = child) {
		if (child + 1 < h->n && before(ctx, items[child + 1], items[child]))
			child++;
		if (!before(ctx, items[child], moved))
			break;
		items[i] = items[child];
	}
	items[i] = moved;
}

/* Order items that were put in any order. */
static inline void heap_order(struct heap *h, heap_before *before, const void *ctx)
{
	for (size_t i = h->n / 2; i-- > 0;)
		heap_sift(h, i, before, ctx);
}

/* Remove the first item. The heap must not be empty. */
static inline void heap_pop(struct heap *h, heap_before *before, const void *ctx)
{
	h->items[0] = h->items[--h->n];
	if (h->n)
		heap_sift(h, 0, before, ctx);
}

/* The memory that the stages of one run may use together, in bytes. Any thread. */
struct budget {
	uint64_t limit;
	_Atomic uint64_t used;
};
/* Take bytes if they fit below the limit; false: nothing was taken. */
bool budget_take(struct budget *b, uint64_t bytes);
/* Take bytes even above the limit, for memory that a stage cannot do without. */
void budget_force(struct budget *b, uint64_t bytes);
void budget_give(struct budget *b, uint64_t bytes);

#endif
