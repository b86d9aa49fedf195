/* offline.c - a table in HBase's folders, as families and files of a query (query.h) */
#include <stdlib.h>
#include <string.h>

#include "offline.h"
#include "table.h"

static int take_number(const struct described *f, const char *key, uint64_t missing, uint64_t *out,
		       struct error *err)
{
	const char *text = attributes_get(&f->items, key);
	char *end;

	*out = text ? strtoull(text, &end, 10) : missing;
	if (!text || (*text >= '0' && *text <= '9' && !*end))
		return RC_OK;
	if (strcmp(key, "TTL") == 0 && strcmp(text, "FOREVER") == 0) {
		*out = TTL_FOREVER;
		return RC_OK;
	}
	return error_set(err, RC_DATA, "family %s: %s: found %.100s, expected a number", f->name,
			 key, text);
}

/* Check that the family's store files have all that decides an answer. */
static int check_family(const struct described *f, struct error *err)
{
	const char *text = attributes_get(&f->items, "NEW_VERSION_BEHAVIOR");

	if (text && strcasecmp(text, "true") == 0)
		return error_set(err, RC_CONFIG,
				 "found NEW_VERSION_BEHAVIOR in family %s, expected a family "
				 "without it; query the live table with --hbase",
				 f->name);
	return RC_OK;
}

static enum keep_deleted keep_of(const struct described *f)
{
	const char *keep = attributes_get(&f->items, "KEEP_DELETED_CELLS");

	if (!keep || strcasecmp(keep, "FALSE") == 0)
		return KEEP_DELETED_FALSE;
	return strcasecmp(keep, "TTL") == 0 ? KEEP_DELETED_TTL : KEEP_DELETED_TRUE;
}

static int take_family(struct query_family *out, const struct described *f, struct arena *a,
		       struct error *err)
{
	uint64_t versions, least, ttl;
	int rc = check_family(f, err);

	if (rc == RC_OK)
		rc = take_number(f, "VERSIONS", 1, &versions, err);
	if (rc == RC_OK)
		rc = take_number(f, "MIN_VERSIONS", 0, &least, err);
	if (rc == RC_OK)
		rc = take_number(f, "TTL", TTL_FOREVER, &ttl, err);
	if (rc)
		return rc;
	*out = (struct query_family){.name = arena_bytes(a, bytes_str(f->name)),
				     .versions = versions < UINT32_MAX ? (uint32_t)versions
								       : UINT32_MAX,
				     .min_versions =
					     least < UINT32_MAX ? (uint32_t)least : UINT32_MAX,
				     .ttl_ms = ttl >= TTL_FOREVER ? 0 : 1000 * (int64_t)ttl,
				     .keep_deleted = keep_of(f)};
	return RC_OK;
}

static int by_name(const void *a, const void *b)
{
	return bytes_cmp(((const struct query_family *)a)->name,
			 ((const struct query_family *)b)->name);
}

int offline_take_families(struct offline *o, struct error *err)
{
	const struct description *d = &o->description;
	struct published *p = o->out;
	int rc = RC_OK;

	p->families = arena_alloc(o->a, (d->nfamilies + 1) * sizeof *p->families);
	for (size_t i = 0; rc == RC_OK && i < d->nfamilies; i++)
		rc = take_family(&p->families[p->nfamilies++], &d->families[i], o->a, err);
	if (rc == RC_OK && p->nfamilies == 0)
		rc = error_set(err, RC_DATA, "table %s: found no column family", o->table);
	if (rc == RC_OK)
		qsort(p->families, p->nfamilies, sizeof *p->families, by_name);
	return rc;
}

/* Return the path without its last `n` names, or NULL if it has fewer names. */
static const char *above(struct arena *a, const char *path, unsigned n)
{
	size_t len = strlen(path);

	for (; n; n--) {
		while (len && path[len - 1] != '/')
			len--;
		while (len && path[len - 1] == '/')
			len--;
		if (len == 0)
			return NULL;
	}
	return arena_strndup(a, path, len);
}

