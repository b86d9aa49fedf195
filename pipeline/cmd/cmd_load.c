/* cmd_load.c - `saltmill load JOB [FILE...] -o DIR` */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd.h"
#include "ingest.h"
#include "lint_report.h"
#include "load.h"
#include "report.h"
#include "reporter.h"

enum {
	OPT_MAX_REJECTS = 500,
	OPT_MAX_DUPLICATES,
	OPT_MAX_FILTERED,
	OPT_MIN_ROWS,
	OPT_EXISTING,
	OPT_STATE,
	OPT_REJECTS,
	OPT_JOB,
	OPT_SLICE,
	OPT_COLUMNS
};

struct load_arguments {
	const char *output_dir;
	struct event_limit limit, duplicates;
	bool limits_duplicates, limits_filtered;
	struct event_limit filtered;
	uint64_t min_rows;
	struct existing_regions live;
	const char *state_dir;
	bool rejects; /* replay */
	const char *rejects_file, *job;
	struct source_slice slice;
	bool sliced;
	const char *columns_file;
};

int parse_event_limit(const char *option, const char *text, struct event_limit *out,
		      struct error *err)
{
	char *end;
	if (text[0] >= '0' && text[0] <= '9') {
		out->share = strtod(text, &end) / 100;
		out->is_share = *end == '%' && end[1] == 0 && out->share <= 1;
		if (out->is_share)
			return RC_OK;
		out->count = strtoull(text, &end, 10);
		if (*end == 0)
			return RC_OK;
	}
	return error_set(err, RC_CONFIG, "%s: found `%s`, expected a number or a share like 0.1%%",
			 option, text);
}

static int parse_rows(const char *text, uint64_t *out, struct error *err)
{
	size_t digits = strspn(text, "0123456789");
	if (digits == 0 || digits > 18 || text[digits])
		return error_set(err, RC_CONFIG, "--min-rows: found `%s`, expected a number", text);
	*out = strtoull(text, NULL, 10);
	return RC_OK;
}

static int take_option(void *ctx, int opt, const char *arg, struct error *err)
{
	struct load_arguments *a = ctx;
	switch (opt) {
	case OPT_MAX_REJECTS: return parse_event_limit("--max-rejects", arg, &a->limit, err);
	case OPT_MAX_DUPLICATES:
		a->limits_duplicates = true;
		return parse_event_limit("--max-duplicates", arg, &a->duplicates, err);
	case OPT_MAX_FILTERED:
		a->limits_filtered = true;
		return parse_event_limit("--max-filtered", arg, &a->filtered, err);
	case OPT_MIN_ROWS: return parse_rows(arg, &a->min_rows, err);
	case OPT_EXISTING: existing_regions_add(&a->live, arg); break;
	case OPT_STATE: a->state_dir = arg; break;
	case OPT_JOB: a->job = arg; break;
	case OPT_SLICE: a->sliced = true; return parse_slice(arg, &a->slice, err);
	case OPT_COLUMNS: a->columns_file = arg; break;
	case OPT_REJECTS:
		a->rejects = true;
		a->rejects_file = arg;
		break;
	default: a->output_dir = arg;
	}
	return RC_OK;
}

static int check_output(const char *dir, struct error *err)
{
	struct stat st;
	if (!dir)
		return error_set(err, RC_CONFIG, "no output folder: give -o DIR");
	if (lstat(dir, &st) == 0)
		return error_set(err, RC_CONFIG,
				 "%s exists; a load never touches what is there: name a new folder",
				 dir);
	return RC_OK;
}

/* What lint finds severe in the job, and in what a load knows anyway. */
static void warn_of_design(struct buf *warnings, const struct job *job, const struct load_result *r)
{
	struct lint found = {0};
	lint_job(&found, job);
	for (size_t i = 0; i < r->manifest.ntables; i++) {
		const struct manifest_table *t = &r->manifest.tables[i];
		int64_t oldest = INT64_MAX, newest = INT64_MIN;
		for (size_t k = 0; k < t->nfiles; k++) {
			oldest = t->files[k].min_ts < oldest ? t->files[k].min_ts : oldest;
			newest = t->files[k].max_ts > newest ? t->files[k].max_ts : newest;
		}
		lint_times(&found, job, i, t->rows, oldest, newest);
	}
	lint_report_severe(warnings, job, &found);
	lint_release(&found);
}

static int print_result(const struct run_options *o, const struct job *job,
			const struct load_result *r, const char *dir)
{
	struct buf text = {0}, warnings = {0};
	if (r->stale_removed && !o->quiet)
		buf_printf(&warnings, "removed %s" STAGING_SUFFIX ", left by a run that died\n",
			   dir);
	if (o->json)
		report_json(&text, r, dir);
	else if (!o->quiet)
		report_text(&text, r, dir);
	if (!o->quiet) {
		report_hidden(&warnings, r, job);
		command_warn_framing("load", job->tables, job->ntables);
	}
	warn_of_design(&warnings, job, r);
	report_collisions(&warnings, r);
	report_empty(&warnings, r);
	bool kept = report_promises(&warnings, r);
	int status = r->manifest.rejected || !kept ? EXIT_REJECTS : EXIT_DONE;
	command_warn("load", &warnings);
	if ((o->json ? command_print : command_show)("load", &text) != EXIT_DONE) {
		status = EXIT_FAILED;
		command_say("load", "published all the same as %s", dir);
	}
	buf_release(&warnings);
	buf_release(&text);
	return status;
}

