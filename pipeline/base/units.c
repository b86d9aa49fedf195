#include "bytes.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define LONGEST_NAME 64

/*
 * Read decimal digits at *text and move *text after them. Returns false if there is no digit or the
 * number is too large.
 */
static bool parse_digits(const char **text, uint64_t *out)
{
	const char *p = *text;
	uint64_t v = 0;

	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++) {
		if (__builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return false;
	}
	*text = p;
	*out = v;
	return true;
}

bool parse_size(const char *text, uint64_t *bytes)
{
	static const char letters[] = "kmgt";
	uint64_t v, unit = 1;

	if (!parse_digits(&text, &v))
		return false;
	const char *letter = *text ? strchr(letters, tolower((unsigned char)*text)) : NULL;
	if (letter) {
		unit = UINT64_C(1) << (10 * (letter - letters + 1));
		text++;
		if (strcasecmp(text, "b") == 0 || strcasecmp(text, "ib") == 0)
			text = "";
	}
	return *text == 0 && !__builtin_mul_overflow(v, unit, bytes);
}

char *format_bytes(char *text, uint64_t bytes)
{
	static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB"};
	double v = (double)bytes;
	size_t u = 0;

	for (; v >= 1000 && u < 5; u++)
		v /= 1000;
	snprintf(text, 16, u == 0 || v >= 99.95 ? "%.0f %s" : "%.1f %s", v, units[u]);
	return text;
}

bool parse_duration_s(const char *text, uint64_t *seconds)
{
	static const struct {
		const char *suffix;
		uint32_t seconds;
	} units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}, {"w", 604800}};
	uint64_t v;
	if (strcasecmp(text, "forever") == 0) {
		*seconds = DURATION_FOREVER;
		return true;
	}
	if (!parse_digits(&text, &v))
		return false;
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (strcasecmp(text, units[i].suffix) == 0)
			return !__builtin_mul_overflow(v, (uint64_t)units[i].seconds, seconds);
	return false;
}

static bool same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Return the optimal string alignment distance. Both names are at most LONGEST_NAME long. */
static unsigned edits(const char *a, size_t na, const char *b, size_t nb)
{
	unsigned rows[3][LONGEST_NAME + 1];
	unsigned *before = rows[0], *above = rows[1], *row = rows[2];

	for (size_t j = 0; j <= nb; j++)
		above[j] = (unsigned)j;
	for (size_t i = 1; i <= na; i++) {
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= nb; j++) {
			row[j] = above[j - 1] + !same(a[i - 1], b[j - 1]);
			row[j] = least(row[j], least(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
				row[j] = least(row[j], before[j - 2] + 1);
		}
		unsigned *oldest = before;
		before = above;
		above = row;
		row = oldest;
	}
	return above[nb];
}

const char *near_miss(const char *name, const char *const *known, size_t nknown)
{
	size_t len = strlen(name);
	unsigned best = len <= 4 ? 2 : len <= 8 ? 3 : 4;
	const char *found = NULL;

	if (len == 0 || len > LONGEST_NAME)
		return NULL;
	for (size_t i = 0; i < nknown; i++) {
		size_t n = strlen(known[i]);
		unsigned d = n <= LONGEST_NAME ? edits(name, len, known[i], n) : best;

		if (d < best && d < len) {
			best = d;
			found = known[i];
		}
	}
	return found;
}
