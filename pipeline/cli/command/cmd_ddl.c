/* cmd_ddl.c - `saltmill ddl JOB`: the script that creates, alters or drops a table of the job */
#include "ddl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "form.h"
#include "schemas.h"
#include "io.h"
#include "job.h"
#include "pass.h"

/* Choose the split points, and whether HBase computes them itself. */
static int choose_splits(const struct arguments *a, const struct job_table *t, struct splits *s,
			 struct ddl_options *o, struct error *err)
{
	const struct regions *r = &t->regions;
	const char *file = a->splits ? a->splits : r->split == SPLIT_FILE ? r->file : NULL;
	int rc = a->splits ? splits_read(s, a->splits, err) : regions_without_data(r, s, err);

	if (rc == RC_END && r->split == SPLIT_SAMPLED)
		return error_set(
			err, RC_CONFIG,
			"table %s: found `split: sampled`, whose split points come from the data. "
			"Use the script that `saltmill plan %s -o DIR` writes, or --splits FILE",
			t->schema.name, a->operand[0]);
	if (rc == RC_END)
		return error_set(err, RC_CONFIG,
				 "table %s: found `size` in `regions:`, whose number of regions "
				 "depends on the data, expected `count` or `servers`, or --splits "
				 "FILE",
				 t->schema.name);
	/* without a file, the script must contain the keys */
	o->inline_keys = file ? 0 : SIZE_MAX;
	const char *slash = file ? strrchr(file, '/') : NULL;
	o->splits_file = slash ? slash + 1 : file;
	if (!a->splits && !r->first && !r->last && regions_algorithm(r, &o->algorithm))
		o->algorithm_regions = (uint32_t)s->count + 1;
	return rc;
}

static int create_script(const struct arguments *a, const struct job_table *t, bool quiet,
			 struct buf *out, struct error *err)
{
	struct splits s = {0};
	struct ddl_options o = {0};
	int rc = choose_splits(a, t, &s, &o, err);

	if (rc == RC_OK)
		rc = ddl_create_with(out, &t->schema, &s, &o, err);
	if (rc == RC_OK && !quiet && s.count && !ddl_keys_inline(&s, &o))
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
	{"table", FORM_TEXT, IN(ddl_view, table), "with its namespace, if it has one"},
	{"script", FORM_BYTES, IN(ddl_view, script), "commands for `hbase shell`"},
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

static int make_script(const struct arguments *a, struct buf *out, struct error *err)
{
	struct job job;
	const struct job_table *t;
	int rc = job_load(&job, a->operand[0], err);

	if (rc == RC_OK)
		rc = job_find_table(&job, a->table, &t, err);
	if (rc == RC_OK && a->alter_file)
		rc = alter_script(a->alter_file, t, out, err);
	else if (rc == RC_OK && a->drop)
		ddl_drop(out, &t->schema);
	else if (rc == RC_OK)
		rc = create_script(a, t, a->run.quiet, out, err);
	if (rc == RC_OK && !a->drop && !a->run.quiet)
		command_warn_framing("ddl", t, 1);
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
	.summary = "print the script that creates, alters or drops a table of the job",
	.least = 1,
	.most = 1,
	.run = run,
	.decides = "The attributes are those of the job; what the job leaves out has the default "
		   "of HBase. The split points come from --splits, else from `regions:` of the "
		   "job. `split: sampled` needs data, so ddl refuses it: `saltmill plan` writes "
		   "that script. --alter prints only what differs from the output of `describe`, "
		   "and leaves attributes that the job does not mention.",
	.statuses = "0 done; 1 failed; " STATUS_USAGE,
	.examples = {"saltmill ddl conf/devices.yaml --splits splits.txt",
		     "saltmill ddl conf/devices.yaml --alter described.txt"}};
