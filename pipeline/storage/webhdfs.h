/*
 * webhdfs.h - call HDFS over HTTP, and retry temporary errors
 *
 * webhdfs_http.c sends requests, webhdfs_upload.c writes files, and webhdfs.c is the backend.
 */
#ifndef SALTMILL_WEBHDFS_H
#define SALTMILL_WEBHDFS_H

#include <curl/curl.h>
#include <pthread.h>

#include "backend.h"
#include "webhdfs_answers.h"

enum { IDLE_MOST = 16 };

struct webhdfs {
	struct storage *place;
	char **bases; /* "http://HOST:PORT" of the NameNodes */
	size_t nbases;
	char *authority;       /* of the URI: HOST[:PORT],... or the name of a service */
	bool logical;	       /* `authority` is the name of a service in Hadoop's settings */
	_Atomic size_t active; /* the NameNode that answered last */
	/*
	 * true if the patience has ended and no server has answered since; then each request has
	 * one attempt
	 */
	_Atomic bool given_up;
	_Atomic bool secured;	     /* HDFS has demanded Kerberos, and there is a token */
	_Atomic bool hurried;	     /* set by storage_hurry */
	char *user, *ca_file;	     /* `user`, with escapes for a URL */
	char *named_user;	     /* escaped name of the user that the caller named, or NULL */
	pthread_mutex_t login_lock;  /* protects the next two members; locked for a request */
	struct webhdfs_token *token; /* NULL if HDFS has not demanded Kerberos */
	char *simple_user;	     /* the user's name before the login, or NULL */
	bool keep_token;	     /* do not cancel the token at the end */
	double patience_s;
	pthread_mutex_t lock; /* protects the members below */
	CURL *idle[IDLE_MOST];
	size_t nidle;
	struct webhdfs_defaults defaults; /* `block_bytes` is 0 before the first request */
};

#define WEBHDFS_ANSWER_MOST ((size_t)1 << 20)

/* One answer. Start with {0}, and release the answer after use. */
struct webhdfs_answer {
	size_t most;   /* maximum bytes of the body; 0 means WEBHDFS_ANSWER_MOST */
	bool too_long; /* the body was longer, and the reader has cut its end */
	bool stopped;  /* a signal ended the exchange */
	/* the KDC gives no ticket for the server; `status` is 401, and `why` has the reason */
	bool no_ticket;
	long status; /* 0 if there is no answer; `why` then has the reason */
	struct buf body;
	char *location; /* target of a redirection, NULL if none */
	struct webhdfs_refusal refusal;
	char why[CURL_ERROR_SIZE + 512];
	bool unresolved; /* true if the host has no address */
	char *server;	 /* "http://HOST:PORT" of the request */
};
void webhdfs_answer_release(struct webhdfs_answer *a);

/* Create a handle with the common settings. Return NULL if libcurl failed. */
CURL *webhdfs_handle(struct webhdfs *w);
/* Append to the body of a struct webhdfs_answer, as a CURLOPT_WRITEFUNCTION. */
size_t webhdfs_take(char *data, size_t size, size_t n, void *answer);
/* Read the answer of a handle into the members status, location, refusal and why. */
void webhdfs_read_answer(CURL *c, CURLcode code, struct webhdfs_answer *a);

/*
 * Send a request to the active NameNode. `query` is "op=...", escaped. Return RC_OK with any answer
 * that a retry would not change, even a refusal. Retry after no answer, standby, safe mode and 5xx,
 * and return RC_IO when the patience ends.
 */
int webhdfs_ask(struct webhdfs *w, const char *method, const char *path, const char *query,
		struct webhdfs_answer *a, struct error *err);
/* Send a request about "/" as webhdfs_ask does, but prove the user with a ticket (SPNEGO). */
int webhdfs_ask_by_ticket(struct webhdfs *w, const char *method, const char *query,
			  struct webhdfs_answer *a, struct error *err);
/* The same with one attempt for each NameNode. `a->status` is 0 if none answered. */
void webhdfs_try_by_ticket(struct webhdfs *w, const char *method, const char *query,
			   struct webhdfs_answer *a);
/* Return true if the server demands a login, or no longer knows the token. */
bool webhdfs_wants_login(const struct webhdfs_answer *a);
/*
 * Send a request as webhdfs_ask does, but expect a redirection or a `Location`. Store the URL in
 * `a->location`.
 */
int webhdfs_ask_location(struct webhdfs *w, const char *method, const char *path, const char *query,
			 struct webhdfs_answer *a, struct error *err);
