/*
 * cmd_drift.c - `saltmill drift --existing FILE JOB [FILE...]`
 *
 * What it prints is a script for `hbase shell -n`: the findings as comments, then the commands.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "planning.h"
#include "cli/reports.h"
#include "stream.h"
#include "reporter.h"
#include "bytes.h"

enum { OPT_EXISTING = 500, OPT_MAX_FILESIZE, OPT_STATE, OPT_HBASE };

struct drift_arguments {
	struct existing_regions live;
	uint64_t max_filesize;
	const char *state_dir;
};

static int take_option(void *ctx, int opt, const char *arg, struct error *err)
{
	struct drift_arguments *a = ctx;

	if (opt == OPT_EXISTING) {
		existing_regions_add(&a->live, arg);
		return RC_OK;
	}
	if (opt == OPT_HBASE) {
		a->live.servers = arg;
		a->live.any = a->live.loads = true;
		return RC_OK;
	}
	if (opt == OPT_STATE) {
		a->state_dir = arg;
		return RC_OK;
	}
	if (!parse_size(arg, &a->max_filesize) || a->max_filesize == 0)
		return error_set(err, RC_CONFIG,
				 "--max-filesize: found `%s`, expected a size like 10G", arg);
	return RC_OK;
}

static int run(const struct run_options *o, struct drift_arguments *a, const char *job_path,
	       char **files, size_t nfiles, struct buf *out, struct error *err)
{
	struct job job;
	struct drift d = {0};
	struct progress progress = {.phase = "reading", .told = PROGRESS_INPUT};
	struct ingest topic = {0};
	const struct listener listener = command_listener("drift");
	int rc = job_load(&job, job_path, err);

	job.allow_code = o->allow_code;
	if (rc == RC_OK)
		rc = existing_regions_read(&a->live, &job, err);
	if (rc == RC_OK)
		rc = ingest_peek(&topic, &job, nfiles, o->memory_bytes, a->state_dir, &listener,
				 err);
	if (rc == RC_OK) {
		const struct source_topic view = ingest_view(&topic);
		const struct input input = {.files = (const char *const *)files,
					    .nfiles = nfiles,
					    .topic = topic.client ? &view : NULL};
		struct drift_options opt = {.common = o,
					    .input = &input,
					    .live = &a->live,
					    .max_filesize = a->max_filesize};
		struct reporter *reporter = o->quiet ? NULL : reporter_start(&progress);

		rc = drift_run(&d, &job, &opt, &progress, err);
		reporter_stop(reporter);
	}
	if (rc == RC_OK && o->json)
		drift_report_json(out, &d);
	else if (rc == RC_OK)
		drift_report_script(out, &d);
	if (rc == RC_OK && d.rejected)
		command_left_out("drift", d.rejected, d.events);
	int status = rc ? command_fail("drift", err) : d.rejected ? EXIT_REJECTS : EXIT_DONE;
	drift_release(&d);
	ingest_close(&topic);
	job_release(&job);
	return status;
}

int cmd_drift(int argc, char **argv)
{
	static const struct option own[] = {{"existing", required_argument, NULL, OPT_EXISTING},
					    {"max-filesize", required_argument, NULL,
					     OPT_MAX_FILESIZE},
					    {"state", required_argument, NULL, OPT_STATE},
					    {"hbase", required_argument, NULL, OPT_HBASE},
					    {0}};
	struct run_options o;
	struct error err;
	struct drift_arguments a = {0};
	struct buf out = {0};
	int first, status = EXIT_USAGE,
		   rc = options_parse(argc, argv, &o, own, NULL, take_option, &a, &first);

	if (rc)
		status = rc == RC_END ? EXIT_DONE : EXIT_USAGE;
	else if (first >= argc || !existing_regions_asked(&a.live))
		status = command_misused("drift",
					 "no %s; usage: saltmill drift --existing FILE|--hbase "
					 "HOST JOB [FILE...]",
					 first >= argc ? "job file" : "--existing");
	else
		status = run(&o, &a, argv[first], argv + first + 1, (size_t)(argc - first - 1),
			     &out, &err);
	if (out.len && command_print("drift", &out) != EXIT_DONE)
		status = EXIT_FAILED;
	buf_release(&out);
	existing_regions_release(&a.live);
	return status;
}
