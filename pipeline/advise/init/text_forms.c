/*
 * text_forms.c - find rows that libcsv cannot split: backslash escapes, delimiters of several bytes,
 * key=value pairs, and columns of a fixed width
 *
 * The reader of a load splits the rows, so a load can read every form that this file finds.
 */
#include <ctype.h>
#include <stdio.h>

#include "pattern.h"
#include "sniff_parts.h"
#include "source.h"

#define LOOK_LINES  1000
#define KEYS_MOST   300
#define WIDTH_MOST  4000 /* longest line of columns of a fixed width */
#define RULER_LINES 32	 /* the ruler is in one of the first lines */
#define NOTES_MOST  8

/* --- backslash escapes --- */

struct slashes {
	size_t delimiter, line_end, quote, twice, nulls, quoted;
	bool mysql, postgres; /* letters that only one of the two has */
	bool letters, other;  /* letters of both; and bytes after which no program writes one */
};

static void see_escape(struct slashes *e, uint8_t c, uint8_t delimiter)
{
	e->delimiter += c == delimiter;
	e->quote += c == '"' || c == '\'';
	e->twice += c == '\\';
	e->nulls += c == 'N';
	e->letters = e->letters || strchr("bnrt", c);
	e->mysql = e->mysql || c == '0' || c == 'Z';
	e->postgres = e->postgres || strchr("fvx1234567", c);
	e->other = e->other || (c != delimiter && c != '.' && !strchr("\"'\\NbnrtfvxZ01234567", c));
}

static void see_slashes(struct slashes *e, const struct sniffed_shape *s, struct bytes t)
{
	for (size_t i = 0; i < t.len; i++) {
		e->quoted += t.ptr[i] == '"' && (i == 0 || t.ptr[i - 1] == s->delimiter);
		if (t.ptr[i] != '\\')
			continue;
		if (++i == t.len)
			e->line_end++;
		else
			see_escape(e, t.ptr[i], s->delimiter);
	}
}

/* Count the delimiters without a backslash before them. */
static size_t count_delimiters(struct bytes t, uint8_t delimiter)
{
	size_t n = 0;

	for (size_t i = 0; i < t.len; i++) {
		n += t.ptr[i] == delimiter;
		i += t.ptr[i] == '\\';
	}
	return n;
}

/*
 * Correct the first row and the number of columns, which shape_find found without regard to
 * backslashes.
 */
static void correct_shape(struct sniffed_shape *s, const struct lines *l)
{
	size_t n = count_delimiters(line_text(l, s->first), s->delimiter);

	while (s->first > 0 && !s->header &&
	       count_delimiters(line_text(l, s->first - 1), s->delimiter) == n)
		s->first--;
	s->ncolumns = n + 1;
	s->widest = 0;
	s->missing = s->extra = false;
}

static void find_escapes(struct sniffed_shape *s, const struct lines *l, struct columns *c)
{
	struct slashes e = {0};

	if (!memchr(l->text.ptr, '\\', l->text.len))
		return;
	for (size_t i = s->first; i < l->n; i++)
		see_slashes(&e, s, line_text(l, i));
	bool escapes = e.delimiter || e.line_end || (e.quote && e.quoted) ||
		       (e.twice && (e.letters || e.nulls));
	if (!escapes && e.twice && !e.other && !s->one)
		s->doubt =
			"each backslash is doubled, and the job loads both; if the program wrote "
			"one as two, add `escapes: plain`";
	if (s->one || !escapes || e.other || (e.mysql && e.postgres))
		return;
	s->special = true;
	correct_shape(s, l);
	/* mysql --batch writes NULL */
	c->null_word = !e.nulls && (e.mysql || e.letters);
	s->form.delimiter = s->delimiter;
	s->form.quotes = e.quoted ? QUOTES_STRICT : QUOTES_NONE;
	s->form.escapes = e.postgres		 ? ESCAPES_POSTGRES
			  : e.mysql || e.letters ? ESCAPES_MYSQL
						 : ESCAPES_PLAIN;
}

/* --- a delimiter of several bytes --- */

static bool has_quoted_value(const struct sniffed_shape *s, const struct lines *l)
{
	struct sniffed_row r = {0};
	bool quoted = false;

	for (size_t i = next_row(s, l, s->first); i < s->end && !quoted;) {
		i = next_row(s, l, row_split(s, l, i, s->end, &r));
		for (size_t k = 0; k < r.n; k++)
			quoted = quoted || r.quoted[k];
	}
	row_release(&r);
	return quoted;
}

