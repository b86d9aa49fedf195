/*
 * cmd_ddl.c - implements `saltmill ddl`, which prints a script that creates, alters or drops a
 * table of the job
 */
#include "ddl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "form.h"
#include "schemas.h"
#include "io.h"
#include "job.h"
#include "pass.h"

/* Choose the split points, and whether HBase computes them. */
static int choose_splits(const struct arguments *a, const struct job *job,
			 const struct job_table *t, struct splits *s, struct ddl_options *o,
			 struct error *err)
{
	struct buf assumed = {0};
	const struct regions *r = &t->regions;
	const char *file = a->splits ? a->splits : r->split == SPLIT_FILE ? r->file : NULL;
	int rc = a->splits ? splits_read(s, a->splits, err)
			   : regions_without_data(job, t, s, &assumed, err);

	if (rc == RC_OK && assumed.len && !a->run.quiet)
		command_say("ddl",
			    "table %s: assumed that %.*s are even; `spread` or --histogram "
			    "describes other values",
			    t->schema.name, (int)assumed.len, (const char *)assumed.ptr);
	buf_release(&assumed);

	if (rc == RC_END && r->split == SPLIT_SAMPLED)
		return error_set(
			err, RC_CONFIG,
			"table %s: found `split: sampled`, whose split points come from the data, "
			"expected `split: key`, --splits FILE, or the script that `saltmill plan %s "
			"-o DIR` writes",
			t->schema.name, a->operand[0]);
	if (rc == RC_END)
		return error_set(err, RC_CONFIG,
				 "table %s: found `size` in `regions:`, which needs data to get "
				 "the number of regions, expected `count` or `servers`, or "
				 "--splits FILE",
				 t->schema.name);
	/* without a file of split points, the script contains the split points */
	o->inline_keys = file ? 0 : SIZE_MAX;
	const char *slash = file ? strrchr(file, '/') : NULL;
	o->splits_file = slash ? slash + 1 : file;
	if (!a->splits && !r->first && !r->last && regions_algorithm(r, &o->algorithm))
		o->algorithm_regions = (uint32_t)s->count + 1;
	return rc;
}

static const struct table *complete_schema(const struct arguments *a, const struct job_table *t,
					   struct arena *arena)
{
	if (!tuning_decides_table(&t->schema))
		return &t->schema;
	if (!a->run.quiet)
		command_say("ddl",
			    "table %s: assumed short values for `compression: auto`; the script of "
			    "`saltmill plan %s FILE... -o DIR` has the choice for your data",
			    t->schema.name, a->operand[0]);
	return &tuning_without_data(t, arena)->schema;
}

static int create_script(const struct arguments *a, const struct job *job,
			 const struct job_table *t, struct buf *out, struct error *err)
{
	struct splits s = {0};
	struct ddl_options o = {0};
	struct arena arena = {0};
	int rc = choose_splits(a, job, t, &s, &o, err);

	if (rc == RC_OK)
		rc = ddl_create_with(out, complete_schema(a, t, &arena), &s, &o, err);
	arena_release(&arena);
	if (rc == RC_OK && !a->run.quiet && s.count && !ddl_keys_inline(&s, &o))
		fprintf(stderr,
			"saltmill ddl: the script reads its %zu split points from %s in the same "
			"folder\n",
			s.count, o.splits_file);
	splits_release(&s);
	return rc;
}

static int alter_script(const char *path, const struct job_table *t, struct buf *out,
			struct error *err)
{
	struct buf text = {0};
	int rc = io_read_file(path, &text, err);

	if (rc == RC_OK)
		rc = ddl_alter(out, &t->schema, path, buf_bytes(&text), err);
	buf_release(&text);
	return rc;
}

struct ddl_view {
	const char *table;
	struct bytes script;
};

static const struct form_member ddl_members[] = {
	{"table", FORM_TEXT, IN(ddl_view, table),
	 "name of the table, with its namespace if the "
	 "table has one"},
	{"script", FORM_BYTES, IN(ddl_view, script), "script with commands for `hbase shell`"},
};
const struct form ddl_form = NAMED_FORM(ddl_view, ddl_members, "ddl", "ddl --json");

