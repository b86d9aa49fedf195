/*
 * manifest.c - manifest.json, written and read by one description of its shape (shape.h)
 *
 * The last member is the digest of all the bytes around it, in a fixed form: one byte that is not
 * as it was written shows, wherever it is.
 */
#include "publish.h"

#include <string.h>

#include "io.h"
#include "shape.h"
#include "hash.h"

enum { DIGITS = 32 };	  /* of a digest */
enum { REAL_DIGITS = 6 }; /* of a ratio */

static const struct shape_member file_members[] = {
	{.key = "path", TEXT, AT(manifest_file, path)},
	{.key = "family", TEXT, AT(manifest_file, family)},
	{.key = "region", INDEX, AT(manifest_file, region)},
	{.key = "rows", COUNT, AT(manifest_file, rows)},
	{.key = "cells", COUNT, AT(manifest_file, cells)},
	{.key = "bytes", COUNT, AT(manifest_file, bytes)},
	{.key = "cell_bytes", COUNT, AT(manifest_file, cell_bytes)},
	{.key = "first_row", ROW_KEY, AT(manifest_file, first_row)},
	{.key = "last_row", ROW_KEY, AT(manifest_file, last_row)},
	{.key = "min_ts", MILLIS, AT(manifest_file, min_ts)},
	{.key = "max_ts", MILLIS, AT(manifest_file, max_ts)},
	{.key = "digest", DIGEST, AT(manifest_file, digest)},
};
SHARED_SHAPE(manifest_file, file_members);

static const struct shape_member region_members[] = {
	{.key = "start", ROW_KEY, AT(manifest_region, start)},
	{.key = "end", ROW_KEY, AT(manifest_region, end)},
	{.key = "rows", COUNT, AT(manifest_region, rows)},
	{.key = "cells", COUNT, AT(manifest_region, cells)},
	{.key = "bytes", COUNT, AT(manifest_region, bytes)},
	{.key = "cell_bytes", COUNT, AT(manifest_region, cell_bytes)},
	{.key = "predicted_bytes", COUNT, AT(manifest_region, predicted_bytes)},
};
SHAPE(manifest_region, region_members);

static const struct shape_member tuning_members[] = {
	{.key = "family", TEXT, AT(manifest_tuning, family)},
	{.key = "aim", TEXT, AT(manifest_tuning, aim)},
	{.key = "level", INDEX, AT(manifest_tuning, level)},
	{.key = "hash_log", INDEX, AT(manifest_tuning, hash_log)},
	{.key = "min_match", INDEX, AT(manifest_tuning, min_match), .optional = true},
	{.key = "plain_bytes", COUNT, AT(manifest_tuning, plain_bytes)},
	{.key = "stored_bytes", COUNT, AT(manifest_tuning, stored_bytes)},
};
SHARED_SHAPE(manifest_tuning, tuning_members);

static const struct shape_member family_members[] = {
	{.key = "name", TEXT, AT(manifest_family, name)},
};
SHAPE(manifest_family, family_members);

static const struct shape_member part_members[] = {
	{.key = "name", TEXT, AT(manifest_part, name)},
	{.key = "bytes", INDEX, AT(manifest_part, bytes)},
	{.key = "terminator", ROW_KEY, AT(manifest_part, terminator)},
	{.key = "buckets", INDEX, AT(manifest_part, buckets), .optional = true},
};
SHAPE(manifest_part, part_members);

static const struct shape_member table_members[] = {
	{.key = "name", TEXT, AT(manifest_table, name)},
	{.key = "dir", TEXT, AT(manifest_table, dir)},
	{.key = "families",
	 LIST,
	 AT(manifest_table, families),
	 .items = &manifest_family_shape,
	 .count_at = AT(manifest_table, nfamilies),
	 .optional = true},
	{.key = "rowkey",
	 LIST,
	 AT(manifest_table, parts),
	 .items = &manifest_part_shape,
	 .count_at = AT(manifest_table, nparts),
	 .optional = true},
	{.key = "index_of", TEXT, AT(manifest_table, index_of), .optional = true},
	{.key = "loaded", COUNT, AT(manifest_table, loaded)},
	{.key = "filtered", COUNT, AT(manifest_table, filtered)},
	{.key = "deduplicated", COUNT, AT(manifest_table, deduplicated)},
	{.key = "predicted_bytes", COUNT, AT(manifest_table, predicted_bytes)},
	{.key = "target_bytes", COUNT, AT(manifest_table, target_bytes)},
	{.key = "largest_over_target", RATIO, AT(manifest_table, largest_over_target)},
	{.key = "rows", COUNT, AT(manifest_table, rows)},
	{.key = "cells", COUNT, AT(manifest_table, cells)},
	{.key = "cells_deduplicated", COUNT, AT(manifest_table, cells_deduplicated)},
	{.key = "splits_digest", DIGEST, AT(manifest_table, splits_digest)},
	{.key = "create_digest", DIGEST, AT(manifest_table, create_digest)},
	{.key = "tuned",
	 LIST,
	 AT(manifest_table, tuned),
	 .items = &manifest_tuning_shape,
	 .count_at = AT(manifest_table, ntuned),
	 .optional = true},
	{.key = "regions",
	 LIST,
	 AT(manifest_table, regions),
	 .items = &manifest_region_shape,
	 .count_at = AT(manifest_table, nregions)},
	{.key = "files",
	 LIST,
	 AT(manifest_table, files),
	 .items = &manifest_file_shape,
	 .count_at = AT(manifest_table, nfiles)},
};
SHAPE(manifest_table, table_members);

