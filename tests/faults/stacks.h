/*
 * stacks.h - the origin of a call in the program
 *
 * This part of preload.so allocates nothing except in dl_iterate_phdr and backtrace. The caller
 * must ensure that the calls of these two do not fail.
 */
#ifndef SALTMILL_TEST_STACKS_H
#define SALTMILL_TEST_STACKS_H

#include <stdbool.h>
#include <stdint.h>

enum { DEEP = 32 }; /* frames */

#pragma GCC visibility push(hidden)

/* Returns a number that is the same in all processes of one program. Frames of preload.so do not
 * count. */
uint64_t stack_of(void *const *callers, int n);

/* Sets the libraries without faults, as FAULT_APART lists them. Call this function once, before all
 * others. */
void read_apart(const char *text);
void look_for_program(void);
/* Reads the address ranges again. Call this function after the program opens a library. */
void look_for_libraries(void);
/*
 * Returns true if the call comes from a library without faults, directly or through other
 * libraries. Returns false for a call of the program itself, even in a callback from such a
 * library.
 */
bool comes_from_apart(const void *caller);

#pragma GCC visibility pop

#endif
