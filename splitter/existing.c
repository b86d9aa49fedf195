/*
 * existing.c - the regions of a live table, from the shell's output
 *
 *   get_splits     Total number of splits = 3        the number of regions, not of keys
 *                  \x01                              one key a line, Bytes.toStringBinary
 *                  b c
 *
 *   list_regions    SERVER_NAME |           REGION_NAME | START_KEY | END_KEY |  SIZE | ...
 *                   ----------- | --------------------- | --------- | ------- | ----- | ...
 *                          h,1  | t,,1700000000000.0c3f. |           |    \x01 |   120 | ...
 *                   3 rows
 *
 * Printed keys may contain spaces and bars, so the parser cuts columns at the positions of the
 * header's bars. list_regions strips spaces from the ends of a key. The column REGION_NAME,
 * `table,start key,time.name.`, has the whole start key, so the reader uses this column if the list
 * has it.
 */
#include "splits.h"

#include <inttypes.h>
#include <stdlib.h>

#include "keytext.h"
#include "mem.h"

enum existing_column { SERVER_NAME, REGION_NAME, START_KEY, END_KEY, SIZE, REQ, LOCALITY, COLUMNS };

static const char *const column_names[COLUMNS] = {"SERVER_NAME", "REGION_NAME", "START_KEY",
						  "END_KEY",	 "SIZE",	"REQ",
						  "LOCALITY"};

struct line_reader {
	const char *name;
	struct bytes text;
	uint64_t line; /* number of the last taken line */
	struct error *err;
};

struct existing_span {
	size_t at, len; /* `len` 0 means no such column */
};

struct existing_row {
	struct buf start;
	struct bytes start_text, end_text; /* printed keys without spaces at the ends */
	struct bytes encoded, table;	   /* names in the row; a length of 0 means unknown */
	uint64_t size_bytes;
	uint64_t line;
	bool replica;
};

struct listing {
	struct existing_span columns[COLUMNS];
	size_t line_bytes;
	struct existing_row *rows;
	size_t count;
};

static bool next_line(struct line_reader *r, struct bytes *line)
{
	if (r->text.len == 0)
		return false;
	*line = keytext_line(&r->text);
	r->line++;
	return true;
}

static int fault(struct line_reader *r, uint64_t line, const char *what)
{
	return error_set(r->err, RC_DATA, "%s:%" PRIu64 ": %s", r->name, line, what);
}

static int in_line(struct line_reader *r, uint64_t line, int rc)
{
	if (rc) {
		r->err->code = RC_DATA;
		error_prefix(r->err, "%s:%" PRIu64 ": ", r->name, line);
	}
	return rc ? RC_DATA : RC_OK;
}

static struct bytes trim(struct bytes b)
{
	while (b.len && b.ptr[0] == ' ')
		b = bytes_of(b.ptr + 1, b.len - 1);
	while (b.len && b.ptr[b.len - 1] == ' ')
		b.len--;
	return b;
}

static bool starts_with(struct bytes b, const char *prefix)
{
	size_t n = strlen(prefix);

	return b.len >= n && memcmp(b.ptr, prefix, n) == 0;
}

/* Parse a text that has only digits. */
static bool parse_number(struct bytes b, uint64_t *out)
{
	*out = 0;
	for (size_t i = 0; i < b.len; i++) {
		if (b.ptr[i] < '0' || b.ptr[i] > '9' || *out > UINT32_MAX)
			return false;
		*out = *out * 10 + (uint64_t)(b.ptr[i] - '0');
	}
	return b.len > 0;
}

/* --- get_splits --- */

static const char total[] = "Total number of splits = ";

/* Return true for lines that the shell prints after the output of a command. */
static bool is_trailer(struct bytes line)
{
	return trim(line).len == 0 || starts_with(line, "Took ") || starts_with(line, "=> ") ||
	       starts_with(line, "hbase") || starts_with(line, "0 row(s)");
}

static int read_keys(struct line_reader *r, struct existing *e, struct bytes count)
{
	struct buf key = {0};
	struct bytes line;
	uint64_t regions;
	int rc = RC_OK;

	if (!parse_number(trim(count), &regions) || regions == 0)
		return error_set(r->err, RC_DATA,
				 "%s:%" PRIu64
				 ": found `%.*s`, expected the number of splits, 1 or more",
				 r->name, r->line, (int)(count.len < 60 ? count.len : 60),
				 (const char *)count.ptr);
	for (uint64_t i = 1; rc == RC_OK && i < regions; i++) {
		key.len = 0;
		if (!next_line(r, &line)) {
			rc = fault(
				r, r->line,
				"found the end of the text, expected more of the announced splits");
			break;
		}
		rc = keytext_parse(&key, line, r->err);
		if (rc == RC_OK)
			rc = splits_add(&e->splits, buf_bytes(&key), r->err);
		rc = in_line(r, r->line, rc);
	}
	while (rc == RC_OK && next_line(r, &line))
		if (!is_trailer(line))
			rc = fault(r, r->line, "found more lines than the announced splits");
	buf_release(&key);
	return rc;
}

