/* fibers.h - threads of the history as fibers of one thread of the system (fibers.c, heap.c) */
#ifndef SALTMILL_SIM_FIBERS_H
#define SALTMILL_SIM_FIBERS_H

#include "sim.h"

/* Find the program's variables. Call this before the first fiber runs. */
void fibers_setup(void);
/* Give a process the variables that the program has at its start. */
void fibers_new_process(int proc);
/* The next switch to this slot calls run(arg), which must not return. */
void fibers_set(int slot, void (*run)(void *arg), void *arg);
/* Run the fiber of a slot; returns when another fiber switches back to this one. */
void fibers_switch(int to);
/* Run the fiber of a slot, and forget this one. */
_Noreturn void fibers_leave(int to);

/*
 * Allocate from the heap of this process from now on. NOBODY (-1) means the heap of the director.
 */
void heap_use(int proc);
/* Free all memory of a process. */
void heap_reset(int proc);
/* Return the most bytes that a process had allocated at one time. */
size_t heap_peak(int proc);

#endif
