/*
 * cut.c - records in order -> rows -> cells -> files
 *
 * Most rows are one event.  Such a row is written straight from its record; only when the next
 * record has the same key are records gathered (gather.c), and only a row larger than memory
 * allows is sorted by a sorter of its own (giant.c).
 */
#include "cut.h"

#include "files.h"
#include "gather.h"
#include "giant.h"
#include "mem.h"
#include "pool.h"

#define GATHER_BYTES (8u << 20)
#define UNCOUNTED_CELLS 4096
#define HELD_BYTES 512
/* A writer beside its file buffer: blocks, index, bloom chunk; and a thread's codec. */
#define WRITER_BYTES (384u << 10)
#define BLOOM_BYTES (1u << 20)
#define CODEC_BYTES (2u << 20)

/* A copy of a record that may be the only one of its key. */
struct held {
	struct record record;
	uint8_t bytes[HELD_BYTES + HFILE_ROOM_BYTES]; /* key, minor, payload */
};

struct cutter {
	struct hfile_scratch *scratch;
	struct gather row;       /* the records of the current row key */
	struct cell *cells;
	size_t cells_cap;
};

/* One region being cut. */
struct cutting {
	struct cutter *c;
	const struct cut_table *t;
	struct region_files files;
	struct cut_result *out;
	size_t minor_bytes, most;      /* cells of a record */
	uint64_t gather_bytes;
	uint64_t counted;              /* cells of the current row, once there may be many */
	bool may_hold;
	struct held held;
};

struct cutter *cutter_new(void)
{
	struct cutter *c = mem_calloc(1, sizeof *c);
	c->scratch = hfile_scratch_new();
	return c;
}

void cutter_free(struct cutter *c)
{
	if (!c)
		return;
	hfile_scratch_free(c->scratch);
	gather_release(&c->row);
	mem_free(c->cells);
	mem_free(c);
}

uint64_t cut_memory(const struct cut_table *t)
{
	uint64_t file = t->file_buffer_bytes ? t->file_buffer_bytes : 256u << 10, sum = 0;
	for (size_t i = 0; i < t->table->schema.nfamilies; i++) {
		const struct family *f = &t->table->schema.families[i];
		sum += file + WRITER_BYTES + 3 * (uint64_t)f->block_bytes;
		sum += f->bloom == BLOOM_NONE ? 0 : BLOOM_BYTES;
	}
	return sum + CODEC_BYTES + 2 * (t->gather_bytes ? t->gather_bytes : GATHER_BYTES);
}

void cut_result_release(struct cut_result *r)
{
	for (size_t i = 0; i < r->nfiles; i++)
		hfile_summary_release(&r->files[i].sum);
	mem_free(r->files);
	*r = (struct cut_result){0};
}

static int emit_cell(void *ctx, const struct cell *c, struct error *err)
{
	return region_files_add(ctx, c, 1, err);
}

static struct bytes row_key(const struct gather *g)
{
	return bytes_of(g->bytes.ptr + g->records[0].key_at, g->records[0].key_len);
}

/* A row of one event whose cells come in order by themselves. */
static inline int write_single(struct cutting *k, const struct record *r, struct bytes room,
			       struct error *err)
{
	size_t n = row_cells(k->t->plan, k->t->index, r, k->c->cells);
	k->out->loaded++;
	return region_files_add_row(&k->files, k->c->cells, n, room, err);
}

static int write_held(struct cutting *k, struct error *err)
{
	int rc = write_single(k, &k->held.record, bytes_of(k->held.bytes, HELD_BYTES), err);
	if (rc)
		return rc;
	k->out->rows++;
	return region_files_row_end(&k->files, err);
}

static int write_gathered(struct cutting *k, struct error *err)
{
	const struct gather *g = &k->c->row;
	if (g->nrecords > 1 || !k->may_hold)
		return gather_emit(&k->c->row, k->t, emit_cell, &k->files, k->out, err);
	buf_reserve(&k->c->row.bytes, HFILE_ROOM_BYTES); /* may move it */
	struct record r = {
		.key = row_key(g),
		.minor = g->bytes.ptr + g->records[0].minor_at,
		.payload = bytes_of(g->bytes.ptr + g->records[0].payload_at, g->records[0].payload_len),
		.seq = g->records[0].seq,
	};
	return write_single(k, &r, buf_bytes(&g->bytes), err);
}

