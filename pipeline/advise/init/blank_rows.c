/*
 * blank_rows.c - find columns with runs of blanks between them, as `ps aux` and `df` print them
 *
 * All rows have equally many words, or the last column has the rest of the line. Only a header shows
 * the latter, because its last name is directly above the last values.
 */
#include <ctype.h>

#include "sniff_parts.h"

#define LOOK_STARTS 4	 /* titles before the rows */
#define WORDS_MOST  1024 /* words of a line */
#define ALIGNED	    0.9	 /* share of the rows whose last value begins below its name */
#define SHARE_LEAST 0.95 /* share of the values that gives a column its kind */
#define CODE_LEAST  8	 /* length of values such as hashes */
/*
 * Prose has no so many rows of so many words each, with so many columns of numbers and times. Messages
 * have words that all rows have.
 */
#define LOG_ROWS  20
#define LOG_WORDS 6
#define LOG_KINDS 3

struct words {
	size_t n, start[WORDS_MOST], end[WORDS_MOST]; /* `n` may exceed WORDS_MOST */
	bool quoted;				      /* a word is in quotes */
};

static bool is_gap(uint8_t c)
{
	return c == ' ' || c == '\t';
}

/* Return the position after the quotes around a value that begins here, or `from` without them. */
static size_t after_quotes(struct bytes t, size_t from)
{
	const uint8_t *end;

	if (t.ptr[from] != '"' || from + 1 == t.len)
		return from;
	end = memchr(t.ptr + from + 1, '"', t.len - from - 1);
	size_t after = end ? (size_t)(end - t.ptr) + 1 : from;
	return after == t.len || is_gap(t.ptr[after]) ? after : from;
}

static void words_of(struct words *w, struct bytes t)
{
	size_t i = 0;

	w->n = 0;
	w->quoted = false;
	while (i < t.len) {
		size_t start = i;

		if (is_gap(t.ptr[i])) {
			i++;
			continue;
		}
		i = after_quotes(t, start);
		w->quoted = w->quoted || i > start;
		while (i < t.len && !is_gap(t.ptr[i]))
			i++;
		if (w->n++ < WORDS_MOST) {
			w->start[w->n - 1] = start;
			w->end[w->n - 1] = i;
		}
	}
}

static struct bytes word_at(const struct words *w, struct bytes t, size_t i)
{
	return bytes_of(t.ptr + w->start[i], w->end[i] - w->start[i]);
}

/* Counts over the rows below the first line. */
struct blank_rows {
	size_t rows, least, most, line, same_line; /* `same_line`: rows as long as the first */
	size_t padded;				   /* rows that end with a blank */
	struct {
		size_t kinds[KINDS], len, same_len, digits, marks, open, glued;
		size_t end, same_end; /* the position after the value of the first row */
		uint64_t hash, same;  /* the same value as in the first row */
		size_t near;	      /* rows with one blank before this value, and not more */
	} column[WORDS_MOST];
	size_t aligned,
		fuller; /* rows whose last value begins below its name; rows that have one */
	bool quoted;	/* some values are in quotes */
	bool shifted;	/* a short row has a value that is not below its name */
};

/* Count a row with all names, whose last value may have blanks, or one without the last value. */
static void see_place(struct blank_rows *b, const struct words *head, const struct words *w)
{
	size_t n = head->n;

	if (w->n >= n) {
		b->fuller++;
		b->aligned += w->start[n - 1] == head->start[n - 1];
	}
	for (size_t i = 0; i < w->n && w->n < n; i++)
		b->shifted =
			b->shifted || w->end[i] <= head->start[i] || w->start[i] >= head->end[i];
}

static void see_row(struct blank_rows *b, const struct words *w, struct bytes t)
{
	for (size_t i = 0; i < w->n && i < WORDS_MOST; i++) {
		struct bytes v = word_at(w, t, i);
		bool digit = false;

		for (size_t k = 0; k < v.len; k++)
			digit = digit || isdigit(v.ptr[k]);
		b->column[i].len = b->rows ? b->column[i].len : v.len;
		b->column[i].same_len += v.len == b->column[i].len;
		uint64_t hash = XXH3_64bits(v.ptr, v.len);

		b->column[i].hash = b->rows ? b->column[i].hash : hash;
		b->column[i].same += hash == b->column[i].hash;
		b->column[i].end = b->rows ? b->column[i].end : w->end[i];
		b->column[i].same_end += w->end[i] == b->column[i].end;
		b->column[i].digits += digit;
		b->column[i].marks += v.len == 1 && v.ptr[0] == '#';
		b->column[i].near += i && w->start[i] == w->end[i - 1] + 1;
		b->column[i].glued += isdigit(v.ptr[0]) && isalpha(v.ptr[v.len - 1]);
		b->column[i].open += v.ptr[0] == '[' && !memchr(v.ptr, ']', v.len);
		b->column[i].kinds[kind_of_text(v)]++;
	}
	b->least = b->rows && b->least < w->n ? b->least : w->n;
	b->most = b->most > w->n ? b->most : w->n;
	b->quoted = b->quoted || w->quoted;
	b->line = b->rows ? b->line : t.len;
	b->same_line += t.len == b->line;
	b->padded += t.len && is_gap(t.ptr[t.len - 1]);
	b->rows++;
}

