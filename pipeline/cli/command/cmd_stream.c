/* cmd_stream.c - `saltmill stream JOB --state DIR` */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "apply_options.h"
#include "cmd.h"
#include "cli/metrics.h"
#include "pool.h"
#include "cli/reports.h"
#include "stream.h"
#include "cli/progress_text.h"
#include "monitor.h"
#include "notify.h"

enum {
	OPT_MAX_REJECTS = 500,
	OPT_MAX_DUPLICATES,
	OPT_EXISTING,
	OPT_STATE,
	OPT_METRICS,
	OPT_APPLY,
	OPT_MAX_UNAPPLIED
};

/* A stream that stopped at its first poison message would stop there for ever. */
#define REJECTS_A_LOAD 1000
/* Loads: HBase may be away for a while, and the disk does not fill up. */
#define UNAPPLIED_MOST 100

struct stream_arguments {
	const struct run_options *options;
	const char *output_dir, *state_dir, *metrics;
	struct event_limit limit, duplicates; /* of each load */
	bool limits_duplicates;
	struct existing_regions live;
	struct monitor *monitor;      /* NULL with --quiet */
	struct apply_arguments apply; /* servers NULL: loads are not handed over */
	uint64_t max_unapplied;
	struct follow_desk desk;
	struct follow *follow;
};

static int take_option(void *ctx, int opt, const char *arg, struct error *err)
{
	struct stream_arguments *a = ctx;

	switch (opt) {
	case OPT_MAX_REJECTS: return parse_event_limit("--max-rejects", arg, &a->limit, err);
	case OPT_MAX_DUPLICATES:
		a->limits_duplicates = true;
		return parse_event_limit("--max-duplicates", arg, &a->duplicates, err);
	case OPT_EXISTING: existing_regions_add(&a->live, arg); return RC_OK;
	case OPT_STATE: a->state_dir = arg; return RC_OK;
	case OPT_METRICS: a->metrics = arg; return RC_OK;
	case OPT_APPLY: a->apply.apply.servers = arg; return RC_OK;
	case OPT_MAX_UNAPPLIED:
		a->apply.given = "--max-unapplied";
		return parse_count("--max-unapplied", arg, UINT32_MAX, &a->max_unapplied, err);
	case 'o': a->output_dir = arg; return RC_OK;
	default: return take_apply_option(&a->apply, opt, arg, err);
	}
}

static void print_line(void *ctx, const char *sentence)
{
	const struct stream_arguments *a = ctx;

	monitor_print(a->monitor, stderr, "saltmill stream: %s", sentence);
}

static void print_json(const struct stream_arguments *a, const char *name, const struct manifest *m,
		       const char *dir)
{
	struct buf line = {0};

	stream_load_json(&line, name, m->read, m->rejected, dir);
	monitor_print(a->monitor, stdout, "%.*s", (int)line.len, (const char *)line.ptr);
	buf_release(&line);
}

/* A line a load, written out at once: a program may wait for it. */
static void print_published(void *ctx, const char *name, const char *dir,
			    const struct load_result *r)
{
	const struct stream_arguments *a = ctx;
	const struct manifest *m = &r->manifest;
	char events[28];
	struct buf warnings = {0};

	report_collisions(&warnings, r);
	if (warnings.len)
		monitor_print(a->monitor, stderr, "saltmill stream: %s: %.*s", name,
			      (int)warnings.len - 1, (const char *)warnings.ptr);
	buf_release(&warnings);
	if (a->options->json)
		print_json(a, name, m, dir);
	else if (!a->options->quiet)
		monitor_print(a->monitor, stdout, "%s: %s events, %llu rejected, published as %s",
			      name, format_count(events, m->read), (unsigned long long)m->rejected,
			      dir);
}

/* --- into HBase --- */

static void on_published(void *ctx, const char *name, const char *dir, const struct load_result *r)
{
	const struct stream_arguments *a = ctx;

	print_published(ctx, name, dir, r);
	if (a->follow)
		follow_look(a->follow);
}

static void on_held(void *ctx, const char *state_dir, const char *prefix, bool held)
{
	const struct stream_arguments *a = ctx;

	if (a->follow && held)
		follow_add(a->follow, state_dir, prefix);
	else if (a->follow)
		follow_drop(a->follow, state_dir);
}

static bool is_full(void *ctx)
{
	const struct stream_arguments *a = ctx;

	return a->follow && follow_full(a->follow);
}

static uint64_t count_behind(void *ctx)
{
	const struct stream_arguments *a = ctx;

	return a->follow ? follow_behind(a->follow) : 0;
}

/* --- the stream --- */

