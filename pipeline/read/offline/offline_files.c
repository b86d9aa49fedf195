/* offline_files.c - add store files to a query, and find their families */
#include <string.h>

#include "offline.h"

int offline_find_family(const struct published *p, const char *name, size_t *out)
{
	for (size_t i = 0; i < p->nfamilies; i++) {
		*out = i;
		if (bytes_eq(p->families[i].name, bytes_str(name)))
			return RC_OK;
	}
	return RC_END;
}

struct remote_file offline_place_of(const struct offline *o, const char *path, uint64_t bytes)
{
	size_t n = o->root ? strlen(o->root) : 0;
	bool inside =
		o->root && strncmp(path, o->root, n) == 0 && strncmp(path + n, "/data/", 6) == 0;

	return (struct remote_file){.storage = o->storage,
				    .path = path,
				    .archive = inside ? arena_format(o->a, "%s/archive%s", o->root,
								     path + n)
						      : NULL,
				    .bytes = bytes};
}

int offline_add_file(struct offline *o, const struct query_file *f, const char *path,
		     uint64_t bytes, struct error *err)
{
	struct published *p = o->out;
	struct remote_file *place = arena_alloc(o->a, sizeof *place);

	if (bytes == 0)
		return error_set(err, RC_DATA, "%s: found an empty file, expected an HFile", path);
	*place = offline_place_of(o, path, bytes);
	p->files = arena_grow(o->a, p->files, p->nfiles, sizeof *p->files);
	p->files[p->nfiles] = *f;
	p->files[p->nfiles].place = place;
	p->files[p->nfiles].name = path;
	p->nfiles++;
	return RC_OK;
}
