/*
 * timefmt.c - convert the text of a time to milliseconds
 *
 * strptime depends on the process's locale and time zone, and accepts half a match. This parser
 * walks over precompiled tokens and must consume the whole text. A number next to another directive
 * ("%Y%m%d") must have all digits, because 2013123 could be two dates. Other numbers may lack
 * leading zeros.
 */
#include "timefmt.h"

#include <strings.h>

struct token {
	char kind;  /* directive letter; 0 means a literal */
	bool blank; /* a space may replace the first digit */
	uint8_t literal;
	uint8_t digits_min, digits_max;
};

struct time_format {
	bool iso;
	bool has_year;
	struct token *tokens;
	size_t ntokens;
};

struct clock {
	struct wall wall;
	int64_t hour12; /* hour of a 12-hour clock; -1 means not given */
	bool pm;
	bool has_epoch, epoch_minus;
	int64_t epoch_s;
};

static const char *const months[] = {"january",	  "february", "march",	  "april",
				     "may",	  "june",     "july",	  "august",
				     "september", "october",  "november", "december"};
static const char *const weekdays[] = {"monday", "tuesday",  "wednesday", "thursday",
				       "friday", "saturday", "sunday"};
/* The names of UTC. Other names, such as CST, belong to several zones. */
static const char *const utc_names[] = {"UTC", "GMT", "UT", "Z"};

/* Return the directives that a compound directive abbreviates, as in C's strptime. */
static const char *compound(char kind)
{
	switch (kind) {
	case 'F': return "%Y-%m-%d";
	case 'T': return "%H:%M:%S";
	case 'R': return "%H:%M";
	case 'D': return "%m/%d/%y";
	case 'r': return "%I:%M:%S %p";
	default: return NULL;
	}
}

static uint8_t digits_of(char kind)
{
	switch (kind) {
	case 'Y': return 4;
	case 'j': return 3;
	case 'f': return 9;
	case 'm':
	case 'd':
	case 'e':
	case 'H':
	case 'I':
	case 'k':
	case 'l':
	case 'M':
	case 'S':
	case 'y': return 2;
	default: return 0;
	}
}

static void token_set(struct token *tokens, size_t at, char kind)
{
	struct token *t = &tokens[at];
	uint8_t max = digits_of(kind);

	t->kind = kind;
	t->blank = strchr("ekl", kind);
	t->digits_max = max;
	t->digits_min = kind == 'Y' || kind == 'y' ? max : 1;
	if (at == 0 || !max || !t[-1].digits_max)
		return;
	t[-1].digits_min = t[-1].digits_max;
	if (kind != 'f')
		t->digits_min = max;
}

static bool add_tokens(struct time_format *f, const char *format, unsigned *seen)
{
	for (const char *p = format; *p; p++) {
		if (*p != '%' || p[1] == '%') {
			f->tokens[f->ntokens++].literal = (uint8_t)*p;
			p += *p == '%';
			continue;
		}
		char kind = *++p;
		const char *several = compound(kind);
		if (!kind || !strchr(TIME_LETTERS, kind))
			return false;
		f->has_year = f->has_year || strchr("Yys", kind);
		*seen |= strchr("Il", kind) ? 1u : kind == 'p' ? 2u : 0;
		if (several)
			add_tokens(f, several, seen);
		else
			token_set(f->tokens, f->ntokens++, kind);
	}
	return true;
}

int time_format_new(struct time_format **out, struct arena *arena, const char *format,
		    struct error *err)
{
	struct time_format *f = arena_alloc(arena, sizeof *f);
	unsigned seen = 0;

	*out = f;
	f->iso = strcmp(format, TIME_ISO8601) == 0;
	f->has_year = f->iso;
	/* a compound directive of 2 letters has at most 8 tokens */
	f->tokens = arena_alloc(arena, (4 * strlen(format) + 1) * sizeof *f->tokens);
	if (f->iso)
		return RC_OK;
	if (!add_tokens(f, format, &seen))
		return error_set(
			err, RC_CONFIG,
			"time format `%s`: found an unknown directive, expected iso8601 or %% and "
			"one of %s",
			format, TIME_LETTERS);
	if (seen == 1 || seen == 2)
		return error_set(err, RC_CONFIG,
				 "time format `%s`: found %s, expected both or none", format,
				 seen == 1 ? "%I without %p" : "%p without %I");
	return RC_OK;
}

