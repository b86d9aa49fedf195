/* cmd_plan.c - implements `saltmill plan`, which predicts the regions of a load */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "arguments.h"
#include "ddl.h"
#include "pass.h"
#include "stream.h"
#include "input_options.h"
#include "io.h"
#include "cli/reports.h"
#include "load.h"
#include "mem.h"
#include "publish.h"
#include "planning.h"
#include "reporter.h"
#include "job_login.h"

#define SERVERS 8 /* region servers without --servers */

/* One run of the command. */
struct plan_run {
	struct arguments *args;
	struct job job;
	struct table_sample *samples; /* [ntables] */
	struct plan *plans;	      /* [ntables] */
	struct planning_counts counts;
	struct hot_keys *hot_keys; /* with --hotspot, else NULL */
	struct hotspot *hotspots;  /* [ntables] */
	struct lint lint;
	struct staging *staging; /* NULL without -o */
	char *work_dir;		 /* removed at the end */
	struct arena arena;
};

static int make_work_dir(struct plan_run *r, struct error *err)
{
	bool stale;

	if (r->args->output) {
		int rc = staging_open(&r->staging, r->args->output, &stale, err);

		if (rc)
			return rc;
		r->work_dir = mem_format("%s/.work", staging_path(r->staging));
		return io_make_dir(r->work_dir, err);
	}
	return io_make_temp_dir(&r->work_dir, r->args->run.temp_dir, "saltmill-plan", err);
}

static int read_events(struct plan_run *r, const struct input *input, struct error *err)
{
	const struct arguments *a = r->args;
	struct planning_options o = {.common = &a->run,
				     .input = input,
				     .fraction = a->sample,
				     .tune = a->tune,
				     .arena = &r->arena,
				     .work_dir = r->work_dir,
				     .keep = a->save != NULL,
				     .hot_keys = r->hot_keys,
				     .limit = {.share = 1, .is_share = true},
				     .lint = &r->lint,
				     .now_ms = clock_wall_ms()};
	struct progress progress = {.phase = "reading", .told = PROGRESS_INPUT};
	struct reporter *reporter = r->args->run.quiet ? NULL : reporter_start(&progress);
	int rc = planning_read(&r->job, &o, &progress, r->samples, &r->counts, err);

	reporter_stop(reporter);
	return rc;
}

/* Returns true if all merged sketches have the settings that the job needs. */
static bool all_tuned(const struct plan_run *r)
{
	bool all = true;

	for (size_t t = 0; t < r->job.ntables; t++)
		all &= !r->samples[t].untuned || !tuning_asked(&r->job.tables[t].schema);
	return all;
}

/* Merges the files of --from. The first file is the option's argument, and the other files are
 * operands. */
static int merge_saved(struct plan_run *r, struct error *err)
{
	const struct arguments *a = r->args;
	const struct input *in = &a->input;
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < a->samples.n; i++)
		rc = samples_merge(&r->job, r->samples, &r->counts, &r->arena, a->samples.path[i],
				   err);
	for (size_t i = 0; rc == RC_OK && i < in->nfiles; i++)
		rc = samples_merge(&r->job, r->samples, &r->counts, &r->arena, in->files[i], err);
	if (rc == RC_OK && a->tune && !all_tuned(r))
		rc = error_set(
			err, RC_CONFIG,
			"--tune: found sketches without the settings of --tune, expected only "
			"sketches saved with --tune; run `saltmill plan --tune --save FILE` again");
	return rc;
}

static int take_samples(struct plan_run *r, struct error *err)
{
	const struct arguments *a = r->args;
	struct input input = a->input;
	struct ingest topic = {0};
	const struct listener listener = command_listener("plan");

	if (a->samples.n)
		return merge_saved(r, err);
	int rc = ingest_peek(&topic, &r->job, input.nfiles, r->args->run.memory_bytes, a->state_dir,
			     &listener, err);
	const struct source_topic view = ingest_view(&topic);
	input.topic = topic.client ? &view : NULL;
	if (rc == RC_OK)
		rc = read_events(r, &input, err);
	ingest_close(&topic);
	return rc;
}

static const struct table *tuned_schema(struct plan_run *r, size_t t)
{
	const struct job_table *table = &r->job.tables[t];
	const struct hfile_tuning *tuned = r->samples[t].tuned;

	return &(tuned ? tuning_table(table, tuned, &r->arena) : table)->schema;
}

static int write_table(struct plan_run *r, size_t t, struct error *err)
{
	const struct table *schema = tuned_schema(r, t);
	const struct splits *splits = &r->plans[t].splits;
	char *dir = table_dir(staging_path(r->staging), schema->name);
	struct buf text = {0};
	int rc = table_make_dir(dir, schema->name, err);
	char *path = mem_format("%s/splits.txt", dir);

	splits_format(splits, &text);
	if (rc == RC_OK)
		rc = io_write_file(path, buf_bytes(&text), err);
	mem_free(path);
	path = mem_format("%s/create.rb", dir);
	text.len = 0;
	if (rc == RC_OK)
		rc = ddl_create(&text, schema, splits, err);
	if (rc == RC_OK)
		rc = io_write_file(path, buf_bytes(&text), err);
	mem_free(path);
	buf_release(&text);
	mem_free(dir);
	return rc;
}

