/*
 * s3_http.c - send one signed request, and retry until there is an answer
 *
 * The digest of the body in the header x-amz-content-sha256 also lets the server refuse a damaged
 * body.
 */
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>

#include "hash.h"
#include "late.h"
#include "pool.h"
#include "s3.h"

#define CONNECT_S      10L
#define STALL_S	       15L  /* seconds without a byte */
#define SLOW_BYTES     1024 /* bytes a second after STALL_S; a slower server counts as silent */
#define HURRY_S	       5L   /* limit of a whole request after storage_hurry */
#define ANSWER_MOST    ((size_t)64 << 10)
#define RENEW_BEFORE_S 300

/* --- one exchange --- */

/* What the callbacks of libcurl need. */
struct exchange {
	struct s3 *s;
	const struct s3_request *r;
	struct s3_answer *a;
	double began_s; /* of clock_seconds, without the time in `take` */
	long stall_s;
};

bool s3_stopped(const struct s3 *s)
{
	return stop_flag != 0 && !s->hurried;
}

/* CURLOPT_LOW_SPEED_LIMIT does not end an answer of a byte a second. */
static bool is_slow(const struct exchange *x, curl_off_t moved)
{
	double most = (double)x->stall_s + (double)moved / SLOW_BYTES;

	return clock_seconds() - x->began_s > most;
}

static int stop_early(void *ctx, curl_off_t all, curl_off_t got, curl_off_t most, curl_off_t sent)
{
	const struct exchange *x = ctx;

	(void)all, (void)most;
	x->a->slow = is_slow(x, got + sent);
	/* nobody needs the rest of an object after storage_hurry */
	return x->a->slow || s3_stopped(x->s) || (x->s->hurried && x->r->take);
}

/* Copy the value of a header line with this name. */
static bool take_value(char *out, size_t size, const char *line, size_t n, const char *name)
{
	size_t len = strlen(name);

	if (n <= len || strncasecmp(line, name, len) != 0 || line[len] != ':')
		return false;
	for (len++; len < n && line[len] == ' '; len++)
		;
	while (n > len && strchr("\r\n ", line[n - 1]))
		n--;
	/* a version that does not fit is unknown */
	snprintf(out, size, "%.*s", n - len < size ? (int)(n - len) : 0, line + len);
	return true;
}

static void take_date(struct s3_answer *a, const char *text)
{
	struct tm at = {0};

	if (strptime(text, "%a, %d %b %Y %H:%M:%S", &at))
		a->modified_ms = (int64_t)timegm(&at) * 1000;
}

static size_t take_line(char *line, size_t size, size_t n, void *ctx)
{
	const struct exchange *x = ctx;
	struct s3_answer *a = x->a;
	char text[64] = "";

	n *= size;
	if (n > 9 && strncmp(line, "HTTP/", 5) == 0)
		a->status = strtol(line + 9, NULL, 10);
	take_value(a->etag, sizeof a->etag, line, n, "etag");
	take_value(a->region, sizeof a->region, line, n, "x-amz-bucket-region");
	take_value(a->range, sizeof a->range, line, n, "content-range");
	if (take_value(text, sizeof text, line, n, "content-length"))
		a->bytes = strtoull(text, NULL, 10);
	if (take_value(text, sizeof text, line, n, "last-modified"))
		take_date(a, text);
	if (take_value(text, sizeof text, line, n, "x-amz-server-side-encryption"))
		a->opaque |= strncmp(text, "aws:", 4) == 0;
	a->opaque |= take_value(text, sizeof text, line, n,
				"x-amz-server-side-encryption-customer-algorithm");
	return n;
}

/* Return true if the answer begins at the byte that was asked for: "bytes FIRST-LAST/ALL". */
static bool has_our_range(const struct exchange *x)
{
	const char *range = x->a->range;
	char *end;

	return strncmp(range, "bytes ", 6) == 0 && range[6] >= '0' && range[6] <= '9' &&
	       strtoull(range + 6, &end, 10) == x->r->first && *end == '-';
}

