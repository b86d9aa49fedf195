/*
 * csv.c - split text into rows and fields
 *
 * The dialect is libcsv's with CSV_STRICT and without trimming. A row without a quote needs no
 * state machine, because csv_plain splits it at its marks (marks.c). The function splits many rows
 * with the expected number of fields at a time. A row with a quote goes to libcsv line by line, so
 * a fault costs one line and not the rest of the input.
 *
 * scan_row is libcsv's automaton without its buffers and callbacks. scan_row finds the borders of
 * pieces under the source's lock, because libcsv would slow down all threads there. scan_row also
 * reports which fields have quotes, which libcsv does not. The parser compares each row of libcsv
 * with scan_row's result. If the results differ, a piece may have a wrong border, so the run stops.
 */
#include "input/csv.h"

#include <csv.h>

#include "line_ends.h"
#include "mem.h"
#include "special.h"

#define LIBCSV_GROW ((size_t)64 << 10)

static int no_blank(unsigned char c)
{
	(void)c;
	return 0;
}

/* Return true if libcsv trims this byte around values. libcsv never trims the delimiter. */
static int is_blank(unsigned char c)
{
	return c == ' ' || c == '\t';
}

void csv_open(struct csv_reader *r, const struct csv_source *dialect, bool libcsv_only)
{
	uint8_t delimiter = dialect->delimiter, quote = dialect->quote;

	*r = (struct csv_reader){.delimiter = delimiter,
				 .quote = quote,
				 .comment = dialect->has_comment ? dialect->comment : -1,
				 .trim = dialect->trim,
				 .libcsv_only = libcsv_only,
				 .special = special_needed(dialect) ? dialect : NULL,
				 .max_row_bytes = UINT64_MAX};
	marks_open(&r->marks, delimiter, quote);
	r->libcsv = mem_calloc(1, sizeof *r->libcsv);
	csv_init(r->libcsv, CSV_STRICT | CSV_STRICT_FINI);
	csv_set_delim(r->libcsv, delimiter);
	csv_set_quote(r->libcsv, quote);
	csv_set_space_func(r->libcsv, r->trim ? is_blank : no_blank);
	csv_set_realloc_func(r->libcsv, mem_realloc);
	csv_set_free_func(r->libcsv, mem_free);
	csv_set_blk_size(r->libcsv, LIBCSV_GROW);
}

void csv_close(struct csv_reader *r)
{
	if (r->libcsv)
		csv_free(r->libcsv);
	mem_free(r->libcsv);
	mem_free(r->columns);
	marks_close(&r->marks);
	buf_release(&r->text);
	buf_release(&r->unclosed);
	pattern_scratch_release(&r->scratch);
	*r = (struct csv_reader){0};
}

void csv_skip(struct csv_reader *r, const struct pattern *skip)
{
	r->skip = skip;
}

void csv_expect(struct csv_reader *r, size_t n, uint64_t max_row_bytes)
{
	r->batch = n == 0 ? 0 : EVENT_BATCH;
	if (r->libcsv_only || r->special || r->trim || max_row_bytes < MARKS_WINDOW)
		r->batch = 0;
	r->max_row_bytes = max_row_bytes ? max_row_bytes : UINT64_MAX;
	r->columns = mem_realloc(r->columns, (n + 1) * sizeof *r->columns);
	r->max_columns = n;
}

enum csv_state { AT_FIELD, IN_PLAIN, IN_QUOTES, AT_QUOTE, BEHIND_QUOTE, IN_BAD };

/* Advance the automaton by one byte. The caller handles the end of a row first. */
static enum csv_state step(const struct csv_reader *r, enum csv_state state, uint8_t c)
{
	uint8_t delimiter = r->delimiter, quote = r->quote;
	bool blank = r->trim && is_blank(c) && c != delimiter;

	if (blank && state == AT_FIELD)
		return AT_FIELD;
	if (blank && (state == AT_QUOTE || state == BEHIND_QUOTE))
		return BEHIND_QUOTE;
	switch (state) {
	case AT_FIELD: return c == delimiter ? AT_FIELD : c == quote ? IN_QUOTES : IN_PLAIN;
	case IN_PLAIN: return c == quote ? IN_BAD : c == delimiter ? AT_FIELD : IN_PLAIN;
	case IN_QUOTES: return c == quote ? AT_QUOTE : IN_QUOTES;
	case AT_QUOTE: return c == delimiter ? AT_FIELD : c == quote ? IN_QUOTES : IN_BAD;
	case BEHIND_QUOTE: return c == delimiter ? AT_FIELD : IN_BAD;
	case IN_BAD: break;
	}
	return IN_BAD;
}