static void as_json(const struct job_table *t, struct buf *script)
{
	struct buf json = {0};
	struct ddl_view v = {t->schema.name, buf_bytes(script)};

	form_put(&json, &ddl_form, &v, FORM_REPORT);
	buf_release(script);
	*script = json;
}

/* Append the script of one table. */
static int table_script(const struct arguments *a, const struct job *job, const struct job_table *t,
			struct buf *out, struct error *err)
{
	if (a->alter_file)
		return alter_script(a->alter_file, t, out, err);
	if (a->drop) {
		ddl_drop(out, &t->schema);
		return RC_OK;
	}
	return create_script(a, job, t, out, err);
}

/* Append the scripts of all tables as one script. */
static int all_scripts(const struct arguments *a, const struct job *job, struct buf *out,
		       struct error *err)
{
	static const char end[] = "exit\n";
	size_t n = sizeof end - 1;
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < job->ntables; i++) {
		if (i && out->len >= n && !memcmp(out->ptr + out->len - n, end, n))
			out->len -= n;
		rc = table_script(a, job, &job->tables[i], out, err);
	}
	return rc;
}

/* Give --histogram to the tables whose split points come from the row key. */
static int use_histogram(const struct arguments *a, struct job *job, struct error *err)
{
	bool used = !a->histogram;

	for (size_t i = 0; a->histogram && i < job->ntables; i++)
		if (job->tables[i].regions.split == SPLIT_KEY) {
			job->tables[i].regions.histogram = a->histogram;
			used = true;
		}
	return used ? RC_OK
		    : error_set(err, RC_CONFIG,
				"--histogram %s: found no table with `split: key` in %s, expected "
				"`regions: {split: key, count: N}`",
				a->histogram, job->path);
}

static int make_script(const struct arguments *a, struct buf *out, struct error *err)
{
	struct job job;
	const struct job_table *t = NULL;

	if (a->drop && access(a->operand[0], F_OK) != 0)
		return error_set(err, RC_CONFIG,
				 "found no job file %.200s, expected one; `saltmill drop REGEX "
				 "--hbase HOST` drops tables of a live HBase",
				 a->operand[0]);
	int rc = job_load(&job, a->operand[0], err);
	if (rc == RC_OK)
		rc = use_histogram(a, &job, err);
	bool all = rc == RC_OK && !a->table && !a->alter_file && !a->splits && !a->run.json;

	if (all) {
		rc = all_scripts(a, &job, out, err);
	} else if (rc == RC_OK) {
		rc = job_find_table(&job, a->table, &t, err);
		if (rc == RC_OK)
			rc = table_script(a, &job, t, out, err);
	}
	if (rc == RC_OK && !a->drop && !a->run.quiet)
		command_warn_framing("ddl", t ? t : job.tables, t ? 1 : job.ntables);
	if (rc == RC_OK && !a->drop)
		command_warn_design("ddl", &job, NULL);
	if (rc == RC_OK && a->run.json)
		as_json(t, out);
	job_release(&job);
	return rc;
}

static int run(struct arguments *a)
{
	struct error err;
	struct buf out = {0};
	int rc = make_script(a, &out, &err);
	int status = rc ? command_fail("ddl", &err) : command_print("ddl", &out);

	buf_release(&out);
	return status;
}

const struct command ddl_command = {
	.name = "ddl",
	.usage = "JOB [options]",
	.summary = "print the script that creates, alters or drops the tables of a job",
	.least = 1,
	.most = 1,
	.run = run,
	.decides = "The script contains the attributes of the job. If the job lacks an attribute, "
		   "HBase's "
		   "default applies. The split points come from --splits, or else from `regions:` "
		   "of the job. `split: key` computes them from the parts of the row key. "
		   "`split: sampled` needs data, so ddl refuses it; use the script of "
		   "`saltmill plan`. --alter prints only the differences from "
		   "the "
		   "output of `describe`. Attributes that the job lacks stay as they are.",
	.statuses = "0 done; 1 failed; " STATUS_USAGE,
	.examples = {"saltmill ddl conf/devices.yaml --splits splits.txt",
		     "saltmill ddl conf/devices.yaml --alter described.txt"}};
