/*
 * mem_pool.c - the blocks of a handle of the library, which one call can free (mem.h)
 *
 * The blocks are in a hash table with linear probing. The table is at most half full.
 */
#include "mem_own.h"

#include <setjmp.h>
#include <stdlib.h>

#define FIRST_SLOTS 256

struct pool_use {
	struct mem_pool *pool;
	jmp_buf short_of_memory;
};

/* The pool of this thread's call, or NULL outside of mem_pool_run. */
static _Thread_local struct pool_use *now;

static size_t home_of(const struct mem_pool *p, const void *block)
{
	return (size_t)(((uintptr_t)block >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20) &
	       (p->slots - 1);
}

static void put(struct mem_pool *p, void *block)
{
	size_t i = home_of(p, block);

	while (p->block[i])
		i = (i + 1) & (p->slots - 1);
	p->block[i] = block;
	p->n++;
}

static bool grow(struct mem_pool *p)
{
	struct mem_pool larger = {.slots = p->slots ? 2 * p->slots : FIRST_SLOTS};

	larger.block = calloc(larger.slots, sizeof *larger.block);
	if (!larger.block)
		return false;
	for (size_t i = 0; i < p->slots; i++)
		if (p->block[i])
			put(&larger, p->block[i]);
	free(p->block);
	*p = larger;
	return true;
}

void *mem_own(void *block)
{
	struct mem_pool *p = now ? now->pool : NULL;

	if (!p || !block)
		return block;
	if (2 * (p->n + 1) > p->slots && !grow(p)) {
		free(block);
		return NULL;
	}
	put(p, block);
	return block;
}

/* Move later blocks of the chain down, so that a search for them does not end at the gap. */
static void close_gap(struct mem_pool *p, size_t gap)
{
	size_t mask = p->slots - 1;

	for (size_t i = (gap + 1) & mask; p->block[i]; i = (i + 1) & mask) {
		size_t home = home_of(p, p->block[i]);

		if (((i - home) & mask) < ((i - gap) & mask))
			continue;
		p->block[gap] = p->block[i];
		gap = i;
	}
	p->block[gap] = NULL;
}

bool mem_disown(const void *block)
{
	struct mem_pool *p = now ? now->pool : NULL;

	if (!p || !block || !p->slots)
		return false;
	for (size_t i = home_of(p, block); p->block[i]; i = (i + 1) & (p->slots - 1)) {
		if (p->block[i] != block)
			continue;
		close_gap(p, i);
		p->n--;
		return true;
	}
	return false;
}

void mem_short(void)
{
	if (now)
		longjmp(now->short_of_memory, 1);
}

bool mem_pool_run(struct mem_pool *p, void (*work)(void *ctx), void *ctx)
{
	struct pool_use use = {.pool = p};

	if (setjmp(use.short_of_memory)) {
		now = NULL;
		mem_pool_release(p);
		return false;
	}
	now = &use;
	work(ctx);
	now = NULL;
	return true;
}

void mem_pool_release(struct mem_pool *p)
{
	for (size_t i = 0; i < p->slots; i++)
		free(p->block[i]);
	free(p->block);
	*p = (struct mem_pool){0};
}
