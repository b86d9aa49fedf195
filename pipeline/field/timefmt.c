/*
 * timefmt.c - time text to milliseconds
 *
 * strptime depends on the process's locale and time zone and takes half a match; this parser is
 * a walk over precompiled tokens that must consume the whole text.  A number that touches
 * another directive ("%Y%m%d") must have all its digits, since otherwise 2013123 would be two
 * dates at once; elsewhere a leading zero may be missing.
 */
#include "timefmt.h"

#include <strings.h>

#define YEAR_S (INT64_C(365) * 86400)

struct token {
	char kind; /* directive letter; 0: a literal */
	uint8_t literal;
	uint8_t digits_min, digits_max;
};

struct time_format {
	struct token *tokens;
	size_t ntokens;
};

struct clock {
	int64_t year, month, day, day_of_year; /* day_of_year 0: not given */
	int64_t hour, minute, second, nanos;
	int64_t hour12; /* -1: not given */
	bool pm;
	bool has_epoch, epoch_minus, has_offset;
	int64_t epoch_s, offset_s;
};

static const char *const months[] = {"january",	  "february", "march",	  "april",
				     "may",	  "june",     "july",	  "august",
				     "september", "october",  "november", "december"};

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
	t->digits_max = max;
	t->digits_min = kind == 'Y' || kind == 'y' ? max : 1;
	if (at == 0 || !max || !t[-1].digits_max)
		return;
	t[-1].digits_min = t[-1].digits_max;
	if (kind != 'f')
		t->digits_min = max;
}

int time_format_new(struct time_format **out, struct arena *arena, const char *format,
		    struct error *err)
{
	struct time_format *f = arena_alloc(arena, sizeof(*f));
	bool h12 = false, half = false;
	f->tokens = arena_alloc(arena, (strlen(format) + 1) * sizeof(*f->tokens));
	for (const char *p = format; *p; p++) {
		f->ntokens++;
		if (*p != '%' || p[1] == '%') {
			f->tokens[f->ntokens - 1].literal = (uint8_t)*p;
			p += *p == '%';
			continue;
		}
		if (!p[1] || !strchr("YmdHMSfzbByjepIs", p[1]))
			return error_set(err, RC_CONFIG,
					 "time format `%s` has `%%%.1s`, expected one of "
					 "%%Y %%m %%d %%H %%M %%S %%f %%z %%b %%B %%y %%j %%e %%p "
					 "%%I %%s %%%%",
					 format, p + 1);
		token_set(f->tokens, f->ntokens - 1, p[1]);
		h12 = h12 || p[1] == 'I';
		half = half || p[1] == 'p';
		p++;
	}
	if (h12 != half)
		return error_set(err, RC_CONFIG, "time format `%s` has %s, expected both or none",
				 format, h12 ? "%I without %p" : "%p without %I");
	*out = f;
	return 0;
}

