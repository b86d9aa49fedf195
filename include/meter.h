/*
 * meter.h - the rate of something that is counted, over the last minute
 */
#ifndef SALTMILL_METER_H
#define SALTMILL_METER_H

#include <stdint.h>

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
