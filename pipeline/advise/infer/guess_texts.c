/* guess_texts.c - describe texts of keys and values: times, UUIDs, digits, numbers, JSON */
#include <ctype.h>

#include "infer.h"
#include "digits.h"

#define SPAN_MOST  15 /* years of times that are only digits */
#define SPAN_USUAL 3

struct texts {
	const struct bytes *text;
	size_t n;
	size_t least, most; /* lengths */
	size_t bytes;	    /* of all texts */
};

static bool is_printable(struct bytes t)
{
	for (size_t i = 0; i < t.len; i++)
		if (t.ptr[i] < 0x20 || t.ptr[i] == 0x7f)
			return false;
	return text_is_utf8(t);
}

static bool all(const struct texts *t, bool (*is)(struct bytes text))
{
	for (size_t i = 0; i < t->n; i++)
		if (!is(t->text[i]))
			return false;
	return true;
}

static size_t count(const struct texts *t, bool (*is)(struct bytes text))
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		n += is(t->text[i]);
	return n;
}

/* --- forms of one text --- */

bool guess_has_class(struct bytes t, int (*is)(int))
{
	for (size_t i = 0; i < t.len; i++)
		if (t.ptr[i] & 0x80 || !is(t.ptr[i]))
			return false;
	return t.len > 0;
}

static bool is_digits(struct bytes t)
{
	return guess_has_class(t, isdigit);
}

static bool is_hex(struct bytes t)
{
	return guess_has_class(t, isxdigit);
}

static bool is_letters(struct bytes t)
{
	return guess_has_class(t, isalpha);
}

static bool is_shortest(struct bytes t)
{
	return is_digits(t) && (t.ptr[0] != '0' || t.len == 1) && t.len < 20;
}

static bool is_whole(struct bytes t)
{
	bool minus = t.len > 1 && t.ptr[0] == '-';

	return is_shortest(bytes_of(t.ptr + minus, t.len - minus)) && t.len < 19 &&
	       !(minus && t.ptr[1] == '0');
}

static bool is_real(struct bytes t)
{
	size_t at = t.len > 1 && t.ptr[0] == '-', digits = 0, points = 0, zeros = 0;

	zeros = t.len > at + 1 && t.ptr[at] == '0' && isdigit(t.ptr[at + 1]);
	for (; at < t.len; at++) {
		digits += isdigit(t.ptr[at]) != 0;
		points += t.ptr[at] == '.';
		if (!isdigit(t.ptr[at]) && t.ptr[at] != '.')
			return false;
	}
	return digits > 0 && digits < 17 && points < 2 && !zeros;
}

static bool is_bool(struct bytes t)
{
	return bytes_eq(t, bytes_str("true")) || bytes_eq(t, bytes_str("false"));
}

static bool is_uuid(struct bytes t)
{
	for (size_t i = 0; i < t.len; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? t.ptr[i] != '-' : !isxdigit(t.ptr[i]) || isupper(t.ptr[i]))
			return false;
	}
	return t.len == 36;
}

static bool is_json(struct bytes t)
{
	return t.len > 1 && ((t.ptr[0] == '{' && t.ptr[t.len - 1] == '}') ||
			     (t.ptr[0] == '[' && t.ptr[t.len - 1] == ']'));
}

static bool is_ended_by_zero(struct bytes t)
{
	return t.len && t.ptr[t.len - 1] == '0';
}

static bool is_begun_by_zero(struct bytes t)
{
	return t.len && t.ptr[0] == '0';
}

/* --- times --- */

