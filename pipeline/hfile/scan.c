/* scan.c - cells in file order, seeks by the index, probes of the bloom filter */
#include "reader.h"

int reader_block_cells(struct hfile *f, const struct hblock *b, struct bytes *cells,
		       struct error *err)
{
	enum hblock_type expected = f->encoding == ENCODING_NONE ? HBLOCK_DATA : HBLOCK_ENCODED;
	int rc = 0;
	if (b->type != expected)
		rc = error_set(err, RC_DATA, "%s where %s is expected", hblock_magic(b->type),
			       hblock_magic(expected));
	else
		rc = hblock_decode(f->encoding, b->payload, f->tail, &f->decoded, cells, err);
	if (rc == 0 && cells->len == 0)
		rc = error_set(err, RC_DATA, "a data block without cells");
	if (rc)
		return error_prefix(err, "%s: block at %llu: ", f->path,
				    (unsigned long long)b->place.offset);
	return 0;
}

static bool known_type(uint8_t type)
{
	return type == HFILE_PUT || (type >= 8 && type <= 14 && type % 2 == 0);
}

int reader_take_cell(struct bytes cells, size_t *at, struct kv *kv, struct kv_key *key,
		     struct error *err)
{
	if (*at >= cells.len)
		return RC_END;
	if (!kv_parse(cells.ptr + *at, cells.ptr + cells.len, kv) || !kv_key_parse(kv->key, key) ||
	    key->row.len == 0)
		return error_set(err, RC_DATA, "the cell at byte %zu of %zu is damaged", *at,
				 cells.len);
	if (key->ts < 0 || !known_type(key->type))
		return error_set(err, RC_DATA, "the cell at byte %zu has timestamp %lld, type %u",
				 *at, (long long)key->ts, key->type);
	*at += kv->size;
	return 0;
}

int reader_load_data(struct hfile *f, uint64_t offset, uint32_t disk_bytes, struct error *err)
{
	int rc = hblock_read(&f->in, offset, disk_bytes, &f->data, err);
	f->cells.len = 0;
	f->cell_at = 0;
	f->next_offset = offset + f->data.place.disk_bytes;
	if (rc == 0)
		rc = reader_block_cells(f, &f->data, &f->cells, err);
	if (rc)
		f->cells.len = 0;
	return rc;
}

void hfile_rewind(struct hfile *f)
{
	f->cells.len = 0;
	f->cell_at = 0;
	f->next_offset = f->trailer.entry_count ? f->trailer.first_data_block : UINT64_MAX;
}

static bool is_data(const struct hblock *b)
{
	return b->type == HBLOCK_DATA || b->type == HBLOCK_ENCODED;
}

/* The next data block in the order of the file, stepping over leaves and bloom chunks. */
static int next_data(struct hfile *f, struct error *err)
{
	while (f->next_offset <= f->trailer.last_data_block &&
	       f->next_offset < f->trailer.load_on_open_offset) {
		uint64_t offset = f->next_offset;
		int rc = hblock_read(&f->in, offset, 0, &f->data, err);
		if (rc)
			return rc;
		f->next_offset = offset + f->data.place.disk_bytes;
		f->cells.len = 0;
		f->cell_at = 0;
		if (is_data(&f->data))
			return reader_block_cells(f, &f->data, &f->cells, err);
	}
	return RC_END;
}

int hfile_next_cell(struct hfile *f, struct hfile_cell *out, struct error *err)
{
	struct kv kv;
	struct kv_key key;
	if (f->cell_at >= f->cells.len) {
		int rc = next_data(f, err);
		if (rc)
			return rc;
	}
	int rc = reader_take_cell(f->cells, &f->cell_at, &kv, &key, err);
	if (rc)
		return error_prefix(err, "%s: block at %llu: ", f->path,
				    (unsigned long long)f->data.place.offset);
	*out = (struct hfile_cell){key.row, key.family, key.qualifier, kv.value, key.ts, key.type};
	return 0;
}

int reader_load_node(struct hfile *f, uint32_t level, const struct hindex_entry *e,
		     struct hblock *b, struct hindex_node *node, struct error *err)
{
	enum hblock_type expected =
		level + 1 == f->trailer.index_levels ? HBLOCK_LEAF : HBLOCK_INTERMEDIATE;
	if (e->offset >= f->trailer.load_on_open_offset)
		return error_set(err, RC_DATA, "%s: the index points to %llu, behind the data",
				 f->path, (unsigned long long)e->offset);
	int rc = hblock_read(&f->in, e->offset, e->disk_bytes, b, err);
	if (rc)
		return rc;
	if (b->type != expected)
		rc = error_set(err, RC_DATA, "%s where %s is expected", hblock_magic(b->type),
			       hblock_magic(expected));
	else
		rc = hindex_node_open(node, b->payload, err);
	if (rc)
		return error_prefix(err, "%s: block at %llu: ", f->path,
				    (unsigned long long)e->offset);
	return 0;
}

