/* history.h - one history of programs and faults, and the invariants at its end */
#ifndef SALTMILL_SIM_HISTORY_H
#define SALTMILL_SIM_HISTORY_H

#include "sim.h"

enum { MOST_ROWS = 300 };

/* Run plan, map, reduce and unite. The function draws the odds of faults at random. */
void history_halves(void);
/* Return a random number of steps. Small numbers are as frequent as large numbers. */
uint64_t history_some_steps(void);
/* Return false if an invariant does not hold. W->violation names the invariant. */
bool history_run(uint64_t seed, bool loud);

#endif
