/*
 * timefmt.h - time text to milliseconds since 1970 UTC (inside pipeline/model/field only)
 */
#ifndef SALTMILL_TIMEFMT_H
#define SALTMILL_TIMEFMT_H

#include "calendar.h"
#include "digits.h"
#include "field.h"
#include "job.h"

struct time_format;

/* Compile a format into the arena. RC_CONFIG: unknown directive, or %I without %p. */
int time_format_new(struct time_format **out, struct arena *arena, const char *format,
		    struct error *err);

/*
 * For texts without a year: number is the year, or the day since 1970 that the date is nearest to.
 */
struct year_of {
	enum year_rule rule;
	int64_t number;
};
/* zone: for texts without an offset; NULL: UTC. */
enum time_fault time_parse(const struct time_format *f, const struct zone *zone,
			   struct year_of year, struct bytes text, struct instant *out);

/* Take Z, +HH, +HHMM or +HH:MM. */
bool take_offset(const uint8_t **p, const uint8_t *end, struct wall *w);

/* iso8601.c: accepts the usual forms of ISO 8601 and RFC 3339, and the output of databases. */
enum time_fault iso_parse(struct bytes text, const struct zone *zone, struct instant *out);

/*
 * Convert a decimal number of units since 1970, as JSON writes numbers (5.0, -1.5, 1.476640644E12).
 * Exact, but cuts off what is finer than a microsecond, towards the past.
 */
enum number_fault time_of_decimal(enum time_unit unit, struct bytes text, struct instant *out);

#endif
