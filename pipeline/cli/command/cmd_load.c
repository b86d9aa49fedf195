/* cmd_load.c - `saltmill load JOB [FILE...] -o DIR` */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd.h"
#include "cmd_halves.h"
#include "folders.h"
#include "half_reports.h"
#include "stream.h"
#include "input_options.h"
#include "cli/reports.h"
#include "load.h"
#include "place_options.h"
#include "reporter.h"

enum {
	OPT_MAX_REJECTS = 500,
	OPT_MAX_DUPLICATES,
	OPT_MAX_FILTERED,
	OPT_MIN_ROWS,
	OPT_PREVIOUS,
	OPT_EXISTING,
	OPT_HBASE,
	OPT_STATE,
	OPT_REJECTS,
	OPT_JOB,
	OPT_PLAN,
	OPT_MAPS,
	OPT_REDUCES,
	OPT_HFILES,
	OPT_INPUTS,
	OPT_LOADS,
	OPT_MAX_FILES
};

#define MAX_FILES 16 /* hbase.hstore.blockingStoreFiles, by default */

struct load_arguments {
	const char *output_dir;
	struct event_limit limit, duplicates;
	bool limits_duplicates, limits_filtered;
	struct event_limit filtered;
	uint64_t min_rows;
	struct existing_regions live;
	const char *state_dir;
	const char *previous_dir;
	struct manifest previous;
	bool rejects; /* replay */
	const char *rejects_file, *job;
	struct input_options from;
	struct storage_options place;
	const char *plan_dir, *inputs_file, *hfiles;
	struct kept_plan plan;
	bool unites;
	struct folders maps, reduces;
	struct folders loads; /* to be joined; none: it is no such run */
	uint64_t max_files;
	struct load_halves halves;
	struct source_inputs known;
	struct arena arena;
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
	int rc = input_option(&a->from, opt, arg, err);

