/*
 * raw_lines.c - read the lines of a file without the reader of a load, to prove what the load reads
 *
 * Only iconv and the line end decide, so the lines are independent of how a load finds rows.
 */
#include <iconv.h>
#include <stdio.h>

#include "mem.h"
#include "raw_lines.h"

#define PIECE_BYTES ((size_t)64 << 10)

struct raw_lines {
	FILE *f;
	iconv_t cd; /* (iconv_t)-1 for UTF-8 */
	struct buf in, out;
	size_t at; /* start of the next line in `out` */
	bool ended, failed;
};

/* Return true if the file begins as a compressed one. */
static bool is_compressed(const uint8_t *head, size_t n)
{
	static const char *const magics[] = {
		"\x1f\x8b",   "\x28\xb5\x2f\xfd", "BZh", "\xfd\x37zXZ", "\x04\x22\x4d\x18",
		"PK\x03\x04", "\xff\x06\x00\x00", NULL};

	for (size_t i = 0; magics[i]; i++) {
		size_t len = i == 6 ? 4 : strlen(magics[i]);

		if (n >= len && memcmp(head, magics[i], len) == 0)
			return true;
	}
	return false;
}

/* Decode the bytes of `in`. Keep the bytes of a character that is not whole. */
static bool decode(struct raw_lines *r)
{
	char *from = (char *)r->in.ptr, *to;
	size_t left = r->in.len, room = r->in.len * 4 + 16;

	if (r->cd == (iconv_t)-1) {
		buf_append(&r->out, r->in.ptr, r->in.len);
		r->in.len = 0;
		return true;
	}
	buf_reserve(&r->out, room);
	to = (char *)r->out.ptr + r->out.len;
	bool fine = iconv(r->cd, &from, &left, &to, &room) != (size_t)-1 || errno == EINVAL;
	r->out.len = (size_t)((uint8_t *)to - r->out.ptr);
	memmove(r->in.ptr, from, left);
	r->in.len = left;
	return fine;
}

/* Read and decode a piece of the file. */
static void fill(struct raw_lines *r)
{
	size_t left = r->out.len - r->at, had = r->in.len;

	if (r->at)
		memmove(r->out.ptr, r->out.ptr + r->at, left);
	r->out.len = left;
	r->at = 0;
	buf_reserve(&r->in, PIECE_BYTES);
	size_t n = fread(r->in.ptr + had, 1, PIECE_BYTES, r->f);
	r->in.len += n;
	r->ended = n == 0;
	r->failed = r->failed || ferror(r->f) || !decode(r) || (r->ended && r->in.len);
}

/* Remove a byte order mark. */
static void skip_mark(struct raw_lines *r)
{
	fill(r);
	if (r->out.len >= 3 && memcmp(r->out.ptr, "\xef\xbb\xbf", 3) == 0)
		r->at = 3;
}

struct raw_lines *raw_lines_open(const char *path, const char *encoding)
{
	FILE *f = fopen(path, "rb");
	uint8_t head[8];

	if (!f)
		return NULL;
	if (is_compressed(head, fread(head, 1, sizeof head, f)) || fseek(f, 0, SEEK_SET)) {
		fclose(f);
		return NULL;
	}
	struct raw_lines *r = mem_calloc(1, sizeof *r);
	r->f = f;
	r->cd = encoding ? iconv_open("UTF-8", encoding) : (iconv_t)-1;
	r->failed = encoding && r->cd == (iconv_t)-1;
	if (!r->failed)
		skip_mark(r);
	return r;
}

void raw_lines_close(struct raw_lines *r)
{
	if (!r)
		return;
	if (r->cd != (iconv_t)-1)
		iconv_close(r->cd);
	fclose(r->f);
	buf_release(&r->in);
	buf_release(&r->out);
	mem_free(r);
}

bool raw_lines_next(struct raw_lines *r, struct bytes *line)
{
	size_t seen = 0;
	uint8_t *end = NULL;

	while (!r->failed && !end) {
		size_t have = r->out.len - r->at;

		end = have > seen ? memchr(r->out.ptr + r->at + seen, '\n', have - seen) : NULL;
		seen = have;
		if (!end && r->ended)
			break;
		if (!end)
			fill(r);
	}
	const uint8_t *start = r->out.ptr + r->at;
	size_t len = end ? (size_t)(end - start) : r->out.len - r->at;
	if (r->failed || (!end && !len))
		return false;
	r->at += len + (end != NULL);
	*line = bytes_of(start, len);
	return true;
}
