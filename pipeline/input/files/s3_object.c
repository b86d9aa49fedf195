/*
 * s3_object.c - read an object by range requests, which libcurl signs (AWS Signature Version 4)
 *
 * libcurl 7.88 signs a request only as S3 expects if the request has the header
 * x-amz-content-sha256, and if the URL is already escaped. Each request demands the version (ETag)
 * of the first one, so bytes of two versions never mix.
 */
#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "input/s3_object.h"
#include "late.h"
#include "mem.h"
#include "pool.h"

#define PATIENCE_S 60.0 /* retries end after this time without a byte */
#define CONNECT_S  10L
#define STALL_S	   60L
#define BODY_MOST  4096 /* of an error's text */
/* the SHA-256 of no bytes: requests that read have no body */
#define NO_BODY                                                                                    \
	"x-amz-content-sha256: "                                                                   \
	"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

struct s3_object {
	const char *uri;
	struct s3_access access;
	uint64_t bytes, got; /* the object's size, and the bytes that were passed on */
	char etag[128];
	int to; /* the thread's end of the socket, -1 if there is no thread */
	pthread_t thread;
	bool started, reader_gone;
	_Atomic bool closing; /* the reader wants no more bytes */
	struct error failure; /* of the thread; its code is RC_OK if all bytes were passed on */
};

/* One answer. */
struct s3_answer {
	struct s3_object *o;
	long status; /* 0 if there is none */
	bool head;
	bool other_range; /* the bytes are not those that were asked for */
	uint64_t first;	  /* offset that was asked for */
	uint64_t bytes;
	char etag[128], region[64], range[64];
	char body[BODY_MOST + 1]; /* of an error */
	size_t body_len;
	char why[CURL_ERROR_SIZE];
};

/* --- one exchange --- */

static int stop_early(void *ctx, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	const struct s3_object *o = ctx;

	(void)a, (void)b, (void)c, (void)d;
	return stop_flag != 0 || o->closing;
}

/* Copy the value of a header line with this name. */
static void take_value(char *out, size_t size, const char *line, size_t n, const char *name)
{
	size_t len = strlen(name);

	if (n <= len || strncasecmp(line, name, len) != 0 || line[len] != ':')
		return;
	for (len++; len < n && line[len] == ' '; len++)
		;
	while (n > len && strchr("\r\n ", line[n - 1]))
		n--;
	snprintf(out, size, "%.*s", (int)(n - len), line + len);
}

static size_t take_header(char *line, size_t size, size_t n, void *ctx)
{
	struct s3_answer *a = ctx;
	char length[32] = "";

	n *= size;
	take_value(a->etag, sizeof a->etag, line, n, "etag");
	take_value(a->region, sizeof a->region, line, n, "x-amz-bucket-region");
	take_value(a->range, sizeof a->range, line, n, "content-range");
	take_value(length, sizeof length, line, n, "content-length");
	if (length[0])
		a->bytes = strtoull(length, NULL, 10);
	return n;
}

static bool pass_on(struct s3_object *o, const char *data, size_t n)
{
	while (n) {
		ssize_t sent = send(o->to, data, n, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		o->reader_gone = sent < 0;
		if (sent < 0)
			return false;
		data += sent;
		n -= (size_t)sent;
		o->got += (uint64_t)sent;
	}
	return true;
}

/* Return true if the answer begins at the byte that was asked for: "bytes FIRST-LAST/ALL". */
static bool has_our_range(const struct s3_answer *a)
{
	char *end;

	return strncmp(a->range, "bytes ", 6) == 0 && a->range[6] >= '0' && a->range[6] <= '9' &&
	       strtoull(a->range + 6, &end, 10) == a->first && *end == '-';
}

/* Pass the object's bytes on, and keep the text of an error. */
static size_t take_body(char *data, size_t size, size_t n, void *ctx)
{
	struct s3_answer *a = ctx;
	struct s3_object *o = a->o;
	size_t room = BODY_MOST - a->body_len;

	n *= size;
	if (a->head)
		return n;
	if (o->to >= 0 && a->status == 206 && !has_our_range(a)) {
		a->other_range = true;
		return 0;
	}
	if (o->to >= 0 && a->status == 206)
		return n <= o->bytes - o->got && pass_on(o, data, n) ? n : 0;
	memcpy(a->body + a->body_len, data, n < room ? n : room);
	a->body_len += n < room ? n : room;
	return n;
}

/* Take the status from the first line, so that take_body knows what it gets. */
static size_t take_line(char *line, size_t size, size_t n, void *ctx)
{
	struct s3_answer *a = ctx;

	if (n * size > 9 && strncmp(line, "HTTP/", 5) == 0)
		a->status = strtol(strchr(line, ' ') ? strchr(line, ' ') : "", NULL, 10);
	return take_header(line, size, n, ctx);
}

static void set_up(CURL *c, struct s3_answer *a, const char *user, const char *sign)
{
	const struct s3_object *o = a->o;

	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(c, CURLOPT_URL, o->access.url);
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
	curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, STALL_S);
	curl_easy_setopt(c, CURLOPT_USERPWD, user);
	curl_easy_setopt(c, CURLOPT_AWS_SIGV4, sign);
	curl_easy_setopt(c, CURLOPT_NOBODY, (long)a->head);
	curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, take_line);
	curl_easy_setopt(c, CURLOPT_HEADERDATA, a);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, a);
	curl_easy_setopt(c, CURLOPT_ERRORBUFFER, a->why);
	curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, stop_early);
	curl_easy_setopt(c, CURLOPT_XFERINFODATA, o);
}

