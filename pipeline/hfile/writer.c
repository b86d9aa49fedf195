/*
 * writer.c - write the blocks of an HFile
 *
 * add.c fills a block with cells. The writer encodes, compresses and writes a full block. The index
 * leaf and the bloom chunks that are due follow, in the order of HBase's writer (README.md 1.1).
 */
#include "writer.h"

#include "kv.h"
#include "mem.h"

#define BLOCK_BYTES   65536
#define INDEX_BYTES   131072
#define BLOOM_BYTES   131072
#define INDEX_ENTRIES 16
#define KEPT_BYTES    (1u << 20)

struct hfile_scratch *hfile_scratch_new(void)
{
	return mem_try_calloc(1, sizeof(struct hfile_scratch));
}

void hfile_scratch_free(struct hfile_scratch *s)
{
	if (!s)
		return;
	while (s->idle) {
		struct write_buffers *d = s->idle;

		s->idle = d->next;
		buf_release(&d->cells);
		buf_release(&d->last);
		buf_release(&d->key);
		buf_release(&d->encoded);
		mem_free(d->hashes);
		mem_free(d);
	}
	hfile_ring_slots_free(s->slots);
	hfile_ring_codecs_release(&s->codecs);
	hfile_codec_release(&s->codec);
	hfile_codec_release(&s->other_codec);
	buf_release(&s->disk);
	buf_release(&s->work);
	mem_free(s);
}

static struct write_buffers *take_buffers(struct hfile_scratch *s)
{
	struct write_buffers *d = s->idle;

	if (!d)
		return mem_try_calloc(1, sizeof *d);
	s->idle = d->next;
	d->last.len = 0;
	return d;
}

static void defaults(struct hfile_options *o)
{
	o->block_bytes = o->block_bytes ? o->block_bytes : BLOCK_BYTES;
	o->index_block_bytes = o->index_block_bytes ? o->index_block_bytes : INDEX_BYTES;
	o->bloom_block_bytes = o->bloom_block_bytes ? o->bloom_block_bytes : BLOOM_BYTES;
	o->index_min_entries = o->index_min_entries ? o->index_min_entries : INDEX_ENTRIES;
}

int hfile_check_family(struct bytes family, struct error *err)
{
	if (family.len < 1 || family.len > CELL_FAMILY_MAX)
		return error_set(err, RC_LIMIT,
				 "found a family name of %zu bytes, expected 1 to %d", family.len,
				 CELL_FAMILY_MAX);
	if (memchr(family.ptr, ':', family.len))
		return error_set(err, RC_CONFIG,
				 "found family name `%.*s`, expected a name without a colon",
				 (int)family.len, (const char *)family.ptr);
	return RC_OK;
}

static int check_options(const struct hfile_options *o, struct error *err)
{
	if (o->family.len || o->nqualifiers) {
		int rc = hfile_check_family(o->family, err);

		if (rc)
			return rc;
	}
	if (o->block_bytes > HBLOCK_PLAIN_MAX / 2)
		return error_set(err, RC_LIMIT,
				 "found a block size of %u bytes, expected at most %u",
				 o->block_bytes, HBLOCK_PLAIN_MAX / 2);
	if (o->bloom_block_bytes > HBLOCK_PLAIN_MAX / 16)
		return error_set(err, RC_LIMIT,
				 "found a bloom block size of %u bytes, expected at most %u",
				 o->bloom_block_bytes, HBLOCK_PLAIN_MAX / 16);
	for (size_t i = 0; i < o->nqualifiers; i++) {
		if (o->nqualifiers > UINT16_MAX || o->qualifiers[i].len > HBLOCK_PLAIN_MAX / 4)
			return error_set(
				err, RC_LIMIT,
				"found %zu columns, one of %zu bytes, expected at most %u of %u "
				"bytes",
				o->nqualifiers, o->qualifiers[i].len, UINT16_MAX,
				HBLOCK_PLAIN_MAX / 4);
		if (i && bytes_cmp(o->qualifiers[i - 1], o->qualifiers[i]) >= 0)
			return error_set(
				err, RC_ORDER,
				"found column %zu before a smaller one, expected columns in order",
				i);
	}
	if (o->bloom == BLOOM_ROWPREFIX && (o->bloom_prefix < 1 || o->bloom_prefix > CELL_ROW_MAX))
		return error_set(err, RC_CONFIG,
				 "found a bloom prefix of %u bytes, expected 1 to %d",
				 o->bloom_prefix, CELL_ROW_MAX);
	return 0;
}

