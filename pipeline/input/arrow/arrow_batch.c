/*
 * arrow_batch.c - find the buffers of a record batch and check their sizes
 *
 * Each field takes as many nodes and buffers as its type has, in the order of the schema. The
 * reader skips buffers of unused fields.
 */
#include "input/arrow_batch.h"

#define NODE_BYTES   16
#define BUFFER_BYTES 16

enum { HEADER_SCHEMA = 1, HEADER_DICTIONARY = 2, HEADER_BATCH = 3 };

int arrow_message_read(struct arrow_message *m, struct bytes have, struct error *err)
{
	*m = (struct arrow_message){.kind = MESSAGE_END};
	if (have.len < 8)
		return RC_END;
	if (get_le32(have.ptr) != UINT32_MAX)
		return error_set(
			err, RC_DATA,
			"found bytes that are not a message, expected FF FF FF FF; saltmill "
			"does not read the format of Arrow before 0.15");
	uint64_t head = get_le32(have.ptr + 4);
	m->bytes = 8 + head;
	if (head == 0)
		return RC_OK;
	if (head > INT32_MAX)
		return error_set(err, RC_DATA,
				 "found message metadata of %llu bytes, expected "
				 "at most 2147483647 bytes",
				 (unsigned long long)head);
	if (have.len < m->bytes)
		return RC_END;
	m->flat.data = bytes_of(have.ptr + 8, (size_t)head);
	struct flat_table root = flat_root(&m->flat);
	int64_t version = flat_number(&root, 0, 2, 0), kind = flat_number(&root, 1, 1, 0);
	int64_t body = flat_number(&root, 3, 8, 0);
	m->header = flat_sub(&root, 2);
	if (m->flat.bad || !m->header.flat || body < 0 || body > (INT64_C(1) << 40))
		return error_set(err, RC_DATA, "found damaged metadata; write the file again");
	if (version < 3 || version > 4)
		return error_set(err, RC_DATA,
				 "found metadata of version %lld, expected version "
				 "4 or 5",
				 (long long)version + 1);
	if (kind < HEADER_SCHEMA || kind > HEADER_BATCH)
		return error_set(err, RC_DATA,
				 "found a message of kind %lld, expected a schema, a dictionary or "
				 "a record batch",
				 (long long)kind);
	m->kind = kind == HEADER_SCHEMA	      ? MESSAGE_SCHEMA
		  : kind == HEADER_DICTIONARY ? MESSAGE_DICTIONARY
					      : MESSAGE_BATCH;
	m->bytes += (uint64_t)body;
	if (have.len < m->bytes)
		return RC_END;
	m->body = bytes_of(have.ptr + 8 + head, (size_t)body);
	return RC_OK;
}

/* --- buffers --- */

struct batch_layout {
	struct flat_vector nodes, buffers, views;
	size_t node, buffer, view; /* indexes for the next field */
	struct bytes body;
	enum block_codec codec;
	struct arrow_unpacker *unpacker;
	struct arena *arena;
	struct error *err;
};

static int open_layout(struct batch_layout *l, const struct flat_table *batch, uint64_t *rows)
{
	struct flat_table packing = flat_sub(batch, 3);
	int64_t n = flat_number(batch, 0, 8, 0), codec = flat_number(&packing, 0, 1, 0);

	l->nodes = flat_vector(batch, 1, NODE_BYTES);
	l->buffers = flat_vector(batch, 2, BUFFER_BYTES);
	l->views = flat_vector(batch, 4, 8);
	if (!batch->flat || batch->flat->bad || n < 0)
		return error_set(l->err, RC_DATA, "found damaged metadata; write the file again");
	if (packing.flat && (codec < 0 || codec > 1 || flat_number(&packing, 1, 1, 0) != 0))
		return error_set(l->err, RC_DATA,
				 "found another codec for the buffers, expected lz4 or zstd");
	l->codec = !packing.flat ? BLOCK_NONE : codec == 0 ? BLOCK_LZ4_FRAME : BLOCK_ZSTD;
	l->unpacker->used = 0;
	l->unpacker->left = l->unpacker->most;
	*rows = (uint64_t)n;
	/* each row takes at least one bit */
	if (*rows / 8 > l->body.len * (l->codec ? 1024 : 1))
		return error_set(l->err, RC_DATA,
				 "found %llu rows in %zu bytes, expected at "
				 "least one bit per row",
				 (unsigned long long)*rows, l->body.len);
	return RC_OK;
}

/* Return a buffer that stays valid as long as the batch. */
static struct buf *next_room(struct arrow_unpacker *u)
{
	if (u->used == u->nroom) {
		u->room = mem_grow(u->room, u->nroom, sizeof *u->room);
		u->room[u->nroom++] = (struct buf){0};
	}
	return &u->room[u->used++];
}