static int settings_of(struct plan_run *r, size_t t, struct settings_table *s, struct error *err)
{
	const struct table *schema = &r->job.tables[t].schema;
	uint64_t size;
	char *dir = table_dir(staging_path(r->staging), schema->name);
	char *path = mem_format("%s/splits.txt", dir);

	s->name = schema->name;
	s->disk_per_byte = r->samples[t].disk_per_byte;
	s->ntuned = tuning_describe(schema, r->samples[t].tuned, &r->arena, &s->tuned);
	int rc = io_digest_file(path, s->splits_digest, &size, err);
	mem_free(path);
	mem_free(dir);
	return rc;
}

/* Writes the settings that `load --plan`, `map`, `reduce` and `unite` read (kept_plan.h). */
static int write_settings(struct plan_run *r, struct error *err)
{
	struct plan_settings s = {.tuned = r->args->samples.n ? all_tuned(r) : r->args->tune,
				  .ncolumns = r->counts.ncolumns,
				  .ntables = r->job.ntables};
	int rc = RC_OK;

	memcpy(s.job_digest, r->job.digest, sizeof s.job_digest);
	s.columns = arena_alloc(&r->arena, (s.ncolumns + 1) * sizeof *s.columns);
	for (size_t i = 0; i < s.ncolumns; i++)
		s.columns[i].name = bytes_str(r->counts.columns[i]);
	s.tables = arena_alloc(&r->arena, s.ntables * sizeof *s.tables);
	for (size_t t = 0; rc == RC_OK && t < s.ntables; t++)
		rc = settings_of(r, t, &s.tables[t], err);
	char *path = mem_format("%s/settings.json", staging_path(r->staging));
	if (rc == RC_OK)
		rc = settings_write(&s, path, err);
	mem_free(path);
	return rc;
}

static int publish(struct plan_run *r, struct error *err)
{
	int rc = RC_OK;

	for (size_t t = 0; rc == RC_OK && t < r->job.ntables; t++)
		rc = write_table(r, t, err);
	if (rc == RC_OK && r->counts.columns && !r->counts.columns_differ)
		rc = write_settings(r, err);
	struct buf text = {0};
	plan_report_json(&text, &r->job, r->plans, r->samples, &r->counts, NULL,
			 r->args->design.rows);
	char *path = mem_format("%s/plan.json", staging_path(r->staging));
	if (rc == RC_OK)
		rc = io_write_file(path, buf_bytes(&text), err);
	mem_free(path);
	buf_release(&text);
	if (rc == RC_OK)
		rc = io_remove_tree(r->work_dir, err);
	if (rc == RC_OK)
		rc = staging_publish(r->staging, err);
	if (rc == RC_OK)
		r->staging = NULL;
	return rc;
}

static int print(const struct plan_run *r)
{
	struct buf text = {0}, warnings = {0};

	if (r->args->run.json)
		plan_report_json(&text, &r->job, r->plans, r->samples, &r->counts, &r->lint,
				 r->args->design.rows);
	else if (!r->args->run.quiet)
		plan_report_text(&text, &r->job, r->plans, r->samples, &r->counts, &r->lint,
				 r->args->design.rows);
	for (size_t t = 0; r->counts.newest_ms && t < r->job.ntables; t++)
		for (size_t f = 0; f < r->job.tables[t].schema.nfamilies; f++)
			report_ttl(&warnings, &r->job.tables[t].schema, f, r->counts.newest_ms);
	lint_report_always(&warnings, &r->job, &r->lint);
	if (r->args->samples.n && r->counts.columns_differ)
		buf_append_str(
			&warnings,
			"the sketches have inputs with different columns, so the plan has no "
			"settings.json, and --plan refuses it\n");
	else if (r->args->samples.n && !r->args->tune && !all_tuned(r))
		buf_append_str(
			&warnings,
			"the sketches lack the settings of `level: auto`; to use --plan, save them "
			"with --tune\n");
	if (!r->args->run.quiet)
		command_warn_framing("plan", r->job.tables, r->job.ntables);
	int status = (r->args->run.json ? command_print : command_show)("plan", &text);
	command_warn("plan", &warnings);
	buf_release(&warnings);
	buf_release(&text);
	return status;
}

static int make_plan(struct plan_run *r, size_t t, struct error *err)
{
	const struct existing *live = existing_regions_table(&r->args->live, t);

	return planning_make(&r->plans[t], &r->job, &r->samples[t], live ? &live->splits : NULL,
			     err);
}

