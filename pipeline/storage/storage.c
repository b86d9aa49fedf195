/* storage.c - choose the backend of a URI, and call it */
#include <stdlib.h>

#include "backend.h"

/* The backends. A new backend needs one line here. */
static const struct storage_backend *const backends[] = {&file_storage, &webhdfs_storage,
							 &s3_storage};

#define PART_BYTES ((size_t)4 << 20)

enum { NBACKENDS = sizeof backends / sizeof *backends };

/* Return the length of "scheme" in "scheme:...", or 0 for a path. */
static size_t scheme_length(const char *uri)
{
	size_t n = 0;

	while ((uri[n] >= 'a' && uri[n] <= 'z') || (n && uri[n] >= '0' && uri[n] <= '9'))
		n++;
	return uri[n] == ':' && uri[n + 1] == '/' ? n : 0;
}

/* Find the backend of a URI. Return NULL if no backend has the scheme. */
static const struct storage_backend *find_backend(const char *uri, const char **scheme)
{
	size_t n = scheme_length(uri);

	for (size_t i = 0; i < NBACKENDS; i++)
		for (const char *const *s = backends[i]->schemes; *s; s++)
			if (strlen(*s) == n && strncmp(*s, uri, n) == 0) {
				*scheme = *s;
				return backends[i];
			}
	return NULL;
}

bool storage_is_remote(const char *uri)
{
	const char *scheme;
	const struct storage_backend *b = find_backend(uri, &scheme);

	return b ? b->remote : strncmp(uri + scheme_length(uri), "://", 3) == 0;
}

static int refuse_uri(const char *uri, struct error *err)
{
	struct buf known = {0};

	for (size_t i = 0; i < NBACKENDS; i++)
		for (const char *const *s = backends[i]->schemes; *s; s++)
			if (**s)
				buf_printf(&known, ", %s://", *s);
	buf_put(&known, 0);
	int rc = error_set(err, RC_CONFIG, "found path %.200s, expected a path%s", uri,
			   (const char *)known.ptr);
	buf_release(&known);
	return rc;
}

static struct storage_options defaults;

void storage_use(const struct storage_options *o)
{
	defaults = *o;
}

int storage_open(struct storage **out, const char *uri, const struct storage_options *opt,
		 struct error *err)
{
	const char *scheme;

	*out = NULL;
	struct storage *s = mem_calloc(1, sizeof *s);
	s->backend = find_backend(uri, &scheme);
	if (!s->backend) {
		mem_free(s);
		return refuse_uri(uri, err);
	}
	if (!opt)
		opt = &defaults;
	throttle_init(&s->throttle, opt->rate);
	const char *rest = *scheme ? uri + strlen(scheme) + 1 : uri;
	int rc = s->backend->open(s, scheme, rest, opt, err);
	if (rc) {
		storage_close(s);
		return rc;
	}
	size_t n = strlen(s->path);
	while (n > 1 && s->path[n - 1] == '/')
		s->path[--n] = 0;
	*out = s;
	return RC_OK;
}

void storage_close(struct storage *s)
{
	if (!s)
		return;
	s->backend->close(s);
	mem_free(s->prefix);
	mem_free(s->path);
	mem_free(s->user);
	throttle_release(&s->throttle);
	mem_free(s);
}

void storage_hurry(struct storage *s)
{
	if (s->backend->hurry)
		s->backend->hurry(s);
}

bool storage_renames(const struct storage *s)
{
	return !s->backend->copies;
}

bool storage_is_here(const struct storage *s)
{
	return !s->backend->remote;
}

const char *storage_path(const struct storage *s)
{
	return s->path;
}

const char *storage_user(const struct storage *s)
{
	return s->user;
}

char *storage_name(const struct storage *s, const char *path)
{
	return mem_format("%s%s", s->prefix, path);
}

int storage_stat(struct storage *s, const char *path, struct storage_info *out, struct error *err)
{
	*out = (struct storage_info){0};
	return s->backend->stat(s, path, out, err);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct storage_entry *)a)->name,
		      ((const struct storage_entry *)b)->name);
}

int storage_list(struct storage *s, const char *path, struct arena *a, struct storage_entry **out,
		 size_t *n, struct error *err)
{
	*out = NULL;
	*n = 0;
	int rc = s->backend->list(s, path, a, out, n, err);
	if (rc == RC_OK && *n > 1)
		qsort(*out, *n, sizeof **out, by_name);
	return rc;
}

int storage_make_dirs(struct storage *s, const char *path, unsigned mode, struct error *err)
{
	return s->backend->make_dirs(s, path, mode, err);
}

int storage_set_mode(struct storage *s, const char *path, unsigned mode, struct error *err)
{
	return s->backend->set_mode(s, path, mode, err);
}

int storage_free(struct storage *s, const char *path, uint64_t *bytes, struct error *err)
{
	*bytes = UINT64_MAX;
	return s->backend->free(s, path, bytes, err);
}

int storage_quota(struct storage *s, const char *path, struct storage_quota *out, struct error *err)
{
	*out = (struct storage_quota){.names = UINT64_MAX, .bytes = UINT64_MAX};
	return s->backend->quota ? s->backend->quota(s, path, out, err) : RC_OK;
}

int storage_may(struct storage *s, const char *path, const char *what, struct error *err)
{
	return s->backend->may ? s->backend->may(s, path, what, err) : RC_OK;
}