static void find_long(struct sniffed_shape *s, const struct lines *l, struct columns *c)
{
	if (!s->several)
		return;
	s->special = true;
	s->form.delimiter = s->delimiter;
	s->form.long_delimiter = arena_bytes(&c->arena, bytes_str(s->several));
	if (!has_quoted_value(s, l))
		s->form.quotes = QUOTES_NONE;
}

/* --- pairs --- */

static void add_keys(struct columns *c, struct bytes t)
{
	size_t start = 0;
	bool name = false, quoted = false;

	for (size_t i = 0; i < t.len && c->n < KEYS_MOST; i++) {
		uint8_t b = t.ptr[i];

		quoted = b == '"' && (i == 0 || t.ptr[i - 1] != '\\') ? !quoted : quoted;
		if (quoted) {
			name = false;
			continue;
		}
		if (b == '=' && name)
			columns_add(c, bytes_of(t.ptr + start, i - start));
		bool inside = isalnum(b) || memchr("_.-", b, 3);
		if (!name && inside && !isdigit(b) && (i == 0 || isspace(t.ptr[i - 1])))
			start = i;
		name = inside && (name || start == i);
	}
}

/* Return the length of the name before `=`, as in `level=info`, or 0. */
static size_t name_of_pair(struct bytes t)
{
	size_t n = 0;

	while (n < t.len && (isalnum(t.ptr[n]) || memchr("_.-", t.ptr[n], 3)))
		n++;
	return n < t.len && t.ptr[n] == '=' && n && !isdigit(t.ptr[0]) ? n : 0;
}

/* Find pairs between delimiters, as Miller writes them: a=1,b=2. All values must be pairs. */
static void find_delimited_pairs(struct sniffed_shape *s, const struct lines *l, struct columns *c)
{
	struct sniffed_row r = {0};
	struct sniffed_shape all = *s;
	size_t rows = 0, pairs = 0, values = 0;

	all.first = 0;
	all.end = l->n;
	for (size_t i = next_row(&all, l, 0); i < all.end; rows++) {
		i = next_row(&all, l, row_split(&all, l, i, all.end, &r));
		for (size_t k = 0; k < r.n; k++)
			pairs += name_of_pair(r.value[k]) > 0;
		values += r.n;
	}
	if (rows > 1 && pairs == values && pairs > rows && !s->several && s->delimiter < 0x80) {
		for (size_t i = next_row(&all, l, 0); i < all.end;) {
			i = next_row(&all, l, row_split(&all, l, i, all.end, &r));
			for (size_t k = 0; k < r.n && c->n < KEYS_MOST; k++)
				columns_add(c, bytes_of(r.value[k].ptr, name_of_pair(r.value[k])));
		}
		*s = (struct sniffed_shape){.quote = '"',
					    .end = l->n,
					    .comments = s->comments,
					    .delimiter = s->delimiter,
					    .special = true,
					    .ncolumns = c->n};
		s->form =
			(struct csv_source){.delimiter = s->delimiter, .quote = '"', .pairs = true};
	} else if (10 * pairs > 9 * values && pairs > rows && !s->doubt) {
		s->doubt = "most values are pairs such as `name=value`, which the job loads as "
			   "they are; see `pairs`";
	}
	row_release(&r);
}

static void find_pairs(struct sniffed_shape *s, const struct lines *l, struct columns *c)
{
	size_t pairs = 0, rows = 0;

	if (!s->one) {
		find_delimited_pairs(s, l, c);
		return;
	}
	for (size_t i = 0; i < l->n; i++) {
		rows += !is_blank(line_text(l, i));
		pairs += count_pairs(line_text(l, i)) >= 2;
	}
	if (pairs < rows)
		return;
	for (size_t i = 0; i < l->n; i++)
		add_keys(c, line_text(l, i));
	s->special = true;
	s->header = false;
	s->form.pairs = true;
	s->form.delimiter = ' ';
	s->ncolumns = c->n;
}

/* --- columns of a fixed width --- */

/* Mark the characters that are not blank in some line. Return false if a line is too long. */
static bool mark_line(struct bytes t, bool *used, size_t *most)
{
	const uint8_t *p = t.ptr, *end = p + t.len;
	size_t at = 0;

	for (; p < end && at < WIDTH_MOST; at++) {
		size_t n = utf8_char(p, end);

		used[at] = used[at] || *p != ' ';
		if (*p == '\t')
			return false;
		p += n ? n : 1;
	}
	*most = at > *most ? at : *most;
	return at < WIDTH_MOST;
}

