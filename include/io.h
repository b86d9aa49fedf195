/*
 * io.h - write files durably, read whole files, replace them atomically, remove trees
 *
 *   out_open, out_write*, out_finish   or   out_open, out_write*, out_abort
 *
 * After a write error, later writes do nothing, and out_finish reports the first error.
 */
#ifndef SALTMILL_IO_H
#define SALTMILL_IO_H

#include <stdbool.h>

#include "bytes.h"
#include "error.h"
#include "mem.h"

struct out_file {
	int fd;		 /* file descriptor; -1 after the close */
	char *path;	 /* owned */
	uint64_t offset; /* bytes written so far, including the bytes in `buf` */
	uint64_t written,
		/*
		 * `written` counts the bytes that the system has. `started` counts those bytes
		 * whose writeback to disk has begun
		 */
		started;
	struct buf buf;
	size_t buffer_bytes;
	bool temporary; /* the caller removes the file soon, so it needs no sync */
	int errnum;	/* the first failure; later writes do nothing */
	void *digest;	/* XXH3 state over all written bytes */
};

/*
 * Create the new file `path`. If `buffer_bytes` is 0, the buffer has 256 KiB. Returns RC_IO if the
 * file exists.
 */
int out_open(struct out_file *o, const char *path, size_t buffer_bytes, struct error *err);
/* Append bytes. out_finish reports an error of this call. */
void out_write(struct out_file *o, const void *ptr, size_t len);
/*
 * Flush, fsync (unless `temporary` is true) and close. Returns the first error, with path and
 * offset.
 */
int out_finish(struct out_file *o, struct error *err);
/*
 * Finish the file as out_finish does, but `s` may do the fsync and close later. If `s` is NULL,
 * this call does both. syncer_finish reports the errors of `s`.
 */
struct syncer;
int out_finish_later(struct out_file *o, struct syncer *s, struct error *err);
/*
 * Get XXH3-128 of all written bytes, in canonical (big-endian) form. Call out_digest before
 * out_finish or out_abort.
 */
void out_digest(const struct out_file *o, uint8_t digest[16]);
/* Close and unlink the file. The call does nothing for a finished file or {.fd = -1}. */
void out_abort(struct out_file *o);

/*
 * Start a thread that syncs written files while other threads continue. An fsync only waits for the
 * disk and needs no processor.
 */
struct syncer *syncer_new(void);
/*
 * Take ownership of `fd`, to sync and close it. Returns false if the queue is full. The caller must
 * then sync and close `fd`. Any thread may call this function.
 */
bool syncer_take(struct syncer *s, int fd, const char *path);
/* Wait until all files are on disk, then free `s`. NULL is fine. Returns the first error. */
int syncer_finish(struct syncer *s, struct error *err);

/*
 * Open a file for reading and return its fd. A negative result is an RC_*, with the path and the
 * system's reason in `err`. Returns RC_STOPPED if a signal sets stop_flag while the call waits for
 * the writer of a FIFO.
 */
int io_open_input(const char *path, struct error *err);
/* Read exactly `len` bytes at `offset`. Returns RC_IO if the file is shorter. */
int io_pread(int fd, void *buf, size_t len, uint64_t offset, const char *path, struct error *err);
/* Append the whole file to `out`. */
int io_read_file(const char *path, struct buf *out, struct error *err);
/*
 * Append a file of at most `most` bytes to `out`. Returns RC_LIMIT if the file is longer, without
 * reading the rest.
 */
int io_read_file_upto(const char *path, size_t most, struct buf *out, struct error *err);
int io_write_file(const char *path, struct bytes content, struct error *err);
/*
 * Replace the file `path` atomically and durably. After a crash or power loss, the file has either
 * the old or the new content. After RC_OK, the file has the new content. The temporary file is
 * PATH.temp. `crash` is a step of crash_at (run.h) between writing and renaming, or NULL.
 */
int io_replace_file(const char *path, struct bytes content, const char *crash, struct error *err);
/* Compute XXH3-128 of a file's bytes. */
int io_digest_file(const char *path, uint8_t digest[16], uint64_t *size, struct error *err);
/*
 * Test whether the name exists. If the system does not answer this, for example after EIO, the
 * result is an error and not "no".
 */
