/*
 * dialect.c - find the lines that are rows, and the delimiter of their values
 *
 * Every delimiter and every possible first line is tried on the first lines. The best pair gives
 * the most lines as many values as the first row has, above all if the first row looks like names.
 */
#include <ctype.h>
#include <strings.h>

#include "sniff_parts.h"
#include "bytes.h"

#define LOOK_LINES	400
#define LOOK_STARTS	32
#define QUOTED_LINES	200 /* a quoted value has at most this many lines */
#define FOOTER_ROWS	5
#define MOST_COLUMNS	4096
#define LEAST_GOOD	0.6 /* of the lines */
#define PREAMBLE_WEIGHT 0.25

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

/* Values were only counted while the text could still move; set their places now. */
static void place_values(struct sniffed_row *r)
{
	const uint8_t *p = r->text.ptr;

	for (size_t i = 0; i < r->n; i++) {
		r->value[i].ptr = p;
		p += r->value[i].len + 1;
	}
}

/*
 * Read a value after its opening quote. False: it does not end, or something else follows the
 * quote.
 */
static bool take_quoted(const struct sniffed_shape *s, const struct lines *l, size_t *line,
			size_t last, const uint8_t **at, struct sniffed_row *r)
{
	const uint8_t *p = *at, *end = l->text.ptr + l->line[*line].at + l->line[*line].len;

	for (;;) {
		if (p == end) {
			if (*line + 1 >= last)
				return false;
			buf_put(&r->text, '\n');
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
		return p == end || *p == s->delimiter;
	}
}

/* Read one value. Returns the place of its delimiter, or the end of its line. */
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
	while (p < end && (*p != s->delimiter || s->one))
		buf_put(&r->text, *p++);
	add_value(r, at, false);
	return p;
}

size_t row_split(const struct sniffed_shape *s, const struct lines *l, size_t line, size_t end,
		 struct sniffed_row *r)
{
	const uint8_t *p = l->text.ptr + l->line[line].at;

	r->n = r->text.len = 0;
	for (;;) {
		p = take_value(s, l, &line, end, p, r);
		if (p == l->text.ptr + l->line[line].at + l->line[line].len)
			break;
		p++;
		if (r->n == MOST_COLUMNS)
			break;
	}
	place_values(r);
	return line + 1;
}

static bool is_blank(struct bytes t)
{
	size_t i = 0;

	while (i < t.len && (t.ptr[i] == ' ' || t.ptr[i] == '\t'))
		i++;
	return i == t.len;
}

bool line_counts(const struct sniffed_shape *s, const struct lines *l, size_t line)
{
	struct bytes t = line_text(l, line);

	return !is_blank(t) && !(s->comments && t.ptr[0] == '#');
}

size_t next_row(const struct sniffed_shape *s, const struct lines *l, size_t line)
{
	while (line < s->end && !line_counts(s, l, line))
		line++;
	return line;
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
	bool letter = false, number = t.len > 0;

	for (size_t i = 0; i < t.len; i++) {
		letter = letter || t.ptr[i] >= 0x80 || isalpha(t.ptr[i]) || t.ptr[i] == '_';
		number = number && (isdigit(t.ptr[i]) || strchr("+-.,:/eE TZ", t.ptr[i]));
	}
	return letter && !number && t.len <= 100 && is_utf8(t);
}

/* Are all values names? Of three, one may be empty; or every second one: a||b||c. */
static bool are_names(const struct sniffed_row *r)
{
	size_t empty = 0, between = 0;

	for (size_t i = 0; i < r->n; i++) {
		if (is_blank(r->value[i])) {
			empty++;
			between += i % 2;
		} else if (!is_name(r->value[i])) {
			return false;
		}
	}
	bool doubled = between == empty && empty == r->n / 2;
	return r->n > 0 && (empty <= (r->n > 2) || doubled);
}

