/*
 * remote_file.c - read an HFile of any storage
 *
 * Each read of a remote file is a request of its own. The source therefore reads ahead: a window
 * that grows while a scan reads the file in order, and starts small again after a jump.
 */
#include "publish.h"

#include <string.h>

#include "hfile.h"

#define WINDOW_LEAST ((size_t)64 << 10)
#define WINDOW_MOST  ((size_t)8 << 20)

struct remote_source {
	struct remote_file file;
	bool owns;   /* the storage belongs to the source */
	uint64_t at; /* offset of the window */
	struct buf window;
	size_t wanted; /* bytes of the next window */
};

static void close_remote(void *self)
{
	struct remote_source *s = self;

	buf_release(&s->window);
	if (s->owns)
		storage_close(s->file.storage);
	mem_free(s);
}

/* Read from the archive if HBase has moved the file. */
static int read_moved(struct remote_source *s, uint64_t offset, size_t n, struct error *err)
{
	struct storage_info info;
	struct error unread;
	const struct remote_file *f = &s->file;
	bool gone = f->archive && storage_stat(f->storage, f->path, &info, &unread) == RC_OK &&
		    info.kind == STORAGE_NOTHING;

	if (!gone)
		return err->code;
	s->file.path = f->archive;
	s->file.archive = NULL;
	return storage_read_at(f->storage, f->path, offset, s->window.ptr, n, err);
}

static int move_window(struct remote_source *s, uint64_t offset, size_t len, struct error *err)
{
	uint64_t left = s->file.bytes - offset;
	bool onward = offset >= s->at && offset <= s->at + s->window.len;

	s->wanted = onward && s->wanted ? s->wanted * 2 : WINDOW_LEAST;
	s->wanted = s->wanted > WINDOW_MOST ? WINDOW_MOST : s->wanted;
	size_t n = len > s->wanted ? len : s->wanted;
	n = left < n ? (size_t)left : n;
	s->window.len = 0;
	if (!buf_try_reserve(&s->window, n))
		return error_memory(err, n, s->file.path);
	int rc = storage_read_at(s->file.storage, s->file.path, offset, s->window.ptr, n, err);
	if (rc)
		rc = read_moved(s, offset, n, err);
	if (rc == RC_OK) {
		s->at = offset;
		s->window.len = n;
	}
	return rc;
}

static int read_remote(void *self, uint64_t offset, void *to, size_t len, struct error *err)
{
	struct remote_source *s = self;
	bool inside = offset >= s->at && offset + len <= s->at + s->window.len;
	int rc = inside || len == 0 ? RC_OK : move_window(s, offset, len, err);

	if (rc == RC_OK && len)
		memcpy(to, s->window.ptr + (offset - s->at), len);
	return rc;
}

static int make_source(struct hfile_source *out, const struct remote_file *f, bool owns,
		       const char *name, struct error *err)
{
	struct remote_source *s = mem_try_calloc(1, sizeof *s);

	if (!s)
		return error_memory(err, sizeof *s, f->path);
	s->file = *f;
	s->owns = owns;
	*out = (struct hfile_source){name, f->bytes, read_remote, close_remote, s};
	return RC_OK;
}

int remote_file_source(struct hfile_source *out, const struct remote_file *f, const char *name,
		       struct error *err)
{
	return make_source(out, f, false, name, err);
}

int load_file_source(struct hfile_source *out, const char *path, struct error *err)
{
	struct storage *s;
	struct storage_info info = {0};

	if (!storage_is_remote(path))
		return hfile_file_source(out, path, err);
	int rc = storage_open(&s, path, NULL, err);
	if (rc)
		return rc;
	rc = storage_stat(s, storage_path(s), &info, err);
	if (rc == RC_OK && info.kind != STORAGE_FILE)
		rc = error_set(err, RC_IO, "%s: found no such file", path);
	const struct remote_file f = {.storage = s, .path = storage_path(s), .bytes = info.bytes};
	if (rc == RC_OK)
		rc = make_source(out, &f, true, path, err);
	if (rc)
		storage_close(s);
	return rc;
}