/*
 * Find the end of the row at `p` < `end`. Set kind, end, next, ncolumns and columns[].quoted.
 * Without a line end the row is CSV_OPEN, unless `final` is true, because then the input ends here.
 */
static void scan_row(struct csv_reader *r, const uint8_t *p, const uint8_t *end, bool final,
		     struct csv_row *row)
{
	uint8_t delimiter = r->delimiter, quote = r->quote;
	enum csv_state state = AT_FIELD;
	size_t column = 0;

	for (; p < end; p++) {
		if (state == IN_QUOTES) {
			p = memchr(p, quote, (size_t)(end - p));
			if (!p)
				p = end;
			if (p == end)
				break;
		} else if (csv_is_end(*p)) {
			break;
		}
		if (state == AT_FIELD && column < r->max_columns)
			r->columns[column].quoted = *p == quote;
		if (state != IN_QUOTES && state != IN_BAD && *p == delimiter)
			column++;
		state = step(r, state, *p);
	}
	if (state == AT_FIELD && column < r->max_columns)
		r->columns[column].quoted = false;
	row->end = p;
	row->next = p < end ? behind_line_end(p, end) : end;
	row->ncolumns = column + 1;
	row->kind = state == IN_BAD ? CSV_BAD_QUOTE : CSV_ROW;
	if (state == IN_QUOTES || (p == end && !final))
		row->kind = CSV_OPEN;
}

static void take_field(void *field, size_t len, void *ctx)
{
	struct csv_reader *r = ctx;

	buf_append(&r->text, field, len);
	if (r->ncolumns < r->max_columns)
		r->columns[r->ncolumns].len = (uint32_t)len;
	r->ncolumns++;
}

static void take_row(int c, void *ctx)
{
	struct csv_reader *r = ctx;

	(void)c;
	r->row_done = true;
}

/* Drop an unfinished row. Clear CSV_STRICT_FINI first, because csv_fini fails with this option. */
static void reset_libcsv(struct csv_reader *r)
{
	csv_set_opts(r->libcsv, CSV_STRICT);
	csv_fini(r->libcsv, NULL, NULL, NULL);
	csv_set_opts(r->libcsv, CSV_STRICT | CSV_STRICT_FINI);
}

static void bad_quote(struct csv_reader *r, const uint8_t *at, const uint8_t *end,
		      struct csv_row *row)
{
	row->kind = CSV_BAD_QUOTE;
	row->bad_in_quotes = r->libcsv->quoted;
	row->bad_byte = *at;
	row->bad_column = r->ncolumns + 1;
	row->end = find_line_end(at, end);
	row->next = row->end < end ? behind_line_end(row->end, end) : end;
	reset_libcsv(r);
}

/* Read the row with libcsv instead of scan_row. Also store the fields' text. */
static void libcsv_row(struct csv_reader *r, const uint8_t *p, const uint8_t *end, bool final,
		       struct csv_row *row)
{
	r->row_done = false;
	r->ncolumns = 0;
	r->text.len = 0;
	row->kind = CSV_ROW;
	while (p < end && !r->row_done) {
		const uint8_t *stop = find_line_end(p, end);
		size_t len = (size_t)(stop - p) + (stop < end);
		size_t took = csv_parse(r->libcsv, p, len, take_field, take_row, r);

		if (took < len) {
			bad_quote(r, p + took, end, row);
			if (row->end == end && !final)
				row->kind = CSV_OPEN;
			return;
		}
		row->end = stop;
		row->next = stop < end ? behind_line_end(stop, end) : end;
		p += len;
	}
	if (!r->row_done && (!final || csv_fini(r->libcsv, take_field, take_row, r) != 0)) {
		row->end = row->next = end;
		row->kind = CSV_OPEN;
		reset_libcsv(r);
	}
	row->ncolumns = r->ncolumns;
}

