/*
 * what_if.c - write a sample of each family with many settings, and measure the files
 *
 * The sample has pieces from PIECES places of the family's files, or all cells if they are few. One
 * thread measures, by its processor time, so that a busy machine changes little.
 */
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "pool.h"
#include "rewrite.h"

#define PIECES	     16
#define SAMPLE_BYTES ((uint64_t)8 << 20) /* bytes of cells */
#define GETS	     500

static const enum block_encoding tried[] = {ENCODING_NONE, ENCODING_PREFIX, ENCODING_DIFF,
					    ENCODING_FAST_DIFF, ENCODING_ROW_INDEX_V1};
static const uint32_t sizes[] = {16 << 10, 64 << 10, 256 << 10};
#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Cells of a family, in file order. */
struct family_sample {
	struct arena arena;
	struct cell *cells;
	size_t count, cap;
	uint64_t bytes;
	size_t *rows, nrows, rows_cap; /* index of each row's first cell */
	bool tags;
	int64_t created_ms;
};

/* --- the sample --- */

static bool starts_row(const struct family_sample *s, const struct cell *c)
{
	return s->count == 0 || !bytes_eq(s->cells[s->count - 1].row, c->row);
}

static int add_cell(struct family_sample *s, const struct cell *c, struct error *err)
{
	struct cell *cells = mem_try_reserve(s->cells, &s->cap, s->count + 1, sizeof *cells);

	if (!cells)
		return error_memory(err, s->count * sizeof *cells, "a sample");
	s->cells = cells;
	if (starts_row(s, c)) {
		size_t *rows = mem_try_reserve(s->rows, &s->rows_cap, s->nrows + 1, sizeof *rows);

		if (!rows)
			return error_memory(err, s->nrows * sizeof *rows, "a sample");
		s->rows = rows;
		s->rows[s->nrows++] = s->count;
	}
	struct cell *copy = &s->cells[s->count];
	*copy = *c;
	copy->row = starts_row(s, c) ? arena_bytes(&s->arena, c->row) : copy[-1].row;
	copy->family = (struct bytes){0};
	copy->qualifier = arena_bytes(&s->arena, c->qualifier);
	copy->value = arena_bytes(&s->arena, c->value);
	copy->tags = arena_bytes(&s->arena, c->tags);
	s->count++;
	s->bytes += c->row.len + c->qualifier.len + c->value.len + c->tags.len;
	return RC_OK;
}

/* Add the cells from rows->start on, up to `most` bytes of whole rows. */
static int read_piece(struct family_sample *s, const struct rewrite *r, size_t family,
		      const struct query_range *rows, uint64_t most, struct error *err)
{
	const struct compaction_options o = {.rows = *rows, .keep_all = true};
	struct rewrite_stores stores;
	struct compaction *c = NULL;
	struct cell cell;
	uint64_t end = s->bytes + most;

	rewrite_select(&stores, r, family, rows, true);
	int rc = compaction_open(&c, &r->families[family], stores.files, stores.n, &o, err);
	while (rc == RC_OK && (rc = compaction_next(c, &cell, err)) == RC_OK) {
		if (s->bytes >= end && starts_row(s, &cell))
			break;
		rc = add_cell(s, &cell, err);
	}
	compaction_close(c);
	rewrite_stores_release(&stores);
	return rc == RC_END ? RC_OK : rc;
}

static int by_bytes(const void *a, const void *b)
{
	return bytes_cmp(*(const struct bytes *)a, *(const struct bytes *)b);
}

/* The row keys at which the blocks of a family's root indexes begin. */
struct block_starts {
	struct arena arena;
	struct bytes *rows;
	size_t n, cap;
};

static int list_places(struct block_starts *p, const struct query_file *f, struct error *err)
{
	struct hfile_source source;
	struct hfile_index_entry e;
	struct hfile *h;
	int rc = f->open(f, &source, err);

	if (rc == RC_OK)
		rc = hfile_open_source(&h, &source, err);
	if (rc)
		return rc;
	for (size_t i = 0; rc == RC_OK && hfile_root_entry(h, i, &e) == RC_OK; i++) {
		struct bytes *rows = mem_try_reserve(p->rows, &p->cap, p->n + 1, sizeof *rows);

		if (!rows) {
			rc = error_memory(err, p->n * sizeof *rows, "a sample");
			break;
		}
		p->rows = rows;
		p->rows[p->n++] = arena_bytes(&p->arena,
					      bytes_of(e.key.ptr + 2, (size_t)get_be16(e.key.ptr)));
	}
	hfile_close(h);
	return rc;
}