static int write_row(struct cutting *k, struct error *err)
{
	struct gather *g = &k->c->row;
	int rc = write_gathered(k, err);
	if (rc)
		return rc;
	k->out->rows++;
	if (g->bytes.cap > 2 * k->gather_bytes)
		gather_release(g); /* a large value went by */
	gather_reset(g);
	return region_files_row_end(&k->files, err);
}

/* The gathered row is too large: forget the copies, write it from the runs, skip its records. */
static int write_giant(struct cutting *k, struct record_iter *rows, struct record *r, int *more,
		       struct error *err)
{
	struct gather *g = &k->c->row;
	struct buf key = {0};
	struct bytes first = row_key(g);
	buf_append(&key, first.ptr, first.len);
	gather_release(g);
	int rc = giant_row(k->t, buf_bytes(&key), emit_cell, &k->files, k->out, err);
	while (rc == RC_OK && (*more = rows->next(rows->self, r, err)) == RC_OK)
		if (!bytes_eq(r->key, buf_bytes(&key)))
			break;
	buf_release(&key);
	if (rc)
		return rc;
	k->out->rows++;
	return *more < 0 ? *more : region_files_row_end(&k->files, err);
}

/* Copy a record; false: with it the row takes more memory than it may. */
static bool gather(struct cutting *k, const struct record *r)
{
	struct gather *g = &k->c->row;
	if (g->nrecords == 0)
		k->counted = 0;
	gather_add(g, r, k->minor_bytes);
	if (g->nrecords > 1 && g->nrecords * k->most > UNCOUNTED_CELLS)
		k->counted += row_cells(k->t->plan, k->t->index, r, k->c->cells);
	return gather_memory(g, k->counted) <= k->gather_bytes;
}

/* Copy the first record of a row; false: it is too large, or needs more than row_cells. */
static inline bool hold(struct cutting *k, const struct record *r)
{
	struct held *h = &k->held;
	if (!k->may_hold || k->c->row.nrecords ||
	    r->key.len + k->minor_bytes + r->payload.len > HELD_BYTES)
		return false;
	uint8_t *minor = h->bytes + r->key.len, *payload = minor + k->minor_bytes;
	copy_short(h->bytes, r->key.ptr, r->key.len);
	copy_short(minor, r->minor, k->minor_bytes);
	copy_short(payload, r->payload.ptr, r->payload.len);
	h->record.key = bytes_of(h->bytes, r->key.len);
	h->record.minor = minor;
	h->record.payload = bytes_of(payload, r->payload.len);
	h->record.seq = r->seq;
	return true;
}

static int cut_rows(struct cutting *k, struct record_iter *rows, struct error *err)
{
	struct gather *g = &k->c->row;
	struct record r;
	int more = rows->next(rows->self, &r, err), rc = RC_OK;
	for (uint64_t n = 0; more == RC_OK && rc == RC_OK; n++) {
		if ((n & 0xffff) == 0 && (rc = stop_check(err)) != RC_OK)
			break;
		bool held = hold(k, &r), fits = held || gather(k, &r);
		struct bytes key = held ? k->held.record.key : row_key(g);
		more = rows->next(rows->self, &r, err);
		if (more < 0)
			rc = more;
		else if (more != RC_OK || r.new_key || !bytes_eq(r.key, key))
			rc = held ? write_held(k, err) : write_row(k, err);
		else if (!(held ? gather(k, &k->held.record) : fits))
			rc = write_giant(k, rows, &r, &more, err);
	}
	return rc ? rc : more < 0 ? more : RC_OK;
}

int cut_region(struct cutter *c, const struct cut_table *t, size_t region,
	       struct record_iter *rows, struct cut_result *out, struct error *err)
{
	*out = (struct cut_result){0};
	struct cutting k = {
		.c = c,
		.t = t,
		.out = out,
		.minor_bytes = row_minor_bytes(t->plan, t->index),
		.most = row_max_cells(t->plan, t->index),
		.gather_bytes = t->gather_bytes ? t->gather_bytes : GATHER_BYTES,
	};
	if (k.most > c->cells_cap) {
		c->cells = mem_realloc(c->cells, k.most * sizeof *c->cells);
		c->cells_cap = k.most;
	}
	gather_reset(&c->row);
	region_files_init(&k.files, t, region, c->scratch, out);
	k.may_hold = region_files_known(&k.files);
	int rc = cut_rows(&k, rows, err);
	if (rc == RC_OK)
		rc = region_files_finish(&k.files, err);
	region_files_release(&k.files);
	rows->close(rows->self);
	if (rc)
		cut_result_release(out);
	return rc;
}
