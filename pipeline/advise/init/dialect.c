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
#define LEAST_GOOD	0.6 /* smallest share of lines that must match the first row */
#define PREAMBLE_WEIGHT 0.25
#define RAGGED		0.7 /* weight of a row that lacks its last values */
#define SENTENCE	4   /* a line of more words is text and no row of a few values */
#define TABLE_LINES	2   /* so many lines with as many values as the one before are a table */

/* Count pairs of the delimiter, as in a||b, and delimiters alone. */
static void count_pairs_of(struct bytes t, uint8_t delimiter, size_t *pairs, size_t *alone)
{
	*pairs = *alone = 0;
	for (size_t i = 0; i < t.len; i++) {
		if (t.ptr[i] != delimiter)
			continue;
		bool pair = i + 1 < t.len && t.ptr[i + 1] == delimiter;

		*pairs += pair;
		*alone += !pair;
		i += pair;
	}
}

/*
 * Return true if most lines from `s->first` on have equally many pairs, and the first has no
 * delimiter alone. Other values may contain one. A line with as many delimiters, but not in pairs,
 * shows that a pair is an empty value.
 */
static bool has_pairs(struct sniffed_shape *s, const struct lines *l, uint8_t delimiter)
{
	size_t pairs, alone, want, rows = 0, equal = 0, single = 0, apart = 0;

	count_pairs_of(line_text(l, s->first), delimiter, &want, &alone);
	if (!want || alone)
		return false;
	for (size_t i = 0; i < l->n && rows < LOOK_LINES; i++) {
		if (!line_counts(s, l, i))
			continue;
		count_pairs_of(line_text(l, i), delimiter, &pairs, &alone);
		apart += alone > 0 && 2 * pairs + alone == 2 * want;
		if (i < s->first)
			continue;
		rows++;
		equal += pairs == want;
		single += alone > 0;
	}
	s->ncolumns = want + 1;
	return rows > 1 && equal * 10 >= rows * 9 && single < rows - 1 && !apart;
}

/* Return a score of how well the first lines match this shape. */
static double score(struct sniffed_shape *s, const struct lines *l, struct sniffed_row *r)
{
	size_t end = l->n < s->first + LOOK_LINES ? l->n : s->first + LOOK_LINES;
	double good = 0, ragged = 0, all = 0;
	bool some_full = false, longer = false;

	if (!line_counts(s, l, s->first))
		return 0;
	row_split(s, l, s->first, end, r);
	size_t n0 = r->n, full = row_count_values(r), like_rows = 0;
	bool names = row_is_names(r);
	if (n0 < 2)
		return 0;
	for (size_t i = 0; i < s->first; i++) {
		if (!line_counts(s, l, i))
			continue;
		row_split(s, l, i, s->first, r);
		all += PREAMBLE_WEIGHT;
		like_rows += (r->n == n0 || (r->n > n0 && n0 > 2)) &&
			     row_count_values(r) + (full > 3) >= full;
	}
	all += (double)like_rows;
	names = names && !like_rows; /* a row of texts among other rows has no names */
	s->ncolumns = n0;
	for (size_t i = s->first; i < end;) {
		if (!line_counts(s, l, i)) {
			i++;
			continue;
		}
		size_t next = row_split(s, l, i, end, r);
		double lines = (double)(next - i);
		all += lines;
		some_full = some_full || (i > s->first && r->n == n0);
		longer = longer || r->n > n0;
		ragged += lines * (r->n == n0 ? 1 : r->n > 1 ? RAGGED : 0);
		good += lines * (r->n == n0		    ? 1
				 : r->n < n0		    ? 0.3 * (double)r->n / (double)n0
				 : row_is_empty_from(r, n0) ? 0.9
							    : 0.5);
		i = next;
	}
	/* rows that lack their last values, below all names */
	if (names && full == n0 && n0 > 2 && some_full && !longer && ragged > good)
		good = ragged;
	double columns = n0 < 20 ? (double)n0 : 20;
	if (good < LEAST_GOOD * all)
		return 0;
	return good / all * (1 + columns / 100) +
	       (!names	    ? 0
		: full < n0 ? 0.49
			    : 0.5) -
	       (double)s->first / 1000;
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
	static const char delimiters[] = ",;\t|^~\x01";
	struct sniffed_row r = {0};
	struct sniffed_shape best = *s;
	double most = 0;

	for (size_t i = 0; delimiters[i]; i++) {
		struct sniffed_shape try = *s;

		try.delimiter = (uint8_t)delimiters[i];
		size_t starts = 0;
		if (!has_byte(l, try.delimiter))
			continue;
		for (try.first = 0; try.first < l->n && starts < LOOK_STARTS; try.first++) {
			double found = score(&try, l, &r);

			starts += line_counts(s, l, try.first);
			if (found > most) {
				most = found;
				best = try;
			}
		}
	}
	row_release(&r);
	*s = best;
}

