/* index.c - write the block index; layout and rules in index.h */
#include "index.h"

#include "kv.h"
#include "mem.h"

#define MID_KEY_BYTES 16

bool hfile_index_list_add(struct hindex_list *l, struct bytes key, uint64_t offset,
			  uint32_t disk_bytes)
{
	uint8_t vint[KV_VINT_MAX];
	struct hindex_entry *e = mem_try_reserve(l->entry, &l->cap, l->count + 1, sizeof *e);

	if (!e)
		return false;
	l->entry = e;
	if (!buf_try_append(&l->keys, key.ptr, key.len))
		return false;
	l->entry[l->count++] = (struct hindex_entry){.offset = offset,
						     .disk_bytes = disk_bytes,
						     .key_at = l->keys.len - key.len,
						     .key_bytes = key.len};
	l->entry_bytes += 12 + key.len;
	l->root_bytes += 12 + hfile_kv_vint_put(vint, (int64_t)key.len) + key.len;
	return true;
}

static int list_add(struct hindex_list *l, struct bytes key, uint64_t offset, uint32_t disk_bytes,
		    struct error *err)
{
	if (hfile_index_list_add(l, key, offset, disk_bytes))
		return 0;
	return error_memory(err, l->keys.len + key.len, "the index");
}

struct bytes hfile_index_list_key(const struct hindex_list *l, size_t i)
{
	return bytes_of(l->keys.ptr + l->entry[i].key_at, l->entry[i].key_bytes);
}

static void list_clear(struct hindex_list *l)
{
	l->count = 0;
	l->keys.len = 0;
	l->root_bytes = 0;
	l->entry_bytes = 0;
}

void hfile_index_list_release(struct hindex_list *l)
{
	mem_free(l->entry);
	buf_release(&l->keys);
	*l = (struct hindex_list){0};
}

int hfile_index_add(struct hindex *x, struct bytes key, const struct hblock_place *place,
		    struct error *err)
{
	x->data_blocks++;
	return list_add(&x->leaf, key, place->offset, place->disk_bytes, err);
}

static uint64_t leaf_bytes(const struct hindex_list *l)
{
	return 4 + 4 * ((uint64_t)l->count + 1) + l->entry_bytes;
}

bool hfile_index_leaf_due(const struct hindex *x, bool closing)
{
	if (x->leaf.count == 0)
		return false;
	if (closing)
		return x->root.count > 0;
	return leaf_bytes(&x->leaf) >= x->max_bytes;
}

static void put_entry(struct buf *b, const struct hindex_entry *e)
{
	buf_fill_be64(b, e->offset);
	buf_fill_be32(b, e->disk_bytes);
}

static int put_node(struct buf *b, const struct hindex_list *l, struct error *err)
{
	uint32_t at = 0;
	int rc = hfile_block_begin(b, leaf_bytes(l), err);

	if (rc)
		return rc;
	buf_fill_be32(b, (uint32_t)l->count);
	for (size_t i = 0; i < l->count; i++) {
		buf_fill_be32(b, at);
		at += 12 + (uint32_t)l->entry[i].key_bytes;
	}
	buf_fill_be32(b, at);
	for (size_t i = 0; i < l->count; i++) {
		struct bytes key = hfile_index_list_key(l, i);

		put_entry(b, &l->entry[i]);
		buf_fill(b, key.ptr, key.len);
	}
	return 0;
}

/* Write a list as a non-root block, add the block to its parents, and empty the list. */
static int write_node(struct hindex *x, struct hindex_list *l, enum hblock_type type,
		      struct hindex_list *parents, struct hblock_out *out, struct buf *scratch,
		      struct hblock_place *place, struct error *err)
{
	int rc = put_node(scratch, l, err);

	if (rc == RC_OK)
		rc = hfile_block_write(out, type, scratch, place, err);
	if (rc == RC_OK)
		rc = list_add(parents, hfile_index_list_key(l, 0), place->offset, place->disk_bytes,
			      err);
	if (rc)
		return rc;
	x->plain_bytes += place->plain_bytes;
	list_clear(l);
	return 0;
}

int hfile_index_write_leaf(struct hindex *x, struct hblock_out *out, struct buf *scratch,
			   struct hblock_place *place, struct error *err)
{
	int rc = write_node(x, &x->leaf, HBLOCK_LEAF, &x->root, out, scratch, place, err);

	if (rc == RC_OK)
		x->root.entry[x->root.count - 1].below = x->data_blocks;
	return rc;
}

/* i64 leaf offset | i32 leaf diskBytes | i32 entry in the leaf, of the middle data block (5.5). */
static void mid_key(const struct hindex *x, uint8_t out[MID_KEY_BYTES])
{
	uint64_t middle = (x->data_blocks - 1) / 2;
	size_t i = 0;

	while (x->root.entry[i].below <= middle)
		i++;
	put_be64(out, x->root.entry[i].offset);
	put_be32(out + 8, x->root.entry[i].disk_bytes);
	put_be32(out + 12, (uint32_t)(middle - (i ? x->root.entry[i - 1].below : 0)));
}

