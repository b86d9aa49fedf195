/* verify_stores.c - verify the store files of a table, and the MOB files that they list */
#include <stdlib.h>
#include <string.h>

#include "offline.h"
#include "pool.h"
#include "publish.h"

struct check {
	const struct query_file *file; /* a store file; for a MOB file, one that refers to it */
	struct mob_reference mob;      /* `file` is empty for a store file */
	const char *name;
	struct bytes mobs; /* MOB_FILE_REFS of a store file */
	struct arena arena;
	struct hfile_summary sum;
	struct error failure;
};

struct checks {
	const struct published *files;
	struct check *item;
	size_t n;
	struct progress *progress;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct check *)a)->name, ((const struct check *)b)->name);
}

/* Keep one check of each file. Several references may select parts of a file. */
static void drop_repeated(struct checks *all)
{
	size_t n = 0;

	if (all->n)
		qsort(all->item, all->n, sizeof *all->item, by_name);
	for (size_t i = 0; i < all->n; i++)
		if (n == 0 || by_name(&all->item[n - 1], &all->item[i]) != 0)
			all->item[n++] = all->item[i];
	all->n = n;
}

static void list_files(struct checks *all)
{
	const struct published *p = all->files;

	all->item = mem_calloc(p->nfiles + 1, sizeof *all->item);
	for (all->n = 0; all->n < p->nfiles; all->n++)
		all->item[all->n] =
			(struct check){.file = &p->files[all->n], .name = p->files[all->n].name};
	drop_repeated(all);
}

struct mob_list {
	struct checks *to;
	const struct check *from;
	struct arena *a;
};

static int take_mob(void *ctx, const struct mob_reference *r, struct error *err)
{
	struct mob_list *l = ctx;
	struct checks *to = l->to;

	(void)err;
	to->item = arena_grow(l->a, to->item, to->n, sizeof *to->item);
	to->item[to->n++] =
		(struct check){.file = l->from->file,
			       .mob = *r,
			       .name = arena_format(l->a, "MOB file %.*s of table %.*s",
						    (int)r->file.len, (const char *)r->file.ptr,
						    (int)r->table.len, (const char *)r->table.ptr)};
	return RC_OK;
}

/* List the MOB files of all store files. A damaged list is a problem of the store file. */
static void list_mobs(struct checks *out, struct checks *stores, struct arena *a)
{
	for (size_t i = 0; i < stores->n; i++) {
		struct check *c = &stores->item[i];
		struct mob_list l = {out, c, a};

		if (c->failure.code || !c->mobs.len)
			continue;
		offline_walk_mobs(c->mobs, stores->files->families[c->file->family].name, take_mob,
				  &l, &c->failure);
	}
	drop_repeated(out);
}

static int open_checked(struct check *c, struct hfile **h, struct error *err)
{
	struct hfile_source source;
	int rc = c->mob.file.len
			 ? c->file->mobs->open(c->file->mobs, &c->mob, &c->arena, &source, err)
			 : offline_open_file(c->file, &source, err);

	return rc ? rc : hfile_open_source(h, &source, err);
}

static int check_file(void *ctx, unsigned worker, size_t i, struct error *err)
{
	struct checks *all = ctx;
	struct check *c = &all->item[i];
	struct hfile *h = NULL;
	struct bytes mobs;

	(void)worker;
	int rc = stop_check(err);
	if (rc)
		return rc;
	rc = open_checked(c, &h, &c->failure);
	if (rc == RC_OK && hfile_info_get(h, "MOB_FILE_REFS", &mobs))
		c->mobs = arena_bytes(&c->arena, mobs);
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
		findings_add(&out->findings, true, c->name, "%s", c->failure.msg);
		return;
	}
	findings_add(&out->findings, false, c->name, "%llu rows, %llu cells",
		     (unsigned long long)c->sum.rows, (unsigned long long)c->sum.cells);
	out->files++;
	if (c->mob.file.len) /* the store files have counted these cells */
		return;
	out->rows += c->sum.rows;
	out->cells += c->sum.cells;
}

static int check_files(struct checks *all, unsigned threads, struct error *err)
{
	progress_begin(all->progress, "verifying", PROGRESS_FILES, all->n);
	return pool_run(threads, all->n, check_file, all, err);
}

static void report_files(struct verify_result *out, struct checks *all)
{
	for (size_t i = 0; i < all->n; i++) {
		report_file(out, &all->item[i]);
		hfile_summary_release(&all->item[i].sum);
		arena_release(&all->item[i].arena);
	}
}

int offline_verify(struct verify_result *out, const struct published *p, unsigned threads,
		   struct progress *progress, struct error *err)
{
	struct checks stores = {.files = p, .progress = progress};
	struct checks mobs = stores;
	struct arena a = {0};

	*out = (struct verify_result){0};
	list_files(&stores);
	int rc = check_files(&stores, threads, err);
	if (rc == RC_OK)
		list_mobs(&mobs, &stores, &a);
	if (rc == RC_OK && mobs.n)
		rc = check_files(&mobs, threads, err);
	report_files(out, &mobs); /* names of MOB files point into the checks of store files */
	report_files(out, &stores);
	mem_free(stores.item);
	arena_release(&a);
	return rc;
}