/* Replay the events against the planned regions. */
static int find_hotspots(struct plan_run *r, struct error *err)
{
	const struct arguments *a = r->args;
	int rc = RC_OK;

	r->hotspots = mem_calloc(r->job.ntables, sizeof *r->hotspots);
	for (size_t t = 0; rc == RC_OK && t < r->job.ntables; t++) {
		const struct regions *g = &r->job.tables[t].regions;
		struct hotspot *h = &r->hotspots[t];
		const struct hotspot_options o = {.splits = &r->plans[t].splits,
						  .planned = g->split == SPLIT_SAMPLED &&
							     !existing_regions_table(&a->live, t),
						  .servers = a->design.servers ? a->design.servers
									       : SERVERS,
						  .writes = a->design.writes};

		rc = hotspot_make(h, r->hot_keys, t, &o, err);
		if (rc == RC_OK)
			lint_hotspot(&r->lint, &r->job, t, &h->replay, h->grown);
	}
	r->counts.hotspots = r->hotspots;
	return rc;
}

static int plan(struct plan_run *r, struct error *err)
{
	r->hot_keys = r->args->hotspot ? hot_keys_new() : NULL;
	for (size_t t = 0; t < r->job.ntables; t++) /* the script needs the settings */
		r->args->tune |= tuning_decides_table(&r->job.tables[t].schema);
	r->samples = mem_calloc(r->job.ntables, sizeof *r->samples);
	r->plans = mem_calloc(r->job.ntables, sizeof *r->plans);
	lint_job(&r->lint, &r->job, &r->args->live);
	int rc = r->args->save ? samples_check(r->args->save, err) : RC_OK;
	if (rc == RC_OK && r->hot_keys)
		rc = hot_keys_reserve(&r->args->run, r->job.ntables, err);
	if (rc == RC_OK)
		rc = make_work_dir(r, err);
	if (rc == RC_OK)
		rc = take_samples(r, err);
	if (rc == RC_OK && r->args->save)
		rc = samples_save(&r->job, r->samples, &r->counts, r->args->save, err);
	for (size_t t = 0; rc == RC_OK && t < r->job.ntables; t++)
		rc = make_plan(r, t, err);
	if (rc == RC_OK && r->hot_keys)
		rc = find_hotspots(r, err);
	if (rc == RC_OK && r->staging)
		rc = publish(r, err);
	return rc;
}

static void close_run(struct plan_run *r)
{
	struct error ignored;

	for (size_t t = 0; r->samples && t < r->job.ntables; t++) {
		table_sample_release(&r->samples[t]);
		plan_release(&r->plans[t]);
		if (r->hotspots)
			hotspot_release(&r->hotspots[t]);
	}
	mem_free(r->hotspots);
	hot_keys_free(r->hot_keys);
	mem_free(r->samples);
	mem_free(r->plans);
	if (r->work_dir && !r->args->output)
		io_remove_tree(r->work_dir, &ignored);
	mem_free(r->work_dir);
	staging_abort(r->staging);
	lint_release(&r->lint);
	arena_release(&r->arena);
	job_release(&r->job);
}

static int open_plan(struct plan_run *r, struct error *err)
{
	struct arguments *a = r->args;
	int rc = job_load(&r->job, a->operand[0], err);

	r->job.allow_code = a->run.allow_code;
	a->live.servers = a->hbase;
	if (rc == RC_OK)
		rc = job_login(a, &r->job, err);
	if (rc == RC_OK)
		rc = input_complete(a, 1, err);
	if (rc == RC_OK)
		rc = existing_regions_read(&a->live, &r->job, err);
	return rc;
}

static int run(struct arguments *a)
{
	struct plan_run r = {.args = a};
	struct error err;

	if (a->save && a->sample < 1)
		return arguments_refuse(a,
					"--save: found --sample, expected a sketch of all events, "
					"because --from merges complete sketches; remove --sample");
	int rc = open_plan(&r, &err);

	if (rc == RC_OK)
		rc = plan(&r, &err);
	int status = rc ? command_fail("plan", &err) : print(&r);
	if (status == EXIT_DONE && r.counts.rejected)
		status = EXIT_REJECTS;
	close_run(&r);
	return status;
}

const struct command plan_command = {
	.name = "plan",
	.usage = "JOB [FILE...] [-o DIR] [options]",
	.summary = "predict the regions of a load from the keys of its events, without HFiles",
	.least = 1,
	.most = ANY_NUMBER,
	.run = run,
	.decides = "plan reads all events (or --sample of them) and keeps a weighted sample of the "
		   "row keys. `regions:` of the job sets the number of regions, or their size; the "
		   "split points divide the bytes evenly. With --existing or --hbase, plan uses "
		   "existing split points. It predicts sizes on disk from sample HFiles. Each size "
		   "has an error bound with 99% confidence. plan also lists heavy keys, and the "
		   "regions that HBase's own split algorithms would give.",
	.statuses = "0 done; 1 failed; " STATUS_USAGE
		    "; 3 done, but some input was bad; " STATUS_STOPPED,
	.examples = {"saltmill plan conf/ratings.yaml ratings.csv --sample 5%",
		     "saltmill plan conf/ratings.yaml ratings.csv -o plan"}};