/* Pass the object's bytes on, or keep the text of the answer. */
static size_t take_body(char *data, size_t size, size_t n, void *ctx)
{
	struct exchange *x = ctx;
	struct s3_answer *a = x->a;
	size_t most = x->r->most ? x->r->most : ANSWER_MOST;

	n *= size;
	a->other_range = a->status == 206 && x->r->part && !has_our_range(x);
	if (a->other_range)
		return 0;
	if (x->r->take && a->status / 100 == 2) {
		double before = clock_seconds();

		a->left = !x->r->take(x->r->ctx, data, n);
		x->began_s += clock_seconds() - before;
		return a->left ? 0 : n;
	}
	a->too_long = a->body.len + n > most;
	if (a->too_long)
		return 0;
	buf_append(&a->body, data, n);
	return n;
}

static struct curl_slist *add_line(struct curl_slist *list, const char *name, const char *value)
{
	char *line = mem_format("%s: %s", name, value);
	struct curl_slist *longer = curl_slist_append(list, line);

	mem_free(line);
	return longer ? longer : list;
}

/* Add the digests of the body. Servers compare one or the other. */
static struct curl_slist *add_digests(struct curl_slist *list, struct bytes body,
				      const char *digest)
{
	uint8_t sum[16];

	list = add_line(list, "x-amz-content-sha256", digest);
	if (body.len) {
		struct buf text = {0};

		md5(body, sum);
		text_base64(&text, bytes_of(sum, sizeof sum));
		buf_put(&text, 0);
		list = add_line(list, "content-md5", (const char *)text.ptr);
		buf_release(&text);
	}
	return list;
}

static struct curl_slist *lines_of(const struct s3_request *r, const char *session,
				   const char *digest)
{
	struct curl_slist *lines = add_digests(NULL, r->body, digest);
	char range[64];

	if (session)
		lines = add_line(lines, "x-amz-security-token", session);
	if (r->copied)
		lines = add_line(lines, "x-amz-copy-source", r->copied);
	if (r->part) {
		snprintf(range, sizeof range, "bytes=%llu-%llu", (unsigned long long)r->first,
			 (unsigned long long)(r->first + r->len - 1));
		lines = add_line(lines, r->copied ? "x-amz-copy-source-range" : "range", range);
	}
	if (r->version && *r->version)
		lines = add_line(lines, r->copied ? "x-amz-copy-source-if-match" : "if-match",
				 r->version);
	if (r->create)
		lines = add_line(lines, "if-none-match", "*");
	/* libcurl would name the type of a form */
	return r->body.len || strcmp(r->method, "PUT") == 0
		       ? add_line(lines, "content-type", "application/octet-stream")
		       : lines;
}

/* Add the time, the host and the signature of all headers. */
static struct curl_slist *sign(struct curl_slist *list, const struct s3_request *r,
			       const struct s3_access *access, const char *url, const char *digest)
{
	const char *lines[16];
	char stamp[S3_STAMP], *host = s3_host(url);
	struct s3_signed s = {.method = r->method,
			      .url = url,
			      .digest = digest,
			      .stamp = stamp,
			      .key_id = access->key_id,
			      .secret = access->secret,
			      .region = access->region,
			      .lines = lines};

	s3_stamp(stamp, clock_wall_ms() / 1000);
	list = add_line(list, "host", host);
	list = add_line(list, "x-amz-date", stamp);
	for (const struct curl_slist *l = list; l && s.nlines < sizeof lines / sizeof *lines;
	     l = l->next)
		lines[s.nlines++] = l->data;
	char *proof = s3_authorization(&s);
	list = add_line(list, "authorization", proof);
	mem_free(proof);
	mem_free(host);
	return list;
}

static CURL *take_handle(struct s3 *s)
{
	pthread_mutex_lock(&s->lock);
	CURL *c = s->nidle ? s->idle[--s->nidle] : NULL;
	pthread_mutex_unlock(&s->lock);
	if (!c)
		return curl_easy_init();
	curl_easy_reset(c);
	return c;
}

