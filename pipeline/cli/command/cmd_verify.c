/* cmd_verify.c - implements `saltmill verify`, which checks every byte of a load or of one HFile */
#include <stdio.h>
#include <sys/stat.h>

#include "arguments.h"
#include "query.h"
#include "reporter.h"
#include "publish.h"
#include "cli/reports.h"

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static int verify_offline(struct verify_result *r, const struct offline_place *place,
			  unsigned threads, struct progress *p, struct error *err)
{
	struct published files;
	int rc = offline_open(&files, place, err);

	*r = (struct verify_result){0};
	if (rc)
		return rc;
	rc = offline_verify(r, &files, threads, p, err);
	published_release(&files);
	return rc;
}

static int run(struct arguments *a)
{
	const struct offline_place place = arguments_offline(a);
	const char *path = place.uri ? place.uri : a->operand[0];
	struct error err;
	struct verify_result r;

	if (a->noperands != !place.uri)
		return arguments_refuse(a,
					"found %zu operands%s, expected a load or an HFile, or "
					"--table-dir or --snapshot",
					a->noperands, place.uri ? " and a place" : "");
	struct buf text = {0};
	struct progress progress = {.phase = NULL};
	struct reporter *reporter = a->run.quiet ? NULL : reporter_start_on_terminal(&progress);
	int rc = place.uri ? verify_offline(&r, &place, a->run.threads, &progress, &err)
		 : is_file(path)
			 ? verify_hfile(&r, path, &progress, &err)
			 : verify_load(&r, path, a->run.threads, a->run.temp_dir, &progress, &err);

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
	.usage = "DIR|HFILE|--table-dir URI|--snapshot URI [options]",
	.summary = "verify a published load, an HFile or a table's files, from the files alone",
	.most = 1,
	.run = run,
	.decides = "verify reads every byte of the HFiles: checksums, order, bounds, index and "
		   "bloom filter. It compares rows, sizes, key ranges and digests with "
		   "manifest.json. For each table, it checks that read = loaded + rejected + "
		   "filtered + deduplicated. It checks the digests of scripts, rejects and the "
		   "manifest. A missing file, an extra file or one changed byte is a finding. "
		   "For a table of HBase, it checks that the regions have all row keys, and reads "
		   "every store file.",
	.statuses = "0 everything matches; 1 there are findings, which the output lists; 2 wrong "
		    "usage",
	.examples = {"saltmill verify out", "saltmill verify out --json"}};