int io_exists(const char *path, bool *there, struct error *err);
int io_make_dir(const char *path, struct error *err);
/*
 * Create a folder in `parent` with a name that begins with `prefix`. If `parent` is NULL, the
 * folder is in TMPDIR, or in /tmp. The caller owns *path, which is NULL on failure.
 */
int io_make_temp_dir(char **path, const char *parent, const char *prefix, struct error *err);
int io_sync_dir(const char *path, struct error *err);
/* Sync the folder that contains `path`, so that a new name is on disk. */
int io_sync_parent(const char *path, struct error *err);
/*
 * Rename the synced file `temp` to the new name `path`, and sync `folder`, which contains both. Never
 * replaces a file. On failure, the temporary file is removed. Allocates nothing.
 */
int io_name_file(const char *temp, const char *path, const char *folder, struct error *err);
/*
 * Remove a folder and its content. A missing folder is not an error. The function does not follow
 * links.
 */
int io_remove_tree(const char *path, struct error *err);
/*
 * Remove the content of an open folder, except the entry `but`. If `but` is NULL, the function
 * removes all entries. On failure, returns false and sets errno.
 */
bool io_empty_dir(int folder, const char *but);
/*
 * Open an unlinked temporary file in `dir`, so that a crash leaves no file. Returns the fd or
 * RC_IO.
 */
int io_open_temp(const char *dir, struct error *err);

/* --- the user for Hadoop's servers --- */

/*
 * Return a copy of `told`. If `told` is NULL, return $HADOOP_USER_NAME or the name of the process's
 * user. A user without a name gets its number. The caller owns the result.
 */
char *who_acts(const char *told);

/* Protection of messages after a Kerberos login. The values are the bits of SASL (RFC 4752). */
enum protection {
	PROTECT_STRONGEST = 0, /* the strongest that the server offers */
	PROTECT_AUTHENTICATION = 1,
	PROTECT_INTEGRITY = 2,
	PROTECT_PRIVACY = 4
};
/* How this process logs in to secured clusters and trusts their servers. All members may be NULL. */
struct login {
	const char *principal; /* "alice@REALM"; NULL means the owner of the ticket cache */
	const char *keytab;    /* NULL means the ticket cache, which `kinit` fills */
	/* HBase's principal, as in hbase-site; _HOST is the server's name. NULL: hbase/_HOST@REALM */
	const char *server;
	enum protection protection;
	/*
	 * PEM files. If there is a CA, every connection to HBase and every https connection uses
	 * TLS with it. The key may be in the file of the client's certificate.
	 */
	const char *ca_file, *cert_file, *key_file;
};
/*
 * Set the login of the process, before the first thread and the first connection. A keytab's
 * tickets stay in memory. Returns RC_CONFIG if there is a keytab without a principal. The strings
 * must live as long as the login.
 */
int login_use(const struct login *l, struct error *err);
/* Check that the keytab can be read. */
int login_check(struct error *err);
/* Limit each wait for the KDC (default: none but libkrb5's). */
void login_limit(int64_t ms);
const struct login *login_used(void);

#define LOGIN_USER 128
struct login_ticket {
	char principal[256];   /* "alice@REALM" */
	char user[LOGIN_USER]; /* "alice", as HBase and HDFS name the user */
	int64_t left_s;	       /* seconds until the ticket ends */
};
/*
 * Get the ticket that authenticates this process: from the ticket cache, or from the KDC with the
 * keytab if the last ticket has ended. Any thread may call this function before each connection.
 * Returns RC_CONFIG if there is no valid ticket. The message contains the command to get one. A
 * signal ends the wait for a silent KDC within half a second, with RC_STOPPED. The limit of
 * login_limit ends it with RC_IO.
 */
int login_ticket(struct login_ticket *out, struct error *err);
/*
 * Return a fix, or "", if the servers have no name for a user (KerberosName.java), as for one of
 * another realm.
 */
const char *login_rule_advice(const char *said);

/*
 * Append the text of a failure of GSSAPI to the string `why` of `size` bytes: that of Kerberos (`minor`),
 * or if it has none, that of GSSAPI (`major`).
 */
