/*
 * evidence.c - decide whether the first row has names
 *
 * A first row with names differs from the rows below it. A column shows it if the rows have numbers
 * and the first row has none, or if all values of the rows have one form, such as AB-123. A column
 * shows the opposite if the first value has the form of the others, or occurs again below.
 */
#include <ctype.h>

#include "sniff_parts.h"

#define LOOK_ROWS   2000
#define MOST_FORM   40 /* longest form of a value */
#define SHARE_LEAST 0.95
#define CODE_LEAST  16 /* length of hashes */
#define CODE_MOST   8  /* length of short codes such as AD and AAA */
#define CODES_LEAST 20 /* codes in order, without which order shows nothing */
#define WORDS_LEAST 8  /* words without digits that make a word with digits unusual */
#define INDEX_LEAST 4  /* rows without which an empty first name shows nothing */
#define LONG_FORM   6  /* the least form, such as a-9.a/a, that two values share by intent */

bool is_infinite(struct bytes t)
{
	if (t.len && (t.ptr[0] == '-' || t.ptr[0] == '+'))
		t = bytes_of(t.ptr + 1, t.len - 1);
	return bytes_is_word(t, "inf") || bytes_is_word(t, "infinity");
}

enum text_kind kind_of_text(struct bytes t)
{
	size_t digits = 0, marks = 0, other = 0, separators = 0;
	bool exponent = false;

	t = without_blanks(t);
	for (size_t i = 0; i < t.len; i++) {
		uint8_t c = t.ptr[i];
		bool sign = c == '-' || c == '+';
		bool after_e = i && (t.ptr[i - 1] == 'e' || t.ptr[i - 1] == 'E');
		bool outside = i == 0 || i + 1 == t.len;

		if (isdigit(c))
			digits++;
		else if (memchr(".,' ", c, 4))
			marks++;
		else if (sign && (outside || after_e))
			exponent = exponent || after_e;
		else if (digits && (c == 'e' || c == 'E') && i + 1 < t.len)
			marks++;
		else if (memchr("-/:", c, 3))
			separators++;
		else
			other++;
	}
	if (!t.len)
		return KIND_EMPTY;
	if (t.len <= NULL_WORD_MOST && null_words[null_word(t)])
		return KIND_NULL;
	if ((digits && !other && !separators) || is_infinite(t))
		return KIND_NUMBER;
	if (digits >= 3 && !other && separators)
		return KIND_TIME;
	return digits >= 6 && separators + marks >= 2 && other <= 4 ? KIND_TIME : KIND_TEXT;
}

/* Write the form of a value: 9 for digits, A and a for letters. Other bytes are themselves. */
static size_t form_of(struct bytes t, char form[MOST_FORM])
{
	size_t n = 0;

	for (size_t i = 0; i < t.len; i++) {
		uint8_t c = t.ptr[i];
		char one = isdigit(c) ? '9' : isupper(c) ? 'A' : isalpha(c) ? 'a' : (char)c;
		bool run = n && form[n - 1] == one && (one == '9' || one == 'A' || one == 'a');

		if (!run && n == MOST_FORM)
			return 0;
		if (!run)
			form[n++] = one;
	}
	return n;
}

struct seen_column {
	size_t n, kinds[KINDS], same_form, same_len, equal, nulls, like_first;
	char form[MOST_FORM];
	size_t form_len, len;
	uint8_t code[CODE_MOST]; /* the last value */
	size_t rising;		 /* values greater than the one before, or than the first row's */
	bool first_like;	 /* the first two rows have codes with the same first byte */
};

static void see_value(struct seen_column *c, struct bytes t, struct bytes first)
{
	char form[MOST_FORM];
	size_t len;

	t = without_blanks(t);
	enum text_kind kind = kind_of_text(t);

	if (kind <= KIND_NULL) {
		c->nulls++;
		return;
	}
	len = form_of(t, form);
	if (!c->n) {
		memcpy(c->form, form, len);
		c->form_len = len;
		c->len = t.len;
	}
	if (t.len == c->len && t.len <= CODE_MOST) {
		struct bytes before = c->n ? bytes_of(c->code, t.len) : first;

		c->rising += before.len == t.len && memcmp(before.ptr, t.ptr, t.len) < 0;
		c->first_like = c->n ? c->first_like : before.len && before.ptr[0] == t.ptr[0];
		memcpy(c->code, t.ptr, t.len);
	}
	c->n++;
	c->kinds[kind]++;
	c->equal += bytes_eq(t, first);
	c->same_len += t.len == c->len;
	c->same_form += len && len == c->form_len && memcmp(form, c->form, len) == 0;
	char of_first[MOST_FORM];
	size_t first_len = form_of(first, of_first);
	c->like_first += len >= LONG_FORM && len == first_len && memcmp(form, of_first, len) == 0;
}

static bool has_digit_or_sign(const struct seen_column *c)
{
	for (size_t i = 0; i < c->form_len; i++)
		if (c->form[i] != 'a' && c->form[i] != 'A')
			return true;
	return false;
}

static bool is_year(struct bytes t)
{
	return t.len == 4 && isdigit(t.ptr[2]) && isdigit(t.ptr[3]) &&
	       (memcmp(t.ptr, "19", 2) == 0 || memcmp(t.ptr, "20", 2) == 0);
}

/*
 * Return true if the values are codes of one length and form in order, such as AD, AE and AF, and the
 * first one is the first of them.
 */
