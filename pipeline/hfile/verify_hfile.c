/*
 * verify_hfile.c - verify a whole HFile
 *
 * First, read the index from the root down into a list of (offset, size, key) of data blocks. Then
 * walk all blocks (block_walk.c). Each data block must be the next of the list and must have its
 * cells in order and in its key range. Each cell's key must be in the bloom filter. Each family
 * delete's row must be in the bloom filter of deletes. At the end, compare the sums with the file
 * info.
 */
#include "reader.h"
#include "trailer.h"

struct verify {
	struct hfile *f;
	struct hfile_summary *sum;
	struct hindex_list blocks;	       /* data blocks that the index lists */
	uint64_t level_end[HINDEX_LEVELS_MAX]; /* end of the last index block of each level */
	size_t block;			       /* data blocks so far */
	size_t meta;			       /* meta blocks so far */
	uint64_t bloom_keys, delete_keys, family_deletes, max_tags, max_mvcc;
	uint64_t key_bytes, value_bytes;
	int64_t earliest_put;
	struct buf last;    /* flat key of the last cell */
	struct buf made[2]; /* bloom keys */
	struct buf deleted; /* the last row with a delete of its family */
};

static int fault(const struct verify *v, struct error *err, const char *what, uint64_t found,
		 uint64_t expected)
{
	const struct hfile_number n = {what, found, expected};

	return hfile_check_numbers(v->f, &n, 1, err);
}

/*
 * Check that the index blocks of a level ascend in the file. In a malicious file this check also
 * ends a loop of index entries.
 */
static int check_level(struct verify *v, uint32_t level, const struct hindex_entry *e,
		       struct error *err)
{
	if (e->offset < v->level_end[level])
		return error_set(
			err, RC_DATA,
			"%s: index level %u: found offset %llu, expected at least %llu, the end "
			"of the previous block",
			v->f->source.name, level, (unsigned long long)e->offset,
			(unsigned long long)v->level_end[level]);
	v->level_end[level] = e->offset + e->disk_bytes;
	return 0;
}

static int collect(struct verify *v, uint32_t level, const struct hindex_entry *e, struct bytes key,
		   struct error *err);

