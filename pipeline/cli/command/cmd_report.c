/*
 * cmd_report.c - implements `saltmill report`, which writes an HTML page about a load, plan
 * or state
 */
#include <string.h>

#include "arguments.h"
#include "io.h"
#include "mem.h"
#include "cli/page.h"
#include "reporter.h"

static char *without_slashes(const char *dir)
{
	char *out = mem_format("%s", dir);

	for (size_t n = strlen(out); n > 1 && out[n - 1] == '/'; n--)
		out[n - 1] = 0;
	return out;
}

static int report(const struct arguments *a, const char *path)
{
	struct buf page = {0};
	struct error err;
	const char *kind;
	int status = EXIT_DONE;
	bool prints = strcmp(a->output, "-") == 0;
	struct progress progress = {.phase = NULL};
	const struct page_files files = {.timings = a->timings,
					 .lint = a->lint,
					 .progress = &progress};
	struct reporter *reporter = a->run.quiet ? NULL : reporter_start_on_terminal(&progress);
	int rc = page_make(&page, path, &files, &kind, &err);

	reporter_stop(reporter);
	if (rc == RC_OK && prints)
		status = command_print("report", &page);
	else if (rc == RC_OK)
		rc = io_replace_file(a->output, buf_bytes(&page), NULL, &err);
	if (rc == RC_OK && !prints)
		mem_outcome("the page is complete");
	if (rc)
		status = command_fail("report", &err);
	else if (status == EXIT_DONE && !prints && !a->run.quiet)
		command_say("report", "%s is the page of %s %s", a->output, kind, path);
	buf_release(&page);
	return status;
}

static int run(struct arguments *a)
{
	char *path = without_slashes(a->operand[0]);
	int status = report(a, path);

	mem_free(path);
	return status;
}

const struct command report_command = {
	.name = "report",
	.usage = "DIR|PLAN|STATE [-o FILE] [options]",
	.summary = "write one HTML page about a load, a plan or a state folder",
	.least = 1,
	.most = 1,
	.run = run,
	.decides = "report recognizes a load by manifest.json, a plan by plan.json, and a state "
		   "folder by its records. All figures come from these files and from the indexes "
		   "of the HFiles. The page works without network. The same folder gives the same "
		   "bytes.",
	.operands = {{"DIR|PLAN|STATE",
		      "the folder of a load, a plan or a state, or a file with the output "
		      "of `plan --json`"}},
	.statuses =
		"0 page written; 1 failed; 2 wrong usage, or the folder is no load, plan or state",
	.examples = {"saltmill report out", "saltmill report out -o /srv/www/night.html"}};
