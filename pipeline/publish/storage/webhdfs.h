/*
 * webhdfs.h - call HDFS over HTTP: NameNodes, one answer, and when to retry
 *
 * webhdfs_http.c sends requests; webhdfs_upload.c writes files; webhdfs.c is the kind of place.
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
	_Atomic size_t active; /* the NameNode that answered last */
	_Atomic bool given_up; /* patience ended and nobody has answered since: try once */
	_Atomic bool hurried;  /* storage_hurry */
	char *user, *ca_file;  /* user: escaped for a URL */
	double patience_s;
	pthread_mutex_t lock; /* guards everything below */
	CURL *idle[IDLE_MOST];
	size_t nidle;
	struct webhdfs_defaults defaults; /* block_bytes 0: not requested yet */
};

/* One answer. Start with {0}; release it. */
struct webhdfs_answer {
	long status; /* 0: no answer; `why` has the reason */
	struct buf body;
	char *location; /* the target of a redirection; NULL: none */
	struct webhdfs_refusal refusal;
	char why[CURL_ERROR_SIZE + 64];
	bool unresolved; /* no answer, because the host has no address */
	char *server;	 /* "http://HOST:PORT" of the request */
};
void webhdfs_answer_release(struct webhdfs_answer *a);

/* Make a handle with the common settings; NULL: libcurl failed. */
CURL *webhdfs_handle(struct webhdfs *w);
/* A CURLOPT_WRITEFUNCTION that appends to a struct buf. */
size_t webhdfs_take(char *data, size_t size, size_t n, void *buf);
/* Read the answer of a handle: status, location, refusal, why. */
void webhdfs_read_answer(CURL *c, CURLcode code, struct webhdfs_answer *a);

/*
 * Send a request to the active NameNode; query: "op=...", escaped. RC_OK: an answer that a retry
 * would not change, whatever it says. No answer, standby, safe mode and 5xx are retried until the
 * patience ends: RC_IO.
 */
int webhdfs_ask(struct webhdfs *w, const char *method, const char *path, const char *query,
		struct webhdfs_answer *a, struct error *err);
/* The same, but a redirection or a `Location` is expected; its URL becomes a->location. */
int webhdfs_ask_location(struct webhdfs *w, const char *method, const char *path, const char *query,
			 struct webhdfs_answer *a, struct error *err);
/* The same: GET the bytes that a DataNode has for path. */
int webhdfs_fetch(struct webhdfs *w, const char *path, const char *query, size_t most,
		  struct webhdfs_answer *a, struct error *err);
/* Request another page ("/jmx?...") of the NameNode that answered last, once. */
void webhdfs_page(struct webhdfs *w, const char *page, struct webhdfs_answer *a);
/* Did a signal come that ends requests? */
bool webhdfs_stopped(const struct webhdfs *w);
/* Can a retry help? */
bool webhdfs_passing(const struct webhdfs_answer *a);
/* Set the error for an answer other than 200: "cannot WHAT PATH: ...". */
int webhdfs_refused(const struct webhdfs *w, const char *what, const char *path,
		    const struct webhdfs_answer *a, struct error *err);
/* The time until which to retry; now, if the servers were given up before. */
double webhdfs_until(const struct webhdfs *w);
/* Append text as a part of a URL; slashes stay. */
void webhdfs_escape(struct buf *b, const char *text);

/* The defaults of new files; requested once. */
int webhdfs_defaults(struct webhdfs *w, struct webhdfs_defaults *out, struct error *err);

/* Write files, as struct storage_backend says. */
int webhdfs_put(struct storage *s, const char *local, const char *path, unsigned mode,
		struct storage_info *out, bool *kept, struct error *err);
int webhdfs_begin(struct storage *s, void **file, const char *path, unsigned mode,
		  struct error *err);
int webhdfs_add(void *file, const void *ptr, size_t len, struct error *err);
int webhdfs_end(void *file, uint8_t digest[16], struct error *err);
void webhdfs_abort(void *file);

/* webhdfs_room.c, as struct storage_backend says. */
int webhdfs_free(struct storage *s, const char *path, uint64_t *bytes, struct error *err);
int webhdfs_quota(struct storage *s, const char *path, struct storage_quota *out,
		  struct error *err);
int webhdfs_may(struct storage *s, const char *path, const char *what, struct error *err);

/* webhdfs.c */
int webhdfs_stat(struct storage *s, const char *path, struct storage_info *out, struct error *err);
int webhdfs_remove(struct webhdfs *w, const char *path, bool *found, struct error *err);
/*
 * sum: the file's checksum, if the server returns a comparable one. *open: the file was never
 * closed, so its bytes are unknown: its writer has died or still writes.
 */
int webhdfs_checksum(struct webhdfs *w, const char *path, uint8_t sum[HDFS_SUM_BYTES], bool *known,
		     bool *open, struct error *err);

#endif
