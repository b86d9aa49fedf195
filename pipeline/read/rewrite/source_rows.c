/* source_rows.c - read the stored cells of a range of rows, all families in step */
#include "rewrite.h"

/* Return true if the file may have rows of the region. */
static bool overlaps(const struct query_file *f, const struct query_range *rows)
{
	if (rows->stop.len &&
	    (bytes_cmp(f->rows.start, rows->stop) >= 0 || bytes_cmp(f->first_row, rows->stop) >= 0))
		return false;
	return (!f->rows.stop.len || bytes_cmp(f->rows.stop, rows->start) > 0) &&
	       (!f->first_row.len || bytes_cmp(f->last_row, rows->start) >= 0);
}

void rewrite_select(struct rewrite_stores *out, const struct rewrite *r, size_t family,
		    const struct query_range *rows, bool all)
{
	*out = (struct rewrite_stores){.files = mem_calloc(r->nfiles + 1, sizeof *out->files),
				       .inputs = mem_calloc(r->nfiles + 1, sizeof *out->inputs)};
	for (size_t i = 0; i < r->nfiles; i++) {
		if (r->files[i].family != family || !overlaps(&r->files[i], rows) ||
		    (r->input_of[i]->known && !all))
			continue;
		out->files[out->n] = r->files[i];
		out->inputs[out->n++] = r->input_of[i];
	}
}

void rewrite_stores_release(struct rewrite_stores *s)
{
	mem_free(s->files);
	mem_free(s->inputs);
}

int source_next(struct source_stream *s, struct error *err)
{
	int rc = compaction_next(s->in, &s->cell, err);

	s->has = rc == RC_OK;
	return rc == RC_END ? RC_OK : rc;
}

static int open_stream(struct source_rows *rows, struct source_stream *s,
		       const struct query_range *range, struct error *err)
{
	const struct rewrite *r = rows->r;
	struct compaction_options o = {.rows = *range,
				       .keep_all = r->opt->keep_all,
				       .now_ms = r->opt->now_ms,
				       .earliest_put = INT64_MAX};

	rewrite_select(&s->stores, r, s->family, range, !rows->counts);
	for (size_t i = 0; i < s->stores.n; i++)
		if (s->stores.inputs[i]->earliest_put < o.earliest_put)
			o.earliest_put = s->stores.inputs[i]->earliest_put;
	int rc = compaction_open(&s->in, &r->families[s->family], s->stores.files, s->stores.n, &o,
				 err);
	return rc ? rc : source_next(s, err);
}

int source_rows_open(struct source_rows *s, struct rewrite *r, const struct query_range *rows,
		     const bool *families, bool counts, struct error *err)
{
	int rc = RC_OK;

	*s = (struct source_rows){.r = r,
				  .streams = mem_calloc(r->nfamilies + 1, sizeof *s->streams),
				  .counts = counts};
	for (size_t i = 0; rc == RC_OK && i < r->nfamilies; i++) {
		s->streams[i].family = i;
		if (!families || families[i])
			rc = open_stream(s, &s->streams[i], rows, err);
	}
	return rc;
}

const struct bytes *source_rows_first(const struct source_rows *s)
{
	const struct bytes *least = NULL;

	for (size_t i = 0; i < s->r->nfamilies; i++) {
		const struct source_stream *f = &s->streams[i];

		if (f->has && (!least || bytes_cmp(f->cell.row, *least) < 0))
			least = &f->cell.row;
	}
	return least;
}

void source_rows_close(struct source_rows *s)
{
	for (size_t i = 0; s->streams && i < s->r->nfamilies; i++) {
		struct source_stream *f = &s->streams[i];

		for (size_t k = 0; s->counts && f->in && k < f->stores.n; k++)
			f->stores.inputs[k]->cells += compaction_cells(f->in, k);
		compaction_close(f->in);
		rewrite_stores_release(&f->stores);
	}
	mem_free(s->streams);
	*s = (struct source_rows){0};
}
