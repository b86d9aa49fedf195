/* calendar.c - days of the Gregorian calendar (also before 1582) and local time in a zone */
#include "calendar.h"

#define YEAR_S (INT64_C(365) * 86400)

static bool leap(int64_t y)
{
	return y % 4 == 0 && (y % 100 != 0 || y % 400 == 0);
}

/*
 * Return the days since 1970-01-01. The computation begins years in March, so that the leap day is
 * the last day.
 */
int64_t days_from_civil(int64_t y, int64_t m, int64_t d)
{
	y -= m <= 2;
	int64_t era = floor_div(y, 400), of_era = y - era * 400;
	int64_t of_year = (153 * (m > 2 ? m - 3 : m + 9) + 2) / 5 + d - 1;
	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* Return the weekday, 1..7 from Monday. 1970-01-01 was a Thursday. */
static int64_t weekday_of(int64_t days)
{
	return days + 3 - floor_div(days + 3, 7) * 7 + 1;
}

/*
 * Compute the day of a week date. Week 1 contains 4 January, and the last week contains 28
 * December.
 */
static bool week_days(const struct wall *w, int64_t *days)
{
	int64_t fourth = days_from_civil(w->year, 1, 4), last = days_from_civil(w->year, 12, 28);
	int64_t monday = fourth - weekday_of(fourth) + 1;

	*days = monday + (w->week - 1) * 7 + w->weekday - 1;
	return w->week >= 1 && *days - w->weekday + 1 <= last;
}

static bool month_days(const struct wall *w, int64_t *days)
{
	static const uint8_t length[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

	if (w->month < 1 || w->month > 12 || w->day < 1 ||
	    w->day > length[w->month - 1] + (w->month == 2 && leap(w->year)))
		return false;
	*days = days_from_civil(w->year, w->month, w->day);
	return true;
}

enum time_fault wall_days(const struct wall *w, int64_t *days)
{
	if (w->week)
		return week_days(w, days) ? TIME_FINE : TIME_NO_DATE;
	if (w->day_of_year) {
		*days = days_from_civil(w->year, 1, 1) + w->day_of_year - 1;
		if (w->day_of_year > 365 + leap(w->year))
			return TIME_NO_DATE;
	} else if (!month_days(w, days)) {
		return TIME_NO_DATE;
	}
	return w->weekday && w->weekday != weekday_of(*days) ? TIME_WEEKDAY : TIME_FINE;
}

/* Find the first span that may contain the local second `local_s`, for any offset. */
static size_t zone_first(const struct zone *z, int64_t local_s)
{
	size_t lo = 0, hi = z->nspans;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (z->spans[mid].from_s <= local_s - 2 * 86400)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? lo - 1 : 0;
}

/*
 * Convert a local second to UTC. The spans are disjoint ranges of UTC in rising order. If two
 * instants have the local time, the first matching span gives the earlier one. Returns false if the
 * clock jumped over the local time.
 */
static bool zone_to_utc(const struct zone *z, int64_t local_s, int64_t *utc_s)
{
	if (!z || !z->nspans) {
		*utc_s = local_s;
		return true;
	}
	int64_t ahead = local_s - (ZONE_LAST_S - YEAR_S);
	int64_t rounds = ahead < 0 ? 0 : ahead / ZONE_CYCLE_S + 1;
	local_s -= rounds * ZONE_CYCLE_S;
	for (size_t i = zone_first(z, local_s); i < z->nspans; i++) {
		int64_t utc = local_s - z->spans[i].offset_s;
		bool begun = i == 0 || utc >= z->spans[i].from_s;

		if (begun && (i + 1 == z->nspans || utc < z->spans[i + 1].from_s)) {
			*utc_s = utc + rounds * ZONE_CYCLE_S;
			return true;
		}
	}
	return false;
}

enum time_fault wall_instant(const struct wall *w, const struct zone *zone, struct instant *out)
{
	int64_t days, utc_s;
	enum time_fault fault = wall_days(w, &days);

	if (fault)
		return fault;
	int64_t local_s = days * 86400 + w->hour * 3600 + w->minute * 60 + w->second;
	if (w->has_offset)
		utc_s = local_s - w->offset_s;
	else if (!zone_to_utc(zone, local_s, &utc_s))
		return TIME_GAP;
	*out = (struct instant){utc_s * 1000 + w->nanos / 1000000,
				(uint32_t)(w->nanos / 1000 % 1000), w->finer || w->nanos % 1000};
	return TIME_FINE;
}
