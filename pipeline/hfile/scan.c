/* scan.c - return cells in file order, seek by the index, probe the bloom filter */
#include "reader.h"

int hfile_reader_block_cells(struct hfile *f, const struct hblock *b, struct bytes *cells,
			     struct error *err)
{
	enum hblock_type expected =
		f->format.encoding == ENCODING_NONE ? HBLOCK_DATA : HBLOCK_ENCODED;
	int rc = 0;

	if (b->type != expected)
		rc = error_set(err, RC_DATA, "found a block of type %s, expected %s",
			       hfile_block_magic(b->type), hfile_block_magic(expected));
	else
		rc = hfile_block_decode(&f->format, b->payload, &f->decoded, cells, err);
	if (rc == RC_OK && cells->len == 0)
		rc = error_set(err, RC_DATA,
			       "found a data block without cells, expected at least one");
	if (rc)
		return error_prefix(err, "%s: block at %llu: ", f->source.name,
				    (unsigned long long)b->place.offset);
	return 0;
}

int hfile_reader_take_cell(const struct hfile *f, struct bytes cells, size_t *at, struct kv *kv,
			   struct cell *cell, struct error *err)
{
	const uint8_t *p = cells.ptr + *at, *end = cells.ptr + cells.len;
	size_t tail = SIZE_MAX;

	if (*at >= cells.len)
		return RC_END;
	if (hfile_kv_parse(p, end, kv) && hfile_kv_key_parse(kv->key, cell) && cell->row.len)
		tail = hfile_kv_tail(p + kv->size, end, f->format.tail, &cell->tags, &cell->mvcc);
	if (tail == SIZE_MAX)
		return error_set(
			err, RC_DATA,
			"found %zu bytes at byte %zu that are not a cell, expected a whole cell",
			cells.len - *at, *at);
	if (cell->ts < 0 || !cell_type_known(cell->type))
		return error_set(
			err, RC_DATA,
			"found a cell at byte %zu with timestamp %lld and type %u, expected a "
			"timestamp from 0 on and type 4, 8, 10, 12 or 14",
			*at, (long long)cell->ts, cell->type);
	cell->value = kv->value;
	*at += kv->size + tail;
	return 0;
}

static int fault_at(const struct hfile *f, uint64_t offset, struct error *err)
{
	return error_prefix(err, "%s: block at %llu: ", f->source.name, (unsigned long long)offset);
}

static void close_data(struct hfile *f)
{
	f->cells.len = 0;
	f->cell_at = 0;
	f->ready.n = 0;
	f->ready.at = 0;
	f->before_known = false;
}

/* Decode the block in `f->data` to `f->cells`. */
static int open_plain(struct hfile *f, struct error *err)
{
	int rc = hfile_reader_block_cells(f, &f->data, &f->cells, err);

	if (rc)
		f->cells.len = 0;
	return rc;
}

/* Decode the block in `f->data` to `f->ready` if it is a usual DIFF block, else to `f->cells`. */
static int open_data(struct hfile *f, struct error *err)
{
	const struct block_format *format = &f->format;

	if (format->encoding == ENCODING_DIFF && f->data.type == HBLOCK_ENCODED &&
	    !format->tail.tags && !format->tail.mvcc && !format->careful &&
	    hfile_diff_cells(f->data.payload, &f->decoded, &f->ready))
		return 0;
	return open_plain(f, err);
}

/* Open the data block at `offset`, unless it is open, and go to its first cell. */
static int load_data(struct hfile *f, uint64_t offset, uint32_t disk_bytes, bool plain,
		     struct error *err)
{
	bool open = f->data.place.offset == offset && (plain ? 0 : f->ready.n) + f->cells.len;
	int rc = 0;

	if (open) {
		f->cell_at = f->ready.at = 0;
		f->before_known = false;
	} else {
		close_data(f);
		rc = hfile_block_read(&f->in, offset, disk_bytes, &f->data, err);
	}
	f->next_offset = offset + f->data.place.disk_bytes;
	if (rc || open)
		return rc;
	return plain ? open_plain(f, err) : open_data(f, err);
}

