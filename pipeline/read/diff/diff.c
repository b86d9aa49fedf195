/*
 * diff.c - compare two tables cell by cell (query.h)
 *
 * Both sides give their cells in the same order, so one pass over both finds every difference.
 * Threads compare separate key ranges. Region boundaries and first row keys of files divide the
 * table.
 */
#include "query.h"

#include <stdlib.h>
#include <string.h>

#include "pool.h"
#include "read/side.h"

#define RANGES_PER_THREAD 4
#define CELLS_PER_CHECK	  4096

/* The comparison of a key range. */
struct diff_part {
	struct query_range range;
	struct side_reader side[2];
	uint64_t differing_rows, count[DIFF_TAGS + 1], counted;
	struct buf row; /* the last row with a difference */
	struct differing_cell *first;
	size_t nfirst;
	struct arena arena;
};

struct diff_work {
	const struct diff_side *side;
	const struct diff_options *o;
	struct diff_part *parts;
	size_t nparts;
	bool any_live;
};

/* --- the key ranges --- */

static int by_bytes(const void *a, const void *b)
{
	return bytes_cmp(*(const struct bytes *)a, *(const struct bytes *)b);
}

/* List the row keys at which files of the tables begin, sorted and unique. */
static size_t list_boundaries(const struct diff_work *w, struct bytes **out)
{
	size_t most = w->side[0].files->nfiles + w->side[1].files->nfiles, n = 0, kept = 0;
	struct bytes *all = mem_calloc(most + 1, sizeof *all);

	for (unsigned s = 0; s < 2; s++) {
		const struct published *p = w->side[s].files;

		for (size_t i = 0; i < p->nfiles; i++) {
			const struct query_file *f = &p->files[i];
			struct bytes row = f->first_row.len ? f->first_row : f->rows.start;

			if (row.len)
				all[n++] = row;
		}
	}
	qsort(all, n, sizeof *all, by_bytes);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || !bytes_eq(all[i], all[kept - 1]))
			all[kept++] = all[i];
	*out = all;
	return kept;
}

static bool is_within(const struct query *q, struct bytes row)
{
	return bytes_cmp(row, q->start) > 0 && (!q->stop.len || bytes_cmp(row, q->stop) < 0);
}

/* Divide the table. A live scan uses threads of its own, and so it gets one range. */
static void make_parts(struct diff_work *w)
{
	const struct query *q = w->o->query;
	struct bytes *row = NULL;
	size_t n = w->any_live ? 0 : list_boundaries(w, &row), kept = 0;

	for (size_t i = 0; i < n; i++)
		if (is_within(q, row[i]))
			row[kept++] = row[i];
	size_t most = (size_t)w->o->threads * RANGES_PER_THREAD;
	w->nparts = kept + 1 < most || most == 0 ? kept + 1 : most;
	w->parts = mem_calloc(w->nparts, sizeof *w->parts);
	for (size_t i = 0; i < w->nparts; i++) {
		struct query_range *r = &w->parts[i].range;

		r->start = i ? w->parts[i - 1].range.stop : q->start;
		r->stop = i + 1 < w->nparts ? row[(i + 1) * kept / w->nparts] : q->stop;
	}
	mem_free(row);
}

/* --- one key range --- */

static int add(struct diff_part *p, enum diff_kind kind, size_t shown, struct error *err)
{
	const struct cell *a = kind == DIFF_ONLY_B ? NULL : &p->side[0].cell;
	const struct cell *b = kind == DIFF_ONLY_A ? NULL : &p->side[1].cell;
	struct bytes row = a ? a->row : b->row;
	bool new_row = p->differing_rows == 0 || !bytes_eq(row, buf_bytes(&p->row));

	p->count[kind]++;
	p->differing_rows += new_row;
	if (new_row) {
		p->row.len = 0;
		if (!buf_try_append(&p->row, row.ptr, row.len))
			return error_memory(err, row.len, "a row key");
	}
	if (p->nfirst >= shown)
		return RC_OK;
	p->first = arena_grow(&p->arena, p->first, p->nfirst, sizeof *p->first);
	struct differing_cell *d = &p->first[p->nfirst++];
	memset(d, 0, sizeof *d);
	d->kind = kind;
	if (a)
		d->a = side_copy(&p->arena, a);
	if (b)
		d->b = side_copy(&p->arena, b);
	return RC_OK;
}

