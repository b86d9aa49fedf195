/* header.c - read the lines to skip, the preamble and the header before a file's rows */
#include <stdio.h>

#include "cursor.h"
#include "hash.h"

static bool same_columns(const struct source *s, const char *const *names, size_t n)
{
	if (n != s->ncolumns)
		return false;
	for (size_t i = 0; i < n; i++)
		if (strcmp(s->columns[i], names[i]) != 0)
			return false;
	return true;
}

/*
 * Make the column names unique. A second `name` becomes name#2, and a column without a name becomes
 * `#` and its number.
 */
static const char **tell_apart(struct arena *a, const struct csv_reader *r, size_t n)
{
	const char **names = arena_alloc(a, (n + 1) * sizeof *names);
	const char **told = arena_alloc(a, (n + 1) * sizeof *told);

	for (size_t i = 0; i < n; i++)
		names[i] = arena_strndup(a, (const char *)r->columns[i].ptr, r->columns[i].len);
	struct name_index given = {0}, used = {0};

	for (size_t i = 0; i < n; i++)
		names_add(&given, names[i]);
	for (size_t i = 0; i < n; i++) {
		/* numbers below are in use, so the search tries no number twice for one name */
		size_t *tried = &names_add(&given, names[i])->number;
		size_t number = *names[i] ? 2 : i + 1;
		char *name = mem_strdup(names[i]);

		number = *tried > number ? *tried : number;
		while (!*name || names_find(&used, name) ||
		       (number > 2 && names_find(&given, name))) {
			mem_free(name);
			name = mem_format("%s#%zu", names[i], number++);
		}
		*tried = number;
		told[i] = arena_strdup(a, name);
		names_add(&used, told[i]);
		mem_free(name);
	}
	names_release(&given);
	names_release(&used);
	return told;
}

/*
 * Read the names from the header row of file `i`. The first file's names become the columns. Other
 * files must have the same names.
 */
static int take_names(struct source *s, size_t i, const struct csv_reader *r,
		      const struct csv_row *row, uint64_t line, struct error *err)
{
	size_t len = (size_t)(row->end - row->start);
	const char *name = input_name(s->files[i].path);

	if (s->csv->replace) {
		if (row->ncolumns == s->ncolumns)
			return RC_OK;
		return error_set(
			err, RC_DATA,
			"%s:%llu: found %zu names in the header, expected %zu, the number of "
			"names in `columns`",
			name, (unsigned long long)line + 1, row->ncolumns, s->ncolumns);
	}
	if (s->by_name) {
		struct arena scratch = {0};

		by_name_take(s, i, tell_apart(&scratch, r, row->ncolumns), row->ncolumns);
		arena_release(&scratch);
		return s->opened ? by_name_check(s, i, err) : RC_OK;
	}
	if (!s->header) {
		s->header = arena_strndup(&s->arena, (const char *)row->start, len);
		s->columns = tell_apart(&s->arena, r, row->ncolumns);
		s->ncolumns = row->ncolumns;
		return RC_OK;
	}
	struct arena scratch = {0};
	bool same = same_columns(s, tell_apart(&scratch, r, row->ncolumns), row->ncolumns);
	arena_release(&scratch);
	if (same)
		return RC_OK;
	return error_set(err, RC_DATA,
			 "%s: found the header \"%.*s\", expected \"%.200s\" as in %s", name,
			 len < 200 ? (int)len : 200, (const char *)row->start, s->header,
			 input_name(s->files[0].path));
}

/* Check the header row of file `i`, at `line` and `offset`, and take the names from the row. */
static int take_header(struct source *s, size_t i, const struct csv_reader *r,
		       const struct csv_row *row, uint64_t line, uint64_t offset, struct error *err)
{
	size_t len = (size_t)(row->end - row->start);
	const char *name = input_name(s->files[i].path);

	if (len > s->max_row_bytes)
		return source_long_row(s, i, line, offset, err);
	if (row->kind == CSV_OPEN)
		return error_set(err, RC_DATA,
				 "%s:%llu: found no closing quote for column %zu of the header, "
				 "expected column names",
				 name, (unsigned long long)line + 1, row->bad_column);
	if (row->kind != CSV_ROW && (*row->start == '{' || *row->start == '['))
		return error_set(err, RC_DATA,
				 "%s:%llu: found JSON, expected the column names of CSV; write "
				 "`source: {json: {files: [%s]}}`",
				 name, (unsigned long long)line + 1, name);
	if (row->kind != CSV_ROW)
		return error_set(err, RC_DATA,
				 "%s:%llu: found a misplaced quote in column %zu of the header, "
				 "expected column names",
				 name, (unsigned long long)line + 1, row->bad_column);
	if (memchr(row->start, 0, len))
		return error_set(err, RC_DATA,
				 "%s:%llu: found a NUL byte in the header, expected column names",
				 name, (unsigned long long)line + 1);
	return take_names(s, i, r, row, line, err);
}