	if (rc == RC_END)
		rc = place_option(&a->place, opt, arg, err);
	if (rc != RC_END)
		return rc;
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
	case OPT_HBASE:
		a->live.servers = arg;
		a->live.listener = command_listener("load");
		break;
	case OPT_PREVIOUS: a->previous_dir = arg; break;
	case OPT_STATE: a->state_dir = arg; break;
	case OPT_JOB: a->job = arg; break;
	case OPT_PLAN: a->plan_dir = arg; break;
	case OPT_MAPS: return folders_add(&a->maps, arg, err);
	case OPT_REDUCES: return folders_add(&a->reduces, arg, err);
	case OPT_HFILES: a->hfiles = arg; break;
	case OPT_INPUTS: a->inputs_file = arg; break;
	case OPT_LOADS: folders_add_plainly(&a->loads, arg); break;
	case OPT_MAX_FILES: return parse_count("--max-files", arg, 32, &a->max_files, err);
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
	if (!storage_is_remote(dir) && lstat(dir, &st) == 0)
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

static int print_result(const struct run_options *o, const struct load_arguments *a,
			const struct job *job, const struct load_result *r)
{
	const char *dir = a->output_dir;
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
	if (a->previous_dir)
		report_columns(&warnings, &a->previous, a->previous_dir, &r->manifest);
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

static int load(const struct job *job, const struct load_options *opt, const char *state_dir,
		struct progress *progress, struct load_result *result, struct error *err)
{
	const struct listener listener = command_listener("load");
	bool topic = job->source == SOURCE_KAFKA && opt->input->nfiles == 0;

	if (topic && storage_is_remote(opt->output_dir))
		return error_set(err, RC_CONFIG,
				 "found output %s, expected a folder of this machine: loads of a "
				 "topic are told apart by their folders",
				 opt->output_dir);
	if (topic)
		return ingest_batch(job, opt, state_dir, &listener, progress, result, err);
	if (state_dir)
		return error_set(err, RC_CONFIG,
				 "--state is for a kafka source, found files to load");
	return load_run(job, opt, progress, result, err);
}

static int read_plan(struct load_arguments *a, const struct job *job, struct error *err)
{
	if (!a->plan_dir)
		return RC_OK;
	if (existing_regions_asked(&a->live))
		return error_set(err, RC_CONFIG,
				 "--plan and %s both say where to cut, expected one",
				 a->live.servers ? "--hbase" : "--existing");
	return kept_plan_read(&a->plan, a->plan_dir, job, err);
}

static int read_previous(struct load_arguments *a, struct error *err)
{
	struct buf path = {0};

	if (!a->previous_dir)
		return RC_OK;
	buf_printf(&path, "%s/manifest.json%c", a->previous_dir, 0);
	int rc = manifest_read(&a->previous, (const char *)path.ptr, &a->arena, err);
	buf_release(&path);
	return rc ? error_prefix(err, "--previous: ") : RC_OK;
}

/* Read the list of the inputs, which this machine cannot open. */
static int read_inputs(struct load_arguments *a, struct error *err)
{
	struct input *in = &a->from.input;

	if (!a->inputs_file)
		return RC_OK;
	if (in->nfiles || in->columns_file)
		return error_set(err, RC_CONFIG, "--inputs names all inputs: found %s too",
				 in->nfiles ? "files" : "--columns");
	int rc = input_list_read(&a->known, a->inputs_file, &a->arena, err);
	if (rc == RC_OK && a->known.ninputs == 0)
		rc = error_set(err, RC_DATA, "%s: has no inputs, expected all of them",
			       a->inputs_file);
	a->known.columns = a->plan.columns;
	a->known.ncolumns = a->plan.ncolumns;
	in->known = &a->known;
	return rc;
}

static int run(const struct run_options *o, struct load_arguments *a, const char *job_path,
	       char **files, size_t nfiles)
{
	struct error err;
	struct job job;
	struct load_result result = {0};
	struct progress progress = {.phase = NULL};
	const char *name = a->unites ? "unite" : "load";
	bool judges = a->unites && a->reduces.n == 0 && a->loads.n == 0; /* the maps alone */
	int status = EXIT_DONE, rc = judges ? RC_OK : check_output(a->output_dir, &err);

	if (rc)
		return command_fail(name, &err);
	rc = job_load(&job, job_path, &err);
	job.allow_code = o->allow_code;
	if (rc == RC_OK)
		rc = read_previous(a, &err);
	if (rc == RC_OK)
		rc = existing_regions_read(&a->live, &job, &err);
	if (rc == RC_OK)
		rc = read_plan(a, &job, &err);
	if (rc == RC_OK)
		rc = input_complete(&a->from, files, nfiles, &err);
	if (rc == RC_OK)
		rc = read_inputs(a, &err);
	if (judges && rc == RC_OK) {
		rc = maps_judge(&a->plan, &a->halves, a->known.ninputs, o->json, &status, &err);
	} else if (rc == RC_OK) {
		struct load_options opt = {.common = o,
					   .input = &a->from.input,
					   .output_dir = a->output_dir,
					   .place = &a->place,
					   .limit = a->limit,
					   .max_duplicates =
						   a->limits_duplicates ? &a->duplicates : NULL,
					   .max_filtered = a->limits_filtered ? &a->filtered : NULL,
					   .min_rows = a->min_rows,
					   .live = &a->live,
					   .plan = a->plan_dir ? &a->plan : NULL,
					   .halves = a->unites ? &a->halves : NULL};
		struct reporter *reporter = o->quiet ? NULL : reporter_start(&progress);
		const struct load_parts parts = {.dirs = (const char *const *)a->loads.path,
						 .ndirs = a->loads.n,
						 .max_files =
							 a->max_files ? a->max_files : MAX_FILES};

		rc = a->loads.n ? load_join(&job, &opt, &parts, &progress, &result, &err)
				: load(&job, &opt, a->state_dir, &progress, &result, &err);
		reporter_stop(reporter);
	}
	if (rc)
		status = (a->unites ? halves_fail : command_fail)(name, &err);
	else if (!judges)
		status = print_result(o, a, &job, &result);
	load_result_release(&result);
	kept_plan_release(&a->plan);
	arena_release(&a->arena);
	job_release(&job);
	return status;
}

/* What load and replay both take. */
/* clang-format off */
#define OPTIONS_OF_BOTH                                                     \
	{"output", required_argument, NULL, 'o'},                           \
	{"max-rejects", required_argument, NULL, OPT_MAX_REJECTS},          \
	{"max-duplicates", required_argument, NULL, OPT_MAX_DUPLICATES},    \
	{"existing", required_argument, NULL, OPT_EXISTING},                \
	{"hbase", required_argument, NULL, OPT_HBASE},                      \
	PLACE_OPTIONS
/* clang-format on */

/* load, unite and replay: run with what stands behind the options. */
static int command(int argc, char **argv, const struct option *own,
		   int (*run_it)(const struct run_options *o, struct load_arguments *a,
				 char **operands, size_t n))
{
	struct run_options o;
	struct load_arguments a = {0};
	int first, rc = options_parse(argc, argv, &o, own, "o:", take_option, &a, &first);
	int status = rc == RC_END ? EXIT_DONE : EXIT_USAGE;

	if (rc == RC_OK)
		status = run_it(&o, &a, argv + first, (size_t)(argc - first));
	existing_regions_release(&a.live);
	folders_release(&a.maps);
	folders_release(&a.reduces);
	folders_release(&a.loads);
	return status;
}

static int load_files(const struct run_options *o, struct load_arguments *a, char **operands,
		      size_t n)
{
	if (n > 0)
		return run(o, a, operands[0], operands + 1, n - 1);
	return command_misused("load", "no job file; usage: saltmill load JOB [FILE...] -o DIR");
}

int cmd_load(int argc, char **argv)
{
	static const struct option own[] = {OPTIONS_OF_BOTH,
					    {"max-filtered", required_argument, NULL,
					     OPT_MAX_FILTERED},
					    {"min-rows", required_argument, NULL, OPT_MIN_ROWS},
					    {"previous", required_argument, NULL, OPT_PREVIOUS},
					    {"state", required_argument, NULL, OPT_STATE},
					    INPUT_OPTIONS,
					    {"plan", required_argument, NULL, OPT_PLAN},
					    {0}};

	return command(argc, argv, own, load_files);
}

static int unite(const struct run_options *o, struct load_arguments *a, char **operands, size_t n)
{
	bool halves = a->plan_dir && a->maps.n && !a->loads.n;
	bool loads = a->loads.n && !a->plan_dir && !a->maps.n && !a->reduces.n && !a->inputs_file;

	if (n == 0 || !(halves || loads)) {
		return command_misused("unite",
				       "expected a job, and --plan and --maps, or --loads; usage: "
				       "saltmill unite JOB [FILE...] --plan DIR --maps DIR... "
				       "[--reduces DIR... -o DIR], or JOB --loads DIR... -o DIR");
	}
	a->unites = true;
	for (size_t i = 1; loads && i < n; i++)
		folders_add_plainly(&a->loads, operands[i]);
	n = loads ? 1 : n;
	a->halves = (struct load_halves){.maps = (const char *const *)a->maps.path,
					 .nmaps = a->maps.n,
					 .reduces = (const char *const *)a->reduces.path,
					 .nreduces = a->reduces.n,
					 .hfiles = a->hfiles};
	return run(o, a, operands[0], operands + 1, n - 1);
}

int cmd_unite(int argc, char **argv)
{
	static const struct option own[] = {
		{"output", required_argument, NULL, 'o'},
		{"max-rejects", required_argument, NULL, OPT_MAX_REJECTS},
		{"max-duplicates", required_argument, NULL, OPT_MAX_DUPLICATES},
		{"max-filtered", required_argument, NULL, OPT_MAX_FILTERED},
		{"min-rows", required_argument, NULL, OPT_MIN_ROWS},
		{"columns", required_argument, NULL, OPT_COLUMNS}, /* as of map */
		{"plan", required_argument, NULL, OPT_PLAN},
		{"maps", required_argument, NULL, OPT_MAPS},
		{"reduces", required_argument, NULL, OPT_REDUCES},
		{"inputs", required_argument, NULL, OPT_INPUTS},
		{"hfiles", required_argument, NULL, OPT_HFILES},
		PLACE_OPTIONS,
		{"loads", required_argument, NULL, OPT_LOADS},
		{"max-files", required_argument, NULL, OPT_MAX_FILES},
		{0}};

	return command(argc, argv, own, unite);
}

static int replay_rejects(const struct run_options *o, struct load_arguments *a, const char *dir)
{
	struct error err;
	struct manifest m;
	struct arena arena = {0};
	char *manifest = mem_format("%s/manifest.json", dir);
	char *file =
		a->rejects_file ? mem_strdup(a->rejects_file) : mem_format("%s/rejects.jsonl", dir);
	int status, rc = manifest_read(&m, manifest, &arena, &err);

	if (rc == RC_OK && !manifest_is_of_topics(&m))
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

static int replay(const struct run_options *o, struct load_arguments *a, char **operands, size_t n)
{
	if (n == 1 && a->rejects)
		return replay_rejects(o, a, operands[0]);
	return command_misused(
		"replay",
		"expected a published load; usage: saltmill replay DIR --rejects[=FILE] -o DIR");
}

int cmd_replay(int argc, char **argv)
{
	static const struct option own[] = {OPTIONS_OF_BOTH,
					    {"rejects", optional_argument, NULL, OPT_REJECTS},
					    {"job", required_argument, NULL, OPT_JOB},
					    {0}};

	return command(argc, argv, own, replay);
}
