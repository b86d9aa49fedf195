/* apply_options.c - converts the options of apply and stream, and prints what a follower reports */
#include "apply_options.h"

#include <stdio.h>

#include "io.h"
#include "cli/metrics.h"
#include "monitor.h"
#include "cli/reports.h"
#include "state.h"
#include "cli/progress_text.h"

struct apply_options apply_options_of(const struct arguments *a)
{
	return (struct apply_options){.common = &a->run,
				      .servers = a->hbase,
				      .user = a->user,
				      .upload = a->upload,
				      .http = a->webhdfs,
				      .journal = a->journal,
				      .create = a->create,
				      .alter = a->alter,
				      .check = a->check,
				      .dry_run = a->dry_run || a->check_access,
				      .check_access = a->check_access,
				      .restart = a->restart,
				      .rate = a->rate,
				      .batch = a->batch,
				      .window = a->window,
				      .pace = a->pace,
				      .no_replicate = a->no_replicate,
				      .abandon = a->abandon};
}

void follow_desk_say(void *ctx, const char *sentence)
{
	const struct follow_desk *d = ctx;

	monitor_print(d->monitor, stderr, "saltmill %s: %s", d->command, sentence);
}

/* Print and flush the line for the load, because another program may wait for it. */
void follow_desk_applied(void *ctx, const char *name, const char *dir, const struct apply_result *r,
			 const int64_t ms[FOLLOW_PHASES])
{
	const struct follow_desk *d = ctx;
	struct applied_view w = {.name = name, .dir = dir, .ms = ms};
	struct buf line = {0};

	for (size_t i = 0; i < r->ntables; i++) {
		w.cells += r->tables[i].cells;
		w.files += r->tables[i].files;
	}
	if (d->common->json)
		stream_applied_json(&line, &w);
	else if (!d->common->quiet)
		stream_applied_text(&line, &w);
	if (line.len)
		monitor_print(d->monitor, stdout, "%.*s", (int)line.len, (const char *)line.ptr);
	buf_release(&line);
}

static int check_state(const char *dir, struct error *err)
{
	bool is_shared, there;
	int rc = shared_is(dir, &is_shared, err);

	if (rc || is_shared)
		return rc;
	char *loads = mem_format("%s/loads", dir);
	rc = io_exists(loads, &there, err);
	mem_free(loads);
	return rc || there
		       ? rc
		       : error_set(err, RC_CONFIG,
				   "--state: found %s, expected a state folder, which `saltmill "
				   "stream --state` creates",
				   dir);
}

int run_follow(const struct arguments *a)
{
	struct error err;
	struct follow_gauges gauges = {0};
	struct follow_desk desk = {"apply", NULL, &a->run};
	struct follow_options opt = {.apply = apply_options_of(a),
				     .keep = a->keep,
				     .gauges = &gauges,
				     .listener = {follow_desk_say, &desk},
				     .applied = follow_desk_applied,
				     .ctx = &desk};
	const struct metrics_of shown = {.follow = &gauges};
	struct metrics *metrics = NULL;
	struct follow *f = follow_new(&opt);
	int rc = check_state(a->state_dir, &err);

	if (rc == RC_OK && a->metrics)
		rc = metrics_start(&metrics, a->metrics, &shown, &err);
	follow_all(f, a->state_dir);
	if (rc == RC_OK)
		rc = follow_run(f, a->forever, &err);
	metrics_stop(metrics);
	follow_free(f);
	/* a signal is the normal end of `apply --forever` */
	if (rc == RC_STOPPED && a->forever)
		return gauges.stuck ? EXIT_REJECTS : EXIT_DONE;
	return rc ? command_fail("apply", &err) : EXIT_DONE;
}
