/* index.c - write the block index; layout and rules in index.h */
#include "index.h"

#include "kv.h"
#include "mem.h"

void hindex_list_add(struct hindex_list *l, struct bytes key, uint64_t offset, uint32_t disk_bytes)
{
	uint8_t vint[9];
	if (l->count == l->cap) {
		l->cap = l->cap ? 2 * l->cap : 64;
		l->entry = mem_realloc(l->entry, l->cap * sizeof *l->entry);
	}
	l->entry[l->count++] = (struct hindex_entry){.offset = offset,
						     .disk_bytes = disk_bytes,
						     .key_at = l->keys.len,
						     .key_bytes = key.len};
	buf_append(&l->keys, key.ptr, key.len);
	l->entry_bytes += 12 + key.len;
	l->root_bytes += 12 + kv_vint_put(vint, (int64_t)key.len) + key.len;
}

struct bytes hindex_list_key(const struct hindex_list *l, size_t i)
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

void hindex_list_release(struct hindex_list *l)
{
	mem_free(l->entry);
	buf_release(&l->keys);
	*l = (struct hindex_list){0};
}

void hindex_add(struct hindex *x, struct bytes key, const struct hblock_place *place)
{
	hindex_list_add(&x->leaf, key, place->offset, place->disk_bytes);
	x->data_blocks++;
}

static uint64_t leaf_bytes(const struct hindex_list *l)
{
	return 4 + 4 * ((uint64_t)l->count + 1) + l->entry_bytes;
}

bool hindex_leaf_due(const struct hindex *x, bool closing)
{
	if (x->leaf.count == 0)
		return false;
	if (closing)
		return x->root.count > 0;
	return leaf_bytes(&x->leaf) >= x->max_bytes;
}

static void put_entry(struct buf *b, const struct hindex_entry *e)
{
	buf_be64(b, e->offset);
	buf_be32(b, e->disk_bytes);
}

static void put_node(struct buf *b, const struct hindex_list *l)
{
	uint32_t at = 0;
	hblock_begin(b);
	buf_be32(b, (uint32_t)l->count);
	for (size_t i = 0; i < l->count; i++) {
		buf_be32(b, at);
		at += 12 + (uint32_t)l->entry[i].key_bytes;
	}
	buf_be32(b, at);
	for (size_t i = 0; i < l->count; i++) {
		struct bytes key = hindex_list_key(l, i);
		put_entry(b, &l->entry[i]);
		buf_append(b, key.ptr, key.len);
	}
}

/* Write a list as a non-root block, add it to its parents and empty it. */
static int write_node(struct hindex *x, struct hindex_list *l, enum hblock_type type,
		      struct hindex_list *parents, struct hblock_out *out, struct buf *scratch,
		      struct hblock_place *place, struct error *err)
{
	put_node(scratch, l);
	int rc = hblock_write(out, type, scratch, place, err);
	if (rc)
		return rc;
	x->plain_bytes += place->plain_bytes;
	hindex_list_add(parents, hindex_list_key(l, 0), place->offset, place->disk_bytes);
	list_clear(l);
	return 0;
}

int hindex_write_leaf(struct hindex *x, struct hblock_out *out, struct buf *scratch,
		      struct hblock_place *place, struct error *err)
{
	int rc = write_node(x, &x->leaf, HBLOCK_LEAF, &x->root, out, scratch, place, err);
	if (rc == 0)
		x->root.entry[x->root.count - 1].below = x->data_blocks;
	return rc;
}

/* i64 leaf offset | i32 leaf diskBytes | i32 entry in the leaf, of the middle data block (5.5). */
static void mid_key(const struct hindex *x, uint8_t out[16])
{
	uint64_t middle = (x->data_blocks - 1) / 2;
	size_t i = 0;
	while (x->root.entry[i].below <= middle)
		i++;
	put_be64(out, x->root.entry[i].offset);
	put_be32(out + 8, x->root.entry[i].disk_bytes);
	put_be32(out + 12, (uint32_t)(middle - (i ? x->root.entry[i - 1].below : 0)));
}

/* Cut the root into intermediate blocks; their first keys are the new root (5.4). */
static int write_level(struct hindex *x, struct hblock_out *out, struct buf *scratch,
		       struct error *err)
{
	struct hindex_list parents = {0}, part = {0};
	struct hblock_place place;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < x->root.count; i++) {
		const struct hindex_entry *e = &x->root.entry[i];
		hindex_list_add(&part, hindex_list_key(&x->root, i), e->offset, e->disk_bytes);
		bool full = i >= x->min_entries && part.root_bytes >= x->max_bytes;
		if (full || i + 1 == x->root.count)
			rc = write_node(x, &part, HBLOCK_INTERMEDIATE, &parents, out, scratch,
					&place, err);
	}
	hindex_list_release(&part);
	hindex_list_release(&x->root);
	x->root = parents;
	x->levels++;
	return rc;
}

static void put_root(struct buf *b, const struct hindex_list *l)
{
	hblock_begin(b);
	for (size_t i = 0; i < l->count; i++) {
		struct bytes key = hindex_list_key(l, i);
		put_entry(b, &l->entry[i]);
		b->len += kv_vint_put(buf_reserve(b, 9), (int64_t)key.len);
		buf_append(b, key.ptr, key.len);
	}
}

int hindex_write_root(struct hindex *x, struct hblock_out *out, struct buf *scratch,
		      struct hblock_place *root, struct error *err)
{
	uint8_t middle[16];
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
	put_root(scratch, single ? &x->leaf : &x->root);
	if (!single)
		buf_append(scratch, middle, sizeof middle);
	int rc = hblock_write(out, HBLOCK_ROOT, scratch, root, err);
	x->plain_bytes += root->plain_bytes;
	return rc;
}

void hindex_release(struct hindex *x)
{
	hindex_list_release(&x->leaf);
	hindex_list_release(&x->root);
}

/* The shortest bytes m with a < m <= b as HBase makes them; false when a and b are equal. */
static bool midpoint(struct buf *m, struct bytes a, struct bytes b)
{
	size_t n = a.len < b.len ? a.len : b.len, d = 0;
	while (d < n && a.ptr[d] == b.ptr[d])
		d++;
	if (d == n && a.len == b.len)
		return false;
	m->len = 0;
	buf_append(m, a.ptr, d);
	buf_put(m, d == n ? 0 : (uint8_t)(a.ptr[d] + 1));
	return true;
}

void hindex_key(struct buf *out, struct bytes last, struct bytes first)
{
	struct kv_key l, f;
	struct buf middle = {0};
	if (last.len == 0 || !kv_key_parse(last, &l) || !kv_key_parse(first, &f)) {
		buf_append(out, first.ptr, first.len);
		return;
	}
	if (midpoint(&middle, l.row, f.row)) {
		struct kv_key k = kv_key_first(buf_bytes(&middle), (struct bytes){NULL, 0});
		kv_key_put(out, &k);
	} else if (midpoint(&middle, l.qualifier, f.qualifier)) {
		struct kv_key k = kv_key_first(f.row, buf_bytes(&middle));
		k.family = f.family;
		kv_key_put(out, &k);
	} else {
		buf_append(out, first.ptr, first.len);
	}
	buf_release(&middle);
}
