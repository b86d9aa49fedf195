/*
 * avro_file.c - Avro object container files (specification 1.11, "Object Container Files")
 *
 * One thread at a time cuts the input into blocks, by their lengths and sync markers. Workers
 * decompress and decode the blocks. Each file has its own schema and codec. Each schema must have
 * all columns that the fields use.
 */
#include "input/avro.h"
#include "input/avro_json.h"
#include "input/block_codec.h"
#include "blocks.h"
#include "input/input.h"
#include "late.h"
#include "pool.h"

#define MAGIC	   "Obj\1"
#define SYNC_BYTES 16
#define HEAD_MOST  ((size_t)16 << 20)

/*
 * The contents of a file's header. The source reads it before a worker gets a block of that file.
 */
struct avro_header {
	struct bytes schema; /* text of the schema */
	const struct avro_type *type;
	const struct avro_plan *plan;
	uint64_t least; /* smallest size of a record in bytes */
	enum block_codec codec;
	uint8_t sync[SYNC_BYTES];
};

struct avro_files {
	struct typed_columns columns;
	struct avro_header *header;	/* one per file */
	const struct avro_header *last; /* the header read last */
};

struct avro_worker {
	struct avro_decoder *decoder;
	struct block_unpacker *unpacker;
	struct buf data; /* the decompressed data of a block */
	bool begun;	 /* true while the reader collects events into a batch */
	uint64_t first;	 /* number of the first event in the batch */
};

static bool known(struct bytes head)
{
	return head.len >= 4 && memcmp(head.ptr, MAGIC, 4) == 0;
}

/* --- the header --- */

/* Parse a header. Return RC_END if the header needs more bytes. */
static int parse_header(struct bytes head, struct avro_header *h, struct bytes *codec,
			size_t *header_bytes)
{
	struct avro_type bytes_type = {.kind = AVRO_BYTES, .least = 1};
	struct avro_type *of[] = {&bytes_type};
	const struct avro_type map = {.kind = AVRO_MAP, .of = of, .n = 1};
	struct avro_reader r = {.p = head.ptr + 4, .end = head.ptr + head.len};
	struct bytes key, value;
	uint64_t count;

	while (avro_items(&r, &map, &count) && count > 0)
		for (; count > 0; count--) {
			if (!avro_bytes(&r, NULL, &key) || !avro_bytes(&r, NULL, &value))
				return RC_END;
			if (bytes_eq(key, bytes_str("avro.schema")))
				h->schema = value;
			if (bytes_eq(key, bytes_str("avro.codec")))
				*codec = value;
		}
	if (r.fault || (size_t)(r.end - r.p) < SYNC_BYTES)
		return RC_END;
	memcpy(h->sync, r.p, SYNC_BYTES);
	*header_bytes = (size_t)(r.p - head.ptr) + SYNC_BYTES;
	return RC_OK;
}

static int find_codec(struct bytes name, enum block_codec *codec, struct error *err)
{
	static const struct {
		const char *name;
		enum block_codec codec;
	} codecs[] = {{"null", BLOCK_NONE},	{"deflate", BLOCK_DEFLATE},
		      {"snappy", BLOCK_SNAPPY}, {"zstandard", BLOCK_ZSTD},
		      {"bzip2", BLOCK_BZIP2},	{"xz", BLOCK_XZ}};

	*codec = BLOCK_NONE;
	if (name.len == 0)
		return RC_OK;
	for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++)
		if (bytes_eq(name, bytes_str(codecs[i].name))) {
			*codec = codecs[i].codec;
			return *codec == BLOCK_SNAPPY ? late_need(LATE_SNAPPY, err) : RC_OK;
		}
	return error_set(
		err, RC_DATA,
		"found the codec `%.*s`, expected null, deflate, snappy, zstandard, bzip2 or xz",
		(int)(name.len < 40 ? name.len : 40), (const char *)name.ptr);
}

static int use_schema(struct source *s, struct avro_header *h, struct error *err)
{
	struct avro_files *files = s->own;
	const struct avro_type *schema;

	if (files->last && bytes_eq(files->last->schema, h->schema)) {
		h->schema = files->last->schema;
		h->plan = files->last->plan;
		h->type = files->last->type;
		h->least = files->last->least;
		return RC_OK;
	}
	if (h->schema.len == 0)
		return error_set(err, RC_DATA,
				 "found a header without avro.schema, expected "
				 "avro.schema");
	int rc = avro_schema_read(&schema, &s->arena, h->schema, err);
	if (rc)
		return rc;
	h->least = schema->least;
	h->type = schema;
	if (h->least == 0)
		return error_set(
			err, RC_DATA,
			"found a schema without a field of at least one byte, expected such a "
			"field");
	h->schema = arena_bytes(&s->arena, h->schema);
	return avro_plan_new(&h->plan, &s->arena, schema, &files->columns, err);
}

