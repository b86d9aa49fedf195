/*
 * inspect.c - what an HFile holds, decoded
 *
 * File info values have no type in the file; the known keys (hfile/README.md 7.2) are in a table
 * here. Unknown ones are shown in \xHH form.
 */
#include "cli/inspect.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "show_json.h"
#include "bytes.h"

enum info_type {
	INFO_I32,
	INFO_I64,
	INFO_TIME,
	INFO_RANGE,
	INFO_BOOL,
	INFO_TEXT,
	INFO_KEY,
	INFO_BYTES
};

static const char *const info_type_names[] = {"i32",  "i64",  "time", "time range",
					      "bool", "text", "key",  "bytes"};

static const struct {
	const char *key;
	enum info_type type;
} info_keys[] = {
	{"BLOOM_FILTER_PARAM", INFO_I32},    {"BLOOM_FILTER_TYPE", INFO_TEXT},
	{"BULKLOAD_SOURCE_TASK", INFO_TEXT}, {"BULKLOAD_TIMESTAMP", INFO_TIME},
	{"DATA_BLOCK_ENCODING", INFO_TEXT},  {"DELETE_FAMILY_COUNT", INFO_I64},
	{"EARLIEST_PUT_TS", INFO_TIME},	     {"EXCLUDE_FROM_MINOR_COMPACTION", INFO_BOOL},
	{"HISTORICAL", INFO_BOOL},	     {"INDEX_BLOCK_ENCODING", INFO_TEXT},
	{"KEY_VALUE_VERSION", INFO_I32},     {"MAJOR_COMPACTION_KEY", INFO_BOOL},
	{"MAX_MEMSTORE_TS_KEY", INFO_I64},   {"MAX_SEQ_ID_KEY", INFO_I64},
	{"SKIP_RESET_SEQ_ID", INFO_BOOL},    {"TIMERANGE", INFO_RANGE},
	{"hfile.AVG_KEY_LEN", INFO_I32},     {"hfile.AVG_VALUE_LEN", INFO_I32},
	{"hfile.CREATE_TIME_TS", INFO_TIME}, {"hfile.KEY_OF_BIGGEST_CELL", INFO_KEY},
	{"hfile.LASTKEY", INFO_KEY},	     {"hfile.LEN_OF_BIGGEST_CELL", INFO_I64},
	{"hfile.MAX_TAGS_LEN", INFO_I32},    {"hfile.TAGS_COMPRESSED", INFO_BOOL},
};

json_t *inspect_bytes(struct bytes v)
{
	return show_escaped(v);
}

/* "2013-01-01T10:15:00.000Z"; empty for a year that a calendar does not show. */
static void put_time(struct buf *b, int64_t ms)
{
	int64_t s = ms / 1000, rest = ms % 1000;

	if (rest < 0) {
		rest += 1000;
		s--;
	}
	time_t t = s;
	struct tm tm;
	char text[40];
	if (!gmtime_r(&t, &tm) || tm.tm_year > 9999 - 1900)
		return;
	strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
	buf_printf(b, "%s.%03" PRId64 "Z", text, rest);
}

static json_t *buf_json(struct buf *b)
{
	json_t *out = json_stringn(b->len ? (const char *)b->ptr : "", b->len);

	buf_release(b);
	return out;
}

static json_t *time_json(int64_t ms)
{
	struct buf b = {0};

	put_time(&b, ms);
	return buf_json(&b);
}

/* Text as it is, \xHH for what is none or would command a terminal. */
static json_t *text_json(struct bytes v)
{
	struct buf b = {0};

	text_visible(&b, v);
	json_t *text = json_stringn(b.len ? (const char *)b.ptr : "", b.len);
	buf_release(&b);
	return text ? text : inspect_bytes(v);
}

/* A flat key (hfile/README.md 3.1) as row/family:qualifier/timestamp/type; other bytes in \xHH
 * form. */
