/* cmd_apply.c - `saltmill apply DIR --hbase HOST[:PORT],...` */
#include <stdio.h>
#include <string.h>

#include "apply.h"
#include "apply_report.h"
#include "cmd.h"

enum {
	OPT_HBASE = 500,
	OPT_USER,
	OPT_UPLOAD,
	OPT_WEBHDFS,
	OPT_JOURNAL,
	OPT_CREATE,
	OPT_ALTER,
	OPT_CHECK,
	OPT_DRY_RUN
};

static int take_option(void *ctx, int opt, const char *arg, struct error *err)
{
	struct apply_options *a = ctx;

	(void)err;
	switch (opt) {
	case OPT_HBASE: a->servers = arg; break;
	case OPT_USER: a->user = arg; break;
	case OPT_UPLOAD: a->upload = arg; break;
	case OPT_WEBHDFS: a->http = arg; break;
	case OPT_JOURNAL: a->journal = arg; break;
	case OPT_CREATE: a->create = true; break;
	case OPT_ALTER: a->alter = true; break;
	case OPT_CHECK: a->check = true; break;
	default: a->dry_run = true; break;
	}
	return RC_OK;
}

static void print_line(void *ctx, const char *sentence)
{
	(void)ctx;
	command_say("apply", "%s", sentence);
}

static int run(const struct apply_options *a)
{
	struct apply_result r;
	struct buf text = {0};
	struct error err;
	int status = EXIT_DONE;

	if (apply_run(&r, a, &err))
		status = command_fail("apply", &err);
	else if (a->common->json)
		apply_report_json(&text, &r);
	else if (!a->common->quiet)
		apply_report_text(&text, &r, a->dry_run);
	if (text.len &&
	    (a->common->json ? command_print : command_show)("apply", &text) != EXIT_DONE)
		status = EXIT_FAILED;
	buf_release(&text);
	apply_release(&r);
	return status;
}

int cmd_apply(int argc, char **argv)
{
	static const struct option own[] = {{"hbase", required_argument, NULL, OPT_HBASE},
					    {"user", required_argument, NULL, OPT_USER},
					    {"upload", required_argument, NULL, OPT_UPLOAD},
					    {"webhdfs", required_argument, NULL, OPT_WEBHDFS},
					    {"journal", required_argument, NULL, OPT_JOURNAL},
					    {"create", no_argument, NULL, OPT_CREATE},
					    {"alter", no_argument, NULL, OPT_ALTER},
					    {"check", no_argument, NULL, OPT_CHECK},
					    {"dry-run", no_argument, NULL, OPT_DRY_RUN},
					    {0}};
	struct run_options o;
	struct apply_options a = {.common = &o};
	int first, rc = options_parse(argc, argv, &o, own, NULL, take_option, &a, &first);

	if (rc)
		return rc == RC_END ? EXIT_DONE : EXIT_USAGE;
	if (argc - first != 1 || !a.servers)
		return command_misused("apply",
				       "found %d operands%s, expected `saltmill apply DIR --hbase "
				       "HOST[:PORT],...`",
				       argc - first, a.servers ? "" : " and no --hbase");
	a.dir = argv[first];
	a.say = o.quiet ? NULL : print_line;
	return run(&a);
}
