/*
 * load.c - the data path on one page
 *
 *   source --> row --> sort --> (regions) --> cut --> hfile --> publish
 *
 * Two parallel phases.  Reading: every thread takes pieces of the input, encodes their events and
 * puts the records into runs of its own.  Writing: every thread takes whole regions, merges the
 * runs' records of that key range and writes its files.  Between them the region borders are
 * chosen from all keys.  Nothing of the result depends on who did what, or when.
 */
#include "load_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "crash.h"
#include "io.h"
#include "measure.h"
#include "regions.h"
#include "tuning.h"
#include "write_regions.h"

#define PREDICT_BYTES                                                                              \
	(1u << 20) /* of cells, a block a place: less than 1 % of a load of a second */

/* --- open: everything that can be refused is refused here --- */

char *load_table_dir(const char *root, const char *name)
{
	char *dir = mem_format("%s/%s", root, name), *colon = strchr(dir + strlen(root), ':');
	if (colon)
		*colon = '/';
	return dir;
}

/* The names of a load's own files, beside the tables' folders or inside one. */
static bool is_own_name(const char *name)
{
	static const char *const beside[] = {"manifest.json", "rejects.jsonl", "plan.json"};
	static const char *const inside[] = {"hfiles", "create.rb", "splits.txt"};
	const char *colon = strchr(name, ':'), *const *own = colon ? inside : beside;
	for (size_t i = 0; i < 3; i++)
		if (strcmp(colon ? colon + 1 : name, own[i]) == 0)
			return true;
	return false;
}

int load_make_table_dir(const char *dir, const char *name, struct error *err)
{
	struct error ignored;
	if (is_own_name(name))
		return error_set(
			err, RC_CONFIG,
			"table %s: its folder would take the place of one of the load's own files, "
			"expected another name",
			name);
	if (strchr(name, ':')) {
		char *parent = mem_strdup(dir);
		*strrchr(parent, '/') = 0;
		io_make_dir(parent, &ignored); /* two tables may share a namespace */
		mem_free(parent);
	}
	return io_make_dir(dir, err);
}

static int make_table_dirs(const struct load_table *t, struct error *err)
{
	int rc = load_make_table_dir(t->dir, t->job->schema.name, err);
	if (rc == RC_OK)
		rc = io_make_dir(t->cut.hfiles_dir, err);
	for (size_t i = 0; rc == RC_OK && i < t->job->schema.nfamilies; i++) {
		char *dir = mem_format("%s/%s", t->cut.hfiles_dir, t->job->schema.families[i].name);
		rc = io_make_dir(dir, err);
		mem_free(dir);
	}
	return rc;
}

static int open_table(struct load *l, size_t i, struct error *err)
{
	struct load_table *t = &l->tables[i];
	t->job = &l->job->tables[i];
	t->sorter = l->pass.tables[i].sorter;
	t->dir = load_table_dir(staging_path(l->staging), t->job->schema.name);
	t->cut = pass_cut_table(&l->pass, i);
	t->cut.hfiles_dir = mem_format("%s/hfiles", t->dir);
	return make_table_dirs(t, err);
}

/*
 * Never the clock: the same input gives the same bytes on any day.  What is no number is refused,
 * as reproducible-builds.org/specs/source-date-epoch asks.
 */
static int read_epoch(struct load *l, struct error *err)
{
	const char *text = getenv("SOURCE_DATE_EPOCH");
	l->epoch_ms = -1;
	if (!text || !*text)
		return RC_OK;
	char *end;
	errno = 0;
	long long s = strtoll(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || s > INT64_MAX / 1000)
		return error_set(
			err, RC_CONFIG,
			"SOURCE_DATE_EPOCH: found `%.60s`, expected whole seconds since 1970",
			text);
	l->epoch_ms = s * 1000;
	return RC_OK;
}

/* Is there room on the disk for what goes there? */
static int end_piece(void *ctx, unsigned worker, uint64_t piece, struct error *err)
{
	(void)worker;
	(void)piece;
	return load_space_reading(ctx, err);
}

