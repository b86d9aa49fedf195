/*
 * manifest.c - manifest.json, written and read by one description of its shape
 *
 * Each struct of publish.h has a table: JSON key, kind, offset in the struct.  Writing and reading
 * both walk the tables, so they cannot disagree, and the order of a table is the order of the keys.
 *
 *   digests   lower-case hex
 *   row keys  \xHH form, as in splits.txt
 *
 * The last member is the digest of all the bytes around it, in a fixed form: one byte that is not
 * as it was written shows, wherever it is.
 */
#include "publish.h"

#include <errno.h>
#include <unistd.h>

#include "io.h"
#include "mem.h"
#include "json_text.h"
#include "xxhash_fast.h"

enum { DIGITS = 32 }; /* of a digest */

enum kind {
	RATIO,	   /* double, 0 or more */
	TEXT,	   /* const char * */
	COUNT,	   /* uint64_t */
	INDEX,	   /* size_t */
	MILLIS,	   /* int64_t */
	DIGEST,	   /* uint8_t[16] */
	PARTITION, /* int32_t */
	ROW_KEY,   /* struct bytes */
	PART,	   /* a struct of `items`; its first member tells whether it is there (bool) */
	LIST	   /* pointer to structs of `items`; how many: the size_t at count_at */
};

struct shape;
struct member {
	const char *key;
	enum kind kind;
	size_t at;
	const struct shape *items;
	size_t count_at;
	bool optional; /* not written: NULL TEXT, INDEX 0, a PART that is not there, an empty LIST
			*/
};

struct shape {
	const struct member *members;
	size_t count, bytes;
};

#define SHAPE(S, table)                                                                            \
	static const struct shape S##_shape = {table, sizeof(table) / sizeof *(table),             \
					       sizeof(struct S)}
#define AT(S, name) offsetof(struct S, name)

