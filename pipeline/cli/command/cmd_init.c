/* cmd_init.c - `saltmill init FILE` */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "arguments.h"
#include "io.h"
#include "job.h"
#include "lint.h"
#include "cli/reports.h"
#include "mem.h"
#include "sniff.h"

/* A job names its files relative to its own folder; in another folder it needs the whole path. */
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

/* Read the job as a load will, and judge it, before anybody sees it. */
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

/* Append the findings of lint as comments. */
static void put_findings(const struct lint *l, struct buf *yaml)
{
	for (size_t i = 0; i < l->count; i++)
		buf_printf(yaml, "# %s: %s: %s\n", lint_severities[l->findings[i].severity],
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

static int run(struct arguments *a)
{
	const char *output = a->output;
	struct error err;
	struct buf yaml = {0};
	bool there = false;
	int rc = output ? io_exists(output, &there, &err) : RC_OK;

	if (rc == RC_OK && there)
		rc = error_set(&err, RC_CONFIG, "-o: %s exists, expected a new file", output);
	if (rc == RC_OK)
		rc = make_job(a->operand[0], output, a->run.temp_dir ? a->run.temp_dir : "/tmp",
			      &yaml, &err);
	if (rc == RC_OK && output)
		rc = io_replace_file(output, buf_bytes(&yaml), NULL, &err);
	int status = rc ? command_fail("init", &err) : EXIT_DONE;
	if (rc == RC_OK && !output)
		status = command_show("init", &yaml);
	buf_release(&yaml);
	return status;
}

const struct command init_command = {
	.name = "init",
	.usage = "FILE [-o JOB]",
	.summary = "inspect a file and write a commented job for it",
	.least = 1,
	.most = 1,
	.run = run,
	.decides = "init reads up to 64 MiB and finds the format, the compression and the CSV "
		   "dialect. A column gets a type that accepts every value in it; otherwise it "
		   "stays text. The row key has a column whose values repeat (an owner), the "
		   "first time column, and a column with a different value in each row. Avro and "
		   "Arrow files give the types. If the values allow two meanings, like "
		   "03/04/2025, the job keeps text and says so.",
	.statuses = "0 the job is written; 1 failed; 2 wrong usage, or init can make no job for "
		    "this file",
	.examples = {"saltmill init export.csv", "saltmill init access.log.gz -o access.yaml"}};
