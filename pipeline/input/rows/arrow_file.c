/*
 * arrow_file.c - read Arrow IPC streams, and files, which are a stream followed by a footer
 *
 * One thread at a time cuts the input into record batches, and workers decode them. The cutting
 * thread reads dictionaries. A batch uses the dictionaries before the batch.
 */
#include "input/arrow_batch.h"
#include "blocks.h"
#include "input/input.h"
#include "input/spell.h"

#define FILE_MAGIC "ARROW1"
#define FILE_START 8 /* the magic number and its padding */
#define END_BYTES  8

struct arrow_header {
	struct bytes text; /* bytes of the schema's message */
	struct arrow_schema *schema;
	bool is_file;
};

/*
 * The dictionaries at one position of a file, shared by the workers with batches after that
 * position.
 */
struct snapshot {
	_Atomic unsigned users;
	struct arrow_dictionaries dictionaries;
};

struct arrow_files {
	struct typed_columns columns;
	struct arrow_header *header; /* one per file */
	const struct arrow_header *last;
	/* dictionaries of the current file */
	struct snapshot *now;
	struct arrow_unpacker unpacker; /* decompresses dictionaries */
	bool ended;
	bool known; /* true after the check of the bytes after the end mark */
};

struct arrow_worker {
	struct snapshot *held;
	struct arrow_unpacker unpacker;
	struct arrow_array *arrays;
	struct column *columns; /* columns of EVENT_BATCH rows */
	uint8_t *text;
};

static bool known(struct bytes head)
{
	return (head.len >= FILE_START && memcmp(head.ptr, FILE_MAGIC, 6) == 0) ||
	       (head.len >= 8 && get_le32(head.ptr) == UINT32_MAX);
}

/* --- dictionaries --- */

static void drop_dictionary(struct arrow_dictionary *d)
{
	while (d && atomic_fetch_sub(&d->users, 1) == 1) {
		struct arrow_dictionary *before = d->before;

		for (size_t i = 0; i < d->nowned; i++)
			buf_release(&d->owned[i]);
		mem_free(d->owned);
		arena_release(&d->arena);
		mem_free(d);
		d = before;
	}
}

static void drop_snapshot(struct snapshot *s)
{
	if (!s || atomic_fetch_sub(&s->users, 1) != 1)
		return;
	for (size_t i = 0; i < s->dictionaries.n; i++)
		drop_dictionary(s->dictionaries.item[i]);
	mem_free(s->dictionaries.item);
	mem_free(s);
}

static struct snapshot *new_snapshot(void)
{
	struct snapshot *s = mem_calloc(1, sizeof *s);

	atomic_init(&s->users, 1);
	return s;
}

/*
 * Make a snapshot in which `d` replaces the dictionary with the same id. If `d` is a delta, the new
 * dictionary includes the old values.
 */
static void add_dictionary(struct arrow_files *files, struct arrow_dictionary *d)
{
	const struct arrow_dictionaries *old = &files->now->dictionaries;
	struct snapshot *s = new_snapshot();
	struct arrow_dictionaries *all = &s->dictionaries;

	all->item = mem_calloc(old->n + 1, sizeof *all->item);
	for (size_t i = 0; i < old->n; i++) {
		if (old->item[i]->id == d->id)
			continue;
		atomic_fetch_add(&old->item[i]->users, 1);
		all->item[all->n++] = old->item[i];
	}
	all->item[all->n++] = d;
	drop_snapshot(files->now);
	files->now = s;
}

static struct arrow_dictionary *find_dictionary(const struct arrow_files *files, int64_t id)
{
	const struct arrow_dictionaries *all = &files->now->dictionaries;

	for (size_t i = 0; i < all->n; i++)
		if (all->item[i]->id == id)
			return all->item[i];
	return NULL;
}

static const struct arrow_field *field_of(const struct source *s, int64_t id)
{
	const struct arrow_files *files = s->own;
	const struct arrow_schema *schema = files->header[s->current].schema;

	for (size_t i = 0; i < schema->nwant; i++) {
		const struct arrow_field *f = &schema->field[schema->want[i].field];

		if (f->encoded && f->dictionary == id)
			return f;
	}
	return NULL;
}

