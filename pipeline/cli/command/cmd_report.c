/* cmd_report.c - `saltmill report FOLDER [-o FILE]`: one page of HTML about a load, plan or state
 */
#include <string.h>

#include "cmd.h"
#include "io.h"
#include "mem.h"
#include "cli/page.h"
#include "reporter.h"

enum { OPT_TIMINGS = 500, OPT_LINT };

struct report_arguments {
	const char *output;
	struct page_files files;
};

static int take_own(void *ctx, int opt, const char *arg, struct error *err)
{
	struct report_arguments *a = ctx;

	(void)err;
	switch (opt) {
	case OPT_TIMINGS: a->files.timings = arg; break;
	case OPT_LINT: a->files.lint = arg; break;
	default: a->output = arg;
	}
	return RC_OK;
}

static char *without_slashes(const char *dir)
{
	char *out = mem_format("%s", dir);

	for (size_t n = strlen(out); n > 1 && out[n - 1] == '/'; n--)
		out[n - 1] = 0;
	return out;
}

static int report(const struct run_options *o, const struct report_arguments *a, const char *path)
{
	struct buf page = {0};
	struct error err;
	const char *kind;
	int status = EXIT_DONE;
	bool prints = strcmp(a->output, "-") == 0;
	struct progress progress = {.phase = NULL};
	struct page_files files = a->files;

	files.progress = &progress;
	struct reporter *reporter = o->quiet ? NULL : reporter_start_on_terminal(&progress);
	int rc = page_make(&page, path, &files, &kind, &err);
	reporter_stop(reporter);
	if (rc == RC_OK && prints)
		status = command_print("report", &page);
	else if (rc == RC_OK)
		rc = io_replace_file(a->output, buf_bytes(&page), NULL, &err);
	if (rc)
		status = command_fail("report", &err);
	else if (status == EXIT_DONE && !prints && !o->quiet)
		command_say("report", "%s is the page of %s %s", a->output, kind, path);
	buf_release(&page);
	return status;
}

int cmd_report(int argc, char **argv)
{
	static const struct option own[] = {{"output", required_argument, NULL, 'o'},
					    {"timings", required_argument, NULL, OPT_TIMINGS},
					    {"lint", required_argument, NULL, OPT_LINT},
					    {0}};
	struct run_options o;
	struct report_arguments a = {.output = "report.html"};
	struct error err;
	int first, rc = options_parse(argc, argv, &o, own, "o:", take_own, &a, &first);

	if (rc)
		return rc == RC_END ? EXIT_DONE : EXIT_USAGE;
	if (argc - first != 1) {
		error_set(&err, RC_CONFIG,
			  "found %d operands, expected the folder of a load, a plan or a state",
			  argc - first);
		return command_fail(argv[0], &err);
	}
	char *path = without_slashes(argv[first]);
	int status = report(&o, &a, path);
	mem_free(path);
	return status;
}
