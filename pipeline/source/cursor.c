/*
 * cursor.c - one input from its start: byte order mark, header, and where whole rows end
 *
 * A \r at the end of what was read is kept back, because a \n may follow it.
 */
#include "cursor.h"

#define HEAD_BYTES ((size_t)64 << 10)

int source_bad_row(const struct source *s, size_t file, uint64_t line, uint64_t offset,
		   bool too_long, struct error *err)
{
	if (too_long && s->row_by_memory)
		error_set(err, RC_LIMIT,
			  "a row longer than %llu bytes starts here, a quarter of --memory, which "
			  "cannot hold it: unclosed quote? or raise --memory",
			  (unsigned long long)s->max_row_bytes);
	else if (too_long)
		error_set(err, RC_LIMIT,
			  "a row longer than %llu bytes starts here: unclosed quote? "
			  "or raise source.csv.max_row",
			  (unsigned long long)s->max_row_bytes);
	else
		error_set(err, RC_DATA,
			  "found the end of the input inside the quotes of the row that starts "
			  "here, expected a closing quote: unclosed quote?");
	return error_prefix(err, "%s:%llu (byte %llu): ", input_name(s->files[file].path),
			    (unsigned long long)line + 1, (unsigned long long)offset);
}

int cursor_more(struct cursor *c, struct buf *buf, size_t want, struct error *err)
{
	size_t got;
	uint8_t *dst = buf_reserve(buf, want + CSV_SLACK);
	int rc = input_read(&c->in, dst, want, &got, err);

	if (rc != 0)
		return rc;
	buf->len += got;
	c->eof = got < want;
	return RC_OK;
}

size_t cursor_whole(const struct source *s, struct csv_reader *cutter, const struct cursor *c,
		    const struct buf *buf, bool *limit)
{
	size_t len = buf->len;

	*limit = false;
	if (c->eof)
		return len;
	len -= len > 0 && buf->ptr[len - 1] == '\r';
	size_t cut = csv_cut(cutter, buf->ptr, len);
	*limit = cut == 0 && len > s->max_row_bytes;
	return cut;
}

/* A fourth of what there is, so that looking again for a long row's end stays linear. */
size_t source_more_bytes(const struct source *s, size_t have)
{
	size_t most = have < s->max_row_bytes ? have : (size_t)s->max_row_bytes;

	return most / 4 > s->piece_bytes ? most / 4 : s->piece_bytes;
}

/* Drop n bytes at the start of rest. */
static void advance(struct cursor *c, size_t n)
{
	c->rest.len -= n;
	memmove(c->rest.ptr, c->rest.ptr + n, c->rest.len);
	c->offset += n;
}

static bool same_columns(const struct source *s, const struct csv_reader *r, size_t n)
{
	if (n != s->ncolumns)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!bytes_eq(bytes_str(s->columns[i]),
			      bytes_of(r->columns[i].ptr, r->columns[i].len)))
			return false;
	return true;
}

static void set_columns(struct source *s, const struct csv_reader *r, size_t n)
{
	s->ncolumns = n;
	s->columns = arena_alloc(&s->arena, n * sizeof(*s->columns));
	for (size_t i = 0; i < n; i++)
		s->columns[i] = arena_strndup(&s->arena, (const char *)r->columns[i].ptr,
					      r->columns[i].len);
}

/* Judge the header row of file i, at line and offset; the first file's gives the names. */
static int take_header(struct source *s, size_t i, const struct csv_reader *r,
		       const struct csv_row *row, uint64_t line, uint64_t offset, struct error *err)
{
	size_t len = (size_t)(row->end - row->start);
	const char *name = input_name(s->files[i].path);

	if (len > s->max_row_bytes || row->kind == CSV_OPEN)
		return source_bad_row(s, i, line, offset, len > s->max_row_bytes, err);
	if (row->kind != CSV_ROW)
		return error_set(err, RC_DATA,
				 "%s:%llu: found a misplaced quote in column %zu of the header, "
				 "expected column names",
				 name, (unsigned long long)line + 1, row->bad_column);
	if (memchr(row->start, 0, len))
		return error_set(err, RC_DATA,
				 "%s:%llu: found a NUL byte in the header, expected column names",
				 name, (unsigned long long)line + 1);
	if (!s->header) {
		s->header = arena_strndup(&s->arena, (const char *)row->start, len);
		set_columns(s, r, row->ncolumns);
	} else if (!same_columns(s, r, row->ncolumns)) {
		return error_set(err, RC_DATA,
				 "%s: found the header \"%.*s\", expected \"%.200s\" as in %s",
				 name, len < 200 ? (int)len : 200, (const char *)row->start,
				 s->header, input_name(s->files[0].path));
	}
	return RC_OK;
}

/* Parse a copy of the first `cut` bytes of rest; *found: there was more than blank lines. */
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
		columns += head.ptr[k] == s->delimiter;
	csv_open(&r, s->delimiter, s->quote, s->libcsv_only);
	csv_expect(&r, columns, 0);
	csv_start(&r, head.ptr, cut);
	*found = csv_next(&r, &row);
	if (*found) {
		rc = take_header(s, i, &r, &row, c->line + row.line,
				 c->offset + (uint64_t)(row.start - head.ptr), err);
		cut = (size_t)(row.next - head.ptr);
	}
	c->line += csv_lines(head.ptr, cut);
	advance(c, cut);
	csv_close(&r);
	buf_release(&head);
	return rc;
}

static int read_header(struct source *s, struct cursor *c, size_t i, struct error *err)
{
	struct csv_reader cutter;
	bool found = false, limit = false;
	int rc = RC_OK;

	csv_open(&cutter, s->delimiter, s->quote, s->libcsv_only);
	while (rc == 0 && !found) {
		size_t cut = cursor_whole(s, &cutter, c, &c->rest, &limit);
		if (limit) {
			rc = source_bad_row(s, i, c->line, c->offset, true, err);
		} else if (cut > 0) {
			rc = parse_header(s, c, i, cut, &found, err);
		} else if (c->eof) {
			rc = error_set(err, RC_DATA, "%s: empty, expected a header line",
				       input_name(s->files[i].path));
		} else {
			rc = cursor_more(c, &c->rest, source_more_bytes(s, c->rest.len), err);
		}
	}
	csv_close(&cutter);
	return rc;
}

void cursor_close(struct cursor *c)
{
	if (c->open)
		input_close(&c->in);
	buf_release(&c->rest);
	*c = (struct cursor){0};
}

int cursor_open(struct source *s, struct cursor *c, size_t i, struct error *err)
{
	const uint8_t mark[3] = {0xef, 0xbb, 0xbf};
	size_t want = s->piece_bytes < HEAD_BYTES ? s->piece_bytes : HEAD_BYTES;
	struct source_file *file = &s->files[i];

	c->open = true;
	int rc = input_open(&c->in, file->path, err);
	if (rc != 0)
		return rc;
	rc = input_same(&c->in, &s->stamps[i], err);
	if (rc != 0)
		return rc;
	file->compressed = c->in.kind != INPUT_PLAIN;
	rc = cursor_more(c, &c->rest, want > sizeof(mark) ? want : sizeof(mark), err);
	if (rc != 0)
		return rc;
	if (c->rest.len >= sizeof(mark) && memcmp(c->rest.ptr, mark, sizeof(mark)) == 0)
		advance(c, sizeof(mark));
	return s->has_header ? read_header(s, c, i, err) : RC_OK;
}
