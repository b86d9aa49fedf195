/* cmd_load.c - implements `saltmill load`, `saltmill unite` and `saltmill replay` */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "arguments.h"
#include "cmd_halves.h"
#include "half_reports.h"
#include "stream.h"
#include "input_options.h"
#include "cli/reports.h"
#include "load.h"
#include "positions.h"
#include "reporter.h"
#include "job_login.h"

/* One run of load, unite or replay. */
struct loading {
	struct arguments *args;
	bool unites;
	struct job job;
	struct manifest previous;
	struct kept_plan plan;
	struct ledger ledger;
	struct load_halves halves;
	struct source_inputs known;
	struct offset_range *until; /* in the arena */
	size_t nuntil;
	struct arena arena;
};

static int check_output(const char *dir, struct error *err)
{
	struct stat st;

	if (!dir)
		return error_set(err, RC_CONFIG, "found no output folder, expected `-o DIR`");
	if (!storage_is_remote(dir) && lstat(dir, &st) == 0)
		return error_set(
			err, RC_CONFIG,
			"-o: %s exists, expected a new folder; a load never changes an existing "
			"folder",
			dir);
	return RC_OK;
}

/* Appends the findings of lint, about the job and about the counts, that every load reports. */
static void warn_of_design(struct buf *warnings, const struct loading *run,
			   const struct load_result *r)
{
	const struct job *job = &run->job;
	const struct existing_regions *live = &run->args->live;
	struct lint found = {0};

	lint_job(&found, job, live);
	for (size_t i = 0; i < r->manifest.ntables; i++) {
		const struct manifest_table *t = &r->manifest.tables[i];
		int64_t oldest = INT64_MAX, newest = INT64_MIN;

		for (size_t k = 0; k < t->nfiles; k++) {
			oldest = t->files[k].min_ts < oldest ? t->files[k].min_ts : oldest;
			newest = t->files[k].max_ts > newest ? t->files[k].max_ts : newest;
		}
		lint_times(&found, job, i, t->rows, oldest, newest);
		uint64_t *rows = mem_calloc(t->nregions, sizeof *rows);
		for (size_t k = 0; k < t->nregions; k++)
			rows[k] = t->regions[k].rows;
		if (!existing_regions_table(live, i) && !run->args->plan_dir)
			lint_regions(&found, job, i, rows, t->nregions);
		mem_free(rows);
	}
	lint_report_always(warnings, job, &found);
	lint_release(&found);
}

static int print_result(const struct loading *r, const struct load_result *result)
{
	const struct run_options *o = &r->args->run;
	const char *dir = r->args->output;
	struct buf text = {0}, warnings = {0};

	if (result->stale_removed && result->manifest.folder && !o->quiet)
		buf_printf(&warnings, "removed the objects of an unfinished load below %s\n", dir);
	else if (result->stale_removed && !o->quiet)
		buf_printf(&warnings, "removed %s" STAGING_SUFFIX ", which a killed run left\n",
			   dir);
	if (o->json)
		report_json(&text, result, dir);
	else if (!o->quiet)
		report_text(&text, result, dir);
	if (!o->quiet) {
		report_hidden(&warnings, result, &r->job);
		command_warn_framing("load", r->job.tables, r->job.ntables);
	}
	warn_of_design(&warnings, r, result);
	report_collisions(&warnings, result);
	report_empty(&warnings, result);
	if (r->args->previous_dir)
		report_columns(&warnings, &r->previous, r->args->previous_dir, &result->manifest);
	bool kept = report_promises(&warnings, result);
	int status = result->manifest.rejected || !kept ? EXIT_REJECTS : EXIT_DONE;
	command_warn("load", &warnings);
	if ((o->json ? command_print : command_show)("load", &text) != EXIT_DONE) {
		status = EXIT_FAILED;
		command_say("load", "cannot print the report; the load is published as %s", dir);
	}
	buf_release(&warnings);
	buf_release(&text);
	return status;
}

static int load(const struct job *job, const struct load_options *opt, const char *state_dir,
		struct progress *progress, struct load_result *result, struct error *err)
{
	const struct listener listener = command_listener("load");
	bool topic = job->source == SOURCE_KAFKA && opt->input->nfiles == 0;

