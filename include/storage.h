/*
 * storage.h - files in local folders, in HDFS or in S3, named by a URI
 *
 *   storage_open; put, write, read, stat, move, list, remove, make folders; storage_close
 *
 * A URI is one of
 *
 *   /PATH, file:///PATH         this machine
 *   webhdfs://HOST[:PORT]/PATH  HDFS over its REST interface (http; default port 9870)
 *   swebhdfs://HOST[:PORT]/PATH the same with https (default port 9871)
 *   hdfs://HOST[:PORT]/PATH     the same as webhdfs. saltmill does not speak Hadoop RPC: it ignores
 *                               PORT and uses HOST:9870, or the address in `http`
 *   s3://BUCKET/KEY             objects of S3, or of a server with its protocol. The environment has
 *                               region, endpoint and credentials, as for the AWS command line. S3 has
 *                               no folders: those functions do nothing, and a move copies
 *
 * HOST[:PORT] may be several NameNodes separated by commas. saltmill uses the active one. All
 * functions take absolute paths within the storage ("/bulk/ratings"). storage_path returns the path
 * part of the URI.
 *
 * Several threads may use a storage at once. Functions retry after temporary failures (no answer, a
 * NameNode in standby or safe mode, a 5xx status) with growing waits. They return RC_IO when the
 * patience ends, and RC_CONFIG if the URI is wrong or the user lacks permission.
 */
#ifndef SALTMILL_STORAGE_H
#define SALTMILL_STORAGE_H

#include <stdbool.h>

#include "bytes.h"
#include "error.h"
#include "mem.h"

struct storage;
struct hadoop_token;
struct hadoop_tokens;

struct storage_options {
	const char *user; /* user of HDFS; NULL means $HADOOP_USER_NAME, or the process's user */
	/* WebHDFS servers of an hdfs:// URI as HOST[:PORT],...; NULL means the URI's hosts */
	const char *http;
	/* PEM file of CA certificates for https; NULL means the certificates of the system */
	const char *ca_file;
	unsigned patience_s; /* seconds of retries; 0 means 60 */
	uint64_t rate;	     /* bytes a second of all storage_put together; 0 means no limit */
	bool keep_token;     /* storage_close does not cancel the token of storage_token */
};

/*
 * Set the options of a storage that is opened without options. Call this function before the first
 * thread. The strings must live as long as the storages.
 */
void storage_use(const struct storage_options *defaults);
/* Return true if the URI is not a folder of this machine. */
bool storage_is_remote(const char *uri);
/*
 * Create a storage, without a request to a server. NULL means the options of storage_use. Returns
 * RC_CONFIG if the URI's scheme is unknown.
 */
int storage_open(struct storage **out, const char *uri, const struct storage_options *opt,
		 struct error *err);
void storage_close(struct storage *s); /* NULL is fine */
/*
 * Prepare for cleaning up after a signal. From now on, signals do not end requests. The client
 * makes each request once, and ends it after a few seconds.
 */
void storage_hurry(struct storage *s);
/* Return true if a move is one atomic rename. Otherwise, it copies a file of STORAGE_MOVE_MOST bytes. */
bool storage_renames(const struct storage *s);
#define STORAGE_MOVE_MOST ((size_t)1 << 30)
/* Return true if the files are on this machine, so that functions with local paths can read them. */
bool storage_is_here(const struct storage *s);
/* Return the URI's path, without a final slash. */
const char *storage_path(const struct storage *s);
/* Return the user name that the storage uses, or NULL if there is no user name. */
const char *storage_user(const struct storage *s);
/* Return a path with the URI's prefix, for messages. The caller owns the result. */
char *storage_name(const struct storage *s, const char *path);

#define STORAGE_VERSION 128
enum storage_kind { STORAGE_NOTHING, STORAGE_FILE, STORAGE_FOLDER };
struct storage_info {
	enum storage_kind kind;
	uint64_t bytes;
	/*
	 * The inode id in HDFS, or the local inode number. A move does not change this id. 0 means
	 * unknown.
	 */
	uint64_t file_id;
	uint64_t block_bytes; /* block size in HDFS; else 0 */
	/*
	 * HDFS: the file is encrypted or erasure-coded, so its checksum does not follow from the
	 * file's bytes
	 */
	bool opaque;
	unsigned mode; /* permission bits */
	int64_t modified_ms;
	char owner[128]; /* owner in HDFS, truncated if longer; else "" */
	/* S3: the object's ETag, which differs for other bytes; "" if unknown */
	char version[STORAGE_VERSION];
};
/* Get information about a path. For a missing path, the result is RC_OK with STORAGE_NOTHING. */
int storage_stat(struct storage *s, const char *path, struct storage_info *out, struct error *err);

struct storage_entry {
	const char *name; /* name without the folder */
	struct storage_info info;
};
/* List a folder's entries by name, in *a. Returns RC_IO if the folder does not exist. */
int storage_list(struct storage *s, const char *path, struct arena *a, struct storage_entry **out,
		 size_t *n, struct error *err);
/*
 * Create a folder and its parents. `mode` is the mode of the last folder, whatever the umask.
 * `mode` 0 means the storage's default. An existing folder is not an error.
 */
int storage_make_dirs(struct storage *s, const char *path, unsigned mode, struct error *err);
int storage_set_mode(struct storage *s, const char *path, unsigned mode, struct error *err);
/*
 * Get the free bytes for files at `path`. A byte counts once for each replica. Quotas are ignored.
 * The call waits for a NameNode that has just started. *bytes is UINT64_MAX if the number is
 * unknown.
 */
