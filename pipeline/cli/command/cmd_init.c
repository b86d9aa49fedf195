/* cmd_init.c - implements `saltmill init`, which inspects a file and writes a job for the file */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "io.h"
#include "job.h"
#include "lint.h"
#include "cli/reports.h"
#include "mem.h"
#include "proposed_job.h"
#include "first_rows.h"

/*
 * Finds the path for the job. A job contains paths relative to its folder, so a job in another
 * folder needs absolute paths.
 */
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

/*
 * Reads the job as a load does, checks it, and runs it over the sample before the command writes
 * the file.
 */
static int judge(const struct sniff *s, const char *file, const char *temp_dir, struct lint *l,
		 struct sniff_proof *proof, struct error *err)
{
	struct job job;
	int rc = job_of_text(&job, buf_bytes(&s->yaml), temp_dir, err);

	if (rc == RC_OK)
		lint_job(l, &job, NULL);
	if (rc == RC_OK)
		rc = sniff_prove(proof, s, &job, file, err);
	job_release(&job);
	return rc;
}

/* Append the findings of lint as comments. */
static void put_findings(const struct lint *l, struct buf *yaml)
{
	for (size_t i = 0; i < l->count; i++)
		buf_printf(yaml, "# %s: %s: %s\n", lint_severities[l->findings[i].severity],
			   l->findings[i].rule, l->findings[i].what);
}

/*
 * Make the job and prove it. If two rows of the sample have the same key, make the job again, with
 * all columns in the key.
 */
static int make_and_prove(struct sniff *s, const char *file, const char *name, const char *temp_dir,
			  struct lint *l, struct sniff_proof *proof, struct error *err)
{
	for (;; s->whole_key = true) {
		bool again = s->whole_key;
		int rc = sniff_file(file, name, s, err);

		if (rc == RC_OK)
			rc = judge(s, file, temp_dir, l, proof, err);
		if (rc || !proof->equal || again)
			return rc;
		lint_release(l);
		*l = (struct lint){0};
		s->yaml.len = s->doubts.len = 0;
	}
}

/* Append what the proof found as doubts. */
static void add_proof(struct sniff *s, const struct sniff_proof *p)
{
	if (p->rejected)
		buf_printf(&s->doubts,
			   "the job rejects %" PRIu64 " rows of the sample, the first in %s\n",
			   p->rejected, p->first);
	if (p->equal)
		buf_printf(
			&s->doubts,
			"the row key joins %" PRIu64
			" rows with earlier rows, the first in line %" PRIu64
			": add a column to rowkey that differs, or accept that equal rows are one\n",
			p->equal, p->line);
	if (p->odd)
		buf_printf(&s->doubts,
			   "%" PRIu64
			   " rows do not look like the others, the first in line %" PRIu64
			   ": if they are totals or headings, add `skip_matching: REGEX` or "
			   "`skip_footer: N`\n",
			   p->odd, p->odd_line);
	if (!p->rejected && p->rows != s->rows)
		buf_printf(&s->doubts,
			   "the job loads %" PRIu64 " rows of the sample, but init found %" PRIu64
			   "\n",
			   p->rows, s->rows);
}

/* Write the doubts above the job, so that nobody overlooks them. */
static void put_doubts(struct sniff *s)
{
	struct buf all = {0};
	const char *text, *end;

	buf_put(&s->doubts, 0);
	for (text = (const char *)s->doubts.ptr; *text; text = end + 1) {
		end = strchr(text, '\n');
		buf_printf(&all, "# CHECK: %.*s\n", (int)(end - text), text);
	}
	buf_append(&all, s->yaml.ptr, s->yaml.len);
	buf_release(&s->yaml);
	s->yaml = all;
	s->doubts.len--;
}

static int make_job(const char *file, const char *output, const char *temp_dir, struct sniff *s,
		    struct error *err)
{
	struct lint l = {0};
	struct sniff_proof proof = {0};
	char *name = NULL;
	int rc = name_file(file, output, &name, err);

	if (rc)
		return rc;
	rc = make_and_prove(s, file, name, temp_dir, &l, &proof, err);
	if (rc == RC_OK) {
		put_findings(&l, &s->yaml);
		add_proof(s, &proof);
		if (s->doubts.len)
			put_doubts(s);
	}
	lint_release(&l);
	mem_free(name);
	return rc;
}

/* Print the doubts to standard error. */
static int report(const struct sniff *s)
{
	if (!s->doubts.len)
		return EXIT_DONE;
	fprintf(stderr,
		"saltmill init: the job is not certain; check the lines marked CHECK:\n%.*s",
		(int)s->doubts.len, (const char *)s->doubts.ptr);
	return EXIT_REJECTS;
}

static int run(struct arguments *a)
{
	const char *output = a->output;
	struct error err;
	struct sniff s = {0};
	bool there = false;
	int rc = output ? io_exists(output, &there, &err) : RC_OK;

	if (rc == RC_OK && there)
		rc = error_set(&err, RC_CONFIG, "-o: %s exists, expected a new file", output);
	if (rc == RC_OK)
		rc = make_job(a->operand[0], output, a->run.temp_dir ? a->run.temp_dir : "/tmp", &s,
			      &err);
	if (rc == RC_OK && output)
		rc = io_replace_file(output, buf_bytes(&s.yaml), NULL, &err);
	if (rc == RC_OK && output)
		mem_outcome("the job is written");
	int status = rc ? command_fail("init", &err) : EXIT_DONE;
	if (rc == RC_OK && !output)
		status = command_show("init", &s.yaml);
	if (rc == RC_OK && status == EXIT_DONE)
		status = report(&s);
	sniff_release(&s);
	return status;
}

const struct command init_command = {
	.name = "init",
	.usage = "FILE [-o JOB]",
	.summary = "inspect a file and write a commented job for it",
	.least = 1,
	.most = 1,
	.run = run,
	.decides = "init reads up to 64 MiB and recognizes the format, the compression and the CSV "
		   "dialect. A column gets a type that accepts all of its values; otherwise it "
		   "stays text. The row key contains a column with repeated values (an owner), the "
		   "first time column, and a column with different values in all rows. Avro and "
		   "Arrow files contain the types. If values are ambiguous, like 03/04/2025, the "
		   "field stays text, with a comment.",
	.statuses =
		"0 the job is written, and it loads every row of the sample; 1 failed, or init "
		"cannot make a job for this file; 2 wrong usage; 3 the job is written, but some "
		"of it is not certain, as its comments CHECK explain",
	.examples = {"saltmill init export.csv", "saltmill init access.log.gz -o access.yaml"}};
