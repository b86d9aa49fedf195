/*
 * s3_sign.c - the signature of a request (AWS Signature Version 4)
 *
 * The signature is an HMAC of the method, the path, the query, the headers and the digest of the
 * body, with a key of the day, the region and the service. libcurl 7.88 signs, too, but puts the
 * headers "x-amz-copy-source" and "x-amz-copy-source-range" in an order that S3 refuses.
 */
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "s3.h"

#define BLOCK  SHA256_BLOCK_LENGTH
#define DIGEST SHA256_DIGEST_LENGTH
#define METHOD "AWS4-HMAC-SHA256"

static void sha256(struct bytes text, uint8_t out[DIGEST])
{
	SHA2_CTX sha;

	SHA256Init(&sha);
	if (text.len)
		SHA256Update(&sha, text.ptr, text.len);
	SHA256Final(out, &sha);
}

void s3_digest(struct buf *hex, struct bytes body)
{
	uint8_t digest[DIGEST];

	sha256(body, digest);
	bytes_hex(hex, bytes_of(digest, sizeof digest));
}

/* RFC 2104. `out` may be the key. */
static void hmac(struct bytes key, struct bytes text, uint8_t out[DIGEST])
{
	uint8_t pad[BLOCK] = {0}, inner[DIGEST];
	SHA2_CTX sha;

	if (key.len > BLOCK)
		sha256(key, pad);
	else
		memcpy(pad, key.ptr, key.len);
	for (size_t i = 0; i < BLOCK; i++)
		pad[i] ^= 0x36;
	SHA256Init(&sha);
	SHA256Update(&sha, pad, BLOCK);
	SHA256Update(&sha, text.ptr, text.len);
	SHA256Final(inner, &sha);
	for (size_t i = 0; i < BLOCK; i++)
		pad[i] ^= 0x36 ^ 0x5c;
	SHA256Init(&sha);
	SHA256Update(&sha, pad, BLOCK);
	SHA256Update(&sha, inner, DIGEST);
	SHA256Final(out, &sha);
	explicit_bzero(pad, sizeof pad);
	explicit_bzero(&sha, sizeof sha);
}

static void key_of(const struct s3_signed *r, const char *day, uint8_t key[DIGEST])
{
	const char *part[] = {day, r->region, "s3", "aws4_request"};
	char *secret = mem_format("AWS4%s", r->secret);
	struct bytes last = bytes_str(secret);

	for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
		hmac(last, bytes_str(part[i]), key);
		last = bytes_of(key, DIGEST);
	}
	explicit_bzero(secret, strlen(secret));
	mem_free(secret);
}

static size_t name_length(const char *line)
{
	return strcspn(line, ":");
}

static int by_name(const void *a, const void *b)
{
	const char *x = *(const char *const *)a, *y = *(const char *const *)b;

	return bytes_cmp(bytes_of(x, name_length(x)), bytes_of(y, name_length(y)));
}

/* Append "NAME:VALUE" of all lines, by name, and the list of the names to *names. */
static void add_headers(struct buf *text, struct buf *names, const char *const *lines, size_t n)
{
	const char **sorted = mem_calloc(n + 1, sizeof *sorted);

	memcpy(sorted, lines, n * sizeof *sorted);
	qsort(sorted, n, sizeof *sorted, by_name);
	for (size_t i = 0; i < n; i++) {
		size_t len = name_length(sorted[i]);
		const char *value = sorted[i] + len + strspn(sorted[i] + len, ": ");

		buf_printf(text, "%.*s:%s\n", (int)len, sorted[i], value);
		buf_printf(names, "%s%.*s", i ? ";" : "", (int)len, sorted[i]);
	}
	buf_put(names, 0);
	mem_free(sorted);
}

char *s3_host(const char *url)
{
	const char *host = strstr(url, "://"), *port;
	size_t n = host ? strcspn(host + 3, "/?") : 0;

	host = host ? host + 3 : url;
	/* the usual port is not in the header of other clients, and servers leave it out */
	port = strncmp(url, "https:", 6) == 0 ? ":443" : ":80";
	if (n > strlen(port) && strncmp(host + n - strlen(port), port, strlen(port)) == 0)
		n -= strlen(port);
	return mem_format("%.*s", (int)n, host);
}

void s3_stamp(char out[S3_STAMP], int64_t seconds)
{
	time_t at = (time_t)seconds;
	struct tm tm = {0};

	gmtime_r(&at, &tm);
	strftime(out, S3_STAMP, "%Y%m%dT%H%M%SZ", &tm);
}

/* Append the request in the form that both sides hash. */
static void add_request(struct buf *out, struct buf *names, const struct s3_signed *r)
{
	const char *host = strstr(r->url, "://"), *path = strchr(host ? host + 3 : r->url, '/');
	size_t n = path ? strcspn(path, "?") : 0;
	const char *query = path && path[n] ? path + n + 1 : "";

	buf_printf(out, "%s\n%.*s\n%s\n", r->method, n ? (int)n : 1, n ? path : "/", query);
	add_headers(out, names, r->lines, r->nlines);
	buf_printf(out, "\n%s\n%s", (const char *)names->ptr, r->digest);
}

char *s3_authorization(const struct s3_signed *r)
{
	struct buf request = {0}, names = {0}, text = {0}, hex = {0};
	uint8_t key[DIGEST], mark[DIGEST];
	char day[9];

	snprintf(day, sizeof day, "%.8s", r->stamp);
	add_request(&request, &names, r);
	buf_printf(&text, METHOD "\n%s\n%s/%s/s3/aws4_request\n", r->stamp, day, r->region);
	s3_digest(&text, buf_bytes(&request));
	key_of(r, day, key);
	hmac(bytes_of(key, sizeof key), buf_bytes(&text), mark);
	bytes_hex(&hex, bytes_of(mark, sizeof mark));
	buf_put(&hex, 0);
	char *out = mem_format(METHOD " Credential=%s/%s/%s/s3/aws4_request, SignedHeaders=%s, "
				      "Signature=%s",
			       r->key_id, day, r->region, (const char *)names.ptr,
			       (const char *)hex.ptr);
	explicit_bzero(key, sizeof key);
	buf_release(&request);
	buf_release(&names);
	buf_release(&text);
	buf_release(&hex);
	return out;
}
