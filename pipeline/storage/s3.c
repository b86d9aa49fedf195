/*
 * s3.c - read and write S3, or a server with its protocol (MinIO, Ceph), for s3:// (README.md 4)
 *
 * S3 has no folders and no rename. A folder is a common beginning of names, and a rename writes the
 * object again. storage_renames reports this to the callers.
 */
#include "s3.h"

#include <stdio.h>

#include "late.h"
#include "pool.h"

#define PATIENCE_S 60.0
#define PAGE	   1000 /* most objects of a page */

/* --- opening --- */

static int open_place(struct storage *s, const char *scheme, const char *rest,
		      const struct storage_options *opt, struct error *err)
{
	struct s3 *x = s->self = mem_calloc(1, sizeof *x);
	const char *bucket = rest + 2, *path = bucket + strcspn(bucket, "/");

	pthread_mutex_init(&x->lock, NULL);
	x->place = s;
	x->patience_s = opt->patience_s ? opt->patience_s : PATIENCE_S;
	if (late_need(LATE_CURL, err))
		return err->code;
	curl_global_init(CURL_GLOBAL_DEFAULT);
	if (strncmp(rest, "//", 2) != 0 || path == bucket || !path[0] || !path[1])
		return error_set(err, RC_CONFIG, "%s:%.200s: expected s3://BUCKET/KEY", scheme,
				 rest);
	x->bucket = mem_format("%.*s", (int)(path - bucket), bucket);
	s->prefix = mem_format("%s://%s", scheme, x->bucket);
	s->path = mem_strdup(path);
	return RC_OK;
}

static void hurry(struct storage *s)
{
	struct s3 *x = s->self;

	x->hurried = true;
}

static void close_place(struct storage *s)
{
	struct s3 *x = s->self;

	if (!x)
		return;
	for (size_t i = 0; i < x->nidle; i++)
		curl_easy_cleanup(x->idle[i]);
	s3_access_release(&x->access);
	pthread_mutex_destroy(&x->lock);
	mem_free(x->bucket);
	mem_free(x);
}

/* --- look --- */

static int see_one(void *ctx, const struct s3_listed *o, struct error *err)
{
	bool *any = ctx;

	(void)o, (void)err;
	*any = true;
	return RC_END;
}

static int is_folder(struct s3 *x, const char *path, bool *folder, struct error *err)
{
	char *prefix = mem_format("%s/", path);
	int rc = s3_list(x, prefix, false, 1, see_one, folder, err);

	mem_free(prefix);
	return rc;
}

/* A refused HEAD has no text, so ask for the text of the refusal. */
static int explain(struct s3 *x, const char *path, struct s3_answer *a, struct error *err)
{
	const struct s3_request r = {.method = "GET", .path = path, .part = true, .len = 1};
	int rc = s3_ask(x, &r, a, err);

	return rc ? rc : s3_refused(x, path, READ_RIGHT, a, err);
}

static int stat_path(struct storage *s, const char *path, struct storage_info *out,
		     struct error *err)
{
	struct s3 *x = s->self;
	const struct s3_request r = {.method = "HEAD", .path = path};
	struct s3_answer a = {0};
	bool folder = !path[1];
	int rc = folder ? RC_OK : s3_ask(x, &r, &a, err);

	*out = (struct storage_info){0};
	if (rc == RC_OK && !folder && a.status == 404)
		rc = is_folder(x, path, &folder, err);
	else if (rc == RC_OK && !folder && a.status != 200)
		rc = explain(x, path, &a, err);
	else if (rc == RC_OK && !folder) {
		*out = (struct storage_info){.kind = STORAGE_FILE,
					     .bytes = a.bytes,
					     .modified_ms = a.modified_ms};
		memcpy(out->version, a.etag, sizeof out->version);
	}
	if (rc == RC_OK && folder)
		out->kind = STORAGE_FOLDER;
	s3_answer_release(&a);
	return rc;
}

struct entries {
	struct arena *a;
	struct storage_entry *item;
	size_t n, skip; /* `skip` bytes of each path are the folder */
};