static const struct shape_member slice_members[] = {
	{.key = "first", COUNT, AT(manifest_slice, first)},
	{.key = "end", COUNT, AT(manifest_slice, end)},
	{.key = "lines", COUNT, AT(manifest_slice, lines)},
	{.key = "begins", FLAG, AT(manifest_slice, begins)},
	{.key = "ends", FLAG, AT(manifest_slice, ends)},
	{.key = "size", INDEX, AT(manifest_slice, size), .optional = true},
};
SHAPE(manifest_slice, slice_members);

static const struct shape_member input_members[] = {
	{.key = "path", TEXT, AT(manifest_input, path)},
	{.key = "bytes", COUNT, AT(manifest_input, bytes)},
	{.key = "rows", COUNT, AT(manifest_input, rows)},
	{.key = "digest", DIGEST, AT(manifest_input, digest)},
	{.key = "slice",
	 PART,
	 AT(manifest_input, slice),
	 .items = &manifest_slice_shape,
	 .optional = true},
};
SHAPE(manifest_input, input_members);

static const struct shape_member column_members[] = {
	{.key = "name", TEXT, AT(manifest_column, name)},
	{.key = "type", TEXT, AT(manifest_column, type), .optional = true},
};
SHARED_SHAPE(manifest_column, column_members);

static const struct shape_member reason_members[] = {
	{.key = "reason", TEXT, AT(reject_reason, reason)},
	{.key = "count", COUNT, AT(reject_reason, count)},
};
SHARED_SHAPE(reject_reason, reason_members);

static const struct shape_member anchor_members[] = {
	{.key = "offset", MILLIS, AT(anchor, offset)},
	{.key = "timestamp_ms", MILLIS, AT(anchor, timestamp_ms)},
	{.key = "digest", DIGEST, AT(anchor, digest)},
};
SHAPE(anchor, anchor_members);

static const struct shape_member offset_members[] = {
	{.key = "topic", TEXT, AT(offset_range, topic), .optional = true},
	{.key = "partition", PARTITION, AT(offset_range, partition)},
	{.key = "start", MILLIS, AT(offset_range, start)},
	{.key = "end", MILLIS, AT(offset_range, end)},
	{.key = "events", MILLIS, AT(offset_range, events)},
	{.key = "last", PART, AT(offset_range, last), .items = &anchor_shape, .optional = true},
};
SHAPE(offset_range, offset_members);

static const struct shape_member link_members[] = {
	{.key = "load", TEXT, AT(manifest_link, load)},
	{.key = "digest", DIGEST, AT(manifest_link, digest)},
};
SHAPE(manifest_link, link_members);

static const struct shape_member digests_members[] = {
	{.key = "rejects", DIGEST, AT(manifest_digests, rejects)},
	{.key = "manifest", DIGEST, AT(manifest_digests, manifest)},
};
SHAPE(manifest_digests, digests_members);

static const struct shape_member manifest_members[] = {
	{.key = "job", TEXT, AT(manifest, job_path)},
	{.key = "job_digest", DIGEST, AT(manifest, job_digest)},
	{.key = "created_ms", MILLIS, AT(manifest, created_ms)},
	{.key = "inputs",
	 LIST,
	 AT(manifest, inputs),
	 .items = &manifest_input_shape,
	 .count_at = AT(manifest, ninputs)},
	{.key = "columns",
	 LIST,
	 AT(manifest, columns),
	 .items = &manifest_column_shape,
	 .count_at = AT(manifest, ncolumns),
	 .optional = true},
	{.key = "cluster", TEXT, AT(manifest, cluster), .optional = true},
	{.key = "topic", TEXT, AT(manifest, topic), .optional = true},
	{.key = "load", TEXT, AT(manifest, load), .optional = true},
	{.key = "previous",
	 PART,
	 AT(manifest, previous),
	 .items = &manifest_link_shape,
	 .optional = true},
	{.key = "offsets",
	 LIST,
	 AT(manifest, offsets),
	 .items = &offset_range_shape,
	 .count_at = AT(manifest, noffsets),
	 .optional = true},
	{.key = "read", COUNT, AT(manifest, read)},
	{.key = "rejected", COUNT, AT(manifest, rejected)},
	{.key = "reasons",
	 LIST,
	 AT(manifest, reasons),
	 .items = &reject_reason_shape,
	 .count_at = AT(manifest, nreasons)},
	{.key = "tables",
	 LIST,
	 AT(manifest, tables),
	 .items = &manifest_table_shape,
	 .count_at = AT(manifest, ntables)},
	{.key = "joined", INDEX, AT(manifest, joined), .optional = true},
	{.key = "digests",
	 PART,
	 AT(manifest, digests),
	 .items = &manifest_digests_shape,
	 .optional = true},
};
SHAPE(manifest, manifest_members);

