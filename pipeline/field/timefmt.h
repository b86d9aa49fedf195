/*
 * timefmt.h - time text to milliseconds since 1970 UTC (inside pipeline/field only)
 */
#ifndef SALTMILL_TIMEFMT_H
#define SALTMILL_TIMEFMT_H

#include "digits.h"
#include "job.h"

struct time_format;

/* In the arena.  RC_CONFIG for a directive that is not known or a %I without %p. */
int time_format_new(struct time_format **out, struct arena *arena, const char *format,
		    struct error *err);

enum time_fault { TIME_FINE, TIME_NO_MATCH, TIME_NO_DATE, TIME_GAP };

/* zone: for texts without an offset of their own; NULL: UTC. */
enum time_fault time_parse(const struct time_format *f, const struct zone *zone, struct bytes text,
			   int64_t *ms);

/* v / by, rounded down. */
static inline int64_t floor_div(int64_t v, int64_t by)
{
	return v / by - (v % by < 0);
}

/*
 * A decimal number of units since 1970 as JSON writes numbers (5.0, -1.5, 1.476640644E12), exactly;
 * what is finer than a millisecond is cut off, towards the past.
 */
enum number_fault time_of_decimal(enum time_unit unit, struct bytes text, int64_t *ms);

#endif
