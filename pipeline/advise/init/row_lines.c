/* row_lines.c - the lines of a text that are rows, and the values of a row */
#include <ctype.h>

#include "pool.h"
#include "sniff_parts.h"
#include "bytes.h"

#define QUOTED_LINES 200 /* a quoted value has at most this many lines */
#define MOST_COLUMNS 4096

void row_release(struct sniffed_row *r)
{
	mem_free(r->value);
	mem_free(r->quoted);
	buf_release(&r->text);
}

static void add_value(struct sniffed_row *r, size_t at, bool quoted)
{
	size_t room = r->room;

	r->quoted = mem_reserve(r->quoted, &room, r->n + 1, sizeof *r->quoted);
	r->value = mem_reserve(r->value, &r->room, r->n + 1, sizeof *r->value);
	r->value[r->n] = (struct bytes){NULL, r->text.len - at};
	r->quoted[r->n++] = quoted;
	buf_put(&r->text, 0);
}

/*
 * Set the pointers of the values. Earlier steps only count values, because the text can still move.
 */
static void place_values(struct sniffed_row *r)
{
	const uint8_t *p = r->text.ptr;

	for (size_t i = 0; i < r->n; i++) {
		r->value[i].ptr = p;
		p += r->value[i].len + 1;
	}
}

/* Return true if a delimiter begins at `p`. */
static bool at_delimiter(const struct sniffed_shape *s, const uint8_t *p, const uint8_t *end)
{
	size_t n = s->several ? strlen(s->several) : 1;

	return *p == s->delimiter && !s->one &&
	       (n == 1 || ((size_t)(end - p) >= n && memcmp(p, s->several, n) == 0));
}

/*
 * Read a value after its opening quote. Return false if the value does not end, or if other text
 * follows the closing quote.
 */
static bool take_quoted(const struct sniffed_shape *s, const struct lines *l, size_t *line,
			size_t last, const uint8_t **at, struct sniffed_row *r)
{
	const uint8_t *p = *at, *end = l->text.ptr + l->line[*line].at + l->line[*line].len;

	for (;;) {
		if (p == end) {
			if (*line + 1 >= last)
				return false;
			buf_append_str(&r->text, l->line[*line].crlf ? "\r\n" : "\n");
			p = l->text.ptr + l->line[++*line].at;
			end = p + l->line[*line].len;
			continue;
		}
		if (*p != s->quote) {
			buf_put(&r->text, *p++);
			continue;
		}
		if (++p < end && *p == s->quote) {
			buf_put(&r->text, *p++);
			continue;
		}
		while (p < end && (*p == ' ' || *p == '\t') && *p != s->delimiter)
			p++;
		*at = p;
		return p == end || at_delimiter(s, p, end);
	}
}

/* Read one value. Return the position of its delimiter, or the end of its line. */
static const uint8_t *take_value(const struct sniffed_shape *s, const struct lines *l, size_t *line,
				 size_t last, const uint8_t *p, struct sniffed_row *r)
{
	const uint8_t *end = l->text.ptr + l->line[*line].at + l->line[*line].len, *q = p;
	size_t at = r->text.len, line_before = *line;

	while (q < end && (*q == ' ' || *q == '\t') && *q != s->delimiter)
		q++;
	if (!s->one && q < end && *q == s->quote) {
		q++;
		size_t most = *line + QUOTED_LINES;
		if (take_quoted(s, l, line, most < last ? most : last, &q, r)) {
			add_value(r, at, true);
			return q;
		}
		r->text.len = at;
		*line = line_before;
	}
	while (p < end && !at_delimiter(s, p, end))
		buf_put(&r->text, *p++);
	add_value(r, at, false);
	return p;
}

/* Split a line at runs of blanks. Blanks at its ends are no values. */
static void split_blanks(const struct sniffed_shape *s, const struct lines *l, size_t line,
			 struct sniffed_row *r)
{
	struct bytes t = without_blanks(line_text(l, line));
	const uint8_t *p = t.ptr, *end = p + t.len;