static struct curl_slist *add_line(struct curl_slist *list, const char *name, const char *value)
{
	char *line = mem_format("%s: %s", name, value);
	struct curl_slist *longer = curl_slist_append(list, line);

	mem_free(line);
	return longer ? longer : list;
}

/* Ask for the object's head, or for its bytes from o->got on. */
static void exchange(struct s3_object *o, bool head, struct s3_answer *a)
{
	const struct s3_access *x = &o->access;
	CURL *c = curl_easy_init();
	char *user = mem_format("%s:%s", x->key_id, x->secret);
	char *sign = mem_format("aws:amz:%s:s3", x->region);
	char range[48];

	*a = (struct s3_answer){.o = o, .head = head, .first = o->got};
	struct curl_slist *lines = curl_slist_append(NULL, NO_BODY);
	if (x->session)
		lines = add_line(lines, "x-amz-security-token", x->session);
	if (!head && o->bytes) {
		snprintf(range, sizeof range, "bytes=%llu-", (unsigned long long)o->got);
		lines = add_line(lines, "range", range);
	}
	if (!head && o->etag[0])
		lines = add_line(lines, "if-match", o->etag);
	if (c) {
		set_up(c, a, user, sign);
		curl_easy_setopt(c, CURLOPT_HTTPHEADER, lines);
		CURLcode code = curl_easy_perform(c);
		if (code != CURLE_OK && !a->why[0])
			snprintf(a->why, sizeof a->why, "%s", curl_easy_strerror(code));
		if (code == CURLE_OK)
			a->why[0] = 0;
	}
	curl_easy_cleanup(c);
	curl_slist_free_all(lines);
	explicit_bzero(user, strlen(user));
	mem_free(user);
	mem_free(sign);
}

/* --- what an answer means --- */

/* Copy the text of an element of the error's XML. */
static void element(char *out, size_t size, const char *xml, const char *open)
{
	const char *at = strstr(xml, open);

	out[0] = 0;
	if (at)
		snprintf(out, size, "%.*s", (int)strcspn(at + strlen(open), "<"),
			 at + strlen(open));
}

static bool passing(const struct s3_answer *a)
{
	char code[64];

	element(code, sizeof code, a->body, "<Code>");
	return a->status <= 0 || a->why[0] || a->status == 429 || a->status >= 500 ||
	       strcmp(code, "RequestTimeout") == 0;
}

/* Return the fix for an error of S3. */
static const char *fix(const char *code)
{
	if (strcmp(code, "SignatureDoesNotMatch") == 0)
		return "; check AWS_SECRET_ACCESS_KEY and the region";
	if (strcmp(code, "InvalidAccessKeyId") == 0)
		return "; check AWS_ACCESS_KEY_ID";
	if (strcmp(code, "RequestTimeTooSkewed") == 0)
		return "; let this machine follow an NTP server (check with `chronyc tracking`)";
	if (strcmp(code, "ExpiredToken") == 0)
		return "; get a new AWS_SESSION_TOKEN";
	return "; the user needs the right s3:GetObject for this key";
}

