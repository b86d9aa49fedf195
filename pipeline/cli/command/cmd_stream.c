/* cmd_stream.c - implements `saltmill stream`, which loads topics as a series of loads */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "apply_options.h"
#include "cli/metrics.h"
#include "pool.h"
#include "cli/reports.h"
#include "stream.h"
#include "cli/progress_text.h"
#include "monitor.h"
#include "notify.h"
#include "job_login.h"

struct stream_run {
	struct arguments *args;
	struct monitor *monitor; /* NULL with --quiet */
	struct follow_desk desk;
	struct follow *follow; /* NULL if the stream does not apply its loads */
};

static void print_line(void *ctx, const char *sentence)
{
	const struct stream_run *r = ctx;

	monitor_print(r->monitor, stderr, "saltmill stream: %s", sentence);
}

static void print_json(const struct stream_run *r, const char *name, const struct manifest *m,
		       const char *dir)
{
	struct buf line = {0};

	stream_load_json(&line, name, m->read, m->rejected, dir);
	monitor_print(r->monitor, stdout, "%.*s", (int)line.len, (const char *)line.ptr);
	buf_release(&line);
}

/* Prints and flushes the line for the load, because another program may wait for it. */
static void print_published(void *ctx, const char *name, const char *dir,
			    const struct load_result *result)
{
	const struct stream_run *r = ctx;
	const struct manifest *m = &result->manifest;
	char events[28];
	struct buf warnings = {0};

	report_collisions(&warnings, result);
	if (warnings.len)
		monitor_print(r->monitor, stderr, "saltmill stream: %s: %.*s", name,
			      (int)warnings.len - 1, (const char *)warnings.ptr);
	buf_release(&warnings);
	if (r->args->run.json)
		print_json(r, name, m, dir);
	else if (!r->args->run.quiet)
		monitor_print(r->monitor, stdout, "%s: %s events, %llu rejected, published as %s",
			      name, format_count(events, m->read), (unsigned long long)m->rejected,
			      dir);
}

/* --- into HBase --- */

static void on_published(void *ctx, const char *name, const char *dir,
			 const struct load_result *result)
{
	const struct stream_run *r = ctx;

	print_published(ctx, name, dir, result);
	if (r->follow)
		follow_look(r->follow);
}

static void on_held(void *ctx, const char *state_dir, const char *prefix, bool held)
{
	const struct stream_run *r = ctx;

	if (r->follow && held)
		follow_add(r->follow, state_dir, prefix);
	else if (r->follow)
		follow_drop(r->follow, state_dir);
}

static bool is_full(void *ctx)
{
	const struct stream_run *r = ctx;

	return r->follow && follow_full(r->follow);
}

static uint64_t count_behind(void *ctx)
{
	const struct stream_run *r = ctx;

	return r->follow ? follow_behind(r->follow) : 0;
}

/* --- the stream --- */

static int run_stream(struct stream_run *r, const struct job *job, const struct metrics_of *shown,
		      struct stream_gauges *gauges, struct progress *progress, struct error *err)
{
	struct arguments *a = r->args;
	const struct input topic = {0}; /* each load sets its own offset ranges */
	struct load_options load = {.common = &a->run,
				    .input = &topic,
				    .output_dir = a->output,
				    .limit = a->max_rejects,
				    .max_duplicates = arguments_given(a, "max-duplicates")
							      ? &a->max_duplicates
							      : NULL,
				    .live = &a->live};
	struct stream_options opt = {.load = &load,
				     .state_dir = a->state_dir,
				     .listener = {print_line, r},
				     .gauges = gauges,
				     .published = on_published,
				     .holds = on_held,
				     .full = is_full,
				     .behind = count_behind,
				     .ctx = r};