int hfile_reader_load_data(struct hfile *f, uint64_t offset, uint32_t disk_bytes, struct error *err)
{
	return load_data(f, offset, disk_bytes, true, err);
}

static void start_walk(struct hfile *f, bool whole)
{
	f->whole = whole;
	f->seen = 0;
	f->last.len = 0;
	for (int t = 0; t < HBLOCK_TYPES; t++)
		f->previous[t] = whole ? -1 : HFILE_NOT_KNOWN;
}

void hfile_rewind(struct hfile *f)
{
	close_data(f);
	f->next_offset = 0;
	start_walk(f, true);
}

enum hblock_type hfile_reader_chain(enum hblock_type t)
{
	return t == HBLOCK_ENCODED ? HBLOCK_DATA : t;
}

static bool is_data(const struct hblock *b)
{
	return hfile_reader_chain(b->type) == HBLOCK_DATA;
}

/* Check that the block just read belongs to the scanned section and links to the previous block. */
static int check_chain(struct hfile *f, struct error *err)
{
	const struct hblock *b = &f->data;
	int64_t *previous = &f->previous[hfile_reader_chain(b->type)];

	if (!is_data(b) && b->type != HBLOCK_LEAF && b->type != HBLOCK_BLOOM)
		return error_set(
			err, RC_DATA,
			"found a block of type %s, expected data, leaf index or bloom chunk",
			hfile_block_magic(b->type));
	bool first = f->previous[HBLOCK_DATA] == -1 && is_data(b);
	if (first && b->place.offset != f->trailer.first_data_block)
		return error_set(
			err, RC_DATA,
			"found the first data block here, expected it at %llu as in the trailer",
			(unsigned long long)f->trailer.first_data_block);
	if (*previous != HFILE_NOT_KNOWN && b->previous != *previous)
		return error_set(err, RC_DATA, "found prevBlockOffset %lld, expected %lld",
				 (long long)b->previous, (long long)*previous);
	*previous = (int64_t)b->place.offset;
	return 0;
}

/*
 * Check that the first cell of the block does not sort before the last cell of the previous block.
 */
static int check_first(struct hfile *f, struct error *err)
{
	struct kv kv;
	struct cell last, first;

	if (f->ready.n)
		first = f->ready.cell[0];
	else if (!hfile_kv_parse(f->cells.ptr, f->cells.ptr + f->cells.len, &kv) ||
		 !hfile_kv_key_parse(kv.key, &first))
		return 0;
	if (!hfile_kv_key_parse(buf_bytes(&f->last), &last) || cell_key_cmp(&last, &first) <= 0)
		return 0;
	return error_set(
		err, RC_ORDER,
		"found a first cell that sorts before the last cell of the previous block, "
		"expected cells in order");
}

/*
 * After the last data block, check that the trailer has its offset and the number of cells.
 */
static int end_walk(const struct hfile *f, struct error *err)
{
	const struct hfile_trailer *t = &f->trailer;
	int64_t last = f->previous[HBLOCK_DATA];

	if (last >= 0 && last != (int64_t)t->last_data_block)
		return error_set(
			err, RC_DATA,
			"%s: found the last data block at %lld, expected %llu as in the trailer",
			f->source.name, (long long)last, (unsigned long long)t->last_data_block);
	if (f->whole && f->seen != t->entry_count)
		return error_set(err, RC_DATA,
				 "%s: found %llu cells, expected %llu as in the trailer",
				 f->source.name, (unsigned long long)f->seen,
				 (unsigned long long)t->entry_count);
	return RC_END;
}

/* Read the next data block in file order, skipping leaves and bloom chunks. */
static int next_data(struct hfile *f, struct error *err)
{
	while (f->next_offset <= f->trailer.last_data_block &&
	       f->next_offset < f->trailer.load_on_open_offset) {
		uint64_t offset = f->next_offset;
		close_data(f);
		int rc = hfile_block_read(&f->in, offset, 0, &f->data, err);
		if (rc)
			return rc;
		f->next_offset = offset + f->data.place.disk_bytes;
		rc = check_chain(f, err);
		if (rc)
			return fault_at(f, offset, err);
		if (!is_data(&f->data))
			continue;
		rc = open_data(f, err);
		if (rc == RC_OK && (rc = check_first(f, err)))
			fault_at(f, offset, err);
		if (rc)
			close_data(f);
		return rc;
	}
	return end_walk(f, err);
}