static void see_rows(struct blank_rows *b, const struct sniffed_shape *s, const struct lines *l,
		     const struct words *head, size_t first)
{
	struct words w;

	*b = (struct blank_rows){0};
	for (size_t i = next_row(s, l, first + 1); i < s->end; i = next_row(s, l, i + 1)) {
		struct bytes t = line_text(l, i);

		words_of(&w, t);
		if (head->n <= WORDS_MOST)
			see_place(b, head, &w);
		see_row(b, &w, t);
	}
}

/* Return true if the values of the column have a kind: numbers, times, or codes of one length. */
static bool has_kind(const struct blank_rows *b, size_t i)
{
	const size_t *kinds = b->column[i].kinds;
	double all = SHARE_LEAST * (double)(b->rows - kinds[KIND_NULL]);
	bool code = b->column[i].len >= CODE_LEAST && b->column[i].same_len == b->rows &&
		    (double)b->column[i].digits >= all;

	return b->rows > kinds[KIND_NULL] &&
	       ((double)kinds[KIND_NUMBER] >= all || (double)kinds[KIND_TIME] >= all || code);
}

static size_t count_kinds(const struct blank_rows *b, size_t n)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		found += has_kind(b, i);
	return found;
}

static bool are_names(const struct words *w, struct bytes t)
{
	bool names = w->n > 0 && w->n <= WORDS_MOST;

	for (size_t i = 0; i < w->n && names; i++) {
		struct bytes v = word_at(w, t, i);

		names = is_name(v) || (v.len == 1 && v.ptr[0] == '#');
		for (size_t k = 0; k < i && names; k++)
			names = !bytes_eq(v, word_at(w, t, k));
	}
	return names;
}

static void take_shape(struct sniffed_shape *s, size_t first, size_t n)
{
	s->blanks = true;
	s->one = s->missing = s->extra = false;
	s->several = NULL;
	s->delimiter = ' ';
	s->first = first;
	s->ncolumns = n;
	s->widest = 0;
}

/* Rows with equally many words. The header may lack a name for the first column, as that of R. */
static bool equal_words(struct sniffed_shape *s, const struct blank_rows *b,
			const struct words *head, bool names, size_t first)
{
	size_t n = b->least, kinds;

	if (b->least != b->most || n < 2 || n > WORDS_MOST)
		return false;
	bool filled = b->padded == b->rows && b->same_line == b->rows; /* values of a fixed width */
	kinds = count_kinds(b, n);
	if (filled && !names && kinds < n)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (2 * b->column[i].open > b->rows)
			return false; /* a value in brackets has blanks, as the time of access logs */
		if (b->column[i].glued == b->rows && b->same_line == b->rows && !names)
			return false; /* nothing separates two values of a fixed width */
	}
	bool unnamed = names && head->n + 1 == n;
	bool is_log = b->rows >= LOG_ROWS && n >= LOG_WORDS && kinds >= LOG_KINDS;
	for (size_t i = 0; i < n; i++) /* such as `from` in the messages of a log */
		is_log = is_log &&
			 (b->column[i].same < b->rows || b->column[i].kinds[KIND_TEXT] < b->rows);
	/* without names, a sentence may have as many words as the others, and a number among them */
	if ((head->n != n && !unnamed) || !kinds || (!names && 2 * kinds < n && !is_log))
		return false;
	take_shape(s, first, n);
	s->in_quotes = b->quoted;
	for (size_t i = 1; i < n && !s->doubt; i++)
		if (b->column[i].marks == b->rows)
			s->doubt = "each row ends with a remark after #, which the job reads as "
				   "columns";
	s->row_names = unnamed;
	s->named = unnamed;
	return true;
}

/*
 * A header, and rows whose last value may have blanks or be absent. The last name may have blanks
 * too, as in `df`.
 */
