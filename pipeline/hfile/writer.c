/*
 * writer.c - blocks to a file
 *
 * add.c fills a block with cells.  When it is full it is encoded, compressed and written, then the
 * index leaf and bloom chunks that are due, in the order of HBase's writer (README.md 1.1), so
 * that the bytes are the same.
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
	return mem_calloc(1, sizeof(struct hfile_scratch));
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
		mem_free(d->hashes);
		mem_free(d);
	}
	ring_slots_free(s->slots);
	ring_codecs_release(&s->codecs);
	hcodec_release(&s->codec);
	hcodec_release(&s->other_codec);
	buf_release(&s->disk);
	buf_release(&s->work);
	mem_free(s);
}

static struct write_buffers *take_buffers(struct hfile_scratch *s)
{
	struct write_buffers *d = s->idle;
	if (!d)
		return mem_calloc(1, sizeof *d);
	s->idle = d->next;
	return d;
}

static void defaults(struct hfile_options *o)
{
	o->block_bytes = o->block_bytes ? o->block_bytes : BLOCK_BYTES;
	o->index_block_bytes = o->index_block_bytes ? o->index_block_bytes : INDEX_BYTES;
	o->bloom_block_bytes = o->bloom_block_bytes ? o->bloom_block_bytes : BLOOM_BYTES;
	o->index_min_entries = o->index_min_entries ? o->index_min_entries : INDEX_ENTRIES;
}

static int check_options(const struct hfile_options *o, struct error *err)
{
	if (o->family.len < 1 || o->family.len > FAMILY_MAX)
		return error_set(err, RC_LIMIT, "a family name of %zu bytes; 1 to %d are possible",
				 o->family.len, FAMILY_MAX);
	if (o->block_bytes > HBLOCK_PLAIN_MAX / 2)
		return error_set(err, RC_LIMIT, "a block size of %u bytes; the limit is %u",
				 o->block_bytes, HBLOCK_PLAIN_MAX / 2);
	if (o->bloom_block_bytes > HBLOCK_PLAIN_MAX / 16)
		return error_set(err, RC_LIMIT, "a bloom block size of %u bytes; the limit is %u",
				 o->bloom_block_bytes, HBLOCK_PLAIN_MAX / 16);
	for (size_t i = 0; i < o->nqualifiers; i++) {
		if (o->nqualifiers > UINT16_MAX || o->qualifiers[i].len > HBLOCK_PLAIN_MAX / 4)
			return error_set(err, RC_LIMIT, "%zu columns, or one of %zu bytes",
					 o->nqualifiers, o->qualifiers[i].len);
		if (i && bytes_cmp(o->qualifiers[i - 1], o->qualifiers[i]) >= 0)
			return error_set(err, RC_ORDER, "columns that are not in order");
	}
	if (o->bloom == BLOOM_ROWPREFIX && (o->bloom_prefix < 1 || o->bloom_prefix > ROW_MAX))
		return error_set(err, RC_CONFIG, "a bloom prefix of %u bytes; 1 to %d are possible",
				 o->bloom_prefix, ROW_MAX);
	return 0;
}

static void make_heads(struct hfile_writer *w, const struct bytes *qualifiers, size_t count)
{
	struct buf *b = &w->head_bytes;
	for (size_t i = 0; i < count; i++) {
		buf_append(b, w->family.ptr, w->family.len);
		buf_append(b, qualifiers[i].ptr, qualifiers[i].len);
	}
	memset(buf_reserve(b, WRITER_SLACK), 0, WRITER_SLACK);
	w->heads = mem_calloc(count + 1, sizeof *w->heads);
	const uint8_t *at = b->ptr;
	for (size_t i = 0; i < count; i++) {
		w->heads[i].all = bytes_of(at, w->family.len + qualifiers[i].len);
		memcpy(w->heads[i].start, at, sizeof w->heads[i].start);
		at += w->heads[i].all.len;
	}
}

static struct hfile_writer *writer_make(const struct hfile_options *o)
{
	struct hfile_writer *w = mem_calloc(1, sizeof *w);
	w->opt = *o;
	w->opt.family = (struct bytes){NULL, 0};
	w->opt.qualifiers = NULL;
	buf_append(&w->task, o->source_task.ptr, o->source_task.len);
	w->opt.source_task = buf_bytes(&w->task);
	w->file.fd = -1;
	w->own_scratch = !o->scratch;
	w->scratch = o->scratch ? o->scratch : hfile_scratch_new();
	w->buffers = take_buffers(w->scratch);
	w->buffers->last.len = 0;
	buf_reserve(&w->buffers->last, WRITER_SLACK);
	w->tail_bytes = (o->tags ? 2u : 0u) + (o->mvcc ? 1u : 0u);
	w->row_cost = o->encoding == ENCODING_ROW_INDEX_V1 ? 4 : 0;
	buf_put(&w->family, (uint8_t)o->family.len);
	buf_append(&w->family, o->family.ptr, o->family.len);
	buf_reserve(&w->family, WRITER_SLACK);
	make_heads(w, o->qualifiers, o->nqualifiers);
	w->min_ts = TS_MAX;
	w->index.max_bytes = o->index_block_bytes;
	w->index.min_entries = o->index_min_entries;
	hbloom_init(&w->bloom, o->bloom, o->bloom_prefix, o->bloom_block_bytes, w->buffers->hashes,
		    w->buffers->hashes_cap);
	hblock_out_init(&w->blocks, &w->file, &w->scratch->other_codec, &w->scratch->disk);
	return w;
}

static void begin_block(struct hfile_writer *w)
{
	hblock_begin(&w->buffers->cells);
	w->full_at = HBLOCK_HEADER + w->opt.block_bytes;
}

int writer_setup_codec(const struct hfile_options *o, struct hcodec *codec, struct error *err)
{
	int rc = hcodec_setup(codec, o->codec, o->level, o->framing, err);
	if (rc == 0)
		rc = hcodec_tune(codec, o->hash_log, err);
	if (rc == 0)
		rc = hcodec_sequence(codec, o->min_match, (o->tags ? 2u : 0u) + o->mvcc, err);
	return rc;
}

/* Give the scratch's codecs this writer's settings. */
static int take_codecs(struct hfile_writer *w, struct error *err)
{
	struct hfile_scratch *s = w->scratch;
	if (s->user == w)
		return 0;
	int rc = writer_setup_codec(&w->opt, &s->codec, err);
	if (rc == 0)
		rc = writer_setup_codec(&w->opt, &s->other_codec, err);
	s->user = rc ? NULL : w;
	return rc;
}

