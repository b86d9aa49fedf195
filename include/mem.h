/*
 * mem.h - allocation, arenas, and the memory budget of a run
 *
 * mem_* never return NULL: out of memory ends the process with one sentence and exit status 1.
 * That is safe by design: a run's output is a temporary folder until its last rename.  Behind it
 * the sentence says so (mem_outcome).
 */
#ifndef SALTMILL_MEM_H
#define SALTMILL_MEM_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Once, at the start: large blocks go back to the system when they are freed.  The C library
 * would after the first such one take those to come from its heap, where holes between them stay.
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

/* What to say behind "out of memory" from now on, copied; NULL: "nothing was published". */
void mem_outcome(const char *what);

/*
 * The same, but NULL when there is no memory, for those who give that back as RC_MEMORY: pipeline/
 * hfile takes all its memory here and by buf_try_*, which `make symbols` proves.
 */
void *mem_try_alloc(size_t size);
void *mem_try_calloc(size_t count, size_t size);
void *mem_try_realloc(void *ptr, size_t size);
char *mem_try_strdup(const char *s);

/* Many small things that die together.  {0} is empty.  Not for several threads. */
struct arena {
	struct arena_block *blocks;
};
/* Zeroed, aligned to 16. */
void *arena_alloc(struct arena *a, size_t size);
char *arena_strndup(struct arena *a, const char *s, size_t len);
char *arena_strdup(struct arena *a, const char *s);
void arena_release(struct arena *a);

/* What the stages of one run may hold together, in bytes.  Any thread. */
struct budget {
	uint64_t limit;
	_Atomic uint64_t used;
};
/* Take bytes if they fit below the limit; false leaves the account as it was. */
bool budget_take(struct budget *b, uint64_t bytes);
/* Take bytes whether they fit or not (what a stage cannot do without). */
void budget_force(struct budget *b, uint64_t bytes);
void budget_give(struct budget *b, uint64_t bytes);

#endif
