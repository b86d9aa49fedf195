/* cmd_apply.c - implements `saltmill apply`, which loads a published load into a live HBase */
#include <stdio.h>
#include <string.h>

#include "apply.h"
#include "apply_options.h"
#include "cli/reports.h"
#include "publish.h"
#include "reporter.h"

static int apply_to(const struct arguments *a, struct apply_options *opt, struct apply_result *r,
		    struct error *err)
{
	struct progress progress = {.phase = NULL};

	opt->dir = a->copy_to ? a->copy_to : a->operand[0];
	if (!a->run.quiet && !a->check_access)
		opt->listener = command_listener("apply");
	opt->progress = &progress;
	struct reporter *reporter = a->run.quiet ? NULL : reporter_start_on_terminal(&progress);
	*r = (struct apply_result){0};
	bool later = false;
	int rc = a->copy_to ? load_fetch(a->operand[0], a->copy_to, &later, &progress, err) : RC_OK;
	opt->origin = later ? a->operand[0] : NULL;
	if (rc == RC_OK)
		rc = apply_run(r, opt, err);
	reporter_stop(reporter);
	return rc;
}

/* Checks that a load on another machine has a folder for its copy, and that others have none. */
static int check_copy(const struct arguments *a)
{
	bool remote = a->noperands && storage_is_remote(a->operand[0]);

	if (remote && !a->copy_to)
		return arguments_refuse(
			a,
			"%.200s: found a load on another machine, expected `--copy-to "
			"DIR` too, a new folder for its copy",
			a->operand[0]);
	if (!remote && a->copy_to)
		return arguments_refuse(
			a, "--copy-to: found no URI of a load, expected s3://BUCKET/KEY "
			   "or webhdfs://HOST/PATH");
	return EXIT_DONE;
}

/* Applies the load to the second cluster, with a journal of its own. */
static int apply_also(const struct arguments *a, const struct apply_result *first,
		      struct apply_result *r, struct error *err)
{
	struct apply_options opt = apply_options_of(a);
	char *journal = a->journal ? mem_format("%s" APPLY_ALSO, a->journal) : NULL;

	opt.servers = a->also;
	opt.upload = a->also_upload;
	opt.http = a->also_webhdfs;
	opt.journal = journal;
	opt.first_cluster = first->cluster_id;
	int rc = apply_to(a, &opt, r, err);
	mem_free(journal);
	return rc ? error_prefix(err, "--also %s: ", a->also) : RC_OK;
}

static void put_text(const struct arguments *a, const struct apply_result *r, struct buf *text)
{
	if (a->check_access)
		apply_access_text(text, r);
	else if (!a->run.quiet && !a->abandon)
		apply_report_text(text, r, a->dry_run);
}

static int apply_load(const struct arguments *a)
{
	struct apply_options opt = apply_options_of(a);
	struct apply_result r, also = {0};
	struct buf text = {0};
	struct error err;
	int status = EXIT_DONE, rc = apply_to(a, &opt, &r, &err);

	if (rc == RC_OK && !a->run.json)
		put_text(a, &r, &text);
	if (rc == RC_OK && a->also) {
		rc = apply_also(a, &r, &also, &err);
		if (rc == RC_OK && a->run.json)
			apply_report_add(&r, &also);
		else if (rc == RC_OK)
			put_text(a, &also, &text);
	}
	if (rc == RC_OK && a->run.json)
		apply_report_json(&text, &r);
	if (text.len && (a->run.json ? command_print : command_show)("apply", &text) != EXIT_DONE)
		status = EXIT_FAILED;
	if (rc)
		status = command_fail("apply", &err);
	if (status == EXIT_DONE && (r.refused || also.refused))
		status = EXIT_USAGE;
	buf_release(&text);
	apply_release(&also);
	apply_release(&r);
	return status;
}

static int run(struct arguments *a)
{
	if (!a->hbase)
		return arguments_refuse(a, "found no --hbase, expected `--hbase HOST[:PORT],...`");
	if (a->noperands == 1 && a->state_dir)
		return arguments_refuse(a, "found %s and --state, expected only one of them",
					a->operand[0]);
	if (a->noperands == 0 && !a->state_dir)
		return arguments_refuse(a, "found no load, expected DIR or `--state DIR`");
	int status = check_copy(a);
	if (status != EXIT_DONE)
		return status;
	return a->state_dir ? run_follow(a) : apply_load(a);
}

const struct command apply_command = {
	.name = "apply",
	.usage = "DIR --hbase HOST[:PORT],... [options] | --state DIR --hbase HOST... [--follow]",
	.summary = "load the tables and files of a published load into a live HBase, without a JVM",
	.most = 1,
	.run = run,
	.decides = "apply first checks the cluster, the tables and the files of the load. If a "
		   "table differs from the load, apply lists the differences and changes nothing, "
		   "unless you use --alter. If a file crosses a region border, apply splits it "
		   "there. A journal on disk contains each step. So an interrupted run continues, "
		   "and apply loads no file twice. If a call got no answer, apply searches for the "
		   "file in HDFS. --dry-run only checks.",
	.statuses =
		"0 everything is in HBase; 1 failed, so run apply again; 2 wrong usage, or the "
		"load does not match the cluster; 130 or 143 stopped by SIGINT or SIGTERM, as 1; "
		"with --follow, a signal ends apply with 0, or with 3 if HBase refuses a load",
	.examples = {"saltmill apply out --hbase hbase1,hbase2 --create --check",
		     "saltmill apply --state var/clicks --hbase hbase1,hbase2 --follow --keep 24"}};
