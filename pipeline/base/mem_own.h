/* mem_own.h - the calls of mem.c to mem_pool.c (inside pipeline/base only) */
#ifndef SALTMILL_MEM_OWN_H
#define SALTMILL_MEM_OWN_H

#include "mem.h"

/*
 * Add a new block to the pool of this thread's call. Returns NULL, and frees the block, if memory is
 * short. Without a pool, and for NULL, returns `block`.
 */
void *mem_own(void *block);
/* Remove a block from the pool. Returns false if the pool does not have it. */
bool mem_disown(const void *block);
/* End the call of the pool. Returns if there is no pool. */
void mem_short(void);

#endif
