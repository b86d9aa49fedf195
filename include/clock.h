/*
 * clock.h - time: clocks, waits, the retry rule, the throttle and rates
 *
 * Only this code reads a clock. Use the clock for displays, timeouts and the cuts of a stream.
 * HFiles and manifests never contain this time, so the same input gives the same bytes on any day.
 */
#ifndef SALTMILL_CLOCK_H
#define SALTMILL_CLOCK_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

/*
 * Return seconds since an arbitrary moment. The time never goes back. The result is never 0, so
 * that callers can use 0 for "not yet".
 */
double clock_seconds(void);
/* Return the seconds of the processor that the calling thread has used. */
double clock_thread_seconds(void);
int64_t clock_ms(void);
/* Return milliseconds since 1970 by the system's clock. */
int64_t clock_wall_ms(void);
/*
 * Wait as pthread_cond_wait does, but for at most `ms` milliseconds. A change of the wall clock has
 * no effect on the wait.
 */
void clock_wait(pthread_cond_t *c, pthread_mutex_t *lock, int64_t ms);
void clock_sleep_ms(int64_t ms);
/* Return the minutes since midnight in the time zone of this machine, 0..1439. */
unsigned clock_local_minute(void);
/*
 * Get the environment variable SOURCE_DATE_EPOCH, in milliseconds. A user sets this variable to
 * replace the clock (reproducible-builds.org/specs/source-date-epoch). *ms is -1 without the
 * variable. Returns RC_CONFIG if its value is not a number.
 */
int source_date_epoch(int64_t *ms, struct error *err);

/*
 * --- backoff: the waits between retries of a failed request to a server ---
 *
 * Waits grow like those of HBase's own clients (HConstants.RETRY_BACKOFF): 100 ms times 1, 2, 3, 5,
 * 10, 20, 40, 100, 100, ...
 */

/* Return the milliseconds to wait before retry `n`, counted from 0. */
int64_t backoff_ms(unsigned n);
/*
 * Wait for backoff_ms(n). Returns RC_END at once if the wait would end after `until`
 * (clock_seconds). Returns RC_STOPPED if a signal came.
 */
int backoff_wait(unsigned n, double until, struct error *err);

/* --- throttle: at most `rate` bytes a second, for all threads together --- */

struct throttle {
	uint64_t rate; /* bytes a second; 0 means no limit */
	pthread_mutex_t lock;
	double free_s; /* the time of clock_seconds from which a thread may send the next bytes */
};
void throttle_init(struct throttle *t, uint64_t rate);
void throttle_release(struct throttle *t);
/*
 * Wait until the caller may send `bytes` more bytes. A pause saves up no bytes for later. Returns
 * RC_STOPPED if a signal came.
 */
int throttle_wait(struct throttle *t, size_t bytes, struct error *err);

/* --- meter: the rate of a counter over the last minute --- */

#define METER_WINDOW_MS 60000
#define METER_SAMPLE_MS 1000
#define METER_SAMPLES	64 /* enough for the window of one minute */

struct meter { /* {0} is new */
	struct {
		int64_t ms;
		uint64_t total;
	} at[METER_SAMPLES]; /* oldest first */
	int count;
};

/*
 * Return the rate per second. `total` is the counter's value at `now_ms`. If the last call is older
 * than the window, as during a large load, the rate covers the time since that call.
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
