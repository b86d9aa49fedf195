/*
 * cut.c - turn ordered records into rows, cells and files
 *
 * Most rows consist of one event. The cut writes such a row directly from its record if the next
 * record is in memory and has another key. The cut copies the last record of a batch until the next
 * batch shows whether its row continues. gather.c gathers records with the same key. huge_row.c
 * sorts a row on disk if it exceeds the memory for a row.
 */
#include "cut.h"

#include "region_files.h"
#include "gather.h"
#include "hidden.h"
#include "huge_row.h"
#include "mem.h"
#include "pool.h"

#define GATHER_BYTES	   (8u << 20)
#define UNCOUNTED_CELLS	   4096
#define HELD_BYTES	   512
#define RECORDS_AT_ONCE	   32
#define STOP_CHECK_BATCHES 4096
#define SHOWN_RECORDS	   16384
/* The memory of a writer's blocks, index, bloom chunk and codec. The file buffer is extra. */
#define WRITER_BYTES (384u << 10)
#define BLOOM_BYTES  (1u << 20)
#define CODEC_BYTES  (2u << 20)

/* A copy of a record that may be the only one with its key. */
struct held {
	struct record record;
	uint8_t bytes[HELD_BYTES + CELL_ROOM_BYTES]; /* key, secondary, payload */
};

struct cutter {
	struct hfile_scratch *scratch;
	struct gather row; /* the records of the current row key */
	struct row_cell *cells;
	struct cell_value *values;
	size_t cells_cap; /* capacity of cells and of values */
};

/* The state of a region that a thread cuts. */
struct cutting {
	struct cutter *c;
	const struct cut_table *t;
	struct region_files files;
	struct cut_result *out;
	size_t secondary_bytes, most; /* `most` is the largest number of cells of a record */
	uint64_t gather_bytes;
	uint64_t counted;      /* cells of the current row, counted only if the row may be large */
	uint64_t taken, shown; /* records so far, and the records that the progress counts */
	bool may_hold;
	bool fits; /* true if the gathered row fits into its memory */
	bool holds;
	struct held held; /* valid if `holds` is true */
	struct buf huge;  /* key of the last row that huge_row.c wrote */
	bool deletes;	  /* the table has delete markers */
	struct hidden hidden;
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
	mem_free(c->values);
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
	buf_release(&r->collision.row);
	for (size_t i = 0; i < CUT_EXAMPLES; i++)
		buf_release(&r->hidden[i].row);
	*r = (struct cut_result){0};
}

static int emit_cell(void *ctx, const struct row_cell *c, struct error *err)
{
	struct cutting *k = ctx;

	if (k->deletes)
		hidden_take(&k->hidden, c, k->out);
	return region_files_add(&k->files, c, err);
}

static struct bytes row_key(const struct gather *g)
{
	return bytes_of(g->bytes.ptr + g->records[0].key_at, g->records[0].key_len);
}

/*
 * Write a row of one event whose cells are already in order. CELL_ROOM_BYTES after key and payload
 * must be readable.
 */
static inline int write_single(struct cutting *k, const struct record *r, struct error *err)
{
	_Static_assert(RECORD_ROOM_BYTES >= CELL_ROOM_BYTES, "records lie in room");
	int64_t ts;
	size_t n = row_values(k->t->plan, k->t->index, r, &ts, k->c->values);
	k->out->loaded++;
	return region_files_add_values(&k->files, r->key, ts, k->c->values, n, err);
}

static inline int end_row(struct cutting *k, struct error *err)
{
	k->out->rows++;
	if (k->deletes)
		hidden_reset(&k->hidden);
	return region_files_row_end(&k->files, err);
}

static int write_gathered(struct cutting *k, struct error *err)
{
	const struct gather *g = &k->c->row;

	if (g->nrecords > 1 || !k->may_hold)
		return gather_emit(&k->c->row, k->t, emit_cell, k, k->out, err);
	buf_reserve(&k->c->row.bytes, CELL_ROOM_BYTES); /* this may move the buffer */
	struct record r = {
		.key = row_key(g),
		.secondary = g->bytes.ptr + g->records[0].minor_at,
		.payload = bytes_of(g->bytes.ptr + g->records[0].payload_at,
				    g->records[0].payload_len),
		.seq = g->records[0].seq,
	};
	return write_single(k, &r, err);
}

