/*
 * s3_upload.c - write objects: small ones by one PUT, others in parts
 *
 * An object appears only after its last part, so a process that dies leaves nothing visible. The
 * server compares each part with its digests, and saltmill compares the server's ETag.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hash.h"
#include "io.h"
#include "pool.h"
#include "s3.h"

#define PART_BYTES    ((size_t)8 << 20) /* S3 demands 5 MiB */
#define LARGE_PART    ((size_t)64 << 20)
#define SMALL_PARTS   1000 /* of 10,000, so that an object of 500 GiB fits */
#define PIECE_BYTES   ((size_t)1 << 20)
#define COPY_MOST     ((uint64_t)5 << 30) /* of one request that copies */
#define WRONG_TRIES   3
#define WRITE_STALL_S 60L
#define JOIN_STALL_S  300L /* S3 may join many parts for minutes */

struct s3_upload {
	struct s3 *s;
	char *path, *id; /* `id` of the multipart upload, NULL before the first part */
	struct buf part; /* bytes that wait */
	char (*etags)[STORAGE_VERSION];
	size_t nparts;
	struct buf sums; /* the MD5 of each part */
	uint64_t bytes;
	bool opaque; /* ETags are not digests */
	XXH3_state_t *digest;
	bool ending; /* the object may exist */
	/* the object that was there before, which must have the same bytes; "" if there was none */
	char before[STORAGE_VERSION];
};

static void upload_free(struct s3_upload *u)
{
	XXH3_freeState(u->digest);
	buf_release(&u->part);
	buf_release(&u->sums);
	mem_free(u->etags);
	mem_free(u->path);
	mem_free(u->id);
	mem_free(u);
}

/* Return true if the ETag is an MD5 in hex, with or without the number of parts. */
static bool is_digest(const char *etag)
{
	size_t n = strspn(etag + (*etag == '"'), "0123456789abcdef");

	return n == 32;
}

/* Return false if the server has stored other bytes. An ETag of another kind proves nothing. */
static bool agrees(const struct s3_answer *a, struct bytes body)
{
	uint8_t sum[16];
	struct buf hex = {0};

	if (a->opaque || !is_digest(a->etag))
		return true;
	md5(body, sum);
	bytes_hex(&hex, bytes_of(sum, sizeof sum));
	bool same = memcmp(a->etag + (a->etag[0] == '"'), hex.ptr, hex.len) == 0;
	buf_release(&hex);
	return same;
}

/* PUT bytes, again if the server stores other bytes. */
static int put_bytes(struct s3 *s, const char *path, const char *query, struct bytes body,
		     bool create, struct s3_answer *a, struct error *err)
{
	const struct s3_request r = {.method = "PUT",
				     .path = path,
				     .query = query,
				     .body = body,
				     .create = create,
				     .stall_s = WRITE_STALL_S};
	char code[64];

	for (unsigned n = 0; n < WRONG_TRIES; n++) {
		int rc = s3_ask(s, &r, a, err);

		if (rc)
			return rc;
		s3_code(a, code, sizeof code);
		bool damaged = strcmp(code, "BadDigest") == 0 ||
			       strcmp(code, "XAmzContentSHA256Mismatch") == 0;
		if (a->status != 200 && !damaged)
			return a->status == 412 && create
				       ? RC_END
				       : s3_refused(s, path, "s3:PutObject", a, err);
		if (a->status == 200 && agrees(a, body))
			return RC_OK;
		create = create && a->status != 200;
	}
	char *name = storage_name(s->place, path);
	int rc =
		error_set(err, RC_IO, "%s: the server stored other bytes than saltmill sent", name);
	mem_free(name);
	return rc;
}

/* --- parts --- */

static int begin_parts(struct s3_upload *u, struct error *err)
{
	const struct s3_request r = {.method = "POST", .path = u->path, .query = "uploads="};
	struct s3_answer a = {0};
	struct buf id = {0};
	int rc = s3_ask(u->s, &r, &a, err);

	if (rc == RC_OK && a.status != 200)
		rc = s3_refused(u->s, u->path, "s3:PutObject", &a, err);
	buf_put(&a.body, 0);
	const char *at = (const char *)a.body.ptr;
	if (rc == RC_OK && xml_element(&at, "<UploadId>", &id))
		u->id = mem_strdup((const char *)id.ptr);
	else if (rc == RC_OK)
		rc = error_set(err, RC_IO, "%s: found no UploadId in the answer", u->path);
	buf_release(&id);
	s3_answer_release(&a);
	return rc;
}

