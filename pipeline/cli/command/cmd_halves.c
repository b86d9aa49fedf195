/* cmd_halves.c - implements `saltmill map`, `saltmill reduce`, and `saltmill unite` without
 * --reduces */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "cmd_halves.h"
#include "load.h"
#include "input_options.h"
#include "mem.h"
#include "reporter.h"
#include "job_login.h"

int halves_fail(const char *name, const struct error *err)
{
	int status = command_fail(name, err);
	bool data = err->code == RC_DATA || err->code == RC_LIMIT || err->code == RC_ORDER;

	return data ? EXIT_DATA : status;
}

/* One run of map or reduce. */
struct half_run {
	struct arguments *args;
	struct job job;
	struct kept_plan plan;
	struct arena arena;
	struct progress progress;
};

static int open_half(struct half_run *h, struct error *err)
{
	const struct arguments *a = h->args;

	if (!a->output)
		return error_set(err, RC_CONFIG, "found no output folder, expected `-o DIR`");
	if (!a->plan_dir)
		return error_set(
			err, RC_CONFIG,
			"found no plan, expected `--plan DIR`, which `saltmill plan %s -o DIR` "
			"writes",
			a->operand[0]);
	int rc = job_load(&h->job, a->operand[0], err);
	if (rc == RC_OK)
		rc = job_login(a, &h->job, err);
	if (rc == RC_OK)
		rc = kept_plan_read(&h->plan, a->plan_dir, &h->job, err);
	return rc;
}

static int map(struct half_run *h, struct error *err)
{
	struct arguments *a = h->args;
	struct map_report report;
	int rc = input_complete(a, 1, err);

	if (rc)
		return rc;
	a->input.number = (uint32_t)a->number;
	a->feed.columns = h->plan.columns;
	a->feed.ncolumns = h->plan.ncolumns;
	const struct map_options o = {.common = &a->run,
				      .plan = &h->plan,
				      .input = &a->input,
				      .pack = a->pack,
				      .unordered = a->unordered,
				      .output_dir = a->output};
	struct reporter *reporter =
		h->args->run.quiet ? NULL : reporter_start_on_terminal(&h->progress);
	rc = map_run(&h->job, &o, &h->progress, &report, &h->arena, err);
	reporter_stop(reporter);
	if (rc == RC_OK && !h->args->run.quiet)
		command_say(h->args->command->name,
			    "%s: %llu events in bytes %llu to %llu, %llu of them rejected",
			    report.path, (unsigned long long)report.read,
			    (unsigned long long)report.first, (unsigned long long)report.end,
			    (unsigned long long)report.rejected);
	return rc;
}

static int find_table(const struct half_run *h, size_t *table, struct error *err)
{
	size_t n = h->job.ntables;

	for (*table = 0; *table < n; ++*table)
		if (!h->args->table ? n == 1
				    : !strcmp(h->job.tables[*table].schema.name, h->args->table))
			return RC_OK;
	return error_set(err, RC_CONFIG,
			 h->args->table ? "--table: found `%s`, expected a table of the job"
					: "the job has several tables, expected `--table TABLE`%s",
			 h->args->table ? h->args->table : "");
}

static int reduce(struct half_run *h, const struct folders *maps, struct error *err)
{
	const struct arguments *a = h->args;
	struct reduce_report report;
	bool regions = arguments_given(a, "region"), share = arguments_given(a, "share");
	struct reduce_options o = {.common = &a->run,
				   .plan = &h->plan,
				   .maps = (const char *const *)maps->path,
				   .nmaps = maps->n,
				   .first = a->first_region,
				   .end = a->last_region + 1,
				   .part = regions || share ? a->share.part : 1,
				   .parts = regions || share ? a->share.parts : 1,
				   .created_ms = arguments_given(a, "created")
							 ? (int64_t)a->created_ms
							 : -1,
				   .output_dir = a->output,
				   .hfiles = a->hfiles,
				   .place = &a->place,
				   .totals = a->totals};
	int rc = regions ? find_table(h, &o.table, err) : RC_OK;

	struct reporter *reporter =
		h->args->run.quiet ? NULL : reporter_start_on_terminal(&h->progress);
	if (rc == RC_OK)
		rc = reduce_run(&h->job, &o, &h->progress, &report, &h->arena, err);
	reporter_stop(reporter);
	return rc;
}

