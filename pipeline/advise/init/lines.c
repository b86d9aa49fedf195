/*
 * lines.c - read a file's text line by line
 *
 * The source of a load reads the file. The function sets the delimiter and the quote to bytes that
 * do not occur in text, so each line is a row of one column.
 */
#include <stdio.h>

#include "sniff_parts.h"
#include "source.h"
#include "bytes.h"

#define HEAD_BYTES 4096

void lines_release(struct lines *l)
{
	buf_release(&l->text);
	mem_free(l->line);
	mem_free(l->file);
	*l = (struct lines){0};
}

static void add_line(struct lines *l, struct bytes text)
{
	l->line = mem_grow(l->line, l->n, sizeof *l->line);
	l->line[l->n++] = (struct line){.at = l->text.len, .len = text.len};
	buf_append(&l->text, text.ptr, text.len);
	buf_put(&l->text, '\n');
}

/*
 * Note that the line before this event ended with CR LF, and the blank lines between them, which it
 * adds. They are not rows.
 */
static void end_line(struct lines *l, const struct event *event)
{
	size_t before = l->n - l->base;
	bool crlf = before && event->line > before &&
		    event->offset == l->next + 2 * (event->line - before);

	if (before)
		l->line[l->n - 1].crlf = crlf;
	for (; l->n - l->base + 1 < event->line; l->nblank++) {
		add_line(l, bytes_of("", 0));
		l->line[l->n - 1].crlf = crlf;
	}
	l->next = event->offset + event->raw.len;
}

static int take_line(void *ctx, const struct event *event, struct reject *why)
{
	struct lines *l = ctx;

	(void)why;
	if (l->text.len + event->raw.len > SNIFF_BYTES) {
		l->whole = false;
		return RC_END;
	}
	if (l->now != event->file || !l->nfiles) {
		l->now = event->file;
		l->file = mem_grow(l->file, l->nfiles, sizeof *l->file);
		l->file[l->nfiles++] = l->n;
		l->base = l->n;
	}
	end_line(l, event);
	add_line(l, event->raw);
	return RC_OK;
}

static int take_reject(void *ctx, const struct rejected *r, struct error *err)
{
	const struct event event = {.raw = r->raw,
				    .line = r->line,
				    .offset = r->offset,
				    .file = ((struct lines *)ctx)->now};
	struct reject why;

	(void)err;
	return take_line(ctx, &event, &why);
}

static int read_as(struct lines *l, const char *file, const char *encoding, struct error *err)
{
	const char *columns[] = {"line"};
	struct job job = {.path = "init", .source = SOURCE_CSV};

	job.csv = (struct csv_source){.columns = columns,
				      .ncolumns = 1,
				      .delimiter = 1,
				      .quote = 2,
				      .encoding = encoding,
				      .max_row_bytes = UINT64_C(16) << 20};
	const struct input input = {.files = &file, .nfiles = 1};
	const struct source_options options = {.job = &job, .input = &input};
	const struct source_sink sink = {.ctx = l, .event = take_line, .reject = take_reject};
	lines_release(l);
	l->whole = true;
	l->encoding = encoding;
	return source_read_once(&options, &sink, err);
}

/* Detect the encoding by a byte order mark, or by zero bytes in ASCII text. */
static const char *wide_encoding(struct bytes head)
{
	size_t even = 0, odd = 0;

	if (head.len >= 2 && head.ptr[0] + head.ptr[1] == 0xff + 0xfe && head.ptr[0] >= 0xfe)
		return "utf-16";
	for (size_t i = 0; i + 1 < head.len; i += 2) {
		even += head.ptr[i] == 0;
		odd += head.ptr[i + 1] == 0;
	}
	if (odd > head.len / 4 && even < head.len / 20)
		return "utf-16le";
	return even > head.len / 4 && odd < head.len / 20 ? "utf-16be" : NULL;
}

/* Read the first bytes of a file. Reads nothing if the file is not a regular file. */
static struct bytes read_head(const char *file, uint8_t *room)
{
	FILE *f = strcmp(file, "-") == 0 ? NULL : fopen(file, "rb");
	size_t n = f ? fread(room, 1, HEAD_BYTES, f) : 0;
	if (f)
		fclose(f);
	return bytes_of(room, n);
}

/*
 * Return true if the text has another encoding than UTF-8. A few wrong bytes in UTF-8 are damage,
 * and the load rejects their rows.
 */
static bool is_narrow(struct bytes text)
{
	const uint8_t *p = text.ptr, *end = p + text.len;
	size_t good = 0, bad = 0;

	while (p < end) {
		size_t n = utf8_char(p, end);

		good += n > 1;
		bad += n == 0;
		p += n ? n : 1;
	}
	return bad > good / 4;
}

static bool has_escapes(struct bytes text)
{
	return text.len &&
	       (memmem(text.ptr, text.len, "\x1b$B", 3) || memmem(text.ptr, text.len, "\x1b$@", 3));
}

static int check_text(const struct lines *l, const char *file, struct error *err)
{
	if (l->text.len && memchr(l->text.ptr, 0, l->text.len))
		return error_set(err, RC_DATA, "%s: found NUL bytes, expected text", file);
	return RC_OK;
}

int lines_read(struct lines *l, const char *file, struct error *err)
{
	uint8_t room[HEAD_BYTES];
	struct bytes head = read_head(file, room);
	const char *encoding = wide_encoding(head);
	int rc = read_as(l, file, encoding, err);

	if (rc == RC_OK)
		rc = check_text(l, file, err);
	if (rc || encoding)
		return rc;
	if (has_escapes(buf_bytes(&l->text)))
		return read_as(l, file, "iso-2022-jp", err);
	if (!l->text.len || !is_narrow(buf_bytes(&l->text)))
		return RC_OK;
	struct encoding_found found;
	rc = encoding_of(l, &found, err);
	if (rc == RC_OK)
		rc = read_as(l, file, found.name, err);
	l->found = found;
	return rc;
}