static size_t count_words(struct bytes t)
{
	size_t n = 0;

	for (size_t i = 0; i < t.len; i++)
		n += t.ptr[i] != ' ' && (i == 0 || t.ptr[i - 1] == ' ');
	return n;
}

/* Return true if all words of the text are names. */
static bool are_words_names(struct bytes t)
{
	size_t i = 0;

	while (i < t.len) {
		size_t start = i;

		while (i < t.len && t.ptr[i] != ' ')
			i++;
		if (i > start && !is_name(bytes_of(t.ptr + start, i - start)))
			return false;
		i += i < t.len;
	}
	return t.len > 0;
}

/* Put the widths between the starts of columns into the form. */
static void set_widths(struct sniffed_shape *s, const bool *used, size_t most, struct columns *c)
{
	size_t start = 0;

	s->form.widths = arena_alloc(&c->arena, (most + 1) * sizeof *s->form.widths);
	for (size_t i = 1; i < most; i++) {
		if (!used[i] || used[i - 1])
			continue;
		/* blanks before the first column belong to it */
		bool any = false;
		for (size_t k = start; k < i; k++)
			any = any || used[k];
		if (!any)
			continue;
		s->form.widths[s->form.nwidths++] = (uint32_t)(i - start);
		start = i;
	}
	s->form.widths[s->form.nwidths++] = (uint32_t)(most - start);
}

/* Return true if the line has several groups of dashes with blanks between them. */
static bool is_ruler_of_columns(struct bytes t)
{
	size_t groups = 0;

	for (size_t i = 0; i < t.len; i++) {
		if (t.ptr[i] != '-' && t.ptr[i] != ' ')
			return false;
		groups += t.ptr[i] == '-' && (i == 0 || t.ptr[i - 1] == ' ');
	}
	return groups > 1;
}

/* Return the line above the first ruler, which has the names, or `l->n`. */
static size_t line_above_ruler(const struct lines *l, bool of_columns)
{
	for (size_t i = 1; i < l->n && i < RULER_LINES; i++) {
		struct bytes t = line_text(l, i), above = line_text(l, i - 1);

		if (of_columns ? is_ruler_of_columns(t) : line_is_ruler(t) && t.ptr[0] == '-')
			return is_blank(above) || line_is_ruler(above) ? l->n : i - 1;
	}
	return l->n;
}

/* Return the line after the last row: totals of rows and notes after a blank line are no rows. */
static size_t end_of_rows(const struct lines *l, struct sniffed_shape *s)
{
	size_t end = l->n, blank = l->n, notes = 0;

	/* a ruler after the rows is above their totals, as in `unzip -l` */
	for (size_t i = l->n; i > s->first + 2 && l->n - i < NOTES_MOST; i--)
		if (is_ruler_of_columns(line_text(l, i - 1)) &&
		    !bytes_eq(line_text(l, i - 2), line_text(l, s->first)))
			end = i - 1;
	for (size_t i = end; i > 0 && notes < NOTES_MOST; i--) {
		struct bytes t = line_text(l, i - 1);

		if (is_blank(t))
			blank = i - 1;
		else if (line_is_count(t))
			continue;
		else if (!is_note(t) || kind_of_text(t) != KIND_TEXT || isdigit(t.ptr[0]))
			break;
		else
			notes++;
		end = blank < l->n ? blank : end;
	}
	for (size_t i = end; i < l->n && l->whole; i++)
		s->footer += !is_blank(line_text(l, i));
	return l->whole ? end : l->n;
}

/* Note the line above a repeated header as the heading of a page, if a blank line is above it. */
static void note_heading(struct sniffed_shape *s, const struct lines *l, size_t line)
{
	bool alone = is_blank(line_text(l, line - 1)) && !line_is_ruler(line_text(l, line));

	for (size_t k = 0; k < s->nheadings; k++)
		alone = alone && !line_like(line_text(l, s->heading[k]), line_text(l, line));
	if (alone && s->nheadings < HEADINGS_MOST)
		s->heading[s->nheadings++] = line;
}

