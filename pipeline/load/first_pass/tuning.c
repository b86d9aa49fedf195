/*
 * tuning.c - choose compression settings by trying them on a small sample (hfile_tune)
 */
#include "pass.h"

#include "io.h"
#include "mem.h"

#define SAMPLE_BYTES (2u << 20) /* enough for 32 blocks of 64 KB */
/*
 * Longest row of the sample. A longer row fills several blocks, but the best settings depend on the
 * similarity of neighboring rows. The limit also keeps the sample small.
 */
#define ROW_BYTES_MOST (256u << 10)

static int try_files(const struct cut_table *t, const struct cut_result *files, unsigned threads,
		     struct hfile_tuning *tuned, struct error *err)
{
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < files->nfiles; i++) {
		const struct family *f = &t->table->schema.families[files->files[i].family];

		if (f->aim == AIM_NONE)
			continue;
		char *path = mem_format("%s/%s/%s", t->hfiles_dir, f->name, files->files[i].name);
		struct hfile *h;
		rc = hfile_open(&h, path, err);
		if (rc == RC_OK)
			rc = hfile_tune(h, f->aim, threads, &tuned[files->files[i].family], err);
		hfile_close(h);
		mem_free(path);
	}
	return rc;
}

/* Copy the table so that its families can be changed. */
static struct job_table *copy_table(const struct job_table *from, struct arena *a)
{
	struct job_table *to = arena_alloc(a, sizeof *to);
	size_t n = from->schema.nfamilies + from->schema.nothers;
	size_t bytes = n * sizeof *from->schema.families;

	*to = *from;
	to->schema.families = arena_alloc(a, bytes);
	memcpy(to->schema.families, from->schema.families, bytes);
	return to;
}

void tuning_apply(struct cut_table *t, const struct hfile_tuning *tuned, struct arena *a)
{
	struct job_table *best = copy_table(t->table, a);

	for (size_t i = 0; i < best->schema.nfamilies; i++)
		if (tuned[i].level) {
			best->schema.families[i].level = tuned[i].level;
			best->schema.families[i].hash_log = tuned[i].hash_log;
			best->schema.families[i].min_match = tuned[i].min_match;
		}
	t->table = best;
}

size_t tuning_describe(const struct table *schema, const struct hfile_tuning *tuned,
		       struct arena *a, struct manifest_tuning **out)
{
	size_t n = 0;

	*out = arena_alloc(a, schema->nfamilies * sizeof **out);
	for (size_t i = 0; tuned && i < schema->nfamilies; i++) {
		const struct hfile_tuning *found = &tuned[i];

		if (found->level)
			(*out)[n++] = (struct manifest_tuning){
				.family = arena_strdup(a, schema->families[i].name),
				.aim = schema->families[i].aim == AIM_SIZE ? "size" : "speed",
				.level = (size_t)found->level,
				.hash_log = found->hash_log,
				.min_match = found->min_match,
				.plain_bytes = found->plain_bytes,
				.stored_bytes = found->stored_bytes,
			};
	}
	return n;
}

bool tuning_asked(const struct table *schema)
{
	for (size_t i = 0; i < schema->nfamilies; i++)
		if (schema->families[i].aim != AIM_NONE)
			return true;
	return false;
}

int tuning_decide(struct cut_table *t, struct sorter *sorter, unsigned threads,
		  const char *work_dir, struct arena *a, struct hfile_tuning **tuned,
		  struct error *err)
{
	size_t n = t->table->schema.nfamilies;

	*tuned = NULL;
	if (!tuning_asked(&t->table->schema) || sorter_totals(sorter).records == 0)
		return RC_OK;
	*tuned = arena_alloc(a, n * sizeof **tuned);
	struct job_table *plain = copy_table(t->table, a);
	struct cut_table sample = *t;
	struct cut_result files = {0};
	struct error ignored;
	sample.table = plain;
	sample.hfiles_dir = work_dir;
	plain->max_hfile_bytes = 0;
	for (size_t i = 0; i < n; i++)
		plain->schema.families[i].codec = CODEC_NONE;
	const struct cell_sample rows = {.bytes = SAMPLE_BYTES, .row_most = ROW_BYTES_MOST};
	int rc = cell_sample_write(&sample, sorter, threads, &rows, &files, err);
	if (rc == RC_OK)
		rc = try_files(&sample, &files, threads, *tuned, err);
	cut_result_release(&files);
	int rm = io_remove_tree(work_dir, rc ? &ignored : err);
	tuning_apply(t, *tuned, a);
	return rc ? rc : rm;
}