static int write_row(struct cutting *k, struct error *err)
{
	struct gather *g = &k->c->row;
	int rc = write_gathered(k, err);

	if (rc)
		return rc;
	if (g->bytes.cap > 2 * k->gather_bytes)
		gather_release(g); /* the row had a large value */
	gather_reset(g);
	return end_row(k, err);
}

/* Write a row that is too large to gather. Drop the copies and read the row from the runs. */
static int write_huge(struct cutting *k, struct error *err)
{
	struct gather *g = &k->c->row;
	struct bytes key = row_key(g);

	k->huge.len = 0;
	buf_append(&k->huge, key.ptr, key.len);
	gather_release(g);
	int rc = huge_row_write(k->t, buf_bytes(&k->huge), emit_cell, k, k->out, err);
	return rc ? rc : end_row(k, err);
}

/* Copy a record. Return false if the row now exceeds the memory for a row. */
static bool gather(struct cutting *k, const struct record *r)
{
	struct gather *g = &k->c->row;

	if (g->nrecords == 0)
		k->counted = 0;
	gather_add(g, r, k->secondary_bytes);
	if (g->nrecords > 1 && g->nrecords * k->most > UNCOUNTED_CELLS)
		k->counted += row_cells(k->t->plan, k->t->index, r, k->c->cells);
	return gather_memory(g, k->counted) <= k->gather_bytes;
}

/*
 * Copy the first record of a row. Return false if the record is too large, or if the cut must
 * gather it.
 */
static inline bool hold(struct cutting *k, const struct record *r)
{
	struct held *h = &k->held;

	if (!k->may_hold || k->c->row.nrecords ||
	    r->key.len + k->secondary_bytes + r->payload.len > HELD_BYTES)
		return false;
	uint8_t *secondary = h->bytes + r->key.len, *payload = secondary + k->secondary_bytes;
	copy_short(h->bytes, r->key.ptr, r->key.len);
	copy_short(secondary, r->secondary, k->secondary_bytes);
	copy_short(payload, r->payload.ptr, r->payload.len);
	h->record.key = bytes_of(h->bytes, r->key.len);
	h->record.secondary = secondary;
	h->record.payload = bytes_of(payload, r->payload.len);
	h->record.seq = r->seq;
	return true;
}

/* Return true if `r` belongs to the row of the held or gathered records. */
static inline bool same_row(const struct cutting *k, const struct record *r)
{
	struct bytes key = k->holds ? k->held.record.key : row_key(&k->c->row);

	return !r->new_key && bytes_eq(r->key, key);
}

static inline bool waits(const struct cutting *k)
{
	return k->holds || k->c->row.nrecords;
}

static int write_waiting(struct cutting *k, struct error *err)
{
	if (!k->holds)
		return write_row(k, err);
	k->holds = false;
	int rc = write_single(k, &k->held.record, err);
	return rc ? rc : end_row(k, err);
}

/* Add `r` to the row of the held or gathered records. */
static int go_on(struct cutting *k, const struct record *r, struct error *err)
{
	if (k->holds)
		k->fits = gather(k, &k->held.record);
	k->holds = false;
	if (!k->fits)
		return write_huge(k, err);
	k->fits = gather(k, r);
	return RC_OK;
}

/* Return true if the next record r[1] begins another row. */
static inline bool ends_row(const struct record *r)
{
	return r[1].new_key || !bytes_eq(r->key, r[1].key);
}

/*
 * Write rows of one record each, from **at on. *last is not one of them, because the record after
 * it is unknown. Set *at to the last record that the function wrote.
 */
static int write_singles(struct cutting *k, const struct record **at, const struct record *last,
			 struct error *err)
{
	const struct row_plan *plan = k->t->plan;
	const size_t table = k->t->index;
	struct cell_value *values = k->c->values;
	const struct record *r = *at;
	int rc;

