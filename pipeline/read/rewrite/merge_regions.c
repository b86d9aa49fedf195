/* merge_regions.c - merge the cells of each region into a file for each family */
#include "rewrite.h"

/* Write the cells of the row that the stream is at. */
static int write_row(struct region_writer *w, struct source_stream *s, struct bytes row,
		     struct error *err)
{
	int rc = RC_OK;

	while (rc == RC_OK && s->has && bytes_eq(s->cell.row, row)) {
		rc = region_writer_add(w, s->family, &s->cell, err);
		if (rc == RC_OK)
			rc = source_next(s, err);
	}
	return rc;
}

static int write_rows(struct rewrite *r, struct region_writer *w, struct source_rows *s,
		      struct error *err)
{
	struct manifest_region *out = &r->out->regions[w->region];
	const struct bytes *first;
	struct buf row = {0};
	int rc = RC_OK;

	while (rc == RC_OK && (first = source_rows_first(s))) {
		row.len = 0;
		buf_append(&row, first->ptr, first->len);
		out->rows++;
		for (size_t i = 0; rc == RC_OK && i < r->nfamilies; i++)
			rc = write_row(w, &s->streams[i], buf_bytes(&row), err);
	}
	buf_release(&row);
	return rc;
}

static int merge_region(struct rewrite *r, struct region_writer *w, struct error *err)
{
	const struct manifest_region *of = &r->out->regions[w->region];
	const struct query_range rows = {.start = of->start, .stop = of->end};
	struct source_rows s;
	int rc = source_rows_open(&s, r, &rows, NULL, true, err);

	if (rc == RC_OK)
		rc = write_rows(r, w, &s, err);
	for (size_t i = 0; rc == RC_OK && i < r->nfamilies; i++)
		region_writer_sequence(w, i, compaction_sequence(s.streams[i].in));
	source_rows_close(&s);
	return rc;
}

int rewrite_regions(struct rewrite *r, struct error *err)
{
	return rewrite_run_regions(r, "merging", merge_region, err);
}
