/*
 * tuning.c - choose compression settings by trying them on a small sample (hfile_tune)
 *
 * The trials must cost at most 2 % of the load. The sample and all trials take about 150
 * instructions for a byte of the sample. A load takes at least 25 for a byte of cells. With the aim
 * size, trials take about 5 times as long, and the load three times as long. A sample needs half a
 * block, so a small load makes no trials.
 */
#include "pass.h"

#include "io.h"
#include "mem.h"

#define SAMPLE_BYTES (2u << 20) /* enough for 32 blocks of 64 KB */
#define SAMPLE_LEAST (32u << 10)
/* With fewer bytes of cells, trials would cost over 2 % of the load, so there are none. */
#define TRIALS_FROM	 (8u << 20)
#define TRIALS_FROM_READ (16u << 20)
#define TRIALS_FROM_SIZE (32u << 20)
#define SHARE		 320 /* one byte of SHARE is in the sample */
/*
 * Longest row of the sample. A longer row fills several blocks, but the best settings depend on the
 * similarity of neighboring rows. The limit also keeps the sample small.
 */
#define ROW_BYTES_MOST (256u << 10)

static struct hfile_tune_request request_of(const struct family *f)
{
	return (struct hfile_tune_request){f->aim, f->encoding_free, f->block_free};
}

static int try_files(const struct cut_table *t, const struct cut_result *files, unsigned threads,
		     struct hfile_tuning *tuned, struct error *err)
{
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < files->nfiles; i++) {
		const struct family *f = &t->table->schema.families[files->files[i].family];

		if (f->aim == AIM_NONE)
			continue;
		struct hfile_tune_request r = request_of(f);
		char *path = mem_format("%s/%s/%s", t->hfiles_dir, f->name, files->files[i].name);
		struct hfile *h;
		rc = hfile_open(&h, path, err);
		if (rc == RC_OK)
			rc = hfile_tune(h, &r, threads, &tuned[files->files[i].family], err);
		hfile_close(h);
		mem_free(path);
	}
	return rc;
}

/* Copy the table, because the caller changes its families. */
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

const struct job_table *tuning_table(const struct job_table *t, const struct hfile_tuning *tuned,
				     struct arena *a)
{
	struct job_table *best = copy_table(t, a);

	for (size_t i = 0; i < best->schema.nfamilies; i++) {
		struct family *f = &best->schema.families[i];

		if (!tuned[i].level)
			continue;
		f->level = tuned[i].level;
		f->hash_log = tuned[i].hash_log;
		f->min_match = tuned[i].min_match;
		if (tuned[i].chosen)
			f->encoding = tuned[i].encoding;
		if (tuned[i].block_bytes)
			f->block_bytes = tuned[i].block_bytes;
		f->encoding_free = f->block_free = false;
	}
	return best;
}

void tuning_apply(struct cut_table *t, const struct hfile_tuning *tuned, struct arena *a)
{
	t->table = tuning_table(t->table, tuned, a);
}

static const char *aim_name(enum codec_aim aim)
{
	switch (aim) {
	case AIM_NONE:
	case AIM_BALANCE: return "balance";
	case AIM_SPEED: return "speed";
	case AIM_SIZE: return "size";
	case AIM_READ: return "read";
	}
	return "";
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
				.aim = aim_name(schema->families[i].aim),
				.level = found->level,
				.hash_log = found->hash_log,
				.min_match = found->min_match,
				.encoding = found->chosen ? encoding_name(found->encoding) : NULL,
				.block_bytes = found->block_bytes,
				.plain_bytes = found->plain_bytes,
				.stored_bytes = found->stored_bytes,
				.usual_bytes = found->usual_bytes,
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

bool tuning_decides_table(const struct table *schema)
{
	for (size_t i = 0; i < schema->nfamilies; i++)
		if (schema->families[i].encoding_free || schema->families[i].block_free)
			return true;
	return false;
}

/* Choose settings without cells, to create the table. */
static struct hfile_tuning *decide_blindly(const struct table *schema, struct arena *a)
{
	struct hfile_tuning *tuned = arena_alloc(a, schema->nfamilies * sizeof *tuned);

	for (size_t i = 0; i < schema->nfamilies; i++) {
		struct hfile_tune_request r = request_of(&schema->families[i]);

		tuned[i] = hfile_tune_blind(&r);
	}
	return tuned;
}

const struct job_table *tuning_without_data(const struct job_table *t, struct arena *a)
{
	return tuning_table(t, decide_blindly(&t->schema, a), a);
}

static uint64_t trials_of(enum codec_aim aim)
{
	switch (aim) {
	case AIM_NONE: return 0;
	case AIM_BALANCE:
	case AIM_SPEED: return TRIALS_FROM;
	case AIM_READ: return TRIALS_FROM_READ;
	case AIM_SIZE: return TRIALS_FROM_SIZE;
	}
	return 0;
}

/* Return the bytes of cells from which trials cost at most 2 % of the load. */
static uint64_t trials_from(const struct table *schema)
{
	uint64_t most = 0;

	for (size_t i = 0; i < schema->nfamilies; i++)
		if (trials_of(schema->families[i].aim) > most)
			most = trials_of(schema->families[i].aim);
	return most;
}

/* Return the size of a sample whose trials cost at most 2 % of the load. */
static uint64_t sample_bytes(const struct table *schema, uint64_t weight)
{
	uint64_t n = weight / (trials_from(schema) == TRIALS_FROM_SIZE ? 2 * SHARE : SHARE);

	n = n < SAMPLE_LEAST ? SAMPLE_LEAST : n;
	return n < SAMPLE_BYTES ? n : SAMPLE_BYTES;
}

int tuning_decide(struct cut_table *t, struct sorter *sorter, unsigned threads,
		  const char *work_dir, uint64_t weight, struct arena *a,
		  struct hfile_tuning **tuned, struct error *err)
{
	size_t n = t->table->schema.nfamilies;

	*tuned = NULL;
	if (!tuning_asked(&t->table->schema))
		return RC_OK;
	bool whole = tuning_decides_table(&t->table->schema);
	if (sorter_totals(sorter).records == 0 || weight < trials_from(&t->table->schema)) {
		if (!whole)
			return RC_OK;
		*tuned = decide_blindly(&t->table->schema, a);
		tuning_apply(t, *tuned, a);
		return RC_OK;
	}
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
	const struct cell_sample rows = {.bytes = sample_bytes(&t->table->schema, weight),
					 .row_most = ROW_BYTES_MOST};
	int rc = cell_sample_write(&sample, sorter, threads, &rows, &files, err);
	if (rc == RC_OK)
		rc = try_files(&sample, &files, threads, *tuned, err);
	cut_result_release(&files);
	int rm = io_remove_tree(work_dir, rc ? &ignored : err);
	tuning_apply(t, *tuned, a);
	return rc ? rc : rm;
}