static bool make_heads(struct hfile_writer *w, const struct bytes *qualifiers, size_t count)
{
	struct buf *b = &w->head_bytes;
	size_t bytes = WRITER_SLACK;

	for (size_t i = 0; i < count; i++)
		bytes += w->family.len + qualifiers[i].len;
	w->heads = mem_try_calloc(count + 1, sizeof *w->heads);
	if (!w->heads || !buf_try_reserve(b, bytes))
		return false;
	memset(b->ptr, 0, bytes);
	for (size_t i = 0; i < count; i++) {
		w->heads[i].all = bytes_of(b->ptr + b->len, w->family.len + qualifiers[i].len);
		buf_fill(b, w->family.ptr, w->family.len);
		buf_fill(b, qualifiers[i].ptr, qualifiers[i].len);
	}
	for (size_t i = 0; i < count; i++) {
		struct bytes all = w->heads[i].all, before = i ? w->heads[i - 1].all : all;
		size_t least = before.len < all.len ? before.len : all.len;

		memcpy(w->heads[i].start, all.ptr, sizeof w->heads[i].start);
		w->heads[i].same = common_bytes(before.ptr, all.ptr, least);
		w->head_most = all.len > w->head_most ? all.len : w->head_most;
		if (i > 0)
			hfile_direct_head(&w->heads[i], before.len == all.len);
	}
	return true;
}

bool hfile_writer_set_family(struct hfile_writer *w, struct bytes family)
{
	if (!buf_try_reserve(&w->family, 1 + family.len + WRITER_SLACK))
		return false;
	w->family.len = 0;
	buf_fill_byte(&w->family, (uint8_t)family.len);
	buf_fill(&w->family, family.ptr, family.len);
	return true;
}

/* Allocate the memory that the writer needs from the start. */
static bool make_parts(struct hfile_writer *w, const struct hfile_options *o)
{
	w->scratch = o->scratch ? o->scratch : hfile_scratch_new();
	w->buffers = w->scratch ? take_buffers(w->scratch) : NULL;
	return w->buffers && buf_try_reserve(&w->buffers->last, WRITER_SLACK) &&
	       buf_try_append(&w->task, o->source_task.ptr, o->source_task.len) &&
	       hfile_writer_set_family(w, o->family) &&
	       make_heads(w, o->qualifiers, o->nqualifiers);
}

/* Make a writer. Returns NULL if memory is short. */
static struct hfile_writer *writer_make(const struct hfile_options *o,
					const struct hfile_sink *sink)
{
	struct hfile_writer *w = mem_try_calloc(1, sizeof *w);

	if (!w)
		return NULL;
	w->opt = *o;
	w->opt.family = (struct bytes){NULL, 0};
	w->opt.qualifiers = NULL;
	w->own_scratch = !o->scratch;
	w->ended = true; /* the sink belongs to the caller until all allocations have succeeded */
	if (!make_parts(w, o)) {
		hfile_abort(w);
		return NULL;
	}
	w->ended = false;
	w->opt.source_task = buf_bytes(&w->task);
	w->tail_bytes = (o->tags ? 2u : 0u) + (o->mvcc ? 1u : 0u);
	w->long_tails = o->mvcc && o->keep_mvcc;
	w->row_cost = o->encoding == ENCODING_ROW_INDEX_V1 ? 4 : 0;
	w->direct.possible =
		o->encoding == ENCODING_DIFF && !w->tail_bytes && o->bloom != BLOOM_ROWCOL;
	w->min_ts = w->earliest_put = CELL_TS_LATEST;
	w->index.max_bytes = o->index_block_bytes;
	w->index.min_entries = o->index_min_entries;
	hfile_bloom_init(&w->bloom, o->bloom, o->bloom_prefix, o->bloom_block_bytes,
			 w->buffers->hashes, w->buffers->hashes_cap);
	hfile_bloom_init(&w->deletes, BLOOM_ROW, 0, o->bloom_block_bytes, NULL, 0);
	hfile_block_out_init(&w->blocks, sink, &w->scratch->other_codec, &w->scratch->disk);
	return w;
}