/* --- list_regions --- */

/* Read the header's columns. Returns false if this line is not a header. */
static bool read_header(struct bytes line, struct listing *l)
{
	size_t from = 0, found = 0;

	memset(l->columns, 0, sizeof l->columns);
	for (size_t i = 0; i < line.len; i++) {
		if (line.ptr[i] != '|')
			continue;
		struct bytes name = trim(bytes_of(line.ptr + from, i - from));
		int c = 0;
		while (c < COLUMNS && !bytes_eq(name, bytes_str(column_names[c])))
			c++;
		if (c == COLUMNS)
			return false;
		l->columns[c] = (struct existing_span){from, i - from};
		from = i + 1;
		found++;
	}
	l->line_bytes = line.len;
	return found && from == line.len;
}

static bool fits(const struct listing *l, struct bytes line)
{
	if (line.len != l->line_bytes)
		return false;
	for (int c = 0; c < COLUMNS; c++)
		if (l->columns[c].len && line.ptr[l->columns[c].at + l->columns[c].len] != '|')
			return false;
	return true;
}

static struct bytes cell(const struct listing *l, struct bytes line, enum existing_column c)
{
	return trim(bytes_of(line.ptr + l->columns[c].at, l->columns[c].len));
}

static const uint8_t *last_of(struct bytes b, int c)
{
	return b.len ? memrchr(b.ptr, c, b.len) : NULL;
}

/* Parse a name of the form table,start key,time[_replica].encoded. */
static bool read_region_name(struct bytes name, struct existing_row *row)
{
	if (name.len == 0 || name.ptr[name.len - 1] != '.')
		return false;
	struct bytes head = bytes_of(name.ptr, name.len - 1);
	const uint8_t *dot = last_of(head, '.');
	const uint8_t *first = memchr(name.ptr, ',', name.len);
	if (!dot || !first)
		return false;
	row->encoded = bytes_of(dot + 1, (size_t)(name.ptr + name.len - 1 - (dot + 1)));
	head.len = (size_t)(dot - name.ptr);
	const uint8_t *second = last_of(head, ',');
	if (!second || second <= first || row->encoded.len == 0)
		return false;
	row->table = bytes_of(name.ptr, (size_t)(first - name.ptr));
	row->start_text = bytes_of(first + 1, (size_t)(second - first - 1));
	row->replica = memchr(second, '_', (size_t)(dot - second)) != NULL;
	return true;
}

static int read_row(struct line_reader *r, struct listing *l, struct bytes line)
{
	struct existing_row row = {.size_bytes = EXISTING_UNKNOWN, .line = r->line};
	int rc = RC_OK;

	if (l->columns[REGION_NAME].len && !read_region_name(cell(l, line, REGION_NAME), &row))
		return fault(
			r, r->line,
			"found another REGION_NAME, expected `table,start key,time.encoded name.`");
	if (!l->columns[REGION_NAME].len)
		row.start_text = cell(l, line, START_KEY);
	row.end_text = cell(l, line, END_KEY);
	/* `saltmill regions` prints - for a region whose server has not reported */
	if (l->columns[SIZE].len && !bytes_eq(cell(l, line, SIZE), bytes_str("-"))) {
		if (!parse_number(cell(l, line, SIZE), &row.size_bytes))
			return fault(r, r->line, "found another SIZE, expected a number of MB");
		row.size_bytes <<= 20;
	}
	if (row.start_text.len)
		rc = in_line(r, r->line, keytext_parse(&row.start, row.start_text, r->err));
	row.start_text = trim(row.start_text);
	l->rows = mem_grow(l->rows, l->count, sizeof *l->rows);
	l->rows[l->count++] = row;
	return rc;
}

static int read_rows(struct line_reader *r, struct listing *l)
{
	struct bytes line = {0};
	uint64_t announced = 0;
	int rc = RC_OK;

	if (!l->columns[REGION_NAME].len && !l->columns[START_KEY].len)
		return fault(r, r->line, "expected a column START_KEY or REGION_NAME");
	if (!next_line(r, &line) || !fits(l, line) || !starts_with(trim(line), "--"))
		return fault(r, r->line, "expected a line of dashes below the header");
	while (rc == RC_OK && next_line(r, &line) && fits(l, line))
		rc = read_row(r, l, line);
	struct bytes last = trim(line);
	if (rc == RC_OK && last.len > 5 &&
	    starts_with(bytes_of(last.ptr + last.len - 5, 5), " rows"))
		last.len -= 5;
	if (rc == RC_OK && (!parse_number(last, &announced) || announced != l->count))
		rc = fault(r, r->line,
			   "expected a region within the header's columns, or `N rows` with the "
			   "number of regions above");
	return rc;
}

/* Compare by start key, primary replicas first. */
static int by_start(const void *a, const void *b)
{
	const struct existing_row *x = a, *y = b;
	int c = bytes_cmp(buf_bytes(&x->start), buf_bytes(&y->start));

	return c ? c : (x->replica > y->replica) - (x->replica < y->replica);
}