/* Read pieces that begin at places of equal distance, and the whole family if it is small. */
static int read_pieces(struct family_sample *s, const struct rewrite *r, size_t family,
		       struct block_starts *p, struct error *err)
{
	size_t n = p->n < PIECES ? 1 : PIECES;
	int rc = RC_OK;

	if (p->n)
		qsort(p->rows, p->n, sizeof *p->rows, by_bytes);
	for (size_t i = 0; rc == RC_OK && i < n; i++) {
		struct query_range rows = {.start = i ? p->rows[i * p->n / n] : (struct bytes){0},
					   .stop = i + 1 < n ? p->rows[(i + 1) * p->n / n]
							     : (struct bytes){0}};

		if (!rows.stop.len || bytes_cmp(rows.start, rows.stop) < 0)
			rc = read_piece(s, r, family, &rows, SAMPLE_BYTES / n, err);
	}
	return rc;
}

static int take_sample(struct family_sample *s, const struct rewrite *r, size_t family,
		       struct error *err)
{
	struct block_starts p = {.n = 0};
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < r->nfiles; i++) {
		if (r->files[i].family != family)
			continue;
		s->tags |= r->input_of[i]->tags;
		rc = list_places(&p, &r->files[i], err);
	}
	if (rc == RC_OK)
		rc = read_pieces(s, r, family, &p, err);
	mem_free(p.rows);
	arena_release(&p.arena);
	return rc;
}

/* --- a trial --- */

static int append(void *self, const void *ptr, size_t len, struct error *err)
{
	return buf_try_append(self, ptr, len) ? RC_OK : error_memory(err, len, "a sample");
}

static int finish(void *self, uint8_t digest[16], struct error *err)
{
	(void)self;
	(void)digest;
	(void)err;
	return RC_OK;
}

static void forget(void *self)
{
	(void)self;
}

static int read_memory(void *self, uint64_t offset, void *to, size_t len, struct error *err)
{
	(void)err;
	memcpy(to, ((const struct buf *)self)->ptr + offset, len);
	return RC_OK;
}

static int write_sample(struct buf *file, const struct family_sample *s, const struct family *f,
			struct rewrite_trial *t, struct error *err)
{
	const struct hfile_sink sink = {"the sample", append, finish, forget, file};
	const struct hfile_options o = {.family = bytes_str(f->name),
					.codec = t->codec,
					.level = t->level,
					.framing = f->framing,
					.encoding = t->encoding,
					.bloom = f->bloom,
					.bloom_prefix = f->bloom_prefix,
					.block_bytes = t->block_bytes,
					.create_ms = s->created_ms,
					.bulkload_ms = s->created_ms,
					.source_task = bytes_str("saltmill"),
					.tags = s->tags};
	struct hfile_summary sum = {0};
	struct hfile_writer *w;
	int rc = hfile_writer_new_to(&w, &sink, &o, err);

	for (size_t i = 0; rc == RC_OK && i < s->count; i++) {
		rc = hfile_add(w, &s->cells[i], err);
		if (rc)
			hfile_abort(w);
	}
	if (rc == RC_OK)
		rc = hfile_finish(w, &sum, err);
	t->bytes = sum.file_bytes;
	hfile_summary_release(&sum);
	return rc;
}

/* Read all cells of GETS rows, whose order jumps through the file. */
static int measure_gets(struct hfile *h, const struct family_sample *s, struct rewrite_trial *t,
			struct error *err)
{
	size_t n = s->nrows < GETS ? s->nrows : GETS, jump = n / 2 | 1;
	double start = clock_thread_seconds();
	struct cell c;
	int rc = RC_OK;

	while (n % jump == 0 && jump > 1)
		jump -= 2;
	for (size_t i = 0; rc == RC_OK && i < n; i++) {
		size_t row = i * jump % n * s->nrows / n;
		const struct cell key = cell_first(s->cells[s->rows[row]].row, (struct bytes){0},
						   (struct bytes){0});

		rc = hfile_seek(h, &key, err);
		while (rc == RC_OK && (rc = hfile_next_cell(h, &c, err)) == RC_OK &&
		       bytes_eq(c.row, key.row))
			;
		if (rc == RC_END)
			rc = RC_OK;
	}
	t->get_ns = (uint64_t)((clock_thread_seconds() - start) * 1e9 / (double)n);
	return rc;
}

static int measure_scan(struct hfile *h, const struct family_sample *s, struct rewrite_trial *t,
			struct error *err)
{
	struct hfile_batch *b = mem_try_calloc(1, sizeof *b);
	double start = clock_thread_seconds();
	int rc = b ? RC_OK : error_memory(err, sizeof *b, "a sample");

	hfile_rewind(h);
	while (rc == RC_OK)
		rc = hfile_next_batch(h, b, err);
	t->scan_ns = (clock_thread_seconds() - start) * 1e9 / (double)s->count;
	mem_free(b);
	return rc == RC_END ? RC_OK : rc;
}