static int run_stream(struct stream_arguments *a, const struct job *job,
		      const struct metrics_of *shown, struct stream_gauges *gauges,
		      struct progress *progress, struct error *err)
{
	const struct run_options *o = a->options;
	const struct input topic = {0}; /* each load adds its ranges */
	struct load_options load = {.common = o,
				    .input = &topic,
				    .output_dir = a->output_dir,
				    .limit = a->limit,
				    .max_duplicates = a->limits_duplicates ? &a->duplicates : NULL,
				    .live = &a->live};
	struct stream_options opt = {.load = &load,
				     .state_dir = a->state_dir,
				     .listener = {print_line, a},
				     .gauges = gauges,
				     .published = on_published,
				     .holds = on_held,
				     .full = is_full,
				     .behind = count_behind,
				     .ctx = a};

	if (!o->quiet)
		command_warn_framing("stream", job->tables, job->ntables);
	a->monitor = o->quiet ? NULL : monitor_start(shown);
	a->desk = (struct follow_desk){"stream", a->monitor, o};
	struct notify *notify = notify_start(shown);
	int rc = a->follow ? follow_start(a->follow, err) : RC_OK;
	if (rc == RC_OK)
		rc = stream_run(job, &opt, progress, err);
	if (rc && a->follow && !stop_flag) /* HBase may be away: its answer is not waited for */
		stop_flag = SIGTERM;
	follow_stop(a->follow);
	notify_stop(notify);
	monitor_stop(a->monitor);
	return rc;
}

static int check_job(const struct stream_arguments *a, const struct job *job, const char *path,
		     struct error *err)
{
	if (job->source != SOURCE_KAFKA)
		return error_set(err, RC_CONFIG, "%s: found a source of files, expected kafka",
				 path);
	if (!a->state_dir)
		return error_set(err, RC_CONFIG, "no state folder: give --state DIR");
	if (a->apply.given && !a->apply.apply.servers)
		return error_set(err, RC_CONFIG, "found %s, and no --apply HOST[:PORT],...",
				 a->apply.given);
	return RC_OK;
}

static int run(const struct run_options *o, struct stream_arguments *a, const char *job_path)
{
	struct error err;
	struct job job;
	struct progress progress = {.phase = NULL};
	struct topic_lags lags = {.lock = PTHREAD_MUTEX_INITIALIZER};
	struct stream_gauges gauges = {.by_topic = &lags};
	struct follow_gauges waiting = {0};
	struct follow_options follow = {.apply = a->apply.apply,
					.keep = a->apply.keep,
					.max_waiting = a->max_unapplied,
					.gauges = &waiting,
					.listener = {follow_desk_say, &a->desk},
					.applied = follow_desk_applied,
					.ctx = &a->desk};
	struct metrics_of shown = {&gauges, &progress, follow.apply.servers ? &waiting : NULL};
	struct metrics *metrics = NULL;
	int rc = job_load(&job, job_path, &err);

	job.allow_code = o->allow_code;
	if (rc == RC_OK)
		rc = check_job(a, &job, job_path, &err);
	if (rc == RC_OK)
		rc = existing_regions_read(&a->live, &job, &err);
	if (rc == RC_OK && a->metrics)
		rc = metrics_start(&metrics, a->metrics, &shown, &err);
	if (follow.apply.servers)
		a->follow = follow_new(&follow);
	if (rc == RC_OK)
		rc = run_stream(a, &job, &shown, &gauges, &progress, &err);
	metrics_stop(metrics);
	follow_free(a->follow);
	topic_lags_release(&lags);
	job_release(&job);
	/* a signal is how a stream ends */
	if (rc && rc != RC_STOPPED)
		return command_fail("stream", &err);
	return gauges.rejected || gauges.parked || waiting.stuck ? EXIT_REJECTS : EXIT_DONE;
}

int cmd_stream(int argc, char **argv)
{
	static const struct option own[] = {
		{"output", required_argument, NULL, 'o'},
		{"state", required_argument, NULL, OPT_STATE},
		{"max-rejects", required_argument, NULL, OPT_MAX_REJECTS},
		{"max-duplicates", required_argument, NULL, OPT_MAX_DUPLICATES},
		{"existing", required_argument, NULL, OPT_EXISTING},
		{"metrics", required_argument, NULL, OPT_METRICS},
		{"apply", required_argument, NULL, OPT_APPLY},
		{"max-unapplied", required_argument, NULL, OPT_MAX_UNAPPLIED},
		APPLY_OPTIONS,
		{0}};
	struct run_options o;
	struct stream_arguments a = {.options = &o,
				     .limit = {.count = REJECTS_A_LOAD},
				     .apply.apply.common = &o,
				     .max_unapplied = UNAPPLIED_MOST};
	int first, rc = options_parse(argc, argv, &o, own, "o:", take_option, &a, &first);

	if (rc)
		return rc == RC_END ? EXIT_DONE : EXIT_USAGE;
	if (first != argc - 1) {
		return command_misused(
			"stream", "expected one job file; usage: saltmill stream JOB --state DIR");
	}
	int status = run(&o, &a, argv[first]);
	existing_regions_release(&a.live);
	return status;
}