static bool is_first_code(const struct seen_column *c, struct bytes first)
{
	char form[MOST_FORM];
	size_t len = form_of(first, form);

	double least = SHARE_LEAST * (double)c->n;

	return c->n >= CODES_LEAST && (double)c->rising >= least && (double)c->same_form >= least &&
	       c->first_like && first.len == c->len && len == c->form_len &&
	       memcmp(form, c->form, len) == 0;
}

static bool starts_with_emoji(struct bytes t)
{
	return t.len > 3 && memcmp(t.ptr, "\xf0\x9f", 2) == 0;
}

/* Return 1 if the column shows that `first` is its name, -1 if it shows a value, and 0 otherwise. */
static int judge(const struct seen_column *c, struct bytes first, bool neighbour, bool names)
{
	double n = (double)c->n;
	enum text_kind kind = kind_of_text(first);
	char form[MOST_FORM];

	if (kind <= KIND_NULL)
		return 0;
	if (!c->n)
		return kind == KIND_TEXT || neighbour ? 0 : -1;
	if (c->equal || starts_with_emoji(first))
		return -1;
	for (int k = KIND_NUMBER; k <= KIND_TIME; k++) {
		if ((double)c->kinds[k] < SHARE_LEAST * n)
			continue;
		/* the name of a column of numbers may be a year or a number in order */
		if (kind == KIND_TEXT)
			return names || c->n > 1;
		bool year = is_year(first) && (c->len != first.len || c->same_len < c->n);
		return neighbour || year || (int)kind != k ? 0 : -1;
	}
	if (c->n >= 3 && c->len >= CODE_LEAST && c->same_len == c->n && first.len == c->len &&
	    has_digit(first))
		return -1; /* hashes */
	if (3 * c->like_first >= c->n && has_digit(first))
		return -1;
	if (c->n < 3 || (double)c->same_form < SHARE_LEAST * n)
		return 0;
	size_t len = form_of(first, form);
	if (is_first_code(c, first))
		return -1;
	bool same = len && len == c->form_len && memcmp(form, c->form, len) == 0;
	if (has_digit_or_sign(c))
		return same ? -1 : 1;
	if (c->n >= WORDS_LEAST && !same && memchr(form, '9', len))
		return 1;
	return c->n > 5 && c->same_len == c->n && c->len < 4 && first.len != c->len;
}

/* Return the whole number that value `i` is, or -1. */
static long number_at(const struct sniffed_row *r, size_t i)
{
	struct bytes t = i < r->n ? r->value[i] : bytes_of("", 0);
	long v = t.len && t.len < 10 ? 0 : -1;

	for (size_t k = 0; k < t.len && v >= 0; k++)
		v = isdigit(t.ptr[k]) ? v * 10 + (t.ptr[k] - '0') : -1;
	return v;
}

/* Return true if the value before or after this one is the next number, as in 2023,2024. */
static bool is_neighbour(const struct sniffed_row *r, size_t i)
{
	long v = number_at(r, i);

	if (v >= 0 && i && is_blank(r->value[0]) && v == (long)i - 1)
		return true; /* pandas writes `,0,1` above rows with an index */
	return v >= 0 &&
	       ((i && number_at(r, i - 1) == v - 1 && v > 0) || number_at(r, i + 1) == v + 1);
}

static void see_rows(struct seen_column *c, const struct sniffed_shape *s, const struct lines *l,
		     const struct sniffed_row *first, size_t line)
{
	struct sniffed_row r = {0};
	size_t rows = 0;

	for (size_t i = next_row(s, l, line); i < s->end && rows < LOOK_ROWS; rows++) {
		size_t next = row_split(s, l, i, s->end, &r);
		bool repeated = r.n == first->n && r.n > 1;

		for (size_t k = 0; k < r.n && repeated; k++)
			repeated = bytes_eq(r.value[k], first->value[k]);
		for (size_t k = 0; k < r.n && k < first->n && !repeated; k++)
			see_value(&c[k], r.value[k], without_blanks(first->value[k]));
		i = next_row(s, l, next);
	}
	row_release(&r);
}

static bool is_typed(const struct seen_column *c)
{
	double least = SHARE_LEAST * (double)c->n;

	return c->n &&
	       ((double)c->kinds[KIND_NUMBER] >= least || (double)c->kinds[KIND_TIME] >= least);
}

struct header_evidence evidence_between(const struct sniffed_shape *s, const struct lines *l,
					size_t line, size_t rows)
{
	struct header_evidence e = {0};
	struct sniffed_row first = {0};
	struct bytes one = bytes_of("", 0);
	size_t next = row_split(s, l, line, s->end, &first);
	struct seen_column *c = mem_calloc(first.n + 1, sizeof *c);

	see_rows(c, s, l, &first, next > rows ? next : rows);
	bool index =
		first.n > 1 && is_blank(first.value[0]) && c[0].n >= INDEX_LEAST && !c[0].nulls;
	for (size_t k = 0; k < first.n; k++) {
		if (is_typed(&c[k]) && !is_blank(first.value[k])) {
			one = e.typed++ ? one : first.value[k];
			e.differ = e.differ || !bytes_eq(one, first.value[k]);
		}
		bool neighbour = is_neighbour(&first, k);
		int shows = judge(&c[k], without_blanks(first.value[k]), neighbour, s->names_first);

		/* an index has a value in each row, but no name, and pandas numbers the others */
		if (index && k == 0)
			shows = 1;
		else if (index && neighbour)
			shows = 0;
		e.numbered += neighbour;
		e.names += shows > 0;
		e.values += shows < 0;
	}
	mem_free(c);
	row_release(&first);
	return e;
}

struct header_evidence evidence_of(const struct sniffed_shape *s, const struct lines *l)
{
	return evidence_between(s, l, s->first, 0);
}