/* Compare the next cells, and advance the side or the sides whose cell comes first. */
static int step(const struct diff_work *w, struct diff_part *p, struct error *err)
{
	struct side_reader *a = &p->side[0], *b = &p->side[1];
	int order = !b->more ? -1 : !a->more ? 1 : cell_key_cmp(&a->cell, &b->cell);
	int rc = RC_OK;

	if (order)
		rc = add(p, order < 0 ? DIFF_ONLY_A : DIFF_ONLY_B, w->o->shown, err);
	else if (!bytes_eq(a->cell.value, b->cell.value))
		rc = add(p, DIFF_VALUE, w->o->shown, err);
	else if (!w->any_live && !bytes_eq(a->cell.tags, b->cell.tags))
		rc = add(p, DIFF_TAGS, w->o->shown, err);
	if (rc == RC_OK && order <= 0)
		rc = side_next(a, err);
	if (rc == RC_OK && order >= 0)
		rc = side_next(b, err);
	return rc;
}

static void count_rows(struct diff_part *p, struct progress *progress)
{
	uint64_t rows = p->side[0].rows;

	if (progress)
		atomic_fetch_add_explicit(&progress->events, rows - p->counted,
					  memory_order_relaxed);
	p->counted = rows;
}

static int compare_range(void *ctx, unsigned worker, size_t i, struct error *err)
{
	const struct diff_work *w = ctx;
	struct diff_part *p = &w->parts[i];
	struct query q = *w->o->query;
	int rc = RC_OK;

	(void)worker;
	q.start = p->range.start;
	q.stop = p->range.stop;
	for (unsigned s = 0; rc == RC_OK && s < 2; s++) {
		rc = side_open(&p->side[s], &w->side[s], &w->o->listener, &q, err);
		if (rc == RC_OK)
			rc = side_next(&p->side[s], err);
	}
	for (uint64_t n = 1; rc == RC_OK && (p->side[0].more || p->side[1].more); n++) {
		rc = step(w, p, err);
		if (rc == RC_OK && n % CELLS_PER_CHECK == 0) {
			count_rows(p, w->o->progress);
			rc = stop_check(err);
		}
	}
	count_rows(p, w->o->progress);
	for (unsigned s = 0; s < 2; s++)
		side_close(&p->side[s]);
	return rc;
}

/* --- the result --- */

static void add_part(struct diff_result *out, const struct diff_part *p, size_t shown)
{
	for (unsigned s = 0; s < 2; s++) {
		out->rows[s] += p->side[s].rows;
		out->cells[s] += p->side[s].cells;
	}
	out->differing_rows += p->differing_rows;
	for (size_t k = 0; k <= DIFF_TAGS; k++)
		out->count[k] += p->count[k];
	for (size_t i = 0; i < p->nfirst && out->nfirst < shown; i++) {
		struct differing_cell *d = &out->first[out->nfirst++];

		d->kind = p->first[i].kind;
		d->a = side_copy(&out->arena, &p->first[i].a);
		d->b = side_copy(&out->arena, &p->first[i].b);
	}
}

int diff_run(struct diff_result *out, const struct diff_side side[2], const struct diff_options *o,
	     struct error *err)
{
	struct diff_work w = {.side = side,
			      .o = o,
			      .any_live = side[0].hbase != NULL || side[1].hbase != NULL};

	*out = (struct diff_result){0};
	make_parts(&w);
	progress_begin(o->progress, "comparing", PROGRESS_ROWS, 0);
	int rc = pool_run(o->threads, w.nparts, compare_range, &w, err);
	size_t n = 0;
	for (size_t i = 0; i < w.nparts; i++)
		n += w.parts[i].nfirst;
	out->first = arena_alloc(&out->arena, (n + 1) * sizeof *out->first);
	for (size_t i = 0; i < w.nparts; i++) {
		struct diff_part *p = &w.parts[i];

		add_part(out, p, o->shown);
		arena_release(&p->arena);
		buf_release(&p->row);
	}
	mem_free(w.parts);
	return rc;
}
