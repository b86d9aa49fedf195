/* cmd_check.c - `saltmill check JOB [FILE...]` */
#include <stdio.h>

#include "cmd.h"
#include "job.h"
#include "first_rows.h"
#include "cli/reports.h"
#include "bytes.h"

#define ROWS  1000
#define SHOWN 3

enum { OPT_ROWS = 500, OPT_SHOW };

static int take_own(void *ctx, int opt, const char *arg, struct error *err)
{
	struct look_options *o = ctx;
	uint64_t n;

	if (!parse_size(arg, &n) || n > 1000000 || (opt == OPT_ROWS && n == 0))
		return error_set(err, RC_CONFIG, "%s: found `%s`, expected a number to 1000000",
				 opt == OPT_ROWS ? "--rows" : "--show", arg);
	*(opt == OPT_ROWS ? &o->rows : &o->shown) = n;
	return RC_OK;
}

int cmd_check(int argc, char **argv)
{
	static const struct option own[] = {{"rows", required_argument, NULL, OPT_ROWS},
					    {"show", required_argument, NULL, OPT_SHOW},
					    {0}};
	struct look_options look_options = {.rows = ROWS,
					    .shown = SHOWN,
					    .listener = command_listener("check")};
	struct run_options o;
	struct error err;
	struct job job;
	struct look l = {0};
	struct buf text = {0};
	int first, rc = options_parse(argc, argv, &o, own, NULL, take_own, &look_options, &first);

	if (rc)
		return rc == RC_END ? EXIT_DONE : EXIT_USAGE;
	if (first >= argc) {
		return command_misused("check", "no job file; usage: saltmill check JOB [FILE...]");
	}
	look_options.job = &job;
	look_options.memory_bytes = o.memory_bytes;
	const struct input input = {.files = (const char *const *)argv + first + 1,
				    .nfiles = (size_t)(argc - first - 1)};
	look_options.input = &input;
	rc = job_load(&job, argv[first], &err);
	if (rc == RC_OK)
		rc = look_at(&l, &look_options, &err);
	if (rc == RC_OK)
		rc = o.json ? look_report_json(&text, &job, &l, &err)
			    : look_report_text(&text, &job, &l, &err);
	int status = rc ? command_fail("check", &err) : l.rejected ? EXIT_REJECTS : EXIT_DONE;
	int printed = rc       ? EXIT_DONE
		      : o.json ? command_print("check", &text)
			       : command_show("check", &text);
	buf_release(&text);
	look_release(&l, &job);
	job_release(&job);
	return printed ? printed : status;
}