static bool take_number(const struct token *t, const uint8_t **p, const uint8_t *end, int64_t *out)
{
	const uint8_t *at = *p;
	int64_t v = 0;

	if (t->blank && at < end && *at == ' ')
		at++;
	const uint8_t *first = at;
	long most = t->digits_max - (at - *p);
	const uint8_t *stop = end - at > most ? at + most : end;
	for (; at < stop && *at >= '0' && *at <= '9'; at++)
		v = v * 10 + (*at - '0');
	if (at - *p < t->digits_min || at == first)
		return false;
	if (t->kind == 'f')
		for (long n = at - first; n < 9; n++)
			v *= 10;
	*p = at;
	*out = v;
	return true;
}

/*
 * Take a full name or its first three letters. Set `*out` to the name's position, counted from 1.
 */
static bool take_name(const char *const *names, int64_t n, const uint8_t **p, const uint8_t *end,
		      int64_t *out)
{
	size_t left = (size_t)(end - *p);

	for (int64_t i = 0; i < n; i++) {
		size_t full = strlen(names[i]);
		const char *text = (const char *)*p;

		if (left < 3 || strncasecmp(text, names[i], 3) != 0)
			continue;
		*p += left >= full && strncasecmp(text, names[i], full) == 0 ? full : 3;
		*out = i + 1;
		return true;
	}
	return false;
}

static bool take_utc_name(const uint8_t **p, const uint8_t *end, struct wall *w)
{
	size_t left = (size_t)(end - *p);

	w->has_offset = true;
	for (size_t i = 0; i < sizeof utc_names / sizeof *utc_names; i++) {
		size_t len = strlen(utc_names[i]);

		if (left >= len && strncasecmp((const char *)*p, utc_names[i], len) == 0) {
			*p += len;
			return true;
		}
	}
	return false;
}

static bool take_half(const uint8_t **p, const uint8_t *end, bool *pm)
{
	if (end - *p < 2 || ((*p)[1] | 0x20) != 'm')
		return false;
	int c = (*p)[0] | 0x20;
	*pm = c == 'p';
	*p += 2;
	return c == 'a' || c == 'p';
}

static bool take_two(const uint8_t **p, const uint8_t *end, int64_t *out)
{
	static const struct token two = {.kind = 'H', .digits_min = 2, .digits_max = 2};

	return take_number(&two, p, end, out);
}

bool take_offset(const uint8_t **p, const uint8_t *end, struct wall *w)
{
	int64_t h, m = 0;

	w->has_offset = true;
	if (*p == end)
		return false;
	uint8_t sign = *(*p)++;
	if (sign == 'Z' || sign == 'z')
		return true;
	if ((sign != '+' && sign != '-') || !take_two(p, end, &h))
		return false;
	bool colon = *p < end && **p == ':';
	*p += colon;
	if (!take_two(p, end, &m) && colon)
		return false;
	w->offset_s = (h * 60 + m) * (sign == '-' ? -60 : 60);
	return h < 24 && m < 60;
}

/* Take seconds since 1970, at most 15 digits, so that the milliseconds do not overflow. */
static bool take_epoch(const uint8_t **p, const uint8_t *end, struct clock *c)
{
	static const struct token all = {.kind = 's', .digits_min = 1, .digits_max = 15};

	c->epoch_minus = *p < end && **p == '-';
	*p += c->epoch_minus;
	c->has_epoch = true;
	return take_number(&all, p, end, &c->epoch_s);
}

/*
 * Convert seconds with a fraction. A minus also applies to the fraction, so -1.5 is 1.5 s before
 * 1970.
 */
static struct instant epoch_instant(const struct clock *c)
{
	int64_t s = c->epoch_minus ? -c->epoch_s : c->epoch_s;
	int64_t micros = floor_div(c->epoch_minus ? -c->wall.nanos : c->wall.nanos, 1000);
	int64_t ms = floor_div(micros, 1000);

