/*
 * input.h - an input as a stream of decoded bytes: plain or packed, file or standard input
 */
#ifndef SALTMILL_INPUT_H
#define SALTMILL_INPUT_H

#include "bytes.h"
#include "error.h"

struct source_feed;

enum input_kind { INPUT_PLAIN, INPUT_GZIP, INPUT_ZSTD, INPUT_BZIP2, INPUT_XZ, INPUT_ZIP };

/* Identity and times of a regular file; {0} for anything else. */
struct input_stamp {
	bool regular;
	uint64_t size; /* bytes on disk */
	uint64_t device, inode;
	int64_t written_ns, changed_ns; /* mtime, ctime */
};

struct input_stream {
	const char *path;	  /* borrowed */
	const char *name;	  /* for messages */
	int fd;			  /* -1: closed */
	struct input_stamp stamp; /* taken at open */
	uint64_t raw_read;	  /* bytes read from fd so far */
	uint64_t expected;	  /* bytes that fd has; UINT64_MAX: not known */
	bool fed, cut_off;	  /* standard input of a source_feed; the file continues after it */
	enum input_kind kind;
	bool raw_eof;
	bool frame_open; /* a gzip member, zstd frame or the like is incomplete */
	bool pending;	 /* the decoder may hold output that had no room */
	uint8_t *raw;	 /* bytes read but not yet decoded: [raw_pos, raw_len) */
	size_t raw_pos, raw_len;
	void *decoder; /* z_stream, ZSTD_DStream or struct unpacker */
	void *digest;  /* XXH3 state over all raw bytes */
};

/* Check that path is readable and not a folder; fill *stamp. "-" always passes. RC_IO. */
int input_check(const char *path, struct input_stamp *stamp, struct error *err);
/* Compare the file with its stamp from input_check. RC_IO: it is another file or has changed. */
int input_same(const struct input_stream *in, const struct input_stamp *checked, struct error *err);
/* Return "standard input" for "-", else path. */
const char *input_name(const char *path);
/* Open path and detect its kind. The caller closes in, whatever the result. */
int input_open(struct input_stream *in, const char *path, struct error *err);
/* Open standard input as a feed. If it starts inside the file, its data is plain. */
int input_open_feed(struct input_stream *in, const struct source_feed *feed, struct error *err);
/* Open path, or feed if it is not NULL, without unpacking: input_read returns the raw bytes. */
int input_open_raw(struct input_stream *in, const char *path, const struct source_feed *feed,
		   struct error *err);
/*
 * Decode up to cap bytes; *got < cap only at the end. The end is returned only after all raw bytes
 * were read and the file was found complete. RC_IO: system error, or the file changed. RC_DATA:
 * damaged or truncated.
 */
int input_read(struct input_stream *in, uint8_t *dst, size_t cap, size_t *got, struct error *err);
/* Check that the opened file did not change. input_read does it at the end. RC_IO: it changed. */
int input_unchanged(const struct input_stream *in, struct error *err);
/*
 * Seek to a byte of the decoded data. The digest is useless afterwards. Call it before input_read;
 * a plain regular file allows it at any time.
 */
int input_skip(struct input_stream *in, uint64_t bytes, struct error *err);
/* Compute the XXH3-128 of the raw bytes read so far, in canonical form. */
void input_digest(const struct input_stream *in, uint8_t digest[16]);
void input_close(struct input_stream *in);

#endif
