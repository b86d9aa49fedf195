/*
 * input.h - read a file, a remote file or standard input, plain or compressed, as a stream of
 * decoded bytes
 */
#ifndef SALTMILL_INPUT_H
#define SALTMILL_INPUT_H

#include "bytes.h"
#include "error.h"
#include "hash.h"

struct source_feed;
struct object;

enum input_kind { INPUT_PLAIN, INPUT_GZIP, INPUT_ZSTD, INPUT_BZIP2, INPUT_XZ, INPUT_ZIP };

/* Identity and times of a regular file, the size of a remote file, or {0} for anything else. */
struct input_stamp {
	bool regular, object;
	uint64_t size; /* bytes on disk */
	uint64_t device, inode;
	int64_t written_ns, changed_ns; /* mtime, ctime */
};

struct input_stream {
	const char *path;	  /* borrowed */
	const char *name;	  /* name for messages */
	int fd;			  /* -1 if closed */
	struct object *object;	  /* object that `fd` reads, or NULL */
	struct input_stamp stamp; /* stamp at the time of open */
	uint64_t raw_read;	  /* bytes read from fd so far */
	uint64_t expected;	  /* bytes that the file has, UINT64_MAX if unknown */
	/*
	 * `fed` is true for the standard input of a source_feed; `cut_off` if the file continues
	 * after the input
	 */
	bool fed, cut_off;
	enum input_kind kind;
	bool raw_eof;
	bool frame_open; /* a gzip member, zstd frame or the like is incomplete */
	bool pending;	 /* the decoder may hold output that did not fit into the buffer */
	uint8_t *raw;	 /* bytes read but not yet decoded: [raw_pos, raw_len) */
	size_t raw_pos, raw_len;
	void *decoder;		   /* z_stream, ZSTD_DStream or struct unpacker */
	struct file_digest digest; /* of the raw bytes */
};

/*
 * Check that `path` is readable and not a folder, and fill `*stamp`. "-" always passes. Return
 * RC_IO if the check fails.
 */
int input_check(const char *path, struct input_stamp *stamp, struct error *err);
/*
 * Compare the file with its stamp from input_check. Return RC_IO if the file is another one or has
 * changed.
 */
int input_same(const struct input_stream *in, const struct input_stamp *checked, struct error *err);
/* Return "standard input" for "-", or `path` for all other paths. */
const char *input_name(const char *path);
/* Open `path` and detect the file's kind. The caller always closes `in`, even after an error. */
int input_open(struct input_stream *in, const char *path, struct error *err);
/* Open standard input as a feed. If the feed starts inside the file, its data is plain. */
int input_open_feed(struct input_stream *in, const struct source_feed *feed, struct error *err);
/*
 * Open `path`, or `feed` if `feed` is not NULL, without decompression, so that input_read returns
 * the raw bytes.
 */
int input_open_raw(struct input_stream *in, const char *path, const struct source_feed *feed,
		   struct error *err);
/*
 * Decode up to `cap` bytes. `*got` is less than `cap` only at the end, after the last raw byte and
 * the check of the file. Return RC_IO for a system error or if the file changed. Return RC_DATA if
 * the file is damaged or truncated.
 */
int input_read(struct input_stream *in, uint8_t *dst, size_t cap, size_t *got, struct error *err);
/* Return RC_IO if the opened file changed. input_read checks this at the end. */
int input_unchanged(const struct input_stream *in, struct error *err);
/*
 * Seek to a byte of the decoded data. Call input_skip before input_read, or at any time for a plain
 * regular file. The digest then has only the chunks that were read as a whole.
 */
int input_skip(struct input_stream *in, uint64_t bytes, struct error *err);
/* Compute the file_digest (hash.h) of the raw bytes read so far. */
void input_digest(const struct input_stream *in, uint8_t digest[16]);
void input_close(struct input_stream *in);

#endif
