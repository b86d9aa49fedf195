/*
 * inspect.c - reads the contents of an HFile for inspect
 *
 * The file does not store the types of its file info values. The table below lists the known keys
 * (hfile/README.md 7.2). Other values become \xHH.
 */
#include "inspect_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

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

/* --- forms --- */

static const struct form_member trailer_members[] = {
	{"version", FORM_TEXT, IN(trailer_view, version), "major and minor version"},
	{"file_bytes", FORM_COUNT, IN(trailer_view, t.file_bytes), "size of the file"},
	{"cells", FORM_COUNT, IN(trailer_view, t.entry_count), "number of cells"},
	{"compression", FORM_TEXT, IN(trailer_view, compression), "codec of the blocks"},
	{"comparator", FORM_TEXT, IN(trailer_view, comparator), "Java class that orders the cells"},
	{"index_levels", FORM_UINT, IN(trailer_view, t.index_levels), "levels of the data index"},
	{"root_index_entries", FORM_UINT, IN(trailer_view, t.data_index_count),
	 "entries of the root index"},
	{"meta_index_entries", FORM_UINT, IN(trailer_view, t.meta_index_count), "meta blocks"},
	{"plain_index_bytes", FORM_COUNT, IN(trailer_view, t.uncompressed_index_bytes),
	 "uncompressed size of the indexes"},
	{"plain_bytes", FORM_COUNT, IN(trailer_view, t.total_uncompressed_bytes),
	 "uncompressed size of all blocks"},
	{"first_data_block", FORM_INT, IN(trailer_view, t.first_data_block), "its offset"},
	{"last_data_block", FORM_INT, IN(trailer_view, t.last_data_block), "its offset"},
	{"load_on_open", FORM_COUNT, IN(trailer_view, t.load_on_open_offset),
	 "offset of the load-on-open section"},
	{"file_info", FORM_COUNT, IN(trailer_view, t.file_info_offset), "offset of the file info"},
};
const struct form trailer_form = FORM(trailer_view, trailer_members);

struct info_view {
	const char *key, *text, *type, *time;
	int64_t number;
	const int64_t *bounds;
	size_t nbounds;
	bool flag, is_text, is_number, is_flag, is_range;
};
static const struct form_member info_members[] = {
	{"key", FORM_TEXT, IN(info_view, key), "name of the entry"},
	{"value", FORM_TEXT, IN(info_view, text), "value, in the type of the entry", FORM_EITHER,
	 IF(info_view, is_text)},
	{"value", FORM_INT, IN(info_view, number), "a number", FORM_EITHER,
	 IF(info_view, is_number)},
	{"value", FORM_FLAG, IN(info_view, flag), "a boolean", FORM_EITHER, IF(info_view, is_flag)},
	{"value", FORM_INTS, IN(info_view, bounds), "first and last", FORM_EITHER,
	 IF(info_view, is_range), COUNT_AT(info_view, nbounds)},
	{"type", FORM_TEXT, IN(info_view, type), "type of the value, from its key"},
	{"time", FORM_TEXT, IN(info_view, time), "ISO 8601 form of the value, if it is a time",
	 FORM_IF_ANY},
};
const struct form info_form = FORM(info_view, info_members);

struct index_view {
	struct hfile_index_entry e;
	const char *key;
};
static const struct form_member index_members[] = {
	{"offset", FORM_COUNT, IN(index_view, e.offset), "offset of the block"},
	{"bytes", FORM_UINT, IN(index_view, e.disk_bytes), "size of the block on disk"},
	{"key", FORM_TEXT, IN(index_view, key), "first key of the block"},
};
const struct form index_form = FORM(index_view, index_members);

static const struct form_member bloom_members[] = {
	{"type", FORM_TEXT, IN(bloom_view, type), "NONE, ROW, ROWCOL..."},
	{"keys", FORM_COUNT, IN(bloom_view, b.keys), "number of keys", FORM_IF,
	 IF(bloom_view, b.present)},
	{"max_keys", FORM_COUNT, IN(bloom_view, b.max_keys),
	 "number of keys for which the filter "
	 "has space",
	 FORM_IF, IF(bloom_view, b.present)},
	{"bytes", FORM_COUNT, IN(bloom_view, b.bytes), "size", FORM_IF, IF(bloom_view, b.present)},
	{"chunks", FORM_UINT, IN(bloom_view, b.chunks), "number of chunks", FORM_IF,
	 IF(bloom_view, b.present)},
	{"hashes", FORM_UINT, IN(bloom_view, b.hash_count), "hash functions for each key", FORM_IF,
	 IF(bloom_view, b.present)},
};
const struct form bloom_form = FORM(bloom_view, bloom_members);

