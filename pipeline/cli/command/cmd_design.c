/* cmd_design.c - implements `saltmill design`, which finds row keys for questions */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "arguments.h"
#include "calibrate.h"
#include "clock.h"
#include "design.h"
#include "io.h"
#include "job_login.h"
#include "measure_job.h"
#include "mem.h"
#include "planning.h"
#include "proposed_job.h"
#include "publish.h"
#include "reporter.h"
#include "cli/page.h"
#include "cli/reports.h"

/* One run of the command. */
struct design_command {
	struct arguments *args;
	struct job job;
	bool from_file;			  /* the job is init's proposal for a file */
	struct buf yaml;		  /* text of the job */
	struct design_constants measured; /* by --calibrate */
	double disk_ratio;
	struct design_result result;
};

static bool is_job(const char *path)
{
	size_t n = strlen(path);

	return (n > 5 && strcasecmp(path + n - 5, ".yaml") == 0) ||
	       (n > 4 && strcasecmp(path + n - 4, ".yml") == 0);
}

/* Reads the job, or makes one for a data file. */
static int find_job(struct design_command *c, struct error *err)
{
	struct arguments *a = c->args;
	const char *first = a->operand[0];

	c->from_file = !is_job(first);
	a->input.files = arguments_files(a, c->from_file ? 0 : 1);
	a->input.nfiles = a->noperands - !c->from_file;
	if (!c->from_file) {
		int rc = job_load(&c->job, first, err);

		return rc ? rc : io_read_file(first, &c->yaml, err);
	}
	return propose_job(&c->job, &c->yaml, first, a->run.temp_dir, err);
}

/* Measures the bytes on disk for a byte of KeyValues, as `plan` does. */
static int measure_disk(struct design_command *c, const char *dir, struct error *err)
{
	struct arguments *a = c->args;
	struct table_sample *samples = mem_calloc(c->job.ntables, sizeof *samples);
	struct planning_counts counts = {0};
	struct arena arena = {0};
	const struct planning_options o = {.common = &a->run,
					   .input = &a->input,
					   .fraction = a->sample > 0 ? a->sample : 1,
					   .arena = &arena,
					   .work_dir = dir,
					   .limit = {.share = 1, .is_share = true},
					   .now_ms = clock_wall_ms()};
	struct progress progress = {.phase = "reading", .told = PROGRESS_INPUT};
	struct reporter *reporter = a->run.quiet ? NULL : reporter_start(&progress);
	int rc = planning_read(&c->job, &o, &progress, samples, &counts, err);

	reporter_stop(reporter);
	c->disk_ratio = rc == RC_OK && samples[0].disk_per_byte > 0 ? samples[0].disk_per_byte : 1;
	for (size_t t = 0; t < c->job.ntables; t++)
		table_sample_release(&samples[t]);
	mem_free(samples);
	arena_release(&arena);
	return rc;
}

static int measure_in_folder(struct design_command *c, struct error *err)
{
	char *dir;
	struct error ignored;
	int rc = io_make_temp_dir(&dir, c->args->run.temp_dir, "saltmill-design", err);

	if (rc)
		return rc;
	rc = measure_disk(c, dir, err);
	int rm = io_remove_tree(dir, rc ? &ignored : err);
	mem_free(dir);
	return rc ? rc : rm;
}

static int write_file(const char *dir, const char *name, const struct buf *text, struct error *err)
{
	char *path = mem_format("%s/%s", dir, name);
	int rc = io_write_file(path, buf_bytes(text), err);

	mem_free(path);
	return rc;
}

/* Measures the new job, and writes its questions with their figures. */
static int write_queries(struct design_command *c, const char *dir, const struct buf *yaml,
			 struct error *err)
{
	struct arguments as_it_is = *c->args;
	struct design_result measured = {0};
	struct queries q = {0};
	struct buf text = {0};
	struct job job;
	const struct input files = {0};
	int rc = job_of_text(&job, buf_bytes(yaml), c->args->run.temp_dir, err);

	as_it_is.design.rows = as_it_is.design.writes = 0;
	as_it_is.run.quiet = true;
	if (rc == RC_OK)
		rc = run_design(&measured, &as_it_is, &job, &files, c->disk_ratio, true, err);
	if (rc == RC_OK) {
		queries_of(&q, &measured.list[0]);
		q.servers = measured.servers;
		q.sample = as_it_is.sample < 1 ? as_it_is.sample : 0;
		queries_write(&text, &q);
		rc = write_file(dir, "queries.yaml", &text, err);
	}
	queries_release(&q);
	design_release(&measured);
	job_release(&job);
	buf_release(&text);
	return rc;
}

