/* cmd_init.c - implements `saltmill init`, which inspects a file and writes a job for the file */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "io.h"
#include "job.h"
#include "lint.h"
#include "measure_job.h"
#include "cli/reports.h"
#include "mem.h"
#include "proposed_job.h"
#include "reporter.h"
#include "first_rows.h"
#include "init_table.h"

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
 * all columns in the key. If rows are equal in all columns, their lines keep them apart. If a value
 * contains a quote that is not doubled, make the job again with lenient quotes.
 */
static int make_and_prove(struct sniff *s, const char *file, const char *name, const char *temp_dir,
			  struct lint *l, struct sniff_proof *proof, struct error *err)
{
	for (;;) {
		int rc = sniff_file(file, name, s, err);

		if (rc == RC_OK)
			rc = judge(s, file, temp_dir, l, proof, err);
		bool lenient = rc == RC_OK && proof->rejected && !s->lenient &&
			       strstr(proof->first, ": bad_quote: ");

		if (!lenient && (rc || !proof->equal || s->equal || s->key))
			return rc;
		if (lenient) {
			s->lenient = true;
		} else {
			s->equal = s->whole_key ? proof->equal : 0;
			s->whole_key = true;
		}
		lint_release(l);
		*l = (struct lint){0};
		s->yaml.len = s->doubts.len = 0;
	}
}

/* Replace the lines of the row key in the job. */
static void replace_key(struct sniff *s, const struct design *g)
{
	static const char key[] = "    rowkey:\n", part[] = "      ";
	const struct design_table *t = &g->tables[0];
	struct buf text = {0};
	const char *at, *rest;

	buf_put(&s->yaml, 0);
	at = strstr((const char *)s->yaml.ptr, key) + strlen(key);
	for (rest = at; strncmp(rest, part, strlen(part)) == 0;)
		rest = strchr(rest, '\n') + 1;
	buf_append(&text, s->yaml.ptr, (size_t)(at - (const char *)s->yaml.ptr));
	for (size_t i = 0; i < g->nanswers; i++)
		buf_printf(&text, "      # --ask %s: %.3g ranges, %.3g rows read, %.3g returned\n",
			   g->answers[i].ask, g->answers[i].ranges.median,
			   g->answers[i].rows.median, g->answers[i].returned.median);
	for (size_t i = 0; i < t->nparts; i++)
		buf_printf(&text, "      - %s\n", t->parts[i]);
	buf_append_str(&text, rest);
	buf_release(&s->yaml);
	s->yaml = text;
}

/*
 * Take the best design whose row key differs in all rows of the sample. If no key does, take the
 * best design, with the doubt of the proof.
 */
static int take_design(struct sniff *s, const struct design_result *r, const char *file,
		       const char *temp_dir, struct lint *l, struct sniff_proof *proof,
		       struct error *err)
{
	struct buf before = {0};
	int rc = RC_OK;

	buf_append(&before, s->yaml.ptr, s->yaml.len);
	for (size_t i = 0; i <= r->nlist && rc == RC_OK; i++) {
		const struct design *g = &r->list[i % r->nlist];

		if (g->ntables != 1)
			continue;
		s->yaml.len = 0;
		buf_append(&s->yaml, before.ptr, before.len);
		replace_key(s, g);
		lint_release(l);
		*l = (struct lint){0};
		rc = judge(s, file, temp_dir, l, proof, err);
		if (!proof->equal)
			break;
	}
	buf_release(&before);
	return rc;
}

/* Choose the row key by the questions of --ask, with the costs that `design` measures. */
static int answer_questions(struct sniff *s, struct arguments *a, const char *file,
			    const char *temp_dir, struct lint *l, struct sniff_proof *proof,
			    struct error *err)
{
	const struct input input = {.files = &file, .nfiles = 1};
	struct design_result r = {0};
	struct job job;
	int rc = job_of_text(&job, buf_bytes(&s->yaml), a->run.temp_dir, err);

	if (rc == RC_OK) {
		job.path = arena_strdup(&job.arena, file);
		a->design.servers = DESIGN_SERVERS;
		a->design.tables = 1;
		rc = run_design(&r, a, &job, &input, 1, false, err);
	}
	if (rc == RC_OK)
		rc = take_design(s, &r, file, temp_dir, l, proof, err);
	design_release(&r);
	job_release(&job);
	return rc;
}

