#include "input/spell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char pairs[] = "0001020304050607080910111213141516171819"
			    "2021222324252627282930313233343536373839"
			    "4041424344454647484950515253545556575859"
			    "6061626364656667686970717273747576777879"
			    "8081828384858687888990919293949596979899";

#define EIGHT_DIGITS 100000000u

/*
 * Write `v` < 10^8. Compute all eight digits at once, as halves, then pairs, then single digits,
 * and shift out leading zeros. Always store eight bytes.
 */
static inline size_t spell_eight(uint8_t *to, uint32_t v)
{
	uint64_t x = v / 10000 | (uint64_t)(v % 10000) << 32, high;

	high = (x * 10486 >> 20) & 0x7f0000007f; /* x / 100, in each half */
	x = high | (x - 100 * high) << 16;
	high = (x * 103 >> 10) & 0x000f000f000f000f; /* x / 10, in each quarter */
	x = high | (x - 10 * high) << 8;
	unsigned zeros = (unsigned)__builtin_ctzll(x | UINT64_C(1) << 56) & ~7u;
	x = (x | 0x3030303030303030) >> zeros;
	memcpy(to, &x, 8);
	return 8 - zeros / 8;
}

static size_t digits_of(uint64_t v)
{
	size_t n = 1;

	for (; v >= 10000; v /= 10000)
		n += 4;
	return n + (v >= 10) + (v >= 100) + (v >= 1000);
}

size_t spell_u64(uint8_t *to, uint64_t v)
{
	if (v < EIGHT_DIGITS)
		return spell_eight(to, (uint32_t)v);
	size_t n = digits_of(v);
	uint8_t *p = to + n;

	for (; v >= 100; v /= 100)
		memcpy(p -= 2, pairs + v % 100 * 2, 2);
	if (v >= 10)
		memcpy(p - 2, pairs + v * 2, 2);
	else
		p[-1] = (uint8_t)('0' + v);
	return n;
}

size_t spell_i64(uint8_t *to, int64_t v)
{
	if (v >= 0)
		return spell_u64(to, (uint64_t)v);
	*to = '-';
	return 1 + spell_u64(to + 1, 0 - (uint64_t)v);
}

size_t spell_bool(uint8_t *to, bool v)
{
	memcpy(to, v ? "true " : "false", 5);
	return v ? 4 : 5;
}

/* --- floats --- */

#define EXACT_MAX    9007199254740992.0 /* 2^53; all whole numbers up to this are doubles */
#define EXACT_DIGITS 15

static size_t words(uint8_t *to, const char *text)
{
	size_t n = strlen(text);

	memcpy(to, text, n);
	return n;
}

static const double powers[EXACT_DIGITS + 1] = {1e0, 1e1, 1e2,	1e3,  1e4,  1e5,  1e6,	1e7,
						1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

static bool same(double a, double b, bool narrow)
{
	return narrow ? !((float)a < (float)b) && !((float)a > (float)b) : !(a < b) && !(a > b);
}

/*
 * Write `v` with the fewest digits. `whole` and `power` are exact, so `whole` / `power` is the
 * double nearest to that decimal number. strtod reads the number's text as the same double (IEEE
 * 754; Clinger, "How to read floating point numbers accurately", 1990). The smallest power gives
 * the fewest digits. Return 0 if `v` needs more digits.
 */
static size_t spell_short(uint8_t *to, double v, bool narrow)
{
	double positive = fabs(v), whole = 0;
	int digits = 0;

	for (; digits <= EXACT_DIGITS; digits++) {
		whole = rint(positive * powers[digits]);
		if (whole >= EXACT_MAX || (narrow && whole >= 1e9))
			return 0;
		if (same(whole / powers[digits], positive, narrow))
			break;
	}
	if (digits > EXACT_DIGITS)
		return 0;
	size_t n = 0;
	if (signbit(v))
		to[n++] = '-';
	uint64_t all = (uint64_t)whole, power = (uint64_t)powers[digits];
	n += spell_u64(to + n, all / power);
	if (digits == 0)
		return n;
	to[n++] = '.';
	for (all %= power; digits > 0; digits--) {
		power /= 10;
		to[n++] = (uint8_t)('0' + all / power);
		all %= power;
	}
	return n;
}

/*
 * Write `v` if `v` has at most two digits after the point, as most numbers do. Return 0 if `v` may
 * have more digits.
 */
#define FEW_MOST 99999.0

static inline size_t spell_few(uint8_t *to, double v)
{
	double positive = fabs(v);
	size_t n = signbit(v) != 0;

	*to = '-';
	if (!(positive <= FEW_MOST))
		return 0;
	uint32_t all = (uint32_t)(positive * 100 + 0.5), whole = all / 100, behind = all % 100;
	if (!same(all / 100.0, positive, false))
		return 0;
	to[n] = (uint8_t)('0' + whole);
	n += whole < 10 ? 1 : spell_eight(to + n, whole);
	to[n] = '.';
	memcpy(to + n + 1, pairs + behind * 2, 2);
	return n + (behind == 0 ? 0 : behind % 10 == 0 ? 2 : 3);
}

static size_t spell_real(uint8_t *to, double v, bool narrow)
{
	char text[SPELL_BYTES];

	if (isnan(v))
		return words(to, "NaN");
	if (isinf(v))
		return words(to, v < 0 ? "-Infinity" : "Infinity");
	size_t n = spell_short(to, v, narrow);
	if (n > 0)
		return n;
	for (int digits = narrow ? 6 : 15;; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, v);
		if (digits == (narrow ? 9 : 17) || same(strtod(text, NULL), v, narrow))
			return words(to, text);
	}
}