/* Read the digits of one part of a time. Returns false if no time has them. */
static bool take_part(char letter, struct bytes t, size_t *at)
{
	static const struct {
		char letter;
		uint8_t width;
		uint16_t least, most;
	} parts[] = {{'Y', 4, 1995, 2045}, {'m', 2, 1, 12}, {'d', 2, 1, 31},
		     {'H', 2, 0, 23},	   {'M', 2, 0, 59}, {'S', 2, 0, 60}};
	unsigned v = 0;
	size_t i = 0;

	while (parts[i].letter != letter)
		i++;
	if (*at + parts[i].width > t.len)
		return false;
	for (size_t k = 0; k < parts[i].width; k++, ++*at) {
		if (!isdigit(t.ptr[*at]))
			return false;
		v = 10 * v + t.ptr[*at] - '0';
	}
	return v >= parts[i].least && v <= parts[i].most;
}

static bool has_format(struct bytes t, const char *format)
{
	size_t at = 0;

	for (; *format; format++)
		if (*format == '%') {
			if (!take_part(*++format, t, &at))
				return false;
		} else if (at == t.len || t.ptr[at++] != (uint8_t)*format) {
			return false;
		}
	return at == t.len;
}

/* A time such as 2026-01-31T10:20:30.5Z, of any length. */
static bool is_iso8601(struct bytes t)
{
	size_t at = 19;

	if (t.len < 20 || !has_format(bytes_of(t.ptr, 19), "%Y-%m-%dT%H:%M:%S"))
		return false;
	if (t.ptr[at] == '.')
		for (at++; at < t.len && isdigit(t.ptr[at]);)
			at++;
	return (at + 1 == t.len && t.ptr[at] == 'Z') ||
	       (at + 6 == t.len && (t.ptr[at] == '+' || t.ptr[at] == '-'));
}

static bool has_time_format(const struct texts *t, struct guess *g)
{
	static const char *const formats[] = {"%Y%m%d%H%M%S",	   "%Y-%m-%d %H:%M:%S",
					      "%Y-%m-%dT%H:%M:%S", "%Y%m%d%H%M",
					      "%Y-%m-%dT%H:%M",	   "%Y-%m-%d %H:%M",
					      "%Y%m%d%H",	   "%Y-%m-%d",
					      "%Y/%m/%d",	   "%Y%m%d"};

	for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
		size_t i = 0;

		while (i < t->n && has_format(t->text[i], formats[f]))
			i++;
		if (i < t->n)
			continue;
		*g = (struct guess){.type = FIELD_TIME,
				    .format = formats[f],
				    .what = "date or time as text; UTC, if nothing else is known",
				    .stem = "time",
				    .points = 7,
				    .confidence = 95};
		return true;
	}
	if (!all(t, is_iso8601))
		return false;
	*g = (struct guess){.type = FIELD_TIME,
			    .format = TIME_ISO8601,
			    .what = "time as text",
			    .stem = "time",
			    .points = 7,
			    .confidence = 97};
	return true;
}

/* Set the smallest and the largest number. Returns false if a text is no number. */
static bool range_of(const struct texts *t, uint64_t *least, uint64_t *most)
{
	*least = UINT64_MAX;
	*most = 0;
	for (size_t i = 0; i < t->n; i++) {
		uint64_t v = 0;

		if (!is_shortest(t->text[i]))
			return false;
		for (size_t k = 0; k < t->text[i].len; k++)
			v = 10 * v + t->text[i].ptr[k] - '0';
		*least = v < *least ? v : *least;
		*most = v > *most ? v : *most;
	}
	return true;
}

/*
 * Digits that count the time from 1970 on, or to the end of Java's long. Numbers of phones look
 * like seconds, but their span is longer than that of most tables.
 */
static bool is_count_of_time(const struct texts *t, struct guess *g)
{
	static const struct {
		uint64_t year; /* the number of units */
		const char *unit, *what;
	} units[] = {{YEAR_MS / 1000, "s", "seconds since 1970, as digits"},
		     {YEAR_MS, "ms", "milliseconds since 1970, as digits"},
		     {YEAR_MS * 1000, "us", "microseconds since 1970, as digits"}};
	uint64_t least, most;

	*g = (struct guess){.type = FIELD_TIME, .stem = "time", .points = 6.5, .confidence = 90};
	if (!range_of(t, &least, &most))
		return false;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		uint64_t year = units[i].year, span = most - least;

		if (least < TIME_FIRST / YEAR_MS * year || most > TIME_LAST / YEAR_MS * year)
			continue;
		if (span > SPAN_MOST * year)
			return false;
		if (span > SPAN_USUAL * year) {
			g->points = 4.6;
			g->confidence = 60;
		}
		g->unit = units[i].unit;
		g->what = units[i].what;
		return true;
	}
	if (least < INT64_MAX - TIME_LAST || most > INT64_MAX - TIME_FIRST)
		return false;
	g->type = FIELD_U64;
	g->what = "Long.MAX_VALUE - milliseconds, as digits";
	return true;
}

