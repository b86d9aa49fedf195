#include "input/transcode.h"

#include <errno.h>
#include <iconv.h>
#include <strings.h>

#include "mem.h"

#define RAW_BYTES ((size_t)64 << 10)
#define NO_UTF8	  0xff

/*
 * Return the bytes of the smallest character, which is the number skipped at an invalid character.
 */
static size_t unit_of(const char *encoding)
{
	static const char *const two[] = {"UTF-16", "UTF16", "UCS-2", "UCS2", "UNICODE"};
	static const char *const four[] = {"UTF-32", "UTF32", "UCS-4", "UCS4"};

	for (size_t i = 0; i < sizeof two / sizeof *two; i++)
		if (strncasecmp(encoding, two[i], strlen(two[i])) == 0)
			return 2;
	for (size_t i = 0; i < sizeof four / sizeof *four; i++)
		if (strncasecmp(encoding, four[i], strlen(four[i])) == 0)
			return 4;
	return 1;
}

int transcoder_open(struct transcoder *t, const char *encoding, struct error *err)
{
	iconv_t decoder = iconv_open("UTF-8", encoding);

	if (decoder == (iconv_t)-1)
		return error_set(
			err, RC_CONFIG,
			"encoding %s: iconv does not support it; `iconv -l` lists the encodings",
			encoding);
	*t = (struct transcoder){.decoder = decoder,
				 .encoding = encoding,
				 .unit = unit_of(encoding),
				 .raw = mem_alloc(RAW_BYTES)};
	return RC_OK;
}

void transcoder_close(struct transcoder *t)
{
	if (t->decoder)
		iconv_close(t->decoder);
	mem_free(t->raw);
	*t = (struct transcoder){0};
}

/* Read more bytes after the start of an incomplete character. */
static int fill(struct transcoder *t, struct input_stream *in, struct error *err)
{
	size_t n;

	t->len -= t->pos;
	memmove(t->raw, t->raw + t->pos, t->len);
	t->pos = 0;
	int rc = input_read(in, t->raw + t->len, RAW_BYTES - t->len, &n, err);
	if (rc)
		return rc;
	t->eof = n < RAW_BYTES - t->len;
	t->len += n;
	return RC_OK;
}

/* Run iconv once. Set `*cut` if iconv needs more bytes. */
static size_t convert(struct transcoder *t, uint8_t *dst, size_t room, bool *cut)
{
	char *from = (char *)t->raw + t->pos, *to = (char *)dst;
	size_t left = t->len - t->pos, space = room;

	errno = 0;
	size_t rc = iconv(t->decoder, &from, &left, &to, &space);
	t->pos = t->len - left;
	*cut = rc == (size_t)-1 && errno == EINVAL;
	if (rc == (size_t)-1 && errno == EILSEQ) {
		*to++ = (char)NO_UTF8;
		t->pos += left < t->unit ? left : t->unit;
		space--;
	}
	return room - space;
}

/*
 * Write the last letter that the decoder holds, because an accent could have followed it, as in
 * Big5-HKSCS.
 */
static void flush(struct transcoder *t)
{
	char *to = (char *)t->spare;
	size_t space = sizeof t->spare;

	iconv(t->decoder, NULL, NULL, &to, &space);
	t->flushed = true;
	t->spare_pos = 0;
	t->spare_len = sizeof t->spare - space;
}

/* Convert into `spare` if `dst` has less room than one character may need. */
static size_t convert_some(struct transcoder *t, uint8_t *dst, size_t room, bool *cut)
{
	if (t->spare_pos == t->spare_len && room > TRANSCODE_LONGEST)
		return convert(t, dst, room - 1, cut);
	if (t->spare_pos == t->spare_len) {
		t->spare_pos = 0;
		t->spare_len = convert(t, t->spare, TRANSCODE_LONGEST - 1, cut);
	}
	size_t n = t->spare_len - t->spare_pos < room ? t->spare_len - t->spare_pos : room;
	memcpy(dst, t->spare + t->spare_pos, n);
	t->spare_pos += n;
	return n;
}

int transcode_read(struct transcoder *t, struct input_stream *in, uint8_t *dst, size_t cap,
		   size_t *got, struct error *err)
{
	bool cut = false;

	*got = 0;
	while (*got < cap) {
		if (t->spare_pos == t->spare_len && (t->pos == t->len || cut)) {
			if (t->eof && t->pos == t->len && t->flushed)
				return RC_OK;
			if (t->eof && t->pos == t->len) {
				flush(t);
				continue;
			}
			if (t->eof)
				return error_set(
					err, RC_DATA,
					"%s: found an incomplete last character of the %s text, "
					"expected a complete file",
					in->name, t->encoding);
			int rc = fill(t, in, err);
			if (rc)
				return rc;
			cut = false;
			continue;
		}
		*got += convert_some(t, dst + *got, cap - *got, &cut);
	}
	return RC_OK;
}
