/* transcode.h - convert an input from another encoding to UTF-8 */
#ifndef SALTMILL_SOURCE_TRANSCODE_H
#define SALTMILL_SOURCE_TRANSCODE_H

#include "input.h"

#define TRANSCODE_LONGEST 16 /* the longest UTF-8 for one character, plus one byte */

/* {0} is closed. */
struct transcoder {
	void *decoder; /* iconv_t; NULL: closed */
	const char *encoding;
	uint8_t *raw; /* bytes read but not yet decoded: [pos, len) */
	size_t pos, len;
	bool eof;
	bool flushed; /* the decoder's last held-back character was taken */
	size_t unit;  /* bytes of the smallest character */
	/* decoded bytes that had no room: [spare_pos, spare_len) */
	uint8_t spare[TRANSCODE_LONGEST];
	size_t spare_pos, spare_len;
};

/* encoding: an iconv name; borrowed. */
int transcoder_open(struct transcoder *t, const char *encoding, struct error *err);
/*
 * Like input_read, but returns UTF-8. Bytes that are invalid in the encoding become the byte FF,
 * which is never UTF-8. So only a row whose job uses that value is rejected.
 */
int transcode_read(struct transcoder *t, struct input_stream *in, uint8_t *dst, size_t cap,
		   size_t *got, struct error *err);
void transcoder_close(struct transcoder *t);

#endif