/* Return true if the text ends with the hour of a time, such as 2026-11-03T22 or Nov 3 22. */
static bool ends_with_hour(struct bytes t)
{
	size_t digits = 0;

	while (digits < t.len && isdigit(t.ptr[t.len - 1 - digits]))
		digits++;
	return digits && digits < 3 && digits < t.len &&
	       memchr(" T\t[\"", t.ptr[t.len - 1 - digits], 5);
}

/*
 * Return true if the values may be those of a row, and not the parts of times, addresses, URLs or
 * key=value pairs.
 */
static bool are_columns(const struct sniffed_row *r)
{
	size_t parts = 0;

	if (!r->quoted[0] && (memchr(r->value[0].ptr, ' ', r->value[0].len) ||
			      memchr(r->value[0].ptr, '=', r->value[0].len)))
		return false;

	for (size_t i = 0; i < r->n; i++) {
		struct bytes t = r->value[i];
		bool digits = t.len > 0;

		for (size_t k = 0; k < t.len; k++)
			digits = digits && isxdigit(t.ptr[k]);
		parts += digits && t.len < 3;
		if (i && t.len && (t.ptr[0] == ' ' || (t.len > 1 && memcmp(t.ptr, "//", 2) == 0)))
			return false;
		if (i && ends_with_hour(r->value[i - 1]) && t.len > 1 && isdigit(t.ptr[0]))
			return false;
	}
	return 2 * parts < r->n;
}

static size_t count_blanks(struct bytes t)
{
	size_t n = 0;

	for (size_t i = 0; i < t.len; i++)
		n += t.ptr[i] == ' ' || t.ptr[i] == '\t';
	return n;
}

/*
 * Find rows of three values or more between colons, as in /etc/passwd. All lines must be such rows.
 * If they have equally many blanks, the colons may be inside of values, as in 1923:06 1924:07.
 */
static bool shape_of_colons(struct sniffed_shape *s, const struct lines *l)
{
	struct sniffed_row r = {0};
	struct sniffed_shape try = *s;
	size_t rows = 0, blanks = 0;
	bool all = true, other = false;

	try.delimiter = ':';
	try.first = next_row(&try, l, 0);
	try.ncolumns = 0;
	for (size_t i = try.first; i < try.end && all; rows++) {
		size_t n = count_blanks(line_text(l, i));

		blanks = rows ? blanks : n;
		other = other || n != blanks;
		i = next_row(&try, l, row_split(&try, l, i, try.end, &r));
		try.ncolumns = rows ? try.ncolumns : r.n;
		all = r.n == try.ncolumns && r.n > 2 && are_columns(&r);
	}
	row_release(&r);
	if (!all || rows < 2 || (blanks && !other))
		return false;
	*s = try;
	return true;
}

/* Count the places of the text. */
static size_t count_text(struct bytes t, const char *text)
{
	const uint8_t *p = t.ptr, *end = p + t.len;
	size_t n = 0, len = strlen(text);

	while ((p = memmem(p, (size_t)(end - p), text, len)) != NULL) {
		p += len;
		n++;
	}
	return n;
}

/* Return true if nearly all lines from `s->first` on have this text equally often. */
static bool has_text(struct sniffed_shape *s, const struct lines *l)
{
	size_t want = count_text(line_text(l, s->first), s->several), rows = 0, equal = 0;

	for (size_t i = s->first; i < l->n && rows < LOOK_LINES && want; i++) {
		if (!line_counts(s, l, i))
			continue;
		rows++;
		equal += count_text(line_text(l, i), s->several) == want;
	}
	s->ncolumns = want + 1;
	return rows > 1 && equal * 10 >= rows * 9;
}

/*
 * Find a delimiter of several bytes, such as || and ~|~. A column between commas may be empty
 * instead. The first row is the one with the best score, because a title may have as many
 * delimiters.
 */
static bool find_several(struct sniffed_shape *s, const struct lines *l)
{
	static const char *const several[] = {"||",  "^^",  "~~",  "~|~", "|~|", "^|^", "|^|",
					      "#|#", "@|@", "$|$", "<|>", "~^~", NULL};
	struct sniffed_row r = {0};
	struct sniffed_shape best = *s;
	double most = 0;

	for (size_t k = 0; several[k] && !best.several; k++) {
		struct sniffed_shape try = *s;
		bool pair = strlen(several[k]) == 2;

		try.delimiter = (uint8_t)several[k][0];
		try.several = several[k];
		for (try.first = 0; try.first < l->n && try.first < LOOK_STARTS; try.first++) {
			if (!line_counts(&try, l, try.first) ||
			    !(pair ? has_pairs(&try, l, try.delimiter) : has_text(&try, l)))
				continue;
			double found = score(&try, l, &r);

			if (found > most) {
				most = found;
				best = try;
			}
		}
	}
	row_release(&r);
	*s = best;
	return s->several != NULL;
}

