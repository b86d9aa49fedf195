/*
 * names_line.c - find a line of names that has one name less than the rows have values, and lines of
 * units, types or other names below it
 *
 * R and pandas write no name for the first column. A line of units has texts where all rows below it
 * have numbers or times, and no value that a row has. ClickHouse writes the types of the columns there
 * (TSVWithNamesAndTypes), such as UInt64 and Nullable(String).
 */
#include <ctype.h>

#include "sniff_parts.h"

/* Return true if all rows from this line on have `n` values, and none of the last is empty. */
static bool all_are_full(const struct sniffed_shape *s, const struct lines *l, size_t line,
			 size_t n)
{
	struct sniffed_row r = {0};
	size_t rows = 0;
	bool full = true;

	for (size_t i = next_row(s, l, line); i < s->end && full; rows++) {
		i = next_row(s, l, row_split(s, l, i, s->end, &r));
		full = r.n == n && !is_blank(r.value[n - 1]);
	}
	row_release(&r);
	return full && rows > 1;
}

/*
 * Return true if the line has this number of names, and all differ. A single one is in quotes. With
 * a delimiter after the last name, the line may have one name more, and `all` is then true.
 */
static bool has_names(const struct sniffed_shape *s, const struct lines *l, size_t line, size_t n,
		      bool *all)
{
	struct sniffed_row r = {0};

	row_split(s, l, line, s->end, &r);
	r.n -= r.n == n + 2 && is_blank(r.value[n + 1]); /* a delimiter after the last name */
	bool names = row_is_names(&r) && row_count_values(&r) == r.n &&
		     (r.n == n + 1 || (r.n == n && (n > 1 || r.quoted[0])));
	*all = r.n == n + 1;
	for (size_t i = 0; i < r.n && names; i++)
		for (size_t k = 0; k < i && names; k++)
			names = !bytes_eq(r.value[i], r.value[k]);
	row_release(&r);
	return names;
}

void row_names_find(struct sniffed_shape *s, const struct lines *l)
{
	size_t line = s->first, n = s->ncolumns, below = line + 1;
	bool all;

	if (s->header && s->widest == n + 1) {
		n++;
	} else if (!s->header && line > 0 && n > 1) {
		struct sniffed_shape above = *s;

		above.end = below = line;
		do
			line--;
		while (line > 0 && !line_counts(&above, l, line));
		if (!line_counts(&above, l, line))
			return;
	} else {
		return;
	}
	if (!has_names(s, l, line, n - 1, &all) || !all_are_full(s, l, below, n))
		return;
	s->row_names = !all;
	s->own_names = s->own_names || all;
	s->named = s->header = true;
	s->missing = s->extra = s->repeats = false;
	s->evidence = (struct header_evidence){0};
	s->first = line;
	s->ncolumns = n;
	s->widest = 0;
}

/* --- units --- */

#define UNDER_MOST 3 /* such lines */
#define ROWS_LEAST 4 /* rows without which no line is unusual */

/* Return true if a value has line ends, as descriptions have, but not units and names. */
static bool has_line_ends(const struct sniffed_row *r)
{
	bool found = false;

	for (size_t i = 0; i < r->n; i++)
		found = found ||
			(r->value[i].len && memchr(r->value[i].ptr, '\n', r->value[i].len));
	return found;
}

/*
 * Return true if the line is none of the rows below it. A row of data may have one word, such as
 * `unknown`, in place of all its numbers, so the last such line needs two.
 */
static bool is_under_header(const struct sniffed_shape *s, const struct lines *l, size_t line,
			    size_t rows, bool last)
{
	struct sniffed_row r = {0};
	struct header_evidence e = evidence_between(s, l, line, rows);

	row_split(s, l, line, s->end, &r);
	bool under = r.n == s->ncolumns && e.names > 1 && !e.values && !e.numbered &&
		     2 * e.names >= e.typed && (e.differ || !last) && !has_line_ends(&r);
	row_release(&r);
	return under;
}