/* End a malformed row after its first line if csv_skip set a pattern that this line matches. */
static void skip_first_line(struct csv_reader *r, const uint8_t *start, const uint8_t *end,
			    struct csv_row *row)
{
	if (row->kind != CSV_BAD_QUOTE || !r->skip)
		return;
	const uint8_t *line_end = find_line_end(start, end);
	struct bytes line = bytes_of(start, (size_t)(line_end - start));

	if (pattern_find(r->skip, &r->scratch, line, NULL) != PATTERN_FOUND)
		return;
	row->kind = CSV_ROW;
	row->ncolumns = 0;
	row->end = line_end;
	row->next = line_end < end ? behind_line_end(line_end, end) : end;
}

static void find_row(struct csv_reader *r, const uint8_t *p, const uint8_t *end, bool final,
		     struct csv_row *row)
{
	if (r->special)
		special_row(r, p, end, final, false, row);
	else if (r->libcsv_only)
		libcsv_row(r, p, end, final, row);
	else
		scan_row(r, p, end, final, row);
	skip_first_line(r, p, end, row);
}

/* Find the last row end of a special dialect by reading all rows. */
static size_t cut_special(struct csv_reader *r, const uint8_t *data, size_t len, bool final,
			  uint64_t max_row_bytes, bool *open)
{
	size_t cut = special_cut(r->special, data, len, final);
	const uint8_t *p = data, *end = data + len;
	struct csv_row row;

	if (cut != SIZE_MAX)
		return cut;
	while (p < end) {
		size_t line = *p == r->comment ? csv_line(p, (size_t)(end - p)) : 0;

		if (*p == r->comment && !line)
			return final ? len : (size_t)(p - data);
		if (line) {
			p += line;
			continue;
		}
		find_row(r, p, end, final, &row);
		*open = row.kind == CSV_OPEN || (uint64_t)(row.end - p) > max_row_bytes;
		if (*open)
			break;
		p = row.next;
	}
	return (size_t)(p - data);
}

size_t csv_cut(struct csv_reader *r, const uint8_t *data, size_t len, bool final,
	       uint64_t max_row_bytes, bool *open)
{
	const uint8_t *p = data, *end = data + len;
	struct csv_row row;

	*open = false;
	if (r->special)
		return cut_special(r, data, len, final, max_row_bytes, open);
	while (p < end) {
		/* every line end before the line of the next quote ends a row */
		const uint8_t *quote = memchr(p, r->quote, (size_t)(end - p));
		const uint8_t *e = quote ? quote : end;

		while (!(final && e == end) && e > p && !csv_is_end(e[-1]))
			e--;
		p = e;
		if (!quote)
			break;
		if (*p == r->comment) {
			size_t line = csv_line(p, (size_t)(end - p));

			if (line == 0)
				return final ? len : (size_t)(p - data);
			p += line;
			continue;
		}
		find_row(r, p, end, final, &row);
		*open = row.kind == CSV_OPEN || (uint64_t)(row.end - p) > max_row_bytes;
		if (*open)
			break;
		p = row.next;
	}
	return (size_t)(p - data);
}

size_t csv_row(struct csv_reader *r, const uint8_t *data, size_t len)
{
	struct csv_row row;

	if (len == 0 || *data == r->comment)
		return csv_line(data, len);
	find_row(r, data, data + len, false, &row);
	return row.kind == CSV_OPEN ? 0 : (size_t)(row.next - data);
}

/*
 * Begin to read data. Add a \n after the data, which ends a last line without a line end. Clear the
 * rest of the slack only so that no code reads an uninitialized byte.
 */
void csv_start(struct csv_reader *r, uint8_t *data, size_t len)
{
	memset(data + len, 0, CSV_SLACK);
	data[len] = '\n';
	r->data = data;
	r->end = data + len;
	r->line = 0;
	r->pos = data;
	marks_scan(&r->marks, data, r->end);
}

static void seek(struct csv_reader *r, const uint8_t *p)
{
	r->pos = p;
	marks_pass(&r->marks, p);
}

static inline const uint8_t *next_mark(struct csv_reader *r)
{
	struct marks *m = &r->marks;

	while (m->next == m->n)
		marks_scan(m, m->scanned, r->end);
	return m->base + m->at[m->next++];
}

