/* cmd_compare.c - implements `saltmill compare`, which measures two jobs with the same questions */
#include <stdio.h>

#include "arguments.h"
#include "measure_job.h"
#include "cli/reports.h"

static int measure(struct design_result *r, struct arguments *a, size_t which, struct error *err)
{
	struct job job;
	const struct input input = {.files = arguments_files(a, 2), .nfiles = a->noperands - 2};
	int rc = job_load(&job, a->operand[which], err);

	if (rc == RC_OK)
		rc = run_design(r, a, &job, &input, 1, true, err);
	if (rc == RC_OK)
		r->list[0].name = which ? "B" : "A";
	job_release(&job);
	return rc;
}

static int compare(struct arguments *a, struct design_result *both, struct error *err)
{
	struct queries q = {0};
	int rc = a->design.queries ? read_queries(&q, a, err) : RC_OK;

	if (rc == RC_OK && !a->design.nasks)
		rc = error_set(err, RC_CONFIG,
			       "found no question, expected --queries FILE or --ask \"FIELD = ?\"");
	for (size_t i = 0; rc == RC_OK && i < 2; i++)
		rc = measure(&both[i], a, i, err);
	queries_release(&q);
	return rc;
}

static int run(struct arguments *a)
{
	struct design_result both[2] = {{0}};
	struct error err;
	struct buf text = {0};
	int rc = compare(a, both, &err);
	int status = rc ? command_fail("compare", &err) : EXIT_DONE;

	if (rc == RC_OK && a->run.json)
		design_compare_json(&text, both);
	else if (rc == RC_OK)
		design_compare_text(&text, both);
	int printed =
		a->run.json ? command_print("compare", &text) : command_show("compare", &text);
	buf_release(&text);
	design_release(&both[0]);
	design_release(&both[1]);
	return printed ? printed : status;
}

const struct command compare_command = {
	.name = "compare",
	.usage = "A.yaml B.yaml [FILE...] --queries FILE [options]",
	.summary = "measure two jobs with the same questions and events, and print the differences",
	.least = 2,
	.most = ANY_NUMBER,
	.run = run,
	.decides =
		"compare builds the row keys of both jobs for all events, and counts ranges, rows "
		"and blocks of each question as `design` does. Without FILE, each job reads its "
		"own files.",
	.statuses = "0 done; 1 failed; " STATUS_USAGE,
	.examples = {
		"saltmill compare old.yaml new.yaml --queries queries.yaml",
		"saltmill compare old.yaml new.yaml files.csv --ask \"owner = ? latest 20\" 5/s"}};
