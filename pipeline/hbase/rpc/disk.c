/*
 * disk.c - read the files that HBase stores beside a table's store files (package hbase.pb)
 *
 * FSTableDescriptors, RegionInfo.toDelimitedByteArray, Reference and SnapshotManifest write them.
 */
#include "decode.h"
#include "pb.h"

#define MAGIC	  "PBUF"
#define MOB_START ".mob" /* MobConstants.MOB_REGION_NAME_BYTES */
enum { NAME = 1 };
enum { HALF_KEY = 1, HALF_RANGE = 2, RANGE_TOP = 0, RANGE_BOTTOM = 1 };
enum { SNAPSHOT_TABLE = 2, SNAPSHOT_VERSION = 5 };
enum { MANIFEST_SCHEMA = 1, MANIFEST_REGIONS = 2 };
enum { REGION_INFO = 2, REGION_STORES = 3 };
enum { STORE_FILES = 2 };
enum { FILE_REFERENCE = 2 };

/* Remove the magic before a message. */
static int take_magic(struct bytes file, struct bytes *message, struct error *err)
{
	size_t n = sizeof MAGIC - 1;

	if (file.len < n || memcmp(file.ptr, MAGIC, n) != 0)
		return error_set(err, RC_DATA, "found %zu bytes without \"PBUF\" at the start",
				 file.len);
	*message = bytes_of(file.ptr + n, file.len - n);
	return RC_OK;
}

int disk_read_table(struct bytes file, struct description *out, struct arena *a, struct error *err)
{
	struct bytes message;
	int rc = take_magic(file, &message, err);

	return rc ? rc : decode_schema(message, out, a, err);
}

const char *disk_mob_region(struct bytes table, struct arena *a)
{
	const struct region_info info = {.table = table, .start = bytes_str(MOB_START)};

	return (const char *)decode_region_name(&info, a).ptr; /* arena_bytes adds a NUL */
}

static int read_region(struct bytes message, struct disk_region *out, struct arena *a,
		       struct error *err)
{
	struct region_info info;
	int rc = decode_region_info(message, &info, err);

	if (rc)
		return rc;
	*out = (struct disk_region){
		.table = decode_table_name(a, info.space, info.table),
		.name = (const char *)decode_region_name(&info, a).ptr, /* arena_bytes adds a NUL */
		.start = arena_bytes(a, info.start),
		.end = arena_bytes(a, info.end),
		.id = info.id,
		.is_parent = info.offline && info.split,
		.is_replica = info.replica != 0,
		.is_mob = info.id == 0 && bytes_eq(info.start, bytes_str(MOB_START)),
	};
	return RC_OK;
}

int disk_read_region(struct bytes file, struct disk_region *out, struct arena *a, struct error *err)
{
	struct bytes rest, message;
	int rc = take_magic(file, &rest, err);

	if (rc == RC_OK)
		rc = pb_take_delimited(&rest, &message, err);
	return rc ? rc : read_region(message, out, a, err);
}

/* Read a Reference. Its key is the first possible key of a row. */
static int read_half(struct bytes message, struct disk_half *out, struct arena *a,
		     struct error *err)
{
	struct pb_field f;
	struct bytes key = {0};
	uint64_t range = UINT64_MAX;
	int rc;

	while ((rc = pb_next(&message, &f, err)) == RC_OK) {
		if (f.number == HALF_KEY)
			key = f.bytes;
		if (f.number == HALF_RANGE)
			range = f.value;
	}
	if (rc < 0)
		return rc;
	size_t row = key.len >= 2 ? get_be16(key.ptr) : SIZE_MAX;
	if (range > RANGE_BOTTOM || row > key.len - 2)
		return error_set(err, RC_DATA,
				 "found a reference without a row key or a half, expected both");
	*out = (struct disk_half){.row = arena_bytes(a, bytes_of(key.ptr + 2, row)),
				  .top = range == RANGE_TOP};
	return RC_OK;
}

int disk_read_half(struct bytes file, struct disk_half *out, struct arena *a, struct error *err)
{
	struct bytes message;
	int rc = take_magic(file, &message, err);

	return rc ? rc : read_half(message, out, a, err);
}

