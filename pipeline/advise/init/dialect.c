/*
 * dialect.c - find the lines of a text that are rows, and the delimiter of their values
 *
 * The search splits the first lines with every delimiter, from every possible first line on. With
 * the best pair, most lines have as many values as the first row. A pair whose first row looks like
 * names has a higher score.
 */
#include <ctype.h>
#include <strings.h>

#include "pool.h"
#include "sniff_parts.h"
#include "bytes.h"

#define LOOK_LINES	400
#define LOOK_STARTS	32
#define FOOTER_ROWS	5
#define LEAST_GOOD	0.6 /* smallest share of lines that must match the first row */
#define PREAMBLE_WEIGHT 0.25

/* Return true if every second value is empty, as in a||b||c. */
static bool is_doubled(const struct sniffed_row *r)
{
	size_t empty = 0, between = 0;

	for (size_t i = 0; i < r->n; i++) {
		empty += is_blank(r->value[i]);
		between += i % 2 && is_blank(r->value[i]);
	}
	return empty > 0 && between == empty && empty == r->n / 2;
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

/*
 * Return true if all values are names. One in three values may be empty, or every second value, as
 * in a||b||c.
 */
static bool are_names(const struct sniffed_row *r)
{
	size_t empty = 0;

	for (size_t i = 0; i < r->n; i++) {
		if (is_blank(r->value[i])) {
			empty++;
		} else if ((!is_name(r->value[i]) && !is_year_name(r, i)) ||
			   (!r->quoted[i] && memchr(r->value[i].ptr, '\t', r->value[i].len))) {
			return false;
		}
	}
	return r->n > 0 && (empty <= (r->n > 2) || is_doubled(r));
}

static bool rest_is_empty(const struct sniffed_row *r, size_t from)
{
	while (from < r->n && is_blank(r->value[from]))
		from++;
	return from == r->n;
}

/* Return a score of how well the first lines match this shape. */
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

/*
 * Try delimiters in order of preference. If two delimiters have the same score, choose the first.
 */
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

/* --- lines after the rows --- */

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

/* Find the last rows, and note unusual features of earlier rows in the shape. */
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

/*
 * Find the footer. The footer begins after the last usual row, with a typical word or with a row of
 * few values.
 */
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

/*
 * Return true if the row is a header. If there is only one column, its name contains no space,
 * because a line with spaces is a sentence.
 */
static bool is_header(const struct sniffed_shape *s, const struct lines *l,
		      const struct sniffed_row *r)
{
	if (s->one && (memchr(r->value[0].ptr, ' ', r->value[0].len) || s->first + 1 >= s->end))
		return false;
	return are_names(r) && !same_somewhere(s, l, r);
}

/* Note whether later lines repeat the first row. */
static void find_repeats(struct sniffed_shape *s, const struct lines *l)
{
	size_t rows = 0, same = 0;

	s->header_line = s->first;
	for (size_t i = s->first + 1; i < s->end; i++) {
		rows++;
		same += bytes_eq(line_text(l, i), line_text(l, s->first));
	}
	/* a folder repeats the header in each file, and the load reads it there */
	s->headers = !s->one && same > 0 && (same * 4 < rows || same < l->nfiles);
}

static void find_header(struct sniffed_shape *s, const struct lines *l)
{
	struct sniffed_row r = {0};

	row_split(s, l, s->first, s->end, &r);
	s->doubled = is_doubled(&r);
	s->names_first = are_names(&r);
	if (are_names(&r))
		find_repeats(s, l);
	s->header = is_header(s, l, &r);
	s->headers = s->headers && s->header;
	for (size_t i = 0; i < r.n; i++) {
		s->repeats = s->repeats || is_blank(r.value[i]);
		for (size_t k = 0; k < i; k++)
			s->repeats = s->repeats || bytes_eq(r.value[i], r.value[k]);
	}
	row_release(&r);
}

/* Return the byte around values: ' if more values begin and end with it than with ". */
static uint8_t find_quote(const struct lines *l)
{
	size_t ones = 0, twos = 0;

	for (size_t i = 0; i < l->n && i < LOOK_LINES; i++) {
		struct bytes t = line_text(l, i);

		for (size_t k = 0; k < t.len; k++) {
			bool begins = k == 0 || memchr(",;\t|", t.ptr[k - 1], 4);
			bool ends = k + 1 == t.len || memchr(",;\t|", t.ptr[k + 1], 4);

			ones += t.ptr[k] == '\'' && begins != ends;
			twos += t.ptr[k] == '"' && begins != ends;
		}
	}
	return ones > l->n / 2 && twos == 0 ? '\'' : '"';
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
	for (size_t i = 0; i < l->n; i++) {
		struct bytes t = line_text(l, i);

		s->rulers = s->rulers || line_is_ruler(t);
		s->counts = s->counts || line_is_count(t);
	}
	s->quote = find_quote(l);
	s->comments = comments > 0 && comments < rows;
	find_delimiter(s, l);
	if (!s->delimiter) {
		s->delimiter = ',';
		s->ncolumns = 1;
		s->one = true;
	}
	if (shape_of_words(s, l))
		s->missing = false;
	s->first = next_row(s, l, s->first);
	if (s->first < s->end && !s->one)
		find_footer(s, l);
	if (s->first < s->end && !s->fields)
		find_header(s, l);
	if (s->widest) { /* include columns without a name */
		s->missing = true;
		s->ncolumns = s->widest;
	}
}