/* Append what the proof found as doubts. */
static void add_proof(struct sniff *s, const struct sniff_proof *p)
{
	if (p->rejected)
		buf_printf(&s->doubts,
			   "the job rejects %" PRIu64 " rows of the %s, the first in %s\n",
			   p->rejected, s->full ? "file" : "sample", p->first);
	if (p->equal)
		buf_printf(
			&s->doubts,
			"the row key joins %" PRIu64
			" rows with earlier rows, the first in line %" PRIu64
			": add a column to rowkey that differs, or accept that equal rows are one\n",
			p->equal, p->line);
	if (s->equal && s->equal + 1 == p->rows && p->rows > 2)
		buf_append_str(&s->doubts, "all rows are equal; if the file has others, see "
					   "`comment` and `skip_matching`\n");
	if (p->odd)
		buf_printf(&s->doubts,
			   "%" PRIu64
			   " rows do not look like the others, the first in line %" PRIu64
			   ": if they are totals or headings, add `skip_matching: REGEX` or "
			   "`skip_footer: N`\n",
			   p->odd, p->odd_line);
	if (p->differs)
		buf_printf(&s->doubts,
			   "%" PRIu64 " values of the job differ from the text of the file, the "
			   "first in %s\n",
			   p->differs, p->difference);
	if (!p->rejected && p->rows != s->rows && (s->whole || !s->full))
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

static int make_job(struct arguments *a, const char *temp_dir, struct sniff *s, struct error *err)
{
	const char *file = a->operand[0], *output = a->output;
	struct lint l = {0};
	struct sniff_proof proof = {0};
	struct hive_folders folders;
	char *name = NULL;
	int rc = name_file(file, output, &name, err);

	if (rc)
		return rc;
	hive_folders_find(&folders, file);
	if (folders.n) {
		char *folder = name;

		file = (const char *)folders.pattern.ptr;
		name = mem_format("%s%s", folder, file + folders.root);
		mem_free(folder);
		s->folders = &folders;
	}
	struct progress progress = {.phase = NULL};
	struct reporter *reporter = s->full && !a->run.quiet ? reporter_start(&progress) : NULL;
	s->progress = reporter ? &progress : NULL;
	rc = make_and_prove(s, file, name, temp_dir, &l, &proof, err);
	reporter_stop(reporter);
	s->progress = NULL;
	if (rc == RC_OK && a->design.nasks)
		rc = answer_questions(s, a, file, temp_dir, &l, &proof, err);
	if (rc == RC_OK) {
		put_findings(&l, &s->yaml);
		add_proof(s, &proof);
		if (s->doubts.len)
			put_doubts(s);
	}
	lint_release(&l);
	mem_free(name);
	s->folders = NULL;
	hive_folders_release(&folders);
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

/* Refuse a job, or the folder of a published load, in place of events. */
static int refuse_output(const char *file, struct error *err)
{
	size_t n = strlen(file);
	char *manifest = mem_format("%s/manifest.json", file);
	char *rejects = mem_format("%s/rejects.jsonl", file);
	bool has_manifest = false, has_rejects = false;
	int rc = io_exists(manifest, &has_manifest, err);

	if (rc == RC_OK)
		rc = io_exists(rejects, &has_rejects, err);
	if (rc == RC_OK && has_manifest && has_rejects)
		rc = error_set(err, RC_CONFIG,
			       "%s: found a published load, expected a file of events; to see the "
			       "load, run `saltmill report %s`",
			       file, file);
	if (rc == RC_OK && ((n > 5 && strcmp(file + n - 5, ".yaml") == 0) ||
			    (n > 4 && strcmp(file + n - 4, ".yml") == 0)))
		rc = error_set(err, RC_CONFIG,
			       "%s: found a YAML file, expected a file of events; for a job, run "
			       "`saltmill check %s`",
			       file, file);
	mem_free(manifest);
	mem_free(rejects);
	return rc;
}

/* Check the options of a file of events, and make its job. */
static int make_from_file(struct arguments *a, struct sniff *s, struct error *err)
{
	if (a->design.nasks && strcmp(a->operand[0], "-") == 0)
		return error_set(err, RC_CONFIG,
				 "--ask: found standard input, expected a file, because design "
				 "reads it again");
	int rc = refuse_output(a->operand[0], err);
	return rc ? rc : make_job(a, a->run.temp_dir ? a->run.temp_dir : "/tmp", s, err);
}

/* Make the job of a table, in the form of a job for a file. */
static int make_from_table(const struct arguments *a, const struct offline_place *place,
			   struct sniff *s, struct error *err)
{
	struct inferred job = {.understood = false};
	int rc = init_table(a, place, &job, err);

	if (rc == RC_OK) {
		buf_append(&s->yaml, job.yaml.ptr, job.yaml.len);
		buf_append(&s->doubts, job.doubts.ptr, job.doubts.len);
		if (s->doubts.len)
			put_doubts(s);
	}
	inferred_release(&job);
	return rc;
}

static int run(struct arguments *a)
{
	const char *output = a->output;
	struct error err;
	struct sniff s = {.key = a->key, .full = a->full};
	struct offline_place place;
	bool table = init_asks_table(a, &place), there = false;

	if (!table && !a->noperands)
		return arguments_refuse(a, "found no FILE, expected a file of events, or "
					   "`--hbase HOST --table TABLE`");
	if (output && strcmp(output, "-") == 0)
		return arguments_refuse(a, "-o: found `-`, expected a new file; leave out -o for "
					   "standard output");
	int rc = output ? io_exists(output, &there, &err) : RC_OK;
	if (rc == RC_OK && there)
		rc = error_set(&err, RC_CONFIG, "-o: %s exists, expected a new file", output);
	if (rc == RC_OK)
		rc = table ? make_from_table(a, &place, &s, &err) : make_from_file(a, &s, &err);
	if (rc == RC_OK && output)
		rc = io_replace_file(output, buf_bytes(&s.yaml), NULL, &err);
	if (rc == RC_OK && output)
		mem_outcome("the job is complete");
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
	.usage = "FILE|DIR|--hbase HOST --table TABLE|--table-dir URI|--snapshot URI [-o JOB] "
		 "[options]",
	.summary = "inspect a file or a table and write a commented job for it",
	.most = 1,
	.run = run,
	.decides =
		"A column gets a type that accepts all of its values. The row key has an owner (a "
		"column with repeated values), the first time, and a column that differs in all "
		"rows. init runs the job over the sample, and a second reader compares each value "
		"with the file. Comments have the measured confidence of each decision, as "
		"`saltmill help guide forms` defines.",
	.statuses =
		"0 the job is complete, and it loads every row of the sample; 1 failed, or init "
		"cannot make a job for this file; 2 wrong usage; 3 the job is complete, but some "
		"of it is not certain, as its comments CHECK explain",
	.examples = {"saltmill init access.log.gz -o access.yaml",
		     "saltmill init export.csv --ask \"Konto = ?\""}};
