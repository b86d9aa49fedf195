/*
 * calendar.h - local date and time from a text, and its instant (inside pipeline/model/field only)
 */
#ifndef SALTMILL_CALENDAR_H
#define SALTMILL_CALENDAR_H

#include "job.h"

enum time_fault {
	TIME_FINE,
	TIME_NO_MATCH, /* the text does not match the format */
	TIME_NO_DATE,  /* the calendar does not have this day */
	TIME_WEEKDAY,  /* the weekday does not match the date */
	TIME_NO_YEAR,  /* the year is unknown */
	TIME_GAP       /* the local clock jumped over this time */
};

/* Milliseconds since 1970 UTC, rounded down, and the microseconds after them (0..999). */
struct instant {
	int64_t ms;
	uint32_t micros;
	bool finer; /* the text has a digit after the microseconds that is not 0 */
};

struct wall {
	int64_t year, month, day;
	int64_t day_of_year; /* instead of month and day; 0 means not given */
	int64_t week,
		/* week and weekday of ISO 8601; 0 means not given; weekday is 1..7 from Monday */
		weekday;
	int64_t hour, minute, second, nanos; /* hour 24 is the end of the day */
	bool finer; /* the text has a digit after the nanoseconds that is not 0 */
	bool has_offset;
	int64_t offset_s; /* seconds east of UTC */
};

/* Return the days since 1970-01-01. */
int64_t days_from_civil(int64_t y, int64_t m, int64_t d);
/*
 * Compute the days since 1970-01-01 from week, day_of_year, or month and day. If the wall has
 * several of these, the first one counts.
 */
enum time_fault wall_days(const struct wall *w, int64_t *days);
/*
 * Convert a local time to an instant. `zone` applies if the wall has no offset. A NULL `zone` means
 * UTC.
 */
enum time_fault wall_instant(const struct wall *w, const struct zone *zone, struct instant *out);

/* Return `v` / `by`, rounded down. */
static inline int64_t floor_div(int64_t v, int64_t by)
{
	return v / by - (v % by < 0);
}

#endif