int storage_free(struct storage *s, const char *path, uint64_t *bytes, struct error *err);
/* The remaining quotas of the folder and its parents; UINT64_MAX means no known quota. */
struct storage_quota {
	uint64_t names; /* files and folders */
	uint64_t bytes; /* bytes of files, counted as storage_free does */
};
int storage_quota(struct storage *s, const char *path, struct storage_quota *out,
		  struct error *err);
/*
 * Check the user's permissions at `path`. Returns RC_CONFIG if the user lacks a permission of
 * `what`, such as "-wx".
 */
int storage_may(struct storage *s, const char *path, const char *what, struct error *err);
/* Set the modification time to this machine's clock. */
int storage_touch(struct storage *s, const char *path, struct error *err);
/*
 * Rename without replacing. Returns RC_IO if `to` exists. After a lost answer, the `file_id` shows
 * whether the call has succeeded.
 */
int storage_move(struct storage *s, const char *from, const char *to, struct error *err);
/* Remove a file, or a folder with its content. A missing path is not an error. */
int storage_remove(struct storage *s, const char *path, struct error *err);
/* S3: abort unfinished uploads below a path, as far as the user may. They take space invisibly. */
void storage_tidy(struct storage *s, const char *path);
/* Append a whole file of at most `most` bytes to `out`. Returns RC_LIMIT if the file is larger. */
int storage_read(struct storage *s, const char *path, size_t most, struct buf *out,
		 struct error *err);

/*
 * Read `len` bytes of a file from `offset` on. The range must be within the file. Returns RC_DATA if
 * the file is shorter.
 */
int storage_read_at(struct storage *s, const char *path, uint64_t offset, void *to, size_t len,
		    struct error *err);

/* Take bytes. Return false to end the reading. */
typedef bool storage_take(void *ctx, const void *ptr, size_t len);
/*
 * Pass on the bytes from `first` to the end of a remote file, which storage_stat described as `of`.
 * After a broken connection, the function passes on the rest of the same version. Returns RC_IO if
 * the file has changed, and RC_END if `take` returned false or after storage_hurry.
 */
int storage_pass(struct storage *s, const char *path, const struct storage_info *of, uint64_t first,
		 storage_take *take, void *ctx, struct error *err);

/*
 * A delegation token, with which the servers of a secured cluster read the user's files (Hadoop's
 * Token). It is a secret.
 */
struct storage_token {
	struct bytes identifier, password; /* they borrow from `raw` */
	char kind[64], service[280];
	struct buf raw; /* owned by the caller */
};
/*
 * Get a token of at most an hour, for servers that open files below `uri`. Returns RC_CONFIG if the
 * storage gives no token.
 */
int storage_token(struct storage *s, const char *uri, struct storage_token *out, struct error *err);

/*
 * Renew or cancel the token of `tokens` that is for this storage, with a ticket. *which points to this
 * token. *until_ms is the time until which a renewed token is valid, as of clock_wall_ms. Returns
 * RC_CONFIG if there is no such token, or if the user may not.
 */
int storage_token_renew(struct storage *s, const struct hadoop_tokens *tokens, bool cancel,
			const struct hadoop_token **which, int64_t *until_ms, struct error *err);

/*
 * Copy a file of this machine to `path`, and replace an existing file. If that file has the same
 * length and checksum, it stays and *kept is true. So a caller can repeat an interrupted copy of
 * many files. After RC_OK, length and checksum of the copy match the source. `mode` 0 means the
 * storage's default. *out receives information about the copy. `out` and `kept` may be NULL.
 */
int storage_put(struct storage *s, const char *local, const char *path, unsigned mode,
		struct storage_info *out, bool *kept, struct error *err);

/*
 * Let the servers copy the object `source` of `from`, which storage_stat described as `of`, to
 * `path`. The bytes do not pass this machine. An existing object is replaced. After RC_OK, length and
 * ETag prove that the copy has the same bytes. Returns RC_END, and the reason in *err, if the servers
 * do not copy the object, or if the ETags prove nothing; `path` may then have an object.
 */
int storage_copy(struct storage *s, struct storage *from, const char *source,
		 const struct storage_info *of, const char *path, struct error *err);

/*
 * Write a file piece by piece, with storage_begin, storage_add*, then storage_end or storage_abort.
 * The last call releases the file. storage_begin returns RC_IO if `path` exists. After a failure,
 * later calls return the same error. Only one thread at a time may use a file.
 */
struct storage_file;
/*
 * A result in addition to the results in error.h. RC_BROKEN means that a connection broke during
 * the transfer. A second attempt to write the whole file may succeed.
 */
enum { RC_BROKEN = -9 };
int storage_begin(struct storage *s, struct storage_file **out, const char *path, unsigned mode,
		  struct error *err);
int storage_add(struct storage_file *f, const void *ptr, size_t len, struct error *err);
/*
 * Finish the file. After RC_OK the file is durable, and its length and checksum match the added
 * bytes. `digest` receives XXH3-128 of all bytes, as from out_digest. `digest` may be NULL.
 */
int storage_end(struct storage_file *f, uint8_t digest[16], struct error *err);
void storage_abort(struct storage_file *f); /* removes the file; NULL is fine */
/* Write a whole small file, with the guarantees and `digest` of storage_end. */
int storage_write(struct storage *s, const char *path, struct bytes content, uint8_t digest[16],
		  struct error *err);

#endif
