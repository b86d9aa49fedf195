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

/*
 * --- the one rule by which what a server did not do is asked of it again
 *
 * Waits grow as those of HBase's own clients (HConstants.RETRY_BACKOFF): 100 ms times 1, 2, 3, 5,
 * 10, 20, 40, 100, 100, ...
 */

/* Before the n-th repetition, from 0. */
int64_t backoff_ms(unsigned n);
/*
 * Wait so long; RC_END at once when that would pass `until` (clock_seconds), RC_STOPPED when a
 * signal comes meanwhile.
 */
int backoff_wait(unsigned n, double until, struct error *err);

/*
 * --- the rate of something that is counted, over the last minute ---
 */

#define METER_WINDOW_MS 60000
#define METER_SAMPLE_MS 1000
#define METER_SAMPLES	64 /* more than fit into the window */

struct meter { /* {0} is new */
	struct {
		int64_t ms;
		uint64_t total;
	} at[METER_SAMPLES]; /* the oldest first */
	int count;
};

/*
 * Per second, given the total now.  Where nobody asked for longer than the window, as while a large
 * load is made, since they did last.
 */
static inline double meter_rate(struct meter *m, int64_t now_ms, uint64_t total)
{
	if (m->count && total < m->at[m->count - 1].total)
		total = m->at[m->count - 1].total;
	if (!m->count || now_ms - m->at[m->count - 1].ms >= METER_SAMPLE_MS) {
		int drop = 0;

		while (m->count - drop > 1 && now_ms - m->at[drop + 1].ms >= METER_WINDOW_MS)
			drop++;
		drop += m->count - drop == METER_SAMPLES;
		m->count -= drop;
		for (int i = 0; drop && i < m->count; i++)
			m->at[i] = m->at[i + drop];
		m->at[m->count].ms = now_ms;
		m->at[m->count++].total = total;
	}
	int64_t past = now_ms - m->at[0].ms;
	return past > 0 ? (double)(total - m->at[0].total) * 1000 / (double)past : 0;
}

#endif