static bool take_number(const struct token *t, const uint8_t **p, const uint8_t *end, int64_t *out)
{
	const uint8_t *at = *p;
	int64_t v = 0;
	if (t->kind == 'e' && at < end && *at == ' ')
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

static bool take_month(const uint8_t **p, const uint8_t *end, int64_t *out)
{
	size_t left = (size_t)(end - *p);
	for (int64_t m = 0; m < 12; m++) {
		size_t full = strlen(months[m]);
		const char *text = (const char *)*p;
		if (left < 3 || strncasecmp(text, months[m], 3) != 0)
			continue;
		*p += left >= full && strncasecmp(text, months[m], full) == 0 ? full : 3;
		*out = m + 1;
		return true;
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

/* Z, +HH, +HHMM or +HH:MM. */
static bool take_offset(const uint8_t **p, const uint8_t *end, struct clock *c)
{
	static const struct token two = {.kind = 'H', .digits_min = 2, .digits_max = 2};
	int64_t h, m = 0;
	c->has_offset = true;
	if (*p == end)
		return false;
	uint8_t sign = *(*p)++;
	if (sign == 'Z' || sign == 'z')
		return true;
	if ((sign != '+' && sign != '-') || !take_number(&two, p, end, &h))
		return false;
	bool colon = *p < end && **p == ':';
	*p += colon;
	if (!take_number(&two, p, end, &m) && colon)
		return false;
	c->offset_s = (h * 60 + m) * (sign == '-' ? -60 : 60);
	return h < 24 && m < 60;
}

/* Seconds since 1970, at most 15 digits: no overflow in ms. */
static bool take_epoch(const uint8_t **p, const uint8_t *end, struct clock *c)
{
	static const struct token all = {.kind = 's', .digits_min = 1, .digits_max = 15};
	c->epoch_minus = *p < end && **p == '-';
	*p += c->epoch_minus;
	c->has_epoch = true;
	return take_number(&all, p, end, &c->epoch_s);
}

/* The fraction belongs to the magnitude: -1.5 is 1.5 s before 1970. */
static int64_t epoch_ms(const struct clock *c)
{
	if (c->epoch_minus)
		return -(c->epoch_s * 1000) + floor_div(-c->nanos, 1000000);
	return c->epoch_s * 1000 + c->nanos / 1000000;
}

static bool take_token(const struct token *t, const uint8_t **p, const uint8_t *end,
		       struct clock *c)
{
	int64_t v;
	switch (t->kind) {
	case 'b':
	case 'B': return take_month(p, end, &c->month);
	case 'p': return take_half(p, end, &c->pm);
	case 'z': return take_offset(p, end, c);
	case 's': return take_epoch(p, end, c);
	case 'Y': return take_number(t, p, end, &c->year);
	case 'm': return take_number(t, p, end, &c->month);
	case 'd':
	case 'e': return take_number(t, p, end, &c->day);
	case 'H': return take_number(t, p, end, &c->hour) && c->hour < 24;
	case 'M': return take_number(t, p, end, &c->minute) && c->minute < 60;
	case 'S': return take_number(t, p, end, &c->second) && c->second < 60;
	case 'f': return take_number(t, p, end, &c->nanos);
	case 'I': return take_number(t, p, end, &c->hour12) && c->hour12 >= 1 && c->hour12 <= 12;
	case 'y':
		if (!take_number(t, p, end, &v))
			return false;
		c->year = v < 69 ? 2000 + v : 1900 + v; /* as POSIX strptime */
		return true;
	case 'j': /* 0 means "not given" inside, so a 000 in the text must not pass for it */
		return take_number(t, p, end, &c->day_of_year) && c->day_of_year > 0;
	default: return *p < end && *(*p)++ == t->literal;
	}
}

static bool leap(int64_t y)
{
	return y % 4 == 0 && (y % 100 != 0 || y % 400 == 0);
}

/* Days since 1970-01-01.  Years begin in March here, so that the leap day is a year's last. */
static int64_t days_from_civil(int64_t y, int64_t m, int64_t d)
{
	y -= m <= 2;
	int64_t era = floor_div(y, 400), of_era = y - era * 400;
	int64_t of_year = (153 * (m > 2 ? m - 3 : m + 9) + 2) / 5 + d - 1;
	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool date_days(const struct clock *c, int64_t *days)
{
	static const uint8_t length[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	if (c->day_of_year) {
		*days = days_from_civil(c->year, 1, 1) + c->day_of_year - 1;
		return c->day_of_year <= 365 + leap(c->year);
	}
	if (c->month < 1 || c->month > 12 || c->day < 1 ||
	    c->day > length[c->month - 1] + (c->month == 2 && leap(c->year)))
		return false;
	*days = days_from_civil(c->year, c->month, c->day);
	return true;
}

/* The first span that may be in force at local second local_s, allowing for any offset. */
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
 * Each span covers a stretch of UTC, the stretches are disjoint and rising: the first that holds
 * local - offset is the earlier of two possible instants; none: the clock jumped over it.
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

enum time_fault time_parse(const struct time_format *f, const struct zone *zone, struct bytes text,
			   int64_t *ms)
{
	struct clock c = {.year = 1970, .month = 1, .day = 1, .hour12 = -1};
	const uint8_t *p = text.ptr, *end = p + text.len;
	int64_t days, utc_s;
	for (size_t i = 0; i < f->ntokens; i++)
		if (!take_token(&f->tokens[i], &p, end, &c))
			return TIME_NO_MATCH;
	if (p != end)
		return TIME_NO_MATCH;
	if (c.has_epoch) {
		*ms = epoch_ms(&c);
		return TIME_FINE;
	}
	if (!date_days(&c, &days))
		return TIME_NO_DATE;
	if (c.hour12 >= 0)
		c.hour = c.hour12 % 12 + (c.pm ? 12 : 0);
	int64_t local_s = days * 86400 + c.hour * 3600 + c.minute * 60 + c.second;
	if (c.has_offset)
		utc_s = local_s - c.offset_s;
	else if (!zone_to_utc(zone, local_s, &utc_s))
		return TIME_GAP;
	*ms = utc_s * 1000 + c.nanos / 1000000;
	return TIME_FINE;
}

/* --- numbers of units --- */

/* Digits of a number and where its point stands among them. */
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

/* "[+-]digits" behind the e; what is beyond any time is as good as 9999. */
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

enum number_fault time_of_decimal(enum time_unit unit, struct bytes text, int64_t *ms)
{
	struct decimal d;
	if (!take_decimal(text, &d))
		return NUMBER_BAD;
	int64_t shift = unit == TIME_S ? 3 : unit == TIME_US ? -3 : unit == TIME_NS ? -6 : 0;
	/* so many of the digits, with zeros behind them, are whole milliseconds */
	int64_t point = (int64_t)d.nwhole + d.exponent + shift;
	size_t ndigits = d.nwhole + d.nfraction;
	uint64_t v = 0;
	bool rest = false;
	for (size_t i = 0; i < ndigits; i++) {
		uint8_t digit = (i < d.nwhole ? d.whole[i] : d.fraction[i - d.nwhole]) - '0';
		if ((int64_t)i >= point)
			rest = rest || digit;
		else if (__builtin_mul_overflow(v, 10u, &v) || __builtin_add_overflow(v, digit, &v))
			return NUMBER_LARGE;
	}
	for (int64_t i = (int64_t)ndigits; v && i < point; i++)
		if (__builtin_mul_overflow(v, 10u, &v))
			return NUMBER_LARGE;
	v += d.minus && rest;
	if (v > INT64_MAX)
		return NUMBER_LARGE;
	*ms = d.minus ? -(int64_t)v : (int64_t)v;
	return NUMBER_FINE;
}