static int read_values(struct arrow_files *files, struct arrow_dictionary *d,
		       const struct arrow_field *f, const struct flat_table *data,
		       struct bytes body, struct error *err)
{
	struct arrow_unpacker *u = &files->unpacker;

	/* the dictionary outlives the message, and readers read bytes after its texts */
	d->owned = mem_grow(NULL, 0, sizeof *d->owned);
	d->owned[d->nowned++] = (struct buf){0};
	buf_append(d->owned, body.ptr, body.len);
	buf_reserve(d->owned, BLOCK_SLACK);
	d->owned->len = body.len;
	int rc = arrow_values_open(&d->values, &f->type, data, buf_bytes(d->owned), u, &d->arena,
				   err);
	for (size_t i = 0; i < u->used; i++) {
		d->owned = mem_grow(d->owned, d->nowned, sizeof *d->owned);
		d->owned[d->nowned++] = u->room[i];
		u->room[i] = (struct buf){0};
	}
	u->used = 0;
	return rc;
}

static int take_dictionary(struct source *s, const struct arrow_message *m, struct error *err)
{
	struct arrow_files *files = s->own;
	int64_t id = flat_number(&m->header, 0, 8, 0);
	struct flat_table data = flat_sub(&m->header, 1);
	const struct arrow_field *f = field_of(s, id);
	bool delta = flat_number(&m->header, 2, 1, 0) != 0;

	if (!f) /* no column uses this dictionary */
		return RC_OK;
	struct arrow_dictionary *d = mem_calloc(1, sizeof *d), *before;
	atomic_init(&d->users, 1);
	d->id = id;
	before = delta ? find_dictionary(files, id) : NULL;
	if (before) {
		atomic_fetch_add(&before->users, 1);
		d->before = before;
		d->first = before->first + before->values.n;
	}
	int rc = read_values(files, d, f, &data, m->body, err);
	if (rc) {
		drop_dictionary(d);
		return rc;
	}
	add_dictionary(files, d);
	return RC_OK;
}

/* --- the header --- */

static int use_schema(struct source *s, struct arrow_header *h, const struct arrow_message *m,
		      struct bytes text, struct error *err)
{
	struct arrow_files *files = s->own;

	if (files->last && bytes_eq(files->last->text, text)) {
		h->text = files->last->text;
		h->schema = files->last->schema;
		return RC_OK;
	}
	if (m->kind != MESSAGE_SCHEMA)
		return error_set(err, RC_DATA,
				 "found another message first, expected the schema "
				 "in the first message");
	h->schema = arena_alloc(&s->arena, sizeof *h->schema);
	h->text = arena_bytes(&s->arena, text);
	int rc = arrow_schema_read(h->schema, &s->arena, &m->header, err);
	return rc ? rc : arrow_schema_bind(h->schema, &s->arena, &files->columns, err);
}

/* Read the schema's message. Return RC_END if `c->rest` contains only a part of the message. */
static int read_schema(struct source *s, struct cursor *c, struct arrow_header *h, size_t *len,
		       struct error *err)
{
	struct arrow_message m;
	size_t start = h->is_file ? FILE_START : 0;
	struct bytes have = bytes_of(c->rest.ptr + start, c->rest.len - start);
	int rc = arrow_message_read(&m, have, err);

	if (rc)
		return rc;
	*len = start + (size_t)m.bytes;
	return use_schema(s, h, &m, bytes_of(have.ptr, (size_t)m.bytes), err);
}

static int begin(struct source *s, struct cursor *c, size_t file, struct error *err)
{
	struct arrow_files *files = s->own;
	struct arrow_header h = {.is_file = memcmp(c->rest.ptr, FILE_MAGIC, 6) == 0};
	size_t len = 0;
	int rc;

	while ((rc = read_schema(s, c, &h, &len, err)) == RC_END) {
		if (c->eof || c->rest.len > s->max_row_bytes)
			return error_set(err, RC_DATA,
					 "%s: truncated: found only the first %zu bytes of the "
					 "schema, expected the whole schema",
					 c->in.name, c->rest.len);
		rc = cursor_more(c, &c->rest, source_more_bytes(s, c->rest.len), err);
		if (rc)
			return rc;
	}
	if (rc)
		return error_prefix(err, "%s: ", c->in.name);
	files->header[file] = h;
	files->last = &files->header[file];
	drop_snapshot(files->now);
	files->now = new_snapshot();
	files->ended = files->known = false;
	cursor_advance(c, len);
	return RC_OK;
}