static int refused(const struct s3_object *o, const struct s3_answer *a, struct error *err)
{
	char code[64], message[200], region[64];

	element(code, sizeof code, a->body, "<Code>");
	element(message, sizeof message, a->body, "<Message>");
	element(region, sizeof region, a->body, "<Region>");
	if (a->other_range)
		return error_set(err, RC_IO,
				 "%s: found an answer with Content-Range \"%s\", expected bytes "
				 "from %llu on",
				 o->uri, a->range, (unsigned long long)a->first);
	if (a->status <= 0 || a->why[0])
		return error_set(err, RC_IO, "%s: no answer: %s", o->uri, a->why);
	if (a->status == 404)
		return error_set(err, RC_IO, "%s: found no such object%s", o->uri,
				 strcmp(code, "NoSuchBucket") == 0 ? ", because there is no such "
								     "bucket"
								   : "");
	if (a->status == 412)
		return error_set(err, RC_IO,
				 "%s: the object changed during the load; load it again when no "
				 "program writes it",
				 o->uri);
	if (a->region[0])
		snprintf(region, sizeof region, "%s", a->region);
	if (region[0] && strcmp(region, o->access.region) != 0)
		return error_set(err, RC_CONFIG,
				 "%s: the bucket is in region %s, and the request was for %s; set "
				 "AWS_REGION=%s",
				 o->uri, region, o->access.region, region);
	if (a->status == 403)
		return error_set(err, RC_CONFIG, "%s: access denied: %s %s%s", o->uri, code,
				 message, fix(code));
	return error_set(err, a->status < 500 ? RC_CONFIG : RC_IO, "%s: found status %ld: %s %s",
			 o->uri, a->status, code, message);
}

/* Return RC_OK if the caller may try again, and the error otherwise. */
static int try_again(const struct s3_object *o, const struct s3_answer *a, unsigned n, double until,
		     struct error *err)
{
	if (stop_check(err))
		return RC_STOPPED;
	int rc = passing(a) ? backoff_wait(n, until, err) : RC_END;
	return rc == RC_END ? refused(o, a, err) : rc;
}

/* --- the object --- */

/* A refused HEAD has no text, so ask for the text of the refusal. */
static int look(struct s3_object *o, struct error *err)
{
	double until = clock_seconds() + PATIENCE_S;
	struct s3_answer a;

	for (unsigned n = 0;; n++) {
		exchange(o, true, &a);
		if (a.status == 200 && !a.why[0])
			break;
		if (a.status >= 400 && a.status < 500)
			exchange(o, false, &a);
		int rc = try_again(o, &a, n, until, err);
		if (rc)
			return rc;
	}
	o->bytes = a.bytes;
	snprintf(o->etag, sizeof o->etag, "%s", a.etag);
	return RC_OK;
}

int s3_open(struct s3_object **out, const char *uri, struct error *err)
{
	struct s3_object *o = mem_calloc(1, sizeof *o);

	*o = (struct s3_object){.uri = uri, .to = -1};
	*out = o;
	int rc = late_need(LATE_CURL, err);
	if (rc == RC_OK)
		rc = s3_access_find(&o->access, uri, err);
	return rc ? error_prefix(err, "%s: ", uri) : look(o, err);
}

/* Read all bytes. Each byte that arrives renews the patience. */
static void *read_all(void *ctx)
{
	struct s3_object *o = ctx;
	double until = clock_seconds() + PATIENCE_S;
	struct s3_answer a;

	for (unsigned n = 0; o->got < o->bytes && !o->reader_gone && !o->closing; n++) {
		uint64_t before = o->got;

		exchange(o, false, &a);
		if (o->got > before) {
			n = 0;
			until = clock_seconds() + PATIENCE_S;
		}
		if (o->got < o->bytes && !o->reader_gone && !o->closing &&
		    try_again(o, &a, n, until, &o->failure))
			break;
	}
	shutdown(o->to, SHUT_WR);
	return NULL;
}

int s3_start(struct s3_object *o, int *fd, struct error *err)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return error_errno(err, "%s: cannot make a socket", o->uri);
	o->to = ends[1];
	*fd = ends[0];
	errno = pthread_create(&o->thread, NULL, read_all, o);
	if (errno)
		return error_errno(err, "%s: cannot start a thread", o->uri);
	o->started = true;
	return RC_OK;
}

int s3_end(struct s3_object *o, struct error *err)
{
	if (o->started)
		pthread_join(o->thread, NULL);
	o->started = false;
	if (o->failure.code)
		*err = o->failure;
	return o->failure.code;
}

void s3_close(struct s3_object *o)
{
	if (!o)
		return;
	o->closing = true;
	if (o->started)
		pthread_join(o->thread, NULL);
	if (o->to >= 0)
		close(o->to);
	s3_access_release(&o->access);
	mem_free(o);
}
