/*
 * sources.c - open store files of any storage, and verify them
 *
 * Each read of a remote file is a request of its own. The source therefore reads ahead: a window
 * that grows while a scan reads the file in order, and starts small again after a jump.
 */
#include <stdlib.h>
#include <string.h>

#include "offline.h"
#include "pool.h"
#include "publish.h"

#define WINDOW_LEAST ((size_t)64 << 10)
#define WINDOW_MOST  ((size_t)8 << 20)

struct remote_source {
	struct offline_file file;
	uint64_t at; /* offset of the window */
	struct buf window;
	size_t wanted; /* bytes of the next window */
};

static void close_remote(void *self)
{
	struct remote_source *s = self;

	buf_release(&s->window);
	mem_free(s);
}

/* Read from the archive if HBase has moved the file. */
static int read_moved(struct remote_source *s, uint64_t offset, size_t n, struct error *err)
{
	struct storage_info info;
	struct error unread;
	const struct offline_file *f = &s->file;
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

int offline_open_file(const struct query_file *f, struct hfile_source *out, struct error *err)
{
	const struct offline_file *file = f->place;
	struct remote_source *s;
	int rc;

	if (!storage_is_here(file->storage)) {
		s = mem_try_calloc(1, sizeof *s);
		if (!s)
			return error_memory(err, sizeof *s, file->path);
		s->file = *file;
		*out = (struct hfile_source){f->name, file->bytes, read_remote, close_remote, s};
		rc = RC_OK;
	} else {
		struct error moved;

		rc = hfile_file_source(out, file->path, err);
		if (rc && file->archive && hfile_file_source(out, file->archive, &moved) == RC_OK)
			rc = RC_OK;
	}
	return rc ? rc : hfile_source_watch(out, f->progress, err);
}

/* --- verify --- */

struct check {
	const struct query_file *file;
	struct hfile_summary sum;
	struct error failure;
};

struct checks {
	struct check *item;
	size_t n;
	struct progress *progress;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct check *)a)->file->name, ((const struct check *)b)->file->name);
}

/* List each file once, even if several references select parts of it. */
static void list_files(struct checks *all, const struct published *p)
{
	size_t n = 0;

	all->item = mem_calloc(p->nfiles + 1, sizeof *all->item);
	for (size_t i = 0; i < p->nfiles; i++)
		all->item[i].file = &p->files[i];
	qsort(all->item, p->nfiles, sizeof *all->item, by_name);
	for (size_t i = 0; i < p->nfiles; i++)
		if (n == 0 || by_name(&all->item[n - 1], &all->item[i]) != 0)
			all->item[n++] = all->item[i];
	all->n = n;
}

static int check_file(void *ctx, unsigned worker, size_t i, struct error *err)
{
	struct checks *all = ctx;
	struct check *c = &all->item[i];
	struct hfile_source source;
	struct hfile *h = NULL;

	(void)worker;
	int rc = stop_check(err);
	if (rc)
		return rc;
	rc = offline_open_file(c->file, &source, &c->failure);
	if (rc == RC_OK)
		rc = hfile_open_source(&h, &source, &c->failure);
	if (rc == RC_OK)
		rc = hfile_verify_open(h, &c->sum, &c->failure);
	hfile_close(h);
	progress_add(all->progress, 1);
	if (rc == RC_STOPPED)
		*err = c->failure;
	return rc == RC_STOPPED ? rc : RC_OK;
}

static void report_file(struct verify_result *out, const struct check *c)
{
	if (c->failure.code) {
		findings_add(&out->findings, true, c->file->name, "%s", c->failure.msg);
		return;
	}
	findings_add(&out->findings, false, c->file->name, "%llu rows, %llu cells",
		     (unsigned long long)c->sum.rows, (unsigned long long)c->sum.cells);
	out->files++;
	out->rows += c->sum.rows;
	out->cells += c->sum.cells;
}

int offline_verify(struct verify_result *out, const struct published *p, unsigned threads,
		   struct progress *progress, struct error *err)
{
	struct checks all = {.progress = progress};

	*out = (struct verify_result){0};
	list_files(&all, p);
	progress_begin(progress, "verifying", PROGRESS_FILES, all.n);
	int rc = pool_run(threads, all.n, check_file, &all, err);
	for (size_t i = 0; i < all.n; i++) {
		report_file(out, &all.item[i]);
		hfile_summary_release(&all.item[i].sum);
	}
	mem_free(all.item);
	return rc;
}
