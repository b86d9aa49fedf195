/* threads.h - the slots (threads.c), for the replacement of pthread (pthreads.c) */
#ifndef SALTMILL_SIM_THREADS_H
#define SALTMILL_SIM_THREADS_H

#include "sim.h"

int sim_new_slot(int proc);
/* Run another slot, and forget this one. */
_Noreturn void sim_hand_over(int to);
/* Choose who runs next. If all threads wait, the clock moves to the next event. */
int sim_choose(void);

#endif