/* --- names --- */

/*
 * Return true if the row is a header. If there is only one column, its name contains no space,
 * because a line with spaces is a sentence.
 */
static bool is_header(struct sniffed_shape *s, const struct lines *l, const struct sniffed_row *r)
{
	if (s->one && (memchr(r->value[0].ptr, ' ', r->value[0].len) || s->first + 1 >= s->end))
		return false;
	s->evidence = evidence_of(s, l);
	const struct header_evidence *e = &s->evidence;
	if (!e->names && !e->values)
		return s->names_first;
	return e->names > e->values || (e->names == e->values && s->names_first);
}

static void find_header(struct sniffed_shape *s, const struct lines *l)
{
	struct sniffed_row r = {0};

	size_t next = row_split(s, l, s->first, s->end, &r);
	s->names_first = row_is_names(&r);
	s->named = s->named || (!s->one && next < s->end && line_is_ruler(line_text(l, next)));
	s->header = s->named || is_header(s, l, &r);
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
			bool begins = k == 0 || memchr(",;\t|^~", t.ptr[k - 1], 6);
			bool ends = k + 1 == t.len || memchr(",;\t|^~", t.ptr[k + 1], 6);

			ones += t.ptr[k] == '\'' && begins != ends;
			twos += t.ptr[k] == '"' && begins != ends;
		}
	}
	return ones > l->n / 2 && twos == 0 ? '\'' : '"';
}

/*
 * Return true if lines below the first row begin with # and are rows: they have as many values as
 * other rows, which do not begin with numbers. If only a few do, they are comments with a doubt.
 * A row that a person commented out has as many values, too, so rows without # are a doubt, unless
 * each # is a value of its own.
 */
static bool has_marked_rows(struct sniffed_shape *s, const struct lines *l)
{
	struct sniffed_row r = {0};
	size_t marked = 0, other = 0, rows = 0, numbers = 0, alone = 0;

	/* a comment such as `# made by x` shows that # begins comments */
	bool comments = false;
	for (size_t i = 0; i < l->n; i++) {
		struct bytes t = line_text(l, i);

		comments = comments || (t.len > 1 && t.ptr[0] == '#' && t.ptr[1] == ' ');
	}
	for (size_t i = s->first + 1; i < l->n; i++) {
		struct bytes t = line_text(l, i);

		if (is_blank(t))
			continue;
		row_split(s, l, i, l->n, &r);
		bool mark = t.ptr[0] == '#' && r.n == s->ncolumns && r.n > 1;
		rows += r.n == s->ncolumns;
		marked += mark;
		alone += mark && r.value[0].len == 1;
		other += mark && !comments && !row_is_names(&r);
		numbers += t.ptr[0] != '#' && kind_of_text(r.value[0]) != KIND_TEXT;
	}
	row_release(&r);
	bool numbered = numbers * 2 > rows - marked;
	if (!marked || (numbered && 2 * marked <= rows && !other))
		return false;
	if (marked * 5 >= rows && !numbered) {
		if (marked < rows && alone < marked)
			s->doubt = "some rows begin with #, and the job loads them; if they are "
				   "comments, add `comment: '#'`";
		return true;
	}
	s->doubt = "some lines that begin with # have as many values as a row, but the job skips "
		   "them; if they are rows, remove `comment`";
	return false;
}

/* Count the bytes that are not between two digits, as a decimal comma is. */
static size_t count_byte(struct bytes t, uint8_t byte)
{
	size_t n = 0;

	for (size_t i = 0; i < t.len; i++)
		n += t.ptr[i] == byte && !(byte == ',' && i && i + 1 < t.len &&
					   isdigit(t.ptr[i - 1]) && isdigit(t.ptr[i + 1]));
	return n;
}

/*
 * Note a doubt if another delimiter is in each row equally often. Between commas, one is enough,
 * because the commas may be decimal. Otherwise it must be more frequent.
 */