static int add_entry(void *ctx, const struct s3_listed *o, struct error *err)
{
	struct entries *l = ctx;

	(void)err;
	if (strlen(o->path) <= l->skip)
		return RC_OK; /* an object that marks the folder */
	l->item = arena_grow(l->a, l->item, l->n, sizeof *l->item);
	l->item[l->n++] = (struct storage_entry){arena_strdup(l->a, o->path + l->skip), o->info};
	return RC_OK;
}

static int list_folder(struct storage *s, const char *path, struct arena *a,
		       struct storage_entry **out, size_t *n, struct error *err)
{
	char *prefix = mem_format("%s%s", path, path[1] ? "/" : "");
	struct entries l = {.a = a, .skip = strlen(prefix)};
	int rc = s3_list(s->self, prefix, true, PAGE, add_entry, &l, err);

	mem_free(prefix);
	*out = l.item;
	*n = l.n;
	return rc;
}

/* --- read --- */

static int read_whole(struct storage *s, const char *path, size_t most, struct buf *out,
		      struct error *err)
{
	const struct s3_request r = {.method = "GET", .path = path, .most = most};
	struct s3_answer a = {0};
	int rc = s3_ask(s->self, &r, &a, err);

	if (rc == RC_OK && a.too_long && a.status == 200)
		rc = error_set(err, RC_LIMIT, "%s%s: found more than %zu bytes", s->prefix, path,
			       most);
	else if (rc == RC_OK && a.status != 200)
		rc = s3_refused(s->self, path, READ_RIGHT, &a, err);
	if (rc == RC_OK)
		buf_append(out, a.body.ptr, a.body.len);
	s3_answer_release(&a);
	return rc;
}

static int read_part(struct storage *s, const char *path, uint64_t offset, void *to, size_t len,
		     struct error *err)
{
	const struct s3_request r = {.method = "GET",
				     .path = path,
				     .part = true,
				     .first = offset,
				     .len = len,
				     .most = len};
	struct s3_answer a = {0};
	int rc = len ? s3_ask(s->self, &r, &a, err) : RC_OK;

	if (rc == RC_OK && len && a.status != 206)
		rc = s3_refused(s->self, path, READ_RIGHT, &a, err);
	else if (rc == RC_OK && a.body.len != len)
		rc = error_set(err, RC_DATA,
			       "%s%s: found %zu bytes from byte %llu on, expected %zu", s->prefix,
			       path, a.body.len, (unsigned long long)offset, len);
	if (rc == RC_OK && len)
		memcpy(to, a.body.ptr, len);
	s3_answer_release(&a);
	return rc;
}

struct s3_reading {
	storage_take *take;
	void *ctx;
	uint64_t got, end; /* next byte, and the byte after the object */
	bool more;	   /* the server sent more bytes than the object has */
};

static bool pass_on(void *ctx, const void *ptr, size_t n)
{
	struct s3_reading *r = ctx;

	r->more = n > r->end - r->got;
	if (r->more || !r->take(r->ctx, ptr, n))
		return false;
	r->got += n;
	return true;
}

/* Each byte that arrives renews the patience, unless the server is slow. */
static int pass(struct storage *s, const char *path, const struct storage_info *of, uint64_t first,
		storage_take *take, void *ctx, struct error *err)
{
	struct s3 *x = s->self;
	struct s3_reading reading = {.take = take, .ctx = ctx, .got = first, .end = of->bytes};
	struct s3_answer a = {0};
	double until = s3_until(x);
	int rc = s3_login(x, err);

	for (unsigned n = 0; rc == RC_OK && reading.got < reading.end; n++) {
		uint64_t before = reading.got;
		const struct s3_request r = {.method = "GET",
					     .path = path,
					     .version = of->version,
					     .part = true,
					     .first = before,
					     .len = of->bytes - before,
					     .take = pass_on,
					     .ctx = &reading};

		s3_exchange(x, &r, &a);
		if (a.left && !reading.more)
			rc = RC_END;
		if (reading.got > before && !a.slow) {
			n = 0;
			until = s3_until(x);
		}
		if (rc || reading.got == reading.end)
			break;
		rc = x->hurried ? RC_END : stop_check(err);
		if (rc == RC_OK && reading.more)
			rc = error_set(err, RC_IO, "%s%s: found more bytes than asked for",
				       s->prefix, path);
		else if (rc == RC_OK && s3_renew(x, &a))
			continue;
		else if (rc == RC_OK && !s3_passing(&a) && a.status != 206)
			rc = s3_refused(x, path, READ_RIGHT, &a, err);
		else if (rc == RC_OK && backoff_wait(n, until, err))
			rc = s3_stopped(x) ? RC_STOPPED : s3_refused(x, path, "", &a, err);
		if (rc == RC_OK)
			rc = s3_login(x, err);
	}
	s3_answer_release(&a);
	return rc;
}