/* --- batches --- */

/* Compare the number of batches with the footer after the end of a file's stream. */
static int check_footer(const struct cursor *c, struct bytes have, struct error *err)
{
	struct flat flat = {0};

	if (have.len < 10 || memcmp(have.ptr + have.len - 6, FILE_MAGIC, 6) != 0)
		return error_set(err, RC_DATA,
				 "truncated: found other bytes at the file's end, "
				 "expected `ARROW1`");
	uint64_t len = get_le32(have.ptr + have.len - 10);
	if (len > have.len - 10)
		return error_set(err, RC_DATA,
				 "found a footer longer than the bytes after the data, expected "
				 "a footer that fits");
	flat.data = bytes_of(have.ptr + have.len - 10 - len, (size_t)len);
	struct flat_table footer = flat_root(&flat);
	size_t batches = flat_vector(&footer, 3, 24).n;
	if (flat.bad || batches != c->blocks)
		return error_set(err, RC_DATA,
				 "found %llu record batches, expected the footer's %zu",
				 (unsigned long long)c->blocks, batches);
	return RC_OK;
}

static int behind_end(struct source *s, const struct cursor *c, struct bytes have,
		      struct block_cut *cut, struct error *err)
{
	struct arrow_files *files = s->own;
	bool is_file = files->header[s->current].is_file;

	if (!is_file)
		return error_set(err, RC_DATA,
				 "found %zu bytes after the end of the stream, "
				 "expected none",
				 have.len);
	if (!c->eof)
		return RC_OK;
	files->known = true;
	cut->aside = have.len;
	return check_footer(c, have, err);
}

static int whole(struct source *s, struct cursor *c, struct bytes have, struct block_cut *cut,
		 struct error *err)
{
	struct arrow_files *files = s->own;
	struct arrow_message m;

	if (files->ended)
		return behind_end(s, c, have, cut, err);
	while (cut->len < s->piece_bytes) {
		struct bytes left = bytes_of(have.ptr + cut->len, have.len - cut->len);
		int rc = arrow_message_read(&m, left, err);

		if (rc == RC_END && m.bytes <= s->max_row_bytes) {
			cut->missing = m.bytes > left.len ? m.bytes - left.len : 0;
			return RC_OK;
		}
		if (rc == RC_END)
			rc = error_set(err, RC_LIMIT,
				       "found a message of %llu bytes, expected at most %llu; "
				       "raise source.arrow.max_block or --memory (the limit is a "
				       "quarter of --memory)",
				       (unsigned long long)m.bytes,
				       (unsigned long long)s->max_row_bytes);
		if (rc == RC_OK && m.kind == MESSAGE_SCHEMA)
			rc = error_set(err, RC_DATA, "found a second schema, expected one");
		if (cut->len > 0 && (rc != RC_OK || m.kind != MESSAGE_BATCH))
			return RC_OK; /* the next call handles this message or error */
		if (rc)
			return rc;
		if (m.kind != MESSAGE_BATCH) {
			files->ended = m.kind == MESSAGE_END;
			cut->aside = (size_t)m.bytes;
			return files->ended ? RC_OK : take_dictionary(s, &m, err);
		}
		int64_t rows = flat_number(&m.header, 0, 8, 0);
		cut->len += (size_t)m.bytes;
		cut->blocks++;
		cut->events += rows > 0 ? (uint64_t)rows : 0;
		cut->ranks += block_ranks(m.bytes, rows > 0 ? (uint64_t)rows : 0);
	}
	return RC_OK;
}

static int ended(struct source *s, const struct cursor *c, struct error *err)
{
	const struct arrow_files *files = s->own;

	if (files->ended && (files->known || !files->header[s->current].is_file))
		return RC_OK;
	return error_set(
		err, RC_DATA,
		"%s: truncated: found no end mark after record batch %llu (byte %llu), so its "
		"writer may have died; write the file again",
		c->in.name, (unsigned long long)c->blocks, (unsigned long long)c->offset);
}