static char *id_query(const struct s3_upload *u, size_t part)
{
	struct buf query = {0};

	if (part)
		buf_printf(&query, "partNumber=%zu&", part);
	buf_append_str(&query, "uploadId=");
	s3_escape(&query, u->id, true);
	buf_put(&query, 0);
	char *out = mem_strdup((const char *)query.ptr);
	buf_release(&query);
	return out;
}

static int send_part(struct s3_upload *u, struct error *err)
{
	struct s3_answer a = {0};
	uint8_t sum[16];
	int rc = u->id ? RC_OK : begin_parts(u, err);

	if (rc)
		return rc;
	char *query = id_query(u, u->nparts + 1);
	rc = put_bytes(u->s, u->path, query, buf_bytes(&u->part), false, &a, err);
	mem_free(query);
	if (rc == RC_OK) {
		md5(buf_bytes(&u->part), sum);
		buf_append(&u->sums, sum, sizeof sum);
		u->opaque = u->opaque || a.opaque || !is_digest(a.etag);
		u->etags = mem_grow(u->etags, u->nparts, sizeof *u->etags);
		memcpy(u->etags[u->nparts++], a.etag, sizeof a.etag);
		u->part.len = 0;
	}
	s3_answer_release(&a);
	return rc;
}

static void list_parts(const struct s3_upload *u, struct buf *xml)
{
	buf_append_str(xml, "<CompleteMultipartUpload "
			    "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">");
	for (size_t i = 0; i < u->nparts; i++) {
		const char *etag = u->etags[i];
		bool quoted = etag[0] == '"';
		size_t n = strlen(etag);

		buf_printf(xml,
			   "<Part><PartNumber>%zu</PartNumber><ETag>&quot;%.*s&quot;</ETag></Part>",
			   i + 1, (int)(n - (quoted ? 2 : 0)), etag + quoted);
	}
	buf_append_str(xml, "</CompleteMultipartUpload>");
}

/* Check that the object has all bytes. Its ETag is the MD5 of the parts' MD5s. */
static int check_object(struct s3_upload *u, struct error *err)
{
	const struct s3_request r = {.method = "HEAD", .path = u->path};
	struct s3_answer a = {0};
	int rc = s3_ask(u->s, &r, &a, err);

	if (rc == RC_OK && a.status != 200)
		rc = s3_refused(u->s, u->path, READ_RIGHT, &a, err);
	bool same = a.bytes == u->bytes &&
		    (u->opaque || !strchr(a.etag, '-') || agrees(&a, buf_bytes(&u->sums)));
	if (rc == RC_OK && !same) {
		char *name = storage_name(u->s->place, u->path);

		rc = error_set(err, RC_IO,
			       "%s: the server stored other bytes than saltmill sent: expected "
			       "%llu bytes, found %llu bytes or another digest",
			       name, (unsigned long long)u->bytes, (unsigned long long)a.bytes);
		mem_free(name);
	}
	s3_answer_release(&a);
	return rc;
}

/* Send a request again while its answer is temporary. The answer 200 may contain an error. */
static int ask_again(struct s3 *s, const struct s3_request *r, struct s3_answer *a, char code[64],
		     struct error *err)
{
	double until = s3_until(s);
	int rc = RC_OK;

	for (unsigned n = 0; rc == RC_OK; n++) {
		rc = s3_ask(s, r, a, err);
		s3_code(a, code, 64);
		bool passing = strcmp(code, "InternalError") == 0 || strcmp(code, "SlowDown") == 0;
		if (rc || !passing || backoff_wait(n, until, err))
			break;
	}
	return rc;
}

/*
 * Join the parts. After a lost answer, the upload no longer exists, and the object proves the
 * outcome.
 */
static int join_parts(struct s3_upload *u, struct error *err)
{
	struct buf xml = {0};
	struct s3_answer a = {0};
	char code[64], *query = id_query(u, 0);

	list_parts(u, &xml);
	const struct s3_request r = {.method = "POST",
				     .path = u->path,
				     .query = query,
				     .body = buf_bytes(&xml),
				     .stall_s = JOIN_STALL_S};
	int rc = ask_again(u->s, &r, &a, code, err);
	if (rc == RC_OK && (a.status != 200 || code[0]) && strcmp(code, "NoSuchUpload") != 0)
		rc = s3_refused(u->s, u->path, "s3:PutObject", &a, err);
	if (rc == RC_OK)
		rc = check_object(u, err);
	s3_answer_release(&a);
	buf_release(&xml);
	mem_free(query);
	return rc;
}

/* --- files that arrive piece by piece --- */

static struct s3_upload *upload_new(struct storage *s, const char *path)
{
	struct s3_upload *u = mem_calloc(1, sizeof *u);

	u->s = s->self;
	u->path = mem_strdup(path);
	u->digest = XXH3_createState();
	if (u->digest)
		XXH3_128bits_reset(u->digest);
	return u;
}

static int refuse_other(struct s3 *s, const char *path, struct error *err)
{
	char *name = storage_name(s->place, path);
	int rc = error_set(err, RC_IO, "cannot create %s: the object already exists", name);

	mem_free(name);
	return rc;
}

/* Note the object that is there. Two processes may write the same object at once. */
static int look_before(struct s3_upload *u, struct error *err)
{
	const struct s3_request r = {.method = "HEAD", .path = u->path};
	struct s3_answer a = {0};
	int rc = s3_ask(u->s, &r, &a, err);

	if (rc == RC_OK && a.status == 200 && (a.opaque || !is_digest(a.etag)))
		rc = refuse_other(u->s, u->path, err);
	else if (rc == RC_OK && a.status == 200)
		memcpy(u->before, a.etag, sizeof u->before);
	s3_answer_release(&a);
	return rc;
}

/* Keep the object that was there, if its ETag is that of the same bytes and parts. */
static int keep_before(struct s3_upload *u, struct error *err)
{
	struct s3_answer before = {0};

	memcpy(before.etag, u->before, sizeof before.etag);
	bool same = !strchr(u->before, '-') == !u->id &&
		    agrees(&before, buf_bytes(u->id ? &u->sums : &u->part));
	return same ? RC_OK : refuse_other(u->s, u->path, err);
}

int s3_begin(struct storage *s, void **file, const char *path, unsigned mode, struct error *err)
{
	struct s3_upload *u = upload_new(s, path);
	int rc = u->digest ? look_before(u, err) : error_memory(err, sizeof *u->digest, path);

	(void)mode;
	if (rc) {
		upload_free(u);
		return rc;
	}
	*file = u;
	return RC_OK;
}

int s3_add(void *file, const void *ptr, size_t len, struct error *err)
{
	struct s3_upload *u = file;
	const uint8_t *p = ptr;
	int rc = RC_OK;

	XXH3_128bits_update(u->digest, ptr, len);
	while (rc == RC_OK && len) {
		size_t most = u->nparts < SMALL_PARTS ? PART_BYTES : LARGE_PART;
		size_t n = len < most - u->part.len ? len : most - u->part.len;

		if (!buf_try_reserve(&u->part, n))
			return error_memory(err, n, u->path);
		buf_append(&u->part, p, n);
		u->bytes += n;
		p += n;
		len -= n;
		if (u->part.len == most)
			rc = send_part(u, err);
	}
	return rc;
}

static int finish(struct s3_upload *u, struct error *err)
{
	struct s3_answer a = {0};
	int rc = RC_OK;

	if (u->id && u->part.len && u->before[0])
		rc = send_part(u, err);
	if (u->before[0])
		return rc ? rc : keep_before(u, err);
	u->ending = true;
	if (!u->id)
		rc = put_bytes(u->s, u->path, NULL, buf_bytes(&u->part), false, &a, err);
	else if (u->part.len)
		rc = send_part(u, err);
	if (rc == RC_OK && u->id)
		rc = join_parts(u, err);
	s3_answer_release(&a);
	return rc;
}

int s3_end(void *file, uint8_t digest[16], struct error *err)
{
	struct s3_upload *u = file;
	XXH128_canonical_t c;

	XXH128_canonicalFromHash(&c, XXH3_128bits_digest(u->digest));
	memcpy(digest, c.digest, 16);
	int rc = finish(u, err);
	if (rc == RC_OK && u->before[0])
		s3_abort(u); /* only the parts */
	else if (rc == RC_OK)
		upload_free(u);
	return rc;
}

/* Remove the parts, and the object if its outcome is unknown. */
void s3_abort(void *file)
{
	struct s3_upload *u = file;
	struct error ignored;
	char *query = u->id ? id_query(u, 0) : NULL;
	const struct s3_request parts = {.method = "DELETE", .path = u->path, .query = query};
	const struct s3_request object = {.method = "DELETE", .path = u->path};
	struct s3_answer a = {0};

	if (stop_flag)
		storage_hurry(u->s->place);
	if (query)
		s3_ask(u->s, &parts, &a, &ignored);
	if (u->ending)
		s3_ask(u->s, &object, &a, &ignored);
	s3_answer_release(&a);
	mem_free(query);
	upload_free(u);
}

int s3_create(struct s3 *s, const char *path, struct bytes content, struct error *err)
{
	struct s3_answer a = {0};
	int rc = put_bytes(s, path, NULL, content, true, &a, err);

	if (rc == RC_END && !a.tries) {
		/* another process was first, for certain */
		rc = refuse_other(s, path, err) == RC_IO ? (err->code = RC_CONFIG) : err->code;
	} else if (rc == RC_END) {
		/* it exists: a lost answer was ours if the bytes are */
		const struct s3_request r = {.method = "GET",
					     .path = path,
					     .most = content.len + 1};
		rc = s3_ask(s, &r, &a, err);
		bool ours = rc == RC_OK && a.status == 200 && bytes_eq(buf_bytes(&a.body), content);
		if (rc == RC_OK && !ours)
			rc = refuse_other(s, path, err);
	}
	s3_answer_release(&a);
	return rc;
}

/* --- local files --- */

static int pass_file(struct s3_upload *u, int fd, const char *local, struct error *err)
{
	uint8_t *piece = mem_alloc(PIECE_BYTES);
	int rc = RC_OK;

	for (ssize_t n = 1; rc == RC_OK && n;) {
		n = read(fd, piece, PIECE_BYTES);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			rc = error_errno(err, "cannot read %s", local);
		else if (n > 0)
			rc = throttle_wait(&u->s->place->throttle, (size_t)n, err);
		if (rc == RC_OK && n > 0)
			rc = s3_add(u, piece, (size_t)n, err);
		if (rc == RC_OK)
			rc = stop_check(err);
	}
	mem_free(piece);
	return rc;
}

int s3_put(struct storage *s, const char *local, const char *path, unsigned mode,
	   struct storage_info *out, bool *kept, struct error *err)
{
	int fd = io_open_input(local, err);

	(void)mode;
	*kept = false;
	if (fd < 0)
		return fd;
	struct s3_upload *u = upload_new(s, path);
	int rc = u->digest ? pass_file(u, fd, local, err)
			   : error_memory(err, sizeof *u->digest, path);
	if (rc == RC_OK)
		rc = finish(u, err);
	*out = (struct storage_info){.kind = STORAGE_FILE, .bytes = u->bytes};
	close(fd);
	/* another attempt may have written the same file, so a lost answer must not remove it */
	u->ending = false;
	if (rc)
		s3_abort(u);
	else
		upload_free(u);
	return rc;
}

/* --- copies within S3 --- */

static size_t count_parts(uint64_t bytes)
{
	uint64_t small = (uint64_t)SMALL_PARTS * PART_BYTES;

	return bytes <= small
		       ? (size_t)((bytes + PART_BYTES - 1) / PART_BYTES)
		       : SMALL_PARTS + (size_t)((bytes - small + LARGE_PART - 1) / LARGE_PART);
}

/*
 * Set *parts to the number of parts that a copy with the same ETag needs, or to 0 for one request.
 * Return false if no copy can have this ETag: it is no digest, or other programs chose the parts.
 */
static bool can_prove(const struct storage_info *of, size_t *parts)
{
	const char *dash = strchr(of->version, '-');

	*parts = dash ? (size_t)strtoull(dash + 1, NULL, 10) : 0;
	return is_digest(of->version) &&
	       (dash ? *parts == count_parts(of->bytes) : of->bytes <= COPY_MOST);
}

static int not_copied(struct s3 *s, const char *path, const char *why, struct error *err)
{
	char *name = storage_name(s->place, path);

	error_set(err, RC_IO, "%s: %s", name, why);
	mem_free(name);
	return RC_END;
}

/* Copy an object, or a part of it, and get the ETag of the answer. */
static int copy_bytes(struct s3 *s, const struct s3_request *r, char etag[STORAGE_VERSION],
		      struct error *err)
{
	struct s3_answer a = {0};
	struct buf found = {0};
	char code[64];
	int rc = ask_again(s, r, &a, code, err);

	if (rc == RC_OK && (a.status != 200 || code[0])) {
		s3_refused(s, r->path, "s3:PutObject", &a, err);
		rc = RC_END;
	}
	buf_put(&a.body, 0);
	const char *at = (const char *)a.body.ptr;
	if (rc == RC_OK && xml_element(&at, "<ETag>", &found) && found.len <= STORAGE_VERSION)
		memcpy(etag, found.ptr, found.len);
	else if (rc == RC_OK)
		rc = not_copied(s, r->path, "found no ETag in the answer", err);
	buf_release(&found);
	s3_answer_release(&a);
	return rc;
}

static int copy_parts(struct s3_upload *u, struct s3_request r, size_t parts, uint64_t bytes,
		      struct error *err)
{
	char etag[STORAGE_VERSION];
	int rc = begin_parts(u, err);

	r.part = true;
	for (size_t i = 0; rc == RC_OK && i < parts; i++) {
		char *query = id_query(u, i + 1);

		r.query = query;
		r.len = i < SMALL_PARTS ? PART_BYTES : LARGE_PART;
		r.len = bytes - r.first < r.len ? bytes - r.first : r.len;
		rc = copy_bytes(u->s, &r, etag, err);
		mem_free(query);
		r.first += r.len;
		if (rc == RC_OK) {
			u->etags = mem_grow(u->etags, u->nparts, sizeof *u->etags);
			memcpy(u->etags[u->nparts++], etag, sizeof etag);
			rc = stop_check(err);
		}
	}
	u->bytes = bytes;
	u->opaque = true; /* the source's ETag is the proof */
	return rc ? rc : join_parts(u, err);
}

/*
 * Copy with the parts of the source, because the ETag of the copy is then that of the source. All
 * storages of this process have the same server and credentials (s3_access.c).
 */
int s3_copy(struct storage *s, struct storage *from, const char *source,
	    const struct storage_info *of, const char *path, struct error *err)
{
	const struct s3 *there = from->self;
	struct s3_upload *u = upload_new(s, path);
	struct storage_info copy;
	char etag[STORAGE_VERSION];
	struct buf place = {0};
	size_t parts;
	int rc = can_prove(of, &parts) ? RC_OK
				       : not_copied(u->s, path, "no ETag can prove a copy", err);

	buf_printf(&place, "/%s", there->bucket);
	s3_escape(&place, source, false);
	buf_put(&place, 0);
	const struct s3_request r = {.method = "PUT",
				     .path = path,
				     .copied = (const char *)place.ptr,
				     .version = of->version,
				     .stall_s = JOIN_STALL_S};
	if (rc == RC_OK)
		rc = parts ? copy_parts(u, r, parts, of->bytes, err)
			   : copy_bytes(u->s, &r, etag, err);
	if (rc == RC_OK)
		rc = storage_stat(s, path, &copy, err);
	if (rc == RC_OK && (copy.bytes != of->bytes || strcmp(copy.version, of->version) != 0))
		rc = not_copied(u->s, path, "the ETag does not prove the copy", err);
	if (rc)
		s3_abort(u);
	else
		upload_free(u);
	buf_release(&place);
	return rc;
}
