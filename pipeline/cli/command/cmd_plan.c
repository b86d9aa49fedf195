/* cmd_plan.c - `saltmill plan JOB [FILE...]` */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "cmd.h"
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

enum { OPT_SAMPLE = 500, OPT_SAVE, OPT_FROM, OPT_STATE, OPT_TUNE, OPT_EXISTING, OPT_HBASE };

struct plan_arguments {
	const char *output_dir, *save, *state_dir;
	struct input_options from;
	bool tune;
	struct existing_regions live;
	const char **saved; /* by --from */
	size_t nsaved;
	double fraction;
};

static int take_option(void *ctx, int opt, const char *arg, struct error *err)
{
	struct plan_arguments *a = ctx;
	char *end;
	int rc = input_option(&a->from, opt, arg, err);

	if (rc != RC_END)
		return rc;
	switch (opt) {
	case OPT_SAMPLE:
		a->fraction = strtod(arg, &end);
		if (*end == '%' && end[1] == 0)
			a->fraction /= 100;
		else if (*end)
			a->fraction = 0;
		if (!(a->fraction > 0 && a->fraction <= 1))
			return error_set(err, RC_CONFIG,
					 "--sample: found `%s`, expected a share like 5%% or 0.05",
					 arg);
		return RC_OK;
	case OPT_SAVE: a->save = arg; return RC_OK;
	case OPT_STATE: a->state_dir = arg; return RC_OK;
	case OPT_EXISTING: existing_regions_add(&a->live, arg); return RC_OK;
	case OPT_HBASE: a->live.servers = arg; return RC_OK;
	case OPT_TUNE: a->tune = true; return RC_OK;
	case OPT_FROM:
		a->saved = mem_realloc(a->saved, (a->nsaved + 1) * sizeof *a->saved);
		a->saved[a->nsaved++] = arg;
		return RC_OK;
	default: a->output_dir = arg; return RC_OK;
	}
}

/* One run of the command. */
struct plan_run {
	const struct run_options *common;
	const struct plan_arguments *args;
	struct job job;
	struct table_sample *samples; /* [ntables] */
	struct plan *plans;	      /* [ntables] */
	struct planning_counts counts;
	struct lint lint;
	struct staging *staging; /* NULL without -o */
	char *work_dir;		 /* removed at the end */
	struct arena arena;
};

static int make_work_dir(struct plan_run *r, struct error *err)
{
	bool stale;

	if (r->args->output_dir) {
		int rc = staging_open(&r->staging, r->args->output_dir, &stale, err);

		if (rc)
			return rc;
		r->work_dir = mem_format("%s/.work", staging_path(r->staging));
		return io_make_dir(r->work_dir, err);
	}
	return io_make_temp_dir(&r->work_dir, r->common->temp_dir, "saltmill-plan", err);
}

static int read_events(struct plan_run *r, const struct input *input, struct error *err)
{
	const struct plan_arguments *a = r->args;
	struct planning_options o = {.common = r->common,
				     .input = input,
				     .fraction = a->fraction,
				     .tune = a->tune,
				     .arena = &r->arena,
				     .work_dir = r->work_dir,
				     .keep = a->save != NULL,
				     .limit = {.share = 1, .is_share = true},
				     .lint = &r->lint,
				     .now_ms = clock_wall_ms()};
	struct progress progress = {.phase = "reading", .told = PROGRESS_INPUT};
	struct reporter *reporter = r->common->quiet ? NULL : reporter_start(&progress);
	int rc = planning_read(&r->job, &o, &progress, r->samples, &r->counts, err);

	reporter_stop(reporter);
	return rc;
}

/* Of merged samples, none lacks settings that are asked for. */
static bool all_tuned(const struct plan_run *r)
{
	bool all = true;

	for (size_t t = 0; t < r->job.ntables; t++)
		all &= !r->samples[t].untuned || !tuning_asked(&r->job.tables[t].schema);
	return all;
}

/* Merge what --from names: the first file is its argument, the others are operands. */
static int merge_saved(struct plan_run *r, struct error *err)
{
	const struct plan_arguments *a = r->args;
	const struct input *in = &a->from.input;
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < a->nsaved; i++)
		rc = samples_merge(&r->job, r->samples, &r->counts, &r->arena, a->saved[i], err);
	for (size_t i = 0; rc == RC_OK && i < in->nfiles; i++)
		rc = samples_merge(&r->job, r->samples, &r->counts, &r->arena, in->files[i], err);
	if (rc == RC_OK && a->tune && !all_tuned(r))
		rc = error_set(err, RC_CONFIG,
			       "--tune: some of these samples were saved without --tune, so the "
			       "settings of `level: auto` are not known; save all of them with it");
	return rc;
}

static int take_samples(struct plan_run *r, struct error *err)
{
	const struct plan_arguments *a = r->args;
	struct input input = a->from.input;
	struct ingest topic = {0};
	const struct listener listener = command_listener("plan");

	if (a->nsaved)
		return merge_saved(r, err);
	int rc = ingest_peek(&topic, &r->job, input.nfiles, r->common->memory_bytes, a->state_dir,
			     &listener, err);
	const struct source_topic view = ingest_view(&topic);
	input.topic = topic.client ? &view : NULL;
	if (rc == RC_OK)
		rc = read_events(r, &input, err);
	ingest_close(&topic);
	return rc;
}