	return (struct instant){s * 1000 + ms, (uint32_t)(micros - 1000 * ms),
				c->wall.finer || c->wall.nanos % 1000};
}

static bool take_token(const struct token *t, const uint8_t **p, const uint8_t *end,
		       struct clock *c)
{
	struct wall *w = &c->wall;
	int64_t v;

	switch (t->kind) {
	case 'b':
	case 'B':
	case 'h': return take_name(months, 12, p, end, &w->month);
	case 'a':
	case 'A': return take_name(weekdays, 7, p, end, &w->weekday);
	case 'p': return take_half(p, end, &c->pm);
	case 'z': return take_offset(p, end, w);
	case 'Z': return take_utc_name(p, end, w);
	case 's': return take_epoch(p, end, c);
	case 'Y': return take_number(t, p, end, &w->year);
	case 'm': return take_number(t, p, end, &w->month);
	case 'd':
	case 'e': return take_number(t, p, end, &w->day);
	case 'H':
	case 'k': return take_number(t, p, end, &w->hour) && w->hour < 24;
	case 'M': return take_number(t, p, end, &w->minute) && w->minute < 60;
	case 'S': return take_number(t, p, end, &w->second) && w->second < 60;
	case 'f': return take_number(t, p, end, &w->nanos);
	case 'I':
	case 'l': return take_number(t, p, end, &c->hour12) && c->hour12 >= 1 && c->hour12 <= 12;
	case 'y':
		if (!take_number(t, p, end, &v))
			return false;
		w->year = v < 69 ? 2000 + v : 1900 + v; /* as POSIX strptime */
		return true;
	case 'j': /* 0 means "not given" in w, so reject 000 in the text */
		return take_number(t, p, end, &w->day_of_year) && w->day_of_year > 0;
	default: return *p < end && *(*p)++ == t->literal;
	}
}

static int64_t year_at(int64_t day)
{
	/* 400 years have 146097 days; this year may differ by one from the right one */
	int64_t year = 1970 + floor_div(day * 400, 146097);

	year += days_from_civil(year + 1, 1, 1) <= day;
	return year - (days_from_civil(year, 1, 1) > day);
}

/*
 * Choose the year that puts the date nearest to the day. Candidates are the day's year and the
 * years before and after. If two years are equally near, choose the earlier one. Returns false if
 * no candidate has the date.
 */
static bool nearest_year(struct wall *w, int64_t near_day)
{
	struct wall at = *w;
	int64_t days, best = INT64_MAX, year = year_at(near_day);

	at.weekday = 0;
	for (at.year = year - 1; at.year <= year + 1; at.year++) {
		if (wall_days(&at, &days))
			continue;
		int64_t away = days > near_day ? days - near_day : near_day - days;
		if (away >= best)
			continue;
		best = away;
		w->year = at.year;
	}
	return best != INT64_MAX;
}

static enum time_fault find_year(struct wall *w, struct year_of year)
{
	switch (year.rule) {
	case YEAR_WRITTEN: return TIME_FINE;
	case YEAR_GIVEN: w->year = year.number; return TIME_FINE;
	case YEAR_NEAR: return nearest_year(w, year.number) ? TIME_FINE : TIME_NO_DATE;
	case YEAR_OF_FILE: break;
	}
	return TIME_NO_YEAR;
}

static bool take_tokens(const struct time_format *f, struct bytes text, struct clock *c)
{
	const uint8_t *p = text.ptr, *end = p + text.len;

	for (size_t i = 0; i < f->ntokens; i++)
		if (!take_token(&f->tokens[i], &p, end, c))
			return false;
	return p == end;
}

enum time_fault time_parse(const struct time_format *f, const struct zone *zone,
			   struct year_of year, struct bytes text, struct instant *out)
{
	struct clock c = {.wall = {.year = 1970, .month = 1, .day = 1}, .hour12 = -1};

