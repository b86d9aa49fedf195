/*
 * iso8601.c - parse times in the forms of ISO 8601, RFC 3339 and databases
 *
 *   2012-09-01  20120901  2012-245  2012245  2012-W35-6  2012W356
 *   after T or a space: 16  16:00  1600  16:00:05  160005  16:00:05.123 (or ,123)
 *   after an optional space: Z  UTC  GMT  +08  +0800  +08:00
 *
 * 24:00 is the end of a day. The parser refuses a month without a day, a fraction of a minute, and
 * years of more than four digits.
 */
#include "timefmt.h"

#include <strings.h>

struct rest {
	const uint8_t *at, *end;
};

static bool next_is(const struct rest *r, const char *any)
{
	return r->at < r->end && *r->at && strchr(any, *r->at);
}

static bool take(struct rest *r, const char *any)
{
	bool is = next_is(r, any);

	r->at += is;
	return is;
}

static size_t digits_ahead(const struct rest *r)
{
	size_t n = 0;

	while (r->at + n < r->end && r->at[n] >= '0' && r->at[n] <= '9')
		n++;
	return n;
}

/* Take exactly `n` digits, even if more digits follow. */
static bool take_digits(struct rest *r, size_t n, int64_t *out)
{
	if (digits_ahead(r) < n)
		return false;
	*out = 0;
	for (; n > 0; n--)
		*out = *out * 10 + (*r->at++ - '0');
	return true;
}

static bool take_week(struct rest *r, struct wall *w, bool dashes)
{
	return take(r, "Ww") && take_digits(r, 2, &w->week) && w->week > 0 &&
	       (!dashes || take(r, "-")) && take_digits(r, 1, &w->weekday) && w->weekday >= 1 &&
	       w->weekday <= 7;
}

static bool take_date(struct rest *r, struct wall *w)
{
	size_t run = digits_ahead(r);

	if ((run != 4 && run != 7 && run != 8) || !take_digits(r, 4, &w->year))
		return false;
	bool dashes = take(r, "-");
	if (next_is(r, "Ww"))
		return take_week(r, w, dashes);
	size_t left = digits_ahead(r);
	if (left == 3)
		return take_digits(r, 3, &w->day_of_year) && w->day_of_year > 0;
	return left == (dashes ? 2 : 4) && take_digits(r, 2, &w->month) &&
	       (!dashes || take(r, "-")) && digits_ahead(r) == 2 && take_digits(r, 2, &w->day);
}

/* Take a fraction of a second. The function skips digits after the ninth. */
static bool take_fraction(struct rest *r, struct wall *w)
{
	int64_t unit = 100000000;

	if (digits_ahead(r) == 0)
		return false;
	for (; digits_ahead(r) > 0; unit /= 10) {
		w->finer = w->finer || (unit == 0 && *r->at != '0');
		w->nanos += (*r->at++ - '0') * unit;
	}
	return true;
}

static bool take_clock(struct rest *r, struct wall *w)
{
	bool fine = take_digits(r, 2, &w->hour);
	bool colons = next_is(r, ":");

	if (fine && (take(r, ":") || digits_ahead(r) > 0))
		fine = take_digits(r, 2, &w->minute);
	if (fine && (colons ? take(r, ":") : digits_ahead(r) > 0)) {
		fine = take_digits(r, 2, &w->second);
		if (fine && take(r, ".,"))
			fine = take_fraction(r, w);
	}
	bool last = w->hour == 24 && w->minute == 0 && w->second == 0 && w->nanos == 0;
	return fine && (w->hour < 24 || last) && w->minute < 60 && w->second < 60;
}

static bool take_zone(struct rest *r, struct wall *w)
{
	static const char *const names[] = {"UTC", "GMT"};

	take(r, " ");
	for (size_t i = 0; i < 2; i++) {
		if (r->end - r->at == 3 && strncasecmp((const char *)r->at, names[i], 3) == 0) {
			w->has_offset = true;
			r->at += 3;
			return true;
		}
	}
	return take_offset(&r->at, r->end, w);
}

enum time_fault iso_parse(struct bytes text, const struct zone *zone, struct instant *out)
{
	struct rest r = {text.ptr, text.ptr + text.len};
	struct wall w = {0};

	if (!take_date(&r, &w))
		return TIME_NO_MATCH;
	if (take(&r, "Tt ") && !take_clock(&r, &w))
		return TIME_NO_MATCH;
	if (r.at < r.end && (!take_zone(&r, &w) || r.at < r.end))
		return TIME_NO_MATCH;
	return wall_instant(&w, zone, out);
}
