/*
 * storage.h - files in local folders or in HDFS, named by a URI
 *
 *   storage_open; put, write, stat, move, list, remove, make folders; storage_close
 *
 * A URI is one of
 *
 *   /PATH, file:///PATH         this machine
 *   webhdfs://HOST[:PORT]/PATH  HDFS by its REST interface (http; default port 9870)
 *   swebhdfs://HOST[:PORT]/PATH the same by https (9871)
 *   hdfs://HOST[:PORT]/PATH     the same as webhdfs. saltmill does not speak Hadoop RPC: it ignores
 *                               PORT and uses HOST:9870, or the address in `http`
 *
 * HOST[:PORT] may be several NameNodes separated by commas; the one that answers is used. Paths in
 * all calls below are absolute within the storage ("/bulk/ratings"); storage_path returns that of
 * the URI.
 *
 * Several threads may use a storage at once. Temporary failures (no answer, a NameNode in standby
 * or safe mode, a 5xx status) are retried with growing waits until the patience ends: RC_IO.
 * RC_CONFIG: the URI is wrong, or the user lacks permission.
 */
#ifndef SALTMILL_STORAGE_H
#define SALTMILL_STORAGE_H

#include <stdbool.h>

#include "bytes.h"
#include "error.h"
#include "mem.h"

struct storage;

struct storage_options {
	const char *user;    /* HDFS; NULL: $HADOOP_USER_NAME, or the process's user */
	const char *http;    /* HOST[:PORT],...: WebHDFS of an hdfs:// URI; NULL: its hosts */
	const char *ca_file; /* https: PEM; NULL: the system's */
	unsigned patience_s; /* 0: 60 */
};

/* True if the URI is not a folder of this machine. */
bool storage_is_remote(const char *uri);
/* Create a storage; opt may be NULL. Nothing is sent yet. RC_CONFIG: unknown kind of URI. */
int storage_open(struct storage **out, const char *uri, const struct storage_options *opt,
		 struct error *err);
void storage_close(struct storage *s); /* NULL is fine */
/*
 * Prepare for cleaning up after a signal: from now on a signal ends no request, and each request is
 * made once, for a few seconds.
 */
void storage_hurry(struct storage *s);
/* Return the URI's path, without a final slash. */
const char *storage_path(const struct storage *s);
/* Return the user name that the storage sees; NULL if it has none. */
const char *storage_user(const struct storage *s);
/* Return a path with the URI's prefix, for messages; the caller owns it. */
char *storage_name(const struct storage *s, const char *path);

enum storage_kind { STORAGE_NOTHING, STORAGE_FILE, STORAGE_FOLDER };
struct storage_info {
	enum storage_kind kind;
	uint64_t bytes;
	/*
	 * HDFS: the inode id, which stays the same after a move; locally the inode number. 0:
	 * unknown.
	 */
	uint64_t file_id;
	uint64_t block_bytes; /* HDFS; else 0 */
	/* HDFS: encrypted or erasure-coded, so its checksum is of other bytes */
	bool opaque;
	unsigned mode; /* permission bits */
	int64_t modified_ms;
	char owner[128]; /* HDFS, truncated if longer; else "" */
};
/* Get information about a path. A missing one is RC_OK and STORAGE_NOTHING. */
int storage_stat(struct storage *s, const char *path, struct storage_info *out, struct error *err);

struct storage_entry {
	const char *name; /* without the folder */
	struct storage_info info;
};
/* List a folder's entries by name, in *a. RC_IO: the folder does not exist. */
int storage_list(struct storage *s, const char *path, struct arena *a, struct storage_entry **out,
		 size_t *n, struct error *err);
/*
 * Create a folder and its parents. mode is for the last one, whatever the umask; 0: the storage's
 * default. An existing folder is no error.
 */
int storage_make_dirs(struct storage *s, const char *path, unsigned mode, struct error *err);
int storage_set_mode(struct storage *s, const char *path, unsigned mode, struct error *err);
/*
 * Get the free bytes for files at path; a byte counts once for each replica. UINT64_MAX: unknown.
 * Quotas are ignored. Waits for a NameNode that was just started. RC_IO: it is in safe mode, or no
 * DataNode has reported to it.
 */
int storage_free(struct storage *s, const char *path, uint64_t *bytes, struct error *err);
/* The remaining quotas of the folder and its parents; UINT64_MAX: no quota is known. */
struct storage_quota {
	uint64_t names; /* files and folders */
	uint64_t bytes; /* of files, counted as storage_free does */
};
int storage_quota(struct storage *s, const char *path, struct storage_quota *out,
		  struct error *err);
/* RC_CONFIG: the user may not do `what`, such as "-wx", there. */
int storage_may(struct storage *s, const char *path, const char *what, struct error *err);
/* Set the modification time to this machine's clock. */
int storage_touch(struct storage *s, const char *path, struct error *err);
/*
 * Rename without replacing; RC_IO: `to` exists. A retry after a lost answer is recognised by the
 * file_id.
 */
int storage_move(struct storage *s, const char *from, const char *to, struct error *err);
/* Remove a file, or a folder with its content. A missing path is no error. */
int storage_remove(struct storage *s, const char *path, struct error *err);
/* Append a whole file of at most `most` bytes to out; RC_LIMIT: it is larger. */
int storage_read(struct storage *s, const char *path, size_t most, struct buf *out,
		 struct error *err);

/*
 * Copy a file of this machine, replacing path. If path is already the same (by length and
 * checksum), it stays and *kept is true; so an interrupted copy is continued by repeating it. The
 * length and checksum of the result are compared. mode 0: the storage's default. out, the result's
 * information, and kept may be NULL.
 */
int storage_put(struct storage *s, const char *local, const char *path, unsigned mode,
		struct storage_info *out, bool *kept, struct error *err);

/*
 * Write a file piece by piece: begin, add*, then end or abort, which release it. RC_IO: path
 * exists. A failure is remembered, and later calls return it. One thread at a time.
 */
struct storage_file;
/*
 * In addition to the codes of error.h: a connection broke in the middle; writing everything again
 * may succeed.
 */
enum { RC_BROKEN = -9 };
int storage_begin(struct storage *s, struct storage_file **out, const char *path, unsigned mode,
		  struct error *err);
int storage_add(struct storage_file *f, const void *ptr, size_t len, struct error *err);
/*
 * Finish the file: it is durable, and its length and checksum were compared. digest (may be NULL):
 * XXH3-128 of all bytes, as out_digest.
 */
int storage_end(struct storage_file *f, uint8_t digest[16], struct error *err);
void storage_abort(struct storage_file *f); /* removes it; NULL is fine */
/* Write a whole small file in the same way. */
int storage_write(struct storage *s, const char *path, struct bytes content, uint8_t digest[16],
		  struct error *err);

#endif