void delimiter_doubt(struct sniffed_shape *s, const struct lines *l)
{
	for (const char *d = ",;\t|^~"; *d && !s->one && !s->blanks && !s->doubt; d++) {
		size_t first = next_row(s, l, s->first), want, rows = 0, equal = 0;

		want = first < s->end && (uint8_t)*d != s->delimiter
			       ? count_byte(line_text(l, first), (uint8_t)*d)
			       : 0;
		if (s->delimiter != ',' && want < s->ncolumns)
			continue;
		for (size_t i = first; i < s->end && want; rows++) {
			equal += count_byte(line_text(l, i), (uint8_t)*d) == want;
			i = next_row(s, l, i + 1);
		}
		if (rows > 1 && equal * 20 >= rows * 19)
			s->doubt = "another delimiter is in each row, equally often; compare some "
				   "values with the source, and see `delimiter`";
	}
}

void preamble_doubt(struct sniffed_shape *s, const struct lines *l)
{
	struct sniffed_row r = {0};
	struct sniffed_shape all = *s;
	size_t like = 0, before = 0; /* consecutive lines with equally many values */

	all.end = s->first;
	for (size_t i = next_row(&all, l, 0); i < s->first && !s->doubt && !s->one;) {
		i = next_row(&all, l, row_split(&all, l, i, all.end, &r));
		size_t n = row_count_values(&r);
		bool sentence = s->blanks && n > 2 * s->ncolumns && n > SENTENCE;

		like = n == before && n > 2 && !s->blanks ? like + 1 : 0;
		before = n;
		if (like == TABLE_LINES)
			s->doubt =
				"lines above the rows look like another table, but the job skips "
				"them; if they are one, make a file and a job for each";

		if (2 * n > s->ncolumns && !sentence)
			s->doubt = "a line above the rows has as many values as a row, but the job "
				   "skips it; if it is one, remove `skip` or `find`";
	}
	row_release(&r);
}

/* Return true if the text has quotes, and no value begins with one, as in `2" pipe`. */
static bool quotes_are_text(const struct sniffed_shape *s, const struct lines *l)
{
	const uint8_t *p = l->text.ptr, *end = p + l->text.len;
	bool any = false;

	for (; p < end && (p = memchr(p, s->quote, (size_t)(end - p))); p++) {
		const uint8_t *before = p;

		any = true;
		while (before > l->text.ptr && (before[-1] == ' ' || before[-1] == '\t') &&
		       before[-1] != s->delimiter)
			before--;
		if (before == l->text.ptr || before[-1] == s->delimiter || before[-1] == '\n' ||
		    before[-1] == '\r')
			return false;
	}
	return any;
}

/*
 * Return true if directives of a plot, such as `@ title "Energy"` of Grace, are above all rows, which
 * do not begin so. The line & may end the rows. After it, the rows of another plot may begin.
 */
static bool has_directives(const struct lines *l)
{
	size_t n = 0, rows = 0;
	bool ended = false;

	for (size_t i = 0; i < l->n; i++) {
		struct bytes t = line_text(l, i);
		bool directive = line_is_directive(t);

		if (is_blank(t) || t.ptr[0] == '#')
			continue;
		if (ended || (directive && rows && *t.ptr != '&'))
			return false;
		ended = *t.ptr == '&';
		n += directive && !ended;
		rows += !directive;
	}
	return n > 0 && rows > n;
}

void shape_find(struct sniffed_shape *s, const struct lines *l)
{
	size_t comments = 0, rows = 0;

	*s = (struct sniffed_shape){.quote = '"', .end = l->n};
	if (shape_of_known(s, l))
		return;
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
	s->directives = has_directives(l);
	s->quote = find_quote(l);
	s->comments = comments > 0 && comments < rows;
	if (!find_several(s, l))
		find_delimiter(s, l);
	if (s->comments && s->delimiter && has_marked_rows(s, l)) {
		s->comments = false;
		if (!s->several)
			find_delimiter(s, l);
	}
	if (!s->delimiter && !shape_of_colons(s, l)) {
		s->delimiter = ',';
		s->ncolumns = 1;
		s->one = true;
	}
	if (!s->one && !s->several && quotes_are_text(s, l))
		s->quote = NO_QUOTE;
	if (shape_of_words(s, l))
		s->missing = false;
	else if (s->one)
		(void)shape_of_blanks(s, l);
	else
		tabs_are_blanks(s, l);
	s->first = next_row(s, l, s->first);
	if (s->first < s->end && !s->one)
		footer_find(s, l);
	if (s->first < s->end && !s->fields)
		find_header(s, l);
	if (s->first < s->end && !s->one)
		headings_find(s, l);
	if (s->first < s->end && !s->one && !s->blanks && !s->fields && l->nfiles < 2)
		row_names_find(s, l);
	s->commented = !s->header && !s->fields && !s->known && comment_has_names(s, l);
	if (s->widest) { /* include columns without a name */
		s->missing = true;
		s->ncolumns = s->widest;
	}
}
