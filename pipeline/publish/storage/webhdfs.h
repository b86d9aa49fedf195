/*
 * webhdfs.h - asking HDFS over HTTP: NameNodes, one answer, and when to ask again
 *
 * webhdfs_http.c asks; webhdfs_upload.c writes files; webhdfs.c is the kind of place.
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
	_Atomic size_t active; /* of them, that answered last */
	_Atomic bool given_up; /* patience ended and nobody has answered since: ask once */
	_Atomic bool hurried;  /* storage_hurry */
	char *user, *ca_file;  /* user: as it stands in a URL */
	double patience_s;
	pthread_mutex_t lock; /* all below */
	CURL *idle[IDLE_MOST];
	size_t nidle;
	struct webhdfs_defaults defaults; /* block_bytes 0: not asked yet */
};

/* One answer.  {0}; release. */
struct webhdfs_answer {
	long status; /* 0: none came, and `why` says why */
	struct buf body;
	char *location; /* where a redirection leads to; NULL: it is none */
	struct webhdfs_refusal refusal;
	char why[CURL_ERROR_SIZE + 64];
	bool unresolved; /* none came, as the host has no address */
	char *server;	 /* "http://HOST:PORT" that was asked */
};
void webhdfs_answer_release(struct webhdfs_answer *a);

/* A new handle with what all have in common; NULL: libcurl has none. */
CURL *webhdfs_handle(struct webhdfs *w);
/* Where curl puts an answer's bytes: CURLOPT_WRITEFUNCTION, of a struct buf. */
size_t webhdfs_take(char *data, size_t size, size_t n, void *buf);
/* What came back over a handle: status, location, refusal, why. */
void webhdfs_read_answer(CURL *c, CURLcode code, struct webhdfs_answer *a);

/*
 * Ask the active NameNode; query: "op=...", all escaped.  RC_OK: an answer came that another try
 * would not change, whatever it says.  No answer, standby, safe mode, 5xx: again, until the
 * patience ends: RC_IO.
 */
int webhdfs_ask(struct webhdfs *w, const char *method, const char *path, const char *query,
		struct webhdfs_answer *a, struct error *err);
/* The same where a redirection or a `Location` is expected, whose URL becomes a->location. */
int webhdfs_ask_location(struct webhdfs *w, const char *method, const char *path, const char *query,
			 struct webhdfs_answer *a, struct error *err);
/* GET from a DataNode what the NameNode has for path, in the same way. */
int webhdfs_fetch(struct webhdfs *w, const char *path, const char *query, size_t most,
		  struct webhdfs_answer *a, struct error *err);
/* Ask the NameNode that answered last, once, for another of its pages: "/jmx?...". */
void webhdfs_page(struct webhdfs *w, const char *page, struct webhdfs_answer *a);
/* Did a signal come that ends requests? */
bool webhdfs_stopped(const struct webhdfs *w);
/* Is it worth another try? */
bool webhdfs_passing(const struct webhdfs_answer *a);
/* The sentence for an answer that is no 200: "cannot WHAT PATH: ...". */
int webhdfs_refused(const struct webhdfs *w, const char *what, const char *path,
		    const struct webhdfs_answer *a, struct error *err);
/* Until when to try; at once when the servers were given up before. */
double webhdfs_until(const struct webhdfs *w);
/* Append text as a part of a URL; slashes stay. */
void webhdfs_escape(struct buf *b, const char *text);

/* Of new files; asked once. */
int webhdfs_defaults(struct webhdfs *w, struct webhdfs_defaults *out, struct error *err);

/* Writing files, as struct storage_backend says. */
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
 * sum: the file's, if it tells one that can be compared.  *open: nobody knows its bytes, as it was
 * never closed: who wrote it has died, or writes still.
 */
int webhdfs_checksum(struct webhdfs *w, const char *path, uint8_t sum[HDFS_SUM_BYTES], bool *known,
		     bool *open, struct error *err);

#endif
