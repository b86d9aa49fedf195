/*
 * decode_cells.c - scan answers, cells of KeyValueCodec, and regions from hbase:meta's cells
 *
 * A cell is int32 length | int32 key length, int32 value length | int16 row length, row, int8
 * family length, family, qualifier, int64 timestamp, int8 type | value (KeyValueCodec has no tags).
 */
#include <inttypes.h>
#include <stdlib.h>

#include "decode.h"
#include "hash.h"
#include "pb.h"

enum { SCAN_SCANNER = 2, SCAN_MORE = 3, SCAN_LEASE = 4, SCAN_MORE_IN_REGION = 8 };

#define ENCODED_CHARS 32
#define CELL_FIXED    12 /* bytes of a key that are not row, family or qualifier */

static const char magic[] = "PBUF"; /* ProtobufMagic, before stored messages */

int decode_scan(struct bytes message, struct scan_answer *out, struct error *err)
{
	struct pb_field f;
	int rc;

	*out = (struct scan_answer){0};
	while ((rc = pb_next(&message, &f, err)) == RC_OK) {
		if (f.wire != PB_VARINT)
			continue;
		if (f.number == SCAN_SCANNER) {
			out->scanner = f.value;
			out->has_scanner = true;
		} else if (f.number == SCAN_LEASE) {
			out->lease_ms = f.value;
		} else if (f.number == SCAN_MORE || f.number == SCAN_MORE_IN_REGION) {
			out->last = out->last || f.value == 0;
		}
	}
	return rc < 0 ? rc : RC_OK;
}

static int bad_cell(size_t len, struct error *err)
{
	return error_set(err, RC_DATA,
			 "found a cell of %zu bytes with longer parts, expected "
			 "parts that fit into the cell",
			 len);
}

static int take_key(struct bytes key, struct cell *out, struct error *err)
{
	size_t row = key.len >= CELL_FIXED ? get_be16(key.ptr) : SIZE_MAX;

	if (key.len < CELL_FIXED || row > CELL_ROW_MAX || row > key.len - CELL_FIXED)
		return bad_cell(key.len, err);
	const uint8_t *p = key.ptr + 2;
	out->row = bytes_of(p, row);
	p += row;
	size_t family = *p++, left = key.len - CELL_FIXED - row;
	if (family > left || family > CELL_FAMILY_MAX)
		return bad_cell(key.len, err);
	out->family = bytes_of(p, family);
	out->qualifier = bytes_of(p + family, left - family);
	p += left;
	out->ts = (int64_t)get_be64(p);
	out->type = p[8];
	return RC_OK;
}

int decode_cell(struct bytes *block, struct cell *out, struct error *err)
{
	*out = (struct cell){0};
	if (block->len == 0)
		return RC_END;
	if (block->len < 12)
		return bad_cell(block->len, err);
	uint32_t length = get_be32(block->ptr), key = get_be32(block->ptr + 4),
		 value = get_be32(block->ptr + 8);
	if (length > block->len - 4 || length < 8 || (uint64_t)key + value != length - 8)
		return bad_cell(block->len, err);
	int rc = take_key(bytes_of(block->ptr + 12, key), out, err);
	out->value = bytes_of(block->ptr + 12 + key, value);
	*block = bytes_of(block->ptr + 4 + length, block->len - 4 - length);
	return rc;
}

/* --- regions --- */

struct bytes hbase_encoded_name(struct bytes name)
{
	const size_t tail = ENCODED_CHARS + 2; /* ".887dbb15bb33c33d0f69170801172484." */

	if (name.len < tail || name.ptr[name.len - 1] != '.' || name.ptr[name.len - tail] != '.')
		return (struct bytes){0};
	return bytes_of(name.ptr + name.len - tail + 1, ENCODED_CHARS);
}

static void add_parent(struct hbase_regions *r, struct bytes encoded)
{
	if (!encoded.len)
		return;
	r->parents = arena_grow(&r->arena, r->parents, r->nparents, sizeof *r->parents);
	r->parents[r->nparents++] = encoded;
}

struct bytes decode_region_name(const struct region_info *info, struct arena *a)
{
	struct buf name = {0}, hex = {0};
	uint8_t digest[16];

