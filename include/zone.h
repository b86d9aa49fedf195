/*
 * zone.h - the offsets of one zone's clocks from UTC
 *
 * Read by job/, searched by encoding/ (UTC to local) and field/ (local to UTC).
 */
#ifndef SALTMILL_ZONE_H
#define SALTMILL_ZONE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Offsets in force from a UTC second on, rising.  The first one is the local mean time of before
 * there were zones.  From 2100 on a zone's rule repeats itself every ZONE_CYCLE_S, 400 years of
 * 20,871 weeks: the spans end behind the first round.
 */
#define ZONE_FIRST_S INT64_C(-5364662400) /* 1800-01-01 */
#define ZONE_LAST_S  INT64_C(16756761600) /* 2501-01-01 */
#define ZONE_CYCLE_S INT64_C(12622780800)
struct zone {
	const char *name;
	struct zone_span {
		int64_t from_s; /* UTC second */
		int32_t offset_s;
	} * spans;
	size_t nspans;
};

/* UTC second to local second; NULL: UTC. */
int64_t zone_local(const struct zone *z, int64_t utc_s);
/*
 * Clocks go back: the least local second of all from utc_s on, and the greatest of all up to it.
 */
int64_t zone_local_least(const struct zone *z, int64_t utc_s);
int64_t zone_local_most(const struct zone *z, int64_t utc_s);

#endif
