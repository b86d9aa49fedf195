/* cmd_verify.c - implements `saltmill verify`, which checks every byte of a load or of one HFile */
#include <stdio.h>
#include <sys/stat.h>

#include "arguments.h"
#include "reporter.h"
#include "publish.h"
#include "cli/reports.h"

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static int run(struct arguments *a)
{
	const char *path = a->operand[0];
	struct error err;
	struct verify_result r;
	struct buf text = {0};
	struct progress progress = {.phase = NULL};
	struct reporter *reporter = a->run.quiet ? NULL : reporter_start_on_terminal(&progress);
	int rc = is_file(path) ? verify_hfile(&r, path, &progress, &err)
			       : verify_load(&r, path, a->run.threads, &progress, &err);

	reporter_stop(reporter);
	int status = r.findings.problems ? EXIT_FAILED : EXIT_DONE;
	if (rc)
		status = command_fail("verify", &err);
	else if (a->run.json)
		verify_report_json(&text, &r, path);
	else
		verify_report_text(&text, &r, a->run.quiet);
	if ((a->run.json ? command_print : command_show)("verify", &text) != EXIT_DONE)
		status = EXIT_FAILED;
	buf_release(&text);
	verify_release(&r);
	return status;
}

const struct command verify_command = {
	.name = "verify",
	.usage = "DIR|HFILE [options]",
	.summary = "verify a published load, or one HFile, from its files alone",
	.least = 1,
	.most = 1,
	.reads_here = true,
	.run = run,
	.decides = "verify reads every byte of the HFiles: checksums, order, bounds, index and "
		   "bloom filter. It compares rows, sizes, key ranges and digests with "
		   "manifest.json. For each table, it checks that read = loaded + rejected + "
		   "filtered + deduplicated. It checks the digests of scripts, rejects and the "
		   "manifest. A missing file, an extra file or one changed byte is a finding.",
	.statuses = "0 everything matches; 1 there are findings, which the output lists; 2 wrong "
		    "usage",
	.examples = {"saltmill verify out", "saltmill verify out --json"}};