static void drop_replicas(struct listing *l)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->count; i++) {
		struct existing_row *row = &l->rows[i];
		bool twin = kept &&
			    bytes_eq(buf_bytes(&l->rows[kept - 1].start), buf_bytes(&row->start)) &&
			    bytes_eq(l->rows[kept - 1].end_text, row->end_text);

		if (twin)
			buf_release(&row->start);
		else
			l->rows[kept++] = *row;
	}
	l->count = kept;
}

static int check_chain(struct line_reader *r, const struct listing *l)
{
	if (l->count == 0 || l->rows[0].start.len)
		return fault(r, l->count ? l->rows[0].line : r->line,
			     "found no region without a start key, expected the first region. Run "
			     "list_regions without a filter");
	for (size_t i = 0; l->columns[END_KEY].len && i < l->count; i++) {
		struct bytes none = {0};
		struct bytes next = i + 1 < l->count ? l->rows[i + 1].start_text : none;

		if (!bytes_eq(l->rows[i].end_text, next))
			return fault(
				r, l->rows[i].line,
				"found a region that does not end at the start of the next region, expected adjacent regions; run list_regions without a filter, after all splits and merges");
	}
	return RC_OK;
}

/*
 * Copy `b`, or return NULL if `b` is empty. The function decodes letters of a table's name that
 * HBase prints as \xHH.
 */
static char *keep(struct bytes b)
{
	struct buf text = {0};

	if (b.len == 0)
		return NULL;
	bytes_unescape(&text, b);
	char *kept = mem_format("%.*s", (int)text.len, (const char *)text.ptr);
	buf_release(&text);
	return kept;
}

static int take_rows(struct line_reader *r, const struct listing *l, struct existing *e)
{
	e->regions = mem_calloc(l->count, sizeof *e->regions);
	e->table = keep(l->rows[0].table);
	int rc = RC_OK;
	for (size_t i = 0; rc == RC_OK && i < l->count; i++) {
		const struct existing_row *row = &l->rows[i];

		if (i)
			rc = in_line(r, row->line,
				     splits_add(&e->splits, buf_bytes(&row->start), r->err));
		e->regions[i] =
			(struct existing_region){rc ? NULL : keep(row->encoded), row->size_bytes};
	}
	return rc;
}

static int read_listing(struct line_reader *r, struct listing *l, struct existing *e)
{
	int rc = read_rows(r, l);

	if (rc == RC_OK && l->count) {
		qsort(l->rows, l->count, sizeof *l->rows, by_start);
		drop_replicas(l);
	}
	if (rc == RC_OK)
		rc = check_chain(r, l);
	if (rc == RC_OK)
		rc = take_rows(r, l, e);
	for (size_t i = 0; i < l->count; i++)
		buf_release(&l->rows[i].start);
	mem_free(l->rows);
	return rc;
}

static void leave_unsized(struct existing *e)
{
	e->regions = mem_calloc(e->splits.count + 1, sizeof *e->regions);
	for (size_t i = 0; i <= e->splits.count; i++)
		e->regions[i].size_bytes = EXISTING_UNKNOWN;
}

static int read_unsized(struct line_reader *r, struct existing *e, struct bytes count)
{
	int rc = read_keys(r, e, count);

	leave_unsized(e);
	return rc;
}

/*
 * Return true if saltmill wrote the file. Any text of plain words is also a list of split keys, so
 * the file's name decides. The shell's output in a file of this name has spaces and punctuation.
 */
static bool is_splits_file(const char *name, struct bytes text)
{
	static const char usual[] = "splits.txt";
	size_t n = strlen(name), end = sizeof usual - 1;

	if (n < end || strcmp(name + n - end, usual) != 0)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		uint8_t c = text.ptr[i];
		bool letter =
			(c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');

		if (!letter && !memchr("_.-\\\r\n", c, 7))
			return false;
	}
	return text.len > 0;
}

int existing_parse(struct existing *e, const char *name, struct bytes text, struct error *err)
{
	struct line_reader r = {.name = name, .text = text, .err = err};
	struct listing l = {0};
	struct bytes line;

	*e = (struct existing){0};
	while (next_line(&r, &line)) {
		size_t n = sizeof total - 1;

		if (starts_with(line, total))
			return read_unsized(&r, e, bytes_of(line.ptr + n, line.len - n));
		if (read_header(line, &l))
			return read_listing(&r, &l, e);
	}
	if (is_splits_file(name, text)) {
		int rc = splits_parse(&e->splits, name, text, err);

		leave_unsized(e);
		return rc;
	}
	return error_set(
		err, RC_DATA,
		"%s: found neither `%s` nor a table with START_KEY, expected the output of "
		"`get_splits` or `list_regions`, or a file named splits.txt that saltmill "
		"wrote",
		name, total);
}

void existing_release(struct existing *e)
{
	for (size_t i = 0; e->regions && i <= e->splits.count; i++)
		mem_free(e->regions[i].encoded);
	mem_free(e->regions);
	mem_free(e->table);
	splits_release(&e->splits);
	*e = (struct existing){0};
}
