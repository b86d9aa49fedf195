/*
 * shape_doubts.c - doubts about the lines that init takes as rows
 *
 * Each doubt is what a reader notices who does not know how init found the rows.
 */
#include <ctype.h>

#include "sniff_parts.h"

#define LOOK_ROWS 2000

static void note(struct sniffed_shape *s, const char *doubt)
{
	s->doubt = s->doubt ? s->doubt : doubt;
}

/* Return true if the line has a delimiter of columns, or begins and ends with a quote. */
static bool has_columns(struct bytes t)
{
	bool quoted = t.len > 1 && t.ptr[0] == '"' && t.ptr[t.len - 1] == '"';

	for (size_t i = 0; i < t.len; i++)
		if (memchr("\t;|^~\x01", t.ptr[i], 6) ||
		    (t.ptr[i] == ',' && i + 1 < t.len && t.ptr[i + 1] != ' '))
			return true;
	return quoted;
}

/* A line is one value: note delimiters, quotes, and lines that the job skips as comments. */
static void doubt_lines(struct sniffed_shape *s, const struct lines *l)
{
	size_t lines = 0, columns = 0, marked = 0;
	bool first = false;

	for (size_t i = 0; i < l->n && lines < LOOK_ROWS; i++) {
		struct bytes t = line_text(l, i);

		if (is_blank(t))
			continue;
		bool has = has_columns(t);
		first = first || (has && !lines);
		lines++;
		columns += has;
		marked += t.ptr[0] == '#';
	}
	if (first || columns * 10 > lines)
		note(s, "a line is one value, but some lines contain delimiters or quotes; if they "
			"separate columns, see `delimiter`");
	if (s->comments && 2 * marked >= lines)
		note(s, "most lines begin with #, and the job skips them; if they are rows, remove "
			"`comment`");
}

/* Rows below the header without a first value, which all other rows have, as places of markers. */
static void doubt_places(struct sniffed_shape *s, const struct lines *l)
{
	struct sniffed_row r = {0};
	size_t rows = 0, places = 0, empty = 0;
	size_t i = row_split(s, l, s->first, s->end, &r);

	for (i = next_row(s, l, i); i < s->end && rows < LOOK_ROWS; rows++) {
		i = next_row(s, l, row_split(s, l, i, s->end, &r));
		bool without = is_blank(r.value[0]);

		empty += without;
		places += without && places == rows;
	}
	row_release(&r);
	if (s->ncolumns > 2 && places && places == empty && places < 4 && rows > 2 * places + 2)
		note(s,
		     "only the first rows after the header have no first value; if they belong to "
		     "the header, name the columns and skip them with `skip`");
}

/* A row below the header that looks like a second header, or like units of the columns. */
static void doubt_second(struct sniffed_shape *s, const struct lines *l)
{
	struct sniffed_shape below = *s;
	struct sniffed_row r = {0};
	size_t names;

	below.first = row_split(s, l, s->first, s->end, &r);
	names = row_count_values(&r);
	bool index = s->row_names || (names + 1 == s->ncolumns && is_blank(r.value[0]));
	below.first = next_row(s, l, below.first);
	if (below.first < s->end)
		row_split(s, l, below.first, s->end, &r);
	if (!index && 2 * names <= s->ncolumns && row_count_values(&r) > names)
		note(s, "half of the columns or more have no name; if the first row is a title, "
			"skip it with `skip`");
	row_release(&r);
	if (below.first >= s->end)
		return;
	struct header_evidence e = evidence_of(&below, l);
	if (e.names > e.values && e.names > 1)
		note(s, "the first row after the header does not look like the later ones; if it "
			"has names or units, skip a line more with `skip`");
}

/* Return the digits of a number, without its signs. All numbers of a column have the same places. */
static int64_t digits_of(struct bytes t)
{
	bool minus = t.len && t.ptr[0] == '-';
	int64_t v = 0;

	for (size_t i = 0; i < t.len && v < INT64_MAX / 100; i++)
		v = isdigit(t.ptr[i]) ? v * 10 + (t.ptr[i] - '0') : v;
	return minus ? -v : v;
}

/* Return true if a value of the line is the sum of its column. */
static bool is_sum(const struct sniffed_shape *s, const struct lines *l,
		   const struct sniffed_row *t)
{
	int64_t *sum = mem_calloc(t->n + 1, sizeof *sum);
	struct sniffed_row r = {0};
	size_t i = next_row(s, l, s->first);
	bool equal = false;

	if (s->header)
		i = next_row(s, l, row_split(s, l, i, s->end, &r));
	while (i < s->end) {
		i = next_row(s, l, row_split(s, l, i, s->end, &r));
		for (size_t k = 1; k < r.n && k < t->n; k++)
			if (__builtin_add_overflow(sum[k], digits_of(r.value[k]), &sum[k]))
				sum[k] = 0;
	}
	for (size_t k = 1; k < t->n; k++)
		equal = equal || (sum[k] && sum[k] == digits_of(t->value[k]));
	mem_free(sum);
	row_release(&r);
	return equal;
}