static json_t *key_json(struct bytes k)
{
	size_t row = k.len >= 2 ? get_be16(k.ptr) : 0;
	size_t family = k.len >= 12 + row ? k.ptr[2 + row] : 0;

	if (k.len < 12 + row + family)
		return inspect_bytes(k);
	struct buf b = {0};
	const uint8_t *at = k.ptr + 3 + row + family;
	size_t qualifier = k.len - 12 - row - family;
	int64_t ts = (int64_t)get_be64(at + qualifier);
	bytes_escape(&b, bytes_of(k.ptr + 2, row));
	buf_put(&b, '/');
	bytes_escape(&b, bytes_of(k.ptr + 3 + row, family));
	buf_put(&b, ':');
	bytes_escape(&b, bytes_of(at, qualifier));
	if (ts == INT64_MAX)
		buf_append_str(&b, "/latest");
	else
		buf_printf(&b, "/%" PRId64, ts);
	buf_printf(&b, "/%s", cell_type_name(k.ptr[k.len - 1]));
	return buf_json(&b);
}

static json_t *trailer_json(const struct hfile_trailer *t)
{
	return json_pack("{s:o, s:I, s:I, s:s, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
			 "version", json_sprintf("%u.%u", t->major, t->minor), "file_bytes",
			 (json_int_t)t->file_bytes, "cells", (json_int_t)t->entry_count,
			 "compression", codec_name((enum codec)t->codec), "comparator",
			 text_json(bytes_str(t->comparator)), "index_levels",
			 (json_int_t)t->index_levels, "root_index_entries",
			 (json_int_t)t->data_index_count, "meta_index_entries",
			 (json_int_t)t->meta_index_count, "plain_index_bytes",
			 (json_int_t)t->uncompressed_index_bytes, "plain_bytes",
			 (json_int_t)t->total_uncompressed_bytes, "first_data_block",
			 (json_int_t)t->first_data_block, "last_data_block",
			 (json_int_t)t->last_data_block, "load_on_open",
			 (json_int_t)t->load_on_open_offset, "file_info",
			 (json_int_t)t->file_info_offset);
}

static enum info_type info_type_of(struct bytes key, struct bytes value)
{
	static const size_t sizes[] = {[INFO_I32] = 4,
				       [INFO_I64] = 8,
				       [INFO_TIME] = 8,
				       [INFO_RANGE] = 16,
				       [INFO_BOOL] = 1};
	enum info_type type = INFO_BYTES;

	for (size_t i = 0; i < sizeof info_keys / sizeof *info_keys; i++)
		if (bytes_eq(key, bytes_str(info_keys[i].key)))
			type = info_keys[i].type;
	return type <= INFO_BOOL && value.len != sizes[type] ? INFO_BYTES : type;
}

static json_t *info_value(enum info_type type, struct bytes v)
{
	switch (type) {
	case INFO_I32: return json_integer((int32_t)get_be32(v.ptr));
	case INFO_I64:
	case INFO_TIME: return json_integer((int64_t)get_be64(v.ptr));
	case INFO_RANGE:
		return json_pack("[I, I]", (json_int_t)get_be64(v.ptr),
				 (json_int_t)get_be64(v.ptr + 8));
	case INFO_BOOL: return json_boolean(v.ptr[0] != 0);
	case INFO_TEXT: return text_json(v);
	case INFO_KEY: return key_json(v);
	case INFO_BYTES: break;
	}
	return inspect_bytes(v);
}

static json_t *info_json(const struct hfile *f)
{
	json_t *list = json_array();
	struct bytes key, value, bloom = {0};

	hfile_info_get(f, "BLOOM_FILTER_TYPE", &bloom);
	for (size_t i = 0; hfile_info(f, i, &key, &value) == RC_OK; i++) {
		enum info_type type = info_type_of(key, value);

		/* of a ROWCOL bloom the last key is a flat key, else a row or a prefix of one */
		if (bytes_eq(key, bytes_str("LAST_BLOOM_KEY")) &&
		    bytes_eq(bloom, bytes_str("ROWCOL")))
			type = INFO_KEY;
		json_t *entry = json_pack("{s:o, s:o, s:s}", "key", inspect_bytes(key), "value",
					  info_value(type, value), "type", info_type_names[type]);
		struct buf at = {0};
		if (type == INFO_TIME || type == INFO_RANGE)
			put_time(&at, (int64_t)get_be64(value.ptr));
		if (type == INFO_RANGE) {
			buf_append_str(&at, " .. ");
			put_time(&at, (int64_t)get_be64(value.ptr + 8));
		}
		if (at.len)
			json_object_set_new(entry, "time", buf_json(&at));
		json_array_append_new(list, entry);
	}
	return list;
}