static bool last_has_rest(struct sniffed_shape *s, const struct lines *l, struct blank_rows *b,
			  const struct words *head, size_t first)
{
	struct words names = *head;

	if (b->least == b->most && head->n > b->least)
		names.n = b->least;
	if (names.n < 3 || names.n > WORDS_MOST || b->least + 1 < names.n)
		return false;
	see_rows(b, s, l, &names, first);
	if (b->shifted || b->quoted || !b->fuller ||
	    (double)b->aligned < ALIGNED * (double)b->fuller ||
	    count_kinds(b, names.n - 1) * 3 < names.n)
		return false;
	take_shape(s, first, names.n);
	s->rest = s->named = true;
	s->own_names = head->n > names.n;
	return true;
}

/*
 * Return true if one blank separates two texts in each row, and several blanks separate other
 * values: the texts may be one value of a fixed width, as the first and last name of a person.
 */
static bool texts_touch(const struct blank_rows *b, size_t n)
{
	bool touch = false, wide = false;

	for (size_t i = 1; i < n && i < WORDS_MOST; i++) {
		/* blanks before a number at the right side belong to it, if all texts before end there */
		bool right = has_kind(b, i) && b->column[i].same_end == b->rows &&
			     b->column[i - 1].same_end == b->rows;

		wide = wide || (b->column[i].near == 0 && !right);
		touch = touch ||
			(b->column[i].near == b->rows && !has_kind(b, i - 1) && !has_kind(b, i));
	}
	return touch && wide;
}

const char *blanks_doubt(const struct sniffed_shape *s, const struct lines *l)
{
	struct blank_rows *b = mem_calloc(1, sizeof *b);
	struct words head;

	words_of(&head, line_text(l, s->first));
	see_rows(b, s, l, &head, s->first);
	bool touch = !s->header && !s->rest && b->rows > 1 && texts_touch(b, s->ncolumns);
	mem_free(b);
	return touch ? "one blank separates two texts in each row, and several blanks separate "
		       "other values; if the texts are one value, see `widths`"
		     : NULL;
}

bool shape_of_blanks(struct sniffed_shape *s, const struct lines *l)
{
	struct blank_rows *b = mem_calloc(1, sizeof *b);
	struct words head;
	bool found = false;
	size_t first = next_row(s, l, 0);

	for (size_t k = 0; k < LOOK_STARTS && first < s->end && !found; k++) {
		struct bytes t = line_text(l, first);

		if (count_pairs(t) > 1)
			break; /* text_forms.c finds pairs */
		words_of(&head, t);
		see_rows(b, s, l, &head, first);
		bool names = are_names(&head, t);
		found = b->rows > 1 && (equal_words(s, b, &head, names, first) ||
					(names && last_has_rest(s, l, b, &head, first)));
		first = next_row(s, l, first + 1);
	}
	mem_free(b);
	return found;
}

/*
 * Return true if all values of a column between tabs are several values between blanks: numbers, or
 * numbers and codes among texts. Two of them may be a text, and a date and a time are one value. If
 * single blanks separate them, as in a phone number, `b` has that in `near`.
 */
static bool has_many_values(struct blank_rows *b, const struct sniffed_shape *s,
			    const struct lines *l, size_t column)
{
	struct sniffed_row r = {0};
	struct words w;
	size_t kinds, times = 0;

	*b = (struct blank_rows){0};
	for (size_t i = next_row(s, l, s->first); i < s->end;) {
		i = next_row(s, l, row_split(s, l, i, s->end, &r));
		struct bytes t = column < r.n ? r.value[column] : bytes_of("", 0);

		words_of(&w, t);
		see_row(b, &w, t);
	}
	row_release(&r);
	if (b->rows < 2 || b->least != b->most || b->least < 2 || b->least > WORDS_MOST)
		return false;
	kinds = count_kinds(b, b->least);
	for (size_t k = 0; k < b->least; k++)
		times += b->column[k].kinds[KIND_TIME];
	return !times && (kinds == b->least || (b->least > 2 && kinds > 1));
}

void tabs_are_blanks(struct sniffed_shape *s, const struct lines *l)
{
	struct sniffed_shape try = *s;
	struct blank_rows *b = mem_calloc(1, sizeof *b);
	bool many = false, near = false;

	for (size_t k = 0; k < s->ncolumns && s->delimiter == '\t'; k++) {
		bool has = has_many_values(b, s, l, k);

		many = many || has;
		for (size_t i = 1; i < b->most && i < WORDS_MOST; i++)
			near = near || (has && b->column[i].near);
	}
	mem_free(b);
	if (many && !near && shape_of_blanks(&try, l) && !try.rest)
		*s = try;
	else if (many)
		s->doubt =
			"a column between tabs has several values between blanks in each row; to "
			"split it, add fields with `from: COLUMN` and `match:`";
}