static int begin_block(struct hfile_writer *w, struct error *err)
{
	w->full_at = HBLOCK_HEADER + w->opt.block_bytes;
	return hfile_block_begin(&w->buffers->cells, 0, err);
}

int hfile_writer_setup_codec(const struct hfile_options *o, struct hcodec *codec, struct error *err)
{
	int rc = hfile_codec_setup(codec, o->codec, o->level, o->framing, err);

	if (rc == RC_OK)
		rc = hfile_codec_tune(codec, o->hash_log, err);
	/* our match finder needs equal tails */
	if (rc == RC_OK)
		rc = hfile_codec_sequence(codec, o->keep_mvcc ? 0 : o->min_match,
					  (o->tags ? 2u : 0u) + o->mvcc, err);
	return rc;
}

/* Set this writer's settings in the codecs of the scratch. */
static int take_codecs(struct hfile_writer *w, struct error *err)
{
	struct hfile_scratch *s = w->scratch;

	if (s->user == w)
		return 0;
	int rc = hfile_writer_setup_codec(&w->opt, &s->codec, err);
	if (rc == RC_OK)
		rc = hfile_writer_setup_codec(&w->opt, &s->other_codec, err);
	s->user = rc ? NULL : w;
	return rc;
}

int hfile_writer_check(const struct hfile_options *opt, struct error *err)
{
	struct hfile_options o = *opt;

	defaults(&o);
	return check_options(&o, err);
}

int hfile_writer_new_to(struct hfile_writer **out, const struct hfile_sink *sink,
			const struct hfile_options *opt, struct error *err)
{
	struct hfile_options o = *opt;

	*out = NULL;
	defaults(&o);
	int rc = check_options(&o, err);
	struct hfile_writer *w = rc ? NULL : writer_make(&o, sink);
	if (!w) {
		sink->abort(sink->self);
		return rc ? rc : error_memory(err, sizeof *w, "a writer");
	}
	rc = begin_block(w, err);
	if (rc == RC_OK)
		rc = take_codecs(w, err);
	if (rc) {
		hfile_abort(w);
		return rc;
	}
	*out = w;
	return 0;
}

static void give_buffers(struct hfile_writer *w)
{
	struct write_buffers *d = w->buffers;

	if (!d)
		return;
	if (w->bloom.pending) {
		d->hashes = w->bloom.pending;
		d->hashes_cap = w->bloom.cap;
	}
	d->next = w->scratch->idle;
	w->scratch->idle = d;
}

void hfile_abort(struct hfile_writer *w)
{
	if (!w)
		return;
	hfile_ring_drop(&w->ring, w);
	if (!w->ended)
		w->blocks.sink.abort(w->blocks.sink.self);
	give_buffers(w);
	if (w->scratch)
		w->scratch->user = NULL;
	if (w->own_scratch)
		hfile_scratch_free(w->scratch);
	hfile_bloom_release(&w->bloom);
	mem_free(w->deletes.pending);
	hfile_bloom_release(&w->deletes);
	hfile_index_release(&w->index);
	buf_release(&w->family);
	buf_release(&w->task);
	buf_release(&w->head_bytes);
	mem_free(w->heads);
	buf_release(&w->first_row);
	mem_free(w);
}

