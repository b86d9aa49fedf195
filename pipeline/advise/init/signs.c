/*
 * signs.c - find the signs and the type of the numbers of a column
 */
#include <ctype.h>

#include "sniff_parts.h"
#include "error.h"

/* largest number of digits after the point in an amount; a measurement may have more */
#define DECIMAL_MOST 6
#define SURE_LEAST   8 /* numbers without which their digits show nothing */

const struct signs sign_pairs[SIGN_PAIRS] = {{NULL, NULL},    {",", NULL},    {",", "."},
					     {NULL, ","},     {NULL, "'"},    {",", " "},
					     {",", "\u202f"}, {",", "\u00a0"}};

/* Note the plain text of a number that some form accepted. `grouped`: it had a thousands sign. */
static void see_number(struct numbers *n, struct bytes t, bool grouped)
{
	bool minus = t.ptr[0] == '-', sign = minus || t.ptr[0] == '+';
	uint32_t whole = 0, places = 0;
	uint64_t v = 0;
	bool point = false, large = false;

	for (size_t i = sign; i < t.len; i++) {
		uint8_t c = t.ptr[i];

		if (c == '.') {
			point = true;
			n->zero_first = n->zero_first || (i + 2 < t.len && t.ptr[i + 1] == '0' &&
							  isdigit(t.ptr[i + 2]));
		} else if (!isdigit(c)) {
			n->exponent = true;
			break;
		} else if (point) {
			places++;
		} else {
			whole++;
			large = large || __builtin_mul_overflow(v, 10u, &v) ||
				__builtin_add_overflow(v, (uint64_t)(c - '0'), &v);
		}
	}
	n->plus = n->plus || (sign && !minus);
	/* 007 is a name, not a number; Db2 writes +000012.50 */
	if ((whole > 1 && t.ptr[sign] == '0' && !(sign && point)) || large)
		n->fits = false;
	n->negative = n->negative || minus;
	n->real = n->real || point;
	n->whole = whole > n->whole ? whole : n->whole;
	n->grouped = n->grouped || grouped;
	n->ungrouped = !grouped && whole > n->ungrouped ? whole : n->ungrouped;
	n->places = places > n->places ? places : n->places;
	if (point) {
		n->places_least =
			n->points++ && n->places_least < places ? n->places_least : places;
	}
	n->least = v < n->least ? v : n->least;
	n->most = v > n->most ? v : n->most;
}

bool text_is_digits(struct bytes t)
{
	for (size_t i = 0; i < t.len; i++)
		if (!isdigit(t.ptr[i]))
			return false;
	return t.len > 0 && t.len <= 18;
}

uint64_t digits_value(struct bytes digits)
{
	uint64_t v = 0;

	for (size_t i = 0; i < digits.len; i++)
		v = 10 * v + (digits.ptr[i] - '0');
	return v;
}

void numbers_part(struct sniffed *s)
{
	for (size_t i = 1; i < SIGN_PAIRS && !s->signed_numbers; i++)
		s->numbers[i] = s->numbers[0];
	s->signed_numbers = true;
}

void numbers_try(struct columns *c, struct sniffed *s, struct bytes text)
{
	struct reject why;
	bool digits = text_is_digits(text);

	s->trailing = s->trailing || text.ptr[text.len - 1] == '-';
	if (digits && !s->signed_numbers) {
		/* plain digits are the same number with every pair */
		if (s->numbers[0].fits)
			see_number(&s->numbers[0], text, false);
		return;
	}
	numbers_part(s);
	s->commas += memchr(text.ptr, ',', text.len) != NULL;
	s->points += memchr(text.ptr, '.', text.len) != NULL;
	for (size_t i = 0; i < SIGN_PAIRS; i++) {
		struct value v = {.text = text};
		const char *sign = sign_pairs[i].thousands;
		bool grouped = sign && memmem(text.ptr, text.len, sign, strlen(sign));

		if (!s->numbers[i].fits)
			continue;
		if (!digits)
			s->numbers[i].fits =
				field_read(&c->number[i], &v, &c->scratch, &why) == RC_OK;
		if (s->numbers[i].fits)
			see_number(&s->numbers[i], v.text, grouped);
	}
}

/*
 * Return true if 1167 is between numbers such as 250,500, which are then lists. Spain and Poland
 * group numbers of five digits or more, so the signs . and blank allow four digits.
 */
static bool is_half_grouped(const struct numbers *n, const char *sign)
{
	return n->grouped && n->ungrouped > (*sign == ',' || *sign == '\'' ? 3 : 4);
}