/* Find HBase's root folder, if the table is ROOT/data/NAMESPACE/TABLE. */
static const char *root_of_table(struct arena *a, const char *dir)
{
	const char *data = above(a, dir, 2), *name = data ? strrchr(data, '/') : NULL;

	return name && strcmp(name, "/data") == 0 ? above(a, data, 1) : NULL;
}

void offline_describe(struct offline *o, size_t nregions, const struct bytes *keys)
{
	struct published *p = o->out;

	p->table = o->table;
	p->description = arena_dup(o->a, &o->description, sizeof o->description);
	p->nregions = nregions;
	p->split_keys = keys;
}

/* Read a folder of HBase. Its place decides where HBase moves files that are linked. */
static int read_table(struct offline *o, bool is_snapshot, struct error *err)
{
	const char *path = storage_path(o->storage);

	o->dir = is_snapshot ? NULL : path;
	o->root = is_snapshot ? above(o->a, path, 2) : root_of_table(o->a, path);
	if (is_snapshot && !o->root)
		return error_set(err, RC_CONFIG,
				 "found snapshot %.200s, expected ROOT/.hbase-snapshot/NAME", path);
	int rc = is_snapshot ? offline_read_snapshot(o, path, err) : offline_read_folder(o, err);
	if (rc == RC_OK)
		rc = offline_order_regions(o, err);
	if (rc == RC_OK)
		rc = offline_take_families(o, err);
	if (rc)
		return rc;
	struct bytes *keys = arena_alloc(o->a, (o->nregions + 1) * sizeof *keys);
	for (size_t i = 1; i < o->nregions; i++)
		keys[i - 1] = o->regions[i].info.start;
	offline_describe(o, o->nregions, keys);
	o->mobs = offline_mobs_new(o);
	return offline_list_files(o, err);
}

int offline_open(struct published *out, const struct offline_place *place, struct error *err)
{
	struct offline o = {.out = out, .a = &out->arena};
	char *full = NULL;

	*out = (struct published){0};
	/* the folders above the table are part of its place */
	if (!storage_is_remote(place->uri))
		full = realpath(place->uri, NULL);
	int rc = storage_open(&out->storage, full ? full : place->uri, place->storage, err);
	free(full);
	o.storage = out->storage;
	if (rc == RC_OK && place->kind == OFFLINE_HFILES)
		rc = offline_list_hfiles(&o, err);
	else if (rc == RC_OK)
		rc = read_table(&o, place->kind == OFFLINE_SNAPSHOT, err);
	if (rc)
		published_release(out);
	return rc;
}

static bool has_family(const struct table *t, struct bytes name)
{
	for (size_t i = 0; i < t->nfamilies; i++)
		if (bytes_eq(bytes_str(t->families[i].name), name))
			return true;
	return false;
}

/* Move the files from the families `old` to the families of `p`, and drop the other files. */
static void move_files(struct published *p, const struct query_family *old)
{
	size_t kept = 0, family;

	for (size_t i = 0; i < p->nfiles; i++) {
		const char *name = (const char *)old[p->files[i].family].name.ptr;

		if (offline_find_family(p, name, &family))
			continue;
		p->files[kept] = p->files[i];
		p->files[kept++].family = family;
	}
	p->nfiles = kept;
}

int offline_restrict(struct published *p, enum offline_kind kind, const struct table *table,
		     const struct listener *listener, struct error *err)
{
	struct query_family *old = p->families;
	size_t n = p->nfamilies;

	p->families = arena_alloc(&p->arena, (n + 1) * sizeof *p->families);
	p->nfamilies = 0;
	for (size_t i = 0; i < n; i++)
		if (has_family(table, old[i].name))
			p->families[p->nfamilies++] = old[i];
		else
			report_to(listener, "ignored family %s, because the job lacks it",
				  (const char *)old[i].name.ptr);
	if (kind != OFFLINE_HFILES && p->nfamilies < table->nfamilies)
		return error_set(err, RC_CONFIG,
				 "found %zu of the job's %zu families in the table, expected all "
				 "families of the job",
				 p->nfamilies, table->nfamilies);
	int rc = kind == OFFLINE_HFILES ? published_families(p, table, true, err) : RC_OK;
	if (rc == RC_OK)
		move_files(p, old);
	return rc;
}
