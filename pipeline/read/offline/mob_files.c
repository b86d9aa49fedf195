/*
 * mob_files.c - find the MOB files of a table (HMobStore.getLocations)
 *
 * They are in the folder of a region that does not exist, below ROOT/mobdir, and later in the archive.
 */
#include <string.h>

#include "offline.h"

struct mob_folders {
	struct query_mobs door;
	struct storage *storage;
	const char *root; /* NULL means unknown */
};

const char *offline_table_path(struct arena *a, const char *table)
{
	const char *colon = strchr(table, ':');

	return colon ? arena_format(a, "%.*s/%s", (int)(colon - table), table, colon + 1)
		     : arena_format(a, "default/%s", table);
}

/* Return false for a name that leads to another folder. */
static bool is_plain(struct bytes name)
{
	return name.len && name.ptr[0] != '.' && !memchr(name.ptr, '/', name.len) &&
	       !memchr(name.ptr, 0, name.len) && !memmem(name.ptr, name.len, ":.", 2);
}

static int open_mob(const struct query_mobs *m, const struct mob_reference *r, struct arena *a,
		    struct hfile_source *out, struct error *err)
{
	static const char *const parts[] = {"mobdir/data", "archive/data"};
	const struct mob_folders *o = (const struct mob_folders *)m;
	const char *table = arena_strndup(a, r->table.ptr, r->table.len);
	const char *tail = arena_format(a, "%s/%s/%.*s/%.*s", offline_table_path(a, table),
					disk_mob_region(r->table, a), (int)r->family.len,
					(const char *)r->family.ptr, (int)r->file.len,
					(const char *)r->file.ptr);
	struct storage_info info;

	if (!is_plain(r->table) || !is_plain(r->file))
		return error_set(err, RC_DATA,
				 "found a damaged reference to MOB file %s of table %s, expected "
				 "names without folders",
				 tail, table);
	for (size_t i = 0; o->root && i < 2; i++) {
		const char *path = arena_format(a, "%s/%s/%s", o->root, parts[i], tail);
		int rc = storage_stat(o->storage, path, &info, err);

		if (rc)
			return rc;
		if (info.kind != STORAGE_FILE)
			continue;
		struct remote_file *place = arena_alloc(a, sizeof *place);
		*place = (struct remote_file){.storage = o->storage,
					      .path = path,
					      .bytes = info.bytes};
		return offline_open_file(&(struct query_file){.name = path, .place = place}, out,
					 err);
	}
	return error_set(err, RC_DATA,
			 "MOB file %s of table %s: found it neither in ROOT/mobdir nor in "
			 "ROOT/archive, expected it there%s",
			 tail, table,
			 o->root ? "" : "; name the table as ROOT/data/NAMESPACE/TABLE");
}

const struct query_mobs *offline_mobs_new(const struct offline *o)
{
	struct mob_folders *m = arena_alloc(o->a, sizeof *m);

	*m = (struct mob_folders){{open_mob}, o->storage, o->root};
	return &m->door;
}

/* Take the bytes up to `end` or the end of the list, and move *list after them. */
static struct bytes take_until(struct bytes *list, const char *end)
{
	const uint8_t *at = memmem(list->ptr, list->len, end, strlen(end));
	struct bytes taken = at ? bytes_of(list->ptr, (size_t)(at - list->ptr)) : *list;
	size_t used = at ? taken.len + strlen(end) : taken.len;

	*list = bytes_of(list->ptr + used, list->len - used);
	return taken;
}

/* The list is TABLE/FILE,FILE//TABLE/FILE (MobUtils.serializeMobFileRefs). */
int offline_walk_mobs(struct bytes list, struct bytes family,
		      int (*take)(void *ctx, const struct mob_reference *r, struct error *err),
		      void *ctx, struct error *err)
{
	int rc = RC_OK;

	if (bytes_eq(list, bytes_of("", 1))) /* no MOB files: one zero byte */
		return RC_OK;
	while (rc == RC_OK && list.len) {
		struct bytes files = take_until(&list, "//");
		struct mob_reference r = {.table = take_until(&files, "/"), .family = family};

		if (!r.table.len || !files.len)
			return error_set(err, RC_DATA,
					 "found a damaged MOB_FILE_REFS, expected TABLE/FILE");
		while (rc == RC_OK && files.len) {
			r.file = take_until(&files, ",");
			rc = take(ctx, &r, err);
		}
	}
	return rc;
}
