/*
 * not_rows.c - find lines that are not rows: totals and notes after the rows, headers that are
 * repeated, and headings of pages
 */
#include <ctype.h>
#include <stdio.h>

#include "sniff_parts.h"

#define FOOTER_ROWS 8
#define SHORT_FILE  4
#define RARE	    10 /* headings are at most one of this many lines */

/* --- lines after the rows --- */

static struct bytes first_value(const struct sniffed_row *r)
{
	size_t first = 0;

	while (first < r->n && is_blank(r->value[first]))
		first++;
	return first < r->n ? r->value[first] : bytes_of("", 0);
}

enum total_word total_word(struct bytes t)
{
	static const char *const words[] = {"total",  "totals",	  "summe",    "sum",	 "trailer",
					    "end",    "ende",	  "eof",      "footer",	 "count",
					    "record", "gesamt",	  "rows",     "records", "grand",
					    "tot",    "subtotal", "insgesamt"};
	size_t skip = 0, len = 0, end;

	while (skip < t.len && t.ptr[skip] == ' ')
		skip++;
	while (skip + len < t.len && isalpha(t.ptr[skip + len]))
		len++;
	for (end = skip + len; end < t.len && !isalpha(t.ptr[end]);)
		end++;
	bool stars = t.len > skip;
	for (size_t i = skip; i < t.len; i++)
		stars = stars && (t.ptr[i] == '*' || t.ptr[i] == ' ');
	if (stars)
		return TOTAL_WORD;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (!bytes_is_word(bytes_of(t.ptr + skip, len), words[i]))
			continue;
		bool both = end < t.len && /* Grand total */
			    total_word(bytes_of(t.ptr + end, t.len - end)) == TOTAL_WORD;
		if (!both && strcmp(words[i], "grand") == 0)
			return TOTAL_NONE; /* as in a list of words */
		return end == t.len || both ? TOTAL_WORD : TOTAL_FIRST;
	}
	return TOTAL_NONE;
}

bool is_note(struct bytes t)
{
	size_t blanks = 0, letters = 0;

	for (size_t i = 0; i < t.len; i++) {
		blanks += t.ptr[i] == ' ' || t.ptr[i] == ':';
		letters += isalpha(t.ptr[i]) || t.ptr[i] >= 0x80;
	}
	return letters > 2 && (blanks || strchr("(*[", t.ptr[0]));
}

struct tail {
	size_t line[FOOTER_ROWS];
	bool odd[FOOTER_ROWS], word[FOOTER_ROWS], note[FOOTER_ROWS];
	size_t n, words, lone; /* rows, and rows with a word or one value, in the whole text */
	size_t few;	       /* rows with several values, but fewer than columns */
	size_t same;	       /* rows whose first value is that of the row before */
	bool counts;	       /* the last row has the number of rows before it, or with itself */
};

/* Return true if the first value is a text, and a later one this number. A row may begin with its own. */
static bool has_number(const struct sniffed_row *r, size_t number)
{
	char text[24];
	bool has = false;

	snprintf(text, sizeof text, "%zu", number);
	for (size_t i = 1; i < r->n && kind_of_text(r->value[0]) == KIND_TEXT; i++)
		has = has || bytes_eq(without_blanks(r->value[i]), bytes_str(text));
	return has;
}

static void walk_rows(const struct sniffed_shape *s, const struct lines *l, struct tail *tail)
{
	struct sniffed_row r = {0};
	struct buf before = {0};

	for (size_t i = next_row(s, l, s->first); i < s->end; i = next_row(s, l, i)) {
		size_t k = tail->n++ % FOOTER_ROWS, at = i;

		i = row_split(s, l, i, s->end, &r);
		enum total_word word = total_word(first_value(&r));
		bool gaps = row_count_values(&r) < s->ncolumns, lone = r.n == 1;
		tail->line[k] = at;
		tail->odd[k] = r.n < s->ncolumns;
		tail->word[k] = word && (gaps || word == TOTAL_WORD);
		tail->note[k] = lone && s->ncolumns > 1 && is_note(r.value[0]);
		tail->words += tail->word[k];
		tail->lone += lone;
		tail->few += r.n > 1 && r.n < s->ncolumns;
		bool same = bytes_eq(buf_bytes(&before), r.value[0]);
		tail->same += same;
		before.len = 0;
		buf_append(&before, r.value[0].ptr, r.value[0].len);
		tail->counts = !same && r.n < s->ncolumns &&
			       (has_number(&r, tail->n - 1) || has_number(&r, tail->n - 2));
	}
	buf_release(&before);
	row_release(&r);
}

/*
 * Find the footer. The footer begins after the last usual row, with a typical word or with a note.
 * If such rows are also among the others, they are rows.
 */
void footer_find(struct sniffed_shape *s, const struct lines *l)
{
	struct tail tail = {0};
	size_t cut = 0, words = 0, lone = 0;

	walk_rows(s, l, &tail);
	size_t most = tail.n < FOOTER_ROWS ? tail.n : FOOTER_ROWS;
	for (size_t back = 1; back <= most && back + 1 < tail.n; back++) {
		size_t k = (tail.n - back) % FOOTER_ROWS;

		words += tail.word[k];
		lone += tail.odd[k];
		if ((tail.word[k] && tail.words == words) ||
		    (tail.note[k] && lone >= tail.lone && l->nfiles < 2))
			cut = back;
		else if (!tail.odd[k])
			break;
	}
	/* a record of another kind with the number of rows, as `T,2093` below `D,...` */
	if (!cut && tail.counts && tail.n > SHORT_FILE && tail.few + tail.lone == 1 &&
	    tail.same + 3 >= tail.n)
		cut = 1;
	if (!cut || !l->whole)
		return;
	size_t end = s->end;
	s->end = tail.line[(tail.n - cut) % FOOTER_ROWS];
	for (size_t i = s->end; i < end; i++)
		s->footer += !is_blank(line_text(l, i));
}

