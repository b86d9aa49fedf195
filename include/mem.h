/*
 * mem.h - allocation, growing lists, arenas, heaps, and the memory budget of a run
 *
 * mem_* and arena_* never return NULL. If memory is short, or if a size overflows, these functions
 * print one sentence and end the process with exit status 1. Such an end is safe, because a run's
 * output is a temporary folder until the last rename. After the rename, the sentence reports that
 * the load is in place (mem_outcome).
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
 * Return large blocks to the system with the call of free. Call mem_setup once at the start. By
 * default, after the first freed block, the C library takes large blocks from its heap. The heap
 * keeps the gaps between blocks.
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

/*
 * Set the text that follows "out of memory" from now on. `what` is copied. If `what` is NULL, the
 * text is "saltmill published nothing".
 */
void mem_outcome(const char *what);

/*
 * Allocate like mem_alloc and so on, but return NULL if memory is short. Code that returns
 * RC_MEMORY needs these functions. pipeline/hfile allocates only with mem_try_* and buf_try_*,
 * which `make symbols` checks.
 */
void *mem_try_alloc(size_t size);
void *mem_try_calloc(size_t count, size_t size);
void *mem_try_realloc(void *ptr, size_t size);
char *mem_try_strdup(const char *s);

/*
 * Make room for one more element after the `n` elements of a list, and return the list. The
 * capacity is a power of two that depends only on `n`, so the caller does not store it. Start with
 * NULL and `n` = 0, and call mem_grow before each append.
 */
void *mem_grow(void *list, size_t n, size_t size);

/* Enlarge a list for mem_try_reserve. If memory is short, *cap is unchanged. */
void *mem_try_enlarge(void *list, size_t *cap, size_t need, size_t size);
void *mem_enlarge(void *list, size_t *cap, size_t need, size_t size);

/*
 * Make room for `need` elements in a list with room for *cap elements, and return the list. If the
 * list grows, its room at least doubles. Use this function for lists that the caller empties and
 * fills again.
 */
static inline void *mem_reserve(void *list, size_t *cap, size_t need, size_t size)
{
	return need <= *cap ? list : mem_enlarge(list, cap, need, size);
}

static inline void *mem_try_reserve(void *list, size_t *cap, size_t need, size_t size)
{
	return need <= *cap ? list : mem_try_enlarge(list, cap, need, size);
}

/*
 * An allocator for many small objects with one release. {0} is empty. Only one thread at a time may
 * use an arena.
 */
struct arena {
	struct arena_block *blocks;
};
/* Allocate zeroed memory, aligned to 16 bytes. */
void *arena_alloc(struct arena *a, size_t size);
/* Make room as mem_grow does, but in the arena. If the list moves, its old copy stays in the arena.
 */
void *arena_grow(struct arena *a, void *list, size_t n, size_t size);
/* Copy a list, so that code may read any type from the copy. */
void *arena_dup(struct arena *a, const void *list, size_t bytes);
/* Copy texts, with a NUL after the last byte. */
char *arena_strndup(struct arena *a, const void *s, size_t len);
char *arena_strdup(struct arena *a, const char *s);
struct bytes arena_bytes(struct arena *a, struct bytes b);
char *arena_format(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *arena_vformat(struct arena *a, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));
void arena_release(struct arena *a);

/*
 * The blocks that the calls of one handle of libsaltmill have allocated and not yet freed. {0} is
 * empty. The functions above end the process if memory is short, but a library must return an error.
 * With a pool, they return to mem_pool_run.
 */
struct mem_pool {
	void **block; /* a hash table; NULL is a free slot */
	size_t slots, n;
};
/*
 * Call `work` on this thread. All blocks that it allocates by this header belong to the pool. If
 * memory is short, frees all blocks of the pool, also those of earlier calls, and returns false. A
 * `work` that ends early keeps what it has of others, such as a descriptor. Calls do not nest.
 */
bool mem_pool_run(struct mem_pool *p, void (*work)(void *ctx), void *ctx);
/* Free all blocks of the pool. */
void mem_pool_release(struct mem_pool *p);

/* A binary heap of pointers. items[0] is the first item in the order. The caller owns the array. */
struct heap {
	void **items;
	size_t n;
};
/* Return true if `a` comes before `b`. */
typedef bool heap_before(const void *ctx, const void *a, const void *b);

/* Restore the order after a change of item `i` that can only move the item down. */
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

/* Order items after the caller has filled the array in any order. */
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

/*
 * The memory that the stages of one run may use together, in bytes. Any thread may call these
 * functions.
 */
struct budget {
	uint64_t limit;
	_Atomic uint64_t used;
};
/*
 * Take `bytes` if they fit below the limit. Returns false and takes nothing if they exceed the
 * limit.
 */
bool budget_take(struct budget *b, uint64_t bytes);
/* Take `bytes` even above the limit, for memory that a stage needs in any case. */
void budget_force(struct budget *b, uint64_t bytes);
void budget_give(struct budget *b, uint64_t bytes);

#endif