	if (topic && storage_is_remote(opt->output_dir))
		return error_set(err, RC_CONFIG,
				 "-o: found %s, expected a folder of this machine, because "
				 "saltmill identifies a load of a topic by its folder",
				 opt->output_dir);
	if (topic)
		return ingest_batch(job, opt, state_dir, &listener, progress, result, err);
	if (opt->nuntil)
		return error_set(err, RC_CONFIG,
				 "--until: found files to load, expected a kafka source");
	if (state_dir)
		return error_set(err, RC_CONFIG,
				 "--state: found files to load, expected a kafka source");
	return load_run(job, opt, progress, result, err);
}

static int read_previous(struct loading *r, struct error *err)
{
	char *path;
	int rc;

	if (!r->args->previous_dir)
		return RC_OK;
	path = mem_format("%s/manifest.json", r->args->previous_dir);
	rc = manifest_read(&r->previous, path, &r->arena, err);
	mem_free(path);
	return rc ? error_prefix(err, "--previous: ") : RC_OK;
}

/* Reads the list of the inputs if this machine cannot open them. */
static int read_inputs(struct loading *r, struct error *err)
{
	const char *path = r->args->inputs_file;
	struct input *in = &r->args->input;

	if (!path)
		return RC_OK;
	if (in->nfiles || in->columns_file)
		return error_set(err, RC_CONFIG,
				 "--inputs: found %s too, expected only one of them, because "
				 "--inputs lists all inputs",
				 in->nfiles ? "files" : "--columns");
	int rc = input_list_read(&r->known, path, &r->arena, err);
	if (rc == RC_OK && r->known.ninputs == 0)
		rc = error_set(err, RC_DATA, "%s: found no inputs, expected all inputs of the load",
			       path);
	r->known.columns = r->plan.columns;
	r->known.ncolumns = r->plan.ncolumns;
	in->known = &r->known;
	return rc;
}

/* Reads the files that the options name. */
static int open_run(struct loading *r, const char *job_path, struct error *err)
{
	struct arguments *a = r->args;
	int rc = job_load(&r->job, job_path, err);

	r->job.allow_code = a->run.allow_code;
	a->live.servers = a->hbase;
	a->live.listener = command_listener("load");
	if (rc == RC_OK)
		rc = job_login(a, &r->job, err);
	if (rc == RC_OK)
		rc = read_previous(r, err);
	if (rc == RC_OK)
		rc = existing_regions_read(&a->live, &r->job, err);
	if (rc == RC_OK && a->plan_dir)
		rc = kept_plan_read(&r->plan, a->plan_dir, &r->job, err);
	if (rc == RC_OK)
		rc = read_inputs(r, err);
	if (rc == RC_OK && a->until)
		rc = positions_split(a->until, &r->arena, &r->until, &r->nuntil, err);
	return rc;
}

/* Reports how many files earlier loads contain, and names the first ones. */
static void report_skipped(const struct ledger_choice *c, const char *dir)
{
	enum { NAMED = 5 };

	for (size_t i = 0; i < c->nskipped && i < NAMED; i++)
		command_say("load", "skipped %s: load %s/%s contains it%s%s", c->skipped[i].path,
			    dir, c->skipped[i].loaded->load,
			    strcmp(c->skipped[i].path, c->skipped[i].loaded->path) ? " as " : "",
			    strcmp(c->skipped[i].path, c->skipped[i].loaded->path)
				    ? c->skipped[i].loaded->path
				    : "");
	if (c->nskipped > NAMED)
		command_say("load", "skipped %zu more files that loads in %s contain",
			    c->nskipped - NAMED, dir);
}

/* Leaves out the files that a load of --ledger contains. Returns RC_END if no file remains. */
static int choose_files(struct loading *r, struct error *err)
{
	struct arguments *a = r->args;
	struct ledger_choice c;

	if (!a->ledger)
		return RC_OK;
	if (r->job.source == SOURCE_KAFKA)
		return error_set(
			err, RC_CONFIG,
			"--ledger: found a kafka source, expected files; use --state for topics");
	int rc = ledger_read(&r->ledger, a->ledger, err);
	if (rc == RC_OK)
		rc = ledger_choose(&r->ledger, &r->job, &a->input, a->output, a->replace, &c, err);
	if (rc)
		return rc;
	if (!a->run.quiet)
		report_skipped(&c, a->ledger);
	a->input.files = c.files;
	a->input.nfiles = c.nfiles;
	return c.nfiles ? RC_OK : RC_END;
}