static int end_half(struct half_run *h, int rc, const struct error *err)
{
	int status = rc ? halves_fail(h->args->command->name, err) : EXIT_DONE;

	kept_plan_release(&h->plan);
	job_release(&h->job);
	arena_release(&h->arena);
	return status;
}

static int run_map(struct arguments *a)
{
	struct half_run h = {.args = a};
	struct error err;
	int rc = open_half(&h, &err);

	if (rc == RC_OK)
		rc = map(&h, &err);
	return end_half(&h, rc, &err);
}

static int run_reduce(struct arguments *a)
{
	struct half_run h = {.args = a};
	struct folders maps = {0};
	struct error err;
	int rc = open_half(&h, &err);

	for (size_t i = 1; rc == RC_OK && i < a->noperands; i++)
		rc = folders_add(&maps, a->operand[i], &err);
	if (rc == RC_OK)
		rc = reduce(&h, &maps, &err);
	folders_release(&maps);
	return end_half(&h, rc, &err);
}

int maps_judge(const struct kept_plan *plan, const struct load_halves *halves, size_t nfiles,
	       bool json, int *status, struct error *err)
{
	struct maps maps;
	struct buf text = {0};
	uint64_t read = 0, rejected = 0;
	int64_t created_ms = 0;
	int rc = maps_read(&maps, plan, halves->maps, halves->nmaps, err);

	if (rc == RC_OK)
		rc = maps_check(&maps, nfiles, err);
	if (rc == RC_OK)
		rc = maps_created(&maps, &created_ms, err);
	for (size_t i = 0; rc == RC_OK && i < maps.n; i++) {
		read += maps.reports[i].read;
		rejected += maps.reports[i].rejected;
	}
	buf_printf(&text,
		   json ? "{\"maps\": %zu, \"read\": %llu, \"rejected\": %llu, \"created_ms\": "
			  "%lld}\n"
			: "%zu maps are complete: %llu events, %llu of them rejected; run reduce "
			  "with --created %lld\n",
		   maps.n, (unsigned long long)read, (unsigned long long)rejected,
		   (long long)created_ms);
	if (rc == RC_OK)
		*status = command_print("unite", &text);
	buf_release(&text);
	maps_release(&maps);
	return rc;
}

#define STATUS_HALF                                                                                \
	"1 failed, but another run may succeed; " STATUS_USAGE "; "                                \
	"4 failed, and the same input would fail again; " STATUS_STOPPED

const struct command map_command = {
	.name = "map",
	.usage = "JOB [FILE] --plan DIR -o DIR [options]",
	.summary =
		"sort the rows of a file, or of a slice of it, by region, as the first half of a "
		"load",
	.least = 1,
	.most = ANY_NUMBER,
	.run = run_map,
	.decides =
		"map reads one input and assigns each row to the region of the plan. A row "
		"belongs to the slice that contains its first byte. So each row is in exactly "
		"one slice. The report contains the digest of the input. Bad events do not end a "
		"map, because unite checks --max-rejects for all maps.",
	.statuses = "0 rows written; " STATUS_HALF,
	.examples = {"saltmill map conf/ratings.yaml ratings.csv --plan plan -o map3 --slice 3/8",
		     "saltmill map conf/ratings.yaml day2.csv --input 1 --plan plan --pack -o "
		     "map-day2"}};

const struct command reduce_command = {
	.name = "reduce",
	.usage = "JOB MAPS... --plan DIR -o DIR [options]",
	.summary = "write the HFiles of some regions from the rows of all maps, as the second half "
		   "of a load",
	.least = 1,
	.most = ANY_NUMBER,
	.run = run_reduce,
	.decides =
		"reduce writes the regions of --region, or the K-th of N equal shares of all "
		"regions. It merges the rows of these regions from all maps, and resolves "
		"duplicates as a load does. The bytes of the HFiles do not depend on the number "
		"of maps and reduces. reduce refuses a map with another plan, and a damaged map.",
	.operands = {{"MAPS", "the output folder of a map, a folder with such folders, or - to "
			      "read pieces from standard input"}},
	.statuses = "0 HFiles written; " STATUS_HALF,
	.examples = {"saltmill reduce conf/ratings.yaml maps/ --plan plan -o reduce1 --share 1/4",
		     "saltmill reduce conf/ratings.yaml maps/ --plan plan -o reduce7 --region 7"}};