/* Check the order of a block's cells, and keep the last cell for the next block. */
static int check_cell(struct hfile *f, const struct kv *kv, bool first, const struct cell *c,
		      struct error *err)
{
	if (!first && cell_key_cmp(&f->before, c) > 0)
		return error_set(
			err, RC_ORDER,
			"found a cell at byte %zu that sorts before the previous cell, expected "
			"cells in order",
			(size_t)(kv->key.ptr - f->cells.ptr) - KV_LENGTHS);
	f->before = *c;
	f->seen++;
	if (f->cell_at < f->cells.len)
		return 0;
	f->last.len = 0;
	if (!buf_try_append(&f->last, kv->key.ptr, kv->key.len))
		return error_memory(err, kv->key.len, "a key");
	return 0;
}

int hfile_reader_open_next(struct hfile *f, struct error *err)
{
	bool more = f->ready.at < f->ready.n || f->cell_at < f->cells.len;

	return more ? 0 : next_data(f, err);
}

int hfile_reader_pass(struct hfile *f, size_t n, struct error *err)
{
	struct block_cells *r = &f->ready;

	r->at += n;
	f->seen += n;
	if (r->at < r->n)
		return 0;
	f->last.len = 0;
	return hfile_kv_key_append(&f->last, &r->cell[r->n - 1])
		       ? 0
		       : error_memory(err, r->cell[r->n - 1].row.len, "a key");
}

int hfile_next_cell(struct hfile *f, struct cell *out, struct error *err)
{
	struct kv kv;
	int rc = hfile_reader_open_next(f, err);

	if (rc)
		return rc;
	if (f->ready.n) {
		*out = f->ready.cell[f->ready.at];
		return hfile_reader_pass(f, 1, err);
	}
	bool first = f->cell_at == 0 || !f->before_known;
	rc = hfile_reader_take_cell(f, f->cells, &f->cell_at, &kv, out, err);
	if (rc == RC_OK)
		rc = check_cell(f, &kv, first, out, err);
	f->before_known = rc == RC_OK;
	return rc ? fault_at(f, f->data.place.offset, err) : 0;
}

int hfile_reader_load_node(struct hfile *f, uint32_t level, const struct hindex_entry *e,
			   struct hblock *b, struct hindex_node *node, struct error *err)
{
	enum hblock_type expected =
		level + 1 == f->trailer.index_levels ? HBLOCK_LEAF : HBLOCK_INTERMEDIATE;

	if (e->offset >= f->trailer.load_on_open_offset)
		return error_set(err, RC_DATA,
				 "%s: found offset %llu in the index, expected less than %llu",
				 f->source.name, (unsigned long long)e->offset,
				 (unsigned long long)f->trailer.load_on_open_offset);
	int rc = hfile_block_read(&f->in, e->offset, e->disk_bytes, b, err);
	if (rc)
		return rc;
	if (b->type != expected)
		rc = error_set(err, RC_DATA, "found a block of type %s, expected %s",
			       hfile_block_magic(b->type), hfile_block_magic(expected));
	else
		rc = hfile_index_node_open(node, b->payload, err);
	if (rc)
		return error_prefix(err, "%s: block at %llu: ", f->source.name,
				    (unsigned long long)e->offset);
	return 0;
}

/*
 * Return true if the flat key is at most the search key. An earlier check has rejected malformed
 * keys.
 */
static bool at_most(struct bytes flat, const struct cell *search)
{
	struct cell k;

	return hfile_kv_key_parse(flat, &k) && cell_key_cmp(&k, search) <= 0;
}

