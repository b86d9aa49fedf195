/* first_row.c - names of columns in comments and between blanks, and doubts about the first row */
#include <ctype.h>
#include <strings.h>

#include "sniff_parts.h"

#define LOOK_ROWS 1000
#define CLEARLY	  3 /* columns that show one answer, for each column that shows the other */

/* Return the text after "#Fields:" in a comment above the rows. Its length is 0 if there is none.
 */
static struct bytes fields_text(const struct lines *l, size_t line)
{
	static const char word[] = "#Fields:";
	const size_t len = sizeof word - 1;
	struct bytes t = line_text(l, line);

	if (t.len <= len || strncasecmp((const char *)t.ptr, word, len) != 0)
		return bytes_of("", 0);
	t = bytes_of(t.ptr + len, t.len - len);
	while (t.len && *t.ptr == ' ')
		t = bytes_of(t.ptr + 1, t.len - 1);
	return t;
}

/* Return true if all rows have this number of values. A value is not empty. */
static bool all_have(struct sniffed_shape *s, const struct lines *l, size_t n)
{
	struct sniffed_row r = {0};
	size_t rows = 0;
	bool all = true;

	for (size_t i = next_row(s, l, s->first); i < s->end && all; rows++) {
		i = next_row(s, l, row_split(s, l, i, s->end, &r));
		all = r.n == n;
		for (size_t k = 0; k < r.n && s->delimiter == ' '; k++)
			all = all && (r.value[k].len || r.quoted[k]);
	}
	row_release(&r);
	return all && rows > 0;
}

static size_t count_words(struct bytes t)
{
	size_t n = 0;

	for (size_t i = 0; i < t.len; i++)
		n += t.ptr[i] != ' ' && (i == 0 || t.ptr[i - 1] == ' ');
	return n;
}

/* Find the directive #Fields of web servers, with values between tabs or blanks. */
static bool find_fields(struct sniffed_shape *s, const struct lines *l)
{
	struct bytes t = bytes_of("", 0);
	size_t i = 0;

	for (; i < l->n && i < LOOK_ROWS && !t.len; i++)
		t = fields_text(l, i);
	if (!t.len)
		return false;
	for (const char *d = "\t ,"; *d; d++) {
		struct sniffed_shape try = *s;

		try.comments = true;
		try.one = false;
		try.first = 0;
		try.delimiter = (uint8_t)*d;
		try.ncolumns = count_words(t);
		if (!all_have(&try, l, try.ncolumns))
			continue;
		*s = try;
		s->fields = true;
		s->header_line = i - 1;
		s->first = next_row(s, l, 0);
		return true;
	}
	return false;
}

/* Return true for a name that a program wrote, such as log-status or cs(Host). */
static bool is_plain(struct bytes t)
{
	for (size_t i = 0; i < t.len; i++)
		if (!isalnum(t.ptr[i]) && !memchr("_-.()%/", t.ptr[i], 7))
			return false;
	return t.len > 0 && isalpha(t.ptr[0]);
}

bool shape_of_words(struct sniffed_shape *s, const struct lines *l)
{
	if (find_fields(s, l))
		return true;
	struct sniffed_shape try = *s;
	struct sniffed_row r = {0};
	try.one = false;
	try.delimiter = ' ';
	try.first = next_row(s, l, 0);
	if (!s->one || try.first >= try.end)
		return false;
	row_split(&try, l, try.first, try.end, &r);
	try.ncolumns = r.n;
	bool fits = r.n > 2;
	for (size_t i = 0; i < r.n; i++)
		fits = fits && is_name(r.value[i]) && is_plain(r.value[i]);
	fits = fits && all_have(&try, l, try.ncolumns);
	row_release(&r);
	if (fits)
		*s = try;
	return fits;
}

/* Return the text of a comment, without its number signs. */
static struct bytes comment_text(struct bytes t)
{
	while (t.len && *t.ptr == '#')
		t = bytes_of(t.ptr + 1, t.len - 1);
	return without_blanks(t);
}

/*
 * Split the comment directly before the rows, without its number signs. Comments without text and
 * rulers may be between them.
 */
static void split_comment(const struct sniffed_shape *s, const struct lines *l,
			  struct sniffed_row *r)
{
	size_t line = next_row(s, l, 0);
	struct bytes t = bytes_of("", 0);

	r->n = 0;
	if (!s->comments || line >= s->end)
		return;
	while (line > 0 && !t.len && line_text(l, line - 1).len &&
	       *line_text(l, line - 1).ptr == '#') {
		t = comment_text(line_text(l, --line));
		t.len = line_is_ruler(t) ? 0 : t.len;
	}
	if (!t.len)
		return;
	row_split(s, l, line, line + 1, r);
	bool apart = s->blanks && *line_text(l, line).ptr != *t.ptr && r->n &&
		     comment_text(r->value[0]).len == 0;
	for (size_t i = apart; i < r->n; i++)
		r->value[i - apart] = i ? without_blanks(r->value[i]) : comment_text(r->value[0]);
	r->n -= apart;
}