static int collect_node(struct verify *v, uint32_t level, const struct hindex_node *node,
			struct bytes parent_key, struct error *err)
{
	for (uint32_t i = 0; i < node->count; i++) {
		struct hindex_entry e;
		struct bytes key;
		int rc = hfile_index_node_entry(node, i, &e, &key, err);

		if (rc)
			return error_prefix(err, "%s: ", v->f->source.name);
		if (i == 0 && !bytes_eq(key, parent_key))
			return error_set(
				err, RC_DATA,
				"%s: found an index block with another first key, expected the "
				"key of its entry in the parent block",
				v->f->source.name);
		rc = collect(v, level, &e, key, err);
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * Collect the data blocks below an entry. Level 0 is the root. The deepest level lists data blocks.
 */
static int collect(struct verify *v, uint32_t level, const struct hindex_entry *e, struct bytes key,
		   struct error *err)
{
	struct hblock b = {0};
	struct hindex_node node;
	int rc = check_level(v, level, e, err);

	if (rc)
		return rc;
	if (level + 1 == v->f->trailer.index_levels) {
		if (!hfile_index_list_add(&v->blocks, key, e->offset, e->disk_bytes))
			return error_memory(err, key.len, "the index");
		return 0;
	}
	rc = hfile_reader_load_node(v->f, level + 1, e, &b, &node, err);
	if (rc == RC_OK)
		rc = collect_node(v, level + 1, &node, key, err);
	hfile_block_release(&b);
	return rc;
}

static int collect_index(struct verify *v, struct error *err)
{
	const struct hindex_list *root = &v->f->root;

	for (size_t i = 0; i < root->count; i++) {
		int rc = collect(v, 0, &root->entry[i], hfile_index_list_key(root, i), err);

		if (rc)
			return rc;
	}
	return 0;
}

/* Check that the mid-key (leaf, leaf size, entry in the leaf) refers to the middle data block. */
static int check_mid_key(struct verify *v, struct error *err)
{
	struct hfile *f = v->f;

	if (f->root_rest.len == 0)
		return 0;
	if (v->blocks.count == 0)
		return fault(v, err, "data blocks of a file with a mid-key", 0, 1);
	struct hindex_entry leaf = {.offset = get_be64(f->root_tail),
				    .disk_bytes = get_be32(f->root_tail + 8)};
	struct hindex_entry e = {0};
	struct hindex_node node;
	struct bytes key;
	uint32_t i = get_be32(f->root_tail + 12);
	int rc =
		hfile_reader_load_node(f, f->trailer.index_levels - 1, &leaf, &f->node, &node, err);
	if (rc)
		return rc;
	if (i < node.count)
		rc = hfile_index_node_entry(&node, i, &e, &key, err);
	if (rc)
		return error_prefix(err, "%s: ", f->source.name);
	uint64_t middle = v->blocks.entry[(v->blocks.count - 1) / 2].offset;
	return i < node.count && e.offset == middle
		       ? 0
		       : fault(v, err, "the middle data block's offset", e.offset, middle);
}

static int bloom_key(const struct hfile *f, const struct cell *c, struct buf *store,
		     struct bytes *key, struct error *err)
{
	if (hfile_bloom_key(f->bloom_type, f->bloom_prefix, c->row, c->qualifier, store, key))
		return 0;
	return error_memory(err, c->row.len + c->qualifier.len, "a bloom key");
}

static int same_bloom_key(struct verify *v, const struct cell *a, const struct cell *b, bool *same,
			  struct error *err)
{
	struct bytes x, y;
	int rc = bloom_key(v->f, a, &v->made[0], &x, err);

	if (rc == RC_OK)
		rc = bloom_key(v->f, b, &v->made[1], &y, err);
	*same = rc == RC_OK && bytes_eq(x, y);
	return rc;
}

static int check_bloom(struct verify *v, const struct cell *last, const struct cell *key,
		       struct error *err)
{
	struct hfile *f = v->f;
	bool found, same = false;
	int rc = last ? same_bloom_key(v, last, key, &same, err) : 0;

	if (rc || same)
		return rc;
	v->bloom_keys++;
	rc = hfile_may_contain(f, key->row, key->qualifier, &found, err);
	if (rc == RC_OK && !found)
		rc = error_set(
			err, RC_DATA,
			"%s: bloom filter: found no key of cell %llu, expected the key of each "
			"cell",
			f->source.name, (unsigned long long)v->sum->cells);
	return rc;
}

/* Check that the filter of deletes has the row, and count each row with a family delete once. */
static int check_delete(struct verify *v, const struct cell *key, struct error *err)
{
	bool found, first = v->family_deletes++ == 0;

	if (!v->f->delete_bloom.present)
		return 0;
	v->delete_keys += first || !bytes_eq(buf_bytes(&v->deleted), key->row);
	v->deleted.len = 0;
	if (!buf_try_append(&v->deleted, key->row.ptr, key->row.len))
		return error_memory(err, key->row.len, "a row key");
	int rc = hfile_may_delete(v->f, key->row, &found, err);
	if (rc == RC_OK && !found)
		rc = error_set(
			err, RC_DATA,
			"%s: bloom filter of deletes: found no row of cell %llu, expected the row "
			"of each family delete",
			v->f->source.name, (unsigned long long)v->sum->cells);
	return rc;
}

static int check_order(struct verify *v, const struct cell *last, const struct cell *key,
		       struct error *err)
{
	if (cell_key_cmp(last, key) > 0)
		return error_set(
			err, RC_ORDER,
			"%s: found cell %llu, which sorts before the previous cell, expected "
			"cells in order",
			v->f->source.name, (unsigned long long)v->sum->cells);
	if (!bytes_eq(last->family, key->family))
		return error_set(
			err, RC_DATA,
			"%s: cell %llu: found another family, expected that of the first cell",
			v->f->source.name, (unsigned long long)v->sum->cells);
	return 0;
}

static int verify_cell(struct verify *v, const struct kv *kv, const struct cell *key,
		       struct error *err)
{
	struct hfile_summary *s = v->sum;
	struct cell last;
	bool first = s->cells == 0 || !hfile_kv_key_parse(buf_bytes(&v->last), &last);
	int rc = first ? 0 : check_order(v, &last, key, err);

	if (rc == RC_OK && v->f->bloom.present)
		rc = check_bloom(v, first ? NULL : &last, key, err);
	if (rc == RC_OK && cell_type_marks_family(key->type))
		rc = check_delete(v, key, err);
	if (rc)
		return rc;
	if (first && !buf_try_append(&s->first_row, key->row.ptr, key->row.len))
		return error_memory(err, key->row.len, "a row key");
	s->rows += first || !bytes_eq(last.row, key->row);
	s->cells++;
	s->cell_bytes += kv->size;
	s->min_ts = key->ts < s->min_ts ? key->ts : s->min_ts;
	s->max_ts = key->ts > s->max_ts ? key->ts : s->max_ts;
	if (key->type == CELL_PUT && key->ts < v->earliest_put)
		v->earliest_put = key->ts;
	v->key_bytes += kv->key.len;
	v->value_bytes += kv->value.len;
	v->max_tags = key->tags.len > v->max_tags ? key->tags.len : v->max_tags;
	v->max_mvcc = key->mvcc > v->max_mvcc ? key->mvcc : v->max_mvcc;
	v->last.len = 0;
	if (!buf_try_append(&v->last, kv->key.ptr, kv->key.len))
		return error_memory(err, kv->key.len, "a key");
	return 0;
}

/*
 * Check that lastKey(previous block) < index key <= first key. The first block's index key is its
 * first key.
 */
static int check_index_key(struct verify *v, struct bytes first, struct error *err)
{
	struct cell index_key, f, last;
	struct bytes flat = hfile_index_list_key(&v->blocks, v->block);
	bool ok = hfile_kv_key_parse(flat, &index_key) && hfile_kv_key_parse(first, &f);

	if (ok && v->block == 0)
		ok = bytes_eq(flat, first);
	else if (ok)
		ok = hfile_kv_key_parse(buf_bytes(&v->last), &last) &&
		     cell_key_cmp(&last, &index_key) < 0 && cell_key_cmp(&index_key, &f) <= 0;
	if (!ok)
		return error_set(
			err, RC_DATA,
			"%s: data block %zu: found another index key, expected one after the "
			"previous block's last key and up to the block's first key",
			v->f->source.name, v->block);
	return 0;
}

static int verify_cells(struct verify *v, struct error *err)
{
	struct bytes cells;
	size_t at = 0;
	struct kv kv;
	struct cell key;
	int rc = hfile_reader_block_cells(v->f, &v->f->walk, &cells, err);

	while (rc == RC_OK) {
		bool first = at == 0;

		rc = hfile_reader_take_cell(v->f, cells, &at, &kv, &key, err);
		if (rc < 0)
			error_prefix(err, "%s: block at %llu: ", v->f->source.name,
				     (unsigned long long)v->f->walk.place.offset);
		if (rc == RC_OK && first)
			rc = check_index_key(v, kv.key, err);
		if (rc == RC_OK)
			rc = verify_cell(v, &kv, &key, err);
	}
	return rc == RC_END ? 0 : rc;
}

static int verify_data(struct verify *v, const struct hfile_block *b, struct error *err)
{
	if (v->block >= v->blocks.count)
		return error_set(
			err, RC_DATA,
			"%s: found a data block at %llu, expected only the %zu of the index",
			v->f->source.name, (unsigned long long)b->offset, v->blocks.count);
	const struct hindex_entry *e = &v->blocks.entry[v->block];
	if (e->offset != b->offset)
		return fault(v, err, "the next data block's offset in the index", e->offset,
			     b->offset);
	if (e->disk_bytes != b->disk_bytes)
		return fault(v, err, "a data block's size in the index", e->disk_bytes,
			     b->disk_bytes);
	int rc = verify_cells(v, err);
	v->block++;
	return rc;
}

/* Check a meta block. Meta blocks must be in the order of the meta index. */
static int verify_meta(struct verify *v, const struct hfile_block *b, struct error *err)
{
	const struct hindex_list *l = &v->f->meta;

	if (v->meta >= l->count)
		return error_set(
			err, RC_DATA,
			"%s: found a meta block at %llu, expected only the %zu of the meta index",
			v->f->source.name, (unsigned long long)b->offset, l->count);
	const struct hindex_entry *e = &l->entry[v->meta++];
	const struct hfile_number all[] = {
		{"the next meta block's offset in the index", e->offset, b->offset},
		{"a meta block's size in the index", e->disk_bytes, b->disk_bytes},
	};
	return hfile_check_numbers(v->f, all, 2, err);
}

static int verify_block(struct verify *v, const struct hfile_block *b, struct error *err)
{
	enum hblock_type type = v->f->walk.type;

	if (type == HBLOCK_DATA || type == HBLOCK_ENCODED)
		return verify_data(v, b, err);
	return type == HBLOCK_META ? verify_meta(v, b, err) : 0;
}

static int walk(struct verify *v, struct error *err)
{
	struct hfile_block b;
	uint64_t at = 0;
	int rc;

	while ((rc = hfile_next_block(v->f, &at, &b, err)) == 0) {
		rc = verify_block(v, &b, err);
		if (rc)
			return rc;
	}
	return rc == RC_END ? 0 : rc;
}

/* Check the facts that block_walk.c does not check. */
static int check_trailer(const struct verify *v, struct error *err)
{
	const struct hfile_number all[] = {
		{"the number of data blocks", v->block, v->blocks.count},
		{"the number of meta blocks", v->meta, v->f->meta.count},
		{"the trailer's count of cells", v->f->trailer.entry_count, v->sum->cells},
	};

	return hfile_check_numbers(v->f, all, sizeof all / sizeof *all, err);
}

/* Return an integer of the file info, or `absent` if the file info lacks it. */
static uint64_t info_number(const struct verify *v, const char *name, uint64_t absent)
{
	struct bytes b;

	if (!hfile_info_find(&v->f->info, name, &b))
		return absent;
	return b.len == 4 ? get_be32(b.ptr) : b.len == 8 ? get_be64(b.ptr) : UINT64_MAX;
}

static int check_info(const struct verify *v, struct error *err)
{
	const struct hfile_summary *s = v->sum;
	uint64_t cells = s->cells ? s->cells : 1;
	struct bytes range;
	uint8_t expected[16];
	const struct hfile_number all[] = {
		{"hfile.AVG_KEY_LEN", info_number(v, "hfile.AVG_KEY_LEN", 0), v->key_bytes / cells},
		{"hfile.AVG_VALUE_LEN", info_number(v, "hfile.AVG_VALUE_LEN", 0),
		 v->value_bytes / cells},
		{"EARLIEST_PUT_TS", info_number(v, "EARLIEST_PUT_TS", (uint64_t)v->earliest_put),
		 (uint64_t)v->earliest_put},
		{"DELETE_FAMILY_COUNT", info_number(v, "DELETE_FAMILY_COUNT", v->family_deletes),
		 v->family_deletes},
		{"hfile.MAX_TAGS_LEN", info_number(v, "hfile.MAX_TAGS_LEN", 0), v->max_tags},
		{"MAX_MEMSTORE_TS_KEY", info_number(v, "MAX_MEMSTORE_TS_KEY", v->max_mvcc),
		 v->max_mvcc},
	};

	put_be64(expected, (uint64_t)s->min_ts);
	put_be64(expected + 8, (uint64_t)s->max_ts);
	/*
	 * If a file has deletes of columns, HBase starts the range at 0, so also accept 0.
	 */
	if (hfile_info_find(&v->f->info, "TIMERANGE", &range) &&
	    (range.len != 16 || memcmp(range.ptr + 8, expected + 8, 8) != 0 ||
	     (memcmp(range.ptr, expected, 8) != 0 && get_be64(range.ptr) != 0)))
		return error_set(
			err, RC_DATA,
			"%s: TIMERANGE: found another range, expected %lld to %lld as in the cells",
			v->f->source.name, (long long)s->min_ts, (long long)s->max_ts);
	return hfile_check_numbers(v->f, all, sizeof all / sizeof *all, err);
}

static int check_last(struct verify *v, struct error *err)
{
	const struct hfile *f = v->f;
	struct bytes key = {NULL, 0}, bloom;
	struct cell last;

	if (v->sum->cells == 0)
		return 0;
	hfile_info_find(&f->info, "hfile.LASTKEY", &key);
	if (!bytes_eq(key, buf_bytes(&v->last)) || !hfile_kv_key_parse(key, &last))
		return error_set(err, RC_DATA,
				 "%s: hfile.LASTKEY: found another key, expected the last cell's",
				 f->source.name);
	if (!f->bloom.present)
		return 0;
	int rc = bloom_key(f, &last, &v->made[0], &key, err);
	if (rc)
		return rc;
	if (hfile_info_find(&f->info, "LAST_BLOOM_KEY", &bloom) && !bytes_eq(key, bloom))
		return error_set(
			err, RC_DATA,
			"%s: LAST_BLOOM_KEY: found another key, expected the last bloom key",
			f->source.name);
	return 0;
}

/* Check the totals of both filters. The chunks of both filters are blocks of one type. */
static int check_blooms(const struct verify *v, struct error *err)
{
	const struct hfile *f = v->f;
	const struct hbloom_meta *b = &f->bloom.meta, *d = &f->delete_bloom.meta;
	const struct hfile_number all[] = {
		{"the bloom filters' chunk count", b->chunks.count + d->chunks.count,
		 f->sums.blocks[HBLOCK_BLOOM]},
		{"the bloom filters' size", b->bytes + d->bytes, f->sums.bloom_bytes},
		{"the bloom filter's key count", b->keys, f->bloom.present ? v->bloom_keys : 0},
		{"the key count of the bloom filter of deletes", d->keys,
		 f->delete_bloom.present ? v->delete_keys : 0},
	};

	return hfile_check_numbers(f, all, sizeof all / sizeof *all, err);
}

static int verify_all(struct verify *v, struct error *err)
{
	int rc = collect_index(v, err);

	if (rc == RC_OK)
		rc = walk(v, err);
	if (rc == RC_OK)
		rc = check_trailer(v, err);
	if (rc == RC_OK)
		rc = check_mid_key(v, err);
	if (rc == RC_OK)
		rc = check_info(v, err);
	if (rc == RC_OK)
		rc = check_last(v, err);
	return rc ? rc : check_blooms(v, err);
}

int hfile_verify_open(struct hfile *f, struct hfile_summary *sum, struct error *err)
{
	struct verify v = {.f = f, .sum = sum, .earliest_put = CELL_TS_LATEST};
	struct cell last;

	*sum = (struct hfile_summary){.min_ts = CELL_TS_LATEST, .file_bytes = f->source.bytes};
	int rc = verify_all(&v, err);
	sum->data_blocks = v.block;
	if (rc == RC_OK && hfile_kv_key_parse(buf_bytes(&v.last), &last) &&
	    !buf_try_append(&sum->last_row, last.row.ptr, last.row.len))
		rc = error_memory(err, last.row.len, "a row key");
	hfile_index_list_release(&v.blocks);
	buf_release(&v.last);
	buf_release(&v.made[0]);
	buf_release(&v.made[1]);
	buf_release(&v.deleted);
	if (rc)
		hfile_summary_release(sum);
	return rc;
}
