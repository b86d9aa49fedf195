/*
 * load.c - run all phases of a load
 *
 * source --> row --> sort --> (regions) --> cut --> hfile --> publish
 *
 * A load has two parallel phases. In the reading phase, each thread takes pieces of the input,
 * encodes their events, and puts the records into its runs. In the writing phase, each thread takes
 * whole regions, merges the runs' records of that key range, and writes the region's files. Between
 * the phases, the load chooses the region borders from all keys.
 *
 * The result does not depend on the number of threads or on their timing.
 */
#include "load_state.h"

#include <string.h>

#include "clock.h"
#include "run.h"
#include "io.h"
#include "pass.h"
#include "half_reports.h"
#include "cut.h"

/*
 * Bytes of cells in a sample for predictions. The sample adds less than 1 % to a load of one
 * second.
 */
#define PREDICT_BYTES (1u << 20)

/* --- open: check everything that needs no event --- */

static int make_table_dirs(const struct load_table *t, struct error *err)
{
	struct storage *to = t->cut.to;
	int rc = to ? table_make_dir_at(to, t->dir, t->job->schema.name, err)
		    : table_make_dir(t->dir, t->job->schema.name, err);

	if (rc == RC_OK)
		rc = to ? storage_make_dirs(to, t->cut.hfiles_dir, 0, err)
			: io_make_dir(t->cut.hfiles_dir, err);
	for (size_t i = 0; rc == RC_OK && i < t->job->schema.nfamilies; i++) {
		char *dir = mem_format("%s/%s", t->cut.hfiles_dir, t->job->schema.families[i].name);

		rc = to ? storage_make_dirs(to, dir, 0, err) : io_make_dir(dir, err);
		mem_free(dir);
	}
	return rc;
}

static int open_table(struct load *l, size_t i, struct error *err)
{
	struct load_table *t = &l->tables[i];

	t->job = &l->job->tables[i];
	t->sorter = l->pass.tables[i].sorter;
	t->dir = table_dir(staging_path(l->staging), t->job->schema.name);
	t->cut = pass_cut_table(&l->pass, i);
	t->cut.hfiles_dir = mem_format("%s/hfiles", t->dir);
	t->cut.to = staging_is_remote(l->staging) ? staging_storage(l->staging) : NULL;
	/* the store has no rename, which gives a file its name */
	t->cut.local_dir = t->cut.to && !storage_renames(t->cut.to) ? l->work : NULL;
	return make_table_dirs(t, err);
}

/* Check after each piece of input that the disk has enough free space for the rest. */
static int end_piece(void *ctx, unsigned worker, uint64_t piece, struct error *err)
{
	(void)worker;
	(void)piece;
	return load_space_reading(ctx, err);
}

static int check_columns(const struct load *l, struct error *err)
{
	size_t n;

	const char *const *columns = source_columns(l->pass.source, &n);
	return l->opt->plan ? kept_plan_columns(l->opt->plan, columns, n, "the input", err) : RC_OK;
}

/* Compute regions that need no data, so that a fault appears before the load reads the input. */
static int check_regions(const struct load *l, struct error *err)
{
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < l->job->ntables; i++) {
		const struct job_table *t = &l->job->tables[i];
		struct splits ignored = {0};

		if (t->regions.split != SPLIT_KEY || l->opt->plan ||
		    existing_regions_table(l->opt->live, i))
			continue;
		rc = regions_without_data(l->job, t, &ignored, NULL, err);
		rc = rc == RC_END ? RC_OK : rc;
		splits_release(&ignored);
	}
	return rc;
}

static int open_all(struct load *l, struct error *err)
{
	const struct run_options *o = l->opt->common;
	const bool *none = arena_alloc(&l->result->arena, l->job->ntables);
	const struct pass_options po = {.job = l->job,
					.run = o,
					.input = l->opt->input,
					.limit = l->opt->limit,
					.progress = l->progress,
					.ctx = l,
					.wanted = l->opt->halves ? none : NULL,
					.piece_end = end_piece};
	int rc = source_date_epoch(&l->epoch_ms, err);

	if (rc)
		return rc;
	rc = pass_open(&l->pass, &po, err);
	if (rc)
		return rc;
	rc = check_columns(l, err);
	if (rc == RC_OK)
		rc = check_regions(l, err);
	if (rc)
		return rc;
	l->threads = l->pass.memory.threads;
	const bool sent = l->opt->halves && l->opt->halves->hfiles;
	struct staging_rescue rescue = {load_give_back, l, NULL};
	rc = sent ? sent_files_check_place(l->opt->halves->hfiles, l->opt->output_dir,
					   &rescue.folder, &l->result->arena, err)
		  : RC_OK;
	if (rc == RC_OK)
		rc = staging_open_at(&l->staging, l->opt->output_dir, l->opt->place,
				     sent ? &rescue : NULL, &l->result->stale_removed, err);
	if (rc == RC_OK && staging_is_remote(l->staging))
		rc = io_make_temp_dir(&l->temp, o->temp_dir, "saltmill-load", err);
	if (rc)
		return rc;
	l->work = l->temp ? l->temp : staging_path(l->staging);
	rc = pass_prepare(&l->pass, o->temp_dir ? o->temp_dir : l->work, err);
	for (size_t i = 0; rc == RC_OK && i < l->job->ntables; i++)
		rc = open_table(l, i, err);
	return rc;
}

/* --- read: events become records in sorted runs --- */