size_t spell_f64(uint8_t *to, double v)
{
	size_t n = spell_few(to, v);

	return n > 0 ? n : spell_real(to, v, false);
}

size_t spell_f32(uint8_t *to, float v)
{
	return spell_real(to, (double)v, true);
}

/* --- decimals --- */

int128 decimal_of(const uint8_t *bytes, size_t len)
{
	uint128 v = len && bytes[0] >> 7 ? ~(uint128)0 : 0;

	for (size_t i = 0; i < len; i++)
		v = v << 8 | bytes[i];
	return (int128)v;
}

size_t spell_decimal(uint8_t *to, int128 v, int scale)
{
	uint8_t text[DECIMAL_DIGITS + 4], *p = text + sizeof text;

	uint128 left = v < 0 ? 0 - (uint128)v : (uint128)v;

	for (int digits = 0; left > 0 || digits <= scale; digits++) {
		if (digits == scale && scale > 0)
			*--p = '.';
		*--p = (uint8_t)('0' + (int)(left % 10));
		left /= 10;
	}
	if (v < 0)
		*--p = '-';
	size_t n = (size_t)(text + sizeof text - p);
	memcpy(to, p, n);
	return n;
}

/* --- times --- */

static int64_t floor_by(int64_t v, int64_t by)
{
	return v / by - (v % by < 0);
}

static size_t two(uint8_t *to, unsigned v)
{
	memcpy(to, pairs + v * 2, 2);
	return 2;
}

/*
 * Write a date of the proleptic Gregorian calendar (Hinnant, "chrono-Compatible Low-Level Date
 * Algorithms").
 */
size_t spell_date(uint8_t *to, int64_t days)
{
	int64_t shifted = days + 719468, era = floor_by(shifted, 146097);
	unsigned day = (unsigned)(shifted - era * 146097);
	unsigned year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	unsigned of_year = day - (365 * year + year / 4 - year / 100);
	unsigned month = (5 * of_year + 2) / 153;
	int64_t y = era * 400 + year + (month >= 10);
	size_t n = 0;

	if (y >= 0 && y <= 9999) {
		n += two(to + n, (unsigned)(y / 100));
		n += two(to + n, (unsigned)(y % 100));
	} else {
		to[n++] = y < 0 ? '-' : '+';
		uint64_t positive = y < 0 ? 0 - (uint64_t)y : (uint64_t)y;
		for (uint64_t least = 1000; least > positive && least > 1; least /= 10)
			to[n++] = '0';
		n += spell_u64(to + n, positive);
	}
	to[n++] = '-';
	n += two(to + n, month < 10 ? month + 3 : month - 9);
	to[n++] = '-';
	return n + two(to + n, of_year - (153 * month + 2) / 5 + 1);
}

size_t spell_time(uint8_t *to, int64_t v, int64_t parts)
{
	unsigned seconds = (unsigned)(v / parts);
	uint64_t fraction = (uint64_t)(v % parts), unit = (uint64_t)parts;
	size_t n = 0;

	n += two(to + n, seconds / 3600);
	to[n++] = ':';
	n += two(to + n, seconds / 60 % 60);
	to[n++] = ':';
	n += two(to + n, seconds % 60);
	if (fraction == 0)
		return n;
	for (; fraction % 1000 == 0; fraction /= 1000)
		unit /= 1000;
	to[n++] = '.';
	for (unit /= 10; unit > 0; unit /= 10)
		to[n++] = (uint8_t)('0' + fraction / unit % 10);
	return n;
}

size_t spell_stamp(uint8_t *to, int64_t v, int64_t parts, bool local)
{
	int64_t days = floor_by(v, DAY_S * parts);
	size_t n = spell_date(to, days);

	to[n++] = 'T';
	/* use the rest of the day, to avoid a product that may overflow */
	int64_t rest = v % (DAY_S * parts);
	n += spell_time(to + n, rest < 0 ? rest + DAY_S * parts : rest, parts);
	if (!local)
		to[n++] = 'Z';
	return n;
}

size_t spell_ms(uint8_t *to, int64_t v, int64_t parts)
{
	uint64_t positive = v < 0 ? 0 - (uint64_t)v : (uint64_t)v, unit = (uint64_t)parts / 1000;
	size_t n = 0;

	if (v < 0)
		to[n++] = '-';
	if (parts == 1) {
		n += spell_u64(to + n, positive);
		memcpy(to + n, "000", v ? 3 : 0);
		return n + (v ? 3 : 0);
	}
	n += spell_u64(to + n, positive / unit);
	if (positive % unit == 0)
		return n;
	to[n++] = '.';
	for (positive %= unit; unit > 1; positive %= unit) {
		unit /= 10;
		to[n++] = (uint8_t)('0' + positive / unit);
	}
	return n;
}

size_t spell_uuid(uint8_t *to, const uint8_t *v)
{
	static const char digits[] = "0123456789abcdef";
	size_t n = 0;

	for (size_t i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			to[n++] = '-';
		to[n++] = (uint8_t)digits[v[i] >> 4];
		to[n++] = (uint8_t)digits[v[i] & 15];
	}
	return n;
}

void spell_json(struct buf *out, struct bytes v, bool latin1)
{
	buf_put(out, '"');
	for (size_t i = 0; i < v.len; i++) {
		uint8_t c = v.ptr[i];

		if (c == '"' || c == '\\') {
			buf_put(out, '\\');
			buf_put(out, c);
		} else if (c < 0x20 || (latin1 && c >= 0x7f)) {
			buf_printf(out, "\\u%04x", c);
		} else {
			buf_put(out, c);
		}
	}
	buf_put(out, '"');
}
