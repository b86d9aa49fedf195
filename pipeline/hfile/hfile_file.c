/*
 * hfile_file.c - read and write HFiles by path; no other file of this folder uses paths and
 * descriptors
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hfile.h"
#include "io.h"
#include "mem.h"
#include "writer.h"

struct file_source {
	int fd;
	char *path;
};

static void source_close(void *self)
{
	struct file_source *s = self;

	if (s->fd >= 0)
		close(s->fd);
	mem_free(s->path);
	mem_free(s);
}

static int source_read(void *self, uint64_t offset, void *to, size_t len, struct error *err)
{
	const struct file_source *s = self;

	return io_pread(s->fd, to, len, offset, s->path, err);
}

static int open_regular(struct file_source *s, uint64_t *bytes, struct error *err)
{
	struct stat st;

	s->fd = open(s->path, O_RDONLY | O_CLOEXEC);
	if (s->fd < 0 || fstat(s->fd, &st) < 0)
		return error_errno(err, "cannot open %s", s->path);
	if (S_ISDIR(st.st_mode))
		return error_set(err, RC_DATA, "%s: found a folder, expected an HFile", s->path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, RC_DATA, "%s: found something else, expected a regular file",
				 s->path);
	*bytes = (uint64_t)st.st_size;
	return 0;
}

int hfile_file_source(struct hfile_source *out, const char *path, struct error *err)
{
	struct file_source *s = mem_try_calloc(1, sizeof *s);
	char *copy = mem_try_strdup(path);
	uint64_t bytes = 0;

	if (!s || !copy) {
		mem_free(s);
		mem_free(copy);
		return error_memory(err, sizeof *s, path);
	}
	*s = (struct file_source){-1, copy};
	int rc = open_regular(s, &bytes, err);
	if (rc) {
		source_close(s);
		return rc;
	}
	*out = (struct hfile_source){s->path, bytes, source_read, source_close, s};
	return 0;
}

/* --- a source with a watch on its reads --- */

struct watched {
	struct hfile_source source;
	struct progress *progress;
	uint64_t seen;
};

static int watched_read(void *self, uint64_t offset, void *to, size_t len, struct error *err)
{
	struct watched *w = self;
	uint64_t left = w->source.bytes - w->seen, n = len < left ? len : left;

	w->seen += n;
	progress_add(w->progress, n);
	return w->source.read(w->source.self, offset, to, len, err);
}

static void watched_close(void *self)
{
	struct watched *w = self;

	progress_add(w->progress, w->source.bytes - w->seen);
	if (w->source.close)
		w->source.close(w->source.self);
	mem_free(w);
}

int hfile_source_watch(struct hfile_source *s, struct progress *p, struct error *err)
{
	struct watched *w = p ? mem_try_calloc(1, sizeof *w) : NULL;

	if (!p)
		return 0;
	if (!w) {
		int rc = error_memory(err, sizeof *w, s->name);

		if (s->close)
			s->close(s->self);
		return rc;
	}
	*w = (struct watched){.source = *s, .progress = p};
	*s = (struct hfile_source){s->name, s->bytes, watched_read, watched_close, w};
	return 0;
}

int hfile_open(struct hfile **out, const char *path, struct error *err)
{
	struct hfile_source source;

	*out = NULL;
	int rc = hfile_file_source(&source, path, err);
	return rc ? rc : hfile_open_source(out, &source, err);
}

int hfile_verify(const char *path, struct hfile_summary *sum, struct error *err)
{
	struct hfile *f;

	*sum = (struct hfile_summary){0};
	int rc = hfile_open(&f, path, err);
	if (rc)
		return rc;
	rc = hfile_verify_open(f, sum, err);
	hfile_close(f);
	if (rc == RC_OK)
		rc = io_digest_file(path, sum->digest, &sum->file_bytes, err);
	if (rc)
		hfile_summary_release(sum);
	return rc;
}

struct file_sink {
	struct out_file file;
	struct syncer *syncer;
};

static int sink_append(void *self, const void *ptr, size_t len, struct error *err)
{
	struct file_sink *s = self;

	(void)err; /* out_finish reports it */
	out_write(&s->file, ptr, len);
	return 0;
}

static int sink_finish(void *self, uint8_t digest[16], struct error *err)
{
	struct file_sink *s = self;

	out_digest(&s->file, digest);
	int rc = out_finish_later(&s->file, s->syncer, err);
	mem_free(s);
	return rc;
}

static void sink_abort(void *self)
{
	struct file_sink *s = self;

	out_abort(&s->file);
	mem_free(s);
}

int hfile_writer_new(struct hfile_writer **out, const char *path, const struct hfile_options *opt,
		     struct error *err)
{
	*out = NULL;
	int rc = hfile_writer_check(opt, err);
	if (rc)
		return rc;
	struct file_sink *s = mem_try_calloc(1, sizeof *s);
	if (!s)
		return error_memory(err, sizeof *s, path);
	s->syncer = opt->syncer;
	rc = out_open(&s->file, path, opt->file_buffer_bytes, err);
	if (rc) {
		mem_free(s);
		return rc;
	}
	s->file.temporary = opt->temporary;
	struct hfile_sink sink = {s->file.path, sink_append, sink_finish, sink_abort, s};
	return hfile_writer_new_to(out, &sink, opt, err);
}