/* --- all texts --- */

static bool is_number(const struct texts *t, struct guess *g)
{
	bool digits = all(t, is_digits), even = t->least == t->most;

	*g = (struct guess){.stem = "number", .points = 4.5, .confidence = 85};
	if (digits && even && t->most > 1 && t->most < 20) {
		bool reversed = 2 * count(t, is_ended_by_zero) > t->n &&
				3 * count(t, is_begun_by_zero) < t->n;

		g->type = FIELD_U64;
		g->as = reversed ? AS_REVERSED : AS_TEXT;
		g->padded = true;
		g->what = reversed ? "digits, padded and reversed" : "digits of equal width";
		g->confidence = reversed ? 70 : 85;
		return true;
	}
	if (digits && all(t, is_shortest))
		g->type = FIELD_U64;
	else if (all(t, is_whole))
		g->type = FIELD_I64;
	else if (!digits && all(t, is_real))
		g->type = FIELD_F64;
	else
		return false;
	g->what = "number as text";
	return true;
}

/* The classes of texts without a type. */
static void describe_class(const struct texts *t, struct guess *g)
{
	bool even = t->least == t->most;

	*g = (struct guess){.type = FIELD_TEXT,
			    .stem = "text",
			    .what = "text",
			    .points = 3.4,
			    .confidence = 85};
	if (all(t, is_digits)) {
		g->points = 4.3;
		g->what = "digits";
	} else if (all(t, is_hex) && even && t->most % 2 == 0 && t->most >= 8 &&
		   !all(t, is_letters)) {
		g->points = 4.2;
		g->stem = "hash";
		g->what = t->most == 32	  ? "32 hex digits, as of MD5"
			  : t->most == 40 ? "40 hex digits, as of SHA-1"
			  : t->most == 64 ? "64 hex digits, as of SHA-256"
					  : "hex digits";
	} else if (all(t, is_letters)) {
		g->points = 4;
	}
}

static void measure(struct texts *t)
{
	t->least = SIZE_MAX;
	for (size_t i = 0; i < t->n; i++) {
		size_t len = t->text[i].len;

		t->least = len < t->least ? len : t->least;
		t->most = len > t->most ? len : t->most;
		t->bytes += len;
	}
}

bool guess_texts(const struct bytes *texts, size_t n, struct guess *g)
{
	struct texts t = {.text = texts, .n = n};

	measure(&t);
	if (t.bytes == 0 || !all(&t, is_printable))
		return false;
	if (all(&t, is_uuid))
		*g = (struct guess){.type = FIELD_UUID,
				    .what = "UUID as text",
				    .stem = "uuid",
				    .points = 8,
				    .confidence = 99};
	else if (all(&t, is_bool))
		*g = (struct guess){.type = FIELD_BOOL,
				    .what = "true or false",
				    .stem = "flag",
				    .confidence = 95};
	else if (all(&t, is_json))
		*g = (struct guess){.type = FIELD_TEXT,
				    .what = "JSON",
				    .stem = "text",
				    .confidence = 95};
	else if (!has_time_format(&t, g) && !is_count_of_time(&t, g) && !is_number(&t, g))
		describe_class(&t, g);
	g->text = true;
	g->terminator = NO_TERMINATOR;
	return true;
}

/* --- columns of text in keys --- */