static int read_all(struct load *l, struct error *err)
{
	int rc = pass_run(&l->pass, err);

	load_note_reading(l);
	if (rc)
		return rc;
	load_reserve_writing(l);
	rc = pass_sort(&l->pass, err);
	for (size_t t = 0; rc == RC_OK && t < l->job->ntables; t++) {
		struct sorter_totals totals = sorter_totals(l->tables[t].sorter);

		l->result->runs += totals.runs;
		l->result->spilled_bytes += totals.spilled_bytes;
	}
	return rc;
}

/* --- split: region borders, known only after all keys --- */

/* Predict the size of each region on disk from a sample. */
static int predict(struct load *l, struct load_table *t, const char *work, struct error *err)
{
	struct cell_sample sample = {.bytes = PREDICT_BYTES};

	if (sorter_totals(t->sorter).records == 0)
		return RC_OK;
	return measure_disk_ratio(&t->cut, t->sorter, l->threads, &sample, work, &t->disk_per_byte,
				  err);
}

/* Use the split points of a plan. */
static int split_as_planned(struct load *l, size_t i, struct error *err)
{
	struct load_table *t = &l->tables[i];
	const struct kept_table *kept = &l->opt->plan->tables[i];

	if (kept->tuned) {
		t->tuned = kept->tuned;
		tuning_apply(&t->cut, kept->tuned, &l->result->arena);
		t->job = t->cut.table;
	}
	t->disk_per_byte = kept->disk_per_byte;
	return splits_copy(&t->splits, &kept->splits, err);
}

static int split_by_data(struct load *l, size_t i, const char *work, struct error *err)
{
	struct load_table *t = &l->tables[i];
	int rc = tuning_decide(&t->cut, t->sorter, l->threads, work,
			       sorter_totals(t->sorter).weight, &l->result->arena, &t->tuned, err);
	const struct existing *live = existing_regions_table(l->opt->live, i);

	t->job = t->cut.table;
	if (rc == RC_OK)
		rc = live ? splits_copy(&t->splits, &live->splits, err)
			  : regions_decide(l->job, &t->cut, t->sorter, l->threads, work, &t->splits,
					   &t->wanted, err);
	return rc ? rc : predict(l, t, work, err);
}

static int split_table(struct load *l, size_t i, const char *work, struct error *err)
{
	struct load_table *t = &l->tables[i];

	t->cut.created_ms = l->result->manifest.created_ms;
	int rc = l->opt->plan ? split_as_planned(l, i, err) : split_by_data(l, i, work, err);
	if (t->wanted < t->splits.count + 1)
		t->wanted = t->splits.count + 1;
	t->results = mem_calloc(t->splits.count + 1, sizeof *t->results);
	return rc;
}

static int split_all(struct load *l, struct error *err)
{
	char *work = mem_format("%s/.samples", l->work);
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < l->job->ntables; i++)
		rc = split_table(l, i, work, err);
	if (rc == RC_OK && !l->opt->halves)
		rc = load_space_writing(l, work, err);
	mem_free(work);
	return rc;
}

/* --- write: one task for each region --- */

static int write_all(struct load *l, struct error *err)
{
	size_t n = l->job->ntables;
	struct write_table *tables = mem_calloc(n, sizeof *tables);

	for (size_t i = 0; i < n; i++) {
		struct load_table *t = &l->tables[i];

		tables[i] = (struct write_table){.cut = &t->cut,
						 .splits = &t->splits,
						 .end = t->splits.count + 1,
						 .results = t->results};
	}
	int rc = write_regions(tables, n, l->write_threads, l->progress, err);
	mem_free(tables);
	if (rc == RC_OK)
		load_end_writing(l);
	return rc;
}

/* --- all phases --- */

static void close_all(struct load *l)
{
	struct error ignored;

	for (size_t i = 0; l->tables && i < l->job->ntables; i++) {
		struct load_table *t = &l->tables[i];

		for (size_t r = 0; t->results && r <= t->splits.count; r++)
			cut_result_release(&t->results[r]);
		mem_free(t->results);
		splits_release(&t->splits);
		char *hfiles_dir = (char *)(uintptr_t)t->cut.hfiles_dir;
		mem_free(hfiles_dir);
		mem_free(t->dir);
	}
	mem_free(l->tables);
	maps_release(&l->maps);
	pass_close(&l->pass);
	staging_abort(l->staging);
	mem_free(l->reduced);
	if (l->temp)
		io_remove_tree(l->temp, &ignored);
	mem_free(l->temp);
}

int load_run(const struct job *job, const struct load_options *opt, struct progress *progress,
	     struct load_result *result, struct error *err)
{
	typedef int phase(struct load *, struct error *);
	static phase *const alone[PHASES] = {open_all, read_all, split_all, write_all,
					     load_publish};
	static phase *const united[PHASES] = {open_all, load_take_maps, split_all,
					      load_take_reduces, load_publish};
	phase *const *phases = opt->halves ? united : alone;
	static const char *const names[PHASES] = {"opening", "reading", "choosing splits",
						  "writing", "publishing"};
	static const char *const steps[PHASES] = {"load-opened", "load-read", "load-split",
						  "load-written", "published"};
	struct load l = {.job = job, .opt = opt, .progress = progress, .result = result};
	*result = (struct load_result){0};
	l.tables = mem_calloc(job->ntables, sizeof *l.tables);
	int rc = RC_OK;
	for (int i = 0; rc == RC_OK && i < PHASES; i++) {
		double start = clock_seconds();

		progress_begin(progress, names[i],
			       i == PHASE_READ && !opt->halves ? PROGRESS_INPUT : PROGRESS_SECONDS,
			       0);
		rc = phases[i](&l, err);
		result->seconds[i] = clock_seconds() - start;
		crash_at(steps[i]);
	}
	close_all(&l);
	return rc;
}

void load_result_release(struct load_result *r)
{
	arena_release(&r->arena);
}
