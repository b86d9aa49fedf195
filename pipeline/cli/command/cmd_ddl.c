/* cmd_ddl.c - `saltmill ddl JOB`: the script that creates, alters or drops a table of the job */
#include "ddl.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "io.h"
#include "job.h"
#include "pass.h"

enum { OPT_SPLITS = 500, OPT_TABLE, OPT_ALTER, OPT_DROP };

struct ddl_arguments {
	const char *splits, *table, *alter;
	bool drop;
};

static int take_option(void *ctx, int opt, const char *arg, struct error *err)
{
	struct ddl_arguments *a = ctx;

	(void)err;
	switch (opt) {
	case OPT_SPLITS: a->splits = arg; break;
	case OPT_TABLE: a->table = arg; break;
	case OPT_ALTER: a->alter = arg; break;
	default: a->drop = true; break;
	}
	return RC_OK;
}

static int check_arguments(const struct ddl_arguments *a, struct error *err)
{
	if ((a->splits != NULL) + (a->alter != NULL) + a->drop > 1)
		return error_set(err, RC_CONFIG,
				 "--splits, --alter and --drop ask for different scripts: "
				 "give one of them");
	return RC_OK;
}

/* Split keys, and whether HBase computes them itself. */
static int choose_splits(const struct ddl_arguments *a, const struct job_table *t, struct splits *s,
			 struct ddl_options *o, struct error *err)
{
	const struct regions *r = &t->regions;
	const char *file = a->splits ? a->splits : r->split == SPLIT_FILE ? r->file : NULL;
	int rc = a->splits ? splits_read(s, a->splits, err) : regions_without_data(r, s, err);

	if (rc == RC_END && r->split == SPLIT_SAMPLED)
		return error_set(
			err, RC_CONFIG,
			"the split keys of table %s come from the data (regions: split: sampled): "
			"`saltmill plan` and `saltmill load` write its script; or give --splits "
			"FILE",
			t->schema.name);
	if (rc == RC_END)
		return error_set(err, RC_CONFIG,
				 "how many regions table %s gets depends on the data (regions: "
				 "size): expected "
				 "`count` or `servers` in the job, or --splits FILE",
				 t->schema.name);
	/* keys of no file have to stand in the script */
	o->inline_keys = file ? 0 : SIZE_MAX;
	const char *slash = file ? strrchr(file, '/') : NULL;
	o->splits_file = slash ? slash + 1 : file;
	if (!a->splits && !r->first && !r->last && regions_algorithm(r, &o->algorithm))
		o->algorithm_regions = (uint32_t)s->count + 1;
	return rc;
}

static int create_script(const struct ddl_arguments *a, const struct job_table *t, bool quiet,
			 struct buf *out, struct error *err)
{
	struct splits s = {0};
	struct ddl_options o = {0};
	int rc = choose_splits(a, t, &s, &o, err);

	if (rc == RC_OK)
		rc = ddl_create_with(out, &t->schema, &s, &o, err);
	if (rc == RC_OK && !quiet && s.count && !ddl_keys_inline(&s, &o))
		fprintf(stderr,
			"saltmill ddl: the script reads its %zu split keys from %s in its own "
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

static void as_json(const struct job_table *t, struct buf *script)
{
	json_t *all = json_pack("{s:s, s:s%}", "table", t->schema.name, "script",
				(char *)script->ptr, script->len);
	char *text = json_dumps(all, JSON_INDENT(2));

	script->len = 0;
	buf_append_str(script, text);
	buf_put(script, '\n');
	free(text);
	json_decref(all);
}

static int make_script(const struct run_options *o, const struct ddl_arguments *a,
		       const char *job_path, struct buf *out, struct error *err)
{
	struct job job;
	const struct job_table *t;
	int rc = job_load(&job, job_path, err);

	if (rc == RC_OK)
		rc = job_find_table(&job, a->table, &t, err);
	if (rc == RC_OK && a->alter)
		rc = alter_script(a->alter, t, out, err);
	else if (rc == RC_OK && a->drop)
		ddl_drop(out, &t->schema);
	else if (rc == RC_OK)
		rc = create_script(a, t, o->quiet, out, err);
	if (rc == RC_OK && !a->drop && !o->quiet)
		command_warn_framing("ddl", t, 1);
	if (rc == RC_OK && o->json)
		as_json(t, out);
	job_release(&job);
	return rc;
}

int cmd_ddl(int argc, char **argv)
{
	static const struct option own[] = {{"splits", required_argument, NULL, OPT_SPLITS},
					    {"table", required_argument, NULL, OPT_TABLE},
					    {"alter", required_argument, NULL, OPT_ALTER},
					    {"drop", no_argument, NULL, OPT_DROP},
					    {0}};
	struct run_options o;
	struct error err;
	struct ddl_arguments a = {0};
	struct buf out = {0};
	int first, rc = options_parse(argc, argv, &o, own, NULL, take_option, &a, &first);

	if (rc)
		return rc == RC_END ? EXIT_DONE : EXIT_USAGE;
	if (argc - first != 1)
		rc = error_set(&err, RC_CONFIG, "found %d operands, expected one: the job file",
			       argc - first);
	if (rc == RC_OK)
		rc = check_arguments(&a, &err);
	if (rc == RC_OK)
		rc = make_script(&o, &a, argv[first], &out, &err);
	int status = rc ? command_fail("ddl", &err) : command_print("ddl", &out);
	buf_release(&out);
	return status;
}
