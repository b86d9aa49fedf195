/* cmd_apply.c - `saltmill apply DIR --hbase HOST[:PORT],...` */
#include <stdio.h>
#include <string.h>

#include "apply.h"
#include "apply_options.h"
#include "cli/reports.h"
#include "cmd.h"
#include "reporter.h"

enum {
	OPT_HBASE = 500,
	OPT_JOURNAL,
	OPT_DRY_RUN,
	OPT_STATE,
	OPT_FOLLOW,
	OPT_METRICS,
	OPT_RESTART,
	OPT_ABORT
};

struct arguments {
	struct apply_arguments apply;
	struct follow_arguments follow;
};

static int take_option(void *ctx, int opt, const char *arg, struct error *err)
{
	struct arguments *a = ctx;

	switch (opt) {
	case OPT_HBASE: a->apply.apply.servers = arg; break;
	case OPT_JOURNAL: a->apply.apply.journal = arg; break;
	case OPT_DRY_RUN: a->apply.apply.dry_run = true; break;
	case OPT_RESTART: a->apply.apply.restart = true; break;
	case OPT_ABORT: a->apply.apply.abandon = true; break;
	case OPT_STATE: a->follow.state_dir = arg; break;
	case OPT_FOLLOW: a->follow.forever = true; break;
	case OPT_METRICS: a->follow.metrics = arg; break;
	default: return take_apply_option(&a->apply, opt, arg, err);
	}
	return RC_OK;
}

static int run(struct apply_options *a)
{
	struct progress progress = {.phase = NULL};
	struct apply_result r;
	struct buf text = {0};
	struct error err;
	int status = EXIT_DONE;

	a->progress = &progress;
	struct reporter *reporter = a->common->quiet ? NULL : reporter_start_on_terminal(&progress);
	int rc = apply_run(&r, a, &err);
	reporter_stop(reporter);
	if (rc)
		status = command_fail("apply", &err);
	else if (a->common->json)
		apply_report_json(&text, &r);
	else if (!a->common->quiet && !a->abandon)
		apply_report_text(&text, &r, a->dry_run);
	if (text.len &&
	    (a->common->json ? command_print : command_show)("apply", &text) != EXIT_DONE)
		status = EXIT_FAILED;
	buf_release(&text);
	apply_release(&r);
	return status;
}

/* What only goes with --state, and what does not. */
static const char *misplaced(const struct arguments *a)
{
	const struct apply_options *o = &a->apply.apply;

	if (a->follow.state_dir)
		return o->journal   ? "--journal"
		       : o->dry_run ? "--dry-run"
		       : o->restart ? "--restart"
		       : o->abandon ? "--abort"
				    : NULL;
	return a->follow.forever	      ? "--follow"
	       : a->follow.metrics	      ? "--metrics"
	       : a->apply.keep.by != KEEP_ALL ? "--keep"
					      : NULL;
}

static int check_arguments(const struct arguments *a, int operands)
{
	const char *wrong = misplaced(a);
	bool state = a->follow.state_dir != NULL;

	if (operands != !state || !a->apply.apply.servers)
		return command_misused("apply",
				       "found %d operands%s%s, expected `saltmill apply DIR "
				       "--hbase HOST[:PORT],...`, or --state in place of DIR",
				       operands, state ? " and --state" : "",
				       a->apply.apply.servers ? "" : " and no --hbase");
	const struct apply_options *o = &a->apply.apply;

	if (o->abandon && (o->restart || o->dry_run || o->check))
		return command_misused("apply", "found --abort with %s, expected it without",
				       o->restart   ? "--restart"
				       : o->dry_run ? "--dry-run"
						    : "--check");
	if (o->restart && o->dry_run)
		return command_misused("apply", "found --restart with --dry-run, expected one");
	if (wrong)
		return command_misused("apply", "found %s with%s --state, expected it with%s",
				       wrong, state ? "" : "out", state ? " DIR" : " --state");
	return EXIT_DONE;
}

int cmd_apply(int argc, char **argv)
{
	static const struct option own[] = {{"hbase", required_argument, NULL, OPT_HBASE},
					    {"journal", required_argument, NULL, OPT_JOURNAL},
					    {"dry-run", no_argument, NULL, OPT_DRY_RUN},
					    {"restart", no_argument, NULL, OPT_RESTART},
					    {"abort", no_argument, NULL, OPT_ABORT},
					    {"state", required_argument, NULL, OPT_STATE},
					    {"follow", no_argument, NULL, OPT_FOLLOW},
					    {"metrics", required_argument, NULL, OPT_METRICS},
					    APPLY_OPTIONS,
					    {0}};
	struct run_options o;
	struct arguments a = {.apply.apply.common = &o};
	int first, rc = options_parse(argc, argv, &o, own, NULL, take_option, &a, &first);

	if (rc)
		return rc == RC_END ? EXIT_DONE : EXIT_USAGE;
	int status = check_arguments(&a, argc - first);
	if (status)
		return status;
	if (a.follow.state_dir)
		return run_follow(&a.apply, &a.follow);
	a.apply.apply.dir = argv[first];
	if (!o.quiet)
		a.apply.apply.listener = command_listener("apply");
	return run(&a.apply.apply);
}