/* Return the number of rows from this line on, up to ROWS_LEAST. */
static size_t count_rows(const struct sniffed_shape *s, const struct lines *l, size_t line)
{
	struct sniffed_row r = {0};
	size_t n = 0;

	for (; line < s->end && n < ROWS_LEAST; n++)
		line = next_row(s, l, row_split(s, l, line, s->end, &r));
	row_release(&r);
	return n;
}

/* --- types --- */

/* Return true for the name of a type of a database, such as DateTime64(3) or varchar(20). */
static bool is_type_name(struct bytes t)
{
	static const char *const words[] = {"string",	      "fixedstring", "int",	"uint",
					    "float",	      "double",	     "real",	"bool",
					    "boolean",	      "date",	     "time",	"datetime",
					    "timestamp",      "uuid",	     "ipv",	"decimal",
					    "numeric",	      "bigint",	     "integer", "smallint",
					    "tinyint",	      "varchar",     "char",	"text",
					    "nullable",	      "array",	     "map",	"tuple",
					    "enum",	      "json",	     "nested",	"variant",
					    "lowcardinality", "symbol",	     "long"};
	char word[16];
	size_t n = 0, end;

	while (n < t.len && n < sizeof word - 1 && isalpha(t.ptr[n])) {
		word[n] = (char)tolower(t.ptr[n]);
		n++;
	}
	word[n] = 0;
	for (end = n; end < t.len && isdigit(t.ptr[end]);)
		end++;
	if (end < t.len && (t.ptr[end] != '(' || t.ptr[t.len - 1] != ')'))
		return false;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(words[i], word) == 0)
			return true;
	return false;
}

/* Return true if the line has the name of a type for each column. */
static bool is_types_line(const struct sniffed_shape *s, const struct lines *l, size_t line)
{
	struct sniffed_row r = {0};
	bool types = line < s->end;

	if (types) {
		row_split(s, l, line, s->end, &r);
		types = r.n > 1 && r.n == s->ncolumns;
	}
	for (size_t i = 0; i < r.n && types; i++)
		types = is_type_name(r.value[i]);
	row_release(&r);
	return types;
}

void types_find(struct sniffed_shape *s, const struct lines *l)
{
	size_t line = next_row(s, l, s->first + 1), rows = next_row(s, l, line + 1);

	if (!s->header || s->widest || s->own_names || s->row_names || s->several ||
	    s->form.nwidths || rows >= s->end || !is_types_line(s, l, line) ||
	    is_types_line(s, l, rows))
		return;
	s->under = 1;
	s->header = false;
	s->header_line = s->first;
	s->first = rows;
}

void names_above_types(const struct sniffed_shape *s, const struct lines *l, struct columns *c)
{
	struct sniffed_row r = {0};

	row_split(s, l, s->header_line, s->first, &r);
	for (size_t i = 0; i < r.n && c->n < s->ncolumns; i++)
		columns_add(c, without_blanks(r.value[i]));
	row_release(&r);
}

void under_header_find(struct sniffed_shape *s, const struct lines *l)
{
	struct sniffed_row r = {0};
	size_t line[UNDER_MOST + 2] = {s->first}, n = 0;

	if (!s->header || s->widest || s->own_names || s->row_names)
		return;
	types_find(s, l);
	if (s->under)
		return;
	row_split(s, l, s->first, s->end, &r);
	if (row_count_values(&r) + 1 < s->ncolumns) { /* a title */
		row_release(&r);
		return;
	}
	for (; n <= UNDER_MOST && line[n] < s->end; n++)
		line[n + 1] = next_row(s, l, row_split(s, l, line[n], s->end, &r));
	row_release(&r);
	for (size_t under = n ? n - 1 : 0; under > 0 && !s->under; under--) {
		size_t rows = line[under + 1];
		bool all = count_rows(s, l, rows) == ROWS_LEAST;

		for (size_t i = 1; i <= under && all; i++)
			all = is_under_header(s, l, line[i], rows, i == under);
		if (!all)
			continue;
		s->under = under;
		s->header = false;
		s->header_line = s->first;
		s->first = rows;
	}
}
