/*
 * clock.h - the only place that asks what time it is
 *
 * For people's eyes, timeouts and a stream's cuts.  What is written into HFiles and manifests never
 * comes from here: the same input gives the same bytes on any day.
 */
#ifndef SALTMILL_CLOCK_H
#define SALTMILL_CLOCK_H

#include <pthread.h>
#include <stdint.h>

#include "error.h"

/* Since some moment; never set back.  Never 0, so that 0 can mean "not yet". */
double clock_seconds(void);
int64_t clock_ms(void);
/* Since 1970, as the machine believes. */
int64_t clock_wall_ms(void);
/* As pthread_cond_wait, for ms at most, however the wall clock is set meanwhile. */
void clock_wait(pthread_cond_t *c, pthread_mutex_t *lock, int64_t ms);
void clock_sleep_ms(int64_t ms);
/*
 * SOURCE_DATE_EPOCH, ms: a time that the user gives in place of the clock; -1: none is set.  What
 * is no number is RC_CONFIG, as reproducible-builds.org/specs/source-date-epoch asks.
 */
int source_date_epoch(int64_t *ms, struct error *err);

#endif
