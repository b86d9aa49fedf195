/*
 * io.h - files: write with sync, read whole, replace atomically, remove trees
 *
 *   out_open, out_write*, out_finish   or   out_open, out_write*, out_abort
 *
 * A write error is sticky: out_finish reports the first one.
 */
#ifndef SALTMILL_IO_H
#define SALTMILL_IO_H

#include <stdbool.h>

#include "bytes.h"
#include "error.h"

struct out_file {
	int fd;		 /* -1 when closed */
	char *path;	 /* owned */
	uint64_t offset; /* bytes written so far, including those in buf */
	uint64_t written,
		/*
		 * written: passed to the system; started: of them, writeback to disk was requested
		 */
		started;
	struct buf buf;
	size_t buffer_bytes;
	bool temporary; /* removed soon, so it is not synced */
	int errnum;	/* the first failure; later writes do nothing */
	void *digest;	/* XXH3 state over all written bytes */
};

/* Create path (it must not exist).  buffer_bytes 0 means 256 KiB. */
int out_open(struct out_file *o, const char *path, size_t buffer_bytes, struct error *err);
/* Append. An error is remembered, and out_finish reports it. */
void out_write(struct out_file *o, const void *ptr, size_t len);
/* Flush, fsync (unless temporary) and close. Reports the first error, with path and offset. */
int out_finish(struct out_file *o, struct error *err);
/*
 * The same, but s may do the fsync and close later (NULL: they are done here). syncer_finish
 * reports the errors of s.
 */
struct syncer;
int out_finish_later(struct out_file *o, struct syncer *s, struct error *err);
/*
 * Get XXH3-128 of all written bytes, in canonical (big-endian) form; before out_finish or
 * out_abort.
 */
void out_digest(const struct out_file *o, uint8_t digest[16]);
/* Close and unlink. Safe for a file that is finished or {.fd = -1}. */
void out_abort(struct out_file *o);

/*
 * A thread that syncs written files while others continue: an fsync waits for the disk and needs no
 * processor.
 */
struct syncer *syncer_new(void);
/*
 * Take over fd, to sync and close it. False: the queue is full, the caller syncs itself. Any
 * thread.
 */
bool syncer_take(struct syncer *s, int fd, const char *path);
/* Wait until all files are on disk, then free s (NULL is fine). Reports the first error. */
int syncer_finish(struct syncer *s, struct error *err);

/*
 * Open a file for reading. Negative: an RC_*, with path and the system's reason. A FIFO may never
 * get a writer, so a signal (stop_flag) ends that wait with RC_STOPPED.
 */
int io_open_input(const char *path, struct error *err);
/* Read exactly len bytes at offset; a short file is RC_IO. */
int io_pread(int fd, void *buf, size_t len, uint64_t offset, const char *path, struct error *err);
/* Append the whole file to out. */
int io_read_file(const char *path, struct buf *out, struct error *err);
/* The same; RC_LIMIT if the file has more than `most` bytes. No more bytes are read. */
int io_read_file_upto(const char *path, size_t most, struct buf *out, struct error *err);
int io_write_file(const char *path, struct bytes content, struct error *err);
/*
 * Replace path atomically and durably: after a crash or power loss it has either the old or the new
 * content, and after RC_OK the new one. Uses PATH.temp. crash: a step of crash_at (run.h) between
 * writing and renaming, or NULL.
 */
int io_replace_file(const char *path, struct bytes content, const char *crash, struct error *err);
/* Compute XXH3-128 of a file's bytes. */
int io_digest_file(const char *path, uint8_t digest[16], uint64_t *size, struct error *err);
/*
 * Test whether the name exists. An error that leaves it unknown (EIO, say) is an error, not "no".
 */
int io_exists(const char *path, bool *there, struct error *err);
int io_make_dir(const char *path, struct error *err);
/*
 * Create a folder in parent (NULL: TMPDIR, or /tmp) whose name begins with prefix. The caller owns
 * *path; NULL on failure.
 */
int io_make_temp_dir(char **path, const char *parent, const char *prefix, struct error *err);
int io_sync_dir(const char *path, struct error *err);
/* Sync the folder that contains path, so that a new name is on disk. */
int io_sync_parent(const char *path, struct error *err);
/* Remove a folder and its content. A missing folder is no error. Links are not followed. */
int io_remove_tree(const char *path, struct error *err);
/*
 * Remove the content of an open folder, except the entry `but` (NULL: none). False: errno is set.
 */
bool io_empty_dir(int folder, const char *but);
/* Open an unlinked temporary file in dir; a crash leaves nothing. Returns the fd or RC_IO. */
int io_open_temp(const char *dir, struct error *err);

/* --- the user name for Hadoop's servers --- */

/*
 * Return told, or else $HADOOP_USER_NAME, or the process's user (its number if it has no name). The
 * caller owns it.
 */
char *who_acts(const char *told);

#endif