static bool rest_is_empty(const struct sniffed_row *r, size_t from)
{
	while (from < r->n && is_blank(r->value[from]))
		from++;
	return from == r->n;
}

/* Score how well the first lines are rows of this shape; n0 values show how much. */
static double score(struct sniffed_shape *s, const struct lines *l, struct sniffed_row *r)
{
	size_t end = l->n < s->first + LOOK_LINES ? l->n : s->first + LOOK_LINES;
	double good = 0, all = 0;

	for (size_t i = 0; i < s->first; i++)
		all += line_counts(s, l, i) ? PREAMBLE_WEIGHT : 0;
	if (!line_counts(s, l, s->first))
		return 0;
	row_split(s, l, s->first, end, r);
	size_t n0 = r->n;
	bool names = are_names(r);
	if (n0 < 2)
		return 0;
	s->ncolumns = n0;
	for (size_t i = s->first; i < end;) {
		if (!line_counts(s, l, i)) {
			i++;
			continue;
		}
		size_t next = row_split(s, l, i, end, r);
		double lines = (double)(next - i);
		all += lines;
		good += lines * (r->n == n0		? 1
				 : r->n < n0		? 0.3 * (double)r->n / (double)n0
				 : rest_is_empty(r, n0) ? 0.9
							: 0.5);
		i = next;
	}
	double columns = n0 < 20 ? (double)n0 : 20;
	if (good < LEAST_GOOD * all)
		return 0;
	return good / all * (1 + columns / 100) + (names ? 0.5 : 0) - (double)s->first / 1000;
}

static bool has_byte(const struct lines *l, uint8_t byte)
{
	return l->text.len && memchr(l->text.ptr, byte, l->text.len);
}

/* Try delimiters in order of preference; the first wins a tie. */
static void find_delimiter(struct sniffed_shape *s, const struct lines *l)
{
	static const char delimiters[] = ",;\t|^~";
	struct sniffed_row r = {0};
	struct sniffed_shape best = *s;
	double most = 0;

	for (size_t i = 0; delimiters[i]; i++) {
		struct sniffed_shape try = *s;

		try.delimiter = (uint8_t)delimiters[i];
		if (!has_byte(l, try.delimiter))
			continue;
		for (try.first = 0; try.first < l->n && try.first < LOOK_STARTS; try.first++) {
			double found = score(&try, l, &r);

			if (found > most) {
				most = found;
				best = try;
			}
		}
	}
	row_release(&r);
	*s = best;
}

/* --- what follows the rows --- */

static bool begins_footer(const struct sniffed_row *r)
{
	static const char *const words[] = {"total",  "totals", "summe", "sum",	    "trailer",
					    "end",    "ende",	"eof",	 "footer",  "count",
					    "record", "gesamt", "rows",	 "records", "grand"};
	size_t first = 0;

	while (first < r->n && is_blank(r->value[first]))
		first++;
	if (first == r->n)
		return false;
	struct bytes t = r->value[first];
	size_t skip = 0, len = 0;
	while (skip < t.len && t.ptr[skip] == ' ')
		skip++;
	while (skip + len < t.len && isalpha(t.ptr[skip + len]))
		len++;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strlen(words[i]) == len &&
		    strncasecmp((const char *)t.ptr + skip, words[i], len) == 0)
			return true;
	return false;
}

struct tail {
	size_t line[FOOTER_ROWS];
	bool odd[FOOTER_ROWS], word[FOOTER_ROWS];
	size_t n;
};

/* Find the last rows, and note in the shape what is unusual in the rows before them. */
static void walk_rows(struct sniffed_shape *s, const struct lines *l, struct tail *tail)
{
	struct sniffed_row r = {0};
	size_t rows = 0;

	for (size_t i = next_row(s, l, s->first); i < s->end; i = next_row(s, l, i)) {
		size_t k = rows++ % FOOTER_ROWS, at = i;

		if (rows > FOOTER_ROWS && tail->odd[k])
			s->missing = true;
		i = row_split(s, l, i, s->end, &r);
		tail->line[k] = at;
		tail->odd[k] = r.n < s->ncolumns;
		tail->word[k] = begins_footer(&r);
		if (r.n > s->ncolumns && rest_is_empty(&r, s->ncolumns))
			s->extra = true;
		else if (r.n > s->ncolumns && r.n > s->widest)
			s->widest = r.n;
	}
	tail->n = rows;
	row_release(&r);
}