/* Return the last root entry at or before the search key, or the first entry. */
static size_t find_in_root(const struct hindex_list *l, const struct cell *search)
{
	size_t low = 0, high = l->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (at_most(hfile_index_list_key(l, middle), search))
			low = middle;
		else
			high = middle;
	}
	return low;
}

static int find_in_node(const struct hindex_node *n, const struct cell *search,
			struct hindex_entry *found, struct error *err)
{
	uint32_t low = 0, high = n->count;
	struct bytes key;
	int rc;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		struct hindex_entry e;

		rc = hfile_index_node_entry(n, middle, &e, &key, err);
		if (rc)
			return rc;
		if (at_most(key, search))
			low = middle;
		else
			high = middle;
	}
	return hfile_index_node_entry(n, low, found, &key, err);
}

/* Move to the first cell of `r` at or after `key`. Returns RC_END if there is no such cell. */
static int skip_in(struct block_cells *r, const struct cell *search)
{
	size_t high = r->n;

	for (r->at = 0; r->at < high;) {
		size_t middle = r->at + (high - r->at) / 2;

		if (cell_key_cmp(&r->cell[middle], search) < 0)
			r->at = middle + 1;
		else
			high = middle;
	}
	return r->at < r->n ? 0 : RC_END;
}

/* Move to the first cell at or after `key`, in the open block or in a later block. */
static int skip_to(struct hfile *f, const struct cell *search, struct error *err)
{
	for (;;) {
		size_t at = f->cell_at;
		struct kv kv;
		struct cell cell;
		int rc = f->ready.n ? skip_in(&f->ready, search)
				    : hfile_reader_take_cell(f, f->cells, &f->cell_at, &kv, &cell,
							     err);

		if (rc == RC_OK && f->ready.n)
			return 0;
		if (rc == RC_END) {
			rc = next_data(f, err);
			if (rc)
				return rc == RC_END ? 0 : rc;
			continue;
		}
		if (rc)
			return fault_at(f, f->data.place.offset, err);
		if (cell_key_cmp(&cell, search) >= 0) {
			f->cell_at = at;
			f->before_known = false;
			return 0;
		}
	}
}

/* Find the last data block that begins at or before `key`, or the first data block. */
static int find_block(struct hfile *f, const struct cell *key, struct hindex_entry *e,
		      struct error *err)
{
	*e = f->root.entry[find_in_root(&f->root, key)];
	for (uint32_t level = 1; level < f->trailer.index_levels; level++) {
		struct hindex_node node;
		int rc = hfile_reader_load_node(f, level, e, &f->node, &node, err);

		if (rc == RC_OK)
			rc = find_in_node(&node, key, e, err);
		if (rc)
			return rc;
	}
	if (e->offset >= f->trailer.load_on_open_offset)
		return error_set(err, RC_DATA,
				 "%s: found offset %llu in the index, expected less than %llu",
				 f->source.name, (unsigned long long)e->offset,
				 (unsigned long long)f->trailer.load_on_open_offset);
	return 0;
}

int hfile_seek(struct hfile *f, const struct cell *key, struct error *err)
{
	struct hindex_entry e;

	if (f->root.count == 0) {
		hfile_rewind(f);
		return 0;
	}
	start_walk(f, false);
	int rc = find_block(f, key, &e, err);
	if (rc == RC_OK)
		rc = load_data(f, e.offset, e.disk_bytes, false, err);
	if (rc)
		return rc;
	f->previous[HBLOCK_DATA] = (int64_t)e.offset;
	return skip_to(f, key, err);
}

/* Return the last row before `key` in the open block. The row is empty if there is no such row. */
static int last_row_before(struct hfile *f, const struct cell *key, struct bytes *row,
			   struct error *err)
{
	size_t at = 0;
	struct kv kv;
	struct cell cell;
	int rc;

	*row = (struct bytes){NULL, 0};
	while ((rc = hfile_reader_take_cell(f, f->cells, &at, &kv, &cell, err)) == 0) {
		if (cell_key_cmp(&cell, key) >= 0)
			return 0;
		*row = cell.row;
	}
	return rc == RC_END ? 0 : fault_at(f, f->data.place.offset, err);
}

