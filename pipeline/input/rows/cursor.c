/*
 * cursor.c - read one input from its start, decode its text and find the ends of its rows
 *
 * A \r at the end of the bytes read so far waits for the next read, because a \n may follow the \r.
 * Lines that may belong to the footer also wait.
 */
#include "cursor.h"

#include "blocks.h"
#include "input/magic.h"

#define HEAD_BYTES ((size_t)64 << 10)

int source_long_row(const struct source *s, size_t file, uint64_t line, uint64_t offset,
		    struct error *err)
{
	const char *why =
		s->row_by_memory
			? ", a quarter of --memory; check for an unclosed quote, or raise --memory"
		: s->json ? "; check for a missing line end, or raise source.json.max_row"
			  : "; check for an unclosed quote, or raise source.csv.max_row";

	return error_set(err, RC_LIMIT,
			 "%s:%llu (byte %llu): found a row of more than %llu bytes%s",
			 input_name(s->files[file].path), (unsigned long long)line + 1,
			 (unsigned long long)offset, (unsigned long long)s->max_row_bytes, why);
}

int cursor_more(struct cursor *c, struct buf *buf, size_t want, struct error *err)
{
	size_t got;
	uint8_t *dst = buf_reserve(buf, want + CSV_SLACK);
	int rc = c->text.decoder ? transcode_read(&c->text, &c->in, dst, want, &got, err)
				 : input_read(&c->in, dst, want, &got, err);

	if (rc)
		return rc;
	buf->len += got;
	c->eof = got < want && !c->in.cut_off;
	if (got == 0 && c->in.cut_off && c->dry)
		return error_set(
			err, RC_IO,
			"%s: standard input ends within the slice's last row, expected the whole "
			"row: feed more of the file (--bytes)",
			c->in.name);
	c->dry = got == 0;
	return RC_OK;
}

/* Return the number of bytes before the last `n` lines that are not blank. */
static size_t before_footer(const uint8_t *data, size_t len, uint32_t n)
{
	const uint8_t *p = data + len;

	for (; n > 0 && p > data; n--) {
		while (p > data && csv_is_end(p[-1]))
			p--;
		while (p > data && !csv_is_end(p[-1]))
			p--;
	}
	return (size_t)(p - data);
}

/*
 * Return the length of the complete lines of `data`. cursor_whole returns the length of complete
 * rows.
 */
static size_t whole_lines(const struct source *s, const struct cursor *c, const uint8_t *data,
			  size_t len, bool *limit)
{
	size_t cut = len;

	if (!c->eof)
		while (cut > 0 && !csv_is_end(data[cut - 1]))
			cut--;
	*limit = cut == 0 && len > s->max_row_bytes;
	return cut;
}

size_t cursor_whole(const struct source *s, struct csv_reader *cutter, const struct cursor *c,
		    const struct buf *buf, bool *limit)
{
	size_t len = buf->len, line;
	bool open;

	*limit = false;
	if (s->csv->skip_footer > 0)
		len = before_footer(buf->ptr, len, s->csv->skip_footer);
	if (!c->eof)
		len -= len > 0 && buf->ptr[len - 1] == '\r';
	if (s->json)
		return whole_lines(s, c, buf->ptr, len, limit);
	size_t cut = csv_cut(cutter, buf->ptr, len, c->eof, s->max_row_bytes, &open);
	if (cut > 0 || len == 0)
		return cut;
	/* reject the row, because with more memory the same bytes could be a different row */
	bool longer = len > s->max_row_bytes;
	if (open && (longer ? !s->row_by_memory : c->eof)) {
		line = csv_line(buf->ptr, len);
		cut = line > 0 ? line : c->eof ? len : 0;
	}
	*limit = cut > s->max_row_bytes || (cut == 0 && longer);
	return *limit ? 0 : cut;
}

/* Return a quarter of `have`, so that repeated searches for the end of a long row stay linear. */
size_t source_more_bytes(const struct source *s, size_t have)
{
	size_t most = have < s->max_row_bytes ? have : (size_t)s->max_row_bytes;

	return most / 4 > s->piece_bytes ? most / 4 : s->piece_bytes;
}

void cursor_advance(struct cursor *c, size_t n)
{
	c->rest.len -= n;
	if (c->rest.len) /* rest.ptr may be NULL before the first read */
		memmove(c->rest.ptr, c->rest.ptr + n, c->rest.len);
	c->offset += n;
}

void cursor_close(struct cursor *c)
{
	if (c->open)
		input_close(&c->in);
	transcoder_close(&c->text);
	buf_release(&c->rest);
	*c = (struct cursor){0};
}

int cursor_open(struct source *s, struct cursor *c, size_t i, struct error *err)
{
	const uint8_t mark[3] = {0xef, 0xbb, 0xbf};
	size_t want = s->piece_bytes < HEAD_BYTES ? s->piece_bytes : HEAD_BYTES;
	struct source_file *file = &s->files[i];

	c->open = true;
	int rc = s->input->feed && i == 0 ? input_open_feed(&c->in, s->input->feed, err)
					  : input_open(&c->in, file->path, err);
	if (rc)
		return rc;
	if (s->input->feed && i == 0 && s->input->feed->offset > 0) {
		c->offset = s->input->feed->offset;
		return RC_OK;
	}
	rc = input_same(&c->in, &s->stamps[i], err);
	if (rc)
		return rc;
	file->compressed = c->in.kind != INPUT_PLAIN;
	if (s->csv->encoding)
		rc = transcoder_open(&c->text, s->csv->encoding, err);
	if (rc == RC_OK)
		rc = cursor_more(c, &c->rest, want > MAGIC_BYTES ? want : MAGIC_BYTES, err);
	if (rc == RC_OK && !s->blocks)
		rc = magic_check(c->in.name, buf_bytes(&c->rest), err);
	if (rc)
		return rc;
	if (s->blocks)
		return blocks_start(s, c, i, err);
	if (c->rest.len >= sizeof mark && memcmp(c->rest.ptr, mark, sizeof mark) == 0)
		cursor_advance(c, sizeof mark);
	return cursor_start(s, c, i, err);
}