static void print_line(void *ctx, const char *sentence)
{
	(void)ctx;
	command_say("load", "%s", sentence);
}

static int load(const struct job *job, const struct load_options *opt, const char *state_dir,
		struct progress *progress, struct load_result *result, struct error *err)
{
	const struct kafka_log log = {print_line, NULL};
	if (job->source == SOURCE_KAFKA && opt->nfiles == 0)
		return ingest_batch(job, opt, state_dir, &log, progress, result, err);
	if (state_dir)
		return error_set(err, RC_CONFIG,
				 "--state is for a kafka source, found files to load");
	return load_run(job, opt, progress, result, err);
}

static int run(const struct run_options *o, struct load_arguments *a, const char *job_path,
	       char **files, size_t nfiles)
{
	struct error err;
	struct job job;
	struct load_result result = {0};
	struct progress progress = {0};
	int rc = check_output(a->output_dir, &err);
	if (rc)
		return command_fail("load", &err);
	rc = job_load(&job, job_path, &err);
	job.allow_code = o->allow_code;
	if (rc == RC_OK)
		rc = existing_regions_read(&a->live, &job, &err);
	if (rc == RC_OK) {
		struct load_options opt = {.common = o,
					   .files = (const char *const *)files,
					   .nfiles = nfiles,
					   .output_dir = a->output_dir,
					   .limit = a->limit,
					   .max_duplicates =
						   a->limits_duplicates ? &a->duplicates : NULL,
					   .max_filtered = a->limits_filtered ? &a->filtered : NULL,
					   .min_rows = a->min_rows,
					   .live = &a->live,
					   .slice = a->sliced ? &a->slice : NULL,
					   .columns_file = a->columns_file};
		struct reporter *reporter = o->quiet ? NULL : reporter_start(&progress);
		rc = load(&job, &opt, a->state_dir, &progress, &result, &err);
		reporter_stop(reporter);
	}
	int status =
		rc ? command_fail("load", &err) : print_result(o, &job, &result, a->output_dir);
	load_result_release(&result);
	job_release(&job);
	return status;
}

/* What load and replay both take. */
/* clang-format off */
#define OPTIONS_OF_BOTH                                                     \
	{"output", required_argument, NULL, 'o'},                           \
	{"max-rejects", required_argument, NULL, OPT_MAX_REJECTS},          \
	{"max-duplicates", required_argument, NULL, OPT_MAX_DUPLICATES},    \
	{"existing", required_argument, NULL, OPT_EXISTING}
/* clang-format on */

int cmd_load(int argc, char **argv)
{
	static const struct option own[] = {OPTIONS_OF_BOTH,
					    {"max-filtered", required_argument, NULL,
					     OPT_MAX_FILTERED},
					    {"min-rows", required_argument, NULL, OPT_MIN_ROWS},
					    {"state", required_argument, NULL, OPT_STATE},
					    {"slice", required_argument, NULL, OPT_SLICE},
					    {"columns", required_argument, NULL, OPT_COLUMNS},
					    {0}};
	struct run_options o;
	struct load_arguments a = {0};
	int first, rc = options_parse(argc, argv, &o, own, "o:", take_option, &a, &first);
	if (rc)
		return rc == RC_END ? EXIT_DONE : EXIT_USAGE;
	if (first >= argc) {
		fputs("saltmill load: no job file; usage: saltmill load JOB [FILE...] -o DIR\n",
		      stderr);
		return EXIT_USAGE;
	}
	int status = run(&o, &a, argv[first], argv + first + 1, (size_t)(argc - first - 1));
	existing_regions_release(&a.live);
	return status;
}

static int replay(const struct run_options *o, struct load_arguments *a, const char *dir)
{
	struct error err;
	struct manifest m;
	struct arena arena = {0};
	char *manifest = mem_format("%s/manifest.json", dir);
	char *file =
		a->rejects_file ? mem_strdup(a->rejects_file) : mem_format("%s/rejects.jsonl", dir);
	int status, rc = manifest_read(&m, manifest, &arena, &err);
	if (rc == RC_OK && !m.topic)
		rc = error_set(&err, RC_CONFIG,
			       "%s was not loaded from Kafka; repair its rejects in a file of the "
			       "source's "
			       "format and load that",
			       dir);
	if (rc == RC_OK)
		status = run(o, a, a->job ? a->job : m.job_path, &file, 1);
	else
		status = command_fail("replay", &err);
	mem_free(file);
	mem_free(manifest);
	arena_release(&arena);
	return status;
}

int cmd_replay(int argc, char **argv)
{
	static const struct option own[] = {OPTIONS_OF_BOTH,
					    {"rejects", optional_argument, NULL, OPT_REJECTS},
					    {"job", required_argument, NULL, OPT_JOB},
					    {0}};
	struct run_options o;
	struct load_arguments a = {0};
	int first, rc = options_parse(argc, argv, &o, own, "o:", take_option, &a, &first);
	if (rc)
		return rc == RC_END ? EXIT_DONE : EXIT_USAGE;
	if (first != argc - 1 || !a.rejects) {
		fputs("saltmill replay: expected a published load; usage: saltmill replay DIR "
		      "--rejects[=FILE] -o DIR\n",
		      stderr);
		return EXIT_USAGE;
	}
	int status = replay(&o, &a, argv[first]);
	existing_regions_release(&a.live);
	return status;
}