/* --- change --- */

static int make_dirs(struct storage *s, const char *path, unsigned mode, struct error *err)
{
	(void)s, (void)path, (void)mode, (void)err;
	return RC_OK;
}

static int set_mode(struct storage *s, const char *path, unsigned mode, struct error *err)
{
	(void)s, (void)path, (void)mode, (void)err;
	return RC_OK;
}

static int touch(struct storage *s, const char *path, struct error *err)
{
	(void)s, (void)path, (void)err;
	return RC_OK;
}

static int free_bytes(struct storage *s, const char *path, uint64_t *bytes, struct error *err)
{
	(void)s, (void)path, (void)bytes, (void)err; /* S3 has no limit */
	return RC_OK;
}

static int remove_object(struct s3 *x, const char *path, struct error *err)
{
	const struct s3_request r = {.method = "DELETE", .path = path};
	struct s3_answer a = {0};
	int rc = s3_ask(x, &r, &a, err);

	if (rc == RC_OK && a.status != 204 && a.status != 200 && a.status != 404)
		rc = s3_refused(x, path, "s3:DeleteObject", &a, err);
	s3_answer_release(&a);
	return rc;
}

static int remove_listed(void *ctx, const struct s3_listed *o, struct error *err)
{
	return remove_object(ctx, o->path, err);
}

static int remove_all(struct storage *s, const char *path, struct error *err)
{
	struct s3 *x = s->self;
	char *prefix = mem_format("%s/", path);
	int rc = remove_object(x, path, err);

	if (rc == RC_OK)
		rc = s3_list(x, prefix, false, PAGE, remove_listed, x, err);
	mem_free(prefix);
	s3_abort_uploads(x, path);
	return rc;
}

static void tidy(struct storage *s, const char *path)
{
	s3_abort_uploads(s->self, path);
}

/* Write a small object again, without replacing another one, and remove the first. */
static int move(struct storage *s, const char *from, const char *to, struct error *err)
{
	struct buf content = {0};
	int rc = read_whole(s, from, STORAGE_MOVE_MOST, &content, err);

	if (rc == RC_OK)
		rc = s3_create(s->self, to, buf_bytes(&content), err);
	if (rc == RC_OK) {
		struct error ignored;

		remove_object(s->self, from, &ignored);
	}
	buf_release(&content);
	return rc;
}

static const char *const schemes[] = {"s3", "s3a", NULL};

const struct storage_backend s3_storage = {.schemes = schemes,
					   .remote = true,
					   .copies = true,
					   .open = open_place,
					   .close = close_place,
					   .hurry = hurry,
					   .stat = stat_path,
					   .list = list_folder,
					   .make_dirs = make_dirs,
					   .set_mode = set_mode,
					   .free = free_bytes,
					   .touch = touch,
					   .move = move,
					   .remove = remove_all,
					   .tidy = tidy,
					   .read = read_whole,
					   .read_at = read_part,
					   .pass = pass,
					   .put = s3_put,
					   .copy = s3_copy,
					   .begin = s3_begin,
					   .add = s3_add,
					   .end = s3_end,
					   .abort = s3_abort};
