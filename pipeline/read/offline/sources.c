/* sources.c - open store files of any storage, and verify them */
#include <stdlib.h>
#include <string.h>

#include "offline.h"
#include "pool.h"
#include "publish.h"

int offline_open_file(const struct query_file *f, struct hfile_source *out, struct error *err)
{
	const struct remote_file *file = f->place;
	int rc;

	if (!storage_is_here(file->storage)) {
		rc = remote_file_source(out, file, f->name, err);
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