static int class_of(const struct key_column *c)
{
	return !c->print ? 0 : c->digit ? 1 : c->alpha ? 2 : c->hex ? 3 : 4;
}

/* Return true if a text may end before this column. */
static bool may_end(const struct key_anchor *a, size_t from, size_t to)
{
	static const uint8_t usual[] = {4, 8, 10, 12, 13, 14, 16, 19, 20, 32, 36, 40, 64};
	const struct key_column *c = &a->column[to];

	if (to == a->columns || class_of(c) != class_of(c - 1) || (c->same && !isalnum(c->low)) ||
	    seam_at(a, from, to))
		return true;
	if (c[-1].entropy > c->entropy + 1)
		return true;
	return memchr(usual, (int)(to - from), sizeof usual) != NULL;
}

void forms_texts(const struct key_anchor *a, size_t column, guess_found *found, void *ctx)
{
	struct bytes *texts = mem_calloc(a->n, sizeof *texts);
	const struct key_column *c = &a->column[column];
	struct guess g;

	for (size_t width = 1; column + width <= a->columns && c[width - 1].print; width++) {
		if (!may_end(a, column, column + width))
			continue;
		for (size_t k = 0; k < a->n; k++)
			texts[k] = bytes_of(anchor_ptr(a, k, column), width);
		if (!guess_texts(texts, a->n, &g))
			break;
		g.width = (uint32_t)width;
		/* a key keeps no order of signs and fractions as text */
		if (g.type == FIELD_F64 || g.type == FIELD_I64 || g.type == FIELD_BOOL)
			g.type = FIELD_TEXT;
		g.padded = true;
		g.points = g.points * (double)width - 3;
		if (g.type == FIELD_TEXT)
			g.points -= SEAM_POINTS * (double)seams_in(a, column, width);
		if (column > 0 && c->digit && c->same && c->low == '0' && c[-1].digit &&
		    c[-1].entropy > 1 && !c[width - 1].same)
			g.points += 6;
		found(ctx, &g);
	}
	mem_free(texts);
}

/* Set the length of the text before the padding. Returns false if other bytes than 00 follow it. */
static bool cut_padding(const uint8_t *p, size_t width, struct bytes *text)
{
	size_t len = 0;

	while (len < width && p[len])
		len++;
	*text = bytes_of(p, len);
	for (size_t i = len; i < width; i++)
		if (p[i])
			return false;
	return len > 0;
}

/* Return true if the texts have several lengths, and padding is usual. */
static bool are_padded(const struct bytes *texts, size_t n, size_t width)
{
	size_t padded = 0, least = SIZE_MAX, most = 0;

	for (size_t k = 0; k < n; k++) {
		padded += texts[k].len < width;
		least = texts[k].len < least ? texts[k].len : least;
		most = texts[k].len > most ? texts[k].len : most;
	}
	return least < most && 2 * padded > n;
}

void forms_zero_padded(const struct key_anchor *a, size_t column, guess_found *found, void *ctx)
{
	struct bytes *texts = mem_calloc(a->n, sizeof *texts);

	for (size_t width = 2; column + width <= a->columns; width++) {
		size_t k = 0, bytes = 0;
		struct guess g;

		while (k < a->n && cut_padding(anchor_ptr(a, k, column), width, &texts[k]))
			bytes += texts[k++].len;
		if (k < a->n)
			break;
		if (!are_padded(texts, a->n, width) || !guess_texts(texts, a->n, &g))
			continue;
		double mean = (double)bytes / (double)a->n;

		found(ctx, &(struct guess){.type = FIELD_TEXT,
					   .as = AS_TEXT,
					   .width = (uint32_t)width,
					   .padded = true,
					   .zeros = true,
					   .text = true,
					   .terminator = NO_TERMINATOR,
					   .what = "text, padded with bytes 00",
					   .stem = "text",
					   .points = 3.4 * mean + 2 * ((double)width - mean) - 3,
					   .confidence = 90});
	}
	mem_free(texts);
}
