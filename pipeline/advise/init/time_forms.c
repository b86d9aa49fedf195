/*
 * time_forms.c - find the form, the unit and the order of day and month of the times of a column
 */
#include <ctype.h>
#include <strings.h>

#include "sniff_parts.h"
#include "error.h"

#define DAYS_LEAST  8  /* different days that prove that the numbers are days, for any name */
#define SPAN_LEAST  20 /* values that show a span */
#define CLOCK_LEAST 20 /* rising numbers that may be a clock's, for any name */
#define DAY_MS	    INT64_C(86400000)
#define CENTURY_MS  INT64_C(2082758400000) /* 2036: the years of a column of 2026 may be 1936 */

const char *const time_forms[] = {"iso8601",
				  "%Y/%m/%d",
				  "%Y/%m/%d %H:%M",
				  "%Y/%m/%d %H:%M:%S",
				  "%d.%m.%Y",
				  "%d.%m.%Y %H:%M",
				  "%d.%m.%Y %H:%M:%S",
				  "%d.%m.%y",
				  "%d/%m/%Y",
				  "%m/%d/%Y",
				  "%d/%m/%y",
				  "%m/%d/%y",
				  "%y/%m/%d",
				  "%d/%m/%y %H:%M",
				  "%m/%d/%y %H:%M",
				  "%d/%m/%y %H:%M:%S",
				  "%m/%d/%y %H:%M:%S",
				  "%m/%d/%y %I:%M %p",
				  "%d/%m/%Y %H:%M",
				  "%m/%d/%Y %H:%M",
				  "%d/%m/%Y %H:%M:%S",
				  "%m/%d/%Y %H:%M:%S",
				  "%m/%d/%Y %I:%M %p",
				  "%d/%m/%Y %I:%M %p",
				  "%m/%d/%Y %I:%M:%S %p",
				  "%d/%m/%Y %I:%M:%S %p",
				  "%d-%m-%Y",
				  "%m-%d-%Y",
				  "%d-%m-%y",
				  "%m-%d-%y",
				  "%y-%m-%d",
				  "%d-%b-%Y",
				  "%d-%b-%y",
				  "%d %b %Y",
				  "%b %d %Y",
				  "%b %d, %Y",
				  "%d-%b-%Y %H:%M:%S",
				  "%d/%b/%Y:%H:%M:%S %z",
				  "[%d/%b/%Y:%H:%M:%S %z]",
				  "[%d/%b/%Y:%H:%M:%S",
				  "%a %b %e %H:%M:%S %Y",
				  "%a %b %e %H:%M:%S %Z %Y",
				  "%a, %d %b %Y %H:%M:%S %z",
				  "%a, %d %b %Y %H:%M:%S %Z",
				  "%Y-%m-%d %H:%M:%S.%f %z",
				  "%Y%m%d%H%M%S",
				  "%Y%m%d %H%M%S",
				  NULL};

size_t times_count(void)
{
	size_t n = 0;

	while (time_forms[n])
		n++;
	return n;
}

bool name_contains(const char *name, const char *const *words)
{
	for (; *words; words++)
		if (strcasestr(name, *words))
			return true;
	return false;
}

bool name_ends_in(const char *name, const char *word)
{
	size_t len = strlen(name), n = strlen(word);
	const char *at = name + len - n;

	if (len < n || strcasecmp(at, word) != 0)
		return false;
	return at == name || !isalpha((unsigned char)at[-1]) ||
	       (isupper((unsigned char)*at) && islower((unsigned char)at[-1]));
}

bool name_is_time(const char *name)
{
	static const char *const words[] = {"time",    "date", "epoch", "stamp", "created",
					    "updated", "zeit", "datum", "when",	 NULL};
	static const char *const ends[] = {"ts",     "at",   "ts_ms", "ms", "millis",
					   "micros", "ts_s", "start", "end"};
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (name_ends_in(name, ends[i]))
			return true;
	return name_contains(name, words) || strncasecmp(dot ? dot + 1 : name, "ts_", 3) == 0;
}

/* Compare a time with the one before it. */
static void see_step(struct time_steps *t, int64_t ms)
{
	int64_t step = t->n ? ms - t->last : 0;
	bool same_day = !t->n || ms / DAY_MS == t->last / DAY_MS;

	t->back = t->back || step < 0;
	if (same_day)
		t->within = step > t->within ? step : t->within;
	else
		t->across = step > t->across ? step : t->across;
	t->days += !same_day;
	t->newest = t->n && t->newest > ms ? t->newest : ms;
	t->last = ms;
	t->n++;
}

void times_try(struct columns *c, struct sniffed *s, struct bytes text)
{
	struct reject why;

	count_order(s, text);
	for (uint64_t left = s->times; left; left &= left - 1) {
		size_t i = (size_t)__builtin_ctzll(left);
		struct value v = {.text = text};

		if (text.len < 6 || field_read(&c->times[i], &v, &c->scratch, &why)) {
			s->times &= ~(UINT64_C(1) << i);
			continue;
		}
		if ((int64_t)v.u < s->oldest[i])
			s->oldest[i] = (int64_t)v.u;
		if (i)
			see_step(&s->steps[i], (int64_t)v.u);
	}
}

