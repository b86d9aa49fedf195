/*
 * input.c - read inputs, compute the digest of their raw bytes, and decode them
 *
 * Plain data goes from read(2) directly into the caller's buffer. Copy only the bytes that detect
 * the format. Concatenated gzip members (RFC 1952, 2.2) and zstd frames (RFC 8878, 3.1) are one
 * stream, as for gzip and zstd. Zeros after a gzip member are padding (tapes, block devices). Any
 * other bytes after a member are an error. They may be a damaged member, whose rows the load would
 * lose silently.
 */
#include "input/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "input/object.h"
#include "io.h"
#include "mem.h"
#include "pool.h"
#include "source.h"
#include "unpack.h"

#define RAW_BYTES ((size_t)64 << 10)
#define MAGIC_MAX 10 /* length of the longest magic number */
#define WAIT_MS	  200

const char *input_name(const char *path)
{
	return strcmp(path, "-") == 0 ? "standard input" : path;
}

static int64_t ns_of(struct timespec t)
{
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct input_stamp stamp_of(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return (struct input_stamp){0};
	return (struct input_stamp){.regular = true,
				    .size = (uint64_t)st->st_size,
				    .device = st->st_dev,
				    .inode = st->st_ino,
				    .written_ns = ns_of(st->st_mtim),
				    .changed_ns = ns_of(st->st_ctim)};
}

/* Describe what changed. Return NULL if nothing changed. */
static const char *difference(const struct input_stamp *a, const struct input_stamp *b)
{
	if (a->regular != b->regular || a->device != b->device || a->inode != b->inode)
		return "another file replaced the file";
	if (a->written_ns != b->written_ns)
		return "a program wrote to the file";
	/* a writer can reset mtime, but not ctime */
	return a->changed_ns != b->changed_ns ? "a program changed the file (ctime)" : NULL;
}

/* An object has only a size. Its reader demands one version (object.h). */
static int check_object(const char *uri, struct input_stamp *stamp, struct error *err)
{
	struct object *o;
	int rc = object_open(&o, uri, err);

	if (rc == RC_OK)
		*stamp = (struct input_stamp){.object = true, .size = object_bytes(o)};
	object_close(o);
	return rc;
}

int input_check(const char *path, struct input_stamp *stamp, struct error *err)
{
	struct stat st;

	*stamp = (struct input_stamp){0};
	if (strcmp(path, "-") == 0)
		return RC_OK;
	if (object_is_remote(path))
		return check_object(path, stamp, err);
	if (stat(path, &st) != 0 || access(path, R_OK) != 0)
		return error_errno(err, "%s", path);
	if (S_ISDIR(st.st_mode))
		return error_set(err, RC_IO, "%s: is a folder, expected a file", path);
	*stamp = stamp_of(&st);
	return RC_OK;
}

int input_same(const struct input_stream *in, const struct input_stamp *checked, struct error *err)
{
	const char *why = difference(checked, &in->stamp);

	if (in->stamp.size != checked->size)
		return error_set(
			err, RC_IO,
			"%s: the file changed after saltmill checked it: found %llu bytes, "
			"expected %llu; load it again when no program writes it",
			in->name, (unsigned long long)in->stamp.size,
			(unsigned long long)checked->size);
	return why ? error_set(err, RC_IO,
			       "%s: the file changed after saltmill checked it (%s); load it again "
			       "when no program writes it",
			       in->name, why)
		   : RC_OK;
}

/*
 * Wait until the input is readable. A pipe may send nothing for hours, so a signal to any thread
 * ends the wait.
 */
static int wait_for_data(const struct input_stream *in, struct error *err)
{
	struct pollfd p = {.fd = in->fd, .events = POLLIN};
	int rc, n = in->stamp.regular;

	while ((rc = stop_check(err)) == 0 && n == 0) {
		n = poll(&p, 1, WAIT_MS);
		if (n < 0 && errno == EINTR)
			n = 0;
	}
	return rc;
}

/* Compare the number of bytes of a feed with --bytes. */
static int check_count(const struct input_stream *in, struct error *err)
{
	unsigned long long read = in->raw_read, expected = in->expected;

	if (in->expected == UINT64_MAX)
		return RC_OK;
	if (in->raw_read > in->expected)
		return error_set(
			err, RC_IO,
			"%s: standard input is too long: found more than %llu bytes, the value "
			"of --bytes",
			in->name, expected);
	if (in->raw_eof && in->raw_read < in->expected)
		return error_set(err, RC_IO,
				 "%s: found %llu bytes on standard input, expected %llu (--bytes)",
				 in->name, read, expected);
	return RC_OK;
}

/* Read with one read(2), and set `raw_eof` at the end. */
static int read_raw(struct input_stream *in, uint8_t *dst, size_t cap, size_t *got,
		    struct error *err)
{
	ssize_t n;

	do {
		int rc = wait_for_data(in, err);

		if (rc)
			return rc;
		n = read(in->fd, dst, cap);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return error_errno(err, "%s: cannot read at byte %llu", in->name,
				   (unsigned long long)in->raw_read);
	file_digest_add(&in->digest, dst, (size_t)n);
	in->raw_eof = n == 0;
	in->raw_read += (uint64_t)n;
	*got = (size_t)n;
	int rc = n == 0 && in->object ? object_end(in->object, err) : RC_OK;
	if (rc)
		return rc;
	return check_count(in, err);
}

static int fill_raw(struct input_stream *in, struct error *err)
{
	in->raw_pos = in->raw_len = 0;
	return read_raw(in, in->raw, RAW_BYTES, &in->raw_len, err);
}

static enum input_kind kind_of(const uint8_t *p, size_t n)
{
	static const uint8_t zstd[4] = {0x28, 0xb5, 0x2f, 0xfd};
	static const uint8_t skippable[3] = {0x2a, 0x4d, 0x18}; /* after 0x50..0x5f */

	if (n >= 2 && p[0] == 0x1f && p[1] == 0x8b)
		return INPUT_GZIP;
	if (n >= 4 && (memcmp(p, zstd, 4) == 0 ||
		       ((p[0] & 0xf0) == 0x50 && memcmp(p + 1, skippable, 3) == 0)))
		return INPUT_ZSTD;
	if (n >= 6 && memcmp(p,
			     "\xfd"
			     "7zXZ\0",
			     6) == 0)
		return INPUT_XZ;
	if (n >= 4 && memcmp(p, "PK\3\4", 4) == 0)
		return INPUT_ZIP;
	/*
	 * a bzip2 block begins with the digits of pi, and a stream without blocks has its end mark
	 * there
	 */
	if (n >= MAGIC_MAX && memcmp(p, "BZh", 3) == 0 &&
	    (memcmp(p + 4, "\x31\x41\x59\x26\x53\x59", 6) == 0 ||
	     memcmp(p + 4, "\x17\x72\x45\x38\x50\x90", 6) == 0))
		return INPUT_BZIP2;
	return INPUT_PLAIN;
}

static const char *format_of(enum input_kind kind)
{
	static const char *const names[] = {
		[INPUT_PLAIN] = "plain", [INPUT_GZIP] = "gzip", [INPUT_ZSTD] = "zstd",
		[INPUT_BZIP2] = "bzip2", [INPUT_XZ] = "xz",	[INPUT_ZIP] = "zip"};

	return names[kind];
}

/*
 * Report a file as truncated if the name is that of a compressed file but the file is shorter than
 * the magic number.
 */
static int check_stub(const struct input_stream *in, struct error *err)
{
	static const struct {
		const char *ending, *format;
		size_t magic;
	} packed[] = {{".gz", "gzip", 2},
		      {".zst", "zstd", 4},
		      {".bz2", "bzip2", MAGIC_MAX},
		      {".xz", "xz", 6},
		      {".zip", "zip", 4}};
	size_t n = strlen(in->name);

	for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
		size_t len = strlen(packed[i].ending);

		if (n > len && !strcmp(in->name + n - len, packed[i].ending) &&
		    in->raw_len < packed[i].magic)
			return error_set(err, RC_DATA,
					 "%s: truncated: found %zu bytes, expected %s data",
					 in->name, in->raw_len, packed[i].format);
	}
	return RC_OK;
}

/* Read until the format is known. A pipe may deliver the bytes one by one. */
static int detect(struct input_stream *in, struct error *err)
{
	while (in->raw_len < MAGIC_MAX && !in->raw_eof) {
		size_t got;
		int rc = read_raw(in, in->raw + in->raw_len, RAW_BYTES - in->raw_len, &got, err);

		if (rc)
			return rc;
		in->raw_len += got;
	}
	in->kind = kind_of(in->raw, in->raw_len);
	if (in->kind == INPUT_PLAIN)
		return check_stub(in, err);
	if (in->kind == INPUT_ZSTD) {
		in->decoder = ZSTD_createDStream();
		if (!in->decoder)
			return error_set(err, RC_IO, "%s: cannot set up zstd", in->name);
	} else if (in->kind == INPUT_GZIP) {
		in->decoder = mem_calloc(1, sizeof(z_stream));
		if (inflateInit2(in->decoder, 15 + 16) != Z_OK)
			return error_set(err, RC_IO, "%s: cannot set up zlib", in->name);
	} else {
		in->decoder = unpacker_new(in->kind == INPUT_BZIP2 ? PACKED_BZIP2
					   : in->kind == INPUT_XZ  ? PACKED_XZ
								   : PACKED_ZIP);
		if (!in->decoder)
			return error_set(err, RC_IO, "%s: cannot set up %s", in->name,
					 format_of(in->kind));
	}
	return RC_OK;
}

static int open_bytes(struct input_stream *in, const char *path, const struct source_feed *feed,
		      struct error *err)
{
	bool standard = strcmp(path, "-") == 0, object = object_is_remote(path);
	struct stat st;
	int rc = RC_OK;

	*in = (struct input_stream){.path = path,
				    .name = input_name(feed ? feed->name : path),
				    .expected = feed ? feed->bytes : UINT64_MAX,
				    .fed = feed != NULL,
				    .cut_off = feed && feed->bytes != UINT64_MAX &&
					       feed->offset + feed->bytes < feed->size,
				    .fd = -1};
	if (object)
		rc = object_open(&in->object, path, err);
	if (object && rc == RC_OK)
		rc = object_start(in->object, 0, &in->fd, err);
	else if (!object)
		in->fd = standard ? STDIN_FILENO : io_open_input(path, err);
	if (rc || in->fd < 0)
		return rc ? rc : in->fd;
	if (fstat(in->fd, &st) != 0)
		return error_errno(err, "%s", in->name);
	if (S_ISDIR(st.st_mode))
		return error_set(err, RC_IO, "%s: is a folder, expected a file", in->name);
	if (object)
		in->stamp = (struct input_stamp){.object = true, .size = object_bytes(in->object)};
	else if (!standard)
		in->stamp = stamp_of(&st);
	in->raw = mem_alloc(RAW_BYTES);
	file_digest_open(&in->digest, feed ? feed->offset : 0);
	return RC_OK;
}

int input_open(struct input_stream *in, const char *path, struct error *err)
{
	int rc = open_bytes(in, path, NULL, err);

	return rc ? rc : detect(in, err);
}

int input_open_feed(struct input_stream *in, const struct source_feed *feed, struct error *err)
{
	int rc = open_bytes(in, "-", feed, err);

	return rc || feed->offset > 0 ? rc : detect(in, err);
}

int input_open_raw(struct input_stream *in, const char *path, const struct source_feed *feed,
		   struct error *err)
{
	return open_bytes(in, feed ? "-" : path, feed, err);
}

/* Close standard input after the last read, so that the writer of the pipe does not wait. */
static void let_go_of_standard_input(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (fd > STDIN_FILENO) {
		dup2(fd, STDIN_FILENO);
		close(fd);
	}
}

static int damaged(const struct input_stream *in, const char *format, const char *what,
		   struct error *err)
{
	uint64_t at = in->raw_read - (in->raw_len - in->raw_pos);

	return error_set(err, RC_DATA, "%s: damaged %s data near byte %llu of the file: %s",
			 in->name, format, (unsigned long long)at, what);
}

static int truncated(const struct input_stream *in, const char *format, struct error *err)
{
	return error_set(err, RC_DATA,
			 "%s: truncated: the file ends within the %s data, at "
			 "byte %llu",
			 in->name, format, (unsigned long long)in->raw_read);
}

static int read_plain(struct input_stream *in, uint8_t *dst, size_t cap, size_t *got,
		      struct error *err)
{
	size_t n = in->raw_len - in->raw_pos;

	if (n == 0)
		return read_raw(in, dst, cap, got, err);
	n = n < cap ? n : cap;
	memcpy(dst, in->raw + in->raw_pos, n);
	in->raw_pos += n;
	*got = n;
	return RC_OK;
}

/* Skip zero padding between members, or begin the next member. */
static int next_member(struct input_stream *in, struct error *err)
{
	z_stream *z = in->decoder;

	if (in->raw[in->raw_pos] == 0x1f) {
		in->frame_open = true;
		return inflateReset(z) == Z_OK ? RC_OK : damaged(in, "gzip", "cannot reset", err);
	}
	while (in->raw_pos < in->raw_len && in->raw[in->raw_pos] == 0)
		in->raw_pos++;
	if (in->raw_pos < in->raw_len && in->raw[in->raw_pos] != 0x1f)
		return damaged(in, "gzip",
			       "found other bytes after the last gzip member, expected a gzip "
			       "member or the end",
			       err);
	return RC_OK;
}

static int inflate_some(struct input_stream *in, uint8_t *dst, size_t cap, size_t *got,
			struct error *err)
{
	z_stream *z = in->decoder;
	uInt room = cap < (1u << 30) ? (uInt)cap : 1u << 30;

	z->next_in = in->raw + in->raw_pos;
	z->avail_in = (uInt)(in->raw_len - in->raw_pos);
	z->next_out = dst;
	z->avail_out = room;
	int zrc = inflate(z, Z_NO_FLUSH);
	in->raw_pos = in->raw_len - z->avail_in;
	*got = room - z->avail_out;
	if (zrc != Z_OK && zrc != Z_STREAM_END && zrc != Z_BUF_ERROR)
		return damaged(in, "gzip", z->msg ? z->msg : "needs a dictionary", err);
	in->frame_open = zrc != Z_STREAM_END;
	in->pending = in->frame_open && z->avail_out == 0;
	return RC_OK;
}

static int unzstd_some(struct input_stream *in, uint8_t *dst, size_t cap, size_t *got,
		       struct error *err)
{
	ZSTD_inBuffer src = {in->raw, in->raw_len, in->raw_pos};
	ZSTD_outBuffer out = {dst, cap, 0};
	size_t zrc = ZSTD_decompressStream(in->decoder, &out, &src);

	in->raw_pos = src.pos;
	*got = out.pos;
	if (ZSTD_isError(zrc))
		return damaged(in, "zstd", ZSTD_getErrorName(zrc), err);
	in->frame_open = zrc != 0;
	in->pending = in->frame_open && out.pos == cap;
	return RC_OK;
}

static int unpack_some(struct input_stream *in, uint8_t *dst, size_t cap, size_t *got,
		       struct error *err)
{
	size_t took;
	bool whole;
	const char *fault = unpack(in->decoder, in->raw + in->raw_pos, in->raw_len - in->raw_pos,
				   &took, dst, cap, got, &whole);

	in->raw_pos += took;
	if (fault)
		return damaged(in, format_of(in->kind), fault, err);
	in->frame_open = !whole;
	in->pending = !whole && *got == cap;
	return RC_OK;
}

/* Run one step of the decoder. A step may return no bytes. */
static int decode(struct input_stream *in, uint8_t *dst, size_t cap, size_t *got, struct error *err)
{
	int rc = RC_OK;

	*got = 0;
	if (in->raw_pos == in->raw_len && !in->pending) {
		rc = fill_raw(in, err);
		if (rc == RC_OK && in->raw_eof && in->frame_open)
			return truncated(in, format_of(in->kind), err);
		if (rc != RC_OK || in->raw_eof)
			return rc;
	}
	if (in->kind == INPUT_ZSTD)
		return unzstd_some(in, dst, cap, got, err);
	if (in->kind != INPUT_GZIP)
		return unpack_some(in, dst, cap, got, err);
	if (!in->frame_open)
		rc = next_member(in, err);
	if (rc == RC_OK && in->frame_open)
		rc = inflate_some(in, dst, cap, got, err);
	return rc;
}

/* Report that the file changed. `size` is the current size in bytes. */
static int changed_size(const struct input_stream *in, uint64_t size, struct error *err)
{
	return error_set(
		err, RC_IO,
		"%s: the file changed during the load: found %llu bytes, expected %llu; load it "
		"again when no program writes it",
		in->name, (unsigned long long)size, (unsigned long long)in->stamp.size);
}

int input_unchanged(const struct input_stream *in, struct error *err)
{
	struct stat st;

	if (!in->stamp.regular)
		return RC_OK;
	if (fstat(in->fd, &st) != 0)
		return error_errno(err, "%s", in->name);
	const struct input_stamp now = stamp_of(&st);
	const char *why = difference(&in->stamp, &now);
	if (now.size != in->stamp.size)
		return changed_size(in, now.size, err);
	if (why)
		return error_set(err, RC_IO,
				 "%s: the file changed during the load (%s); load it again when no "
				 "program writes it",
				 in->name, why);
	return RC_OK;
}

/*
 * Check at the end that the reader has read all bytes of the opened file, and that the file has not
 * changed.
 */
static int check_whole(const struct input_stream *in, struct error *err)
{
	if (in->stamp.regular && in->raw_read != in->stamp.size)
		return changed_size(in, in->raw_read, err);
	return input_unchanged(in, err);
}

int input_read(struct input_stream *in, uint8_t *dst, size_t cap, size_t *got, struct error *err)
{
	size_t n = 0;

	*got = 0;
	while (*got < cap) {
		if (in->raw_eof && in->raw_pos == in->raw_len && !in->pending && !in->frame_open)
			return check_whole(in, err);
		int rc = in->kind == INPUT_PLAIN ? read_plain(in, dst + *got, cap - *got, &n, err)
						 : decode(in, dst + *got, cap - *got, &n, err);
		if (rc)
			return rc;
		*got += n;
	}
	return RC_OK;
}

static int skip_in_object(struct input_stream *in, uint64_t bytes, struct error *err)
{
	close(in->fd);
	in->fd = -1;
	in->raw_read = bytes;
	in->raw_pos = in->raw_len = 0;
	in->raw_eof = false;
	return object_start(in->object, bytes, &in->fd, err);
}

int input_skip(struct input_stream *in, uint64_t bytes, struct error *err)
{
	if (in->kind == INPUT_PLAIN && in->stamp.regular) {
		if (lseek(in->fd, (off_t)bytes, SEEK_SET) < 0)
			return error_errno(err, "%s", in->name);
		in->raw_read = bytes;
		file_digest_move(&in->digest, bytes);
		in->raw_pos = in->raw_len = 0;
		in->raw_eof = false;
		return RC_OK;
	}
	if (in->kind == INPUT_PLAIN && in->object)
		return skip_in_object(in, bytes, err);
	uint8_t *passed = mem_alloc(RAW_BYTES);
	int rc = RC_OK;
	for (size_t got = 1; bytes > 0 && rc == RC_OK && got > 0; bytes -= got)
		rc = input_read(in, passed, bytes < RAW_BYTES ? (size_t)bytes : RAW_BYTES, &got,
				err);
	mem_free(passed);
	return rc;
}

void input_digest(const struct input_stream *in, uint8_t digest[16])
{
	file_digest_sum(&in->digest, digest);
}

void input_close(struct input_stream *in)
{
	if (in->kind == INPUT_ZSTD)
		ZSTD_freeDStream(in->decoder);
	if (in->kind > INPUT_ZSTD)
		unpacker_free(in->decoder);
	if (in->kind == INPUT_GZIP && in->decoder) {
		inflateEnd(in->decoder);
		mem_free(in->decoder);
	}
	file_digest_close(&in->digest);
	mem_free(in->raw);
	if (in->fd > STDIN_FILENO)
		close(in->fd);
	else if (in->fed)
		let_go_of_standard_input();
	object_close(in->object);
	*in = (struct input_stream){.fd = -1};
}