static int write_chunks(struct hfile_writer *w, struct hbloom *b, size_t chunks, struct error *err)
{
	struct hblock_place place;
	int rc = 0;

	for (; rc == RC_OK && chunks; chunks--) {
		rc = hfile_bloom_write_chunk(b, &w->blocks, &w->scratch->work, &place, err);
		w->total_bytes += HBLOCK_HEADER + place.plain_bytes;
	}
	return rc;
}

/* Write index leaves first, then chunks of the filters, like HBase's inline writers. */
static int write_inline(struct hfile_writer *w, bool closing, struct hbloom_due chunks,
			struct error *err)
{
	struct hblock_place place;
	int rc = 0;

	while (rc == RC_OK && hfile_index_leaf_due(&w->index, closing)) {
		rc = hfile_index_write_leaf(&w->index, &w->blocks, &w->scratch->work, &place, err);
		w->total_bytes += HBLOCK_HEADER + place.plain_bytes;
	}
	if (rc == RC_OK)
		rc = write_chunks(w, &w->bloom, chunks.general, err);
	return rc ? rc : write_chunks(w, &w->deletes, chunks.deletes, err);
}

int hfile_writer_payload(const struct hfile_options *o, struct buf *cells, struct buf *work,
			 struct buf **payload, struct error *err)
{
	*payload = cells;
	if (o->encoding == ENCODING_NONE)
		return 0;
	*payload = work;
	int rc = hfile_block_begin(work, cells->len, err);
	if (rc)
		return rc;
	const struct block_format format = {.encoding = o->encoding, .tail = {o->tags, o->mvcc}};
	struct bytes plain = {cells->ptr + HBLOCK_HEADER, cells->len - HBLOCK_HEADER};
	return hfile_block_encode(&format, plain, work, err);
}

static int put_data(struct hfile_writer *w, struct buf *disk, size_t plain_bytes, size_t cell_bytes,
		    struct bytes key, struct error *err)
{
	struct hblock_place place;
	int rc = hfile_block_put(&w->blocks, hfile_writer_data_type(&w->opt), disk, plain_bytes,
				 &place, err);

	if (rc == RC_OK)
		rc = hfile_index_add(&w->index, key, &place, err);
	w->first_data = w->data_blocks ? w->first_data : place.offset;
	w->last_data = place.offset;
	w->data_blocks++;
	w->total_bytes += HBLOCK_HEADER + place.plain_bytes;
	w->plain_bytes += cell_bytes;
	w->disk_bytes += place.disk_bytes;
	return rc;
}

int hfile_writer_put_data(struct hfile_writer *w, struct buf *disk, size_t plain_bytes,
			  size_t cell_bytes, struct bytes key, struct hbloom_due chunks,
			  struct error *err)
{
	int rc = take_codecs(w, err);

	if (rc == RC_OK)
		rc = put_data(w, disk, plain_bytes, cell_bytes, key, err);
	return rc ? rc : write_inline(w, false, chunks, err);
}

/* Pack and write the open block on this thread. */
static int write_data(struct hfile_writer *w, struct bytes key, struct error *err)
{
	struct hfile_scratch *s = w->scratch;
	struct buf *cells = &w->buffers->cells, *payload = &w->buffers->encoded;
	const size_t cell_bytes = hfile_writer_open_bytes(w);
	int rc = w->direct.open ? 0 : hfile_writer_payload(&w->opt, cells, &s->work, &payload, err);

	if (rc == RC_OK)
		rc = take_codecs(w, err);
	if (rc)
		return rc;
	struct buf *disk = w->opt.codec == CODEC_NONE ? payload : &s->disk;
	size_t plain_bytes = payload->len - HBLOCK_HEADER;
	rc = hfile_block_pack(&s->codec, hfile_writer_data_type(&w->opt), payload, disk, err);
	return rc ? rc : put_data(w, disk, plain_bytes, cell_bytes, key, err);
}

