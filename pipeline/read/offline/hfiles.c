/*
 * hfiles.c - list HFiles that are in no table: HFILE... or FAMILY/HFILE..., as for a bulk load
 *
 * If cells are equal, the order of store files in a region decides, as if a region had the files.
 */
#include <stdlib.h>
#include <string.h>

#include "offline.h"

static int by_name(const void *a, const void *b)
{
	return bytes_cmp(((const struct query_family *)a)->name,
			 ((const struct query_family *)b)->name);
}

/* Return the index of the family. Families are added in any order. */
static size_t add_family(struct offline *o, const char *name)
{
	struct published *p = o->out;
	size_t i;

	if (offline_find_family(p, name, &i) == RC_OK)
		return i;
	p->families = arena_grow(o->a, p->families, p->nfamilies, sizeof *p->families);
	p->families[p->nfamilies] =
		(struct query_family){.name = arena_bytes(o->a, bytes_str(name)),
				      .versions = INT32_MAX};
	return p->nfamilies++;
}

/* Read the family of the file's first cell. *name is NULL if the file has no cells. */
static int read_family(struct offline *o, const struct query_file *f, const char **name,
		       struct error *err)
{
	struct hfile_source source;
	struct hfile *h = NULL;
	struct cell c;
	int rc = offline_open_file(f, &source, err);

	*name = NULL;
	if (rc == RC_OK)
		rc = hfile_open_source(&h, &source, err);
	if (rc)
		return rc;
	hfile_rewind(h);
	rc = hfile_next_cell(h, &c, err);
	if (rc == RC_OK)
		*name = arena_strndup(o->a, c.family.ptr, c.family.len);
	hfile_close(h);
	return rc < 0 ? rc : RC_OK;
}

static int add_hfile(struct offline *o, const char *dir, const struct storage_entry *e,
		     const char *family, struct error *err)
{
	const struct query_file f = {.open = offline_open_file, .of_server = true};
	struct published *p = o->out;
	int rc = offline_add_file(o, &f, arena_format(o->a, "%s/%s", dir, e->name), e->info.bytes,
				  err);

	if (rc == RC_OK && !family)
		rc = read_family(o, &p->files[p->nfiles - 1], &family, err);
	if (rc == RC_OK && !family)
		p->nfiles--;
	else if (rc == RC_OK)
		p->files[p->nfiles - 1].family = add_family(o, family);
	return rc;
}

static bool is_hidden(const char *name)
{
	return *name == '.' || *name == '_';
}

static int list_family(struct offline *o, const char *dir, const char *family, struct error *err)
{
	const char *folder = arena_format(o->a, "%s/%s", dir, family);
	struct storage_entry *e;
	size_t n;
	int rc = storage_list(o->storage, folder, o->a, &e, &n, err);

	for (size_t i = 0; rc == RC_OK && i < n; i++)
		if (!is_hidden(e[i].name) && e[i].info.kind == STORAGE_FILE)
			rc = add_hfile(o, folder, &e[i], family, err);
		else if (!is_hidden(e[i].name))
			rc = error_set(
				err, RC_DATA,
				"%s: found folder %s, expected HFiles; a load has manifest.json, "
				"and a table of HBase is --table-dir URI",
				folder, e[i].name);
	return rc;
}

/* Sort the families by name, and give each file its family's new index. */
static void sort_families(struct published *p)
{
	const struct query_family *old = p->families;
	struct query_family *all = arena_alloc(&p->arena, (p->nfamilies + 1) * sizeof *all);

	for (size_t i = 0; i < p->nfamilies; i++)
		all[i] = old[i];
	qsort(all, p->nfamilies, sizeof *all, by_name);
	p->families = all;
	for (size_t i = 0; i < p->nfiles; i++)
		offline_find_family(p, (const char *)old[p->files[i].family].name.ptr,
				    &p->files[i].family);
}

/* List a single HFile. */
static int list_file(struct offline *o, const char *path, uint64_t bytes, struct error *err)
{
	const char *slash = strrchr(path, '/');
	const struct storage_entry e = {.name = slash + 1, .info.bytes = bytes};

	return add_hfile(o, arena_strndup(o->a, path, (size_t)(slash - path)), &e, NULL, err);
}

int offline_list_hfiles(struct offline *o, struct error *err)
{
	const char *dir = storage_path(o->storage);
	struct storage_entry *e;
	struct storage_info info;
	size_t n;
	int rc = storage_stat(o->storage, dir, &info, err);

	if (rc == RC_OK && info.kind == STORAGE_FILE)
		return list_file(o, dir, info.bytes, err);
	if (rc == RC_OK)
		rc = storage_list(o->storage, dir, o->a, &e, &n, err);

	for (size_t i = 0; rc == RC_OK && i < n; i++) {
		if (is_hidden(e[i].name))
			continue;
		rc = e[i].info.kind == STORAGE_FOLDER ? list_family(o, dir, e[i].name, err)
						      : add_hfile(o, dir, &e[i], NULL, err);
	}
	if (rc == RC_OK && o->out->nfiles == 0)
		rc = error_set(
			err, RC_DATA,
			"%s: found no manifest.json and no HFiles, expected a load, or HFILE "
			"or FAMILY/HFILE",
			dir);
	if (rc == RC_OK)
		sort_families(o->out);
	return rc;
}