int hfile_writer_new(struct hfile_writer **out, const char *path, const struct hfile_options *opt,
		     struct error *err)
{
	struct hfile_options o = *opt;
	*out = NULL;
	defaults(&o);
	int rc = check_options(&o, err);
	if (rc)
		return rc;
	struct hfile_writer *w = writer_make(&o);
	begin_block(w);
	rc = take_codecs(w, err);
	if (rc == 0)
		rc = out_open(&w->file, path, o.file_buffer_bytes, err);
	w->file.temporary = o.temporary;
	if (rc) {
		hfile_abort(w);
		return rc;
	}
	*out = w;
	return 0;
}

void hfile_abort(struct hfile_writer *w)
{
	if (!w)
		return;
	ring_drop(&w->ring, w);
	out_abort(&w->file);
	w->buffers->hashes = w->bloom.pending;
	w->buffers->hashes_cap = w->bloom.cap;
	w->buffers->next = w->scratch->idle;
	w->scratch->idle = w->buffers;
	w->scratch->user = NULL;
	if (w->own_scratch)
		hfile_scratch_free(w->scratch);
	hbloom_release(&w->bloom);
	hindex_release(&w->index);
	buf_release(&w->family);
	buf_release(&w->task);
	buf_release(&w->head_bytes);
	mem_free(w->heads);
	buf_release(&w->first_row);
	mem_free(w);
}

/* Index leaves first, then bloom chunks, as HBase's inline writers. */
static int write_inline(struct hfile_writer *w, bool closing, size_t chunks, struct error *err)
{
	struct hblock_place place;
	int rc = 0;
	while (rc == 0 && hindex_leaf_due(&w->index, closing)) {
		rc = hindex_write_leaf(&w->index, &w->blocks, &w->scratch->work, &place, err);
		w->total_bytes += HBLOCK_HEADER + place.plain_bytes;
	}
	for (; rc == 0 && chunks; chunks--) {
		rc = hbloom_write_chunk(&w->bloom, &w->blocks, &w->scratch->work, &place, err);
		w->total_bytes += HBLOCK_HEADER + place.plain_bytes;
	}
	return rc;
}

struct buf *writer_payload(const struct hfile_options *o, struct buf *cells, struct buf *work)
{
	if (o->encoding == ENCODING_NONE)
		return cells;
	hblock_begin(work);
	hblock_encode(o->encoding, bytes_of(cells->ptr + HBLOCK_HEADER, cells->len - HBLOCK_HEADER),
		      (struct cell_tail){o->tags, o->mvcc}, work);
	return work;
}

