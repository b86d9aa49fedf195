/* region_writer.c - write the files of a region, one for each family with cells */
#include <stdio.h>

#include "pool.h"
#include "rewrite.h"

#define CELLS_STEP 4096 /* cells between two looks at the stop flag */

size_t rewrite_schema(const struct rewrite *r, size_t family)
{
	size_t i = 0;

	while (!bytes_eq(r->families[family].name, bytes_str(r->table.families[i].name)))
		i++;
	return i;
}

void region_writer_open(struct region_writer *w, struct rewrite *r, size_t region,
			struct hfile_scratch *scratch)
{
	const struct splits *s = &r->splits;
	const struct bytes none = {0};

	*w = (struct region_writer){.r = r,
				    .region = region,
				    .scratch = scratch,
				    .files = mem_calloc(r->nfamilies + 1, sizeof *w->files)};
	r->out->regions[region] =
		(struct manifest_region){.start = region ? s->keys[region - 1] : none,
					 .end = region < s->count ? s->keys[region] : none};
}

static const struct family *schema_of(const struct rewrite *r, size_t family)
{
	return &r->table.families[rewrite_schema(r, family)];
}

static int open_file(struct region_writer *w, size_t family, struct error *err)
{
	const struct rewrite *r = w->r;
	struct new_file *to = &w->files[family];
	const struct family *f = schema_of(r, family);
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
				  .mvcc = r->opt->keep_sequence,
				  .keep_mvcc = r->opt->keep_sequence,
				  .scratch = w->scratch};

	for (size_t i = 0; i < r->nfiles; i++)
		o.tags |= r->files[i].family == family && r->input_of[i]->tags;
	to->path = mem_format("%s/%s/.region-%zu", r->hfiles, f->name, w->region);
	return hfile_writer_new(&to->out, to->path, &o, err);
}

int region_writer_add(struct region_writer *w, size_t family, const struct cell *c,
		      struct error *err)
{
	struct new_file *to = &w->files[family];
	int rc = to->out ? RC_OK : open_file(w, family, err);

	if (rc)
		return rc;
	rc = hfile_add(to->out, c, err);
	if (rc)
		return error_prefix(err, "%s: ", schema_of(w->r, family)->name);
	if (++w->cells % CELLS_STEP == 0) {
		rc = stop_check(err);
		progress_add(w->r->opt->progress, CELLS_STEP);
	}
	return rc;
}

void region_writer_sequence(struct region_writer *w, size_t family, int64_t id)
{
	if (w->r->opt->keep_sequence && w->files[family].out && id >= 0)
		hfile_set_sequence(w->files[family].out, (uint64_t)id);
}

/* Finish the file and name it by the digest of its bytes, as a load does. */
static int finish_file(struct region_writer *w, size_t family, struct error *err)
{
	struct rewrite *r = w->r;
	struct new_file *f = &w->files[family];
	struct manifest_region *out = &r->out->regions[w->region];
	struct hfile_summary *sum = &r->written[w->region * r->nfamilies + family];
	char name[HFILE_NAME_BYTES];
	int rc = hfile_finish(f->out, sum, err);

	f->out = NULL;
	if (rc)
		return rc;
	hfile_summary_name(sum, name);
	char *path = mem_format("%s/%s/%s", r->hfiles, schema_of(r, family)->name, name);
	if (rename(f->path, path) < 0)
		rc = error_errno(err, "cannot rename %s to %s", f->path, path);
	mem_free(path);
	out->cells += sum->cells;
	out->bytes += sum->file_bytes;
	out->cell_bytes += sum->cell_bytes;
	out->predicted_bytes = out->bytes;
	return rc;
}

int region_writer_finish(struct region_writer *w, struct error *err)
{
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < w->r->nfamilies; i++)
		if (w->files[i].out)
			rc = finish_file(w, i, err);
	return rc;
}

void region_writer_release(struct region_writer *w)
{
	for (size_t i = 0; i < w->r->nfamilies; i++) {
		hfile_abort(w->files[i].out);
		mem_free(w->files[i].path);
	}
	mem_free(w->files);
}

/* The work of all threads. */
struct region_scratch {
	struct rewrite *r;
	struct hfile_scratch **of; /* of each thread; NULL before its first use */
	int (*write)(struct rewrite *r, struct region_writer *w, struct error *err);
};

static int run_region(void *ctx, unsigned worker, size_t region, struct error *err)
{
	struct region_scratch *s = ctx;
	struct region_writer w;

	if (!s->of[worker])
		s->of[worker] = hfile_scratch_new();
	region_writer_open(&w, s->r, region, s->of[worker]);
	int rc = s->write(s->r, &w, err);
	if (rc == RC_OK)
		rc = region_writer_finish(&w, err);
	region_writer_release(&w);
	if (s->r->opt->progress)
		s->r->opt->progress->regions++;
	return rc;
}

int rewrite_run_regions(struct rewrite *r, const char *phase,
			int (*write)(struct rewrite *r, struct region_writer *w, struct error *err),
			struct error *err)
{
	struct region_scratch s = {.r = r,
				   .of = mem_calloc(r->opt->threads, sizeof *s.of),
				   .write = write};
	size_t n = r->splits.count + 1;

	if (r->opt->progress) {
		r->opt->progress->regions = 0;
		r->opt->progress->regions_total = n;
	}
	progress_begin(r->opt->progress, phase, PROGRESS_REGIONS, 0);
	int rc = pool_run(r->opt->threads, n, run_region, &s, err);
	for (unsigned i = 0; i < r->opt->threads; i++)
		hfile_scratch_free(s.of[i]);
	mem_free(s.of);
	return rc;
}
