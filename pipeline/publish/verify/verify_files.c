/*
 * verify_files.c - compare each HFile of a load with the manifest
 *
 * Size and digest prove that a file is unchanged. hfile_verify proves that the content is valid.
 * The function compares its results with the manifest. Each file has a separate list of findings.
 * The function joins the lists in the manifest's order, so the report does not depend on the
 * threads.
 */
#include "publish.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hfile.h"
#include "io.h"
#include "mem.h"
#include "pool.h"

struct file_check {
	const struct manifest_table *table;
	const struct manifest_file *file;
	struct findings findings;
};

struct files_check {
	const char *dir;
	struct storage *from;
	struct progress *progress;
	struct file_check *file;
	size_t count;
};

static void problem(struct file_check *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void problem(struct file_check *c, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	findings_vadd(&c->findings, true, c->file->path, fmt, ap);
	va_end(ap);
}

/* Return the other file that has this digest in the manifest, or NULL. */
static const char *owner_of(const struct files_check *all, const uint8_t digest[16])
{
	for (size_t i = 0; i < all->count; i++)
		if (memcmp(all->file[i].file->digest, digest, 16) == 0)
			return all->file[i].file->path;
	return NULL;
}

/* Check the file's size and digest. Return false if it cannot read the file. */
static bool check_content(const struct files_check *all, struct file_check *c, const char *full)
{
	struct stat st;
	struct error err = {0};
	uint8_t digest[16];
	uint64_t size;

	if (lstat(full, &st) < 0) {
		problem(c, errno == ENOENT ? "missing" : "cannot be read: %s", strerror(errno));
		return false;
	}
	if (!S_ISREG(st.st_mode)) {
		problem(c, "not a regular file");
		return false;
	}
	if (io_digest_file(full, digest, &size, &err)) {
		problem(c, "%s", err.msg);
		return false;
	}
	if (size != c->file->bytes)
		problem(c, "%" PRIu64 " bytes, but the manifest has %" PRIu64, size,
			c->file->bytes);
	if (memcmp(digest, c->file->digest, 16) == 0)
		return true;
	const char *owner = owner_of(all, digest);
	if (owner)
		problem(c, "contains the content of %s", owner);
	else
		problem(c, "changed: found another digest than in the manifest");
	return true;
}

static void check_count(struct file_check *c, const char *what, uint64_t found, uint64_t expected)
{
	if (found != expected)
		problem(c, "%" PRIu64 " %s, but the manifest has %" PRIu64, found, what, expected);
}

static void check_time(struct file_check *c, const char *what, int64_t found, int64_t expected)
{
	if (found != expected)
		problem(c, "%s timestamp %" PRId64 ", but the manifest has %" PRId64, what, found,
			expected);
}

static void check_row(struct file_check *c, const char *which, struct bytes found,
		      struct bytes expected)
{
	if (bytes_eq(found, expected))
		return;
	struct buf a = {0}, b = {0};
	bytes_escape(&a, found);
	buf_put(&a, 0);
	bytes_escape(&b, expected);
	buf_put(&b, 0);
	problem(c, "%s row %s, but the manifest has %s", which, (char *)a.ptr, (char *)b.ptr);
	buf_release(&a);
	buf_release(&b);
}

/*
 * Check the family. All cells have the family of the last key, as hfile_verify has checked. The
 * last key is a flat key (hfile/README.md 3.1).
 */
static void check_family(struct file_check *c, const char *full)
{
	struct hfile *f;
	struct bytes key = {0};
	struct error err = {0};

	if (hfile_open(&f, full, &err)) {
		problem(c, "%s", err.msg);
		return;
	}
	size_t at = 0, len = 0;
	if (hfile_info_get(f, "hfile.LASTKEY", &key) && key.len > 2) {
		at = 3 + (size_t)get_be16(key.ptr);
		len = at <= key.len ? key.ptr[at - 1] : 0;
	}
	if (at + len > key.len ||
	    !bytes_eq(bytes_of(key.ptr + at, len), bytes_str(c->file->family)))
		problem(c, "found cells of another family, expected family %s", c->file->family);
	hfile_close(f);
}

static void check_bounds(struct file_check *c, struct bytes first, struct bytes last)
{
	if (c->file->region >= c->table->nregions) {
		problem(c, "region %zu, but the manifest has %zu regions", c->file->region,
			c->table->nregions);
		return;
	}
	const struct manifest_region *r = &c->table->regions[c->file->region];
	bool low = bytes_cmp(first, r->start) >= 0;
	bool high = r->end.len == 0 || bytes_cmp(last, r->end) < 0;
	if (low && high)
		return;
	struct buf row = {0}, bound = {0};
	bytes_escape(&row, low ? last : first);
	buf_put(&row, 0);
	bytes_escape(&bound, low ? r->end : r->start);
	buf_put(&bound, 0);
	problem(c, "row %s is outside region %zu, which %s at %s", (char *)row.ptr, c->file->region,
		low ? "ends" : "starts", (char *)bound.ptr);
	buf_release(&row);
	buf_release(&bound);
}

static void check_path(struct file_check *c)
{
	char *folder = mem_format("%s/hfiles/%s/", c->table->dir, c->file->family);
	size_t n = strlen(folder);

	if (strncmp(c->file->path, folder, n) != 0 || strchr(c->file->path + n, '/'))
		problem(c, "not in %s, where bulk load looks for this family", folder);
	mem_free(folder);
}

static void check_summary(struct file_check *c, const struct hfile_summary *s)
{
	const struct manifest_file *f = c->file;
	struct bytes first = buf_bytes(&s->first_row), last = buf_bytes(&s->last_row);

	check_count(c, "rows", s->rows, f->rows);
	check_count(c, "cells", s->cells, f->cells);
	check_count(c, "bytes of cells", s->cell_bytes, f->cell_bytes);
	check_row(c, "first", first, f->first_row);
	check_row(c, "last", last, f->last_row);
	check_time(c, "smallest", s->min_ts, f->min_ts);
	check_time(c, "largest", s->max_ts, f->max_ts);
	check_bounds(c, first, last);
}

/*
 * Return the message of hfile_verify without the file's path, because the finding already begins
 * with the path.
 */
static const char *without_path(const struct error *bad, const char *full)
{
	size_t n = strlen(full);

	return strncmp(bad->msg, full, n) ? bad->msg : bad->msg + n + strspn(bad->msg + n, ": ");
}

/* Check the file with hfile_verify, but do not compute its digest. */
static int verify_one(const char *path, struct hfile_summary *sum, struct progress *progress,
		      struct error *err)
{
	struct hfile_source source;
	struct hfile *f;

	*sum = (struct hfile_summary){0};
	int rc = hfile_file_source(&source, path, err);
	if (rc == RC_OK)
		rc = hfile_source_watch(&source, progress, err);
	if (rc == RC_OK)
		rc = hfile_open_source(&f, &source, err);
	if (rc)
		return rc;
	rc = hfile_verify_open(f, sum, err);
	hfile_close(f);
	return rc;
}

int verify_hfile(struct verify_result *out, const char *path, struct progress *progress,
		 struct error *err)
{
	struct stat st;
	struct hfile_summary sum = {0};
	struct error bad = {0};

	*out = (struct verify_result){.files = 1};
	if (stat(path, &st) == 0)
		progress_begin(progress, "verifying", PROGRESS_BYTES, (uint64_t)st.st_size);
	int rc = verify_one(path, &sum, progress, &bad);
	if (rc == RC_MEMORY) {
		*err = bad;
		return rc;
	}
	if (rc)
		findings_add(&out->findings, true, path, "%s", without_path(&bad, path));
	else
		findings_add(&out->findings, false, path,
			     "%" PRIu64 " rows, %" PRIu64 " cells, %" PRIu64 " bytes", sum.rows,
			     sum.cells, sum.file_bytes);
	out->rows = sum.rows;
	out->cells = sum.cells;
	hfile_summary_release(&sum);
	return RC_OK;
}

static int check_file(void *ctx, unsigned worker, size_t index, struct error *err)
{
	(void)worker;
	struct files_check *all = ctx;
	struct file_check *c = &all->file[index];
	struct hfile_summary sum = {0};
	struct error bad = {0};
	if (stop_check(err))
		return err->code;
	char *full = mem_format("%s/%s", all->dir, c->file->path);
	check_path(c);
	bool here = !all->from ||
		    load_fetch_file(all->from, c->file->path, all->dir, NULL, NULL, &bad) == RC_OK;
	if (!here)
		problem(c, "%s", bad.msg);
	if (here && check_content(all, c, full)) {
		if (verify_one(full, &sum, all->progress, &bad) == RC_OK) {
			check_summary(c, &sum);
			check_family(c, full);
		} else {
			problem(c, "%s", without_path(&bad, full));
		}
		hfile_summary_release(&sum);
	}
	if (c->findings.problems == 0)
		findings_add(&c->findings, false, c->file->path,
			     "%" PRIu64 " rows, %" PRIu64 " cells, %" PRIu64 " bytes",
			     c->file->rows, c->file->cells, c->file->bytes);
	if (all->from)
		unlink(full);
	mem_free(full);
	return RC_OK;
}

int verify_files(struct findings *out, const char *dir, struct storage *from,
		 const struct manifest *m, unsigned threads, struct progress *progress,
		 struct error *err)
{
	struct files_check all = {.dir = dir, .from = from, .progress = progress};
	uint64_t bytes = 0;
	size_t n = 0;

	for (size_t i = 0; i < m->ntables; i++)
		n += m->tables[i].nfiles;
	all.file = mem_calloc(n, sizeof *all.file);
	for (size_t i = 0; i < m->ntables; i++)
		for (size_t k = 0; k < m->tables[i].nfiles; k++) {
			bytes += m->tables[i].files[k].bytes;
			all.file[all.count++] = (struct file_check){.table = &m->tables[i],
								    .file = &m->tables[i].files[k]};
		}
	progress_begin(progress, "verifying", PROGRESS_BYTES, bytes);
	int rc = pool_run(threads, n, check_file, &all, err);
	for (size_t i = 0; i < n; i++) {
		findings_append(out, &all.file[i].findings);
		findings_release(&all.file[i].findings);
	}
	mem_free(all.file);
	return rc;
}