/* After a block with a large value, release the large buffer. */
static void drop_large(struct buf *b, const struct hfile_writer *w)
{
	if (b->cap > KEPT_BYTES + 4 * (size_t)w->opt.block_bytes)
		buf_release(b);
}

/* Record the block's index key, and its last key for the next block. */
static int note_keys(struct hfile_writer *w, struct error *err)
{
	struct write_buffers *d = w->buffers;

	d->key.len = 0;
	int rc = hfile_index_key(&d->key, buf_bytes(&d->last),
				 hfile_kv_at(d->cells.ptr + HBLOCK_HEADER).key, err);
	if (rc)
		return rc;
	if (w->direct.open) {
		if (!hfile_direct_last(w, &d->last))
			return error_memory(err, w->direct.key_bytes, "a key");
	} else {
		struct bytes last = hfile_writer_last_key(w);

		d->last.len = 0;
		if (!buf_try_reserve(&d->last, last.len + WRITER_SLACK))
			return error_memory(err, last.len, "a key");
		buf_fill(&d->last, last.ptr, last.len);
	}
	w->previous_bytes = d->last.len;
	w->previous_at = 0;
	return 0;
}

int hfile_writer_end_block(struct hfile_writer *w, bool closing, struct error *err)
{
	int rc = note_keys(w, err);

	if (rc)
		return rc;
	const struct hbloom_due before = w->ring.chunks;
	const struct hbloom_due chunks = {hfile_bloom_due(&w->bloom, before.general, closing),
					  hfile_bloom_due(&w->deletes, before.deletes, closing)};
	if (!closing && hfile_ring_take(&w->ring, w, chunks)) {
		rc = hfile_ring_collect(&w->ring, w, false, err);
	} else {
		rc = hfile_ring_collect(&w->ring, w, true, err);
		if (rc == RC_OK)
			rc = write_data(w, buf_bytes(&w->buffers->key), err);
		if (rc == RC_OK)
			rc = write_inline(w, closing, chunks, err);
	}
	hfile_direct_ended(w);
	drop_large(&w->buffers->cells, w);
	drop_large(&w->buffers->encoded, w);
	drop_large(&w->scratch->work, w);
	drop_large(&w->scratch->disk, w);
	return rc ? rc : begin_block(w, err);
}

void hfile_set_sequence(struct hfile_writer *w, uint64_t id)
{
	w->sequence = id;
	w->has_sequence = true;
}

uint64_t hfile_bytes_so_far(const struct hfile_writer *w)
{
	double ratio = w->plain_bytes ? (double)w->disk_bytes / (double)w->plain_bytes : 1.0;
	double open = ratio * (double)hfile_writer_open_bytes(w);
	/* A bloom key takes `chunk_bytes / max_keys` bytes on average. */
	double bloom = (double)w->bloom.npending * w->bloom.chunk_bytes / w->bloom.max_keys +
		       (double)w->deletes.npending * w->deletes.chunk_bytes / w->deletes.max_keys;
	uint64_t index = w->index.leaf.entry_bytes + w->index.root.root_bytes;

	return w->blocks.offset + (uint64_t)(open + bloom) + index + HFILE_FIXED_BYTES;
}

int hfile_reached(struct hfile_writer *w, uint64_t bytes, bool *reached, struct error *err)
{
	/*
	 * This estimate is far above the bytes that the blocks in the ring can add, so most calls
	 * need not wait for these blocks.
	 */
	uint64_t most = hfile_bytes_so_far(w) + 2 * hfile_writer_open_bytes(w) + 4 * w->ring.bytes +
			(w->ring.chunks.general + w->ring.chunks.deletes) * 2 *
				(uint64_t)w->bloom.chunk_bytes +
			4096;

	*reached = false;
	if (w->ring.count && most < bytes)
		return 0;
	int rc = hfile_ring_collect(&w->ring, w, true, err);
	*reached = rc == RC_OK && hfile_bytes_so_far(w) >= bytes;
	return rc;
}
