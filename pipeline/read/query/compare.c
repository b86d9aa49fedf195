/*
 * compare.c - compare a cell's value with a given value, as HBase's comparators
 * (ByteArrayComparable) do
 */
#include <ctype.h>

#include "filter_kinds.h"
#include "mem.h"
#include "pattern.h"
#include "bytes.h"

/*
 * A compiled RegexStringComparator, which is java.util.regex with DOTALL. PCRE2 has nearly the same
 * rules (README.md 7).
 */
struct compared_pattern {
	struct arena arena;
	struct pattern *pattern;
	struct pattern_scratch scratch;
	struct buf text; /* the decoded value */
	bool costly;
};

int comparator_open(struct comparator *c, struct error *err)
{
	if (c->type != COMPARE_REGEX)
		return 0;
	if (c->value.len && memchr(c->value.ptr, 0, c->value.len))
		return error_set(err, RC_CONFIG,
				 "found a NUL byte in an expression, expected \\x00 for it");
	struct compared_pattern *p = mem_calloc(1, sizeof *p);
	char *text = arena_strndup(&p->arena, c->value.len ? (const char *)c->value.ptr : "",
				   c->value.len);
	c->compiled = p;
	return pattern_new_dotall(&p->pattern, &p->arena, text, err);
}

void comparator_close(struct comparator *c)
{
	if (!c->compiled)
		return;
	pattern_scratch_release(&c->compiled->scratch);
	buf_release(&c->compiled->text);
	arena_release(&c->compiled->arena);
	mem_free(c->compiled);
	c->compiled = NULL;
}

bool comparator_gave_up(const struct comparator *c)
{
	return c->compiled && c->compiled->costly;
}

/*
 * Returns true if the three bytes encode a surrogate. Java (UTF_8.Decoder) reads these bytes as one
 * malformed character.
 */
static bool is_surrogate(const uint8_t *p, const uint8_t *end)
{
	return end - p >= 3 && p[0] == 0xED && (p[1] & 0xE0) == 0xA0 && (p[2] & 0xC0) == 0x80;
}

/* Decodes the value as Java's new String(value, UTF_8) does. Malformed bytes become U+FFFD. */
static void decode(struct buf *out, struct bytes value)
{
	const uint8_t *p = value.ptr, *end = p + value.len;
	uint32_t code;

	out->len = 0;
	while (p < end) {
		size_t good = utf8_char(p, end);
		size_t n = good ? good
			   : is_surrogate(p, end)
				   ? 3
				   : utf8_decode(bytes_of(p, (size_t)(end - p)), &code);

		if (good)
			buf_append(out, p, good);
		else
			buf_append(out, "\xEF\xBF\xBD", 3);
		p += n;
	}
}

static bool is_found(const struct comparator *c, struct bytes value)
{
	struct compared_pattern *p = c->compiled;

	decode(&p->text, value);
	enum pattern_result found =
		pattern_find(p->pattern, &p->scratch, buf_bytes(&p->text), NULL);
	p->costly |= found == PATTERN_COSTLY;
	return found == PATTERN_FOUND;
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

/* Compares a part of the value. If the value ends early, compares only the bytes that exist. */
static int compare_component(const struct comparator *c, struct bytes value)
{
	size_t at = c->at < value.len ? c->at : value.len, left = value.len - at;

	return sign(bytes_cmp(c->value,
			      bytes_of(value.ptr + at, left < c->value.len ? left : c->value.len)));
}

/*
 * Compares the comparator's value with the cell's value. Returns a negative number, 0 or a positive
 * number.
 */
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
	case COMPARE_COMPONENT: return compare_component(c, value);
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