/* Is the flat key at most the search key?  Keys that do not parse were refused before. */
static bool at_most(struct bytes flat, const struct kv_key *search)
{
	struct kv_key k;
	return kv_key_parse(flat, &k) && kv_key_cmp(&k, search) <= 0;
}

/* Last root entry at or before the search key, else the first. */
static size_t find_in_root(const struct hindex_list *l, const struct kv_key *search)
{
	size_t low = 0, high = l->count;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (at_most(hindex_list_key(l, middle), search))
			low = middle;
		else
			high = middle;
	}
	return low;
}

static int find_in_node(const struct hindex_node *n, const struct kv_key *search,
			struct hindex_entry *found, struct error *err)
{
	uint32_t low = 0, high = n->count;
	struct bytes key;
	int rc;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		struct hindex_entry e;
		rc = hindex_node_entry(n, middle, &e, &key, err);
		if (rc)
			return rc;
		if (at_most(key, search))
			low = middle;
		else
			high = middle;
	}
	return hindex_node_entry(n, low, found, &key, err);
}

/* Let the next cell be the first of the open blocks whose row is at least row. */
static int skip_to_row(struct hfile *f, struct bytes row, struct error *err)
{
	for (;;) {
		size_t at = f->cell_at;
		struct kv kv;
		struct kv_key key;
		int rc = reader_take_cell(f->cells, &f->cell_at, &kv, &key, err);
		if (rc == RC_END) {
			rc = next_data(f, err);
			if (rc)
				return rc == RC_END ? 0 : rc;
			continue;
		}
		if (rc)
			return error_prefix(err, "%s: block at %llu: ", f->path,
					    (unsigned long long)f->data.place.offset);
		if (bytes_cmp(key.row, row) >= 0) {
			f->cell_at = at;
			return 0;
		}
	}
}

int hfile_seek(struct hfile *f, struct bytes row, struct error *err)
{
	struct kv_key search = kv_key_first(row, (struct bytes){NULL, 0});
	hfile_rewind(f);
	if (f->root.count == 0)
		return 0;
	struct hindex_entry e = f->root.entry[find_in_root(&f->root, &search)];
	for (uint32_t level = 1; level < f->trailer.index_levels; level++) {
		struct hindex_node node;
		int rc = reader_load_node(f, level, &e, &f->node, &node, err);
		if (rc == 0)
			rc = find_in_node(&node, &search, &e, err);
		if (rc)
			return rc;
	}
	if (e.offset >= f->trailer.load_on_open_offset)
		return error_set(err, RC_DATA, "%s: the index points to %llu, behind the data",
				 f->path, (unsigned long long)e.offset);
	int rc = reader_load_data(f, e.offset, e.disk_bytes, err);
	return rc ? rc : skip_to_row(f, row, err);
}

/* ROWCOL keys are flat keys in the order of cells, the others plain bytes. */
static int bloom_order(const struct hfile *f, struct bytes a, struct bytes b)
{
	struct kv_key x, y;
	if (f->bloom_type == BLOOM_ROWCOL && kv_key_parse(a, &x) && kv_key_parse(b, &y))
		return kv_key_cmp(&x, &y);
	return bytes_cmp(a, b);
}

/* Index of the chunk that may hold key, or SIZE_MAX when key is before the first. */
static size_t find_chunk(const struct hfile *f, struct bytes key)
{
	const struct hindex_list *l = &f->bloom.chunks;
	size_t low = 0, high = l->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (bloom_order(f, hindex_list_key(l, middle), key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low - 1;
}

static int load_chunk(struct hfile *f, const struct hindex_entry *e, struct error *err)
{
	if (f->chunk_offset == e->offset)
		return 0;
	f->chunk_offset = UINT64_MAX;
	if (e->offset >= f->trailer.load_on_open_offset)
		return error_set(err, RC_DATA,
				 "%s: a bloom chunk is said to be at %llu, behind the data",
				 f->path, (unsigned long long)e->offset);
	int rc = hblock_read(&f->in, e->offset, e->disk_bytes, &f->chunk, err);
	if (rc)
		return rc;
	if (f->chunk.type != HBLOCK_BLOOM || f->chunk.payload.len == 0)
		return error_set(err, RC_DATA,
				 "%s: block at %llu: %s of %zu bytes is no bloom chunk", f->path,
				 (unsigned long long)e->offset, hblock_magic(f->chunk.type),
				 f->chunk.payload.len);
	f->chunk_offset = e->offset;
	return 0;
}

int hfile_may_contain(struct hfile *f, struct bytes row, struct bytes qualifier, bool *out,
		      struct error *err)
{
	*out = true;
	if (!f->has_bloom)
		return 0;
	struct bytes key = hbloom_key(f->bloom_type, f->bloom_prefix, row, qualifier, &f->probe);
	size_t i = find_chunk(f, key);
	*out = false;
	if (i == SIZE_MAX)
		return 0;
	int rc = load_chunk(f, &f->bloom.chunks.entry[i], err);
	if (rc)
		return rc;
	*out = hbloom_chunk_has(f->chunk.payload, f->bloom.hashes, key);
	return 0;
}