struct block_type_view {
	char type[9];
	uint64_t count, disk_bytes, plain_bytes;
};
static const struct form_member block_type_members[] = {
	{"type", FORM_CHARS, IN(block_type_view, type), "type of the blocks"},
	{"count", FORM_COUNT, IN(block_type_view, count), "number of blocks"},
	{"disk_bytes", FORM_COUNT, IN(block_type_view, disk_bytes), "size of these blocks on disk"},
	{"plain_bytes", FORM_COUNT, IN(block_type_view, plain_bytes), "their uncompressed size"},
};
const struct form block_type_form = FORM(block_type_view, block_type_members);

static const struct form_member block_members[] = {
	{"offset", FORM_COUNT, IN(hfile_block, offset), "offset of the block in the file"},
	{"type", FORM_CHARS, IN(hfile_block, type), "type of the block"},
	{"disk_bytes", FORM_UINT, IN(hfile_block, disk_bytes), "size on disk"},
	{"plain_bytes", FORM_UINT, IN(hfile_block, plain_bytes), "uncompressed size"},
	{"previous", FORM_INT, IN(hfile_block, previous),
	 "offset of the previous block of the same type; -1 if there is none"},
};
const struct form block_form = FORM(hfile_block, block_members);

struct tag_view {
	uint32_t type;
	struct bytes value;
};
static const struct form_member tag_members[] = {
	{"type", FORM_UINT, IN(tag_view, type), "HBase's number of the tag type"},
	{"value", FORM_KEY, IN(tag_view, value), "content of the tag"},
};
static const struct form tag_form = FORM(tag_view, tag_members);

struct cell_view {
	struct cell c;
	struct bytes column, time;
	const struct tag_view *tags;
	size_t ntags;
};
static const struct form_member cell_members[] = {
	{"row", FORM_KEY, IN(cell_view, c.row), "row key"},
	{"column", FORM_BYTES, IN(cell_view, column), "family:qualifier"},
	{"timestamp", FORM_INT, IN(cell_view, c.ts), "timestamp of the cell, in ms since 1970"},
	{"time", FORM_BYTES, IN(cell_view, time), "the timestamp as ISO 8601"},
	{"type", FORM_CELL_TYPE, IN(cell_view, c.type), "Put, Delete..."},
	{"value", FORM_KEY, IN(cell_view, c.value), "bytes of the value"},
	{"mvcc", FORM_COUNT, IN(cell_view, c.mvcc), "sequence id; absent if 0", FORM_IF_ANY},
	{"tags", FORM_LIST, IN(cell_view, tags), "tags of the cell", FORM_IF_ANY,
	 ITEMS(cell_view, tag_form, ntags)},
};
static const struct form cell_view_form = FORM(cell_view, cell_members);

static const struct form_member inspect_members[] = {
	{"path", FORM_TEXT, IN(inspection, path), "the file"},
	{"trailer", FORM_PART, IN(inspection, trailer), "trailer of the HFile", FORM_IF,
	 &trailer_form, IF(inspection, opened)},
	{"file_info", FORM_LIST, IN(inspection, file_info), "entries of the file info", FORM_IF,
	 ITEMS(inspection, info_form, nfile_info), IF(inspection, opened)},
	{"root_index", FORM_LIST, IN(inspection, root_index), "entries of the root index", FORM_IF,
	 ITEMS(inspection, index_form, nroot_index), IF(inspection, opened)},
	{"bloom", FORM_PART, IN(inspection, bloom), "bloom filter", FORM_IF, &bloom_form,
	 IF(inspection, opened)},
	{"block_types", FORM_LIST, IN(inspection, block_types), "number and size of blocks by type",
	 FORM_IF, ITEMS(inspection, block_type_form, nblock_types), IF(inspection, opened)},
	{"blocks", FORM_LIST, IN(inspection, blocks), "--blocks: all blocks", FORM_IF,
	 ITEMS(inspection, block_form, nblocks), IF(inspection, each_block)},
	{"cells", FORM_LIST, IN(inspection, cells), "--cells: all cells", FORM_IF_ANY,
	 ITEMS(inspection, cell_view_form, ncells)},
	{"error", FORM_TEXT, IN(inspection, error), "why inspect cannot read the other parts",
	 FORM_IF_ANY},
};
const struct form inspect_form =
	NAMED_FORM(inspection, inspect_members, "inspect", "inspect --json", .is_list = true);

