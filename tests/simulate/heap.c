/*
 * heap.c - malloc with a heap for each process of the history. The end of a process empties its
 * heap.
 *
 * A killed process frees nothing. Addresses depend on the seed alone.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fibers.h"

enum { NOBODY = -1, UNIT = 16, SMALL = 64, STEPS = 4, CLASSES = SMALL + 32 * STEPS };
#define FREED	   (UINT32_C(1) << 31)
#define HEAP_BYTES ((size_t)1 << 30)
#define KEPT_BYTES ((size_t)8 << 20) /* memory that the next process gets without page faults */

struct block {
	size_t room; /* bytes after this header */
	uint32_t class, heap;
	union {
		uint8_t data[1];
		struct block *next; /* of the free ones of a class */
	};
};
#define HEADER offsetof(struct block, data)

struct heap {
	uint8_t *base, *next, *dirty; /* offset after which all bytes are zero */
	size_t used, peak;
	struct block *free[CLASSES];
};
static struct heap heaps[SIM_PROCS + 1];
static struct heap *heap = heaps;

void heap_use(int proc)
{
	heap = &heaps[proc + 1];
}

/* Classes of 16, 32 ... 1024 bytes, then four for each power of two. */
static uint32_t class_of(size_t bytes, size_t *room)
{
	if (bytes <= SMALL * UNIT) {
		size_t n = bytes ? (bytes + UNIT - 1) / UNIT : 1;

		*room = n * UNIT;
		return (uint32_t)n - 1;
	}
	unsigned log = 63 - (unsigned)__builtin_clzl(bytes - 1);
	size_t step = ((size_t)1 << log) / STEPS, n = (bytes - 1 - ((size_t)1 << log)) / step;

	*room = ((size_t)1 << log) + (n + 1) * step;
	return (uint32_t)(SMALL + (log - 10) * STEPS + n);
}

static bool begin(struct heap *h)
{
	h->base = mmap(NULL, HEAP_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (h->base == MAP_FAILED) {
		h->base = NULL;
		return false;
	}
	h->next = h->dirty = h->base;
	return true;
}

static void *use(struct block *b)
{
	heap->used += b->room;
	if (heap->used > heap->peak)
		heap->peak = heap->used;
	return b->data;
}

/* Sets *zero to the offset after which all bytes of the block are zero. */
static void *allocate(size_t bytes, size_t alignment, uint8_t **zero)
{
	size_t room;

	if ((!heap->base && !begin(heap)) || bytes > HEAP_BYTES / 2) {
		errno = ENOMEM;
		return NULL;
	}
	uint32_t class = class_of(bytes, &room);
	struct block **p = &heap->free[class];
	while (*p && ((uintptr_t)(*p)->data & (alignment - 1)))
		p = &(*p)->next;
	if (*p) {
		struct block *b = *p;

		*p = b->next;
		b->class = class;
		*zero = b->data + room;
		return use(b);
	}
	uintptr_t at =
		((uintptr_t)heap->next + HEADER + alignment - 1) & ~(uintptr_t)(alignment - 1);
	struct block *b = (struct block *)(at - HEADER);
	uint8_t *end = (uint8_t *)at + room;
	if (end > heap->base + HEAP_BYTES) {
		errno = ENOMEM;
		return NULL;
	}
	*zero = heap->dirty;
	heap->next = end;
	if (heap->dirty < end)
		heap->dirty = end;
	*b = (struct block){.room = room, .class = class, .heap = (uint32_t)(heap - heaps)};
	return use(b);
}

void heap_reset(int proc)
{
	struct heap *h = &heaps[proc + 1];

	if (!h->base)
		return;
	if (h->dirty > h->base + KEPT_BYTES) {
		madvise(h->base + KEPT_BYTES, (size_t)(h->dirty - h->base) - KEPT_BYTES,
			MADV_DONTNEED);
		h->dirty = h->base + KEPT_BYTES;
	}
	h->next = h->base;
	h->used = h->peak = 0;
	memset(h->free, 0, sizeof h->free);
}

size_t heap_peak(int proc)
{
	return heaps[proc + 1].peak;
}

/* --- in place of libc's functions, for the program and its libraries --- */

static struct block *block_of(void *p)
{
	return (struct block *)((uint8_t *)p - HEADER);
}

void *malloc(size_t bytes)
{
	uint8_t *zero;

	return allocate(bytes, UNIT, &zero);
}

void *calloc(size_t count, size_t size)
{
	uint8_t *zero;
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	uint8_t *p = allocate(bytes, UNIT, &zero);
	if (p && zero > p)
		memset(p, 0, zero < p + bytes ? (size_t)(zero - p) : bytes);
	return p;
}

void free(void *p)
{
	if (!p)
		return;
	struct block *b = block_of(p);
	struct heap *h = &heaps[b->heap];
	if (b->class >= CLASSES)
		abort(); /* freed twice, or no block */
	h->used -= b->room;
	b->next = h->free[b->class];
	h->free[b->class] = b;
	b->class |= FREED;
}

void *realloc(void *p, size_t bytes)
{
	if (p && bytes <= block_of(p)->room)
		return p;
	void *more = malloc(bytes);
	if (more && p) {
		memcpy(more, p, block_of(p)->room);
		free(p);
	}
	return more;
}

void *reallocarray(void *p, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(p, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
	uint8_t *zero;

	return allocate(bytes, alignment < UNIT ? UNIT : alignment, &zero);
}

void *memalign(size_t alignment, size_t bytes)
{
	return aligned_alloc(alignment, bytes);
}

int posix_memalign(void **out, size_t alignment, size_t bytes)
{
	void *p = aligned_alloc(alignment, bytes);

	if (p)
		*out = p;
	return p ? 0 : ENOMEM;
}

size_t malloc_usable_size(void *p)
{
	return p ? block_of(p)->room : 0;
}