static void put_data(struct hfile_writer *w, struct buf *disk, size_t plain_bytes,
		     size_t cell_bytes, struct bytes key)
{
	struct hblock_place place;
	hblock_put(&w->blocks, writer_data_type(&w->opt), disk, plain_bytes, &place);
	hindex_add(&w->index, key, &place);
	w->first_data = w->data_blocks ? w->first_data : place.offset;
	w->last_data = place.offset;
	w->data_blocks++;
	w->total_bytes += HBLOCK_HEADER + place.plain_bytes;
	w->plain_bytes += cell_bytes;
	w->disk_bytes += place.disk_bytes;
}

int writer_put_data(struct hfile_writer *w, struct buf *disk, size_t plain_bytes, size_t cell_bytes,
		    struct bytes key, size_t chunks, struct error *err)
{
	int rc = take_codecs(w, err);
	if (rc)
		return rc;
	put_data(w, disk, plain_bytes, cell_bytes, key);
	return write_inline(w, false, chunks, err);
}

/* The open block, on this thread. */
static int write_data(struct hfile_writer *w, struct bytes key, struct error *err)
{
	struct hfile_scratch *s = w->scratch;
	struct buf *cells = &w->buffers->cells;
	struct buf *payload = writer_payload(&w->opt, cells, &s->work);
	struct buf *disk = w->opt.codec == CODEC_NONE ? payload : &s->disk;
	size_t plain_bytes = payload->len - HBLOCK_HEADER;
	int rc = take_codecs(w, err);
	if (rc == 0)
		rc = hblock_pack(&s->codec, writer_data_type(&w->opt), payload, disk, err);
	if (rc == 0)
		put_data(w, disk, plain_bytes, cells->len, key);
	return rc;
}

/* A block with a large value went by: the room for it is not kept. */
static void drop_large(struct buf *b, const struct hfile_writer *w)
{
	if (b->cap > KEPT_BYTES + 4 * (size_t)w->opt.block_bytes)
		buf_release(b);
}

int writer_end_block(struct hfile_writer *w, bool closing, struct error *err)
{
	struct buf *cells = &w->buffers->cells;
	struct bytes last = writer_last_key(w);
	struct buf key = {0};
	hindex_key(&key, buf_bytes(&w->buffers->last), kv_at(cells->ptr + HBLOCK_HEADER).key);
	w->buffers->last.len = 0;
	buf_append(&w->buffers->last, last.ptr, last.len);
	buf_reserve(&w->buffers->last, WRITER_SLACK);
	w->previous_at = 0;
	size_t chunks = hbloom_due(&w->bloom, w->ring.chunks, closing);
	int rc;
	if (!closing && ring_take(&w->ring, w, cells, &key, chunks)) {
		rc = ring_collect(&w->ring, w, false, err);
	} else {
		rc = ring_collect(&w->ring, w, true, err);
		if (rc == 0)
			rc = write_data(w, buf_bytes(&key), err);
		if (rc == 0)
			rc = write_inline(w, closing, chunks, err);
	}
	buf_release(&key);
	drop_large(cells, w);
	drop_large(&w->scratch->work, w);
	drop_large(&w->scratch->disk, w);
	begin_block(w);
	return rc;
}

uint64_t hfile_bytes_so_far(const struct hfile_writer *w)
{
	double ratio = w->plain_bytes ? (double)w->disk_bytes / (double)w->plain_bytes : 1.0;
	double open = ratio * (double)w->buffers->cells.len;
	/* A bloom key takes chunk_bytes / max_keys bytes on average. */
	double bloom = (double)w->bloom.npending * w->bloom.chunk_bytes / w->bloom.max_keys;
	uint64_t index = w->index.leaf.entry_bytes + w->index.root.root_bytes;
	return w->file.offset + (uint64_t)(open + bloom) + index + HFILE_FIXED_BYTES;
}

int hfile_reached(struct hfile_writer *w, uint64_t bytes, bool *reached, struct error *err)
{
	/* Far more than the blocks in the ring can add, so most calls need not wait for them. */
	uint64_t most = hfile_bytes_so_far(w) + 2 * w->buffers->cells.len + 4 * w->ring.bytes +
			w->ring.chunks * 2 * (uint64_t)w->bloom.chunk_bytes + 4096;
	*reached = false;
	if (w->ring.count && most < bytes)
		return 0;
	int rc = ring_collect(&w->ring, w, true, err);
	*reached = rc == 0 && hfile_bytes_so_far(w) >= bytes;
	return rc;
}