/* Keep a handle, whose connection the next request can use. */
static void give_handle(struct s3 *s, CURL *c)
{
	pthread_mutex_lock(&s->lock);
	bool kept = s->nidle < sizeof s->idle / sizeof *s->idle;
	if (kept)
		s->idle[s->nidle++] = c;
	pthread_mutex_unlock(&s->lock);
	if (!kept)
		curl_easy_cleanup(c);
}

static void set_up(CURL *c, struct exchange *x, const char *url)
{
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(c, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(c, CURLOPT_URL, url);
	curl_easy_setopt(c, CURLOPT_PATH_AS_IS, 1L); /* as the signature contains it */
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT,
			 x->stall_s < CONNECT_S ? x->stall_s : CONNECT_S);
	curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, x->stall_s);
	if (x->s->hurried)
		curl_easy_setopt(c, CURLOPT_TIMEOUT, HURRY_S);
	curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, take_line);
	curl_easy_setopt(c, CURLOPT_HEADERDATA, x);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, x);
	curl_easy_setopt(c, CURLOPT_ERRORBUFFER, x->a->why);
	curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, stop_early);
	curl_easy_setopt(c, CURLOPT_XFERINFODATA, x);
	if (strcmp(x->r->method, "HEAD") == 0) {
		curl_easy_setopt(c, CURLOPT_NOBODY, 1L);
	} else if (strcmp(x->r->method, "PUT") == 0 || strcmp(x->r->method, "POST") == 0) {
		curl_easy_setopt(c, CURLOPT_POST, 1L);
		curl_easy_setopt(c, CURLOPT_POSTFIELDS,
				 x->r->body.len ? (const char *)x->r->body.ptr : "");
		curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)x->r->body.len);
		curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, x->r->method);
	} else {
		curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, x->r->method);
	}
}

/* Perform the request with these credentials, which other threads may replace. */
static void perform(struct exchange *x, const struct s3_access *access)
{
	struct buf key = {0}, digest = {0};
	CURL *c = take_handle(x->s);

	s3_escape(&key, x->r->path, false);
	buf_put(&key, 0);
	char *url = mem_format("%s%s%s%s", access->url, *x->r->path ? (const char *)key.ptr : "/",
			       x->r->query ? "?" : "", x->r->query ? x->r->query : "");
	s3_digest(&digest, x->r->body);
	buf_put(&digest, 0);
	struct curl_slist *lines = lines_of(x->r, access->session, (const char *)digest.ptr);
	lines = sign(lines, x->r, access, url, (const char *)digest.ptr);
	CURLcode code = CURLE_FAILED_INIT;
	if (c) {
		set_up(c, x, url);
		curl_easy_setopt(c, CURLOPT_HTTPHEADER, lines);
		code = curl_easy_perform(c);
		curl_easy_setopt(c, CURLOPT_ERRORBUFFER, NULL);
		give_handle(x->s, c);
	}
	if (code == CURLE_OK)
		x->a->why[0] = 0;
	else if (x->a->too_long || x->a->slow || !x->a->why[0])
		snprintf(x->a->why, sizeof x->a->why, "%s",
			 x->a->too_long ? "the answer is too long"
			 : x->a->slow	? "fewer than 1 KiB a second arrive"
					: curl_easy_strerror(code));
	curl_slist_free_all(lines);
	buf_release(&key);
	buf_release(&digest);
	mem_free(url);
}

void s3_answer_release(struct s3_answer *a)
{
	buf_release(&a->body);
	*a = (struct s3_answer){0};
}

static char *copy(const char *text)
{
	return text ? mem_strdup(text) : NULL;
}

/* A number that differs for other credentials. */
static uint64_t mark_of(const struct s3_access *a)
{
	const char *session = a->session ? a->session : "";

	return XXH3_64bits_withSeed(session, strlen(session),
				    XXH3_64bits(a->key_id, strlen(a->key_id)));
}