static int begin(struct source *s, struct cursor *c, size_t file, struct error *err)
{
	struct avro_files *files = s->own;
	struct avro_header h = {0};
	struct bytes codec = {0};
	size_t len;
	int rc;

	while ((rc = parse_header(buf_bytes(&c->rest), &h, &codec, &len)) == RC_END) {
		if (c->eof || c->rest.len > HEAD_MOST)
			return error_set(err, RC_DATA,
					 "%s: truncated: found only the first %zu bytes of the "
					 "header, expected the whole header",
					 c->in.name, c->rest.len);
		rc = cursor_more(c, &c->rest, source_more_bytes(s, c->rest.len), err);
		if (rc)
			return rc;
		h = (struct avro_header){0};
		codec = (struct bytes){0};
	}
	rc = find_codec(codec, &h.codec, err);
	if (rc == RC_OK)
		rc = use_schema(s, &h, err);
	if (rc)
		return error_prefix(err, "%s: ", c->in.name);
	files->header[file] = h;
	files->last = &files->header[file];
	cursor_advance(c, len);
	return RC_OK;
}

/* --- blocks --- */

struct avro_block {
	int64_t events, bytes; /* number of events, and compressed bytes */
	/* bytes before the data, and bytes of the whole block with its sync marker */
	size_t head, all;
};

/*
 * Parse the count and length of a block. Return false if the block is incomplete, or with `*fault`
 * set if the block is damaged.
 */
static bool block_head(struct bytes have, struct avro_block *b, const char **fault)
{
	struct avro_reader r = {.p = have.ptr, .end = have.ptr + have.len};

	*fault = NULL;
	if (!avro_long(&r, &b->events) || !avro_long(&r, &b->bytes)) {
		if (have.len >= 20)
			*fault = "found no valid count and length, expected numbers of at most "
				 "10 bytes each";
		return false;
	}
	if (b->events < 0 || b->bytes < 0 || b->bytes > (INT64_C(1) << 40))
		*fault = "found an impossible count or length, expected numbers that fit the block";
	b->head = (size_t)(r.p - have.ptr);
	b->all = *fault ? 0 : b->head + (size_t)b->bytes + SYNC_BYTES;
	return !*fault;
}

static int whole(struct source *s, struct cursor *c, struct bytes have, struct block_cut *cut,
		 struct error *err)
{
	const struct avro_header *h = &((struct avro_files *)s->own)->header[s->current];
	struct avro_block b;
	const char *fault = NULL;

	(void)c;
	while (cut->len < s->piece_bytes) {
		struct bytes left = bytes_of(have.ptr + cut->len, have.len - cut->len);

		if (!block_head(left, &b, &fault))
			break;
		if ((uint64_t)b.bytes > s->max_row_bytes) {
			if (cut->len > 0) /* the next call reports the fault */
				return RC_OK;
			return error_set(
				err, RC_LIMIT,
				"found a length of %lld bytes, expected at most %llu; raise "
				"source.avro.max_block or --memory (the limit is a quarter of "
				"--memory)",
				(long long)b.bytes, (unsigned long long)s->max_row_bytes);
		}
		if (b.all > left.len)
			break;
		if (memcmp(left.ptr + b.all - SYNC_BYTES, h->sync, SYNC_BYTES) != 0) {
			fault = "damaged: found another sync marker after the block, expected "
				"the header's";
			break;
		}
		cut->len += b.all;
		cut->blocks++;
		cut->events += (uint64_t)b.events;
		cut->ranks += block_ranks(b.all, (uint64_t)b.events);
	}
	if (fault && cut->len == 0)
		return error_set(err, RC_DATA, "%s", fault);
	return RC_OK;
}

static int ended(struct source *s, const struct cursor *c, struct error *err)
{
	(void)s;
	(void)c;
	(void)err;
	return RC_OK;
}

/* --- events --- */

static int bad_event(const struct source_worker *w, const struct block_place *p, uint64_t number,
		     const char *fault, struct error *err)
{
	if (stop_check(err))
		return err->code;
	error_set(err, RC_DATA, "event %llu of %llu: found %s", (unsigned long long)number + 1,
		  (unsigned long long)p->events, fault);
	return blocks_fault(w->source, w->file, p->block, p->offset, err);
}

/* Pass the collected events together. `first` is the number of the first event. */
static int give_events(struct source_worker *w, const struct avro_header *h,
		       const struct block_place *p, uint64_t first, const struct source_sink *sink,
		       struct error *err)
{
	struct avro_worker *own = w->own;
	const struct column *columns;
	const struct bytes *data;
	size_t n = made_count(w->made, &data), took;
	bool taken;
	int rc = made_give(w->made, sink, &taken);

	for (size_t i = 0; !taken && i < n && rc == RC_OK; i++) {
		(void)avro_decode(own->decoder, h->plan, data[i], &columns, &took);
		rc = blocks_take(w, p, first + i, columns, sink, err);
	}
	return rc;
}

static int take_event(struct source_worker *w, const struct avro_header *h,
		      const struct block_place *p, uint64_t i, struct bytes data,
		      const struct column *columns, const struct source_sink *sink,
		      struct error *err)
{
	struct avro_worker *own = w->own;
	int rc = RC_OK;

