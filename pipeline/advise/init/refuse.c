/*
 * refuse.c - recognize files that no job can read correctly, with the reason and the fix
 *
 * A refusal with a reason is better than a job that loads wrong values.
 */
#include <ctype.h>
#include <stdio.h>
#include <strings.h>

#include "sniff_parts.h"

#define LOOK_LINES 1000

struct forms {
	size_t lines, pairs, gaps, blanks, equal_length, records;
	size_t escapes, line_escapes;
	bool statements; /* INSERT INTO ... VALUES */
};

/* Return true if the text begins with the words, in any case. */
static bool begins_with(struct bytes t, const char *words)
{
	return t.len >= strlen(words) &&
	       strncasecmp((const char *)t.ptr, words, strlen(words)) == 0;
}

/* Return true if an INSERT statement begins in this line. VALUES may be in the line below. */
static bool is_statement(const struct lines *l, size_t line)
{
	static const char word[] = "VALUES";
	struct bytes t = without_blanks(line_text(l, line));

	if (!begins_with(t, "INSERT INTO "))
		return false;
	for (size_t i = 0; i < t.len; i++)
		if (memchr(" )", t.ptr[i], 2) &&
		    begins_with(bytes_of(t.ptr + i + 1, t.len - i - 1), word))
			return true;
	return line + 1 < l->n && begins_with(without_blanks(line_text(l, line + 1)), word);
}

static bool is_record_line(struct bytes t)
{
	return (t.len > 10 && memcmp(t.ptr, "-[ RECORD ", 10) == 0) ||
	       (t.len > 20 && memcmp(t.ptr, "********", 8) == 0 &&
		memmem(t.ptr, t.len, ". row *", 7));
}

static void look_at_line(struct forms *f, struct bytes t, uint8_t delimiter, uint8_t quote)
{
	bool blank = false, gap = false;

	for (size_t i = 0; i < t.len; i++) {
		blank = blank || t.ptr[i] == ' ';
		gap = gap || (t.ptr[i] == ' ' && i && t.ptr[i - 1] == ' ');
		if (t.ptr[i] != '\\')
			continue;
		if (i + 1 == t.len)
			f->line_escapes++;
		else if (t.ptr[i + 1] == delimiter ||
			 (t.ptr[i + 1] == quote && i + 2 < t.len && t.ptr[i + 2] != quote &&
			  t.ptr[i + 2] != delimiter))
			f->escapes++;
		i++;
	}
	f->lines++;
	f->pairs += count_pairs(t) >= 2;
	f->blanks += blank;
	f->gaps += gap;
	f->records += is_record_line(t);
}

static int refuse(const char *name, const char *found, const char *fix, struct error *err)
{
	return error_set(err, RC_DATA, "%s: found %s, expected delimited text; %s", name, found,
			 fix);
}

/* Report a file whose lines are one value although they contain several. */
static int refuse_lines(const struct forms *f, const struct sniffed_shape *s, const char *name,
			struct error *err)
{
	if (f->pairs > f->lines / 2)
		return refuse(
			name, "lines of key=value pairs (logfmt)",
			"convert them to JSON lines, or write a job whose fields use `match:`",
			err);
	if (f->gaps > f->lines / 2 || (f->equal_length == f->lines && f->gaps))
		return refuse(
			name, "columns of a fixed width",
			"write a job with `columns: [line]` whose fields use `substring: [START, "
			"LENGTH]` (saltmill help substring)",
			err);
	if (!s->header && f->blanks > f->lines / 2)
		return refuse(name, "lines of text without a delimiter",
			      "write a job with `columns: [line]` whose fields use `match:` "
			      "(saltmill help match)",
			      err);
	return RC_OK;
}

/* --- several tables --- */

#define TABLES_MOST 8

struct table_lines {
	size_t first, end, n; /* lines, and values of a row */
};

/* Return true if the lines are names and at least two rows with equally many values. */
static bool is_table(const struct sniffed_shape *s, const struct lines *l, struct table_lines *b)
{
	struct sniffed_row r = {0};
	size_t rows = 0;
	bool same = true, names = false;

	for (size_t i = next_row(s, l, b->first); i < b->end && same; rows++) {
		bool first = rows == 0;

		i = next_row(s, l, row_split(s, l, i, b->end, &r));
		b->n = first ? r.n : b->n;
		names = first ? row_is_names(&r) && row_count_values(&r) == r.n
			      : names && (rows > 1 || !row_is_names(&r));
		same = r.n == b->n && r.n > 1;
	}
	row_release(&r);
	return same && names && rows > 2;
}

/* Find blocks between blank lines that are tables with other headers than the first one. */
static size_t find_tables(const struct sniffed_shape *s, const struct lines *l,
			  struct table_lines b[TABLES_MOST])
{
	struct sniffed_shape all = *s;
	size_t n = 0, line = 0;
	bool other = false;