/* Set the widths from the groups of dashes below the names. */
static bool widths_of_ruler(struct sniffed_shape *s, const struct lines *l, struct columns *c)
{
	size_t head = line_above_ruler(l, true), start = 0;

	if (head == l->n)
		return false;
	struct bytes t = line_text(l, head + 1);
	s->form.widths = arena_alloc(&c->arena, (t.len + 1) * sizeof *s->form.widths);
	for (size_t i = 1; i < t.len; i++) {
		if (t.ptr[i] != '-' || t.ptr[i - 1] != ' ')
			continue;
		/* dashes after blanks at the beginning are those of the first column */
		if (memchr(t.ptr + start, '-', i - start)) {
			s->form.widths[s->form.nwidths++] = (uint32_t)(i - start);
			start = i;
		}
	}
	s->form.widths[s->form.nwidths++] = (uint32_t)(t.len - start);
	s->first = s->header_line = head;
	s->special = s->header = s->rulers = true;
	c->null_word = true; /* as sqlcmd writes it */
	s->ncolumns = s->form.nwidths;
	s->form.has_comment = s->comments = false;
	s->headers = false;
	s->nheadings = 0;
	for (size_t i = head + 2, last = i; i < l->n; i++) {
		if (bytes_eq(line_text(l, i), line_text(l, head))) {
			s->headers = true;
			note_heading(s, l, last);
		}
		last = is_blank(line_text(l, i)) ? last : i;
	}
	s->missing = true; /* programs cut blanks at the end of lines */
	s->extra = s->one = s->blanks = s->rest = false;
	s->several = NULL;
	s->row_names = s->own_names = false;
	s->widest = s->footer = 0;
	s->quote = '"';
	s->end = end_of_rows(l, s);
	return true;
}

/* Return true if the values of column `k` are numbers or times, from this line on. */
static bool is_typed(const struct sniffed_shape *s, const struct lines *l, size_t k, size_t line,
		     bool empty)
{
	size_t start = 0, typed = 0;

	for (size_t i = 0; i < k; i++)
		start += s->form.widths[i];
	for (size_t i = next_row(s, l, line); i < s->end; i = next_row(s, l, i + 1)) {
		struct bytes t = line_text(l, i);
		size_t at = start < t.len ? start : t.len;
		if (at == t.len) /* the line ends before the column */
			continue;
		size_t n = k + 1 < s->form.nwidths && s->form.widths[k] < t.len - at
				   ? s->form.widths[k]
				   : t.len - at;
		struct bytes v = without_blanks(bytes_of(t.ptr + at, n));
		enum text_kind kind = kind_of_text(v);

		if (kind == KIND_NUMBER && !empty && memchr(v.ptr, ' ', v.len))
			return false; /* several numbers, and none of them is below another */
		if (kind == KIND_NUMBER || kind == KIND_TIME)
			typed++;
		else if (kind == KIND_TEXT || !empty)
			return false;
	}
	return typed > 0;
}

/* Return true if each column has numbers or times only. A blank is then not inside a value. */
static bool are_numbers(const struct sniffed_shape *s, const struct lines *l)
{
	bool all = true;

	for (size_t k = 0; k < s->form.nwidths && all; k++)
		all = is_typed(s, l, k, 0, false);
	return all;
}

/* Return true if a column below the names has numbers or times only. */
static bool has_typed_column(const struct sniffed_shape *s, const struct lines *l)
{
	bool any = false;

	for (size_t k = 0; k < s->form.nwidths && !any; k++)
		any = is_typed(s, l, k, s->first + 1, true);
	return any;
}

static bool is_upper(struct bytes t)
{
	for (size_t i = 0; i < t.len; i++)
		if (islower(t.ptr[i]))
			return false;
	return true;
}

static void find_widths(struct sniffed_shape *s, const struct lines *l, struct columns *c)
{
	bool *used = arena_alloc(&c->arena, WIDTH_MOST + 1);
	size_t most = 0, rows = 0, above = line_above_ruler(l, false);
	size_t first = above < l->n ? above : next_row(s, l, 0);
	bool fine = s->one && first < l->n;

	memset(used, 0, WIDTH_MOST + 1);
	s->end = fine ? end_of_rows(l, s) : s->end;
	for (size_t i = first; i < s->end && fine; i++) {
		if (!line_counts(s, l, i))
			continue;
		fine = mark_line(line_text(l, i), used, &most);
		rows++;
	}
	if (!fine || rows < 3)
		return;
	set_widths(s, used, most, c);
	struct bytes head = line_text(l, first);
	bool names = are_words_names(head) && count_words(head) == s->form.nwidths;
	if (s->form.nwidths < 2 || (!names && !are_numbers(s, l))) {
		/* without names, a blank in all rows may be inside a value */
		s->form.nwidths = 0;
		return;
	}
	s->special = true;
	s->header = names;
	s->first = first;
	s->ncolumns = s->form.nwidths;
	if (names && !is_upper(head) && !has_typed_column(s, l))
		s->doubt = "the first line may be data, but the job takes it as names; if so, "
			   "replace it by `columns: [NAME, ...]`";
}

