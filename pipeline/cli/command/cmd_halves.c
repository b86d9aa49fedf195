/* cmd_halves.c - `saltmill map`, `saltmill reduce`, and what `saltmill unite` asks of maps alone */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "cmd_halves.h"
#include "folders.h"
#include "load.h"
#include "input_options.h"
#include "mem.h"
#include "place_options.h"
#include "reporter.h"

enum {
	OPT_PLAN = 500,
	OPT_INPUT,
	OPT_PACK,
	OPT_TABLE,
	OPT_REGION,
	OPT_SHARE,
	OPT_CREATED,
	OPT_HFILES
};

struct half_arguments {
	const char *output_dir, *plan_dir, *table, *hfiles;
	struct input_options from;
	struct storage_options place;
	bool pack, regions;
	uint64_t number, first, last;
	struct source_slice share; /* part, parts */
	int64_t created_ms;
};

int halves_fail(const char *name, const struct error *err)
{
	int status = command_fail(name, err);
	bool data = err->code == RC_DATA || err->code == RC_LIMIT || err->code == RC_ORDER;

	return data ? EXIT_DATA : status;
}

/* "7" or "7-12", both ends among them. */
static int parse_regions(const char *text, struct half_arguments *a, struct error *err)
{
	char *copy = mem_strdup(text), *dash = strchr(copy, '-');

	if (dash)
		*dash = 0;
	int rc = parse_number("--region", copy, UINT32_MAX, &a->first, err);
	a->last = a->first;
	if (rc == RC_OK && dash)
		rc = parse_number("--region", dash + 1, UINT32_MAX, &a->last, err);
	a->regions = true;
	mem_free(copy);
	return rc;
}

static int parse_share(const char *text, struct source_slice *out, struct error *err)
{
	int rc = parse_slice(text, out, err);

	return rc == RC_OK && out->parts
		       ? RC_OK
		       : error_set(err, RC_CONFIG,
				   "--share: found `%s`, expected K/N, the K-th of N shares", text);
}

static int take_option(void *ctx, int opt, const char *arg, struct error *err)
{
	struct half_arguments *a = ctx;
	uint64_t ms = 0;
	int rc = input_option(&a->from, opt, arg, err);

	if (rc == RC_END)
		rc = place_option(&a->place, opt, arg, err);
	if (rc != RC_END)
		return rc;
	switch (opt) {
	case OPT_PLAN: a->plan_dir = arg; return RC_OK;
	case OPT_INPUT: return parse_number("--input", arg, SOURCE_FILES_MOST - 1, &a->number, err);
	case OPT_PACK: a->pack = true; return RC_OK;
	case OPT_TABLE: a->table = arg; return RC_OK;
	case OPT_HFILES: a->hfiles = arg; return RC_OK;
	case OPT_REGION: return parse_regions(arg, a, err);
	case OPT_SHARE: return parse_share(arg, &a->share, err);
	case OPT_CREATED:
		rc = parse_number("--created", arg, INT64_MAX, &ms, err);
		a->created_ms = (int64_t)ms;
		return rc;
	default: a->output_dir = arg; return RC_OK;
	}
}

/* One run of either. */
struct half_run {
	const char *name;
	struct run_options o;
	struct half_arguments a;
	struct job job;
	struct kept_plan plan;
	struct arena arena;
	struct progress progress;
};

static int open_half(struct half_run *h, const char *job, struct error *err)
{
	if (!h->a.output_dir || !h->a.plan_dir)
		return error_set(err, RC_CONFIG, "no %s: give %s",
				 h->a.output_dir ? "plan" : "output folder",
				 h->a.output_dir
					 ? "--plan DIR, that `saltmill plan -o DIR` has made"
					 : "-o DIR");
	int rc = job_load(&h->job, job, err);
	if (rc == RC_OK)
		rc = kept_plan_read(&h->plan, h->a.plan_dir, &h->job, err);
	return rc;
}

static int map(struct half_run *h, char **files, size_t nfiles, struct error *err)
{
	struct map_report report;
	struct input_options *from = &h->a.from;
	int rc = input_complete(from, files, nfiles, err);

	if (rc)
		return rc;
	from->input.number = (uint32_t)h->a.number;
	from->feed.columns = h->plan.columns;
	from->feed.ncolumns = h->plan.ncolumns;
	const struct map_options o = {.common = &h->o,
				      .plan = &h->plan,
				      .input = &from->input,
				      .pack = h->a.pack,
				      .output_dir = h->a.output_dir};
	struct reporter *reporter = h->o.quiet ? NULL : reporter_start_on_terminal(&h->progress);
	rc = map_run(&h->job, &o, &h->progress, &report, &h->arena, err);
	reporter_stop(reporter);
	if (rc == RC_OK && !h->o.quiet)
		command_say(h->name, "%s: %llu events of bytes %llu to %llu, %llu of them rejected",
			    report.path, (unsigned long long)report.read,
			    (unsigned long long)report.first, (unsigned long long)report.end,
			    (unsigned long long)report.rejected);
	return rc;
}