	while (p < end && r->n < MOST_COLUMNS) {
		size_t at = r->text.len;
		bool last = s->rest && r->n + 1 == s->ncolumns;
		const uint8_t *close = s->in_quotes && *p == '"' && p + 1 < end
					       ? memchr(p + 1, '"', (size_t)(end - p) - 1)
					       : NULL;

		if (close && (close + 1 == end || close[1] == ' ' || close[1] == '\t')) {
			buf_append(&r->text, p + 1, (size_t)(close - p) - 1);
			p = close + 1;
		} else {
			close = NULL;
		}
		while (!close && p < end && (last || (*p != ' ' && *p != '\t')))
			buf_put(&r->text, *p++);
		add_value(r, at, close != NULL);
		while (p < end && (*p == ' ' || *p == '\t'))
			p++;
	}
	place_values(r);
}

size_t row_split(const struct sniffed_shape *s, const struct lines *l, size_t line, size_t end,
		 struct sniffed_row *r)
{
	const uint8_t *p = l->text.ptr + l->line[line].at;

	r->n = r->text.len = 0;
	if (s->blanks) {
		split_blanks(s, l, line, r);
		return line + 1;
	}
	for (;;) {
		p = take_value(s, l, &line, end, p, r);
		if (p == l->text.ptr + l->line[line].at + l->line[line].len)
			break;
		p += s->several ? strlen(s->several) : 1;
		if (r->n == MOST_COLUMNS)
			break;
	}
	place_values(r);
	return line + 1;
}

bool is_blank(struct bytes t)
{
	size_t i = 0;

	while (i < t.len && (t.ptr[i] == ' ' || t.ptr[i] == '\t'))
		i++;
	return i == t.len;
}

bool has_digit(struct bytes t)
{
	for (size_t i = 0; i < t.len; i++)
		if (isdigit(t.ptr[i]))
			return true;
	return false;
}

struct bytes without_blanks(struct bytes t)
{
	while (t.len && (t.ptr[0] == ' ' || t.ptr[0] == '\t'))
		t = bytes_of(t.ptr + 1, t.len - 1);
	while (t.len && (t.ptr[t.len - 1] == ' ' || t.ptr[t.len - 1] == '\t'))
		t.len--;
	return t;
}

bool line_is_ruler(struct bytes t)
{
	size_t run = 0, most = 0;

	for (size_t i = 0; i < t.len; i++) {
		bool dash = t.ptr[i] == '-' || t.ptr[i] == '=';

		if (!dash && !memchr("+|: \t", t.ptr[i], 5)) /* : aligns columns of Markdown */
			return false;
		run = dash ? run + 1 : 0;
		most = run > most ? run : most;
	}
	return most >= 3;
}

bool line_is_directive(struct bytes t)
{
	return (t.len > 1 && t.ptr[0] == '@' && (t.ptr[1] == ' ' || islower(t.ptr[1]))) ||
	       (t.len == 1 && t.ptr[0] == '&');
}

bool line_is_count(struct bytes t)
{
	static const char *const ends[] = {"", " affected", " selected", " fetched", NULL};
	size_t start = t.len && t.ptr[0] == '(', i = start;

	while (t.len && strchr(" \t.)", t.ptr[t.len - 1]))
		t.len--;
	while (i < t.len && isdigit(t.ptr[i]))
		i++;
	if (i == start || t.len - i < 4 || memcmp(t.ptr + i, " row", 4) != 0)
		return false;
	i += 4;
	i += i < t.len && t.ptr[i] == 's';
	for (size_t k = 0; ends[k]; k++)
		if (bytes_eq(bytes_of(t.ptr + i, t.len - i), bytes_str(ends[k])))
			return true;
	return false;
}

size_t count_pairs(struct bytes t)
{
	size_t pairs = 0;
	bool name = false;

	for (size_t i = 0; i < t.len; i++) {
		uint8_t c = t.ptr[i];

		if (c == '=' && name)
			pairs++;
		name = isalpha(c) || c == '_' || (name && (isdigit(c) || c == '.' || c == '-'));
	}
	return pairs;
}

bool line_like(struct bytes a, struct bytes b)
{
	size_t i = 0, k = 0;

	while (i < a.len && k < b.len) {
		if (isdigit(a.ptr[i]) && isdigit(b.ptr[k])) {
			while (i < a.len && isdigit(a.ptr[i]))
				i++;
			while (k < b.len && isdigit(b.ptr[k]))
				k++;
		} else if (a.ptr[i++] != b.ptr[k++]) {
			return false;
		}
	}
	return i == a.len && k == b.len;
}