static inline void put_column(struct column *column, const uint8_t *field, const uint8_t *mark)
{
	column->ptr = field;
	column->len = (uint32_t)(mark - field);
	column->quoted = column->absent = false;
}

/*
 * Split the line at `r->pos`. Return false if the line has a quote. Then only the marks have moved.
 */
static inline bool split_line(struct csv_reader *r, struct csv_row *row)
{
	const uint8_t *field = r->pos;
	size_t n = 0;

	for (;;) {
		const uint8_t *mark = next_mark(r);
		uint8_t c = *mark;

		if (c == r->quote)
			return false;
		if (n < r->max_columns)
			put_column(&r->columns[n], field, mark);
		n++;
		field = mark + 1;
		if (c == r->delimiter)
			continue;
		if (c == '\r' && *field == '\n' && field < r->end)
			field = next_mark(r) + 1;
		row->kind = CSV_ROW;
		row->start = r->pos;
		row->end = mark;
		row->next = mark < r->end ? field : r->end;
		row->line = r->line;
		row->more_lines = 0;
		row->ncolumns = n;
		r->line += mark < r->end;
		r->pos = row->next;
		return true;
	}
}

static void trim_column(const struct csv_reader *r, struct column *c)
{
	const uint8_t *p = c->ptr, *end = p + c->len;

	while (p < end && is_blank(*p) && *p != r->delimiter)
		p++;
	while (end > p && is_blank(end[-1]) && end[-1] != r->delimiter)
		end--;
	c->ptr = p;
	c->len = (uint32_t)(end - p);
}

/* Trim unquoted columns as libcsv does. With TRIM_ALL, also trim quoted columns. */
static void trim_columns(struct csv_reader *r, const struct csv_row *row)
{
	for (size_t i = 0; i < row->ncolumns && i < r->max_columns; i++)
		if (!r->columns[i].quoted || r->trim == TRIM_ALL)
			trim_column(r, &r->columns[i]);
}

/* Start the window at the row again, so that the window contains all marks of the row. */
static void reach(struct csv_reader *r)
{
	struct marks *m = &r->marks;

	if (m->n - m->next <= r->max_columns && m->scanned <= r->end)
		marks_scan(m, r->pos, r->end);
}

/*
 * Return the end of the usable marks. The last mark is the added \n, which is not part of the data.
 */
static const uint16_t *marks_stop(const struct csv_reader *r)
{
	const struct marks *m = &r->marks;
	const uint16_t *stop = m->at + m->n;

	while (stop > m->at + m->next && m->base + stop[-1] >= r->end)
		stop--;
	return stop;
}

/* Return true if the row whose marks start at `at` has the expected fields and a line end. */
static inline bool is_plain_row(const struct csv_reader *r, const uint16_t *at, bool crlf)
{
	const uint8_t *base = r->marks.base;
	size_t last = r->max_columns - 1;
	unsigned wrong = 0;

	for (size_t k = 0; k < last; k++)
		wrong |= base[at[k]] ^ r->delimiter;
	if (last == 0) /* the line may be blank */
		wrong |= row_field(at).len == 0;
	if (crlf) {
		wrong |= base[at[last]] ^ '\r';
		wrong |= base[at[last + 1]] ^ '\n';
		wrong |= at[last + 1] ^ (at[last] + 1u);
	} else {
		wrong |= base[at[last]] ^ '\n';
	}
	return !wrong;
}

/* Count the rows before the first comment. */
static size_t before_comment(const struct csv_reader *r, const struct event_rows *rows)
{
	size_t n = 0;

	while (n < rows->n && rows->text[rows_start(rows, n)] != r->comment)
		n++;
	return n;
}

size_t csv_plain(struct csv_reader *r, struct event_rows *rows)
{
	if (r->batch == 0)
		return 0;
	reach(r);
	struct marks *m = &r->marks;
	uint16_t *at = m->at + m->next;
	const uint16_t *stop = marks_stop(r);
	size_t n = r->max_columns, last = n - 1, count = 0;
	if (stop - at < (ptrdiff_t)n)
		return 0;
	bool crlf = m->base[at[last]] == '\r';
	*rows = (struct event_rows){.text = m->base, .ends = at, .ncolumns = n, .stride = n + crlf};
	at[-1] = (uint16_t)(r->pos - m->base - 1);
	for (; count < r->batch && stop - at >= (ptrdiff_t)rows->stride;
	     at += rows->stride, count++) {
		size_t bytes = at[last] - row_field(at).at;
		if (!is_plain_row(r, at, crlf))
			break;
		rows->longest = bytes > rows->longest ? bytes : rows->longest;
	}
	rows->n = count;
	if (__builtin_expect(r->comment >= 0, 0)) {
		rows->n = count = before_comment(r, rows);
		at = m->at + m->next + count * rows->stride;
	}
	if (count == 0)
		return 0;
	m->next = (size_t)(at - m->at);
	r->pos = m->base + at[-1] + 1;
	r->line += count;
	return count;
}