void s3_exchange(struct s3 *s, const struct s3_request *r, struct s3_answer *a)
{
	long stall_s = s->patience_s < STALL_S ? (long)s->patience_s + 1 : STALL_S;
	struct exchange x = {s, r, a, clock_seconds(), r->stall_s ? r->stall_s : stall_s};
	struct buf body = a->body;

	body.len = 0;
	*a = (struct s3_answer){.body = body};
	pthread_mutex_lock(&s->lock);
	struct s3_access access = {.url = copy(s->access.url),
				   .region = copy(s->access.region),
				   .key_id = copy(s->access.key_id),
				   .secret = copy(s->access.secret),
				   .session = copy(s->access.session)};
	pthread_mutex_unlock(&s->lock);
	perform(&x, &access);
	a->mark = mark_of(&access);
	s3_access_release(&access);
}

/* --- what an answer means --- */

static void error_text(const struct s3_answer *a, const char *open, char *out, size_t size)
{
	struct buf text = {0}, found = {0};

	out[0] = 0;
	buf_append(&text, a->body.ptr, a->body.len);
	buf_put(&text, 0);
	const char *at = (const char *)text.ptr;
	if (xml_element(&at, open, &found))
		snprintf(out, size, "%s", (const char *)found.ptr);
	buf_release(&found);
	buf_release(&text);
}

void s3_code(const struct s3_answer *a, char *out, size_t size)
{
	error_text(a, "<Code>", out, size);
}

bool s3_passing(const struct s3_answer *a)
{
	char code[64];

	if (a->left || a->too_long)
		return false;
	s3_code(a, code, sizeof code);
	return a->status <= 0 || a->why[0] || a->status == 429 ||
	       (a->status >= 500 && a->status != 501) || strcmp(code, "RequestTimeout") == 0 ||
	       strcmp(code, "ConditionalRequestConflict") == 0 ||
	       strcmp(code, "OperationAborted") == 0;
}

static const char *fix(const char *code)
{
	if (strcmp(code, "SignatureDoesNotMatch") == 0)
		return "; check AWS_SECRET_ACCESS_KEY and the region";
	if (strcmp(code, "InvalidAccessKeyId") == 0)
		return "; check AWS_ACCESS_KEY_ID";
	if (strcmp(code, "RequestTimeTooSkewed") == 0)
		return "; let this machine follow an NTP server (check with `chronyc tracking`)";
	if (strcmp(code, "ExpiredToken") == 0)
		return "; the credentials have ended: get new ones (AWS_SESSION_TOKEN, or the "
		       "profile in ~/.aws/credentials), and run the command again";
	return NULL;
}

static int denied(const char *name, const char *right, const struct s3_answer *a, struct error *err)
{
	char code[64], message[200];

	s3_code(a, code, sizeof code);
	error_text(a, "<Message>", message, sizeof message);
	if (fix(code))
		return error_set(err, RC_CONFIG, "%s: access denied: %s %s%s", name, code, message,
				 fix(code));
	return error_set(err, RC_CONFIG, "%s: access denied: %s %s; the user needs the right %s",
			 name, code, message, right);
}

static int refused(struct s3 *s, const char *name, const char *right, const struct s3_answer *a,
		   struct error *err)
{
	char code[64], message[200], region[64];

	s3_code(a, code, sizeof code);
	error_text(a, "<Message>", message, sizeof message);
	error_text(a, "<Region>", region, sizeof region);
	if (a->other_range)
		return error_set(err, RC_IO,
				 "%s: found an answer with Content-Range \"%s\", expected the "
				 "bytes that were asked for",
				 name, a->range);
	if (a->status <= 0 || a->why[0])
		return error_set(err, RC_IO,
				 "%s: no answer: %s; check AWS_ENDPOINT_URL, AWS_REGION and the "
				 "network, and run the command again",
				 name, a->why);
	if (a->status == 404)
		return error_set(err, RC_IO, "%s: found no such object%s", name,
				 strcmp(code, "NoSuchBucket") == 0
					 ? ", because there is no such bucket; check its name and "
					   "AWS_ENDPOINT_URL, or create it with `aws s3 mb`"
					 : "");
	if (a->status == 412)
		return error_set(err, RC_IO,
				 "%s: the object changed during the load; load it again when no "
				 "program writes it",
				 name);
	const char *home = a->region[0] ? a->region : region;
	if (home[0] && strcmp(home, s->access.region) != 0)
		return error_set(err, RC_CONFIG,
				 "%s: the bucket is in region %s, and the request was for %s; set "
				 "AWS_REGION=%s",
				 name, home, s->access.region, home);
	if (a->status / 100 == 3)
		return error_set(err, RC_CONFIG,
				 "%s: the bucket is not at %s; set AWS_REGION to its region (`aws "
				 "s3api get-bucket-location`), or AWS_ENDPOINT_URL",
				 name, s->access.url);
	if (a->status == 403 || fix(code))
		return denied(name, right, a, err);
	return error_set(err, a->status < 500 ? RC_CONFIG : RC_IO, "%s: found status %ld: %s %s",
			 name, a->status, code, message);
}