	if (info->space.len && !bytes_eq(info->space, bytes_str("default"))) {
		buf_append(&name, info->space.ptr, info->space.len);
		buf_put(&name, ':');
	}
	buf_append(&name, info->table.ptr, info->table.len);
	buf_put(&name, ',');
	buf_append(&name, info->start.ptr, info->start.len);
	buf_printf(&name, ",%" PRIu64, info->id);
	md5(buf_bytes(&name), digest);
	bytes_hex(&hex, bytes_of(digest, sizeof digest));
	struct bytes kept = arena_bytes(a, buf_bytes(&hex));
	buf_release(&hex);
	buf_release(&name);
	return kept;
}

/*
 * Record a region that HBase merged into this region. The columns info:merge0000 and so on contain
 * the RegionInfo of such regions.
 */
static int take_merged(struct hbase_regions *r, struct bytes message, struct error *err)
{
	struct region_info info;
	int rc = decode_region_info(message, &info, err);

	if (rc == RC_OK)
		add_parent(r, decode_region_name(&info, &r->arena));
	return rc;
}

/* End a row. Add the row's region, unless it is the parent of a split, or a replica. */
static void add_region(struct meta_rows *m)
{
	const struct region_info *info = &m->info;
	struct hbase_regions *r = m->out;

	if (!m->has_info || info->replica != 0)
		return;
	if (info->offline || info->split) {
		add_parent(r, hbase_encoded_name(m->row));
		return;
	}
	r->item = mem_grow(r->item, r->count, sizeof *r->item);
	r->item[r->count++] = (struct hbase_region){.start = info->start,
						    .end = info->end,
						    .name = m->row,
						    .place = m->place};
}

static bool begins_with(struct bytes text, const char *start)
{
	size_t n = strlen(start);

	return text.len > n && memcmp(text.ptr, start, n) == 0;
}

int meta_take(void *rows, const struct cell *c, struct error *err)
{
	struct meta_rows *m = rows;
	struct arena *a = &m->out->arena;

	if (!bytes_eq(c->row, m->row)) {
		add_region(m);
		m->row = arena_bytes(a, c->row);
		m->has_info = false;
		m->place = (struct hbase_place){0};
	}
	if (!bytes_eq(c->family, bytes_str("info")))
		return RC_OK;
	if (bytes_eq(c->qualifier, bytes_str("server"))) {
		/* `host` stays "" if the region is on no server */
		place_read(c->value, 0, &m->place);
	} else if (bytes_eq(c->qualifier, bytes_str("regioninfo"))) {
		size_t n = sizeof magic - 1;

		if (c->value.len < n || memcmp(c->value.ptr, magic, n) != 0)
			return error_set(
				err, RC_DATA,
				"hbase:meta: found a region's info without `PBUF`, expected `PBUF` "
				"at its start");
		struct bytes info = arena_bytes(a, bytes_of(c->value.ptr + n, c->value.len - n));
		int rc = decode_region_info(info, &m->info, err);
		if (rc)
			return error_prefix(err, "hbase:meta: ");
		m->has_info = true;
	} else if (begins_with(c->qualifier, "merge") && begins_with(c->value, magic)) {
		struct bytes info =
			bytes_of(c->value.ptr + strlen(magic), c->value.len - strlen(magic));
		int rc = take_merged(m->out, info, err);

		if (rc)
			return error_prefix(err, "hbase:meta: ");
	}
	return RC_OK;
}

static int by_start(const void *a, const void *b)
{
	const struct hbase_region *x = a, *y = b;

	return bytes_cmp(x->start, y->start);
}

int meta_finish(struct meta_rows *m, struct error *err)
{
	struct hbase_regions *r = m->out;

	add_region(m);
	m->has_info = false;
	if (r->count == 0)
		return RC_END;
	qsort(r->item, r->count, sizeof *r->item, by_start);
	for (size_t i = 0; i <= r->count; i++) {
		struct bytes end = i ? r->item[i - 1].end : (struct bytes){0};
		struct bytes start = i < r->count ? r->item[i].start : (struct bytes){0};
		bool open = i < r->count && i > 0 && end.len == 0;

		if (open || !bytes_eq(end, start))
			return error_set(
				err, RC_DATA,
				"found a gap or overlap at region %zu of %zu, expected none. "
				"HBase splits or merges a region, or the table is broken",
				i + 1, r->count);
	}
	return RC_OK;
}

void hbase_regions_release(struct hbase_regions *r)
{
	mem_free(r->item);
	arena_release(&r->arena);
	*r = (struct hbase_regions){0};
}