static int write_table(struct plan_run *r, size_t t, struct error *err)
{
	const struct table *schema = &r->job.tables[t].schema;
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

/* What runs take that keep to this plan (kept_plan.h). */
static int write_settings(struct plan_run *r, struct error *err)
{
	struct plan_settings s = {.tuned = r->args->nsaved ? all_tuned(r) : r->args->tune,
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
	plan_report_json(&text, &r->job, r->plans, r->samples, &r->counts, NULL);
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

	if (r->common->json)
		plan_report_json(&text, &r->job, r->plans, r->samples, &r->counts, &r->lint);
	else if (!r->common->quiet)
		plan_report_text(&text, &r->job, r->plans, r->samples, &r->counts, &r->lint);
	for (size_t t = 0; r->counts.newest_ms && t < r->job.ntables; t++)
		for (size_t f = 0; f < r->job.tables[t].schema.nfamilies; f++)
			report_ttl(&warnings, &r->job.tables[t].schema, f, r->counts.newest_ms);
	lint_report_severe(&warnings, &r->job, &r->lint);
	if (r->args->nsaved && r->counts.columns_differ)
		buf_append_str(&warnings,
			       "the samples are of inputs with different columns: there is no "
			       "settings.json, so that nothing can keep to this plan by --plan\n");
	else if (r->args->nsaved && !r->args->tune && !all_tuned(r))
		buf_append_str(&warnings,
			       "the samples do not tell the settings of `level: auto`: for --plan "
			       "save them with --tune\n");
	if (!r->common->quiet)
		command_warn_framing("plan", r->job.tables, r->job.ntables);
	int status = (r->common->json ? command_print : command_show)("plan", &text);
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

static int plan(struct plan_run *r, struct error *err)
{
	r->samples = mem_calloc(r->job.ntables, sizeof *r->samples);
	r->plans = mem_calloc(r->job.ntables, sizeof *r->plans);
	lint_job(&r->lint, &r->job);
	int rc = r->args->save ? samples_check(r->args->save, err) : RC_OK;
	if (rc == RC_OK)
		rc = make_work_dir(r, err);
	if (rc == RC_OK)
		rc = take_samples(r, err);
	if (rc == RC_OK && r->args->save)
		rc = samples_save(&r->job, r->samples, &r->counts, r->args->save, err);
	for (size_t t = 0; rc == RC_OK && t < r->job.ntables; t++)
		rc = make_plan(r, t, err);
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
	}
	mem_free(r->samples);
	mem_free(r->plans);
	if (r->work_dir && !r->args->output_dir)
		io_remove_tree(r->work_dir, &ignored);
	mem_free(r->work_dir);
	staging_abort(r->staging);
	lint_release(&r->lint);
	arena_release(&r->arena);
	job_release(&r->job);
}

int cmd_plan(int argc, char **argv)
{
	static const struct option own[] = {{"output", required_argument, NULL, 'o'},
					    {"sample", required_argument, NULL, OPT_SAMPLE},
					    {"save", required_argument, NULL, OPT_SAVE},
					    {"from", required_argument, NULL, OPT_FROM},
					    {"state", required_argument, NULL, OPT_STATE},
					    INPUT_OPTIONS,
					    {"tune", no_argument, NULL, OPT_TUNE},
					    {"existing", required_argument, NULL, OPT_EXISTING},
					    {"hbase", required_argument, NULL, OPT_HBASE},
					    {0}};
	struct run_options o;
	struct plan_arguments a = {.fraction = 1};
	struct error err;
	int first, status = EXIT_DONE,
		   rc = options_parse(argc, argv, &o, own, "o:", take_option, &a, &first);

	if (rc)
		return rc == RC_END ? EXIT_DONE : EXIT_USAGE;
	if (first >= argc) {
		return command_misused("plan",
				       "no job file; usage: saltmill plan JOB [FILE...] [-o DIR]");
	}
	if (a.save && a.fraction < 1)
		return command_misused("plan",
				       "--save keeps what all events say, for samples to be "
				       "merged: found --sample too, expected one of them");
	struct plan_run r = {.common = &o, .args = &a};
	rc = job_load(&r.job, argv[first], &err);
	r.job.allow_code = r.common->allow_code;
	if (rc == RC_OK)
		rc = input_complete(&a.from, argv + first + 1, (size_t)(argc - first - 1), &err);
	if (rc == RC_OK)
		rc = existing_regions_read(&a.live, &r.job, &err);
	if (rc == RC_OK)
		rc = plan(&r, &err);
	if (rc) {
		status = command_fail("plan", &err);
	} else {
		status = print(&r);
		if (status == EXIT_DONE && r.counts.rejected)
			status = EXIT_REJECTS;
	}
	close_run(&r);
	existing_regions_release(&a.live);
	mem_free(a.saved);
	return status;
}