	if (!a->run.quiet)
		command_warn_framing("stream", job->tables, job->ntables);
	command_warn_design("stream", job, &a->live);
	r->monitor = a->run.quiet ? NULL : monitor_start(shown);
	r->desk = (struct follow_desk){"stream", r->monitor, &a->run};
	struct notify *notify = notify_start(shown);
	int rc = r->follow ? follow_start(r->follow, err) : RC_OK;
	if (rc == RC_OK)
		rc = stream_run(job, &opt, progress, err);
	if (rc && r->follow &&
	    !stop_flag) /* do not wait for the follower, because HBase may not answer */
		stop_flag = SIGTERM;
	follow_stop(r->follow);
	notify_stop(notify);
	monitor_stop(r->monitor);
	return rc;
}

static int open_job(const struct arguments *a, struct job *job, struct error *err)
{
	int rc = job_load(job, a->operand[0], err);

	job->allow_code = a->run.allow_code;
	if (rc == RC_OK)
		rc = job_login(a, job, err);
	if (rc == RC_OK && job->source != SOURCE_KAFKA)
		rc = error_set(err, RC_CONFIG, "%s: found a source of files, expected kafka",
			       a->operand[0]);
	if (rc == RC_OK && !a->state_dir)
		rc = error_set(err, RC_CONFIG, "no state folder: expected `--state DIR`");
	return rc;
}

static int run(struct arguments *a)
{
	struct stream_run r = {.args = a};
	struct error err;
	struct job job;
	struct progress progress = {.phase = NULL};
	struct topic_lags lags = {.lock = PTHREAD_MUTEX_INITIALIZER};
	struct stream_gauges gauges = {.by_topic = &lags};
	struct follow_gauges waiting = {0};
	const struct follow_options follow = {.apply = apply_options_of(a),
					      .keep = a->keep,
					      .max_waiting = a->max_unapplied,
					      .gauges = &waiting,
					      .listener = {follow_desk_say, &r.desk},
					      .applied = follow_desk_applied,
					      .ctx = &r.desk};
	struct metrics_of shown = {&gauges, &progress, a->hbase ? &waiting : NULL, NULL, NULL};
	struct metrics *metrics = NULL;
	int rc = open_job(a, &job, &err);

	if (rc == RC_OK)
		rc = existing_regions_read(&a->live, &job, &err);
	shown.job_path = rc == RC_OK ? job.path : NULL;
	if (rc == RC_OK && a->metrics)
		rc = metrics_start(&metrics, a->metrics, &shown, &err);
	if (a->hbase)
		r.follow = follow_new(&follow);
	if (rc == RC_OK)
		rc = run_stream(&r, &job, &shown, &gauges, &progress, &err);
	metrics_stop(metrics);
	follow_free(r.follow);
	topic_lags_release(&lags);
	job_release(&job);
	/* a signal is the normal end of a stream */
	if (rc && rc != RC_STOPPED)
		return command_fail("stream", &err);
	return gauges.rejected || gauges.parked || waiting.stuck ? EXIT_REJECTS : EXIT_DONE;
}

const struct command stream_command = {
	.name = "stream",
	.usage = "JOB --state DIR [options]",
	.summary = "load Kafka topics without end, as a series of published loads",
	.least = 1,
	.most = 1,
	.run = run,
	.decides =
		"A load ends when it has the number of messages, or the age, of `roll:` in the "
		"job. The state folder records the offsets of each published load. Each offset "
		"is in exactly one load, even if the stream dies. With `share: true` in the job, "
		"several streams divide the partitions among them. If a partition cannot "
		"continue (too many bad events, lost offsets), the stream parks it and continues "
		"with the others.",
	.statuses = "0 ended by SIGINT or SIGTERM, and all published loads are complete; 1 "
		    "failed; " STATUS_USAGE
		    "; 3 ended by a signal, with rejected events, a parked partition, or a load "
		    "that HBase refuses",
	.examples = {"saltmill stream conf/clicks.yaml --state var/clicks -o /srv/loads --metrics "
		     "127.0.0.1:9109",
		     "saltmill stream conf/clicks.yaml --state var/clicks --apply master1,master2 "
		     "--keep 7d"}};
