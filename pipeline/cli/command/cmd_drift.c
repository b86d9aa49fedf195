/*
 * cmd_drift.c - implements `saltmill drift`, which finds regions that are uneven or will split
 *
 * The command prints a script for `hbase shell -n`. Comments in the script describe the findings.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "planning.h"
#include "cli/reports.h"
#include "stream.h"
#include "input_options.h"
#include "reporter.h"
#include "job_login.h"

static int read_events(struct drift *d, struct arguments *a, const struct job *job,
		       struct error *err)
{
	struct progress progress = {.phase = "reading", .told = PROGRESS_INPUT};
	struct ingest topic = {0};
	const struct listener listener = command_listener("drift");
	int rc = ingest_peek(&topic, job, a->input.nfiles, a->run.memory_bytes, a->state_dir,
			     &listener, err);

	if (rc == RC_OK) {
		const struct source_topic view = ingest_view(&topic);

		a->input.topic = topic.client ? &view : NULL;
		const struct drift_options opt = {.common = &a->run,
						  .input = &a->input,
						  .live = &a->live,
						  .max_filesize = a->max_filesize};
		struct reporter *reporter = a->run.quiet ? NULL : reporter_start(&progress);
		rc = drift_run(d, job, &opt, &progress, err);
		reporter_stop(reporter);
	}
	ingest_close(&topic);
	return rc;
}

/* Reports each table that --fail-above rejects. Returns true if there is such a table. */
static bool is_above(const struct arguments *a, const struct drift *d)
{
	bool above = false;

	for (size_t t = 0; a->fail_above > 0 && t < d->ntables; t++) {
		const struct drift_table *table = &d->tables[t];
		double factor = drift_over_mean(table);
		size_t bursts = 0;

		for (size_t i = 0; i < table->nregions; i++)
			bursts += table->regions[i].bursts;
		if (factor <= a->fail_above && !bursts)
			continue;
		above = true;
		command_say("drift",
			    "table %s: found a region with %.2f times the mean, and %zu regions "
			    "that HBase will split, expected at most %g times and none "
			    "(--fail-above); run the script that drift prints",
			    table->schema->name, factor, bursts, a->fail_above);
	}
	return above;
}

static int print(const struct arguments *a, const struct drift *d)
{
	struct buf out = {0};

	if (a->run.json)
		drift_report_json(&out, d);
	else
		drift_report_script(&out, d);
	if (d->rejected)
		command_left_out("drift", d->rejected, d->events);
	int status = command_print("drift", &out);
	buf_release(&out);
	bool above = is_above(a, d);
	return status ? status : d->rejected || above ? EXIT_REJECTS : EXIT_DONE;
}

static int run(struct arguments *a)
{
	struct job job;
	struct drift d = {0};
	struct error err;

	a->live.servers = a->hbase;
	a->live.any = a->live.loads = a->hbase != NULL;
	if (!existing_regions_asked(&a->live))
		return arguments_refuse(a,
					"found no regions, expected `--existing FILE` or `--hbase "
					"HOST`");
	int rc = job_load(&job, a->operand[0], &err);
	job.allow_code = a->run.allow_code;
	if (rc == RC_OK)
		rc = job_login(a, &job, &err);
	if (rc == RC_OK)
		rc = existing_regions_read(&a->live, &job, &err);
	if (rc == RC_OK)
		rc = input_complete(a, 1, &err);
	if (rc == RC_OK)
		rc = read_events(&d, a, &job, &err);
	int status = rc ? command_fail("drift", &err) : print(a, &d);
	drift_release(&d);
	job_release(&job);
	return status;
}

const struct command drift_command = {
	.name = "drift",
	.usage = "--existing FILE|--hbase HOST JOB [FILE...] [options]",
	.summary =
		"show how many events go to each region of a table, and print commands that even "
		"out the regions",
	.least = 1,
	.most = ANY_NUMBER,
	.run = run,
	.decides = "drift sorts all rows and sums the bytes for each live region. If a region "
		   "would exceed --max-filesize, or get more than twice the mean, drift splits it. "
		   "`tolerance` in the job replaces the factor 2. Split points divide the new "
		   "bytes evenly. drift merges two adjacent regions if they have at most half the "
		   "mean together. A merge needs the live sizes. The output is a script for `hbase "
		   "shell -n`. Its comments contain the findings.",
	.statuses =
		"0 done; 1 failed; " STATUS_USAGE
		"; 3 done, but some input was bad, or a region exceeds --fail-above; " STATUS_STOPPED,
	.examples = {"saltmill drift --hbase hbase1,hbase2 conf/nightly.yaml night.csv",
		     "saltmill drift --existing regions.txt conf/nightly.yaml night.csv --json"}};