static int find_table(const struct half_run *h, size_t *table, struct error *err)
{
	size_t n = h->job.ntables;

	for (*table = 0; *table < n; ++*table)
		if (!h->a.table ? n == 1 : !strcmp(h->job.tables[*table].schema.name, h->a.table))
			return RC_OK;
	return error_set(err, RC_CONFIG,
			 h->a.table ? "--table: the job has no table `%s`"
				    : "the job has several tables, expected --table NAME%s",
			 h->a.table ? h->a.table : "");
}

static int reduce(struct half_run *h, const struct folders *maps, struct error *err)
{
	struct reduce_report report;
	struct reduce_options o = {.common = &h->o,
				   .plan = &h->plan,
				   .maps = (const char *const *)maps->path,
				   .nmaps = maps->n,
				   .first = h->a.first,
				   .end = h->a.last + 1,
				   .part = h->a.share.part,
				   .parts = h->a.share.parts,
				   .created_ms = h->a.created_ms,
				   .output_dir = h->a.output_dir,
				   .hfiles = h->a.hfiles,
				   .place = &h->a.place};
	int rc = RC_OK;

	if (h->a.regions && o.parts)
		return error_set(err, RC_CONFIG,
				 "--region and --share both say which regions, expected one");
	if (h->a.regions)
		rc = find_table(h, &o.table, err);
	else if (!o.parts)
		o.part = o.parts = 1;
	struct reporter *reporter = h->o.quiet ? NULL : reporter_start_on_terminal(&h->progress);
	if (rc == RC_OK)
		rc = reduce_run(&h->job, &o, &h->progress, &report, &h->arena, err);
	reporter_stop(reporter);
	return rc;
}

static int end_half(struct half_run *h, int rc, const struct error *err)
{
	int status = rc ? halves_fail(h->name, err) : EXIT_DONE;

	kept_plan_release(&h->plan);
	job_release(&h->job);
	arena_release(&h->arena);
	return status;
}

int cmd_map(int argc, char **argv)
{
	static const struct option own[] = {{"output", required_argument, NULL, 'o'},
					    {"plan", required_argument, NULL, OPT_PLAN},
					    {"input", required_argument, NULL, OPT_INPUT},
					    INPUT_OPTIONS,
					    {"pack", no_argument, NULL, OPT_PACK},
					    {0}};
	struct half_run h = {.name = "map"};
	struct error err;
	int first, rc = options_parse(argc, argv, &h.o, own, "o:", take_option, &h.a, &first);

	if (rc)
		return rc == RC_END ? EXIT_DONE : EXIT_USAGE;
	if (first >= argc) {
		return command_misused(
			"map", "no job file; usage: saltmill map JOB [FILE] --plan DIR -o DIR");
	}
	rc = open_half(&h, argv[first], &err);
	if (rc == RC_OK)
		rc = map(&h, argv + first + 1, (size_t)(argc - first - 1), &err);
	return end_half(&h, rc, &err);
}

int cmd_reduce(int argc, char **argv)
{
	static const struct option own[] = {{"output", required_argument, NULL, 'o'},
					    {"plan", required_argument, NULL, OPT_PLAN},
					    {"table", required_argument, NULL, OPT_TABLE},
					    {"region", required_argument, NULL, OPT_REGION},
					    {"share", required_argument, NULL, OPT_SHARE},
					    {"created", required_argument, NULL, OPT_CREATED},
					    {"hfiles", required_argument, NULL, OPT_HFILES},
					    PLACE_OPTIONS,
					    {0}};
	struct half_run h = {.name = "reduce", .a = {.created_ms = -1}};
	struct folders maps = {0};
	struct error err;
	int first, rc = options_parse(argc, argv, &h.o, own, "o:", take_option, &h.a, &first);

	if (rc)
		return rc == RC_END ? EXIT_DONE : EXIT_USAGE;
	if (first >= argc) {
		return command_misused(
			"reduce",
			"no job file; usage: saltmill reduce JOB MAPS... --plan DIR -o DIR");
	}
	rc = open_half(&h, argv[first], &err);
	for (int i = first + 1; rc == RC_OK && i < argc; i++)
		rc = folders_add(&maps, argv[i], &err);
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
	buf_printf(
		&text,
		json ? "{\"maps\": %zu, \"read\": %llu, \"rejected\": %llu, \"created_ms\": "
		       "%lld}\n"
		     : "%zu maps meet: %llu events, %llu of them rejected; reduce with --created "
		       "%lld\n",
		maps.n, (unsigned long long)read, (unsigned long long)rejected,
		(long long)created_ms);
	if (rc == RC_OK)
		*status = command_print("unite", &text);
	buf_release(&text);
	maps_release(&maps);
	return rc;
}