/* Writes a job for each recommended design, queries.yaml, design.json and design.html. */
static int write_all(struct design_command *c, const char *dir, struct error *err)
{
	struct buf text = {0};
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < c->result.nlist && !c->result.list[i].obvious; i++) {
		char name[40] = "job.yaml";

		if (i)
			snprintf(name, sizeof name, "design-%zu.yaml", i + 1);
		text.len = 0;
		rc = design_job(&text, &c->result.list[i], &c->job, buf_bytes(&c->yaml),
				&c->args->input, err);
		if (rc == RC_OK)
			rc = write_file(dir, name, &text, err);
		if (rc == RC_OK && i == 0)
			rc = write_queries(c, dir, &text, err);
	}
	text.len = 0;
	design_report_json(&text, &c->result);
	if (rc == RC_OK)
		rc = write_file(dir, "design.json", &text, err);
	text.len = 0;
	page_design(&text, &c->result);
	if (rc == RC_OK)
		rc = write_file(dir, "design.html", &text, err);
	buf_release(&text);
	return rc;
}

static int publish(struct design_command *c, struct error *err)
{
	struct staging *staging = NULL;
	bool stale;
	int rc = staging_open(&staging, c->args->output, &stale, err);

	if (rc == RC_OK)
		rc = write_all(c, staging_path(staging), err);
	if (rc == RC_OK)
		rc = staging_publish(staging, err);
	else
		staging_abort(staging);
	return rc;
}

/* Measures the constants of the model on the cluster. */
static int measure_cluster(struct design_command *c, struct error *err)
{
	struct progress progress = {.phase = "measuring the cluster", .told = PROGRESS_SECONDS};
	struct reporter *reporter = c->args->run.quiet ? NULL : reporter_start(&progress);
	int rc = calibrate(&c->measured, c->args, err);

	reporter_stop(reporter);
	c->args->design.measured = &c->measured;
	return rc;
}

static int work(struct design_command *c, struct error *err)
{
	struct arguments *a = c->args;

	if (!a->design.nasks)
		return error_set(err, RC_CONFIG,
				 "found no question, expected --ask \"FIELD = ?\" RATE");
	int rc = find_job(c, err);
	if (rc == RC_OK)
		rc = job_login(a, &c->job, err);
	if (rc == RC_OK && a->design.calibrate)
		rc = measure_cluster(c, err);
	if (rc == RC_OK)
		rc = measure_in_folder(c, err);
	if (rc == RC_OK)
		rc = run_design(&c->result, a, &c->job, &a->input, c->disk_ratio, false, err);
	if (rc == RC_OK && a->output)
		rc = publish(c, err);
	return rc;
}

static int run(struct arguments *a)
{
	struct design_command c = {.args = a};
	struct buf text = {0};
	struct error err;
	int rc = work(&c, &err);
	int status = rc			 ? command_fail("design", &err)
		     : c.result.too_busy ? EXIT_REJECTS
					 : EXIT_DONE;

	if (rc == RC_OK && a->run.json)
		design_report_json(&text, &c.result);
	else if (rc == RC_OK)
		design_report_text(&text, &c.result);
	if (rc == RC_OK && a->output && !a->run.json)
		buf_printf(
			&text,
			"written to %s: job.yaml (design 1), the jobs of the next designs, "
			"queries.yaml, design.json, design.html\n"
			"next: saltmill lint %s/job.yaml, then saltmill load %s/job.yaml -o LOAD\n",
			a->output, a->output, a->output);
	else if (rc == RC_OK && !a->run.json)
		buf_append_str(&text, "next: add -o DIR, which writes a job for each design\n");
	int printed = a->run.json ? command_print("design", &text) : command_show("design", &text);
	if (printed != EXIT_DONE)
		status = printed;
	buf_release(&text);
	buf_release(&c.yaml);
	design_release(&c.result);
	job_release(&c.job);
	return status;
}

const struct command design_command = {
	.name = "design",
	.usage = "FILE|JOB [FILE...] --ask QUESTION [RATE] ... [-o DIR] [options]",
	.summary = "find row keys for questions, with costs measured on the events",
	.least = 1,
	.most = ANY_NUMBER,
	.run = run,
	.decides = "design tries the orders of the questions' fields, salts, hashes, reversed "
		   "fields, days, hours and further tables. It builds each key for all events, and "
		   "counts ranges, rows and blocks for 200 drawn values of each question. It "
		   "replays the newest fifth of the events to find the busiest server. Counts "
		   "come from the events; times come from a model.",
	.statuses = "0 done; 3 no design carries the load on that many servers; 1 "
		    "failed; " STATUS_USAGE,
	.examples = {
		"saltmill design conf/files.yaml --ask \"owner = ? latest 20\" 200/s",
		"saltmill design conf/files.yaml --servers 4 --ask \"owner = ? and created between ? "
		"and ? + 1d\""}};
