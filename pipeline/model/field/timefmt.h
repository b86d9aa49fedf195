/*
 * timefmt.h - time text to milliseconds since 1970 UTC (inside pipeline/model/field only)
 */
#ifndef SALTMILL_TIMEFMT_H
#define SALTMILL_TIMEFMT_H

#include "calendar.h"
#include "field.h"
#include "job.h"

struct time_format;

/* In the arena.  RC_CONFIG for a directive that is not known or a %I without %p. */
int time_format_new(struct time_format **out, struct arena *arena, const char *format,
		    struct error *err);
bool time_format_has_year(const struct time_format *f);

/* Of texts that say no year: number is the year, or the day since 1970 to which it is nearest. */
struct year_of {
	enum year_rule rule;
	int64_t number;
};
/* zone: for texts without an offset of their own; NULL: UTC. */
enum time_fault time_parse(const struct time_format *f, const struct zone *zone,
			   struct year_of year, struct bytes text, struct instant *out);

/* Z, +HH, +HHMM or +HH:MM. */
bool take_offset(const uint8_t **p, const uint8_t *end, struct wall *w);

/* iso8601.c: any of the usual forms of ISO 8601, RFC 3339, and what databases print for them. */
enum time_fault iso_parse(struct bytes text, const struct zone *zone, struct instant *out);

/*
 * A decimal number of units since 1970 as JSON writes numbers (5.0, -1.5, 1.476640644E12), exactly;
 * what is finer than a microsecond is cut off, towards the past.
 */
enum number_fault time_of_decimal(enum time_unit unit, struct bytes text, struct instant *out);

#endif