/* Cut the root into intermediate blocks. The first keys of these blocks are the new root (5.4). */
static int write_level(struct hindex *x, struct hblock_out *out, struct buf *scratch,
		       struct error *err)
{
	struct hindex_list parents = {0}, part = {0};
	struct hblock_place place;
	int rc = 0;

	for (size_t i = 0; rc == RC_OK && i < x->root.count; i++) {
		const struct hindex_entry *e = &x->root.entry[i];

		rc = list_add(&part, hfile_index_list_key(&x->root, i), e->offset, e->disk_bytes,
			      err);
		bool full = i >= x->min_entries && part.root_bytes >= x->max_bytes;
		if (rc == RC_OK && (full || i + 1 == x->root.count))
			rc = write_node(x, &part, HBLOCK_INTERMEDIATE, &parents, out, scratch,
					&place, err);
	}
	hfile_index_list_release(&part);
	hfile_index_list_release(&x->root);
	x->root = parents;
	x->levels++;
	return rc;
}

/* Put the entries of the root and, if the index has several levels, the mid-key. */
static int put_root(struct buf *b, const struct hindex_list *l, const uint8_t *middle,
		    struct error *err)
{
	int rc = hfile_block_begin(b, l->root_bytes + MID_KEY_BYTES, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < l->count; i++) {
		struct bytes key = hfile_index_list_key(l, i);

		put_entry(b, &l->entry[i]);
		b->len += hfile_kv_vint_put(b->ptr + b->len, (int64_t)key.len);
		buf_fill(b, key.ptr, key.len);
	}
	if (middle)
		buf_fill(b, middle, MID_KEY_BYTES);
	return 0;
}

int hfile_index_write_root(struct hindex *x, struct hblock_out *out, struct buf *scratch,
			   struct hblock_place *root, struct error *err)
{
	uint8_t middle[MID_KEY_BYTES];
	bool single = x->root.count == 0;

	x->levels = single ? 1 : 2;
	if (!single)
		mid_key(x, middle);
	while (!single && x->root.root_bytes > x->max_bytes && x->root.count > x->min_entries &&
	       x->levels < HINDEX_LEVELS_MAX) {
		int rc = write_level(x, out, scratch, err);
		if (rc)
			return rc;
	}
	int rc = put_root(scratch, single ? &x->leaf : &x->root, single ? NULL : middle, err);
	if (rc == RC_OK)
		rc = hfile_block_write(out, HBLOCK_ROOT, scratch, root, err);
	x->plain_bytes += rc ? 0 : root->plain_bytes;
	return rc;
}

void hfile_index_release(struct hindex *x)
{
	hfile_index_list_release(&x->leaf);
	hfile_index_list_release(&x->root);
}

/*
 * Returns the length of the shortest key m with a < m <= b, as HBase makes m. m has the first bytes
 * of `b`, and `*last` as its last byte. Returns 0 if `a` equals `b`.
 */
static size_t midpoint(struct bytes a, struct bytes b, uint8_t *last)
{
	size_t n = a.len < b.len ? a.len : b.len, d = 0;

	while (d < n && a.ptr[d] == b.ptr[d])
		d++;
	if (d == n && a.len == b.len)
		return 0;
	*last = d == n ? 0 : (uint8_t)(a.ptr[d] + 1);
	return d + 1;
}

int hfile_index_key(struct buf *out, struct bytes last, struct bytes first, struct error *err)
{
	struct cell l, f;
	uint8_t byte = 0;
	size_t row, qualifier = 0, start = out->len;
	const struct bytes none = {NULL, 0};
	bool fits;

	if (last.len == 0 || !hfile_kv_key_parse(last, &l) || !hfile_kv_key_parse(first, &f)) {
		fits = buf_try_append(out, first.ptr, first.len);
		return fits ? 0 : error_memory(err, first.len, "an index key");
	}
	if ((row = midpoint(l.row, f.row, &byte))) {
		struct cell k = cell_first(bytes_of(f.row.ptr, row), none, none);

		fits = hfile_kv_key_append(out, &k);
		if (fits)
			out->ptr[start + 2 + row - 1] = byte;
	} else if ((qualifier = midpoint(l.qualifier, f.qualifier, &byte))) {
		struct cell k = cell_first(f.row, f.family, bytes_of(f.qualifier.ptr, qualifier));

		fits = hfile_kv_key_append(out, &k);
		if (fits)
			out->ptr[out->len - 9 - 1] = byte;
	} else {
		fits = buf_try_append(out, first.ptr, first.len);
	}
	return fits ? 0 : error_memory(err, first.len, "an index key");
}