static int try_settings(const struct family_sample *s, const struct family *f,
			struct rewrite_trial *t, struct error *err)
{
	struct buf file = {0};
	struct hfile *h = NULL;
	int rc = write_sample(&file, s, f, t, err);
	const struct hfile_source source = {.name = "the sample",
					    .bytes = file.len,
					    .read = read_memory,
					    .self = &file};

	if (rc == RC_OK)
		rc = hfile_open_source(&h, &source, err);
	if (rc == RC_OK)
		rc = measure_gets(h, s, t, err);
	if (rc == RC_OK)
		rc = measure_scan(h, s, t, err);
	hfile_close(h);
	buf_release(&file);
	return rc;
}

/* --- all trials --- */

static void add_trial(struct rewrite_estimate *e, const struct family *now,
		      const struct rewrite_trial *t)
{
	struct rewrite_trial *out = &e->trials[e->ntrials++];

	*out = *t;
	out->level = t->codec == now->codec ? now->level : LEVEL_DEFAULT;
	out->current = t->codec == now->codec && t->encoding == now->encoding &&
		       t->block_bytes == now->block_bytes;
}

/* Add the combinations of a codec and all settings that the options leave open. */
static void add_combinations(struct rewrite_estimate *e, const struct family *now,
			     const struct rewrite_change *c, enum codec codec)
{
	for (size_t i = 0; i < (c->encoding ? 1 : COUNT(tried)); i++)
		for (size_t k = 0; k < (c->to.block_bytes ? 1 : COUNT(sizes)); k++) {
			const struct rewrite_trial t = {
				.codec = codec,
				.encoding = c->encoding ? c->to.encoding : tried[i],
				.block_bytes = c->to.block_bytes ? c->to.block_bytes : sizes[k]};

			if (t.codec != now->codec || t.encoding != now->encoding ||
			    t.block_bytes != now->block_bytes)
				add_trial(e, now, &t);
		}
}

/* List the settings to try, and the current ones. */
static void list_trials(struct rewrite_estimate *e, struct arena *a, const struct family *now,
			const struct rewrite_change *c)
{
	const struct rewrite_trial current = {.codec = now->codec,
					      .encoding = now->encoding,
					      .block_bytes = now->block_bytes};

	e->trials = arena_alloc(a, (1 + CODECS * COUNT(tried) * COUNT(sizes)) * sizeof *e->trials);
	add_trial(e, now, &current);
	for (enum codec codec = CODEC_NONE; codec < CODECS; codec++)
		if (codec_is_written(codec) && (!c->codec || c->to.codec == codec))
			add_combinations(e, now, c, codec);
}

static int by_size(const void *a, const void *b)
{
	const struct rewrite_trial *x = a, *y = b;

	return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static int estimate(struct rewrite *r, struct rewrite_estimate *e, size_t family, struct error *err)
{
	const struct family *now = &r->table.families[rewrite_schema(r, family)];
	struct family_sample s = {.created_ms = r->created_ms};
	int rc = take_sample(&s, r, family, err);

	e->family = now->name;
	e->sample_cells = s.count;
	e->sample_bytes = s.bytes;
	if (rc == RC_OK && s.count)
		list_trials(e, r->a, now, r->opt->change);
	for (size_t i = 0; rc == RC_OK && i < e->ntrials; i++) {
		rc = stop_check(err);
		if (rc == RC_OK)
			rc = try_settings(&s, now, &e->trials[i], err);
	}
	if (e->ntrials)
		qsort(e->trials, e->ntrials, sizeof *e->trials, by_size);
	mem_free(s.cells);
	mem_free(s.rows);
	arena_release(&s.arena);
	return rc;
}

int rewrite_estimate_families(struct rewrite *r, struct rewrite_result *out, struct error *err)
{
	const char *only = r->opt->change->family;
	int rc = RC_OK;

	out->estimates = arena_alloc(r->a, (r->nfamilies + 1) * sizeof *out->estimates);
	progress_begin(r->opt->progress, "trying", PROGRESS_SECONDS, 0);
	for (size_t i = 0; rc == RC_OK && i < r->nfamilies; i++) {
		struct rewrite_estimate *e = &out->estimates[out->nestimates];

		if (only && !bytes_eq(r->families[i].name, bytes_str(only)))
			continue;
		*e = (struct rewrite_estimate){.family = NULL};
		for (size_t k = 0; k < r->ninputs; k++)
			if (r->inputs[k].file->family == i)
				e->cells += r->inputs[k].entries;
		rc = estimate(r, e, i, err);
		out->nestimates++;
	}
	return rc;
}