static int unpack_buffer(struct batch_layout *l, struct bytes *data)
{
	struct arrow_unpacker *u = l->unpacker;

	if (data->len == 0)
		return RC_OK;
	if (data->len < 8)
		return error_set(l->err, RC_DATA,
				 "found a compressed buffer of %zu bytes, "
				 "expected at least 8 bytes",
				 data->len);
	int64_t plain = (int64_t)get_le64(data->ptr);
	*data = bytes_of(data->ptr + 8, data->len - 8);
	if (plain == -1)
		return RC_OK;
	if (plain < 0 || (uint64_t)plain > u->left)
		return error_set(l->err, RC_LIMIT,
				 "found more than %llu decompressed bytes, expected at most this "
				 "limit; raise source.arrow.max_block or --memory",
				 (unsigned long long)u->most);
	struct buf *room = next_room(u);
	const char *fault = block_unpack(u->codec, l->codec, *data, (uint64_t)plain, room);
	if (!fault && room->len != (size_t)plain)
		fault = "found a compressed buffer with another length than stored, expected the "
			"stored length";
	if (fault)
		return error_set(l->err, RC_DATA, "%s", fault);
	u->left -= (uint64_t)plain;
	*data = buf_bytes(room);
	return RC_OK;
}

static int take_buffer(struct batch_layout *l, size_t i, struct bytes *data)
{
	if (i >= l->buffers.n)
		return error_set(l->err, RC_DATA,
				 "found too few buffers in a batch, expected "
				 "all buffers of the schema");
	const uint8_t *p = l->buffers.ptr + i * BUFFER_BYTES;
	int64_t at = (int64_t)get_le64(p), len = (int64_t)get_le64(p + 8);
	if (at < 0 || len < 0 || (uint64_t)at > l->body.len ||
	    (uint64_t)len > l->body.len - (uint64_t)at)
		return error_set(l->err, RC_DATA,
				 "found buffer %zu beyond the batch, expected a "
				 "buffer within the batch's %zu bytes",
				 i + 1, l->body.len);
	*data = bytes_of(l->body.ptr + at, (size_t)len);
	return l->codec ? unpack_buffer(l, data) : RC_OK;
}

static int too_short(struct batch_layout *l, const struct arrow_type *t, const char *what,
		     uint64_t n, size_t found)
{
	return error_set(l->err, RC_DATA,
			 "a column of type %s has too few %s for %llu rows; found %zu bytes",
			 arrow_kind_name(t->kind), what, (unsigned long long)n, found);
}

static bool is_view(enum arrow_kind kind)
{
	return kind == ARROW_UTF8_VIEW || kind == ARROW_BINARY_VIEW;
}

static size_t offset_bytes(enum arrow_kind kind)
{
	return kind == ARROW_UTF8 || kind == ARROW_BINARY		? 4
	       : kind == ARROW_LARGE_UTF8 || kind == ARROW_LARGE_BINARY ? 8
									: 0;
}

/* Return true if `data` has at least `n` fixed-width values. */
static bool holds(struct bytes data, uint64_t n, const struct arrow_type *t)
{
	if (t->kind == ARROW_BOOL)
		return n / 8 + (n % 8 != 0) <= data.len;
	size_t each = is_view(t->kind) ? 16 : t->bytes;
	return each == 0 || n <= data.len / each;
}

static int take_views(struct batch_layout *l, struct arrow_array *a, size_t first, size_t n)
{
	a->nviews = n;
	a->views = arena_alloc(l->arena, (n + 1) * sizeof *a->views);
	for (size_t i = 0; i < n; i++) {
		int rc = take_buffer(l, first + i, &a->views[i]);

		if (rc)
			return rc;
	}
	return RC_OK;
}

/*
 * Read the validity bitmap. Without a bitmap no value is null. Ignore null_count, because it is
 * untrusted.
 */
static int take_valid(struct batch_layout *l, struct arrow_array *a, size_t buffer)
{
	struct bytes bits;
	int rc = take_buffer(l, buffer, &bits);

	if (rc != RC_OK || bits.len == 0)
		return rc;
	if (a->n / 8 + (a->n % 8 != 0) > bits.len)
		return too_short(l, a->type, "validity bits", a->n, bits.len);
	a->valid = bits.ptr;
	return RC_OK;
}

static int take_array(struct batch_layout *l, struct arrow_array *a, size_t buffer, size_t nviews)
{
	const struct arrow_type *t = a->type;
	size_t width = offset_bytes(t->kind);

	a->data = bytes_of("", 0); /* an array of empty values also needs an address */
	if (t->nbuffers == 0 || a->n == 0)
		return RC_OK;
	int rc = take_valid(l, a, buffer);
	if (rc == RC_OK && width > 0) {
		rc = take_buffer(l, buffer + 1, &a->offsets);
		if (rc == RC_OK && a->n >= a->offsets.len / width)
			return too_short(l, t, "offsets", a->n, a->offsets.len);
	}
	if (rc == RC_OK)
		rc = take_buffer(l, buffer + 1 + (width > 0), &a->data);
	if (rc == RC_OK && width == 0 && !holds(a->data, a->n, t))
		return too_short(l, t, "values", a->n, a->data.len);
	return rc == RC_OK && is_view(t->kind) ? take_views(l, a, buffer + 2, nviews) : rc;
}