bool number_fits(const struct sniffed *s, size_t pair)
{
	const struct numbers *n = &s->numbers[pair];
	const char *sign = sign_pairs[pair].thousands;

	/* +49 begins a telephone number, unless other numbers have a minus sign or a point */
	if (n->plus && !n->negative && !n->real)
		return false;
	/* 5- is a grade or a code, but 5.00- is an amount */
	return s->values > words_count(s) && n->fits && (!s->trailing || n->real) &&
	       !(sign && is_half_grouped(n, sign));
}

/* Return true if some numbers have another value with the other pair of signs. */
static bool signs_differ(const struct columns *c, size_t a, size_t b)
{
	for (size_t k = 0; k < c->n; k++) {
		const struct sniffed *s = &c->column[k];

		if (number_fits(s, a) && number_fits(s, b) &&
		    (s->numbers[a].places != s->numbers[b].places ||
		     s->numbers[a].whole != s->numbers[b].whole))
			return true;
	}
	return false;
}

/*
 * Return true if each number of the column has one group of three digits, as 1,234. Among counts, a
 * number below 1000 would be usual, so the sign may be the decimal one.
 */
static bool is_grouped(const struct sniffed *s, size_t pair)
{
	const char *sign = sign_pairs[pair].thousands;
	bool comma = sign && *sign == ',', point = sign && *sign == '.';

	return (comma || point) && number_fits(s, pair) && number_fits(s, comma ? 1 : 0) &&
	       (comma ? s->commas : s->points) == s->values - words_count(s);
}

/*
 * Return true if the commas are clearly decimal signs: 1,05 is no list of two numbers, and lists do
 * not always have a longer first number.
 */
static bool has_fractions(const struct numbers *n)
{
	return n->grouped || n->zero_first ||
	       (n->points >= SURE_LEAST && n->places_least == n->places && n->whole > n->places);
}

/* Note a column of numbers such as 1,2 if nothing shows that the comma is the decimal sign. */
static void find_lists(struct columns *c)
{
	const char *decimal = sign_pairs[c->signs].decimal;
	bool sure = false;

	for (size_t k = 0; k < c->n && decimal && !sure; k++) {
		const struct sniffed *s = &c->column[k];
		const struct numbers *n = &s->numbers[c->signs];
		bool fits = number_fits(s, c->signs);

		sure = fits && has_fractions(n);
		c->listed = !c->listed && fits && n->points ? s->name : c->listed;
		c->point_too = c->point_too || (!fits && number_fits(s, 0) && s->numbers[0].real);
	}
	c->listed = sure ? NULL : c->listed;
}

void signs_choose(struct columns *c)
{
	size_t typed[SIGN_PAIRS] = {0}, best = 0;

	for (size_t i = 0; i < SIGN_PAIRS; i++) {
		for (size_t k = 0; k < c->n; k++)
			typed[i] += number_fits(&c->column[k], i);
		best = typed[i] > typed[best] ? i : best;
	}
	c->signs = best;
	c->signs_typed = typed[best];
	c->signs_next = best == 0;
	for (size_t i = 0; i < SIGN_PAIRS; i++)
		if (i != best && typed[i] > typed[c->signs_next] &&
		    (typed[i] < typed[best] || signs_differ(c, best, i)))
			c->signs_next = i;
	c->signs_next_typed = typed[c->signs_next];
	c->signs_other = best;
	/* 1,234 and 1.234 have two readings */
	for (size_t i = 0; i < SIGN_PAIRS; i++)
		if (i != best && typed[i] == typed[best] && signs_differ(c, best, i))
			c->signs_other = i;
	find_lists(c);
	for (size_t k = 0; k < c->n && !c->grouped; k++)
		if (is_grouped(&c->column[k], best))
			c->grouped = c->column[k].name;
}

void number_decide(struct sniffed *s, const struct numbers *n)
{
	bool fixed =
		n->real && !n->exponent && n->places <= DECIMAL_MOST && n->whole + n->places <= 18;
	const char *unit = epoch_unit(s, n);

	if (is_day_number(s, n)) {
		s->type = FIELD_TIME;
		s->format = "%Y%m%d";
		s->oldest_ms = s->oldest[0];
	} else if (unit) {
		s->type = FIELD_TIME;
		s->unit = unit;
		s->oldest_ms = 0;
	} else if (n->plus && !n->real && !n->exponent) {
		s->type = FIELD_DECIMAL; /* whole numbers of a load have no plus */
		s->scale = 0;
	} else if (n->real || n->exponent) {
		s->type = fixed ? FIELD_DECIMAL : FIELD_F64;
		s->scale = n->places;
	} else if (n->negative) {
		s->type = n->most <= INT64_MAX ? FIELD_I64 : FIELD_TEXT;
	} else {
		s->type = n->most <= UINT32_MAX ? FIELD_U32 : FIELD_U64;
	}
}