uint64_t manifest_region_bytes(const struct manifest_table *t, uint64_t *largest)
{
	uint64_t bytes = 0;

	*largest = 0;
	for (size_t i = 0; i < t->nregions; i++) {
		bytes += t->regions[i].bytes;
		if (t->regions[i].bytes > *largest)
			*largest = t->regions[i].bytes;
	}
	return bytes;
}

static const char *default_dir(const char *name, struct arena *a)
{
	char *dir = arena_strdup(a, name), *colon = strchr(dir, ':');

	if (colon)
		*colon = '/';
	return dir;
}

/* Where the digits of the manifest's own digest are; false: not there where they are written. */
static bool find_seal(struct bytes text, size_t *at)
{
	static const char before[] = "\"manifest\": \"", behind[] = "\"\n  }\n}\n";
	size_t head = sizeof before - 1, tail = sizeof behind - 1;

	if (text.len < head + DIGITS + tail)
		return false;
	*at = text.len - tail - DIGITS;
	return memcmp(text.ptr + *at + DIGITS, behind, tail) == 0 &&
	       memcmp(text.ptr + *at - head, before, head) == 0;
}

static void seal_of(struct bytes text, size_t at, uint8_t digest[16])
{
	XXH3_state_t s;
	XXH128_canonical_t c;

	XXH3_128bits_reset(&s);
	XXH3_128bits_update(&s, text.ptr, at);
	XXH3_128bits_update(&s, text.ptr + at + DIGITS, text.len - at - DIGITS);
	XXH128_canonicalFromHash(&c, XXH3_128bits_digest(&s));
	memcpy(digest, c.digest, sizeof c.digest);
}

static void put_seal(struct buf *out, size_t from)
{
	struct bytes text = bytes_of(out->ptr + from, out->len - from);
	struct buf hex = {0};
	uint8_t digest[16];
	size_t at;

	if (!find_seal(text, &at))
		return;
	seal_of(text, at, digest);
	bytes_hex(&hex, bytes_of(digest, sizeof digest));
	memcpy(out->ptr + from + at, hex.ptr, DIGITS);
	buf_release(&hex);
}

static int check_seal(const struct manifest *m, struct bytes text, const char *path,
		      struct error *err)
{
	uint8_t digest[16];
	size_t at;
	bool sealed = find_seal(text, &at);

	if (!sealed && !m->digests.known)
		return RC_OK;
	if (sealed && m->digests.known) {
		seal_of(text, at, digest);
		if (memcmp(digest, m->digests.manifest, sizeof digest) == 0)
			return RC_OK;
	}
	return error_set(err, RC_DATA,
			 "%s was damaged or changed since it was written: it is not what its "
			 "digest says",
			 path);
}

static struct manifest with_dirs(const struct manifest *m, struct arena *a)
{
	struct manifest named = *m;

	named.tables = arena_alloc(a, m->ntables * sizeof *m->tables);
	for (size_t i = 0; i < m->ntables; i++) {
		named.tables[i] = m->tables[i];
		if (!m->tables[i].dir)
			named.tables[i].dir = default_dir(m->tables[i].name, a);
	}
	return named;
}

void manifest_format(const struct manifest *m, struct buf *out)
{
	struct arena a = {0};
	struct manifest named = with_dirs(m, &a);
	size_t before = out->len;

	shape_format(&manifest_shape, &named, REAL_DIGITS, out);
	if (m->digests.known)
		put_seal(out, before);
	arena_release(&a);
}

int manifest_write(const struct manifest *m, struct storage *to, const char *path,
		   struct error *err)
{
	struct buf text = {0};

	manifest_format(m, &text);
	int rc = text.len ? storage_write(to, path, buf_bytes(&text), NULL, err)
			  : error_set(err, RC_LIMIT, "out of memory for %s", path);
	buf_release(&text);
	return rc;
}

/* What the shape does not say. */
static int check_terminators(const struct manifest *m, const char *path, struct error *err)
{
	for (size_t i = 0; i < m->ntables; i++)
		for (size_t k = 0; k < m->tables[i].nparts; k++)
			if (m->tables[i].parts[k].terminator.len > 1)
				return error_set(err, RC_DATA,
						 "%s: tables[%zu].rowkey[%zu].terminator is %zu "
						 "bytes, expected one or none",
						 path, i, k, m->tables[i].parts[k].terminator.len);
	return RC_OK;
}

int manifest_read(struct manifest *m, const char *path, struct arena *a, struct error *err)
{
	*m = (struct manifest){0};
	struct buf text = {0};
	int rc = io_read_file(path, &text, err);
	if (rc == RC_OK)
		rc = shape_parse(&manifest_shape, m, buf_bytes(&text), path, "a manifest", a, err);
	if (rc == RC_OK)
		rc = check_seal(m, buf_bytes(&text), path, err);
	if (rc == RC_OK)
		rc = check_terminators(m, path, err);
	buf_release(&text);
	return rc;
}
