/* cmd_report.c - `saltmill report DIR [-o FILE]`: one page of HTML about a load */
#include <string.h>

#include "cmd.h"
#include "io.h"
#include "mem.h"
#include "page.h"

static int take_own(void *ctx, int opt, const char *arg, struct error *err)
{
	(void)opt, (void)err;
	*(const char **)ctx = arg;
	return RC_OK;
}

static char *without_slashes(const char *dir)
{
	char *out = mem_format("%s", dir);
	for (size_t n = strlen(out); n > 1 && out[n - 1] == '/'; n--)
		out[n - 1] = 0;
	return out;
}

int cmd_report(int argc, char **argv)
{
	static const struct option own[] = {{"output", required_argument, NULL, 'o'}, {0}};
	struct run_options o;
	struct buf page = {0};
	struct error err;
	const char *output = "report.html";
	int status = EXIT_DONE;
	int first, rc = options_parse(argc, argv, &o, own, "o:", take_own, &output, &first);
	if (rc)
		return rc == RC_END ? EXIT_DONE : EXIT_USAGE;
	if (argc - first != 1) {
		error_set(&err, RC_CONFIG, "found %d operands, expected the folder of a load",
			  argc - first);
		return command_fail(argv[0], &err);
	}
	char *dir = without_slashes(argv[first]);
	rc = page_load(&page, dir, &err);
	if (rc == RC_OK && strcmp(output, "-") == 0)
		status = command_print(argv[0], &page);
	else if (rc == RC_OK)
		rc = io_replace_file(output, buf_bytes(&page), NULL, &err);
	if (rc)
		status = command_fail(argv[0], &err);
	else if (status == EXIT_DONE && strcmp(output, "-") != 0 && !o.quiet)
		command_say(argv[0], "%s is the page of %s", output, dir);
	mem_free(dir);
	buf_release(&page);
	return status;
}
