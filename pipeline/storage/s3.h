/*
 * s3.h - call S3, or a server with its protocol, and retry temporary errors
 *
 * s3_access.c finds credentials, s3_sign.c signs requests, s3_http.c sends them, s3_list.c lists
 * objects, s3_upload.c writes them, and s3.c is the backend. A path "/KEY" of the storage is the object KEY.
 */
#ifndef SALTMILL_S3_H
#define SALTMILL_S3_H

#include <curl/curl.h>
#include <pthread.h>

#include "backend.h"
#include "xml.h"

/* Where the bucket is, and how to prove the user. The strings are secrets or owned. */
struct s3_access {
	char *url;     /* of the bucket, without a final slash */
	char *region;  /* "eu-central-1" */
	char *key_id;  /* AWS_ACCESS_KEY_ID */
	char *secret;  /* AWS_SECRET_ACCESS_KEY */
	char *session; /* AWS_SESSION_TOKEN, or NULL */
	int64_t end_s; /* the credentials end at this time, in seconds since 1970; 0 means never */
};
/*
 * Find the credentials and the address of a bucket. Returns RC_CONFIG if there are none. Release
 * the result whatever the outcome.
 */
int s3_access_find(struct s3_access *out, const char *bucket, struct error *err);
void s3_access_release(struct s3_access *a);

/* Credentials of the machine's role (s3_metadata.c). The members are owned, or NULL. */
struct s3_role {
	char *key_id, *secret, *session, *region;
	int64_t end_s;
};
/* Ask the machine's metadata service (IMDSv2). Returns false if there is none, or no role. */
bool s3_role_find(struct s3_role *out);

struct s3 {
	struct storage *place;
	char *bucket;
	double patience_s;
	_Atomic bool hurried;  /* set by storage_hurry */
	_Atomic bool given_up; /* the patience has ended, and no server has answered since */
	pthread_mutex_t lock;  /* protects the members below */
	struct s3_access access;
	CURL *idle[16];
	size_t nidle;
};

struct s3_request {
	const char *method;
	const char *path;    /* "/KEY", or "" for the bucket */
	const char *query;   /* "name=value&...", names sorted, values escaped; NULL means none */
	struct bytes body;   /* of PUT and POST */
	const char *version; /* the ETag that the object must have, or NULL */
	bool create;	     /* the object must not exist */
	bool part;	     /* the answer has the bytes [first, first + len) of the object */
	/*
	 * of PUT: "/BUCKET/KEY" with escapes, the object that the server copies; `version` and `part`
	 * then describe this object. NULL means `body`
	 */
	const char *copied;
	uint64_t first, len;
	/* gets the bytes of the object; NULL means the answer's body. Returning false ends the
	 * request */
	storage_take *take;
	void *ctx;
	long stall_s; /* end the request after this time without a byte; 0 means 15 s */
	size_t most;  /* maximum bytes of the body; 0 means 64 KiB */
};

/* One answer. Start with {0}, and release it after use. */
struct s3_answer {
	long status; /* 0 if there is no answer; `why` then has the reason */
	struct buf body;
	uint64_t bytes; /* Content-Length */
	int64_t modified_ms;
	char etag[STORAGE_VERSION], region[64], range[64];
	bool opaque; /* the ETag is not a digest of the bytes, because the server encrypts them */
	unsigned tries; /* requests of s3_ask before this one, whose outcome may be unknown */
	uint64_t mark;	/* of the credentials of the request */
	bool left;	/* `take` ended the request */
	bool slow;	/* the server sent or took too few bytes */
	bool other_range, too_long;
	char why[CURL_ERROR_SIZE + 32];
};
void s3_answer_release(struct s3_answer *a);

/* Find the credentials, and find them again before they end. */
int s3_login(struct s3 *s, struct error *err);
/*
 * Read the settings again after a refusal, because another program may have written new credentials
 * of the profile. Return true if they are new, so that the request may be repeated.
 */
bool s3_renew(struct s3 *s, const struct s3_answer *a);
/* Send a request once, after s3_login. */
void s3_exchange(struct s3 *s, const struct s3_request *r, struct s3_answer *a);
/* Return true if a retry after this answer can help. */
bool s3_passing(const struct s3_answer *a);
/* Return true after a signal, unless the storage cleans up. */
bool s3_stopped(const struct s3 *s);
/* Return the time until which to retry, in seconds of clock_seconds. */
double s3_until(const struct s3 *s);
/*
 * Send a request until the answer is one that a retry would not change, even a refusal. Returns
 * RC_IO when the patience ends, and RC_STOPPED after a signal.
 */
int s3_ask(struct s3 *s, const struct s3_request *r, struct s3_answer *a, struct error *err);
/* Without s3:ListBucket, servers refuse the request for a missing object. */
#define READ_RIGHT "s3:GetObject (or s3:ListBucket, if the object does not exist)"
/* Set the error of a refused request, and return its code. `right` is such as "s3:GetObject". */
int s3_refused(struct s3 *s, const char *path, const char *right, const struct s3_answer *a,
	       struct error *err);
/* Append a value of a query, with escapes. The function also escapes slashes if `all`. */
void s3_escape(struct buf *out, const char *text, bool all);
/* Copy the code of an error's text, such as "NoSuchKey", or "". */
void s3_code(const struct s3_answer *a, char *out, size_t size);

/* --- s3_sign.c --- */

#define S3_STAMP 17 /* "20261128T004500Z" */
struct s3_signed {
	const char *method, *url, *digest; /* `digest` is the SHA-256 of the body in hex */
	const char *stamp;
	const char *key_id, *secret, *region;
	const char *const *lines; /* the headers "name: value", with names in lower case */
	size_t nlines;
};
/* Return the value of the header Authorization. The caller owns it. */
char *s3_authorization(const struct s3_signed *r);
/* Write the time, in seconds since 1970, as the header x-amz-date has it. */
void s3_stamp(char out[S3_STAMP], int64_t seconds);
/* Return the value of the header Host for a URL. The caller owns it. */
char *s3_host(const char *url);
/* Append the SHA-256 in hex. */
void s3_digest(struct buf *hex, struct bytes body);

/* --- s3_list.c --- */

struct s3_listed {
	const char *path; /* "/KEY" */
	bool folder;	  /* several objects below this path; only with `shallow` */
	struct storage_info info;
};
/* Returns RC_END to end the listing early, which is no error. */
typedef int s3_each(void *ctx, const struct s3_listed *o, struct error *err);
/* Call `each` for the objects whose path begins with `prefix`, by name. */
int s3_list(struct s3 *s, const char *prefix, bool shallow, unsigned page, s3_each *each, void *ctx,
	    struct error *err);
/* Abort the unfinished uploads of `path` and below it, as far as the server permits. */
void s3_abort_uploads(struct s3 *s, const char *path);

/* --- s3_upload.c, as struct storage_backend describes --- */

int s3_put(struct storage *s, const char *local, const char *path, unsigned mode,
	   struct storage_info *out, bool *kept, struct error *err);
int s3_begin(struct storage *s, void **file, const char *path, unsigned mode, struct error *err);
int s3_add(void *file, const void *ptr, size_t len, struct error *err);
int s3_end(void *file, uint8_t digest[16], struct error *err);
void s3_abort(void *file);
/* As storage_copy. `s` and `from` have the same server and credentials. */
int s3_copy(struct storage *s, struct storage *from, const char *source,
	    const struct storage_info *of, const char *path, struct error *err);
/* Write a small object. Returns RC_IO if it exists with other bytes. */
int s3_create(struct s3 *s, const char *path, struct bytes content, struct error *err);

#endif