void csv_columns(struct csv_reader *r, const struct event_rows *rows, size_t row)
{
	const uint16_t *end = rows->ends + row * rows->stride;

	for (size_t k = 0; k < rows->ncolumns; k++, end++)
		put_column(&r->columns[k], rows->text + row_field(end).at, rows->text + *end);
}

/* End the row after its first line, because a later line may be a row. */
static void end_open_row(struct csv_reader *r, struct csv_row *row)
{
	row->end = find_line_end(row->start, r->end);
	row->next = row->end < r->end ? behind_line_end(row->end, r->end) : r->end;
}

/* Count the lines of a row, and go to the next row. */
static void pass_row(struct csv_reader *r, struct csv_row *row)
{
	skip_first_line(r, row->start, r->end, row);
	row->more_lines = csv_lines(row->start, (size_t)(row->end - row->start));
	r->line += row->more_lines + (row->next > row->end);
	seek(r, row->next);
}

static void take_special_row(struct csv_reader *r, struct csv_row *row)
{
	row->start = r->pos;
	row->line = r->line;
	special_row(r, r->pos, r->end, true, true, row);
	if (row->kind == CSV_OPEN)
		end_open_row(r, row);
	pass_row(r, row);
}

static void quoted_row(struct csv_reader *r, struct csv_row *row)
{
	const uint8_t *start = r->pos;
	size_t n = 0;
	struct csv_row scanned;

	row->start = start;
	row->line = r->line;
	libcsv_row(r, start, r->end, true, row);
	buf_reserve(&r->text, EVENT_ROOM_BYTES);
	scan_row(r, start, r->end, true, &scanned);
	for (size_t i = 0; i < row->ncolumns && i < r->max_columns; i++) {
		struct column *column = &r->columns[i];

		column->ptr = r->text.len ? r->text.ptr + n : start;
		column->absent = false;
		n += column->len;
	}
	if (scanned.kind != row->kind || scanned.next != row->next || scanned.end != row->end ||
	    (row->kind == CSV_ROW && scanned.ncolumns != row->ncolumns))
		row->kind = CSV_CONFUSED;
	if (row->kind == CSV_OPEN) {
		row->bad_column = scanned.ncolumns;
		end_open_row(r, row);
	}
	pass_row(r, row);
}

/*
 * Return the end of the line at `p` if the line is blank or a comment, or NULL if it may be a row.
 */
static const uint8_t *no_row(const struct csv_reader *r, const uint8_t *p)
{
	if (csv_is_end(*p))
		return p;
	if (*p == r->comment)
		return find_line_end(p, r->end);
	while (r->trim && p < r->end && is_blank(*p) && *p != r->delimiter)
		p++;
	return p == r->end || csv_is_end(*p) ? p : NULL;
}

bool csv_next(struct csv_reader *r, struct csv_row *row)
{
	while (r->pos < r->end) {
		const uint8_t *line_end = no_row(r, r->pos);

		if (line_end) {
			bool too_long = (uint64_t)(line_end - r->pos) > r->max_row_bytes;

			*row = (struct csv_row){.start = r->pos, .end = line_end, .line = r->line};
			row->next = line_end < r->end ? behind_line_end(line_end, r->end) : r->end;
			seek(r, row->next);
			r->line++;
			if (too_long)
				return true;
			r->blank_lines++;
			continue;
		}
		if (r->special)
			take_special_row(r, row);
		else if (r->libcsv_only || !split_line(r, row))
			quoted_row(r, row);
		if (r->trim && row->kind == CSV_ROW)
			trim_columns(r, row);
		return true;
	}
	return false;
}
