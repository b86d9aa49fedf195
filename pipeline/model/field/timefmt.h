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

/*
 * Compile a format into the arena. Returns RC_CONFIG if a directive is unknown, or if %I is without
 * %p.
 */
int time_format_new(struct time_format **out, struct arena *arena, const char *format,
		    struct error *err);

/*
 * The year of texts without a year. `number` is that year, or a day since 1970 for a rule that
 * chooses the nearest date.
 */
struct year_of {
	enum year_rule rule;
	int64_t number;
};
/* Parse a time. `zone` applies to texts without an offset. A NULL `zone` means UTC. */
enum time_fault time_parse(const struct time_format *f, const struct zone *zone,
			   struct year_of year, struct bytes text, struct instant *out);

/* Take Z, +HH, +HHMM or +HH:MM. */
bool take_offset(const uint8_t **p, const uint8_t *end, struct wall *w);

/* Parse the usual forms of ISO 8601 and RFC 3339, and the output of databases (iso8601.c). */
enum time_fault iso_parse(struct bytes text, const struct zone *zone, struct instant *out);

/*
 * Convert a decimal number of units since 1970, in the form of JSON (5.0, -1.5, 1.476640644E12).
 * Round down to whole microseconds. The computation has no other rounding error.
 */
enum number_fault time_of_decimal(enum time_unit unit, struct bytes text, struct instant *out);

#endif