/* --- rows --- */

void special_find(struct sniffed_shape *s, const struct lines *l, struct columns *c)
{
	s->form = (struct csv_source){.delimiter = ',', .quote = '"'};
	if (!widths_of_ruler(s, l, c))
		find_long(s, l, c);
	if (!s->special && !s->blanks)
		find_escapes(s, l, c);
	if (!s->special)
		find_pairs(s, l, c);
	if (!s->special)
		find_widths(s, l, c);
	if (s->special)
		s->one = false;
}

static int take_row(void *ctx, const struct event *event, struct reject *why)
{
	struct columns *c = ctx;

	(void)why;
	c->rows++;
	for (size_t i = 0; i < event->ncolumns; i++) {
		const struct column *v = &event->columns[i];

		if (!v->absent)
			column_see(c, &c->column[i], bytes_of(v->ptr, v->len), v->quoted);
	}
	return RC_OK;
}

/* Name the columns of the source. Columns without names are c1, c2 and so on. */
static void name_columns(struct columns *c, const struct sniffed_shape *s, const struct lines *l)
{
	if (s->under)
		names_above_types(s, l, c);
	while (!s->header && c->n < s->ncolumns) {
		char name[24];

		snprintf(name, sizeof name, "c%zu", c->n + 1);
		columns_add(c, bytes_str(name));
	}
}

static int set_skipped(struct job *job, const struct sniffed_shape *s, const struct lines *l,
		       struct arena *a, struct error *err)
{
	struct buf pattern = {0};

	skip_pattern(s, l, &pattern);
	buf_put(&pattern, 0);
	int rc = pattern.len > 1
			 ? pattern_new(&job->csv.skip_matching, a, (const char *)pattern.ptr, err)
			 : RC_OK;
	buf_release(&pattern);
	return rc;
}

int special_look(struct columns *c, const struct sniffed_shape *s, const struct lines *l,
		 const char *file, struct error *err)
{
	struct job job = {.path = "init", .source = SOURCE_CSV, .csv = s->form};
	const struct input input = {.files = &file, .nfiles = 1};
	const struct source_options options = {.job = &job, .input = &input};
	const struct source_sink sink = {.ctx = c, .event = take_row};
	struct source *source;
	size_t n;

	if (s->by_name) {
		job.csv.delimiter = s->delimiter;
		job.csv.quote = s->quote;
		job.csv.by_name = true;
	}
	name_columns(c, s, l);
	const char **names = arena_alloc(&c->arena, (c->n + 1) * sizeof *names);
	for (size_t i = 0; i < c->n; i++)
		names[i] = c->column[i].name;
	job.csv.header = s->header;
	job.csv.columns = s->header ? NULL : names;
	job.csv.ncolumns = s->header ? 0 : c->n;
	job.csv.skip = (uint32_t)s->first;
	job.csv.skip_footer = (uint32_t)s->footer;
	job.csv.missing = s->missing ? MISSING_NULL : MISSING_REJECT;
	job.csv.extra = s->extra ? EXTRA_EMPTY : EXTRA_REJECT;
	job.csv.encoding = l->encoding;
	job.csv.has_comment = s->comments;
	job.csv.comment = '#';
	job.csv.max_row_bytes = SNIFF_BYTES;
	int rc = set_skipped(&job, s, l, &c->arena, err);
	rc = rc ? rc : source_open(&source, &options, err);
	if (rc)
		return rc;
	const char *const *found = source_columns(source, &n);
	for (size_t i = 0; i < n; i++) {
		struct bytes name = without_blanks(bytes_str(found[i]));

		/* the job trims the names, too */
		c->blanks = c->blanks || name.len != strlen(found[i]);
		columns_add(c, name);
	}
	rc = c->n == n ? source_read_through(source, &sink, err) : RC_OK;
	source_close(source);
	return rc;
}
