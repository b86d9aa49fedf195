/*
 * transcode.h - an input of another encoding as UTF-8
 */
#ifndef SALTMILL_SOURCE_TRANSCODE_H
#define SALTMILL_SOURCE_TRANSCODE_H

#include "input.h"

#define TRANSCODE_LONGEST 16 /* bytes of UTF-8 that a character may become, and one more */

/* {0} is closed. */
struct transcoder {
	void *decoder; /* iconv_t; NULL: closed */
	const char *encoding;
	uint8_t *raw; /* read and not yet decoded: [pos, len) */
	size_t pos, len;
	bool eof;
	bool flushed;			  /* what the decoder held back at the end was taken */
	size_t unit;			  /* bytes of the smallest character */
	uint8_t spare[TRANSCODE_LONGEST]; /* decoded, and no room yet: [spare_pos, spare_len) */
	size_t spare_pos, spare_len;
};

/* encoding: as iconv names it; borrowed. */
int transcoder_open(struct transcoder *t, const char *encoding, struct error *err);
/*
 * As input_read, in UTF-8.  Bytes that the encoding does not have become the byte FF, which no
 * UTF-8 has: the row is then refused for it where the value is used, and no other.
 */
int transcode_read(struct transcoder *t, struct input_stream *in, uint8_t *dst, size_t cap,
		   size_t *got, struct error *err);
void transcoder_close(struct transcoder *t);

#endif