static int load_or_join(struct loading *r, struct load_result *result, struct error *err)
{
	const struct arguments *a = r->args;
	struct progress progress = {.phase = NULL};
	const struct load_options opt = {
		.common = &a->run,
		.input = &a->input,
		.output_dir = a->output,
		.place = &a->place,
		.limit = a->max_rejects,
		.max_duplicates = arguments_given(a, "max-duplicates") ? &a->max_duplicates : NULL,
		.max_filtered = arguments_given(a, "max-filtered") ? &a->max_filtered : NULL,
		.min_rows = a->min_rows,
		.live = &a->live,
		.until = r->until,
		.nuntil = r->nuntil,
		.plan = a->plan_dir ? &r->plan : NULL,
		.halves = r->unites ? &r->halves : NULL};
	const struct load_parts parts = {.dirs = (const char *const *)a->loads.path,
					 .ndirs = a->loads.n,
					 .max_files = a->max_files};
	struct reporter *reporter = a->run.quiet ? NULL : reporter_start(&progress);
	int rc = a->loads.n ? load_join(&r->job, &opt, &parts, &progress, result, err)
			    : load(&r->job, &opt, a->state_dir, &progress, result, err);

	reporter_stop(reporter);
	return rc;
}

/* Loads the input that the arguments name, or checks the maps for --reduces. */
static int run(struct loading *r, const char *job_path)
{
	const struct arguments *a = r->args;
	const char *name = r->unites ? "unite" : "load";
	bool judges = r->unites && a->reduces.n == 0 && a->loads.n == 0;
	struct load_result result = {0};
	struct error err;
	int status = EXIT_DONE, rc = judges ? RC_OK : check_output(a->output, &err);

	if (rc)
		return command_fail(name, &err);
	rc = open_run(r, job_path, &err);
	if (rc == RC_OK)
		rc = choose_files(r, &err);
	bool nothing = rc == RC_END;
	if (nothing)
		command_say(name,
			    "nothing to load, because the loads in %s contain all files; load did "
			    "not make %s",
			    a->ledger, a->output);
	else if (rc == RC_OK)
		rc = judges ? maps_judge(&r->plan, &r->halves, r->known.ninputs, a->run.json,
					 &status, &err)
			    : load_or_join(r, &result, &err);
	if (rc && !nothing)
		status = (r->unites ? halves_fail : command_fail)(name, &err);
	else if (!judges && !nothing)
		status = print_result(r, &result);
	load_result_release(&result);
	kept_plan_release(&r->plan);
	ledger_release(&r->ledger);
	arena_release(&r->arena);
	job_release(&r->job);
	return status;
}

static int run_load(struct arguments *a)
{
	struct loading r = {.args = a};
	struct error err;

	if (input_complete(a, 1, &err))
		return command_fail("load", &err);
	return run(&r, a->operand[0]);
}

static int discard_hfiles(const struct arguments *a)
{
	struct error err;
	int rc = check_output(a->output, &err);

	if (rc == RC_OK)
		rc = sent_files_discard(a->hfiles, a->output, &a->place, &err);
	return rc ? command_fail("unite", &err) : EXIT_DONE;
}

static int run_unite(struct arguments *a)
{
	struct loading r = {.args = a, .unites = true};
	struct error err;

	if (a->discard_hfiles && a->hfiles)
		return discard_hfiles(a);
	if (a->discard_hfiles)
		return arguments_refuse(a,
					"found --discard-hfiles without --hfiles, expected both");
	if (!a->loads.n && (!a->plan_dir || !a->maps.n))
		return arguments_refuse(a, "found no %s, expected --plan and --maps, or --loads",
					a->plan_dir ? "--maps" : "--plan");
	for (size_t i = 1; a->loads.n && i < a->noperands; i++)
		folders_add_plainly(&a->loads, a->operand[i]);
	r.halves = (struct load_halves){.maps = (const char *const *)a->maps.path,
					.nmaps = a->maps.n,
					.reduces = (const char *const *)a->reduces.path,
					.nreduces = a->reduces.n,
					.hfiles = a->hfiles,
					.totals = a->totals_file,
					.manifest = a->manifest_file};
	if (input_complete(a, a->loads.n ? a->noperands : 1, &err))
		return command_fail("unite", &err);
	return run(&r, a->operand[0]);
}

