/* cmd_lint.c - implements `saltmill lint`, which finds unwise settings in a job */
#include <stdio.h>

#include "clock.h"
#include "arguments.h"
#include "input_options.h"
#include "io.h"
#include "lint.h"
#include "cli/reports.h"
#include "mem.h"
#include "reporter.h"

/*
 * Returns true if the command line or the job names files. Without files, lint checks only the job.
 */
static bool has_events(const struct job *job, size_t nfiles)
{
	return nfiles > 0 || (job->source != SOURCE_KAFKA && job->csv.nfiles > 0);
}

/* Checks the job and its events. Sets *bad to true if the table rejects events. */
static int judge(struct lint *l, struct arguments *a, const struct job *job, bool *bad,
		 struct error *err)
{
	struct progress progress = {.phase = "reading", .told = PROGRESS_INPUT};
	uint64_t events, rejected;
	char *dir;

	if (!has_events(job, a->input.nfiles)) {
		lint_job(l, job, NULL);
		return RC_OK;
	}
	int rc = io_make_temp_dir(&dir, a->run.temp_dir, "saltmill-lint", err);
	if (rc)
		return rc;
	const struct lint_options opt = {.run = &a->run,
					 .input = &a->input,
					 .work_dir = dir,
					 .now_ms = clock_wall_ms()};
	struct reporter *reporter = a->run.quiet ? NULL : reporter_start(&progress);
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

static int run(struct arguments *a)
{
	struct error err;
	struct job job;
	struct lint l = {0};
	struct buf text = {0};
	bool bad = false;
	int rc = job_load(&job, a->operand[0], &err);

	if (rc == RC_OK)
		rc = input_complete(a, 1, &err);
	if (rc == RC_OK)
		rc = judge(&l, a, &job, &bad, &err);
	int status = rc ? command_fail("lint", &err) : l.count || bad ? EXIT_REJECTS : EXIT_DONE;
	if (rc == RC_OK && a->run.json)
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

const struct command lint_command = {
	.name = "lint",
	.usage = "JOB [FILE...] [options]",
	.summary =
		"find unwise settings in the tables of a job, measured with its events, and print "
		"fixes",
	.least = 1,
	.most = ANY_NUMBER,
	.run = run,
	.decides =
		"lint checks the job alone, and the rows of FILE... or of the files in the job. "
		"A rule about rows needs at least 100 rows; a rule about order compares rows "
		"within 1 MB. It finds, for example, row keys that always increase, key "
		"collisions, long keys, salts with few buckets, wrong time units, and short "
		"TTLs. A severe finding means that the table loses or overwrites rows. A warning "
		"means slow reads or writes. Advice means wasted space.",
	.statuses = "0 no findings; 3 findings, or some input was bad; 1 failed; " STATUS_USAGE,
	.examples = {"saltmill lint conf/presplit.yaml",
		     "saltmill lint conf/ratings.yaml ratings.csv --json"}};
