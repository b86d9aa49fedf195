/* cmd_check.c - implements `saltmill check`, which shows the first rows of the input as cells */
#include <stdio.h>

#include "arguments.h"
#include "input_options.h"
#include "job.h"
#include "first_rows.h"
#include "cli/reports.h"

static int look(struct look *l, struct arguments *a, struct job *job, struct buf *text,
		struct error *err)
{
	const struct look_options opt = {.job = job,
					 .input = &a->input,
					 .rows = a->rows,
					 .shown = a->shown,
					 .memory_bytes = a->run.memory_bytes,
					 .listener = command_listener("check")};
	int rc = job_load(job, a->operand[0], err);

	if (rc == RC_OK)
		rc = input_complete(a, 1, err);
	if (rc == RC_OK)
		rc = look_at(l, &opt, err);
	if (rc == RC_OK)
		rc = a->run.json ? look_report_json(text, job, l, err)
				 : look_report_text(text, job, l, err);
	return rc;
}

static int run(struct arguments *a)
{
	struct error err;
	struct job job;
	struct look l = {0};
	struct buf text = {0};
	int rc = look(&l, a, &job, &text, &err);
	int status = rc ? command_fail("check", &err) : l.rejected ? EXIT_REJECTS : EXIT_DONE;
	int printed = rc	    ? EXIT_DONE
		      : a->run.json ? command_print("check", &text)
				    : command_show("check", &text);

	buf_release(&text);
	look_release(&l, &job);
	job_release(&job);
	return printed ? printed : status;
}

const struct command check_command = {
	.name = "check",
	.usage = "JOB [FILE...] [options]",
	.summary = "show the first rows of the input as fields, row keys and cells; write nothing",
	.least = 1,
	.most = ANY_NUMBER,
	.run = run,
	.decides = "check reads the first rows as a load would, and rejects the same rows as a "
		   "load. For each field it counts nulls and different values, and shows one "
		   "value. From Kafka topics it reads the first messages of each partition. It "
		   "joins no consumer group and changes no state.",
	.statuses = "0 no row is bad; 3 some rows are bad and would be rejected; 1 "
		    "failed; " STATUS_USAGE,
	.examples = {"saltmill check conf/erp.yaml",
		     "saltmill check conf/erp.yaml export.csv --rows 100000 --json"}};