/* Return true if the row contains all names of `header: find`. */
static bool is_header(const struct source *s, const struct csv_reader *r, const struct csv_row *row)
{
	if (row->kind != CSV_ROW)
		return false;
	for (size_t k = 0; k < s->csv->nfind; k++) {
		struct bytes want = bytes_str(s->csv->find[k]);
		size_t j = 0;

		while (j < row->ncolumns &&
		       !bytes_eq(want, bytes_of(r->columns[j].ptr, r->columns[j].len)))
			j++;
		if (j == row->ncolumns)
			return false;
	}
	return true;
}

/*
 * Parse a copy of the first `cut` bytes of `rest`. Set `*found` if these bytes contain the header.
 */
static int parse_header(struct source *s, struct cursor *c, size_t i, size_t cut, bool *found,
			struct error *err)
{
	struct csv_reader r;
	struct csv_row row;
	struct buf head = {0};
	size_t columns = 1;
	int rc = RC_OK;

	buf_reserve(&head, cut + CSV_SLACK);
	buf_append(&head, c->rest.ptr, cut);
	for (size_t k = 0; k < cut; k++)
		columns +=
			head.ptr[k] == s->csv->delimiter || (s->csv->blanks && head.ptr[k] == '\t');
	columns = columns > s->csv->nwidths ? columns : s->csv->nwidths;
	csv_open(&r, s->csv, s->libcsv_only);
	csv_expect(&r, columns, s->max_row_bytes);
	csv_start(&r, head.ptr, cut);
	do
		*found = csv_next(&r, &row);
	while (*found && !is_header(s, &r, &row) && s->csv->nfind > 0);
	if (*found) {
		rc = take_header(s, i, &r, &row, c->line + row.line,
				 c->offset + (uint64_t)(row.start - head.ptr), err);
		cut = (size_t)(row.next - head.ptr);
	}
	c->line += csv_lines(head.ptr, cut);
	cursor_advance(c, cut);
	csv_close(&r);
	buf_release(&head);
	return rc;
}

static int no_header(const struct source *s, size_t i, struct error *err)
{
	const char *name = input_name(s->files[i].path);

	if (s->csv->nfind == 0)
		return error_set(err, RC_DATA, "%s: found an empty file, expected a header line",
				 name);
	return error_set(err, RC_DATA,
			 "%s: found no line with the name%s `%.60s`%s, expected a header line",
			 name, s->csv->nfind > 1 ? "s" : "", s->csv->find[0],
			 s->csv->nfind > 1 ? " and the other names of header: find" : "");
}

/*
 * Return the length of the next part in which to search for the header. Search a preamble line by
 * line, because a quote in the preamble does not open a quoted value.
 */
static size_t head_bytes(struct source *s, struct csv_reader *cutter, const struct cursor *c,
			 bool *limit)
{
	size_t len = c->rest.len;

	if (s->csv->nfind == 0)
		return cursor_whole(s, cutter, c, &c->rest, limit);
	if (!c->eof)
		len -= len > 0 && c->rest.ptr[len - 1] == '\r';
	size_t line = csv_line(c->rest.ptr, len);
	*limit = line > s->max_row_bytes || (line == 0 && len > s->max_row_bytes);
	return line == 0 && c->eof ? len : line;
}

static int read_header(struct source *s, struct cursor *c, size_t i, struct error *err)
{
	struct csv_reader cutter;
	bool found = false, limit = false;
	int rc = RC_OK;

	csv_open(&cutter, s->csv, s->libcsv_only);
	while (rc == RC_OK && !found) {
		size_t cut = head_bytes(s, &cutter, c, &limit);

		if (limit) {
			rc = source_long_row(s, i, c->line, c->offset, err);
		} else if (cut > 0) {
			rc = parse_header(s, c, i, cut, &found, err);
		} else if (c->eof) {
			rc = no_header(s, i, err);
		} else {
			rc = cursor_more(c, &c->rest, source_more_bytes(s, c->rest.len), err);
		}
	}
	csv_close(&cutter);
	return rc;
}

static int skip_lines(struct source *s, struct cursor *c, struct error *err)
{
	uint32_t left = s->csv->skip;
	int rc = RC_OK;

	while (rc == RC_OK && left > 0) {
		size_t len = c->rest.len, at = 0, line;

		if (!c->eof)
			len -= len > 0 && c->rest.ptr[len - 1] == '\r';
		while (left > 0 && (line = csv_line(c->rest.ptr + at, len - at)) > 0) {
			at += line;
			left--;
			c->line++;
		}
		if (left > 0 && c->eof) {
			at = len;
			left = 0;
		}
		cursor_advance(c, at);
		if (left > 0)
			rc = cursor_more(c, &c->rest, source_more_bytes(s, c->rest.len), err);
	}
	return rc;
}

int cursor_start(struct source *s, struct cursor *c, size_t i, struct error *err)
{
	if (s->headless)
		return RC_OK;
	int rc = skip_lines(s, c, err);

	return rc == RC_OK && s->csv->header ? read_header(s, c, i, err) : rc;
}