/* Read bytes of `path` from a DataNode, with the retries of webhdfs_ask. */
int webhdfs_fetch(struct webhdfs *w, const char *path, const char *query, size_t most,
		  struct webhdfs_answer *a, struct error *err);
/* Request another page ("/jmx?...") of the NameNode that answered last. Do not retry. */
void webhdfs_page(struct webhdfs *w, const char *page, struct webhdfs_answer *a);
/* Return true after a signal that ends requests. */
bool webhdfs_stopped(const struct webhdfs *w);
/* Return true if a retry after this answer can help. */
bool webhdfs_passing(const struct webhdfs_answer *a);
/*
 * Set the error "cannot WHAT PATH: ..." for an answer other than 200. If a signal ended the
 * exchange, return RC_STOPPED instead.
 */
int webhdfs_refused(const struct webhdfs *w, const char *what, const char *path,
		    const struct webhdfs_answer *a, struct error *err);
/*
 * Return the time until which to retry, in seconds of clock_seconds. The result is the current time
 * if the patience has already ended.
 */
double webhdfs_until(const struct webhdfs *w);
/* Append `text` as a part of a URL. The function does not escape slashes. */
void webhdfs_escape(struct buf *b, const char *text);

/* Return the server's defaults for new files. Only the first call sends a request. */
int webhdfs_defaults(struct webhdfs *w, struct webhdfs_defaults *out, struct error *err);

/* Write files, as struct storage_backend describes. */
int webhdfs_put(struct storage *s, const char *local, const char *path, unsigned mode,
		struct storage_info *out, bool *kept, struct error *err);
int webhdfs_begin(struct storage *s, void **file, const char *path, unsigned mode,
		  struct error *err);
int webhdfs_add(void *file, const void *ptr, size_t len, struct error *err);
int webhdfs_end(void *file, uint8_t digest[16], struct error *err);
void webhdfs_abort(void *file);

/* Report free space and quotas, as struct storage_backend describes (webhdfs_room.c). */
int webhdfs_free(struct storage *s, const char *path, uint64_t *bytes, struct error *err);
int webhdfs_quota(struct storage *s, const char *path, struct storage_quota *out,
		  struct error *err);
int webhdfs_may(struct storage *s, const char *path, const char *what, struct error *err);

/* --- webhdfs_address.c --- */

/*
 * Set the addresses of the NameNodes and the authority. `authority` is that of the URI, and may be
 * empty for hdfs:///PATH. `http` lists the addresses of an hdfs:// URI, or is NULL.
 */
int webhdfs_find_namenodes(struct webhdfs *w, const char *scheme, const char *authority,
			   const char *http, struct error *err);

/* --- webhdfs_token.c --- */

/* Get a token, unless there is one from this time of clock_seconds or later. */
int webhdfs_login(struct webhdfs *w, double drawn_before_s, struct error *err);
/* Return the newest token, which lives until webhdfs_logout, or NULL. */
struct webhdfs_token *webhdfs_token_now(struct webhdfs *w);
/*
 * Renew the token of a long request if half of its life is over. Return the seconds that this took.
 * A failure has no effect, because the server reports a token that has ended.
 */
double webhdfs_keep_alive(struct webhdfs *w, struct webhdfs_token *t);
/* Return the part of a query that names the user. The caller owns it. It may be a secret. */
char *webhdfs_identity(struct webhdfs *w);
void webhdfs_logout(struct webhdfs *w); /* cancels the tokens */
int webhdfs_token(struct storage *s, const char *uri, struct storage_token *out, struct error *err);
int webhdfs_renew(struct storage *s, const struct hadoop_tokens *tokens, bool cancel,
		  const struct hadoop_token **which, int64_t *until_ms, struct error *err);
/*
 * Read the four parts of a token (Token.encodeToUrlString). `raw` gets the bytes that `out` borrows.
 * Returns RC_DATA if a part is missing.
 */
int token_read(const char *text, struct buf *raw, struct storage_token *out);

/* webhdfs.c */
int webhdfs_stat(struct storage *s, const char *path, struct storage_info *out, struct error *err);
int webhdfs_remove(struct webhdfs *w, const char *path, bool *found, struct error *err);
/*
 * Set `sum` to the file's checksum, and `*known` to true if the server returns a comparable
 * checksum. Set `*open` if nobody closed the file, because its writer died or still writes. The
 * bytes of such a file are unknown.
 */
int webhdfs_checksum(struct webhdfs *w, const char *path, uint8_t sum[HDFS_SUM_BYTES], bool *known,
		     bool *open, struct error *err);

#endif
