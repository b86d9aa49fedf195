/* cmd_check.c - implements `saltmill check`, which shows the first rows of the input as cells */
#include <stdio.h>

#include "arguments.h"
#include "input_options.h"
#include "io.h"
#include "measure_job.h"
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

/* Writes the file of questions again, with the figures of now. */
static int update(const struct arguments *a, const struct design *g, struct error *err)
{
	const char *path = a->design.queries;
	struct queries q;
	struct buf text = {0};

	queries_of(&q, g);
	q.servers = (unsigned)a->design.servers;
	q.sample = a->sample < 1 ? a->sample : 0;
	queries_write(&text, &q);
	int rc = io_replace_file(path, buf_bytes(&text), NULL, err);
	queries_release(&q);
	buf_release(&text);
	return rc;
}

static int judge_queries(struct arguments *a, struct job *job, struct buf *text, size_t *faults,
			 struct error *err)
{
	struct design_result r = {0};
	struct queries q = {0};
	int rc = job_load(job, a->operand[0], err);

	if (rc == RC_OK)
		rc = input_complete(a, 1, err);
	a->design.servers = DESIGN_SERVERS;
	if (rc == RC_OK)
		rc = read_queries(&q, a, err);
	if (rc == RC_OK)
		rc = run_design(&r, a, job, &a->input, 1, true, err);
	if (rc == RC_OK) {
		*faults = a->design.update ? 0 : queries_judge(text, &q, &r.list[0]);
		if (a->run.json) {
			text->len = 0;
			design_report_json(text, &r);
		} else if (!*faults) {
			design_questions_text(text, &r.list[0]);
		}
	}
	if (rc == RC_OK && a->design.update)
		rc = update(a, &r.list[0], err);
	queries_release(&q);
	design_release(&r);
	return rc;
}

/* Checks that no question became worse. */
static int run_queries(struct arguments *a)
{
	struct error err;
	struct job job = {0};
	struct buf text = {0};
	size_t faults = 0;
	int rc = judge_queries(a, &job, &text, &faults, &err);
	int status = rc ? command_fail("check", &err) : faults ? EXIT_REJECTS : EXIT_DONE;
	int printed = rc	    ? EXIT_DONE
		      : a->run.json ? command_print("check", &text)
				    : command_show("check", &text);

	buf_release(&text);
	job_release(&job);
	return printed ? printed : status;
}

static int run(struct arguments *a)
{
	struct error err;
	struct job job;
	struct look l = {0};
	struct buf text = {0};

	if (a->design.queries)
		return run_queries(a);
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
	.decides =
		"check reads the first rows as a load would, and rejects the same rows as a "
		"load. For each field it counts nulls and different values, and shows one "
		"value. From Kafka topics it reads the first messages of each partition. It "
		"joins no consumer group and changes no state. With --queries, check reads all "
		"events of the files, or the share that FILE names, and counts the ranges, blocks and rows of each question.",
	.statuses = "0 no row is bad; 3 some rows are bad, or a question is "
		    "worse than its limits; 1 "
		    "failed; " STATUS_USAGE,
	.examples = {"saltmill check conf/erp.yaml",
		     "saltmill check conf/erp.yaml export.csv --rows 100000 --json"}};
