/*
 * fuzz_transcode.c - text of other encodings gives the same UTF-8 for any read sizes, and iconv's
 * result if the text is valid
 *
 * The first byte chooses the encoding, the second the size of each read.
 */
#include "memory_file.h"

#include <iconv.h>

#include "mem.h"
#include "pipeline/input/transcode.h"
#include "bytes.h"

static const char *const encodings[] = {"utf-16",  "utf-16le", "utf-16be",    "utf-32",
					"latin1",  "cp1252",   "shift_jis",   "euc-kr",
					"gb18030", "utf-7",    "iso-2022-jp", "big5-hkscs"};

static int read_all(const char *path, const char *encoding, size_t piece, struct buf *out,
		    struct error *err)
{
	struct input_stream in;
	struct transcoder t = {0};
	size_t got = piece;
	int rc = input_open(&in, path, err);

	if (rc == RC_OK)
		rc = transcoder_open(&t, encoding, err);
	while (rc == RC_OK && got == piece) {
		uint8_t *to = buf_reserve(out, piece);

		rc = transcode_read(&t, &in, to, piece, &got, err);
		out->len += rc ? 0 : got;
	}
	transcoder_close(&t);
	input_close(&in);
	return rc;
}

/* Counts characters of UTF-8, and bytes FF. */
static void expect_characters(struct bytes t)
{
	const uint8_t *p = t.ptr, *end = p + t.len;

	while (p < end) {
		size_t n = *p == 0xff ? 1 : utf8_char(p, end);

		if (!n)
			abort();
		p += n;
	}
}

/* Returns iconv's result for the whole text, if iconv accepts it. */
static void expect_iconv(const char *encoding, struct bytes from, struct bytes got)
{
	size_t room = 16 * from.len + 16, space = room, left = from.len;
	char *to = mem_alloc(room), *out = to;
	char *in = mem_alloc(from.len + 1), *at = in;
	iconv_t c = iconv_open("UTF-8", encoding);

	memcpy(in, from.ptr, from.len);
	if (iconv(c, &at, &left, &out, &space) != (size_t)-1 && !left)
		expect_same(bytes_of(to, room - space), got);
	iconv_close(c);
	mem_free(to);
	mem_free(in);
}

/* Returns the file's content, decompressed if necessary. */
static int read_plain(const char *path, struct buf *out)
{
	struct input_stream in;
	struct error err;
	size_t got = 1;
	int rc = input_open(&in, path, &err);

	while (rc == RC_OK && got) {
		uint8_t *to = buf_reserve(out, 4096);

		rc = input_read(&in, to, 4096, &got, &err);
		out->len += rc ? 0 : got;
	}
	input_close(&in);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf whole = {0}, pieces = {0}, plain = {0};
	struct error err, other;
	char path[64];

	if (size < 2)
		return 0;
	const char *encoding = encodings[data[0] % (sizeof encodings / sizeof *encodings)];
	struct bytes text = bytes_of(data + 2, size - 2);
	int fd = memory_file(text, path);
	int rc = read_all(path, encoding, 1 << 16, &whole, &err);
	int again = read_all(path, encoding, 1 + data[1], &pieces, &other);
	expect_sentence(rc, &err);
	expect_sentence(again, &other);
	if (rc != again)
		abort();
	if (rc == RC_OK) {
		expect_same(buf_bytes(&whole), buf_bytes(&pieces));
		expect_characters(buf_bytes(&whole));
		if (read_plain(path, &plain) == RC_OK)
			expect_iconv(encoding, buf_bytes(&plain), buf_bytes(&whole));
	}
	buf_release(&whole);
	buf_release(&pieces);
	buf_release(&plain);
	close(fd);
	return 0;
}
