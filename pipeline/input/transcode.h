/* transcode.h - convert an input from another encoding to UTF-8 */
#ifndef SALTMILL_SOURCE_TRANSCODE_H
#define SALTMILL_SOURCE_TRANSCODE_H

#include "input.h"

#define TRANSCODE_LONGEST 16 /* the longest UTF-8 for one character, plus one byte */

/* A converter of one input. {0} is closed. */
struct transcoder {
	void *decoder; /* iconv_t, NULL if closed */
	const char *encoding;
	uint8_t *raw; /* bytes read but not yet decoded: [pos, len) */
	size_t pos, len;
	bool eof;
	bool flushed; /* true after the output of the last character that the decoder held */
	size_t unit;  /* length of the smallest character in bytes */
	/* decoded bytes that did not fit into the caller's buffer: [spare_pos, spare_len) */
	uint8_t spare[TRANSCODE_LONGEST];
	size_t spare_pos, spare_len;
};

/* Open a converter. `encoding` is a name of iconv, borrowed. */
int transcoder_open(struct transcoder *t, const char *encoding, struct error *err);
/*
 * Read UTF-8 as input_read does. Bytes that are invalid in the encoding become the byte FF, which
 * is never valid UTF-8. So the load rejects a row with such a byte only if the job uses the value.
 */
int transcode_read(struct transcoder *t, struct input_stream *in, uint8_t *dst, size_t cap,
		   size_t *got, struct error *err);
void transcoder_close(struct transcoder *t);

#endif
