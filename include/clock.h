/*
 * clock.h - time: clocks, waits, the retry rule and rates
 *
 * This is the only place that reads a clock. Use it for displays, timeouts and the cuts of a
 * stream. HFiles and manifests never contain this time: the same input gives the same bytes on any
 * day.
 */
#ifndef SALTMILL_CLOCK_H
#define SALTMILL_CLOCK_H

#include <pthread.h>
#include <stdint.h>

#include "error.h"

/*
 * Return the time since an arbitrary moment; it never goes back. Never 0, so 0 can mean "not yet".
 */
double clock_seconds(void);
int64_t clock_ms(void);
/* Return milliseconds since 1970 by the system's clock. */
int64_t clock_wall_ms(void);
/* As pthread_cond_wait, for at most ms, even if the wall clock is changed meanwhile. */
void clock_wait(pthread_cond_t *c, pthread_mutex_t *lock, int64_t ms);
void clock_sleep_ms(int64_t ms);
/*
 * Get SOURCE_DATE_EPOCH in ms, a time that the user sets to replace the clock; -1: it is not set.
 * RC_CONFIG: it is not a number (reproducible-builds.org/specs/source-date-epoch).
 */
int source_date_epoch(int64_t *ms, struct error *err);

/*
 * --- backoff: the one rule for repeating a failed request to a server ---
 *
 * Waits grow like those of HBase's own clients (HConstants.RETRY_BACKOFF): 100 ms times 1, 2, 3, 5,
 * 10, 20, 40, 100, 100, ...
 */

/* Return the wait before retry n, counted from 0. */
int64_t backoff_ms(unsigned n);
/*
 * Wait that long. RC_END, at once: the wait would pass `until` (clock_seconds). RC_STOPPED: a
 * signal came.
 */
int backoff_wait(unsigned n, double until, struct error *err);

/* --- meter: the rate of a counter over the last minute --- */

#define METER_WINDOW_MS 60000
#define METER_SAMPLE_MS 1000
#define METER_SAMPLES	64 /* more than fit into the window */

struct meter { /* {0} is new */
	struct {
		int64_t ms;
		uint64_t total;
	} at[METER_SAMPLES]; /* oldest first */
	int count;
};

/*
 * Return the rate per second, given the total now. If nobody called for longer than the window, as
 * while a large load is made, the rate is since the last call.
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