/* A footer begins after the last usual row, at a footer's word or a row of few values. */
static void find_footer(struct sniffed_shape *s, const struct lines *l)
{
	struct tail tail = {0};

	walk_rows(s, l, &tail);
	size_t most = tail.n < FOOTER_ROWS ? tail.n : FOOTER_ROWS, cut = 0;
	for (size_t back = 1; back <= most && back + 1 < tail.n; back++) {
		size_t k = (tail.n - back) % FOOTER_ROWS;

		if (tail.word[k])
			cut = back;
		else if (!tail.odd[k])
			break;
	}
	for (size_t back = 1; back <= most; back++)
		if (back > cut && tail.odd[(tail.n - back) % FOOTER_ROWS])
			s->missing = true;
	if (!cut || !l->whole)
		return;
	size_t end = s->end;
	s->end = tail.line[(tail.n - cut) % FOOTER_ROWS];
	for (size_t i = s->end; i < end; i++)
		s->footer += !is_blank(line_text(l, i));
}

/* --- names --- */

static bool same_somewhere(const struct sniffed_shape *s, const struct lines *l,
			   const struct sniffed_row *names)
{
	struct sniffed_row r = {0};
	bool same = false;
	size_t i = next_row(s, l, s->first);

	i = row_split(s, l, i, s->end, &r);
	for (i = next_row(s, l, i); i < s->end && !same; i = next_row(s, l, i)) {
		i = row_split(s, l, i, s->end, &r);
		for (size_t k = 0; k < r.n && k < names->n; k++)
			same = same || (r.value[k].len && bytes_eq(r.value[k], names->value[k]));
	}
	row_release(&r);
	return same;
}

/* The name of a single column contains no space, unlike a line of prose. */
static bool is_header(const struct sniffed_shape *s, const struct lines *l,
		      const struct sniffed_row *r)
{
	if (s->one && (memchr(r->value[0].ptr, ' ', r->value[0].len) || s->first + 1 >= s->end))
		return false;
	return are_names(r) && !same_somewhere(s, l, r);
}

static void find_header(struct sniffed_shape *s, const struct lines *l)
{
	struct sniffed_row r = {0};

	row_split(s, l, s->first, s->end, &r);
	s->header = is_header(s, l, &r);
	for (size_t i = 0; i < r.n; i++) {
		s->repeats = s->repeats || is_blank(r.value[i]);
		for (size_t k = 0; k < i; k++)
			s->repeats = s->repeats || bytes_eq(r.value[i], r.value[k]);
	}
	row_release(&r);
}

void shape_find(struct sniffed_shape *s, const struct lines *l)
{
	size_t comments = 0, rows = 0;

	*s = (struct sniffed_shape){.quote = '"', .end = l->n};
	for (size_t i = 0; i < l->n && i < LOOK_LINES; i++) {
		struct bytes t = line_text(l, i);

		comments += t.len > 0 && t.ptr[0] == '#';
		rows += !is_blank(t);
	}
	s->comments = comments > 0 && comments < rows;
	find_delimiter(s, l);
	if (!s->delimiter) {
		s->delimiter = ',';
		s->ncolumns = 1;
		s->one = true;
	}
	s->first = next_row(s, l, s->first);
	if (s->first < s->end && !s->one)
		find_footer(s, l);
	if (s->first < s->end)
		find_header(s, l);
	if (s->widest) { /* columns without a name: leave none out */
		s->missing = true;
		s->ncolumns = s->widest;
	}
}
