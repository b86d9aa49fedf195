/* cmd_verify.c - `saltmill verify DIR|HFILE` */
#include <stdio.h>
#include <sys/stat.h>

#include "cmd.h"
#include "reporter.h"
#include "publish.h"
#include "cli/reports.h"

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

int cmd_verify(int argc, char **argv)
{
	struct run_options o;
	struct error err;
	int first;
	int rc = options_parse(argc, argv, &o, NULL, NULL, NULL, NULL, &first);

	if (rc)
		return rc == RC_END ? EXIT_DONE : EXIT_USAGE;
	if (argc - first != 1)
		return command_misused(
			"verify",
			"found %d operands, expected one: the folder of a load, or an HFile",
			argc - first);
	struct verify_result r;
	struct progress progress = {.phase = NULL};
	struct reporter *reporter = o.quiet ? NULL : reporter_start_on_terminal(&progress);
	rc = is_file(argv[first]) ? verify_hfile(&r, argv[first], &progress, &err)
				  : verify_load(&r, argv[first], o.threads, &progress, &err);
	reporter_stop(reporter);
	int status = r.findings.problems ? EXIT_FAILED : EXIT_DONE;
	struct buf text = {0};
	if (rc)
		status = command_fail(argv[0], &err);
	else if (o.json)
		verify_report_json(&text, &r, argv[first]);
	else
		verify_report_text(&text, &r, o.quiet);
	if ((o.json ? command_print : command_show)(argv[0], &text) != EXIT_DONE)
		status = EXIT_FAILED;
	buf_release(&text);
	verify_release(&r);
	return status;
}
