/* folder.c - read the regions of a table's folder or of a snapshot */
#include <string.h>

#include "offline.h"

#define LARGEST_FILE	((size_t)1 << 30) /* of a manifest */
#define REGION_NAME	32		  /* digits of a region's encoded name */
#define DESCRIPTOR	".tableinfo."
#define REGION_FILES	"region-manifest."
#define SNAPSHOT_FORMAT 2 /* SnapshotManifestV2 */

int offline_read_file(struct offline *o, const char *path, struct buf *text, struct error *err)
{
	text->len = 0;
	int rc = storage_read(o->storage, path, LARGEST_FILE, text, err);

	if (rc == RC_OK && text->len == 0)
		rc = error_set(err, RC_DATA, "%s: found an empty file", path);
	return rc;
}

/* Return true if a file is for HBase's own use, or a checksum of Hadoop's local file system. */
static bool is_hidden(const char *name)
{
	return *name == '.' || *name == '_';
}

int offline_read_descriptor(struct offline *o, const char *dir, struct error *err)
{
	const char *folder = arena_format(o->a, "%s/.tabledesc", dir), *newest = NULL;
	struct storage_entry *e;
	struct buf text = {0};
	size_t n;
	int rc = storage_list(o->storage, folder, o->a, &e, &n, err);

	if (rc)
		return error_prefix(err, "%s: found no table of HBase: ", dir);
	/* the names begin with numbers of 10 digits, and are sorted */
	for (size_t i = 0; i < n; i++)
		if (strncmp(e[i].name, DESCRIPTOR, sizeof DESCRIPTOR - 1) == 0)
			newest = arena_format(o->a, "%s/%s", folder, e[i].name);
	if (!newest)
		return error_set(err, RC_DATA, "%s: found no table descriptor, expected one",
				 folder);
	rc = offline_read_file(o, newest, &text, err);
	if (rc == RC_OK && (rc = disk_read_table(buf_bytes(&text), &o->description, o->a, err)))
		error_prefix(err, "%s: ", newest);
	buf_release(&text);
	return rc;
}

static struct offline_region *add_region(struct offline *o)
{
	o->regions = arena_grow(o->a, o->regions, o->nregions, sizeof *o->regions);
	o->regions[o->nregions] = (struct offline_region){0};
	return &o->regions[o->nregions++];
}

static bool is_region(const char *name)
{
	return strlen(name) == REGION_NAME && strspn(name, "0123456789abcdef") == REGION_NAME;
}

static int read_region(struct offline *o, const char *name, struct buf *text, struct error *err)
{
	struct disk_region info;
	const char *folder = arena_format(o->a, "%s/%s", o->dir, name);
	const char *path = arena_format(o->a, "%s/.regioninfo", folder);
	int rc = offline_read_file(o, path, text, err);

	if (rc == RC_OK && (rc = disk_read_region(buf_bytes(text), &info, o->a, err)))
		error_prefix(err, "%s: ", path);
	if (rc)
		return rc;
	if (!o->table)
		o->table = info.table;
	if (info.is_replica)
		return RC_OK;
	struct offline_region *r = add_region(o);
	r->info = info;
	r->info.name = name;
	r->path = folder;
	return RC_OK;
}

int offline_read_folder(struct offline *o, struct error *err)
{
	struct storage_entry *e;
	struct buf text = {0};
	size_t n;
	int rc = offline_read_descriptor(o, o->dir, err);

	if (rc == RC_OK)
		rc = storage_list(o->storage, o->dir, o->a, &e, &n, err);
	for (size_t i = 0; rc == RC_OK && i < n; i++) {
		if (is_hidden(e[i].name))
			continue;
		if (e[i].info.kind != STORAGE_FOLDER || !is_region(e[i].name))
			rc = error_set(err, RC_DATA,
				       "%s: found %s, expected only folders of regions; move it "
				       "away",
				       o->dir, e[i].name);
		else
			rc = read_region(o, e[i].name, &text, err);
	}
	if (rc == RC_OK && o->nregions == 0)
		rc = error_set(err, RC_DATA, "%s: found no region, expected at least one", o->dir);
	buf_release(&text);
	return rc;
}

/* --- snapshots --- */

/* Read the files of a snapshot that was not consolidated into data.manifest. */
static int read_parts(struct offline *o, const char *dir, struct disk_manifest *m,
		      const struct storage_entry *e, size_t n, struct error *err)
{
	struct buf text = {0};
	int rc = offline_read_descriptor(o, dir, err);

	for (size_t i = 0; rc == RC_OK && i < n; i++) {
		if (strncmp(e[i].name, REGION_FILES, sizeof REGION_FILES - 1) != 0)
			continue;
		const char *path = arena_format(o->a, "%s/%s", dir, e[i].name);
		rc = offline_read_file(o, path, &text, err);
		if (rc == RC_OK && (rc = disk_read_region_files(buf_bytes(&text), m, o->a, err)))
			error_prefix(err, "%s: ", path);
	}
	buf_release(&text);
	return rc;
}

static int read_manifest(struct offline *o, const char *dir, struct disk_manifest *m,
			 struct error *err)
{
	const char *path = arena_format(o->a, "%s/data.manifest", dir);
	struct storage_entry *e;
	struct buf text = {0};
	bool whole = false;
	size_t n;
	int rc = storage_list(o->storage, dir, o->a, &e, &n, err);

	for (size_t i = 0; rc == RC_OK && i < n; i++)
		whole |= strcmp(e[i].name, "data.manifest") == 0;
	if (rc == RC_OK && !whole)
		return read_parts(o, dir, m, e, n, err);
	if (rc == RC_OK)
		rc = offline_read_file(o, path, &text, err);
	if (rc == RC_OK && (rc = disk_read_manifest(buf_bytes(&text), m, o->a, err)))
		error_prefix(err, "%s: ", path);
	o->description = m->table;
	buf_release(&text);
	return rc;
}

int offline_read_snapshot(struct offline *o, const char *dir, struct error *err)
{
	const char *path = arena_format(o->a, "%s/.snapshotinfo", dir);
	struct disk_manifest m = {0};
	struct buf text = {0};
	uint64_t format = 0;
	int rc = offline_read_file(o, path, &text, err);

	if (rc)
		error_prefix(err, "%s: found no snapshot of HBase: ", dir);
	else if ((rc = disk_read_snapshot(buf_bytes(&text), &o->table, &format, o->a, err)))
		error_prefix(err, "%s: ", path);
	if (rc == RC_OK && format != SNAPSHOT_FORMAT)
		rc = error_set(err, RC_DATA,
			       "%s: found a snapshot of format %llu, expected format %d of HBase "
			       "1.0 and later",
			       path, (unsigned long long)format, SNAPSHOT_FORMAT);
	buf_release(&text);
	if (rc == RC_OK)
		rc = read_manifest(o, dir, &m, err);
	for (size_t i = 0; rc == RC_OK && i < m.nregions; i++) {
		const struct disk_region_files *f = &m.regions[i];

		if (f->region.is_parent || f->region.is_replica || f->region.is_mob)
			continue;
		*add_region(o) = (struct offline_region){.info = f->region,
							 .stores = f->stores,
							 .nstores = f->nstores};
	}
	return rc;
}
