/*
 * stacks.h - where a call of the program comes from
 *
 * A part of preload.so that allocates nothing but in dl_iterate_phdr and backtrace: the caller sees
 * to it that what these call does not fail.
 */
#ifndef SALTMILL_TEST_STACKS_H
#define SALTMILL_TEST_STACKS_H

#include <stdbool.h>
#include <stdint.h>

enum { DEEP = 32 }; /* frames */

#pragma GCC visibility push(hidden)

/* A number that is the same in all processes of one program; frames of preload.so do not count. */
uint64_t stack_of(void *const *callers, int n);

/* Once, before any other: which libraries are left alone, as FAULT_APART says. */
void read_apart(const char *text);
void look_for_program(void);
/* Behind each library that was opened. */
void look_for_libraries(void);
/*
 * Does the call come out of a library that is left alone, through whichever others?  What the
 * program itself calls does not, though the library may have called it back.
 */
bool comes_from_apart(const void *caller);

#pragma GCC visibility pop

#endif