bool line_counts(const struct sniffed_shape *s, const struct lines *l, size_t line)
{
	struct bytes t = line_text(l, line);

	if (is_blank(t) || (s->comments && t.ptr[0] == '#'))
		return false;
	for (size_t k = 0; k < s->nheadings; k++)
		if (line_like(t, line_text(l, s->heading[k])))
			return false;
	return !((s->directives && line_is_directive(t)) || (s->rulers && line_is_ruler(t)) ||
		 (s->counts && line_is_count(t)) ||
		 (s->headers && line != s->header_line &&
		  bytes_eq(t, line_text(l, s->header_line))));
}

size_t next_row(const struct sniffed_shape *s, const struct lines *l, size_t line)
{
	while (line < s->end && !line_counts(s, l, line))
		line++;
	return stop_flag ? s->end : line; /* after a signal, end all passes over the rows */
}

static bool is_utf8(struct bytes t)
{
	const uint8_t *p = t.ptr, *end = p + t.len;
	size_t n = 1;

	for (; p < end && n; p += n)
		n = utf8_char(p, end);
	return n;
}

bool is_name(struct bytes t)
{
	bool letter = false, number = has_digit(t); /* E, T and Z alone are names */

	for (size_t i = 0; i < t.len; i++) {
		bool sign = t.ptr[i] == 0xf0 && i + 3 < t.len && t.ptr[i + 1] == 0x9f;

		i += sign ? 3 : 0; /* an emoji is no letter */
		letter = letter ||
			 (!sign && (t.ptr[i] >= 0x80 || isalpha(t.ptr[i]) || t.ptr[i] == '_'));
		number = number && (isdigit(t.ptr[i]) || strchr("+-.,:/eE TZ", t.ptr[i]));
	}
	return letter && !number && t.len <= 100 && is_utf8(t);
}

/* Return the year that the text is, or 0. */
static unsigned year_of(struct bytes t)
{
	unsigned year = 0;

	if (t.len != 4)
		return 0;
	for (size_t i = 0; i < 4; i++) {
		if (!isdigit(t.ptr[i]))
			return 0;
		year = year * 10 + (unsigned)(t.ptr[i] - '0');
	}
	return year >= 1800 && year < 2200 ? year : 0;
}

/*
 * Return true if the value is a year that names a column, as in name,2023,2024. The years before or
 * after it are its neighbours.
 */
static bool is_year_name(const struct sniffed_row *r, size_t i)
{
	unsigned year = year_of(r->value[i]);
	unsigned before = i ? year_of(r->value[i - 1]) : 0;
	unsigned next = i + 1 < r->n ? year_of(r->value[i + 1]) : 0;

	return year && ((before && (before + 1 == year || year + 1 == before)) ||
			(next && (next + 1 == year || year + 1 == next)));
}

bool row_is_names(const struct sniffed_row *r)
{
	size_t empty = 0;
	/* in | a | b |, nothing is outside the bars */
	bool bars = r->n > 3 && is_blank(r->value[0]) && is_blank(r->value[r->n - 1]);

	for (size_t i = 0; i < r->n; i++) {
		if (is_blank(r->value[i])) {
			empty += !bars || (i > 0 && i + 1 < r->n);
		} else if ((!is_name(r->value[i]) && !is_year_name(r, i)) ||
			   (!r->quoted[i] && memchr(r->value[i].ptr, '\t', r->value[i].len))) {
			return false;
		}
	}
	return r->n > 0 && empty <= (r->n > 2);
}

size_t row_count_values(const struct sniffed_row *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		n += !is_blank(r->value[i]);
	return n;
}

bool row_is_empty_from(const struct sniffed_row *r, size_t from)
{
	while (from < r->n && is_blank(r->value[from]))
		from++;
	return from == r->n;
}

void count_order(struct sniffed *s, struct bytes t)
{
	unsigned number[2] = {0, 0};
	size_t i = 0;

	for (size_t k = 0; k < 2; k++) {
		size_t start = i;

		while (i < t.len && i - start < 3 && isdigit(t.ptr[i]))
			number[k] = number[k] * 10 + (unsigned)(t.ptr[i++] - '0');
		if (i == start || i - start > 2 || i == t.len)
			return;
		i++;
	}
	s->ordered++;
	s->swappable += number[0] <= 12 && number[1] <= 12;
}