static json_t *root_index_json(const struct hfile *f)
{
	json_t *list = json_array();
	struct hfile_index_entry e;

	for (size_t i = 0; hfile_root_entry(f, i, &e) == RC_OK; i++)
		json_array_append_new(list,
				      json_pack("{s:I, s:I, s:o}", "offset", (json_int_t)e.offset,
						"bytes", (json_int_t)e.disk_bytes, "key",
						key_json(e.key)));
	return list;
}

static json_t *bloom_json(const struct hfile *f)
{
	struct hfile_bloom b;

	hfile_bloom(f, &b);
	if (!b.present)
		return json_pack("{s:s}", "type", "NONE");
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "type", bloom_name(b.type), "keys",
			 (json_int_t)b.keys, "max_keys", (json_int_t)b.max_keys, "bytes",
			 (json_int_t)b.bytes, "chunks", (json_int_t)b.chunks, "hashes",
			 (json_int_t)b.hash_count);
}

static void add_to(json_t *object, const char *key, json_int_t n)
{
	json_t *sum = json_object_get(object, key);

	json_integer_set(sum, json_integer_value(sum) + n);
}

static void count_block(json_t *types, const struct hfile_block *b)
{
	size_t i;
	json_t *t = NULL;

	json_array_foreach(types, i, t)
	{
		if (strcmp(json_string_value(json_object_get(t, "type")), b->type) == 0)
			break;
	}
	if (i == json_array_size(types)) {
		t = json_pack("{s:s, s:i, s:i, s:i}", "type", b->type, "count", 0, "disk_bytes", 0,
			      "plain_bytes", 0);
		json_array_append_new(types, t);
	}
	add_to(t, "count", 1);
	add_to(t, "disk_bytes", b->disk_bytes);
	add_to(t, "plain_bytes", b->plain_bytes);
}

static json_t *block_json(const struct hfile_block *b)
{
	return json_pack("{s:I, s:s, s:I, s:I, s:I}", "offset", (json_int_t)b->offset, "type",
			 b->type, "disk_bytes", (json_int_t)b->disk_bytes, "plain_bytes",
			 (json_int_t)b->plain_bytes, "previous", (json_int_t)b->previous);
}

int inspect_file(json_t *out, struct hfile *f, bool each_block, struct error *err)
{
	json_t *types = json_array(), *blocks = json_array();

	json_object_set_new(out, "trailer", trailer_json(hfile_trailer(f)));
	json_object_set_new(out, "file_info", info_json(f));
	json_object_set_new(out, "root_index", root_index_json(f));
	json_object_set_new(out, "bloom", bloom_json(f));
	struct hfile_block b;
	uint64_t at = 0;
	int rc;
	while ((rc = hfile_next_block(f, &at, &b, err)) == RC_OK) {
		count_block(types, &b);
		if (each_block)
			json_array_append_new(blocks, block_json(&b));
	}
	json_object_set_new(out, "block_types", types);
	if (each_block)
		json_object_set(out, "blocks", blocks);
	json_decref(blocks);
	return rc < 0 ? rc : RC_OK;
}

/* Tags as cell.h has them, whole. */
static json_t *tags_json(struct bytes tags)
{
	json_t *list = json_array();

	for (const uint8_t *p = tags.ptr, *end = p + tags.len; p < end; p += 2 + get_be16(p))
		json_array_append_new(list,
				      json_pack("{s:i, s:o}", "type", p[2], "value",
						inspect_bytes(bytes_of(p + 3, get_be16(p) - 1u))));
	return list;
}

json_t *inspect_cell(const struct cell *c)
{
	struct buf column = {0};

	bytes_escape(&column, c->family);
	buf_put(&column, ':');
	bytes_escape(&column, c->qualifier);
	json_t *out = json_pack("{s:o, s:o, s:I, s:o, s:s, s:o}", "row", inspect_bytes(c->row),
				"column", buf_json(&column), "timestamp", (json_int_t)c->ts, "time",
				time_json(c->ts), "type", cell_type_name(c->type), "value",
				inspect_bytes(c->value));
	if (c->mvcc)
		json_object_set_new(out, "mvcc", json_integer((json_int_t)c->mvcc));
	if (c->tags.len)
		json_object_set_new(out, "tags", tags_json(c->tags));
	return out;
}