int storage_token(struct storage *s, const char *uri, struct storage_token *out, struct error *err)
{
	*out = (struct storage_token){0};
	if (s->backend->token)
		return s->backend->token(s, uri, out, err);
	return error_set(
		err, RC_CONFIG,
		"%s%s: no delegation token: found %s, expected HDFS, which alone gives "
		"such tokens. A secured HBase reads a load as its user by this token: keep "
		"HBase's files (hbase.rootdir) and the load's upload in HDFS, or both in S3",
		s->prefix, s->path, s->backend->remote ? "S3" : "a file system of this machine");
}

int storage_token_renew(struct storage *s, const struct hadoop_tokens *tokens, bool cancel,
			const struct hadoop_token **which, int64_t *until_ms, struct error *err)
{
	if (s->backend->renew)
		return s->backend->renew(s, tokens, cancel, which, until_ms, err);
	return error_set(err, RC_CONFIG, "%s%s has no delegation tokens", s->prefix, s->path);
}

int storage_touch(struct storage *s, const char *path, struct error *err)
{
	return s->backend->touch(s, path, err);
}

int storage_move(struct storage *s, const char *from, const char *to, struct error *err)
{
	return s->backend->move(s, from, to, err);
}

int storage_remove(struct storage *s, const char *path, struct error *err)
{
	return s->backend->remove(s, path, err);
}

void storage_tidy(struct storage *s, const char *path)
{
	if (s->backend->tidy)
		s->backend->tidy(s, path);
}

int storage_read(struct storage *s, const char *path, size_t most, struct buf *out,
		 struct error *err)
{
	return s->backend->read(s, path, most, out, err);
}

int storage_read_at(struct storage *s, const char *path, uint64_t offset, void *to, size_t len,
		    struct error *err)
{
	return s->backend->read_at(s, path, offset, to, len, err);
}

static int check_same(struct storage *s, const char *path, const struct storage_info *of,
		      struct error *err)
{
	struct storage_info now;
	int rc = storage_stat(s, path, &now, err);

	if (rc || (now.file_id == of->file_id && now.bytes == of->bytes &&
		   now.modified_ms == of->modified_ms))
		return rc;
	return error_set(err, RC_IO,
			 "%s%s: the file changed during the load; load it again when no program "
			 "writes it",
			 s->prefix, path);
}

/* Read parts, and check at the end that the file is still the same. */
static int pass_parts(struct storage *s, const char *path, const struct storage_info *of,
		      uint64_t first, storage_take *take, void *ctx, struct error *err)
{
	uint8_t *part = mem_alloc(PART_BYTES);
	int rc = RC_OK;

	while (rc == RC_OK && first < of->bytes) {
		size_t n =
			of->bytes - first < PART_BYTES ? (size_t)(of->bytes - first) : PART_BYTES;

		rc = storage_read_at(s, path, first, part, n, err);
		if (rc == RC_OK && !take(ctx, part, n))
			rc = RC_END;
		first += n;
	}
	mem_free(part);
	return rc ? rc : check_same(s, path, of, err);
}

int storage_pass(struct storage *s, const char *path, const struct storage_info *of, uint64_t first,
		 storage_take *take, void *ctx, struct error *err)
{
	return s->backend->pass ? s->backend->pass(s, path, of, first, take, ctx, err)
				: pass_parts(s, path, of, first, take, ctx, err);
}

int storage_put(struct storage *s, const char *local, const char *path, unsigned mode,
		struct storage_info *out, bool *kept, struct error *err)
{
	struct storage_info ignored;
	bool unused;

	kept = kept ? kept : &unused;
	*kept = false;
	return s->backend->put(s, local, path, mode, out ? out : &ignored, kept, err);
}

int storage_copy(struct storage *s, struct storage *from, const char *source,
		 const struct storage_info *of, const char *path, struct error *err)
{
	if (s->backend->copy && s->backend == from->backend)
		return s->backend->copy(s, from, source, of, path, err);
	error_set(err, RC_CONFIG, "%s: found a server that copies no files of %s", s->prefix,
		  from->prefix);
	return RC_END;
}

struct storage_file {
	const struct storage_backend *backend;
	void *self;
	struct error failure; /* the first failure; code is 0 if there is none */
};

int storage_begin(struct storage *s, struct storage_file **out, const char *path, unsigned mode,
		  struct error *err)
{
	struct storage_file *f = mem_calloc(1, sizeof *f);

	f->backend = s->backend;
	int rc = s->backend->begin(s, &f->self, path, mode, err);
	if (rc) {
		mem_free(f);
		f = NULL;
	}
	*out = f;
	return rc;
}

int storage_add(struct storage_file *f, const void *ptr, size_t len, struct error *err)
{
	if (f->failure.code == RC_OK && f->backend->add(f->self, ptr, len, &f->failure) == RC_OK)
		return RC_OK;
	*err = f->failure;
	return err->code;
}

int storage_end(struct storage_file *f, uint8_t digest[16], struct error *err)
{
	uint8_t ignored[16];
	int rc = f->failure.code;

	if (rc)
		*err = f->failure;
	else
		rc = f->backend->end(f->self, digest ? digest : ignored, err);
	if (rc) {
		storage_abort(f);
		return rc;
	}
	mem_free(f);
	return rc;
}

void storage_abort(struct storage_file *f)
{
	if (!f)
		return;
	f->backend->abort(f->self);
	mem_free(f);
}

int storage_write(struct storage *s, const char *path, struct bytes content, uint8_t digest[16],
		  struct error *err)
{
	struct storage_file *f;
	int rc = storage_begin(s, &f, path, 0, err);

	if (rc)
		return rc;
	rc = storage_add(f, content.ptr, content.len, err);
	if (rc == RC_OK)
		return storage_end(f, digest, err);
	storage_abort(f);
	return rc;
}