int s3_refused(struct s3 *s, const char *path, const char *right, const struct s3_answer *a,
	       struct error *err)
{
	char *name = storage_name(s->place, path);
	int rc = refused(s, name, right, a, err);

	mem_free(name);
	return rc;
}

/* --- retry --- */

void s3_escape(struct buf *out, const char *text, bool all)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789-._~";

	for (; *text; text++) {
		if (strchr(plain, *text) || (*text == '/' && !all))
			buf_put(out, (uint8_t)*text);
		else
			buf_printf(out, "%%%02X", (unsigned char)*text);
	}
}

double s3_until(const struct s3 *s)
{
	return clock_seconds() + (s->given_up ? 0 : s->patience_s);
}

int s3_login(struct s3 *s, struct error *err)
{
	int rc = RC_OK;

	pthread_mutex_lock(&s->lock);
	struct s3_access *a = &s->access, next;
	bool ends = a->end_s && a->end_s - RENEW_BEFORE_S < clock_wall_ms() / 1000;
	if (!a->url || ends) {
		rc = s3_access_find(&next, s->bucket, err);
		if (rc == RC_OK) {
			s3_access_release(a);
			*a = next;
		} else {
			s3_access_release(&next);
			/* the old credentials may still work */
			rc = a->url ? RC_OK : rc;
		}
	}
	pthread_mutex_unlock(&s->lock);
	return rc ? error_prefix(err, "%s%s: ", s->place->prefix, s->place->path) : RC_OK;
}

/* Return true if new credentials may help. The answer of HEAD has no text. */
static bool is_expired(const struct s3_answer *a)
{
	char code[64];

	if (a->status != 400 && a->status != 403)
		return false;
	s3_code(a, code, sizeof code);
	return !code[0] || strcmp(code, "ExpiredToken") == 0 ||
	       strcmp(code, "InvalidAccessKeyId") == 0 || strcmp(code, "InvalidToken") == 0;
}

bool s3_renew(struct s3 *s, const struct s3_answer *a)
{
	struct s3_access next = {0};
	struct error unsaid;
	bool other = is_expired(a) && s3_access_find(&next, s->bucket, &unsaid) == RC_OK &&
		     mark_of(&next) != a->mark;

	/* another thread may have done the same */
	pthread_mutex_lock(&s->lock);
	if (other) {
		s3_access_release(&s->access);
		s->access = next;
	} else {
		s3_access_release(&next);
	}
	pthread_mutex_unlock(&s->lock);
	return other;
}

int s3_ask(struct s3 *s, const struct s3_request *r, struct s3_answer *a, struct error *err)
{
	int rc = s3_login(s, err);
	double until = s3_until(s);

	for (unsigned n = 0; rc == RC_OK; n++) {
		s3_exchange(s, r, a);
		a->tries = n;
		if (clock_seconds() < until && s3_renew(s, a))
			continue;
		if (!s3_passing(a)) {
			s->given_up = false;
			return RC_OK;
		}
		rc = s->hurried ? RC_END : stop_check(err);
		if (rc == RC_OK)
			rc = backoff_wait(n, until, err);
		if (rc == RC_END) {
			s->given_up = true;
			return s3_refused(s, r->path, "", a, err);
		}
	}
	return rc;
}