void login_reason(char *why, size_t size, uint32_t major, uint32_t minor);

/* How login_begin finds a service: */
enum login_service {
	LOGIN_PRINCIPAL, /* "hbase/HOST@REALM" is its principal */
	LOGIN_HOST,	 /* "hbase@HOST": libkrb5 finds the realm, with krb5.conf and the KDC */
	LOGIN_WEB	 /* "HTTP@HOST": the same, and the messages are those of SPNEGO */
};
/* The client's side of a login to a service (RFC 2743). */
struct login_context {
	struct gss_ctx_id_struct *context; /* gss_ctx_id_t */
	struct gss_name_struct *server;	   /* gss_name_t */
	enum login_service how;
	struct buf token; /* the next message for the server */
	bool done;	  /* the server has proved its identity */
};
/*
 * Get the ticket for a service, and make the first message to it in out->token. Returns RC_CONFIG
 * and libkrb5's reason, or as login_ticket RC_STOPPED. The caller releases *out whatever the result.
 */
int login_begin(struct login_context *out, const char *service, enum login_service how,
		struct error *err);
/* Take the server's answer, and make the next message, which may be empty. */
int login_continue(struct login_context *c, struct bytes answer, struct error *err);
void login_context_release(struct login_context *c);
/*
 * Return true if login_ticket or login_begin gave up while libkrb5 waited for the KDC.
 * Its thread still uses libkrb5, so the process must end with _exit.
 */
bool login_left_a_query(void);

/* --- tokens for processes without a ticket (base/tokens.c) --- */

/* A token of Hadoop (org.apache.hadoop.security.token.Token). It is a secret. */
struct hadoop_token {
	struct bytes identifier, password;
	const char *kind;    /* one of the kinds below; others exist */
	const char *service; /* the cluster id of HBase, or "IP:PORT" or "ha-hdfs:NAME" of HDFS */
};
#define HBASE_TOKEN   "HBASE_AUTH_TOKEN"
#define HDFS_TOKEN    "HDFS_DELEGATION_TOKEN"
#define WEBHDFS_TOKEN "WEBHDFS delegation" /* with "S" before it: by https */
/* Return true for the three kinds of HDFS, whose tokens have the same bytes. */
bool token_is_of_hdfs(const struct hadoop_token *t);
struct hadoop_tokens {
	struct hadoop_token *item;
	size_t count;
	struct arena arena; /* the tokens' memory */
};
/*
 * Read a credentials file of Hadoop (Credentials.java): the form of Writables or the protobuf form.
 * Ignores its secrets that are not tokens. Returns RC_DATA for another file. No message contains
 * its bytes. The caller releases the arena whatever the result.
 */
int tokens_read(struct hadoop_tokens *out, struct bytes file, struct error *err);
/* Append the credentials file with these tokens, in the form of Writables. */
void tokens_write(struct buf *b, const struct hadoop_tokens *t);
/*
 * Copy the short name of the token's user ("alice") to `out`. Returns false if the kind is another
 * than the above, or if the identifier has another form.
 */
bool token_user(const struct hadoop_token *t, char *out, size_t size);
/*
 * Take a number of Hadoop's WritableUtils and as many bytes. Returns false if they are not there.
 * token_put appends both.
 */
bool token_take(struct bytes *rest, struct bytes *part);
void token_put(struct buf *b, struct bytes part);
/*
 * Return the tokens of this process, from the file that $HADOOP_TOKEN_FILE_LOCATION names, as YARN
 * and Spark set it. Each call reads the file if another program has replaced it. If that fails, the
 * earlier tokens remain, or there is no token and *problem is the reason; else it is NULL. `problem`
 * may be NULL. The tokens live as long as the process.
 */
const struct hadoop_tokens *login_tokens(const char **problem);
/*
 * Add to *err that a server refused a token of the file, and the command that replaces the file.
 * `servers` are the command's arguments. Returns err->code.
 */
int login_token_refused(const char *servers, struct error *err);
/* Return true if the login allows the user of a token: no other principal is demanded. */
bool login_allows(const char *token_user);

#endif