/* A line below the rows that the job skips, although it has a value for each column. */
static void doubt_footer(struct sniffed_shape *s, const struct lines *l)
{
	struct sniffed_shape all = *s;
	struct sniffed_row r = {0};

	all.end = l->n;
	for (size_t i = next_row(&all, l, s->end); i < all.end;) {
		i = next_row(&all, l, row_split(&all, l, i, all.end, &r));
		size_t filled = row_count_values(&r) + r.quoted[0];

		if (s->ncolumns > 1 && filled >= s->ncolumns && !is_sum(s, l, &r))
			note(s, "the job skips a line below the rows that has as many values as a "
				"row; if it is one, change `skip_footer`");
	}
	row_release(&r);
}

/*
 * A last row that alone has only one or two values, or half of those of the others, or a blank line
 * before it: `T;60`, or the row at which a copy of the file ended. Or several last rows with equally
 * many, as those of a second table.
 */
static void doubt_last(struct sniffed_shape *s, const struct lines *l)
{
	struct sniffed_row r = {0};
	size_t rows = 0, few = 0, tail = 0, n = 0, last = s->first;

	for (size_t i = next_row(s, l, s->first); i < s->end; rows++) {
		last = i;
		i = next_row(s, l, row_split(s, l, i, s->end, &r));
		bool is_short = r.n < s->ncolumns;

		few += is_short;
		tail = !is_short ? 0 : tail && r.n == n ? tail + 1 : 1;
		n = r.n;
	}
	row_release(&r);
	bool apart = last && is_blank(line_text(l, last - 1));
	if (tail && tail == few && few == 1 && rows > 2 && (apart || n < 3 || 2 * n <= s->ncolumns))
		note(s, "only the last row has fewer values than the others; if it is not a row, "
			"add `skip_footer: 1`, and if the file is cut off, copy it again");
	else if (tail > 1 && tail == few && tail < rows && n > 1)
		note(s, "the last rows all have equally many values, and fewer than the others; if "
			"they are a second table, make a file and a job for each");
}

/*
 * Values with backslashes or a delimiter of two bytes, and no names: no column shows that the first
 * row has values.
 */
static void doubt_first(struct sniffed_shape *s, const struct lines *l)
{
	struct header_evidence e = evidence_of(s, l);

	if (!e.values || e.names > e.values)
		note(s, "the first row may be names, but the job takes it as data; if so, remove "
			"`columns:`");
}

/* A remark after # at the end of each row, as `0041; C; # LATIN CAPITAL LETTER A`. */
static void doubt_remarks(struct sniffed_shape *s, const struct lines *l)
{
	struct sniffed_row r = {0};
	size_t rows = 0, remarks = 0;

	for (size_t i = next_row(s, l, s->first); i < s->end && remarks == rows; rows++) {
		i = next_row(s, l, row_split(s, l, i, s->end, &r));
		struct bytes t = without_blanks(r.n ? r.value[r.n - 1] : bytes_of("", 0));

		remarks += r.n > 1 && t.len > 1 && t.ptr[0] == '#' && t.ptr[1] == ' ';
	}
	row_release(&r);
	if (rows > 1 && remarks == rows)
		note(s, "each row ends with a remark after #, which the job reads as a column");
}

/* Text that begins like JSON, but is not: comments, a comma too many, or objects of Python. */
static void doubt_json(struct sniffed_shape *s, const struct lines *l)
{
	size_t first = 0;

	while (first < l->n && is_blank(line_text(l, first)))
		first++;
	struct bytes t = without_blanks(first < l->n ? line_text(l, first) : bytes_of("", 0));
	bool list = t.len && t.ptr[0] == '[' && (t.len == 1 || memchr("[{\"'", t.ptr[1], 4));

	if (list || (t.len && t.ptr[0] == '{'))
		note(s, "the text begins like JSON, but it is not JSON; if it should be, run `jq . "
			"FILE` to find the mistake");
}

void shape_doubts(struct sniffed_shape *s, const struct lines *l)
{
	doubt_json(s, l);
	if (!s->one && !s->special && !s->by_name)
		doubt_remarks(s, l);
	if (s->one)
		doubt_lines(s, l);
	else if (!s->special && !s->by_name && s->header && !s->fields)
		doubt_second(s, l);
	if (!s->one && !s->special && !s->by_name && s->header && !s->fields)
		doubt_places(s, l);
	const char *touch = s->blanks ? blanks_doubt(s, l) : NULL;
	if (touch)
		note(s, touch);
	if (s->special && (s->form.escapes || s->several) && !s->header && !s->under)
		doubt_first(s, l);
	if (!s->one && !s->special && s->footer)
		doubt_footer(s, l);
	if (!s->one && !s->special && !s->by_name && s->missing && l->nfiles < 2)
		doubt_last(s, l);
}
