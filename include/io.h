/*
 * io.h - files: written with a sticky error and synced, read whole, removed whole
 *
 *   out_open, out_write*, out_finish   or   out_open, out_write*, out_abort
 */
#ifndef SALTMILL_IO_H
#define SALTMILL_IO_H

#include <stdbool.h>

#include "bytes.h"
#include "error.h"

struct out_file {
	int fd;		 /* -1 when closed */
	char *path;	 /* owned */
	uint64_t offset; /* bytes written so far, those in buf included */
	uint64_t written,
		started; /* bytes given to the system; of them, writing to disk was asked */
	struct buf buf;
	size_t buffer_bytes;
	bool temporary; /* removed before long: nothing waits for the disk */
	int errnum;	/* the first failure; later writes do nothing */
	void *digest;	/* XXH3 state over everything written */
};

/* Create path (it must not exist).  buffer_bytes 0 means 256 KiB. */
int out_open(struct out_file *o, const char *path, size_t buffer_bytes, struct error *err);
/* Append.  A failure is remembered and reported by out_finish. */
void out_write(struct out_file *o, const void *ptr, size_t len);
/* Flush, fsync (but what is temporary), close.  Reports the first failure, with path and offset. */
int out_finish(struct out_file *o, struct error *err);
/*
 * The same, but fsync and close may be left to s (NULL: they are not); what fails there is told by
 * syncer_finish.
 */
struct syncer;
int out_finish_later(struct out_file *o, struct syncer *s, struct error *err);
/* XXH3-128 of all bytes written, canonical (big-endian) form; before out_finish or out_abort. */
void out_digest(const struct out_file *o, uint8_t digest[16]);
/* Close and unlink.  Harmless on a file that is finished or {.fd = -1}. */
void out_abort(struct out_file *o);

/*
 * A thread that makes written files durable while others go on: an fsync waits for the disk, not
 * for a processor.
 */
struct syncer *syncer_new(void);
/* Any thread: take over fd to sync and close it; false: it has enough to do, do it yourself. */
bool syncer_take(struct syncer *s, int fd, const char *path);
/* Wait until all that was taken is on disk; free s (NULL is fine).  Reports the first failure. */
int syncer_finish(struct syncer *s, struct error *err);

/*
 * Open a file to read it; negative: an RC_*, with PATH and what the system says.  Nobody may ever
 * write to a FIFO: a signal (stop_flag) ends that wait with RC_STOPPED.
 */
int io_open_input(const char *path, struct error *err);
/* Read exactly len bytes at offset; a short file is RC_IO. */
int io_pread(int fd, void *buf, size_t len, uint64_t offset, const char *path, struct error *err);
/* All of it, to the end of out. */
int io_read_file(const char *path, struct buf *out, struct error *err);
/* RC_LIMIT when the file has more than `most` bytes, of which no more are read. */
int io_read_file_upto(const char *path, size_t most, struct buf *out, struct error *err);
int io_write_file(const char *path, struct bytes content, struct error *err);
/*
 * path has all of content or is as it was before, whatever happens, a power loss included; once
 * this is 0 it has content.  PATH.temp is used meanwhile.  crash: a step of crash.h between writing
 * and renaming, or NULL.
 */
int io_replace_file(const char *path, struct bytes content, const char *crash, struct error *err);
/* XXH3-128 of a file's bytes. */
int io_digest_file(const char *path, uint8_t digest[16], uint64_t *size, struct error *err);
/* Is there anything of that name?  Where nobody can tell (EIO, say), that is an error, not a no. */
int io_exists(const char *path, bool *there, struct error *err);
int io_make_dir(const char *path, struct error *err);
/*
 * A new folder below parent (NULL: TMPDIR, or /tmp) whose name begins with prefix; *path is owned
 * by the caller, NULL when there is none.
 */
int io_make_temp_dir(char **path, const char *parent, const char *prefix, struct error *err);
int io_sync_dir(const char *path, struct error *err);
/* The folder that path is in: a new file's or folder's own name is on the disk then. */
int io_sync_parent(const char *path, struct error *err);
/* Remove a folder and all below it.  A missing folder is no error.  Links are not followed. */
int io_remove_tree(const char *path, struct error *err);
/* Remove all that is in an open folder, except the entry `but` (NULL: none); false: errno. */
bool io_empty_dir(int folder, const char *but);
/* An unlinked temporary file in dir; a crash leaves nothing.  Returns the fd or RC_IO. */
int io_open_temp(const char *dir, struct error *err);

/*
 * --- as whom servers of Hadoop are asked ---
 */

/* told, or else $HADOOP_USER_NAME, or who runs this (its number when it has no name); the caller's.
 */
char *who_acts(const char *told);

#endif
