/*
 * list_files.c - find the store files of regions
 *
 * The name of a store file decides where its cells are (StoreFileInfo, HFileLink):
 *
 *   HEX, HEX_SeqId_N_       the file itself
 *   TABLE=REGION-HEX        a link to a file of another region (NAMESPACE=TABLE=... with a namespace)
 *   FILE.REGION             a reference to a part of a file or link of a parent region
 *
 * HBase moves a file that no region needs any more to the archive.
 */
#include <string.h>

#include "offline.h"

#define RECOVERED "recovered.edits"

/* A place of cells: a file of a region, possibly of another table. */
struct link_target {
	const char *table, *region, *family, *file;
};

/* Read the name of a link. Returns false if the name is not a link. */
static bool take_link(struct offline *o, const char *name, struct link_target *t)
{
	const char *last = strrchr(name, '=');
	const char *dash = last ? strchr(last, '-') : NULL;

	if (!dash)
		return false;
	char *table = arena_strndup(o->a, name, (size_t)(last - name));
	char *space = strchr(table, '=');
	if (space)
		*space = ':';
	t->table = table;
	t->region = arena_strndup(o->a, last + 1, (size_t)(dash - last - 1));
	t->file = dash + 1;
	return true;
}

static bool is_store_file(const char *name)
{
	size_t n = strspn(name, "0123456789abcdef-");
	const char *rest = name + n;

	if (strncmp(rest, "_SeqId_", 7) == 0) {
		rest += 7 + strspn(rest + 7, "0123456789");
		rest += *rest == '_';
	}
	return n && !*rest;
}

/* Find the file among the places to which HBase moves files. */
static int find(struct offline *o, const struct link_target *t, const char **path, uint64_t *bytes,
		struct error *err)
{
	static const char *const parts[] = {"data", "archive/data", ".tmp/data", "mobdir/data"};
	const char *tail = arena_format(o->a, "%s/%s/%s", t->region, t->family, t->file);
	const char *table = offline_table_path(o->a, t->table), *tried[6];
	struct storage_info info;
	size_t n = 0;

	if (o->dir && strcmp(t->table, o->table) == 0)
		tried[n++] = arena_format(o->a, "%s/%s", o->dir, tail);
	for (size_t i = 0; o->root && i < sizeof parts / sizeof *parts; i++)
		tried[n++] = arena_format(o->a, "%s/%s/%s/%s", o->root, parts[i], table, tail);
	for (size_t i = 0; i < n; i++) {
		int rc = storage_stat(o->storage, tried[i], &info, err);

		if (rc)
			return rc;
		if (info.kind != STORAGE_FILE)
			continue;
		*path = tried[i];
		*bytes = info.bytes;
		return RC_OK;
	}
	return error_set(err, RC_DATA,
			 "store file %s of table %s: found it neither in the table's folder nor in "
			 "%s, expected it there%s",
			 tail, t->table,
			 o->root ? arena_format(o->a, "%s/archive", o->root)
				 : "an "
				   "archive",
			 o->root ? "" : "; name the table as ROOT/data/NAMESPACE/TABLE");
}

/* Limit the rows of a file to the half that the reference selects. */
static void cut(struct query_file *f, const struct disk_half *half)
{
	struct query_range *r = &f->rows;

	f->is_half = true;
	f->newer = half->top;
	if (half->top && bytes_cmp(half->row, r->start) > 0)
		r->start = half->row;
	if (!half->top && (!r->stop.len || bytes_cmp(half->row, r->stop) < 0))
		r->stop = half->row;
}

/* Read a reference in the table's folder. */
static int read_half(struct offline *o, const char *path, struct disk_half *out, struct error *err)
{
	struct buf text = {0};
	int rc = offline_read_file(o, path, &text, err);

	if (rc == RC_OK && (rc = disk_read_half(buf_bytes(&text), out, o->a, err)))
		error_prefix(err, "%s: ", path);
	buf_release(&text);
	return rc;
}

/*
 * Add a store file by its name. `half` is from a manifest; NULL means that the reference is a file
 * in the folder.
 */
static int take_file(struct offline *o, const struct offline_region *r, size_t family,
		     const char *name, uint64_t bytes, const struct disk_half *half,
		     struct error *err)
{
	const char *dot = strchr(name, '.'), *path = NULL;
	struct disk_half read;
	struct query_file f = {.open = offline_open_file,
			       .family = family,
			       .of_server = true,
			       .mobs = o->mobs,
			       .rows = {r->info.start, r->info.end}};
	struct link_target t = {.table = o->table,
				.region = dot ? dot + 1 : r->info.name,
				.family = (const char *)o->out->families[family].name.ptr,
				.file = dot ? arena_strndup(o->a, name, (size_t)(dot - name))
					    : name};
	int rc = RC_OK;
	bool linked = take_link(o, t.file, &t);