	if (f->iso)
		return iso_parse(text, zone, out);
	if (!take_tokens(f, text, &c))
		return TIME_NO_MATCH;
	if (c.has_epoch) {
		*out = epoch_instant(&c);
		return TIME_FINE;
	}
	if (c.hour12 >= 0)
		c.wall.hour = c.hour12 % 12 + (c.pm ? 12 : 0);
	enum time_fault fault = f->has_year ? TIME_FINE : find_year(&c.wall, year);
	return fault ? fault : wall_instant(&c.wall, zone, out);
}

/* --- decimal numbers of units --- */

/* The digits of a number, before and after its point. */
struct decimal {
	bool minus;
	const uint8_t *whole, *fraction;
	size_t nwhole, nfraction;
	int64_t exponent;
};

static size_t count_digits(const uint8_t *p, const uint8_t *end)
{
	size_t n = 0;

	while (p + n < end && p[n] >= '0' && p[n] <= '9')
		n++;
	return n;
}

/*
 * Take "[+-]digits" after the e. The function ignores digits after the fourth, because a longer
 * exponent exceeds any time.
 */
static bool take_exponent(const uint8_t **p, const uint8_t *end, int64_t *out)
{
	bool minus = *p < end && **p == '-';

	*p += *p < end && (**p == '-' || **p == '+');
	size_t n = count_digits(*p, end);
	for (size_t i = 0; i < n; i++)
		if (*out < 1000)
			*out = *out * 10 + ((*p)[i] - '0');
	*p += n;
	*out = minus ? -*out : *out;
	return n > 0;
}

static bool take_decimal(struct bytes text, struct decimal *d)
{
	const uint8_t *p = text.ptr, *end = p + text.len;

	*d = (struct decimal){.minus = text.len && *p == '-'};
	p += d->minus;
	d->whole = p;
	d->nwhole = count_digits(p, end);
	p += d->nwhole;
	if (p < end && *p == '.') {
		d->fraction = ++p;
		d->nfraction = count_digits(p, end);
		p += d->nfraction;
		if (!d->nfraction)
			return false;
	}
	if (p < end && (*p | 0x20) == 'e') {
		p++;
		if (!take_exponent(&p, end, &d->exponent))
			return false;
	}
	return d->nwhole && p == end;
}

/* Return digit `i` of the digits before and after the point, or 0 after the last digit. */
static uint8_t nth_digit(const struct decimal *d, int64_t i)
{
	size_t at = (size_t)i;

	if (i < 0 || at >= d->nwhole + d->nfraction)
		return 0;
	return (at < d->nwhole ? d->whole[at] : d->fraction[at - d->nwhole]) - '0';
}

/* Return the first three digits after `point`. Set `*rest` to true if a later digit is not 0. */
static uint32_t three_digits(const struct decimal *d, int64_t point, bool *rest)
{
	uint32_t v = 0;

	for (int64_t i = point; i < point + 3; i++)
		v = v * 10 + nth_digit(d, i);
	for (int64_t i = point + 3 > 0 ? point + 3 : 0; i < (int64_t)(d->nwhole + d->nfraction);
	     i++)
		*rest = *rest || nth_digit(d, i);
	return v;
}

enum number_fault time_of_decimal(enum time_unit unit, struct bytes text, struct instant *out)
{
	struct decimal d;

	if (!take_decimal(text, &d))
		return NUMBER_BAD;
	int64_t shift = unit == TIME_S ? 3 : unit == TIME_US ? -3 : unit == TIME_NS ? -6 : 0;
	/* the first `point` digits, padded with zeros, give the whole milliseconds */
	int64_t point = (int64_t)d.nwhole + d.exponent + shift;
	uint64_t v = 0;
	bool rest = false;
	for (int64_t i = 0; i < point && (v || i < (int64_t)(d.nwhole + d.nfraction)); i++)
		if (__builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, nth_digit(&d, i), &v))
			return NUMBER_LARGE;
	uint32_t micros = three_digits(&d, point, &rest);
	if (d.minus) { /* round down */
		micros += rest;
		v += micros > 0;
		micros = micros % 1000 ? 1000 - micros : 0;
	}
	if (v > INT64_MAX)
		return NUMBER_LARGE;
	*out = (struct instant){d.minus ? -(int64_t)v : (int64_t)v, micros, rest};
	return NUMBER_FINE;
}