/* Pass the current dictionaries to the worker of a piece. */
static void taken(struct source *s, struct source_worker *w)
{
	struct arrow_files *files = s->own;
	struct arrow_worker *own = w->own;

	drop_snapshot(own->held);
	own->held = files->now;
	atomic_fetch_add(&own->held->users, 1);
}

/* --- events --- */

/*
 * Fill a column for many rows with numbers or with texts. Also fill unused columns, so that both
 * paths reject a damaged batch.
 */
static bool fill_column(struct source_worker *w, size_t i, enum typed_as as, uint64_t from,
			size_t n)
{
	struct arrow_worker *own = w->own;
	const struct arrow_array *array = &own->arrays[i];
	uint64_t *numbers = made_numbers(w->made, i);

	if (numbers && arrow_numbers(array, as, from, n, numbers))
		made_numbers_put(w->made, i);
	bool text = made_needs_text(w->made, i);
	if (!text && arrow_always_sound(array))
		return true;
	if (text && arrow_shorts(array, from, n, made_shorts(w->made, i))) {
		made_shorts_put(w->made, i);
		return true;
	}
	return !arrow_texts(array, as, from, n, own->columns + i * EVENT_BATCH, 1,
			    own->text + i * EVENT_BATCH * SPELL_BYTES);
}

static bool fill_columns(struct source_worker *w, uint64_t from, size_t n)
{
	const struct source *s = w->source;
	const struct arrow_files *files = s->own;
	const struct arrow_want *want = files->header[w->file].schema->want;

	for (size_t i = 0; i < s->ncolumns; i++)
		if (!fill_column(w, i, want[i].as, from, n))
			return false;
	return true;
}

/*
 * Pass many rows at once. Set `*taken` to true if the sink took all rows, to false if it took none.
 */
static int take_together(struct source_worker *w, const struct block_place *p, uint64_t from,
			 size_t n, const struct source_sink *sink, bool *taken)
{
	struct arrow_worker *own = w->own;

	*taken = false;
	if (!made_begin(w->made, sink, p->event + from + 1, n) || !fill_columns(w, from, n))
		return RC_OK;
	return made_give_columns(w->made, own->columns, n, blocks_seq(p, from),
				 p->ranks / p->events, sink, taken);
}

/* Return the first row from `from` on whose value in column `i` is faulty. One of them is. */
static uint64_t faulty_row(const struct source_worker *w, size_t i, uint64_t from)
{
	const struct arrow_files *files = w->source->own;
	const struct arrow_worker *own = w->own;
	enum typed_as as = files->header[w->file].schema->want[i].as;

	while (!arrow_texts(&own->arrays[i], as, from, 1, own->columns, 1, own->text))
		from++;
	return from;
}

static int take_window(struct source_worker *w, const struct block_place *p, uint64_t from,
		       size_t n, const struct source_sink *sink, struct error *err)
{
	const struct source *s = w->source;
	const struct arrow_files *files = s->own;
	const struct arrow_schema *schema = files->header[w->file].schema;
	struct arrow_worker *own = w->own;
	bool taken;
	int rc = take_together(w, p, from, n, sink, &taken);

	for (size_t i = 0; !taken && rc == RC_OK && i < s->ncolumns; i++) {
		uint8_t *text = own->text + i * EVENT_BATCH * SPELL_BYTES;
		const char *fault = arrow_texts(&own->arrays[i], schema->want[i].as, from, n,
						own->columns + i, s->ncolumns, text);

		if (fault)
			return error_set(err, RC_DATA,
					 "column `%s`, row %llu of the block: found %s",
					 s->columns[i],
					 (unsigned long long)faulty_row(w, i, from) + 1, fault);
	}
	for (size_t k = 0; !taken && sink->event && k < n && rc == RC_OK; k++)
		rc = blocks_take(w, p, from + k, own->columns + k * s->ncolumns, sink, err);
	return rc;
}

static int take_batch(struct source_worker *w, const struct block_place *p,
		      const struct arrow_message *m, const struct source_sink *sink,
		      struct error *err)
{
	const struct arrow_files *files = w->source->own;
	struct arrow_worker *own = w->own;
	struct arena arena = {0};
	uint64_t rows;
	int rc = arrow_batch_open(own->arrays, &rows, files->header[w->file].schema, &m->header,
				  m->body, &own->held->dictionaries, &own->unpacker, &arena, err);

