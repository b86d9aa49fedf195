/*
 * cell_sample.c - write a small sample of a table's cells
 *
 * The sample has only one file for each family, so that the fixed part of a file has little effect.
 * One thread writes, and a second thread compresses the blocks.
 */
#include "pass.h"

#include "io.h"
#include "mem.h"
#include "pool.h"

#define PLACES	    16
#define PLACE_BYTES (8u << 10) /* a smaller sample has fewer places */

/* The records after each place, as one stream in key order. */
struct sample_places {
	struct sorter *sorter;
	const struct cell_sample *sample;
	struct row_weigher weigher;
	struct split_point points[PLACES];
	size_t count;
	size_t next;	       /* index of the next place to open */
	struct record_iter in; /* in.next is NULL if no place is open */
	uint64_t left;	       /* bytes left in the open place */
};

static void places_close(void *self)
{
	struct sample_places *p = self;

	if (p->in.next)
		p->in.close(p->in.self);
	p->in.next = NULL;
}

/*
 * Open the next place. The range ends where the following place begins, so places do not overlap.
 */
static int open_place(struct sample_places *p, struct error *err)
{
	struct bytes from = buf_bytes(&p->points[p->next].key), to = {0};

	if (++p->next < p->count)
		to = buf_bytes(&p->points[p->next].key);
	p->left = p->sample->bytes / p->count;
	if (to.len && bytes_cmp(from, to) >= 0)
		/* both places are in one heavy row, which the previous place contains */
		return RC_OK;
	return sorter_range(p->sorter, from, to, &p->in, err);
}

/*
 * Read the next record of the open place. Return RC_END at the end of the place, or if the sample
 * is large enough.
 */
static int next_here(struct sample_places *p, struct record *out, struct error *err)
{
	return p->in.next && p->left ? p->in.next(p->in.self, out, err) : RC_END;
}

static int places_next(void *self, struct record *out, struct error *err)
{
	struct sample_places *p = self;
	const struct cell_sample *sample = p->sample;

	for (;;) {
		int rc = next_here(p, out, err);

		if (rc == RC_OK) {
			if (sample->wanted && !sample->wanted(sample->ctx, out->key))
				continue;
			uint64_t w = row_weigh(&p->weigher, out);
			p->left -= w < p->left ? w : p->left;
			if (sample->row_most && w > sample->row_most)
				continue;
			if (sample->weight)
				*sample->weight += w;
			return RC_OK;
		}
		places_close(p);
		if (rc != RC_END || p->next == p->count)
			return rc;
		rc = open_place(p, err);
		if (rc)
			return rc;
	}
}

struct sample_writing {
	struct cut_table table;
	struct sample_places *places;
	struct cut_result *files;
};

enum { TASK_WRITE, TASK_HELP, TASKS };

static int write_task(void *ctx, unsigned worker, size_t index, struct error *err)
{
	struct sample_writing *w = ctx;

	(void)worker;
	if (index == TASK_HELP) {
		helpers_serve(w->table.helpers);
		return RC_OK;
	}
	struct record_iter it = {.next = places_next, .close = places_close, .self = w->places};
	struct cutter *c = cutter_new();
	int rc = cut_region(c, &w->table, 0, &it, w->files, err);
	cutter_free(c);
	helpers_close(w->table.helpers);
	return rc;
}

static int make_folders(const struct cut_table *t, struct error *err)
{
	int rc = io_make_dir(t->hfiles_dir, err);

	for (size_t i = 0; rc == RC_OK && i < t->table->schema.nfamilies; i++) {
		char *dir = mem_format("%s/%s", t->hfiles_dir, t->table->schema.families[i].name);

		rc = io_make_dir(dir, err);
		mem_free(dir);
	}
	return rc;
}

int cell_sample_write(const struct cut_table *t, struct sorter *sorter, unsigned threads,
		      const struct cell_sample *sample, struct cut_result *files, struct error *err)
{
	struct sample_places p = {.sorter = sorter,
				  .sample = sample,
				  .weigher = {t->plan, t->index}};
	struct sample_writing w = {.table = *t, .places = &p, .files = files};
	uint64_t targets[PLACES], weight = sorter_totals(sorter).weight;

	p.count = sample->bytes / PLACE_BYTES;
	p.count = p.count < 1 ? 1 : p.count < PLACES ? p.count : PLACES;
	for (size_t i = 0; i < p.count; i++)
		targets[i] = weight / p.count * i;
	int rc = make_folders(t, err);
	if (rc == RC_OK)
		rc = sorter_select(sorter, threads, targets, p.count, NULL, p.points, err);
	if (rc == RC_OK) {
		w.table.temporary = true;
		w.table.helpers = helpers_new();
		rc = pool_run(threads, TASKS, write_task, &w, err);
		helpers_free(w.table.helpers);
	}
	for (size_t i = 0; i < p.count; i++)
		split_point_release(&p.points[i]);
	return rc;
}