static int open_all(struct load *l, struct error *err)
{
	const struct run_options *o = l->opt->common;
	const struct pass_options po = {.job = l->job,
					.run = o,
					.files = l->opt->files,
					.nfiles = l->opt->nfiles,
					.topic = l->opt->kafka ? &l->opt->kafka->topic : NULL,
					.slice = l->opt->slice,
					.columns_file = l->opt->columns_file,
					.limit = l->opt->limit,
					.progress = l->progress,
					.ctx = l,
					.piece_end = end_piece};
	int rc = read_epoch(l, err);
	if (rc)
		return rc;
	rc = pass_open(&l->pass, &po, err);
	if (rc)
		return rc;
	l->threads = l->pass.memory.threads;
	rc = staging_open(&l->staging, l->opt->output_dir, &l->result->stale_removed, err);
	if (rc)
		return rc;
	rc = pass_prepare(&l->pass, o->temp_dir ? o->temp_dir : staging_path(l->staging), err);
	for (size_t i = 0; rc == RC_OK && i < l->job->ntables; i++)
		rc = open_table(l, i, err);
	return rc;
}

/* --- read: events become records in sorted runs --- */

static int read_all(struct load *l, struct error *err)
{
	struct manifest *m = &l->result->manifest;
	int rc = pass_run(&l->pass, err);
	m->read = l->pass.events;
	m->rejected = l->pass.rejected;
	m->created_ms = l->epoch_ms >= 0 ? l->epoch_ms : l->pass.newest_ms;
	l->result->blank_lines = l->pass.blank_lines;
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

/* --- split: region borders, known only now that all keys are --- */

/* What a region will take on disk is told before it is written, from a sample. */
static int predict(struct load *l, struct load_table *t, const char *work, struct error *err)
{
	struct cell_sample sample = {.bytes = PREDICT_BYTES};
	if (sorter_totals(t->sorter).records == 0)
		return RC_OK;
	return measure_disk_ratio(&t->cut, t->sorter, l->threads, &sample, work, &t->disk_per_byte,
				  err);
}

static int split_table(struct load *l, size_t i, const char *work, struct error *err)
{
	struct load_table *t = &l->tables[i];
	t->cut.created_ms = l->result->manifest.created_ms;
	int rc = tuning_decide(&t->cut, t->sorter, l->threads, work, &l->result->arena, &t->tuned,
			       err);
	const struct existing *live = existing_regions_table(l->opt->live, i);
	if (rc == RC_OK)
		rc = live ? splits_copy(&t->splits, &live->splits, err)
			  : regions_decide(&t->cut, t->sorter, l->threads, work, &t->splits,
					   &t->wanted, err);
	if (rc == RC_OK)
		rc = predict(l, t, work, err);
	if (t->wanted < t->splits.count + 1)
		t->wanted = t->splits.count + 1;
	t->results = mem_calloc(t->splits.count + 1, sizeof *t->results);
	return rc;
}

static int split_all(struct load *l, struct error *err)
{
	char *work = mem_format("%s/.samples", staging_path(l->staging));
	int rc = RC_OK;
	for (size_t i = 0; rc == RC_OK && i < l->job->ntables; i++)
		rc = split_table(l, i, work, err);
	if (rc == RC_OK)
		rc = load_space_writing(l, work, err);
	mem_free(work);
	return rc;
}

/* --- write: a task a region --- */

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
	pass_close(&l->pass);
	staging_abort(l->staging);
}

int load_run(const struct job *job, const struct load_options *opt, struct progress *progress,
	     struct load_result *result, struct error *err)
{
	static int (*const phases[PHASES])(struct load *, struct error *) = {open_all, read_all,
									     split_all, write_all,
									     load_publish};
	static const char *const steps[PHASES] = {"load-opened", "load-read", "load-split",
						  "load-written", "published"};
	struct load l = {.job = job, .opt = opt, .progress = progress, .result = result};
	*result = (struct load_result){0};
	l.tables = mem_calloc(job->ntables, sizeof *l.tables);
	int rc = RC_OK;
	for (int i = 0; rc == RC_OK && i < PHASES; i++) {
		double start = clock_seconds();
		progress->phase = i;
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