static const struct member file_members[] = {
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
SHAPE(manifest_file, file_members);

static const struct member region_members[] = {
	{.key = "start", ROW_KEY, AT(manifest_region, start)},
	{.key = "end", ROW_KEY, AT(manifest_region, end)},
	{.key = "rows", COUNT, AT(manifest_region, rows)},
	{.key = "cells", COUNT, AT(manifest_region, cells)},
	{.key = "bytes", COUNT, AT(manifest_region, bytes)},
	{.key = "cell_bytes", COUNT, AT(manifest_region, cell_bytes)},
	{.key = "predicted_bytes", COUNT, AT(manifest_region, predicted_bytes)},
};
SHAPE(manifest_region, region_members);

static const struct member tuning_members[] = {
	{.key = "family", TEXT, AT(manifest_tuning, family)},
	{.key = "aim", TEXT, AT(manifest_tuning, aim)},
	{.key = "level", INDEX, AT(manifest_tuning, level)},
	{.key = "hash_log", INDEX, AT(manifest_tuning, hash_log)},
	{.key = "min_match", INDEX, AT(manifest_tuning, min_match), .optional = true},
	{.key = "plain_bytes", COUNT, AT(manifest_tuning, plain_bytes)},
	{.key = "stored_bytes", COUNT, AT(manifest_tuning, stored_bytes)},
};
SHAPE(manifest_tuning, tuning_members);

static const struct member family_members[] = {
	{.key = "name", TEXT, AT(manifest_family, name)},
};
SHAPE(manifest_family, family_members);

static const struct member table_members[] = {
	{.key = "name", TEXT, AT(manifest_table, name)},
	{.key = "dir", TEXT, AT(manifest_table, dir)},
	{.key = "families",
	 LIST,
	 AT(manifest_table, families),
	 .items = &manifest_family_shape,
	 .count_at = AT(manifest_table, nfamilies),
	 .optional = true},
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

static const struct member input_members[] = {
	{.key = "path", TEXT, AT(manifest_input, path)},
	{.key = "bytes", COUNT, AT(manifest_input, bytes)},
	{.key = "rows", COUNT, AT(manifest_input, rows)},
	{.key = "digest", DIGEST, AT(manifest_input, digest)},
};
SHAPE(manifest_input, input_members);

static const struct member reason_members[] = {
	{.key = "reason", TEXT, AT(reject_reason, reason)},
	{.key = "count", COUNT, AT(reject_reason, count)},
};
SHAPE(reject_reason, reason_members);

static const struct member anchor_members[] = {
	{.key = "offset", MILLIS, AT(anchor, offset)},
	{.key = "timestamp_ms", MILLIS, AT(anchor, timestamp_ms)},
	{.key = "digest", DIGEST, AT(anchor, digest)},
};
SHAPE(anchor, anchor_members);

static const struct member offset_members[] = {
	{.key = "partition", PARTITION, AT(offset_range, partition)},
	{.key = "start", MILLIS, AT(offset_range, start)},
	{.key = "end", MILLIS, AT(offset_range, end)},
	{.key = "events", MILLIS, AT(offset_range, events)},
	{.key = "last", PART, AT(offset_range, last), .items = &anchor_shape, .optional = true},
};
SHAPE(offset_range, offset_members);

static const struct member link_members[] = {
	{.key = "load", TEXT, AT(manifest_link, load)},
	{.key = "digest", DIGEST, AT(manifest_link, digest)},
};
SHAPE(manifest_link, link_members);

static const struct member digests_members[] = {
	{.key = "rejects", DIGEST, AT(manifest_digests, rejects)},
	{.key = "manifest", DIGEST, AT(manifest_digests, manifest)},
};
SHAPE(manifest_digests, digests_members);

static const struct member manifest_members[] = {
	{.key = "job", TEXT, AT(manifest, job_path)},
	{.key = "job_digest", DIGEST, AT(manifest, job_digest)},
	{.key = "created_ms", MILLIS, AT(manifest, created_ms)},
	{.key = "inputs",
	 LIST,
	 AT(manifest, inputs),
	 .items = &manifest_input_shape,
	 .count_at = AT(manifest, ninputs)},
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
	{.key = "digests",
	 PART,
	 AT(manifest, digests),
	 .items = &manifest_digests_shape,
	 .optional = true},
};
SHAPE(manifest, manifest_members);

static json_t *hex_json(const void *ptr, size_t len)
{
	struct buf hex = {0};
	bytes_hex(&hex, bytes_of(ptr, len));
	json_t *out = json_stringn((const char *)hex.ptr, hex.len);
	buf_release(&hex);
	return out;
}

static json_t *row_key_json(struct bytes key)
{
	struct buf text = {0};
	bytes_escape(&text, key);
	json_t *out = json_stringn(text.len ? (const char *)text.ptr : "", text.len);
	buf_release(&text);
	return out;
}

static json_t *shape_json(const struct shape *s, const char *base);

static json_t *list_json(const struct member *m, const char *base)
{
	const char *const *items = (const void *)(base + m->at);
	const size_t *count = (const void *)(base + m->count_at);
	json_t *list = json_array();
	for (size_t i = 0; i < *count; i++) {
		json_t *item = shape_json(m->items, *items + i * m->items->bytes);
		if (json_array_append_new(list, item) < 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *member_json(const struct member *m, const char *base)
{
	const void *at = base + m->at;
	switch (m->kind) {
	case RATIO: return json_real(*(const double *)at);
	case TEXT: return text_json(bytes_str(*(const char *const *)at));
	case COUNT: return json_integer((json_int_t) * (const uint64_t *)at);
	case INDEX: return json_integer((json_int_t) * (const size_t *)at);
	case MILLIS: return json_integer(*(const int64_t *)at);
	case PARTITION: return json_integer(*(const int32_t *)at);
	case DIGEST: return hex_json(at, 16);
	case ROW_KEY: return row_key_json(*(const struct bytes *)at);
	case PART: return shape_json(m->items, at);
	case LIST: return list_json(m, base);
	}
	return NULL;
}

static bool is_left_out(const struct member *m, const char *base)
{
	const void *at = base + (m->kind == LIST ? m->count_at : m->at);
	if (!m->optional)
		return false;
	if (m->kind == PART)
		return !*(const bool *)at;
	if (m->kind == LIST || m->kind == INDEX)
		return *(const size_t *)at == 0;
	return !*(const char *const *)at;
}

/* NULL: out of memory */
static json_t *shape_json(const struct shape *s, const char *base)
{
	json_t *object = json_object();
	for (size_t i = 0; i < s->count; i++) {
		if (is_left_out(&s->members[i], base))
			continue;
		json_t *value = member_json(&s->members[i], base);
		if (json_object_set_new(object, s->members[i].key, value) < 0) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
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

void manifest_format(const struct manifest *m, struct buf *out)
{
	struct arena a = {0};
	struct manifest named = *m;
	named.tables = arena_alloc(&a, m->ntables * sizeof *m->tables);
	for (size_t i = 0; i < m->ntables; i++) {
		named.tables[i] = m->tables[i];
		if (!m->tables[i].dir)
			named.tables[i].dir = default_dir(m->tables[i].name, &a);
	}
	json_t *json = shape_json(&manifest_shape, (const char *)&named);
	size_t before = out->len;
	if (text_dump(out, json, JSON_INDENT(2) | JSON_REAL_PRECISION(6)))
		buf_put(out, '\n');
	else
		out->len = before;
	if (m->digests.known)
		put_seal(out, before);
	json_decref(json);
	arena_release(&a);
}

int manifest_write(const struct manifest *m, const char *path, struct error *err)
{
	struct buf text = {0};
	manifest_format(m, &text);
	int rc = text.len ? io_write_file(path, buf_bytes(&text), err)
			  : error_set(err, RC_LIMIT, "out of memory for %s", path);
	buf_release(&text);
	return rc;
}

static const char *kind_name(enum kind k)
{
	switch (k) {
	case RATIO: return "a ratio, 0 or more";
	case TEXT: return "a text";
	case COUNT:
	case INDEX: return "a number, 0 or more";
	case MILLIS:
	case PARTITION: return "a number";
	case DIGEST: return "32 hex digits";
	case ROW_KEY: return "a row key in \\xHH form";
	case PART: return "an object";
	case LIST: return "a list";
	}
	return "";
}

static bool read_number(const json_t *v, enum kind kind, void *at)
{
	json_int_t n = json_integer_value(v);
	if (!json_is_integer(v) || (kind != MILLIS && n < 0) ||
	    (kind == PARTITION && n > INT32_MAX))
		return false;
	if (kind == PARTITION)
		*(int32_t *)at = (int32_t)n;
	else if (kind == COUNT)
		*(uint64_t *)at = (uint64_t)n;
	else if (kind == INDEX)
		*(size_t *)at = (size_t)n;
	else
		*(int64_t *)at = n;
	return true;
}

static void read_row_key(const char *text, struct bytes *out, struct arena *a)
{
	struct buf key = {0};
	bytes_unescape(&key, bytes_str(text));
	*out = bytes_of(arena_strndup(a, (const char *)key.ptr, key.len), key.len);
	buf_release(&key);
}

static bool read_ratio(const json_t *v, double *at)
{
	*at = json_number_value(v);
	return json_is_number(v) && *at >= 0;
}

static bool read_text(const json_t *v, enum kind kind, void *at, struct arena *a)
{
	const char *text = json_string_value(v);
	if (kind == RATIO)
		return read_ratio(v, at);
	if (!text)
		return false;
	switch (kind) {
	case TEXT: *(const char **)at = arena_strdup(a, text); return true;
	case ROW_KEY: read_row_key(text, at, a); return true;
	default: return bytes_unhex(at, 16, text);
	}
}

static int shape_read(const struct shape *s, const json_t *object, char *base, const char *where,
		      struct arena *a, struct error *err);

static int list_read(const struct member *m, const json_t *list, char *base, const char *where,
		     struct arena *a, struct error *err)
{
	size_t count = json_array_size(list);
	char *items = arena_alloc(a, count * m->items->bytes);
	*(void **)(void *)(base + m->at) = items;
	*(size_t *)(void *)(base + m->count_at) = count;
	int rc = RC_OK;
	for (size_t i = 0; !rc && i < count; i++) {
		char *name = mem_format("%s%s[%zu].", where, m->key, i);
		rc = shape_read(m->items, json_array_get(list, i), items + i * m->items->bytes,
				name, a, err);
		mem_free(name);
	}
	return rc;
}

static int part_read(const struct member *m, const json_t *object, char *base, const char *where,
		     struct arena *a, struct error *err)
{
	char *name = mem_format("%s%s.", where, m->key);
	*(bool *)base = true;
	int rc = shape_read(m->items, object, base, name, a, err);
	mem_free(name);
	return rc;
}

static int shape_read(const struct shape *s, const json_t *object, char *base, const char *where,
		      struct arena *a, struct error *err)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct member *m = &s->members[i];
		const json_t *v = json_object_get(object, m->key);
		bool ok;
		if (!v && m->optional)
			continue;
		if (m->kind == LIST)
			ok = json_is_array(v);
		else if (m->kind == PART)
			ok = json_is_object(v);
		else if (m->kind == COUNT || m->kind == INDEX || m->kind == MILLIS ||
			 m->kind == PARTITION)
			ok = read_number(v, m->kind, base + m->at);
		else
			ok = read_text(v, m->kind, base + m->at, a);
		if (!ok)
			return error_set(err, RC_DATA, "%s%s is %s, expected %s", where, m->key,
					 v ? "something else" : "missing", kind_name(m->kind));
		int rc = RC_OK;
		if (m->kind == LIST)
			rc = list_read(m, v, base, where, a, err);
		else if (m->kind == PART)
			rc = part_read(m, v, base + m->at, where, a, err);
		if (rc)
			return rc;
	}
	return RC_OK;
}

int manifest_read(struct manifest *m, const char *path, struct arena *a, struct error *err)
{
	*m = (struct manifest){0};
	struct buf text = {0};
	int rc = io_read_file(path, &text, err);
	if (rc) {
		buf_release(&text);
		return rc;
	}
	json_error_t bad;
	json_t *json = json_loadb((const char *)text.ptr, text.len, JSON_REJECT_DUPLICATES, &bad);
	if (!json)
		rc = error_set(err, RC_DATA, "%s:%d:%d: %s", path, bad.line, bad.column, bad.text);
	else if ((rc = shape_read(&manifest_shape, json, (char *)m, "", a, err)))
		error_prefix(err, "%s is not a manifest: ", path);
	else
		rc = check_seal(m, buf_bytes(&text), path, err);
	json_decref(json);
	buf_release(&text);
	return rc;
}