	if (!is_store_file(t.file) || (dot && strchr(dot + 1, '.')))
		return error_set(err, RC_DATA,
				 "region %s, family %s: found %s, which is not the name of a store "
				 "file; move it away",
				 r->info.name, t.family, name);
	if (dot && !half) {
		rc = read_half(o, arena_format(o->a, "%s/%s/%s", r->path, t.family, name), &read,
			       err);
		half = &read;
	}
	if (rc == RC_OK && half)
		cut(&f, half);
	if (rc == RC_OK && (dot || linked || !r->path))
		rc = find(o, &t, &path, &bytes, err);
	else
		path = arena_format(o->a, "%s/%s/%s", r->path, t.family, name);
	return rc ? rc : offline_add_file(o, &f, path, bytes, err);
}

static int list_family(struct offline *o, const struct offline_region *r, size_t family,
		       struct error *err)
{
	const char *folder = arena_format(o->a, "%s/%s", r->path,
					  (const char *)o->out->families[family].name.ptr);
	struct storage_entry *e;
	size_t n, visible = 0;
	int rc = storage_list(o->storage, folder, o->a, &e, &n, err);

	for (size_t i = 0; rc == RC_OK && i < n; i++) {
		if (strcmp(e[i].name, ".filelist") == 0)
			rc = error_set(err, RC_CONFIG,
				       "%s: found a list of a store file tracker, expected the "
				       "tracker DEFAULT; take a snapshot, and use --snapshot",
				       folder);
		else if (*e[i].name != '.' && *e[i].name != '_')
			e[visible++] = e[i];
	}
	if (rc)
		return rc;
	bool *gone = arena_alloc(o->a, visible + 1);
	rc = offline_find_compacted(o, folder, e, visible, gone, err);
	for (size_t i = 0; rc == RC_OK && i < visible; i++) {
		if (!gone[i])
			rc = take_file(o, r, family, e[i].name, e[i].info.bytes, NULL, err);
	}
	return rc;
}

/* Check for edits of a crashed server that no server has replayed. */
static int check_edits(struct offline *o, const struct offline_region *r, struct error *err)
{
	const char *folder = arena_format(o->a, "%s/" RECOVERED, r->path);
	struct storage_entry *e;
	size_t n;
	int rc = storage_list(o->storage, folder, o->a, &e, &n, err);

	for (size_t i = 0; rc == RC_OK && i < n; i++)
		if (!strstr(e[i].name, ".seqid") && *e[i].name != '.')
			rc = error_set(err, RC_DATA,
				       "%s: found edits that are in no store file yet, expected "
				       "none; start HBase, and flush the table",
				       folder);
	return rc;
}

/* Check that the region's folder has all families and nothing else. */
static int check_region(struct offline *o, const struct offline_region *r, struct error *err)
{
	struct storage_entry *e;
	size_t n, found = 0, family;
	int rc = storage_list(o->storage, r->path, o->a, &e, &n, err);

	for (size_t i = 0; rc == RC_OK && i < n; i++) {
		if (*e[i].name == '.' || *e[i].name == '_')
			continue;
		if (strcmp(e[i].name, RECOVERED) == 0)
			rc = check_edits(o, r, err);
		else if (offline_find_family(o->out, e[i].name, &family) == RC_OK)
			found++;
		else
			rc = error_set(err, RC_DATA,
				       "%s: found %s, expected only folders of the table's "
				       "families; move it away",
				       r->path, e[i].name);
	}
	if (rc == RC_OK && found < o->out->nfamilies)
		rc = error_set(err, RC_DATA, "%s: found %zu folders of families, expected %zu",
			       r->path, found, o->out->nfamilies);
	return rc;
}

static int list_stores(struct offline *o, const struct offline_region *r, struct error *err)
{
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < r->nstores; i++) {
		const struct disk_store *s = &r->stores[i];
		size_t family = 0;

		if (s->nfiles && offline_find_family(o->out, s->family, &family))
			rc = error_set(err, RC_DATA,
				       "region %s: found files of family %s, expected a family of "
				       "the table",
				       r->info.name, s->family);
		for (size_t k = 0; rc == RC_OK && k < s->nfiles; k++) {
			const struct disk_file *f = &s->files[k];

			rc = take_file(o, r, family, f->name, 0, f->is_half ? &f->half : NULL, err);
		}
	}
	return rc;
}

int offline_list_files(struct offline *o, struct error *err)
{
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < o->nregions; i++) {
		const struct offline_region *r = &o->regions[i];

		if (!r->path) {
			rc = list_stores(o, r, err);
			continue;
		}
		rc = check_region(o, r, err);
		for (size_t k = 0; rc == RC_OK && k < o->out->nfamilies; k++)
			rc = list_family(o, r, k, err);
	}
	return rc;
}
