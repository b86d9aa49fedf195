/*
 * input.h - an input as a stream of decoded bytes: plain or packed, file or standard input
 */
#ifndef SALTMILL_INPUT_H
#define SALTMILL_INPUT_H

#include "bytes.h"
#include "error.h"

struct source_feed;

enum input_kind { INPUT_PLAIN, INPUT_GZIP, INPUT_ZSTD, INPUT_BZIP2, INPUT_XZ, INPUT_ZIP };

/* Which file it is and when it was last written; {0}, but for regular, unless it is a regular one.
 */
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
	struct input_stamp stamp; /* when it was opened */
	uint64_t raw_read;	  /* bytes read from fd so far */
	uint64_t expected;	  /* that fd has; UINT64_MAX: not known */
	bool fed, cut_off;	  /* as source_feed: it is one; the file goes on behind it */
	enum input_kind kind;
	bool raw_eof;
	bool frame_open; /* a gzip member, zstd frame or the like has begun and not ended */
	bool pending;	 /* the decoder may hold output that did not fit */
	uint8_t *raw;	 /* what was read and not yet decoded: [raw_pos, raw_len) */
	size_t raw_pos, raw_len;
	void *decoder; /* z_stream, ZSTD_DStream or struct unpacker */
	void *digest;  /* XXH3 state over all raw bytes */
};

/* Is path there, readable and no folder? */
int input_check(const char *path, struct input_stamp *stamp, struct error *err);
/* RC_IO when it is not the file that it was when it was checked. */
int input_same(const struct input_stream *in, const struct input_stamp *checked, struct error *err);
/* "standard input" for "-", otherwise path. */
const char *input_name(const char *path);
/* Open and find out the kind.  in is to be closed whatever the result. */
int input_open(struct input_stream *in, const char *path, struct error *err);
/* The same of standard input as it is fed; what begins behind the file's start is plain. */
int input_open_feed(struct input_stream *in, const struct source_feed *feed, struct error *err);
/* The same, path or not NULL feed, with its bytes as they stand: plain whatever they are. */
int input_open_raw(struct input_stream *in, const char *path, const struct source_feed *feed,
		   struct error *err);
/*
 * Decode up to cap bytes; *got < cap only at the end.  The end is reported once all raw bytes
 * were read and found whole.  RC_IO (system, file changed meanwhile), RC_DATA (damaged, truncated).
 */
int input_read(struct input_stream *in, uint8_t *dst, size_t cap, size_t *got, struct error *err);
/* Is it still the file that was opened?  What input_read asks by itself at the end. */
int input_unchanged(const struct input_stream *in, struct error *err);
/*
 * Go to the byte of the decoded data, for who needs no digest; before input_read, or of a plain
 * file that is no stream.
 */
int input_skip(struct input_stream *in, uint64_t bytes, struct error *err);
/* XXH3-128 of the raw bytes read so far, canonical form. */
void input_digest(const struct input_stream *in, uint8_t digest[16]);
void input_close(struct input_stream *in);

#endif