/* Return true for the name of an id, a code, a count or a user. */
static bool is_code_name(const char *name)
{
	static const char *const words[] = {"id",  "no", "nr",	  "key",    "code", "num",
					    "ean", "by", "count", "number", "cnt",  "#"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (name_ends_in(name, words[i]))
			return true;
	return false;
}

/*
 * Return true for many numbers of 13 digits or more that rise and are close to each other. Ids that
 * are so large do not rise by steps of a clock from 2000 to 2035.
 */
static bool counts_time(const struct sniffed *s, const struct numbers *n)
{
	bool rises = s->ranked >= CLOCK_LEAST && s->rising * 20 >= s->ranked * 19;
	double first = (double)n->least, last = (double)n->most;

	for (double unit = 1000; unit < 2e9; unit *= 1000)
		if (first >= 946684800 * unit && last < 2051222400 * unit)
			return rises && !is_code_name(s->name) &&
			       last - first > 100 * unit / 1000 && s->distinct.n * 2 > s->ranked;
	return false;
}

/*
 * Return the unit of whole numbers that count from 1970. The size of the numbers and the name of
 * the column decide.
 */
const char *epoch_unit(const struct sniffed *s, const struct numbers *n)
{
	static const struct {
		const char *unit;
		uint64_t in_s;
	} units[] = {{"s", 1}, {"ms", 1000}, {"us", 1000000}, {"ns", 1000000000}};
	bool named = name_is_time(s->name) && !is_code_name(s->name);
	bool counted = counts_time(s, n);

	for (size_t i = 0; i < 4 && (named || counted) && !n->real && !n->negative; i++)
		if (n->least >= 631152000 * units[i].in_s && n->most < 4102444800 * units[i].in_s)
			return named || i ? units[i].unit : NULL;
	return NULL;
}

/* Return true for numbers such as 20260103. */
bool is_day_number(const struct sniffed *s, const struct numbers *n)
{
	static const char *const words[] = {"date", "day", "datum", "tag", "dt", NULL};

	if (!(s->times & 1) || n->real || n->least < 19000101 || n->most > 21991231)
		return false;
	/* many numbers that are all days of a calendar are no chance, for any name */
	bool many = s->distinct.n >= DAYS_LEAST && n->least >= 19500101 && n->most <= 20601231;
	return name_contains(s->name, words) || name_is_time(s->name) ||
	       (many && !is_code_name(s->name));
}

/* Return true if the day, the month and the year have another order. */
static bool orders_differ(const char *a, const char *b)
{
	char order[2][4] = {"", ""};

	for (size_t k = 0; k < 2; k++)
		for (const char *p = k ? b : a; *p; p++)
			if (*p == '%' && p[1] && strchr("dmyY", p[1]) && strlen(order[k]) < 3)
				order[k][strlen(order[k])] = p[1] == 'Y' ? 'y' : p[1];
	return order[0][0] && order[1][0] && strcmp(order[0], order[1]) != 0;
}

/*
 * Return true if the steps between the values show this form and not the other one: they go on
 * over midnight, but in the other form each night is a month.
 */
static bool steps_show(const struct time_steps *t, const struct time_steps *other)
{
	return !t->back && t->days > 1 && t->within > 0 && t->across <= 2 * t->within &&
	       (other->back || other->across > 20 * DAY_MS);
}

/*
 * Return true if one of the forms begins with the year, and the values are years apart only in form
 * `other`. Values such as 24/12/25 are so if a day is taken for the year.
 */
static bool span_shows(const struct sniffed *s, size_t form, size_t other)
{
	const struct time_steps *t = &s->steps[form], *o = &s->steps[other];
	bool year = time_forms[form][1] == 'y' || time_forms[other][1] == 'y';

	return year && t->n >= SPAN_LEAST && o->newest - s->oldest[other] > 3000 * DAY_MS &&
	       (t->newest - s->oldest[form]) * 10 < o->newest - s->oldest[other];
}

/* Return true if the values show form `form`, and not the other one that fits, too. */
static bool values_show(const struct sniffed *s, size_t form, size_t other)
{
	return steps_show(&s->steps[form], &s->steps[other]) || span_shows(s, form, other);
}

/* Note why the column stays text. */
static void keep_text(struct sniffed *s, const char *note)
{
	s->type = FIELD_TEXT;
	s->format = NULL;
	s->note = note;
}

void time_decide(struct sniffed *s)
{
	size_t best = (size_t)__builtin_ctzll(s->times);
	bool doubt = false;

	for (uint64_t left = s->times & (s->times - 1); left; left &= left - 1) {
		size_t i = (size_t)__builtin_ctzll(left);

		if (!orders_differ(time_forms[best], time_forms[i]) || values_show(s, best, i))
			continue;
		doubt = doubt || !values_show(s, i, best);
		best = i;
	}
	s->type = FIELD_TIME;
	s->format = time_forms[best];
	s->oldest_ms = s->oldest[best];
	if (doubt)
		keep_text(s, "a time, but its values do not show which number is the day and which "
			     "the month");
	else if (strstr(s->format, "%y") && s->steps[best].newest >= CENTURY_MS)
		keep_text(s, "a time, but its values do not show the century of the years");
}