/* --- lines between the rows --- */

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
	s->headers = same > 0 && (same * 4 < rows || same < l->nfiles);
}

struct heading {
	size_t line, n;
	struct bytes value; /* the line without quotes around it */
	bool before_header, like_value;
};

struct headings {
	struct heading of[HEADINGS_MOST];
	size_t n, lone, rows;
};

static struct bytes unquoted(struct bytes t)
{
	bool quoted = t.len > 1 && t.ptr[0] == t.ptr[t.len - 1] && strchr("\"'", t.ptr[0]);

	return quoted ? bytes_of(t.ptr + 1, t.len - 2) : t;
}

static void add_heading(struct headings *h, const struct lines *l, size_t line, bool before_header)
{
	size_t k = 0;

	while (k < h->n && !line_like(line_text(l, h->of[k].line), line_text(l, line)))
		k++;
	if (k == HEADINGS_MOST)
		return;
	if (k == h->n)
		h->of[h->n++] =
			(struct heading){.line = line, .value = unquoted(line_text(l, line))};
	h->of[k].n++;
	h->of[k].before_header = h->of[k].before_header || before_header;
}

/* Find lines of one value among rows of several. */
static void find_lone(struct headings *h, const struct sniffed_shape *s, const struct lines *l)
{
	struct sniffed_row r = {0};

	for (size_t i = next_row(s, l, s->first), next; i < s->end; i = next) {
		next = row_split(s, l, i, s->end, &r);
		h->rows++;
		if (r.n == 1 && next == i + 1) {
			size_t after = next;

			while (after < s->end && is_blank(line_text(l, after)))
				after++;
			h->lone++;
			add_heading(h, l, i,
				    s->headers && after < s->end &&
					    bytes_eq(line_text(l, after),
						     line_text(l, s->header_line)));
		}
		next = next_row(s, l, next);
	}
	row_release(&r);
}

/* Note headings that look like a value of the first column. */
static void compare_values(struct headings *h, const struct sniffed_shape *s, const struct lines *l)
{
	struct sniffed_row r = {0};

	for (size_t i = next_row(s, l, s->first); i < s->end && h->n;) {
		i = next_row(s, l, row_split(s, l, i, s->end, &r));
		for (size_t k = 0; k < h->n && r.n > 1; k++)
			h->of[k].like_value =
				h->of[k].like_value || line_like(h->of[k].value, r.value[0]);
	}
	row_release(&r);
}

/* Note unusual numbers of values in the shape. */
static void find_lengths(struct sniffed_shape *s, const struct lines *l)
{
	struct sniffed_row r = {0};

	for (size_t i = next_row(s, l, s->first); i < s->end;) {
		i = next_row(s, l, row_split(s, l, i, s->end, &r));
		s->missing = s->missing || r.n < s->ncolumns;
		if (r.n > s->ncolumns && row_is_empty_from(&r, s->ncolumns))
			s->extra = true;
		else if (r.n > s->ncolumns && r.n > s->widest)
			s->widest = r.n;
	}
	row_release(&r);
}

void headings_find(struct sniffed_shape *s, const struct lines *l)
{
	struct headings h = {0};

	if (s->header)
		find_repeats(s, l);
	if (s->ncolumns > 1)
		find_lone(&h, s, l);
	if (h.lone * RARE <= h.rows) {
		compare_values(&h, s, l);
		for (size_t k = 0; k < h.n; k++)
			if ((h.of[k].n > 1 || h.of[k].before_header) && !h.of[k].like_value)
				s->heading[s->nheadings++] = h.of[k].line;
	}
	find_lengths(s, l);
}

/* --- the pattern --- */

/* Append the line as a pattern. With `digits`, each number stands for any number. */
static void put_line_pattern(struct bytes t, bool digits, struct buf *out)
{
	buf_append_str(out, out->len ? "|^" : "^");
	for (size_t i = 0; i < t.len; i++) {
		if (digits && isdigit(t.ptr[i])) {
			while (i + 1 < t.len && isdigit(t.ptr[i + 1]))
				i++;
			buf_append_str(out, "\\d+");
			continue;
		}
		buf_printf(out, t.ptr[i] >= 0x80 || isalnum(t.ptr[i]) ? "%c" : "\\%c", t.ptr[i]);
	}
	buf_put(out, '$');
}

void skip_pattern(const struct sniffed_shape *s, const struct lines *l, struct buf *out)
{
	if (s->rulers)
		buf_append_str(out, "^[-=+|: \\t]*[-=]{3}[-=+|: \\t]*$");
	if (s->counts)
		buf_printf(out, "%s^\\(?\\d+ rows?( (affected|selected|fetched))?[ \\t.)]*$",
			   out->len ? "|" : "");
	if (s->directives)
		buf_printf(out, "%s^@[ a-z]|^&$", out->len ? "|" : "");
	if (s->headers && l->nfiles < 2)
		put_line_pattern(line_text(l, s->header_line), false, out);
	for (size_t k = 0; k < s->nheadings; k++)
		put_line_pattern(line_text(l, s->heading[k]), true, out);
}