	if (rc)
		blocks_fault(w->source, w->file, p->block, p->offset, err);
	for (uint64_t at = 0; rc == RC_OK && at < rows; at += EVENT_BATCH) {
		size_t n = rows - at < EVENT_BATCH ? (size_t)(rows - at) : EVENT_BATCH;

		err->code = RC_OK;
		rc = take_window(w, p, at, n, sink, err);
		if (rc == RC_DATA && err->code == RC_DATA)
			blocks_fault(w->source, w->file, p->block, p->offset, err);
	}
	arena_release(&arena);
	return rc;
}

static int work(struct source_worker *w, const struct source_sink *sink, uint64_t *rows,
		struct error *err)
{
	struct bytes left = buf_bytes(&w->piece);
	struct block_place place;
	struct arrow_message m;
	size_t before = 0;
	int rc = RC_OK;

	while (rc == RC_OK && left.len > 0) {
		rc = arrow_message_read(&m, left, err); /* whole() has checked the message */
		if (rc)
			return rc;
		int64_t length = flat_number(&m.header, 0, 8, 0);
		uint64_t events = length > 0 ? (uint64_t)length : 0;
		if (before == 0)
			place = blocks_first(w, (size_t)m.bytes, events);
		else
			blocks_next(&place, before, (size_t)m.bytes, events);
		before = (size_t)m.bytes;
		rc = take_batch(w, &place, &m, sink, err);
		left = bytes_of(left.ptr + m.bytes, left.len - (size_t)m.bytes);
		*rows += events;
	}
	return rc;
}

static void unpacker_open(struct source *s, struct arrow_unpacker *u)
{
	u->codec = block_unpacker_new();
	u->most = s->max_row_bytes;
}

static void unpacker_close(struct arrow_unpacker *u)
{
	for (size_t i = 0; i < u->nroom; i++)
		buf_release(&u->room[i]);
	mem_free(u->room);
	block_unpacker_free(u->codec);
}

static void values(struct source *s, struct schema_values *v)
{
	const struct arrow_schema *schema = ((struct arrow_files *)s->own)->header[0].schema;

	if (schema) /* there is no schema if another process read the inputs */
		arrow_values(v, schema);
}

static void *worker_new(struct source *s)
{
	struct arrow_worker *own = mem_calloc(1, sizeof *own);
	size_t cells = (s->ncolumns + 1) * EVENT_BATCH;

	unpacker_open(s, &own->unpacker);
	own->arrays = mem_calloc(s->ncolumns + 1, sizeof *own->arrays);
	own->columns = mem_calloc(cells, sizeof *own->columns);
	own->text = mem_calloc(cells, SPELL_BYTES);
	return own;
}

static void worker_free(void *of)
{
	struct arrow_worker *own = of;

	drop_snapshot(own->held);
	unpacker_close(&own->unpacker);
	mem_free(own->arrays);
	mem_free(own->columns);
	mem_free(own->text);
	mem_free(own);
}

static void close_files(struct source *s)
{
	struct arrow_files *files = s->own;

	drop_snapshot(files->now);
	unpacker_close(&files->unpacker);
}

int arrow_open(struct source *s, const struct job *job, struct error *err)
{
	static const struct event_block_format format = {
		.what = "an Arrow stream (FF FF FF FF) or file (`ARROW1`)",
		.key = "source.arrow",
		.known = known,
		.begin = begin,
		.whole = whole,
		.ended = ended,
		.taken = taken,
		.work = work,
		.values = values,
		.worker_new = worker_new,
		.worker_free = worker_free,
		.close = close_files};
	struct arrow_files *files = arena_alloc(&s->arena, sizeof *files);
	int rc = blocks_columns(s, job, err);

	if (rc)
		return rc;
	s->blocks = &format;
	s->own = files;
	unpacker_open(s, &files->unpacker);
	files->columns = (struct typed_columns){.job = job,
						.names = s->columns,
						.paths = decoding_paths(s->json)};
	files->header = arena_alloc(&s->arena, (s->nfiles + 1) * sizeof *files->header);
	return RC_OK;
}