static int next_field(struct batch_layout *l, const struct arrow_type *t, uint64_t *n,
		      size_t *buffer, size_t *nviews)
{
	if (l->node >= l->nodes.n)
		return error_set(l->err, RC_DATA,
				 "found fewer columns than in the schema, "
				 "expected all columns");
	int64_t length = (int64_t)get_le64(l->nodes.ptr + NODE_BYTES * l->node++);
	if (length < 0)
		return error_set(l->err, RC_DATA,
				 "found a column with a negative number of "
				 "rows, expected at least 0 rows");
	*n = (uint64_t)length;
	*buffer = l->buffer;
	*nviews = 0;
	l->buffer += t->nbuffers;
	if (!is_view(t->kind))
		return RC_OK;
	uint64_t views = l->view < l->views.n ? get_le64(l->views.ptr + 8 * l->view++) : UINT64_MAX;
	if (views > ARROW_MOST_VIEWS)
		return error_set(
			l->err, RC_DATA,
			"found a column of views without a valid count of buffers, expected 0 to "
			"%d buffers",
			ARROW_MOST_VIEWS);
	*nviews = (size_t)views;
	l->buffer += *nviews;
	return RC_OK;
}

/* --- columns --- */

struct standing {
	uint64_t n;
	size_t buffer, nviews;
};

static const struct arrow_type *stored(const struct arrow_field *f)
{
	return f->encoded ? &f->index : &f->type;
}

static int take_above(struct batch_layout *l, const struct arrow_schema *s,
		      const struct standing *places, size_t field, struct arrow_array *a)
{
	size_t n = 0;

	for (size_t p = s->field[field].parent; p != NO_PARENT; p = s->field[p].parent)
		n++;
	a->above = arena_alloc(l->arena, (n + 1) * sizeof *a->above);
	for (size_t p = s->field[field].parent; p != NO_PARENT; p = s->field[p].parent) {
		struct arrow_array around = {.type = &s->field[p].type, .n = a->n};
		int rc = take_valid(l, &around, places[p].buffer);

		if (rc)
			return rc;
		if (around.valid)
			a->above[a->nabove++] = around.valid;
	}
	return RC_OK;
}

static int take_column(struct batch_layout *l, const struct arrow_schema *s,
		       const struct standing *places, size_t field,
		       const struct arrow_dictionaries *d, struct arrow_array *a)
{
	const struct arrow_field *f = &s->field[field];

	*a = (struct arrow_array){.type = stored(f), .n = places[field].n};
	int rc = take_array(l, a, places[field].buffer, places[field].nviews);
	if (rc == RC_OK)
		rc = take_above(l, s, places, field, a);
	if (rc != RC_OK || !f->encoded)
		return rc;
	for (size_t i = 0; i < d->n; i++)
		if (d->item[i]->id == f->dictionary)
			a->dictionary = d->item[i];
	if (!a->dictionary)
		return error_set(l->err, RC_DATA,
				 "found no dictionary %lld, expected it before "
				 "this batch",
				 (long long)f->dictionary);
	return RC_OK;
}

int arrow_batch_open(struct arrow_array *arrays, uint64_t *rows, const struct arrow_schema *schema,
		     const struct flat_table *batch, struct bytes body,
		     const struct arrow_dictionaries *dictionaries, struct arrow_unpacker *u,
		     struct arena *a, struct error *err)
{
	struct batch_layout l = {.body = body, .unpacker = u, .arena = a, .err = err};
	struct standing *places = arena_alloc(a, (schema->nfields + 1) * sizeof *places);
	int rc = open_layout(&l, batch, rows);

	for (size_t i = 0; rc == RC_OK && i < schema->nfields; i++) {
		struct standing *p = &places[i];

		rc = next_field(&l, stored(&schema->field[i]), &p->n, &p->buffer, &p->nviews);
	}
	for (size_t i = 0; rc == RC_OK && i < schema->nwant; i++) {
		rc = take_column(&l, schema, places, schema->want[i].field, dictionaries,
				 &arrays[i]);
		if (rc == RC_OK && arrays[i].n != *rows)
			rc = error_set(err, RC_DATA,
				       "found a column of %llu rows, expected %llu rows as in "
				       "the batch",
				       (unsigned long long)arrays[i].n, (unsigned long long)*rows);
	}
	return rc;
}

int arrow_values_open(struct arrow_array *array, const struct arrow_type *type,
		      const struct flat_table *batch, struct bytes body, struct arrow_unpacker *u,
		      struct arena *a, struct error *err)
{
	struct batch_layout l = {.body = body, .unpacker = u, .arena = a, .err = err};
	struct standing p = {0};
	uint64_t rows;
	int rc = open_layout(&l, batch, &rows);

	if (rc == RC_OK)
		rc = next_field(&l, type, &p.n, &p.buffer, &p.nviews);
	if (rc)
		return rc;
	*array = (struct arrow_array){.type = type, .n = p.n};
	return take_array(&l, array, p.buffer, p.nviews);
}