int disk_names_compacted(struct bytes list, const char *name, bool *out, struct error *err)
{
	struct bytes message;
	struct pb_field f;
	int rc = take_magic(list, &message, err);

	*out = false;
	while (rc == RC_OK && (rc = pb_next(&message, &f, err)) == RC_OK)
		*out |= f.number == NAME && bytes_eq(f.bytes, bytes_str(name));
	return rc < 0 ? rc : RC_OK;
}

int disk_read_snapshot(struct bytes file, const char **table, uint64_t *version, struct arena *a,
		       struct error *err)
{
	struct pb_field f;
	int rc;

	*table = NULL;
	*version = 0;
	while ((rc = pb_next(&file, &f, err)) == RC_OK) {
		if (f.number == SNAPSHOT_TABLE)
			*table = arena_strndup(a, f.bytes.ptr, f.bytes.len);
		if (f.number == SNAPSHOT_VERSION)
			*version = f.value;
	}
	if (rc == RC_END && !*table)
		return error_set(err, RC_DATA, "found no table name, expected one");
	return rc < 0 ? rc : RC_OK;
}

/* --- manifests of snapshots --- */

static int take_file(struct bytes message, struct disk_store *out, struct arena *a,
		     struct error *err)
{
	struct disk_file file = {0};
	struct pb_field f;
	int rc;

	while ((rc = pb_next(&message, &f, err)) == RC_OK) {
		if (f.wire != PB_BYTES)
			continue;
		if (f.number == NAME)
			file.name = arena_strndup(a, f.bytes.ptr, f.bytes.len);
		file.is_half |= f.number == FILE_REFERENCE;
		if (f.number == FILE_REFERENCE && (rc = read_half(f.bytes, &file.half, a, err)))
			return rc;
	}
	if (rc == RC_END && !file.name)
		return error_set(err, RC_DATA, "found a store file without a name");
	out->files = arena_grow(a, out->files, out->nfiles, sizeof *out->files);
	out->files[out->nfiles++] = file;
	return rc < 0 ? rc : RC_OK;
}

static int take_store(struct bytes message, struct disk_region_files *out, struct arena *a,
		      struct error *err)
{
	struct disk_store store = {0};
	struct pb_field f;
	int rc;

	while ((rc = pb_next(&message, &f, err)) == RC_OK) {
		if (f.wire != PB_BYTES)
			continue;
		if (f.number == NAME)
			store.family = arena_strndup(a, f.bytes.ptr, f.bytes.len);
		if (f.number == STORE_FILES && (rc = take_file(f.bytes, &store, a, err)))
			return rc;
	}
	if (rc == RC_END && !store.family)
		return error_set(err, RC_DATA, "found a store without a family");
	out->stores = arena_grow(a, out->stores, out->nstores, sizeof *out->stores);
	out->stores[out->nstores++] = store;
	return rc < 0 ? rc : RC_OK;
}

int disk_read_region_files(struct bytes message, struct disk_manifest *out, struct arena *a,
			   struct error *err)
{
	struct disk_region_files region = {0};
	struct pb_field f;
	int rc;

	while ((rc = pb_next(&message, &f, err)) == RC_OK) {
		if (f.wire != PB_BYTES)
			continue;
		if (f.number == REGION_INFO && (rc = read_region(f.bytes, &region.region, a, err)))
			return rc;
		if (f.number == REGION_STORES && (rc = take_store(f.bytes, &region, a, err)))
			return rc;
	}
	if (rc == RC_END && !region.region.name)
		return error_set(err, RC_DATA, "found a region without a description");
	out->regions = arena_grow(a, out->regions, out->nregions, sizeof *out->regions);
	out->regions[out->nregions++] = region;
	return rc < 0 ? rc : RC_OK;
}

int disk_read_manifest(struct bytes message, struct disk_manifest *out, struct arena *a,
		       struct error *err)
{
	struct pb_field f;
	bool described = false;
	int rc;

	*out = (struct disk_manifest){0};
	while ((rc = pb_next(&message, &f, err)) == RC_OK) {
		if (f.wire != PB_BYTES)
			continue;
		if (f.number == MANIFEST_SCHEMA)
			rc = decode_schema(f.bytes, &out->table, a, err);
		if (f.number == MANIFEST_REGIONS)
			rc = disk_read_region_files(f.bytes, out, a, err);
		if (rc)
			return rc;
		described |= f.number == MANIFEST_SCHEMA;
	}
	if (rc == RC_END && !described)
		return error_set(err, RC_DATA, "found no table descriptor, expected one");
	return rc < 0 ? rc : RC_OK;
}
