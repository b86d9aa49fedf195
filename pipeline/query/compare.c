/* compare.c - HBase's comparators (ByteArrayComparable): a value of a cell and one that is given */
#include <ctype.h>
#include <regex.h>
#include <wctype.h>

#include "filter_kinds.h"
#include "mem.h"

int comparator_open(struct comparator *c, struct error *err)
{
	if (c->type != COMPARE_REGEX)
		return 0;
	char *text = mem_format("%.*s", (int)c->value.len, (const char *)c->value.ptr);
	regex_t *compiled = mem_calloc(1, sizeof *compiled);
	int fault = regcomp(compiled, text, REG_EXTENDED | REG_NOSUB);
	char why[120];
	if (fault) {
		regerror(fault, compiled, why, sizeof why);
		error_set(err, RC_CONFIG,
			  "found the expression `%.100s`: %s; expected a POSIX "
			  "extended regular expression",
			  text, why);
		mem_free(compiled);
	} else {
		c->compiled = compiled;
	}
	mem_free(text);
	return fault ? RC_CONFIG : 0;
}

void comparator_close(struct comparator *c)
{
	if (c->compiled)
		regfree(c->compiled);
	mem_free(c->compiled);
	c->compiled = NULL;
}

static bool is_found(const struct comparator *c, struct bytes value)
{
	const char *text = value.len ? (const char *)value.ptr : "";
	int len = (int)value.len; /* of any bytes: regexec ends at a NUL */
	return re_search(c->compiled, text, len, 0, len, NULL) >= 0;
}

static bool same_letters(const uint8_t *a, const uint8_t *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (tolower(a[i]) != tolower(b[i]))
			return false;
	return true;
}

static bool holds(struct bytes value, struct bytes part)
{
	for (size_t at = 0; at + part.len <= value.len; at++)
		if (same_letters(value.ptr + at, part.ptr, part.len))
			return true;
	return false;
}

static int sign(int c)
{
	return (c > 0) - (c < 0);
}

static int compare_long(int64_t given, struct bytes value)
{
	if (value.len != 8)
		return 1;
	int64_t v = (int64_t)get_be64(value.ptr);
	return (given > v) - (given < v);
}

/* The sign of given - value. */
static int compare(const struct comparator *c, struct bytes value)
{
	switch (c->type) {
	case COMPARE_BINARY_PREFIX:
		if (value.len > c->value.len)
			value.len = c->value.len;
		return sign(bytes_cmp(c->value, value));
	case COMPARE_SUBSTRING: return !holds(value, c->value);
	case COMPARE_REGEX: return !is_found(c, value);
	case COMPARE_NULL: return 1;
	case COMPARE_LONG: return compare_long(c->number, value);
	case COMPARE_BINARY: break;
	}
	return sign(bytes_cmp(c->value, value));
}

bool comparator_passes(const struct comparator *with, enum filter_op op, struct bytes value)
{
	int c = compare(with, value);
	switch (op) {
	case FILTER_LESS: return c > 0;
	case FILTER_LESS_OR_EQUAL: return c >= 0;
	case FILTER_EQUAL: return c == 0;
	case FILTER_NOT_EQUAL: return c != 0;
	case FILTER_GREATER_OR_EQUAL: return c <= 0;
	case FILTER_GREATER: break;
	}
	return c < 0;
}