int hfile_row_before(struct hfile *f, const struct cell *key, struct buf *row, struct error *err)
{
	struct hindex_entry e;
	struct bytes found = {NULL, 0};
	int64_t offset;
	int rc = f->root.count ? find_block(f, key, &e, err) : RC_END;

	if (rc == RC_OK)
		rc = hfile_reader_load_data(f, e.offset, e.disk_bytes, err);
	for (; rc == RC_OK; rc = hfile_reader_load_data(f, (uint64_t)offset, 0, err)) {
		rc = last_row_before(f, key, &found, err);
		offset = f->data.previous;
		if (rc || found.len)
			break;
		if (offset < 0)
			return RC_END;
		if (offset >= (int64_t)f->data.place.offset)
			return error_set(
				err, RC_DATA,
				"%s: block at %llu: found prevBlockOffset %lld, expected a "
				"smaller offset than the block's",
				f->source.name, (unsigned long long)f->data.place.offset,
				(long long)offset);
	}
	if (rc)
		return rc;
	row->len = 0;
	return buf_try_append(row, found.ptr, found.len)
		       ? 0
		       : error_memory(err, found.len, "a row key");
}

/* Compare two bloom keys. ROWCOL keys are flat keys in cell order. Other keys are plain bytes. */
static int bloom_order(const struct bloom_reader *r, struct bytes a, struct bytes b)
{
	struct cell x, y;

	if (r->type == BLOOM_ROWCOL && hfile_kv_key_parse(a, &x) && hfile_kv_key_parse(b, &y))
		return cell_key_cmp(&x, &y);
	return bytes_cmp(a, b);
}

/*
 * Return the index of the chunk that may contain `key`, or SIZE_MAX if `key` is before the first
 * chunk.
 */
static size_t find_chunk(const struct bloom_reader *b, struct bytes key)
{
	const struct hindex_list *l = &b->meta.chunks;
	size_t low = 0, high = l->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (bloom_order(b, hfile_index_list_key(l, middle), key) <= 0)
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
				 "%s: found offset %llu of a bloom chunk, expected less than %llu",
				 f->source.name, (unsigned long long)e->offset,
				 (unsigned long long)f->trailer.load_on_open_offset);
	int rc = hfile_block_read(&f->in, e->offset, e->disk_bytes, &f->chunk, err);
	if (rc)
		return rc;
	if (f->chunk.type != HBLOCK_BLOOM || f->chunk.payload.len == 0)
		return error_set(
			err, RC_DATA,
			"%s: block at %llu: found a block of type %s with %zu bytes, expected a "
			"bloom chunk with bytes",
			f->source.name, (unsigned long long)e->offset,
			hfile_block_magic(f->chunk.type), f->chunk.payload.len);
	f->chunk_offset = e->offset;
	return 0;
}

int hfile_reader_probe(struct hfile *f, const struct bloom_reader *b, struct bytes row,
		       struct bytes qualifier, bool *out, struct error *err)
{
	struct bytes key;

	*out = true;
	if (!b->present || !hfile_bloom_hash_known(b->meta.hash))
		return 0;
	if (!hfile_bloom_key(b->type, b->prefix, row, qualifier, &f->probe, &key))
		return error_memory(err, row.len + qualifier.len, "a bloom key");
	size_t i = find_chunk(b, key);
	*out = false;
	if (i == SIZE_MAX)
		return 0;
	int rc = load_chunk(f, &b->meta.chunks.entry[i], err);
	if (rc)
		return rc;
	*out = hfile_bloom_chunk_has(&b->meta, f->chunk.payload, key);
	return 0;
}

int hfile_may_contain(struct hfile *f, struct bytes row, struct bytes qualifier, bool *out,
		      struct error *err)
{
	return hfile_reader_probe(f, &f->bloom, row, qualifier, out, err);
}

int hfile_may_delete(struct hfile *f, struct bytes row, bool *out, struct error *err)
{
	return hfile_reader_probe(f, &f->delete_bloom, row, (struct bytes){NULL, 0}, out, err);
}