/* Finds the job file of a published load. The arena owns *job. */
static int find_job(const char *dir, const char **job, struct arena *arena, struct error *err)
{
	struct manifest m;
	char *path = mem_format("%s/manifest.json", dir);
	int rc = manifest_read(&m, path, arena, err);

	mem_free(path);
	if (rc == RC_OK && !manifest_is_of_topics(&m))
		return error_set(
			err, RC_CONFIG,
			"%s: found a load of files, expected a load of a topic. For files, repair "
			"the rejected rows in a new input file and run `saltmill load` with it",
			dir);
	*job = m.job_path;
	return rc;
}

static int run_replay(struct arguments *a)
{
	struct loading r = {.args = a};
	struct arena arena = {0};
	struct error err;
	const char *job = NULL;
	char *file;
	int status;

	if (!arguments_given(a, "rejects"))
		return arguments_refuse(a, "found no --rejects, expected `--rejects[=FILE]`");
	file = a->rejects_file ? mem_strdup(a->rejects_file)
			       : mem_format("%s/rejects.jsonl", a->operand[0]);
	if (find_job(a->operand[0], &job, &arena, &err)) {
		status = command_fail("replay", &err);
	} else {
		a->input.files = (const char *const *)&file;
		a->input.nfiles = 1;
		status = run(&r, a->job ? a->job : job);
	}
	mem_free(file);
	arena_release(&arena);
	return status;
}

const struct command load_command = {
	.name = "load",
	.usage = "JOB [FILE...] -o DIR [options]",
	.summary = "load events into HFiles, with split points and a create-table script",
	.least = 1,
	.most = ANY_NUMBER,
	.run = run_load,
	.decides =
		"An event becomes cells, or load rejects or filters it, as the job describes. A "
		"bad event ends the load, unless --max-rejects accepts it. Split points come "
		"from --plan, --existing or --hbase, or else from `regions:` of the job. `split: "
		"sampled` divides the bytes of all row keys evenly. After all files are complete "
		"and synced, a rename publishes the folder.",
	.statuses = STATUS_PUBLISHES,
	.examples = {"saltmill load conf/ratings.yaml ratings.csv -o out/2026-11-21 --max-rejects "
		     "0.1%",
		     "saltmill load conf/nightly.yaml night.csv -o night --hbase hbase1,hbase2 "
		     "--min-rows 1000"}};

const struct command unite_command = {
	.name = "unite",
	.usage = "JOB [FILE...] --plan DIR --maps DIR [--reduces DIR -o DIR] | JOB --loads DIR... "
		 "-o "
		 "DIR",
	.summary = "publish the output of maps and reduces as one load, with the same bytes as "
		   "`load --plan`",
	.least = 1,
	.most = ANY_NUMBER,
	.run = run_unite,
	.decides =
		"unite reads all inputs once more and compares their digests with the reports of "
		"the maps. Each byte must be in one map, and each region in one reduce. If a "
		"part is missing, occurs twice, or has another plan, unite publishes nothing. "
		"Without --reduces, unite only checks the maps and prints the creation time. "
		"With --loads, unite joins loads of slices, and fails if two of them have the "
		"same cell.",
	.operands = {{"FILE...", "all inputs of the load, in order"}},
	.statuses = STATUS_PUBLISHES "; 4 failed, and the same input would fail again",
	.examples = {"saltmill unite conf/ratings.yaml ratings.csv --plan plan --maps maps/ "
		     "--reduces reduces/ -o out",
		     "saltmill unite conf/ratings.yaml ratings.csv --plan plan --maps maps/"}};

const struct command replay_command = {
	.name = "replay",
	.usage = "DIR --rejects[=FILE] -o DIR [options]",
	.summary = "load the repaired rejected messages of a load from Kafka",
	.least = 1,
	.most = 1,
	.reads_here = true,
	.run = run_replay,
	.decides =
		"replay reads rejects.jsonl of the load, or FILE, with one message a line. It "
		"loads each message with the job, with the partition, offset and timestamp of "
		"the line. Repair the values in the file first, because replay rejects unchanged "
		"lines again. The result is a separate load. The positions of the state do not "
		"change.",
	.statuses = STATUS_PUBLISHES,
	.examples = {
		"saltmill replay published/00000042 --rejects -o repaired",
		"saltmill replay published/00000042 --rejects=mended.jsonl --job clicks.yaml -o "
		"repaired"}};
