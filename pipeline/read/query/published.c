/* published.c - list the files of published loads for a query (query.h) */
#include "query.h"

#include <stdlib.h>
#include <string.h>

#include "publish.h"
#include "storage.h"

static const char *attribute(const struct family *f, const char *key)
{
	for (size_t i = 0; i < f->more.count; i++)
		if (strcmp(f->more.item[i].key, key) == 0)
			return f->more.item[i].value;
	return NULL;
}

static int take_family(struct query_family *out, const struct family *f, bool of_files,
		       struct error *err)
{
	const char *keep = attribute(f, "KEEP_DELETED_CELLS");
	const char *behavior = attribute(f, "NEW_VERSION_BEHAVIOR");

	if (of_files && behavior && strcmp(behavior, "true") == 0)
		return error_set(
			err, RC_CONFIG,
			"found NEW_VERSION_BEHAVIOR in family %s, whose results depend on more "
			"than the files; expected a family without NEW_VERSION_BEHAVIOR",
			f->name);
	*out = (struct query_family){
		.name = bytes_str(f->name),
		.versions = (uint32_t)f->versions,
		.min_versions = (uint32_t)f->min_versions,
		.ttl_ms = f->ttl_s == TTL_FOREVER ? 0 : 1000 * (int64_t)f->ttl_s,
		.keep_deleted = !keep || strcmp(keep, "FALSE") == 0 ? KEEP_DELETED_FALSE
				: strcmp(keep, "TTL") == 0	    ? KEEP_DELETED_TTL
								    : KEEP_DELETED_TRUE,
	};
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return bytes_cmp(((const struct query_family *)a)->name,
			 ((const struct query_family *)b)->name);
}

static int find_family(const struct published *p, const char *name, size_t *out)
{
	for (size_t i = 0; i < p->nfamilies; i++) {
		if (bytes_eq(p->families[i].name, bytes_str(name))) {
			*out = i;
			return 0;
		}
	}
	return RC_END;
}

static const struct manifest_table *find_table(const struct manifest *m, const char *name)
{
	for (size_t i = 0; i < m->ntables; i++)
		if (strcmp(m->tables[i].name, name) == 0)
			return &m->tables[i];
	return NULL;
}

static char *path_in(struct arena *a, const char *dir, const char *name)
{
	size_t n = strlen(dir), bytes = n + strlen(name) + 2;
	char *path = arena_alloc(a, bytes);
	bool ends = n && dir[n - 1] == '/';

	memcpy(path, dir, n);
	path[n] = '/';
	memcpy(path + n + !ends, name, strlen(name) + 1);
	return path;
}

int published_add_load(struct published *p, const char *name, const char *dir, uint64_t rank,
		       struct error *err)
{
	struct manifest m;
	struct arena *a = &p->arena;
	int rc = manifest_read(&m, path_in(a, dir, "manifest.json"), a, err);

	if (rc)
		return rc;
	const struct manifest_table *t = find_table(&m, name);
	if (!t)
		return error_set(
			err, RC_DATA,
			"%s: found no table %s in the load, expected a load of this job; check "
			"the order of JOB and DIR",
			dir, name);
	struct query_file *files = arena_alloc(a, (p->nfiles + t->nfiles + 1) * sizeof *files);
	if (p->nfiles)
		memcpy(files, p->files, p->nfiles * sizeof *files);
	p->files = files;
	for (size_t i = 0; i < t->nfiles; i++) {
		const struct manifest_file *f = &t->files[i];
		size_t family;

		if (find_family(p, f->family, &family))
			return error_set(err, RC_DATA,
					 "%s: found %s of family %s, expected a family of the "
					 "job",
					 dir, f->path, f->family);
		p->files[p->nfiles++] = (struct query_file){.open = query_open_path,
							    .name = path_in(a, dir, f->path),
							    .family = family,
							    .age_rank = rank,
							    .digest = f->digest,
							    .first_row = f->first_row,
							    .last_row = f->last_row};
	}
	return 0;
}

int published_families(struct published *out, const struct table *table, bool of_files,
		       struct error *err)
{
	int rc = 0;

	out->nfamilies = table->nfamilies;
	out->families = arena_alloc(&out->arena, (table->nfamilies + 1) * sizeof *out->families);
	for (size_t i = 0; rc == RC_OK && i < table->nfamilies; i++)
		rc = take_family(&out->families[i], &table->families[i], of_files, err);
	if (rc == RC_OK)
		qsort(out->families, out->nfamilies, sizeof *out->families, by_name);
	return rc;
}

int published_open(struct published *out, const struct table *table, const char *const *dirs,
		   size_t ndirs, struct error *err)
{
	*out = (struct published){0};
	int rc = published_families(out, table, ndirs > 0, err);
	for (size_t i = 0; rc == RC_OK && i < ndirs; i++)
		rc = published_add_load(out, table->name, dirs[i], i, err);
	if (rc)
		published_release(out);
	return rc;
}

void published_release(struct published *p)
{
	arena_release(&p->arena);
	storage_close(p->storage);
	*p = (struct published){0};
}
