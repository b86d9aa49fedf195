/*
 * file_day.c - find the date in a file's path, such as syslog-20260103, logs/dt=2026-01-03/part-0
 */
#include "field.h"

#include "calendar.h"

static size_t digits_at(const char *p)
{
	size_t n = 0;

	while (p[n] >= '0' && p[n] <= '9')
		n++;
	return n;
}

static int64_t number_of(const char *p, size_t n)
{
	int64_t v = 0;

	for (; n > 0; n--)
		v = v * 10 + (*p++ - '0');
	return v;
}

static bool is_day(const char *year, const char *month, const char *day, int64_t *days)
{
	struct wall w = {.year = number_of(year, 4),
			 .month = number_of(month, 2),
			 .day = number_of(day, 2)};

	return w.year >= 1900 && w.year < 2200 && wall_days(&w, days) == TIME_FINE;
}

/* Read a date that begins at `p`. A time of day may follow eight digits directly. */
static bool day_at(const char *p, int64_t *days)
{
	size_t n = digits_at(p);

	if (n == 8 || n == 10 || n == 12 || n == 14)
		return is_day(p, p + 4, p + 6, days);
	if (n != 4 || !p[4] || !strchr("-_.", p[4]) || digits_at(p + 5) != 2 || p[7] != p[4])
		return false;
	return digits_at(p + 8) == 2 && is_day(p, p + 5, p + 8, days);
}

bool field_day_of(const char *path, int64_t *days)
{
	bool found = false;

	for (const char *p = path; *p;) {
		size_t n = digits_at(p);
		int64_t here;

		if (n > 0 && day_at(p, &here)) {
			*days = here;
			found = true;
		}
		p += n ? n : 1;
	}
	return found;
}
