/* merge_regions.c - merge the cells of each region into a file for each family */
#include <stdio.h>

#include "pool.h"
#include "rewrite.h"

#define CELLS_STEP 4096 /* cells between two looks at the stop flag */

/* A family of a region. */
struct family_stream {
	size_t family; /* number in r->families */
	const struct family *schema;
	struct rewrite_stores stores;
	struct compaction *in;
	struct hfile_writer *out;
	char *path;
	struct cell cell; /* the next cell */
	bool has;
};

struct region_merge {
	struct rewrite *r;
	size_t region;
	struct query_range rows;
	struct family_stream *streams; /* of each family */
	struct hfile_scratch *scratch;
	uint64_t cells;
};

struct rewriting {
	struct rewrite *r;
	struct hfile_scratch **scratch; /* of each thread */
};

size_t rewrite_schema(const struct rewrite *r, size_t family)
{
	size_t i = 0;

	while (!bytes_eq(r->families[family].name, bytes_str(r->table.families[i].name)))
		i++;
	return i;
}

static struct bytes key_of(const struct rewrite *r, size_t i)
{
	return r->splits.keys[i];
}

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
		    const struct query_range *rows)
{
	*out = (struct rewrite_stores){.files = mem_calloc(r->nfiles + 1, sizeof *out->files),
				       .inputs = mem_calloc(r->nfiles + 1, sizeof *out->inputs)};
	for (size_t i = 0; i < r->nfiles; i++) {
		if (r->files[i].family != family || !overlaps(&r->files[i], rows))
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

static int next_cell(struct family_stream *s, struct error *err)
{
	int rc = compaction_next(s->in, &s->cell, err);

	s->has = rc == RC_OK;
	return rc == RC_END ? RC_OK : rc;
}

static int open_stream(struct region_merge *m, struct family_stream *s, struct error *err)
{
	struct rewrite *r = m->r;
	struct compaction_options o = {.rows = m->rows,
				       .keep_all = r->opt->keep_all,
				       .now_ms = r->opt->now_ms,
				       .earliest_put = INT64_MAX};

	rewrite_select(&s->stores, r, s->family, &m->rows);
	for (size_t i = 0; i < s->stores.n; i++)
		if (s->stores.inputs[i]->earliest_put < o.earliest_put)
			o.earliest_put = s->stores.inputs[i]->earliest_put;
	int rc = compaction_open(&s->in, &r->families[s->family], s->stores.files, s->stores.n, &o,
				 err);
	return rc ? rc : next_cell(s, err);
}

static int open_file(struct region_merge *m, struct family_stream *s, struct error *err)
{
	const struct rewrite *r = m->r;
	const struct family *f = s->schema;
	struct hfile_options o = {.family = bytes_str(f->name),
				  .codec = f->codec,
				  .level = f->level,
				  .framing = f->framing,
				  .encoding = f->encoding,
				  .bloom = f->bloom,
				  .bloom_prefix = f->bloom_prefix,
				  .block_bytes = f->block_bytes,
				  .create_ms = r->created_ms,
				  .bulkload_ms = r->created_ms,
				  .source_task = bytes_str("saltmill"),
				  .scratch = m->scratch};

	for (size_t i = 0; i < r->nfiles; i++)
		o.tags |= r->files[i].family == s->family && r->input_of[i]->tags;
	s->path = mem_format("%s/%s/.region-%zu", r->hfiles, f->name, m->region);
	return hfile_writer_new(&s->out, s->path, &o, err);
}

/* Write the cells of the row that the stream is at. */
static int write_row(struct region_merge *m, struct family_stream *s, struct bytes row,
		     struct error *err)
{
	int rc = s->out ? RC_OK : open_file(m, s, err);

	while (rc == RC_OK && s->has && bytes_eq(s->cell.row, row)) {
		rc = hfile_add(s->out, &s->cell, err);
		if (rc)
			return error_prefix(err, "%s: ", s->schema->name);
		if (++m->cells % CELLS_STEP == 0) {
			rc = stop_check(err);
			progress_add(m->r->opt->progress, CELLS_STEP);
		}
		if (rc == RC_OK)
			rc = next_cell(s, err);
	}
	return rc;
}

/* Return the first row of all families, or NULL after the last row. */
static const struct bytes *least_row(const struct region_merge *m)
{
	const struct bytes *least = NULL;

	for (size_t i = 0; i < m->r->nfamilies; i++) {
		const struct family_stream *s = &m->streams[i];

		if (s->has && (!least || bytes_cmp(s->cell.row, *least) < 0))
			least = &s->cell.row;
	}
	return least;
}

static int write_rows(struct region_merge *m, struct error *err)
{
	struct manifest_region *out = &m->r->out->regions[m->region];
	const struct bytes *least;
	struct buf row = {0};
	int rc = RC_OK;

	while (rc == RC_OK && (least = least_row(m))) {
		row.len = 0;
		buf_append(&row, least->ptr, least->len);
		out->rows++;
		for (size_t i = 0; rc == RC_OK && i < m->r->nfamilies; i++)
			if (m->streams[i].has && bytes_eq(m->streams[i].cell.row, buf_bytes(&row)))
				rc = write_row(m, &m->streams[i], buf_bytes(&row), err);
	}
	buf_release(&row);
	return rc;
}

/* Finish the file and name it by the digest of its bytes, as a load does. */
static int finish_file(struct region_merge *m, struct family_stream *s, struct error *err)
{
	struct rewrite *r = m->r;
	struct manifest_region *out = &r->out->regions[m->region];
	struct hfile_summary *sum = &r->written[m->region * r->nfamilies + s->family];
	char name[HFILE_NAME_BYTES];
	int rc = hfile_finish(s->out, sum, err);

	s->out = NULL;
	if (rc)
		return rc;
	hfile_summary_name(sum, name);
	char *path = mem_format("%s/%s/%s", r->hfiles, s->schema->name, name);
	if (rename(s->path, path) < 0)
		rc = error_errno(err, "cannot rename %s to %s", s->path, path);
	mem_free(path);
	out->cells += sum->cells;
	out->bytes += sum->file_bytes;
	out->cell_bytes += sum->cell_bytes;
	out->predicted_bytes = out->bytes;
	return rc;
}

static int merge_region(struct region_merge *m, struct error *err)
{
	struct rewrite *r = m->r;
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < r->nfamilies; i++)
		rc = open_stream(m, &m->streams[i], err);
	if (rc == RC_OK)
		rc = write_rows(m, err);
	for (size_t i = 0; rc == RC_OK && i < r->nfamilies; i++)
		if (m->streams[i].out)
			rc = finish_file(m, &m->streams[i], err);
	return rc;
}

static void release(struct region_merge *m)
{
	for (size_t i = 0; i < m->r->nfamilies; i++) {
		struct family_stream *s = &m->streams[i];

		for (size_t k = 0; s->in && k < s->stores.n; k++)
			s->stores.inputs[k]->cells += compaction_cells(s->in, k);
		compaction_close(s->in);
		hfile_abort(s->out);
		mem_free(s->path);
		rewrite_stores_release(&s->stores);
	}
	mem_free(m->streams);
}

static int run_region(void *ctx, unsigned worker, size_t region, struct error *err)
{
	struct rewriting *w = ctx;
	struct rewrite *r = w->r;
	struct region_merge m = {.r = r, .region = region};

	if (!w->scratch[worker])
		w->scratch[worker] = hfile_scratch_new();
	m.scratch = w->scratch[worker];
	m.rows.start = region ? key_of(r, region - 1) : (struct bytes){0};
	m.rows.stop = region < r->splits.count ? key_of(r, region) : (struct bytes){0};
	r->out->regions[region] =
		(struct manifest_region){.start = m.rows.start, .end = m.rows.stop};
	m.streams = mem_calloc(r->nfamilies + 1, sizeof *m.streams);
	for (size_t i = 0; i < r->nfamilies; i++) {
		m.streams[i].family = i;
		m.streams[i].schema = &r->table.families[rewrite_schema(r, i)];
	}
	int rc = merge_region(&m, err);
	release(&m);
	if (r->opt->progress)
		r->opt->progress->regions++;
	return rc;
}

int rewrite_regions(struct rewrite *r, struct error *err)
{
	struct rewriting w = {.r = r, .scratch = mem_calloc(r->opt->threads, sizeof *w.scratch)};
	size_t n = r->splits.count + 1;

	if (r->opt->progress)
		r->opt->progress->regions_total = n;
	progress_begin(r->opt->progress, "merging", PROGRESS_REGIONS, 0);
	int rc = pool_run(r->opt->threads, n, run_region, &w, err);
	for (unsigned i = 0; i < r->opt->threads; i++)
		hfile_scratch_free(w.scratch[i]);
	mem_free(w.scratch);
	return rc;
}