/* --- contents of a file --- */

/* Copies the text of `b` into the arena. */
static const char *keep(struct inspection *d, struct buf *b)
{
	const char *kept = arena_strndup(&d->arena, (const char *)b->ptr, b->len);

	buf_release(b);
	return kept;
}

static const char *escaped(struct inspection *d, struct bytes v)
{
	struct buf b = {0};

	bytes_escape(&b, v);
	return keep(d, &b);
}

/* Escapes invalid UTF-8 and control bytes as \xHH. */
static const char *visible(struct inspection *d, struct bytes v)
{
	struct buf b = {0};

	text_visible(&b, v);
	return keep(d, &b);
}

void put_cell_time(struct buf *b, int64_t ms)
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

/*
 * Writes a flat key (hfile/README.md 3.1) as row/family:qualifier/timestamp/type. Writes other keys
 * as \xHH.
 */
static const char *key_text(struct inspection *d, struct bytes k)
{
	size_t row = k.len >= 2 ? get_be16(k.ptr) : 0;
	size_t family = k.len >= 12 + row ? k.ptr[2 + row] : 0;

	if (k.len < 12 + row + family)
		return escaped(d, k);
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
	return keep(d, &b);
}

static void read_trailer(struct inspection *d, const struct hfile_trailer *t)
{
	struct buf version = {0};

	buf_printf(&version, "%u.%u", t->major, t->minor);
	d->trailer = (struct trailer_view){.t = *t,
					   .version = keep(d, &version),
					   .compression = codec_name((enum codec)t->codec),
					   .comparator = visible(d, bytes_str(t->comparator))};
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

static void set_time(struct inspection *d, struct info_view *v, enum info_type type,
		     struct bytes value)
{
	struct buf at = {0};

	if (type != INFO_TIME && type != INFO_RANGE)
		return;
	put_cell_time(&at, (int64_t)get_be64(value.ptr));
	if (type == INFO_RANGE) {
		buf_append_str(&at, " .. ");
		put_cell_time(&at, (int64_t)get_be64(value.ptr + 8));
	}
	v->time = at.len ? keep(d, &at) : NULL;
}

static struct info_view info_view(struct inspection *d, struct bytes key, struct bytes value,
				  enum info_type type)
{
	struct info_view v = {.key = escaped(d, key), .type = info_type_names[type]};
	int64_t *bounds = NULL;

	switch (type) {
	case INFO_I32: v.number = (int32_t)get_be32(value.ptr); break;
	case INFO_I64:
	case INFO_TIME: v.number = (int64_t)get_be64(value.ptr); break;
	case INFO_RANGE:
		bounds = arena_alloc(&d->arena, 2 * sizeof *bounds);
		bounds[0] = (int64_t)get_be64(value.ptr);
		bounds[1] = (int64_t)get_be64(value.ptr + 8);
		break;
	case INFO_BOOL: v.flag = value.ptr[0] != 0; break;
	case INFO_TEXT: v.text = visible(d, value); break;
	case INFO_KEY: v.text = key_text(d, value); break;
	case INFO_BYTES: v.text = escaped(d, value); break;
	}
	v.bounds = bounds;
	v.nbounds = bounds ? 2 : 0;
	v.is_range = bounds != NULL;
	v.is_text = v.text != NULL;
	v.is_flag = type == INFO_BOOL;
	v.is_number = !v.is_range && !v.is_text && !v.is_flag;
	set_time(d, &v, type, value);
	return v;
}

static void read_info(struct inspection *d, const struct hfile *f)
{
	struct bytes key, value, bloom = {0};
	struct buf *list = &d->lists[0];

	hfile_info_get(f, "BLOOM_FILTER_TYPE", &bloom);
	for (size_t i = 0; hfile_info(f, i, &key, &value) == RC_OK; i++) {
		enum info_type type = info_type_of(key, value);

		/*
		 * the last key of a ROWCOL filter is a flat key; in other filters it is a row or
		 * its prefix
		 */
		if (bytes_eq(key, bytes_str("LAST_BLOOM_KEY")) &&
		    bytes_eq(bloom, bytes_str("ROWCOL")))
			type = INFO_KEY;
		struct info_view v = info_view(d, key, value, type);
		buf_append(list, &v, sizeof v);
		d->nfile_info++;
	}
	d->file_info = list->ptr;
}

static void read_index(struct inspection *d, const struct hfile *f)
{
	struct index_view v = {0};
	struct buf *list = &d->lists[1];

	for (; hfile_root_entry(f, d->nroot_index, &v.e) == RC_OK; d->nroot_index++) {
		v.key = key_text(d, v.e.key);
		buf_append(list, &v, sizeof v);
	}
	d->root_index = list->ptr;
}

static void count_block(struct inspection *d, const struct hfile_block *b)
{
	struct buf *list = &d->lists[2];
	struct block_type_view new = {0}, *all = (void *)list->ptr;
	size_t i = 0;

	while (i < d->nblock_types && strcmp(all[i].type, b->type) != 0)
		i++;
	if (i == d->nblock_types) {
		memcpy(new.type, b->type, sizeof new.type);
		buf_append(list, &new, sizeof new);
		all = (void *)list->ptr;
		d->nblock_types++;
	}
	all[i].count++;
	all[i].disk_bytes += b->disk_bytes;
	all[i].plain_bytes += b->plain_bytes;
	d->block_types = all;
}

static int read_blocks(struct inspection *d, struct hfile *f, struct error *err)
{
	struct buf *list = &d->lists[3];
	struct hfile_block b;
	uint64_t at = 0;
	int rc;

	while ((rc = hfile_next_block(f, &at, &b, err)) == RC_OK) {
		count_block(d, &b);
		if (!d->each_block)
			continue;
		buf_append(list, &b, sizeof b);
		d->nblocks++;
	}
	d->blocks = list->ptr;
	return rc < 0 ? rc : RC_OK;
}

struct inspection *inspection_new(const char *path)
{
	struct inspection *d = mem_calloc(1, sizeof *d);
	struct bytes name = bytes_str(path);

	d->path = text_is_utf8(name) ? path : escaped(d, name);
	return d;
}

void inspection_free(struct inspection *d)
{
	for (size_t i = 0; i < sizeof d->lists / sizeof *d->lists; i++)
		buf_release(&d->lists[i]);
	arena_release(&d->arena);
	mem_free(d);
}

int inspect_file(struct inspection *d, struct hfile *f, bool each_block, struct error *err)
{
	d->opened = true;
	d->each_block = each_block;
	read_trailer(d, hfile_trailer(f));
	read_info(d, f);
	read_index(d, f);
	hfile_bloom(f, &d->bloom.b);
	d->bloom.type = d->bloom.b.present ? bloom_name(d->bloom.b.type) : "NONE";
	return read_blocks(d, f, err);
}

void inspect_json(struct buf *out, const struct inspection *d)
{
	form_put(out, &inspect_form, d, FORM_REPORT);
	out->len -= strlen("\n}\n");
}

/* Reads tags as cell.h describes them. The caller has checked that the tags are complete. */
static size_t read_tags(struct tag_view *out, struct bytes tags)
{
	size_t n = 0;

	for (const uint8_t *p = tags.ptr, *end = p + tags.len; p < end; p += 2 + get_be16(p)) {
		if (out)
			out[n] = (struct tag_view){p[2], bytes_of(p + 3, get_be16(p) - 1u)};
		n++;
	}
	return n;
}

void inspect_cell_json(struct buf *out, const struct cell *c)
{
	struct buf column = {0}, time = {0};
	struct cell_view v = {.c = *c, .ntags = read_tags(NULL, c->tags)};
	struct tag_view *tags = mem_calloc(v.ntags + 1, sizeof *tags);

	bytes_escape(&column, c->family);
	buf_put(&column, ':');
	bytes_escape(&column, c->qualifier);
	put_cell_time(&time, c->ts);
	read_tags(tags, c->tags);
	v.column = buf_bytes(&column);
	v.time = buf_bytes(&time);
	v.tags = tags;
	form_put(out, &cell_view_form, &v, FORM_SPACED);
	mem_free(tags);
	buf_release(&time);
	buf_release(&column);
}