	if (!own->begun) {
		own->begun = made_begin(w->made, sink, p->event + i + 1, 1);
		own->first = i;
	}
	bool joins = own->begun && made_add(w->made, columns, blocks_seq(p, i), data);
	if (joins && !made_full(w->made) && i + 1 < p->events)
		return RC_OK;
	if (own->begun)
		rc = give_events(w, h, p, own->first, sink, err);
	own->begun = false;
	if (joins || rc != RC_OK)
		return rc;
	size_t took; /* decode again, because the decoder may have decoded other events since */
	(void)avro_decode(own->decoder, h->plan, data, &columns, &took);
	return blocks_take(w, p, i, columns, sink, err);
}

static int take_events(struct source_worker *w, const struct avro_header *h,
		       const struct block_place *p, struct bytes data,
		       const struct source_sink *sink, struct error *err)
{
	struct avro_worker *own = w->own;
	const struct column *columns;
	size_t took;
	int rc = RC_OK;

	own->begun = false;
	if (p->events > data.len / h->least)
		return bad_event(w, p, p->events - 1,
				 "the end of the block, which has too few bytes", err);
	for (uint64_t i = 0; i < p->events && rc == RC_OK; i++) {
		if (stop_flag)
			return stop_check(err);
		const char *fault =
			data.len == 0 ? "the end of the block"
				      : avro_decode(own->decoder, h->plan, data, &columns, &took);

		if (fault)
			return bad_event(w, p, i, fault, err);
		if (sink->event)
			rc = take_event(w, h, p, i, data, columns, sink, err);
		data = bytes_of(data.ptr + took, data.len - took);
	}
	if (rc == RC_OK && data.len > 0)
		return bad_event(w, p, p->events - 1, "bytes after it that belong to no event",
				 err);
	return rc;
}

static int take_block(struct source_worker *w, const struct block_place *p, struct bytes packed,
		      const struct source_sink *sink, struct error *err)
{
	const struct source *s = w->source;
	const struct avro_header *h = &((struct avro_files *)s->own)->header[w->file];
	struct avro_worker *own = w->own;

	if (h->codec == BLOCK_NONE) /* the sync marker provides the spare bytes after the block */
		return take_events(w, h, p, packed, sink, err);
	const char *fault =
		block_unpack(own->unpacker, h->codec, packed, s->max_row_bytes, &own->data);
	if (!fault)
		return take_events(w, h, p, buf_bytes(&own->data), sink, err);
	if (fault == BLOCK_TOO_LARGE)
		error_set(err, RC_LIMIT, "%s (%llu bytes); raise source.avro.max_block or --memory",
			  fault, (unsigned long long)s->max_row_bytes);
	else
		error_set(err, RC_DATA, "%s", fault);
	return blocks_fault(s, w->file, p->block, p->offset, err);
}

static int work(struct source_worker *w, const struct source_sink *sink, uint64_t *rows,
		struct error *err)
{
	struct bytes left = buf_bytes(&w->piece);
	struct block_place place;
	struct avro_block b = {0};
	const char *fault;
	size_t before = 0;
	int rc = RC_OK;

	while (rc == RC_OK && left.len > 0) {
		block_head(left, &b, &fault); /* cannot fail, because whole() has checked it */
		if (before == 0)
			place = blocks_first(w, b.all, (uint64_t)b.events);
		else
			blocks_next(&place, before, b.all, (uint64_t)b.events);
		before = b.all;
		rc = take_block(w, &place, bytes_of(left.ptr + b.head, (size_t)b.bytes), sink, err);
		left = bytes_of(left.ptr + b.all, left.len - b.all);
		*rows += (uint64_t)b.events;
	}
	return rc;
}

static void values(struct source *s, struct schema_values *v)
{
	const struct avro_type *schema = ((struct avro_files *)s->own)->header[0].type;

	if (schema) /* there is no schema if another process read the inputs */
		avro_values(v, schema);
}

static void *worker_new(struct source *s)
{
	struct avro_worker *own = mem_calloc(1, sizeof *own);

	own->decoder = avro_decoder_new(s->ncolumns);
	own->unpacker = block_unpacker_new();
	return own;
}

static void worker_free(void *of)
{
	struct avro_worker *own = of;

	avro_decoder_free(own->decoder);
	block_unpacker_free(own->unpacker);
	buf_release(&own->data);
	mem_free(own);
}

static void close_files(struct source *s)
{
	(void)s; /* the arena of the source owns everything */
}

int avro_open(struct source *s, const struct job *job, struct error *err)
{
	static const struct event_block_format format = {.what = "an Avro file (`Obj\\x01`)",
							 .key = "source.avro",
							 .known = known,
							 .begin = begin,
							 .whole = whole,
							 .ended = ended,
							 .work = work,
							 .values = values,
							 .worker_new = worker_new,
							 .worker_free = worker_free,
							 .close = close_files};
	struct avro_files *files = arena_alloc(&s->arena, sizeof *files);
	int rc = blocks_columns(s, job, err);

	if (rc)
		return rc;
	s->blocks = &format;
	s->own = files;
	files->columns = (struct typed_columns){.job = job,
						.names = s->columns,
						.paths = decoding_paths(s->json)};
	files->header = arena_alloc(&s->arena, (s->nfiles + 1) * sizeof *files->header);
	return RC_OK;
}
