/* cmd_init.c - `saltmill init FILE` */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd.h"
#include "io.h"
#include "job.h"
#include "lint.h"
#include "cli/reports.h"
#include "mem.h"
#include "sniff.h"

static int take_own(void *ctx, int opt, const char *arg, struct error *err)
{
	const char **output = ctx;

	(void)opt;
	(void)err;
	*output = arg;
	return RC_OK;
}

/* The job of a file is in the folder of the job: elsewhere the whole path names it. */
static int name_file(const char *file, const char *output, char **name, struct error *err)
{
	if (!output || !strchr(output, '/') || file[0] == '/' || strcmp(file, "-") == 0) {
		*name = mem_strdup(file);
		return RC_OK;
	}
	char *whole = realpath(file, NULL);
	if (!whole)
		return error_errno(err, "%s", file);
	*name = mem_strdup(whole);
	free(whole);
	return RC_OK;
}

/* Read as a load will, and judged, before anybody sees it. */
static int judge(const struct buf *yaml, const char *temp_dir, struct lint *l, struct error *err)
{
	char path[64];
	struct job job = {0};
	int fd = io_open_temp(temp_dir, err);

	if (fd < 0)
		return err->code;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	int rc = RC_OK;
	for (size_t done = 0; done < yaml->len && !rc;) {
		ssize_t n = write(fd, yaml->ptr + done, yaml->len - done);

		rc = n > 0 || (n < 0 && errno == EINTR) ? RC_OK
							: error_errno(err, "a temporary file");
		done += n > 0 ? (size_t)n : 0;
	}
	if (!rc)
		rc = job_load(&job, path, err);
	if (!rc)
		lint_job(l, &job);
	job_release(&job);
	close(fd);
	return rc;
}

/* What lint has against it, as comments. */
static void put_findings(const struct lint *l, struct buf *yaml)
{
	for (size_t i = 0; i < l->count; i++)
		buf_printf(yaml, "# %s: %s: %s\n", lint_severity_name(l->findings[i].severity),
			   l->findings[i].rule, l->findings[i].what);
}

static int make_job(const char *file, const char *output, const char *temp_dir, struct buf *yaml,
		    struct error *err)
{
	struct lint l = {0};
	char *name = NULL;
	int rc = name_file(file, output, &name, err);

	if (rc)
		return rc;
	rc = sniff_file(file, name, yaml, err);
	if (rc == RC_OK)
		rc = judge(yaml, temp_dir, &l, err);
	if (rc == RC_OK)
		put_findings(&l, yaml);
	lint_release(&l);
	mem_free(name);
	return rc;
}

int cmd_init(int argc, char **argv)
{
	static const struct option own[] = {{"output", required_argument, NULL, 'o'}, {0}};
	struct run_options o;
	struct error err;
	struct buf yaml = {0};
	const char *output = NULL;
	int first, rc = options_parse(argc, argv, &o, own, "o:", take_own, &output, &first);

	if (rc)
		return rc == RC_END ? EXIT_DONE : EXIT_USAGE;
	if (first + 1 != argc) {
		return command_misused("init",
				       "expected one file; usage: saltmill init FILE [-o JOB]");
	}
	bool there = false;
	if (output)
		rc = io_exists(output, &there, &err);
	if (rc == RC_OK && there)
		rc = error_set(&err, RC_CONFIG, "%s: is there already, expected a new name",
			       output);
	if (rc == RC_OK)
		rc = make_job(argv[first], output, o.temp_dir ? o.temp_dir : "/tmp", &yaml, &err);
	if (rc == RC_OK && output)
		rc = io_replace_file(output, buf_bytes(&yaml), NULL, &err);
	int status = rc ? command_fail("init", &err) : EXIT_DONE;
	if (rc == RC_OK && !output)
		status = command_show("init", &yaml);
	buf_release(&yaml);
	return status;
}
