/* threads.h - the slots (threads.c), for what replaces pthread (pthreads.c) */
#ifndef SALTMILL_SIM_THREADS_H
#define SALTMILL_SIM_THREADS_H

#include "sim.h"

int sim_new_slot(int proc);
/* Run another slot, and forget this one. */
_Noreturn void sim_hand_over(int to);
/* Choose who runs next. If everybody waits, the time passes at once. */
int sim_choose(void);

#endif
