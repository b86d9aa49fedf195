/* offline.h - the regions and store files of a table in HBase's folders (inside this folder only) */
#ifndef SALTMILL_OFFLINE_H
#define SALTMILL_OFFLINE_H

#include "hbase.h"
#include "publish.h"
#include "query.h"
#include "storage.h"

struct offline_region {
	struct disk_region info;
	const char *path;	   /* region's folder; NULL in a snapshot */
	struct disk_store *stores; /* of a snapshot */
	size_t nstores;
	bool replaced; /* later regions have its rows */
};

struct offline {
	struct published *out;
	struct storage *storage;
	struct arena *a;   /* of `out` */
	const char *root;  /* HBase's root folder; NULL means unknown */
	const char *dir;   /* the table's folder; NULL for a snapshot */
	const char *table; /* "ns:table", or "table" in the default namespace */
	struct description description;
	struct offline_region *regions;
	size_t nregions;
	const struct query_mobs *mobs; /* NULL for HFiles in no table */
};

/* Read all regions of the table's folder or of the snapshot. */
int offline_read_folder(struct offline *o, struct error *err);
int offline_read_snapshot(struct offline *o, const char *dir, struct error *err);
/* Read the newest descriptor in DIR/.tabledesc. */
int offline_read_descriptor(struct offline *o, const char *dir, struct error *err);
/* Append a file to `*text`. Returns RC_DATA if it is empty. */
int offline_read_file(struct offline *o, const char *path, struct buf *text, struct error *err);

/* Give o->out the table's name, descriptor and regions. `keys` are the split keys. */
void offline_describe(struct offline *o, size_t nregions, const struct bytes *keys);
/* Make the families of o->out from the descriptor. */
int offline_take_families(struct offline *o, struct error *err);

/*
 * Drop regions that later regions replace, and check that the other regions have all row keys.
 * Returns RC_DATA if regions have gaps or overlap.
 */
int offline_order_regions(struct offline *o, struct error *err);

/* List the store files of all regions in o->out. */
int offline_list_files(struct offline *o, struct error *err);
/* Set gone[i] for each of the `n` files of a store that a compaction has replaced (compacted.c). */
int offline_find_compacted(struct offline *o, const char *folder, const struct storage_entry *e,
			   size_t n, bool *gone, struct error *err);
/* List the HFiles of a folder without regions, and make their families. */
int offline_list_hfiles(struct offline *o, struct error *err);
/* Find a family by its name. Returns RC_END if there is no such family. */
int offline_find_family(const struct published *p, const char *name, size_t *out);
/* Add a file, with the members of `f`. Returns RC_DATA if the file is empty. */
int offline_add_file(struct offline *o, const struct query_file *f, const char *path,
		     uint64_t bytes, struct error *err);
/* Describe a file for query_file.place. */
struct remote_file offline_place_of(const struct offline *o, const char *path, uint64_t bytes);
/* Return "NAMESPACE/TABLE", the path of the table's folder within data or archive/data. */
const char *offline_table_path(struct arena *a, const char *table);
/* Find the MOB files of o->root's tables, in memory of o->a (mob_files.c). */
const struct query_mobs *offline_mobs_new(const struct offline *o);
/*
 * Call `take` for each MOB file in `list`, a store file's MOB_FILE_REFS. `ctx` is the first
 * argument. Returns RC_DATA if the list is damaged.
 */
int offline_walk_mobs(struct bytes list, struct bytes family,
		      int (*take)(void *ctx, const struct mob_reference *r, struct error *err),
		      void *ctx, struct error *err);
/* Set a file's source, as query_file.open. */
int offline_open_file(const struct query_file *f, struct hfile_source *out, struct error *err);

#endif