	do {
		int64_t ts;
		size_t n = row_values(plan, table, r, &ts, values);

		rc = region_files_add_values(&k->files, r->key, ts, values, n, err);
		if (rc == RC_OK)
			rc = region_files_row_end(&k->files, err);
		r++;
	} while (rc == RC_OK && r < last && ends_row(r));
	k->out->loaded += (uint64_t)(r - *at);
	k->out->rows += (uint64_t)(r - *at);
	*at = r - 1;
	return rc;
}

static void start_row(struct cutting *k, const struct record *r)
{
	k->holds = hold(k, r);
	k->fits = k->holds || gather(k, r);
}

/* Cut a batch of records that stay valid together. */
static int cut_batch(struct cutting *k, const struct record *r, size_t n, struct error *err)
{
	int rc = RC_OK;

	for (const struct record *last = r + n - 1; r <= last && rc == RC_OK; r++) {
		bool waiting = waits(k);

		if (waiting && same_row(k, r)) {
			rc = go_on(k, r, err);
			continue;
		}
		if (waiting)
			rc = write_waiting(k, err);
		if (rc || (k->huge.len && bytes_eq(r->key, buf_bytes(&k->huge))))
			continue; /* huge_row.c has written this row */
		if (k->may_hold && !k->deletes && r < last && ends_row(r))
			rc = write_singles(k, &r, last, err);
		else
			start_row(k, r);
	}
	return rc;
}

static void tell(struct cutting *k)
{
	progress_add(k->t->progress, k->taken - k->shown);
	k->shown = k->taken;
}

static int cut_rows(struct cutting *k, struct record_iter *rows, struct error *err)
{
	struct record r[RECORDS_AT_ONCE];
	int rc = RC_OK;

	for (uint64_t i = 0; rc == RC_OK; i++) {
		size_t n = 1;

		rc = i % STOP_CHECK_BATCHES == 0 ? stop_check(err) : RC_OK;
		if (rc == RC_OK && rows->next_many)
			rc = rows->next_many(rows->self, r, RECORDS_AT_ONCE, &n, err);
		else if (rc == RC_OK)
			rc = rows->next(rows->self, r, err);
		if (rc == RC_OK)
			rc = cut_batch(k, r, n, err);
		if (rc == RC_OK && (k->taken += n) - k->shown >= SHOWN_RECORDS)
			tell(k);
	}
	if (rc == RC_END)
		rc = waits(k) ? write_waiting(k, err) : RC_OK;
	return rc;
}

int cut_region(struct cutter *c, const struct cut_table *t, size_t region, struct record_iter *rows,
	       struct cut_result *out, struct error *err)
{
	*out = (struct cut_result){0};
	struct cutting k = {
		.c = c,
		.t = t,
		.out = out,
		.secondary_bytes = row_secondary_bytes(t->plan, t->index),
		.most = row_max_cells(t->plan, t->index),
		.gather_bytes = t->gather_bytes ? t->gather_bytes : GATHER_BYTES,
	};
	size_t cap = c->cells_cap;
	c->cells = mem_reserve(c->cells, &cap, k.most, sizeof *c->cells);
	c->values = mem_reserve(c->values, &c->cells_cap, k.most, sizeof *c->values);
	gather_reset(&c->row);
	for (size_t i = 0; i < t->table->ncells; i++)
		k.deletes |= t->table->cells[i].marker != 0;
	region_files_init(&k.files, t, region, c->scratch, out);
	k.may_hold = region_files_known(&k.files);
	int rc = cut_rows(&k, rows, err);
	if (rc == RC_OK)
		rc = region_files_finish(&k.files, err);
	region_files_release(&k.files);
	buf_release(&k.huge);
	hidden_release(&k.hidden);
	rows->close(rows->self);
	k.taken = rc ? 0 : k.taken; /* a second attempt counts the records again */
	tell(&k);
	if (rc)
		cut_result_release(out);
	return rc;
}
