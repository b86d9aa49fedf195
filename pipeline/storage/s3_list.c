/*
 * s3_list.c - list objects and unfinished uploads, page by page (ListObjectsV2)
 *
 * The server is asked to escape the names, because XML cannot contain every byte of a name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "s3.h"

#define PAGE_MOST ((size_t)16 << 20)

struct s3_listing {
	struct s3 *s;
	s3_each *each;
	void *ctx;
	bool escaped; /* the server has escaped the names */
};

static int digit(char c)
{
	return c >= '0' && c <= '9'		    ? c - '0'
	       : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
						    : -1;
}

/* Make "/NAME" of a name of the answer. The caller owns the result. */
static char *path_of(const struct s3_listing *l, const char *name)
{
	struct buf path = {0};

	buf_put(&path, '/');
	for (; *name; name++) {
		bool code =
			l->escaped && *name == '%' && digit(name[1]) >= 0 && digit(name[2]) >= 0;

		buf_put(&path, code ? (uint8_t)(digit(name[1]) * 16 + digit(name[2]))
			       : l->escaped && *name == '+' ? ' '
							    : (uint8_t)*name);
		name += code ? 2 : 0;
	}
	buf_put(&path, 0);
	char *out = mem_strdup((const char *)path.ptr);
	buf_release(&path);
	return out;
}

/* Read "2026-11-27T08:00:00.000Z". */
static int64_t time_of(const char *text)
{
	struct tm at = {0};

	return strptime(text, "%Y-%m-%dT%H:%M:%S", &at) ? (int64_t)timegm(&at) * 1000 : 0;
}

/* Pass on one <Contents> or <CommonPrefixes>. */
static int give(const struct s3_listing *l, const char *text, bool folder, struct error *err)
{
	struct s3_listed o = {.folder = folder,
			      .info = {.kind = folder ? STORAGE_FOLDER : STORAGE_FILE}};
	struct buf value = {0};
	const char *at = text;
	bool named = xml_element(&at, folder ? "<Prefix>" : "<Key>", &value);
	char *path = named ? path_of(l, (const char *)value.ptr) : NULL;
	size_t n = path ? strlen(path) : 0;

	if (folder && n && path[n - 1] == '/')
		path[n - 1] = 0;
	at = text;
	if (xml_element(&at, "<Size>", &value))
		o.info.bytes = strtoull((const char *)value.ptr, NULL, 10);
	at = text;
	if (xml_element(&at, "<LastModified>", &value))
		o.info.modified_ms = time_of((const char *)value.ptr);
	at = text;
	if (xml_element(&at, "<ETag>", &value) && value.len <= sizeof o.info.version)
		memcpy(o.info.version, value.ptr, value.len);
	o.path = path;
	int rc = path ? l->each(l->ctx, &o, err)
		      : error_set(err, RC_IO, "%s: list of objects: found an object without a name",
				  l->s->place->prefix);
	mem_free(path);
	buf_release(&value);
	return rc;
}

/* Pass on all elements of one kind. The function cuts `text` into elements. */
static int give_all(const struct s3_listing *l, char *text, const char *open, const char *close,
		    bool folder, struct error *err)
{
	int rc = RC_OK;

	for (char *at = strstr(text, open); at && rc == RC_OK;) {
		char *end = strstr(at, close);

		if (!end)
			break;
		*end = 0;
		rc = give(l, at + strlen(open), folder, err);
		*end = '<';
		at = strstr(end, open);
	}
	return rc;
}

/*
 * Check that the page is whole, and find the token of the next one. A list without its end or
 * without the token would silently lack objects.
 */
static int read_end(const struct s3 *s, const char *prefix, const char *text, struct buf *next,
		    struct error *err)
{
	struct buf token = {0};
	const char *at = text, *lacks = NULL;
	bool more = strstr(text, "<IsTruncated>true<") != NULL;

	if (!strstr(text, "</ListBucketResult>"))
		lacks = "found another text, expected </ListBucketResult> at its end";
	else if (more && (!xml_element(&at, "<NextContinuationToken>", &token) || token.len < 2))
		lacks = "found no <NextContinuationToken>, expected one, because there are more "
			"objects";
	else if (more && bytes_eq(buf_bytes(&token), buf_bytes(next)))
		lacks = "found the same <NextContinuationToken> again, expected another one";
	next->len = 0;
	if (more)
		buf_append(next, token.ptr, token.len);
	buf_release(&token);
	return lacks ? error_set(err, RC_IO, "%s/%s: list of objects: %s", s->place->prefix, prefix,
				 lacks)
		     : RC_OK;
}