	all.end = l->n;
	all.headers = false;
	all.nheadings = 0;
	while (line < l->n && n < TABLES_MOST) {
		while (line < l->n && is_blank(line_text(l, line)))
			line++;
		b[n].first = line;
		while (line < l->n && !is_blank(line_text(l, line)))
			line++;
		b[n].end = line;
		if (b[n].first >= line || !is_table(&all, l, &b[n]))
			continue;
		other = other || !bytes_eq(line_text(l, b[0].first), line_text(l, b[n].first));
		n++;
	}
	return other ? n : 0;
}

static int refuse_tables(const struct sniffed_shape *s, const struct lines *l, const char *name,
			 struct error *err)
{
	struct table_lines b[TABLES_MOST];
	struct buf places = {0}, word = {0};
	size_t n = l->nblank && l->nfiles < 2 && !s->one ? find_tables(s, l, b) : 0, most = 0;

	for (size_t i = 0; i < n; i++) {
		most = b[i].end - b[i].first > b[most].end - b[most].first ? i : most;
		buf_printf(&places, "%s%zu to %zu",
			   i == 0	? ""
			   : i + 1 == n ? " and "
					: ", ",
			   b[i].first + 1, b[i].end);
	}
	text_shell(&word, name, "");
	if (n)
		(void)error_set(err, RC_DATA,
				"%s: found %zu tables with different headers, in lines %.*s, "
				"expected one; for the largest: sed -n '%zu,%zup' %.*s > "
				"table.csv; saltmill init table.csv",
				name, n, (int)places.len, places.ptr, b[most].first + 1,
				b[most].end, (int)word.len, word.ptr);
	buf_release(&word);
	buf_release(&places);
	return n ? RC_DATA : RC_OK;
}

int text_refuse(const struct sniffed_shape *s, const struct lines *l, const char *name,
		struct error *err)
{
	struct forms f = {0};
	size_t length = 0;

	for (size_t i = 0; i < l->n && f.lines < LOOK_LINES; i++) {
		struct bytes t = line_text(l, i);

		f.statements = f.statements || is_statement(l, i);
		if (!line_counts(s, l, i))
			continue;
		length = f.lines ? length : t.len;
		f.equal_length += t.len == length && t.len > 24;
		look_at_line(&f, t, s->one ? 0 : s->delimiter, s->quote);
	}
	if (f.records > 1)
		return refuse(name, "one line for each column (psql \\x or mysql \\G)",
			      "repeat the query with `psql --csv` or `mysql --batch`", err);
	if (f.statements)
		return refuse(name, "INSERT statements of SQL",
			      "load them into a database and export the table, with `mysql --batch "
			      "-e 'SELECT * FROM TABLE'`, `mysqldump --tab=DIR` or `psql --csv`",
			      err);
	if (s->special)
		return RC_OK;
	int rc = refuse_tables(s, l, name, err);
	if (rc)
		return rc;
	if (!s->one && (f.escapes || f.line_escapes > 1))
		return refuse(name, "backslashes before delimiters, quotes or line ends",
			      "export the table again as CSV with doubled quotes", err);
	return s->one ? refuse_lines(&f, s, name, err) : RC_OK;
}

static bool has_value(const struct sniffed_row *r, struct bytes t)
{
	for (size_t i = 0; i < r->n; i++)
		if (bytes_eq(r->value[i], t))
			return true;
	return false;
}

/* Return the names of `b` that `a` has. */
static size_t count_common(const struct sniffed_row *a, const struct sniffed_row *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++)
		n += has_value(a, b->value[i]);
	return n;
}

void files_match(struct sniffed_shape *s, const struct lines *l)
{
	struct sniffed_row first = {0}, r = {0};
	bool names = l->nfiles > 1 && !s->one && !s->special && s->first == l->file[0];
	bool equal = true, missing = false;

	for (size_t i = 0; i < l->nfiles && names; i++) {
		size_t end = i + 1 < l->nfiles ? l->file[i + 1] : l->n;

		row_split(s, l, l->file[0], l->file[1], &first);
		row_split(s, l, l->file[i], end, &r);
		size_t common = count_common(&first, &r);
		names = row_is_names(&r) && row_count_values(&r) == r.n && 2 * common >= r.n &&
			2 * common >= first.n;
		equal = equal && bytes_eq(line_text(l, l->file[0]), line_text(l, l->file[i]));
		missing = missing || common < first.n || common < r.n;
	}
	row_release(&first);
	row_release(&r);
	if (!names || equal)
		return;
	s->by_name = s->header = true;
	s->missing = missing;
	s->extra = false;
	s->widest = 0;
}

int files_refuse(const struct sniffed_shape *s, const struct lines *l, const char *name,
		 struct error *err)
{
	for (size_t i = 0; i < l->nfiles && l->nfiles > 1 && !s->by_name; i++) {
		struct bytes first = line_text(l, l->file[i]), head = line_text(l, l->file[0]);

		if (!bytes_eq(first, head) && (s->header || s->names_first))
			return error_set(err, RC_DATA,
					 "%s: found files with different headers: found `%.*s`, "
					 "expected `%.*s` in each; make one job for each header",
					 name, first.len < 80 ? (int)first.len : 80, first.ptr,
					 head.len < 80 ? (int)head.len : 80, head.ptr);
	}
	return RC_OK;
}
