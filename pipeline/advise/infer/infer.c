/* infer.c - make a job for a table from a sample of its rows */
#include <stdlib.h>

#include "infer.h"

#define PROOFS_MOST 64 /* each proof widens a part */

void table_sample_add(struct sampled_table *s, const struct cell *c)
{
	struct sampled_row *r = s->nrows ? &s->rows[s->nrows - 1] : NULL;
	struct cell kept = *c;

	if (!r || !bytes_eq(r->key, c->row)) {
		s->rows = arena_grow(&s->arena, s->rows, s->nrows, sizeof *s->rows);
		r = &s->rows[s->nrows++];
		*r = (struct sampled_row){.key = arena_bytes(&s->arena, c->row)};
	}
	if (r->ncells == SAMPLE_CELLS || c->type != CELL_PUT)
		return;
	kept.row = r->key;
	kept.family = arena_bytes(&s->arena, c->family);
	kept.qualifier = arena_bytes(&s->arena, c->qualifier);
	kept.value.len = kept.value.len < SAMPLE_VALUE ? kept.value.len : SAMPLE_VALUE;
	kept.value = arena_bytes(&s->arena, kept.value);
	kept.tags = (struct bytes){0};
	r->cells = arena_grow(&s->arena, r->cells, r->ncells, sizeof *r->cells);
	r->cells[r->ncells++] = kept;
}

static int by_key(const void *a, const void *b)
{
	return bytes_cmp(((const struct sampled_row *)a)->key,
			 ((const struct sampled_row *)b)->key);
}

/* Sort the rows, and drop rows that were sampled twice. */
static void sort_rows(struct sampled_table *s)
{
	size_t n = 0;

	qsort(s->rows, s->nrows, sizeof *s->rows, by_key);
	for (size_t i = 0; i < s->nrows; i++)
		if (n == 0 || !bytes_eq(s->rows[n - 1].key, s->rows[i].key))
			s->rows[n++] = s->rows[i];
	s->nrows = n;
}

static void find_key(struct guess_table *t)
{
	const struct sampled_table *s = t->sample;
	struct bytes *keys = arena_alloc(&t->arena, (s->nrows + 1) * sizeof *keys);
	size_t n = s->nrows < GUESS_KEYS ? s->nrows : GUESS_KEYS;

	for (size_t i = 0; i < n; i++)
		keys[i] = s->rows[i * s->nrows / n].key;
	guess_keys(&t->key, keys, n, true, &t->arena);
	guess_unite_texts(&t->key, keys, n, true);
}

/* Return the milliseconds of a time in the key, or -1. */
static int64_t millis_of(const struct guess *g, struct bytes b)
{
	if (g->kind != GUESS_FIELD || g->type != FIELD_TIME || g->text || b.len != 8)
		return -1;
	uint64_t v = guess_number(b.ptr, 8);
	switch ((unsigned)g->as) {
	case AS_MILLIS: return (int64_t)v;
	case AS_REVERSED_MILLIS: return (int64_t)(INT64_MAX - v);
	}
	return -1;
}

/* Find the part of the key that has the timestamps of all cells. */
static void find_time(struct guess_table *t)
{
	const struct sampled_table *s = t->sample;
	struct bytes parts[GUESS_PARTS];

	for (size_t i = 0; i < t->key.n; i++) {
		size_t cells = 0, same = 0;

		for (size_t r = 0; r < s->nrows; r++)
			for (size_t c = 0; c < s->rows[r].ncells; c++, cells++)
				same += guess_split(&t->key, s->rows[r].key, parts) &&
					millis_of(&t->key.part[i], parts[i]) ==
						s->rows[r].cells[c].ts;
		if (cells && same == cells) {
			t->time_is_key = true;
			t->time_part = i;
		}
	}
}

static void clear_names(struct guess_table *t)
{
	for (size_t i = 0; i < t->key.n; i++)
		t->key.part[i].name = NULL;
	for (size_t c = 0; c < t->ncolumns; c++) {
		t->columns[c].name = NULL;
		for (size_t i = 0; i < t->columns[c].qualifiers.n; i++)
			t->columns[c].qualifiers.part[i].name = NULL;
	}
	t->time_is_key = false;
}

int infer_table(struct sampled_table *s, struct inferred *out, struct error *err)
{
	struct guess_table t = {.sample = s};
	bool changed = true;
	int rc = RC_OK;

	if (s->nrows == 0)
		return error_set(err, RC_DATA,
				 "found no row in %s, expected rows whose keys and values show "
				 "their form; write a job with `saltmill init FILE`",
				 s->origin);
	sort_rows(s);
	find_key(&t);
	guess_columns(&t);
	for (unsigned i = 0; rc == RC_OK && changed && i < PROOFS_MOST; i++) {
		clear_names(&t);
		find_time(&t);
		guess_names(&t);
		guess_write(&t, out);
		rc = guess_prove(&t, buf_bytes(&out->yaml), &changed, err);
	}
	if (rc == RC_OK && changed)
		rc = error_set(err, RC_DATA, "%s: found no job that gives the row keys again",
			       s->origin);
	out->understood = out->doubts.len == 0;
	arena_release(&t.arena);
	return rc;
}

void inferred_release(struct inferred *i)
{
	buf_release(&i->yaml);
	buf_release(&i->doubts);
}