/* Ask for a page. `next` is the token of the page, and receives the token of the next one. */
static int ask_page(struct s3 *s, const char *prefix, bool shallow, unsigned page, struct buf *next,
		    struct s3_answer *a, struct error *err)
{
	struct buf query = {0};

	if (next->len) {
		buf_append_str(&query, "continuation-token=");
		s3_escape(&query, (const char *)next->ptr, true);
		buf_put(&query, '&');
	}
	buf_printf(&query, "%sencoding-type=url&list-type=2&max-keys=%u&prefix=",
		   shallow ? "delimiter=%2F&" : "", page);
	s3_escape(&query, prefix, true);
	buf_put(&query, 0);
	const struct s3_request r = {.method = "GET",
				     .path = "",
				     .query = (const char *)query.ptr,
				     .most = PAGE_MOST};
	int rc = s3_ask(s, &r, a, err);
	if (rc == RC_OK && (a->status != 200 || a->too_long)) {
		char *path = mem_format("/%s", prefix);

		rc = s3_refused(s, path, "s3:ListBucket", a, err);
		mem_free(path);
	}
	buf_put(&a->body, 0);
	buf_release(&query);
	return rc ? rc : read_end(s, prefix, (const char *)a->body.ptr, next, err);
}

int s3_list(struct s3 *s, const char *prefix, bool shallow, unsigned page, s3_each *each, void *ctx,
	    struct error *err)
{
	struct s3_listing l = {.s = s, .each = each, .ctx = ctx};
	struct s3_answer a = {0};
	struct buf next = {0};
	int rc;

	do {
		rc = ask_page(s, prefix + (*prefix == '/'), shallow, page, &next, &a, err);
		char *text = (char *)a.body.ptr;
		l.escaped = rc == RC_OK && strstr(text, "<EncodingType>url<");
		if (rc == RC_OK)
			rc = give_all(&l, text, "<Contents>", "</Contents>", false, err);
		if (rc == RC_OK && shallow)
			rc = give_all(&l, text, "<CommonPrefixes>", "</CommonPrefixes>", true, err);
	} while (rc == RC_OK && next.len);
	buf_release(&next);
	s3_answer_release(&a);
	return rc == RC_END ? RC_OK : rc;
}

/* --- unfinished uploads --- */

static void abort_upload(struct s3 *s, const char *path, const char *id)
{
	struct buf query = {0};
	struct s3_answer a = {0};
	struct error ignored;

	buf_append_str(&query, "uploadId=");
	s3_escape(&query, id, true);
	buf_put(&query, 0);
	const struct s3_request r = {.method = "DELETE",
				     .path = path,
				     .query = (const char *)query.ptr};
	s3_ask(s, &r, &a, &ignored);
	s3_answer_release(&a);
	buf_release(&query);
}

static void abort_listed(const struct s3_listing *l, const char *path, char *text)
{
	struct buf key = {0}, id = {0};
	size_t n = strlen(path);

	for (const char *at = strstr(text, "<Upload>"); at; at = strstr(at, "<Upload>")) {
		const char *from = at + 1;

		at = from;
		if (!xml_element(&from, "<Key>", &key) || !xml_element(&at, "<UploadId>", &id))
			break;
		char *of = path_of(l, (const char *)key.ptr);
		if (strncmp(of, path, n) == 0 && (!of[n] || of[n] == '/'))
			abort_upload(l->s, of, (const char *)id.ptr);
		mem_free(of);
	}
	buf_release(&key);
	buf_release(&id);
}

/* A page of a thousand uploads is enough. A rule of the bucket can remove the others later. */
void s3_abort_uploads(struct s3 *s, const char *path)
{
	struct s3_listing l = {.s = s};
	struct buf query = {0};
	struct s3_answer a = {0};
	struct error ignored;

	buf_append_str(&query, "encoding-type=url&max-uploads=1000&prefix=");
	s3_escape(&query, path + 1, true);
	buf_append_str(&query, "&uploads=");
	buf_put(&query, 0);
	const struct s3_request r = {.method = "GET",
				     .path = "",
				     .query = (const char *)query.ptr,
				     .most = PAGE_MOST};
	if (s3_ask(s, &r, &a, &ignored) == RC_OK && a.status == 200) {
		buf_put(&a.body, 0);
		l.escaped = strstr((const char *)a.body.ptr, "<EncodingType>url<");
		abort_listed(&l, path, (char *)a.body.ptr);
	}
	s3_answer_release(&a);
	buf_release(&query);
}
