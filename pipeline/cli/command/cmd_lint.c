/* cmd_lint.c - `saltmill lint JOB [FILE...]` */
#include <stdio.h>

#include "clock.h"
#include "cmd.h"
#include "io.h"
#include "lint.h"
#include "cli/reports.h"
#include "mem.h"
#include "reporter.h"

/* No files named, and none in the job: only the job is judged. */
static bool has_events(const struct job *job, size_t nfiles)
{
	return nfiles > 0 || (job->source != SOURCE_KAFKA && job->csv.nfiles > 0);
}

static int judge(struct lint *l, const struct job *job, const struct run_options *o, char **files,
		 size_t nfiles, bool *bad, struct error *err)
{
	struct progress progress = {.phase = "reading", .told = PROGRESS_INPUT};
	uint64_t events, rejected;
	char *dir;

	if (!has_events(job, nfiles)) {
		lint_job(l, job);
		return RC_OK;
	}
	int rc = io_make_temp_dir(&dir, o->temp_dir, "saltmill-lint", err);
	if (rc)
		return rc;
	const struct input input = {.files = (const char *const *)files, .nfiles = nfiles};
	const struct lint_options opt = {.run = o,
					 .input = &input,
					 .work_dir = dir,
					 .now_ms = clock_wall_ms()};
	struct reporter *reporter = o->quiet ? NULL : reporter_start(&progress);
	rc = lint_run(l, job, &opt, &progress, &events, &rejected, err);
	reporter_stop(reporter);
	struct error ignored;
	int rm = io_remove_tree(dir, rc ? &ignored : err);
	mem_free(dir);
	rc = rc ? rc : rm;
	*bad = rc == RC_OK && rejected > 0;
	if (*bad)
		command_left_out("lint", rejected, events);
	return rc;
}

int cmd_lint(int argc, char **argv)
{
	struct run_options o;
	struct error err;
	struct job job;
	struct lint l = {0};
	struct buf text = {0};
	bool bad = false;
	int first, rc = options_parse(argc, argv, &o, NULL, NULL, NULL, NULL, &first);

	if (rc)
		return rc == RC_END ? EXIT_DONE : EXIT_USAGE;
	if (first >= argc) {
		return command_misused("lint", "no job file; usage: saltmill lint JOB [FILE...]");
	}
	rc = job_load(&job, argv[first], &err);
	if (rc == RC_OK)
		rc = judge(&l, &job, &o, argv + first + 1, (size_t)(argc - first - 1), &bad, &err);
	int status = rc ? command_fail("lint", &err) : l.count || bad ? EXIT_REJECTS : EXIT_DONE;
	if (rc == RC_OK && o.json)
		lint_report_json(&text, &l);
	else if (rc == RC_OK)
		lint_report_text(&text, &job, &l);
	if (command_print("lint", &text) != EXIT_DONE)
		status = EXIT_FAILED;
	buf_release(&text);
	lint_release(&l);
	job_release(&job);
	return status;
}