/* Return true for a word of a sentence, such as `of`, or one with a sign after it. */
static bool is_word_of_sentence(struct bytes t)
{
	static const char *const words[] = {"a",    "and", "are",  "as", "by",	"for",
					    "from", "in",  "is",   "it", "of",	"on",
					    "that", "the", "this", "to", "was", "with"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (bytes_is_word(t, words[i]))
			return true;
	return t.len && memchr(".,:;!?", t.ptr[t.len - 1], 6);
}

bool comment_has_names(const struct sniffed_shape *s, const struct lines *l)
{
	struct sniffed_row r = {0};
	bool fits = false;

	if (!s->one)
		split_comment(s, l, &r);
	fits = r.n > 1 && r.n == s->ncolumns;
	for (size_t i = 0; i < r.n && fits; i++) {
		fits = is_name(r.value[i]) && !(s->blanks && is_word_of_sentence(r.value[i]));
		for (size_t k = 0; k < i && fits; k++)
			fits = !bytes_eq(r.value[k], r.value[i]);
	}
	row_release(&r);
	return fits;
}

void fields_names(const struct sniffed_shape *s, const struct lines *l, struct columns *c)
{
	if (s->commented) {
		struct sniffed_row r = {0};

		split_comment(s, l, &r);
		for (size_t i = 0; i < r.n; i++)
			columns_add(c, r.value[i]);
		row_release(&r);
		return;
	}
	struct bytes t = fields_text(l, s->header_line);

	for (size_t i = 0, k = 0; i < t.len; i = k + 1) {
		for (k = i; k < t.len && t.ptr[k] != ' ';)
			k++;
		if (k > i)
			columns_add(c, bytes_of(t.ptr + i, k - i));
	}
}

/* --- doubts --- */

/* Words that names of columns contain. */
static bool has_usual_word(const char *name)
{
	static const char *const words[] = {"id",      "name",	 "code",    "type",   "date",
					    "time",    "city",	 "country", "title",  "text",
					    "value",   "status", "state",   "key",    "mail",
					    "address", "number", "note",    "amount", "price",
					    "kind",    "class",	 "group",   "user",   "comment",
					    "label",   "nummer", "datum",   "betrag", "nombre",
					    "fecha",   "nom",	 "column",  "field",  NULL};

	for (size_t i = 0; words[i]; i++)
		if (strcasecmp(name, words[i]) == 0 ||
		    (strlen(words[i]) > 3 && strcasestr(name, words[i])))
			return true;
	return false;
}

static bool is_identifier(struct bytes t)
{
	for (size_t i = 0; i < t.len; i++)
		if (!islower(t.ptr[i]) && !isdigit(t.ptr[i]) && !strchr("_.-", t.ptr[i]))
			return false;
	return t.len > 0 && islower(t.ptr[0]);
}

/* Return true if the names are identifiers, and many values are not. */
static bool names_differ(const struct columns *c, const struct sniffed_shape *s,
			 const struct lines *l)
{
	struct sniffed_row r = {0};
	size_t values = 0, other = 0, rows = 0;

	for (size_t k = 0; k < c->n; k++)
		if (!is_identifier(bytes_str(c->column[k].name)))
			return false;
	size_t i = row_split(s, l, next_row(s, l, s->first), s->end, &r);
	for (i = next_row(s, l, i); i < s->end && rows < LOOK_ROWS; rows++) {
		i = next_row(s, l, row_split(s, l, i, s->end, &r));
		for (size_t k = 0; k < r.n; k++) {
			values += r.value[k].len > 0;
			other += r.value[k].len && !is_identifier(r.value[k]);
		}
	}
	row_release(&r);
	return other > values / 4;
}

const char *header_doubt(const struct columns *c, const struct sniffed_shape *s,
			 const struct lines *l)
{
	const struct header_evidence *e = &s->evidence;
	bool words = s->header && names_differ(c, s, l);
	size_t more = e->names > e->values ? e->names : e->values;
	size_t less = e->names + e->values - more;

	if (s->fields || s->commented || s->named || s->under || s->known ||
	    (s->one && !s->names_first) || (more && more >= CLEARLY * less))
		return NULL;
	for (size_t i = 0; i < c->n && !more && s->header; i++)
		if (has_usual_word(c->column[i].name))
			return NULL;
	if (words && !more)
		return NULL;
	return s->header ? "the first row may be data, but the job takes it as names; if so, "
			   "replace it by `columns: [NAME, ...]`"
			 : "the first row may be names, but the job takes it as data; if so, "
			   "remove `columns:`";
}
