/*
 * A job file becomes a struct job in three steps. tree.c makes a tree of nodes, with their places,
 * from libyaml's events. The readers in the tables of keys fill structs from the tree (schema.c and
 * one file per section). table_check makes the same checks as the HBase master.
 */
#include "sections.h"

#include <stdio.h>
#include <sys/stat.h>

#include "ddl.h"
#include "io.h"
#include "bytes.h"

#define LARGEST_JOB (1u << 20)

static const struct key keys[] = {
	{.name = "source",
	 WORDS(MAPPING, NULL, "the source of the events: one of csv, json, avro, arrow and kafka",
	       "source: {csv: {files: [ratings.csv]}}"),
	 INNER(&source_schema),
	 .read = read_source,
	 .required = true},
	{.name = "fields",
	 WORDS(NAMED, NULL,
	       "the type and format of each field; an unlisted name is text from the column of "
	       "that name",
	       "fields: {userId: {type: u32}}"),
	 INNER(&field_schema),
	 .read = read_fields},
	{.name = "where",
	 WORDS(QUESTION, NULL,
	       "load only the events that match; saltmill filters the others for every table",
	       "where: amount > 0 and kind in (A, B)"),
	 .read = read_condition,
	 .offset = offsetof(struct job, where)},
	{.name = "labels", /* before `tables`, which use them */
	 WORDS(CODES, NULL,
	       "the numbers of visibility labels in the cluster's `hbase:labels`, by their names; or a "
	       "file with NAME,NUMBER lines",
	       "labels: {secret: 2, staff: 3}"),
	 .read = read_labels},
	{.name = "tables",
	 WORDS(LIST, NULL, "the tables to load, each with its row key, families and cells",
	       "tables: [{name: ratings, ...}]"),
	 INNER(&table_schema),
	 .read = read_tables,
	 .required = true},
	{.name = "security",
	 WORDS(MAPPING, NULL,
	       "the login to clusters with Kerberos or TLS; the options of a command override it",
	       "security: {principal: etl@EXAMPLE.COM, keytab: /etc/etl.keytab}"),
	 INNER(&security_schema),
	 .read = read_security},
};
const struct schema job_schema = SCHEMA("the job", keys);

static void set_paths(struct job *job, const char *path)
{
	const char *slash = strrchr(path, '/');

	job->path = arena_strdup(&job->arena, path);
	job->dir = slash ? arena_strndup(&job->arena, path, (size_t)(slash - path)) : ".";
	if (slash == path)
		job->dir = "/";
}

static int check_tables(struct job *job, struct error *err)
{
	for (size_t i = 0; i < job->ntables; i++) {
		struct table *t = &job->tables[i].schema;
		struct pos at = t->pos;
		int rc = table_check(t, &job->arena, &at, err);

		if (rc) {
			if (at.line == 0)
				at = t->pos;
			return error_prefix(err, "%s:%u:%u: ", job->path, at.line, at.column);
		}
	}
	return RC_OK;
}

/* Add the fix for a file that is no job, such as a data file. */
static int not_a_job(const struct job *job, struct error *err)
{
	const struct error why = *err;

	return error_set(err, RC_CONFIG,
			 "%s; to make a job for a data file, run `saltmill init %s -o job.yaml`",
			 why.msg, job->path);
}

static bool has_job_key(const struct node *root)
{
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (node_get(root, keys[i].name))
			return true;
	return false;
}

/* Refuse keys of `source` outside of it. */
static int refuse_at_top(struct reader *r, const struct node *root)
{
	for (size_t i = 0; i < root->count; i++)
		for (size_t k = 0; k < source_schema.nkeys; k++)
			if (strcmp(root->keys[i]->text, source_schema.keys[k].name) == 0)
				return fault(r, root->keys[i]->pos,
					     "unknown key `%s`, expected it under `source`; write "
					     "`source: {%s: ...}`",
					     root->keys[i]->text, root->keys[i]->text);
	return RC_OK;
}

static int read_job(struct job *job, struct bytes text, struct error *err)
{
	struct reader r = {.job = job, .err = err};
	struct node *root;

	job_digest_set(job, text);
	int rc = tree_read(&root, text, job->path, &job->arena, err);
	if (rc && !memmem(text.ptr, text.len, "tables", 6))
		return not_a_job(job, err);
	if (rc)
		return rc;
	if (!root)
		return error_set(
			err, RC_CONFIG,
			"%s:1:1: found an empty file, expected a job: source, fields, tables",
			job->path);
	if (root->kind != NODE_MAPPING || (root->count > 1 && !has_job_key(root))) {
		error_set(err, RC_CONFIG,
			  "%s:1:1: found no job, expected a YAML file with the keys source, fields "
			  "and tables",
			  job->path);
		return not_a_job(job, err);
	}
	rc = refuse_at_top(&r, root);
	if (rc == RC_OK)
		rc = read_mapping(&r, root, &job_schema, job);
	order_expectations(job);
	if (rc == RC_OK)
		rc = check_columns(&r);
	return rc ? rc : check_tables(job, err);
}

/* Set the error for a path that is no file, with a file of a similar name. Keeps other errors. */
static int wrong_path(const char *path, struct error *err)
{
	static const char *const ends[] = {".yaml", ".yml"};
	size_t stem = strlen(path);
	struct stat st;

	err->code = RC_CONFIG;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return error_set(err, RC_CONFIG,
				 "%s: found a folder, expected a job file; the job is the first "
				 "operand",
				 path);
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		size_t n = strlen(ends[i]);

		if (stem > n && strcmp(path + stem - n, ends[i]) == 0)
			stem -= n;
	}
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		char *other = mem_format("%.*s%s", (int)stem, path, ends[i]);
		bool there = stat(other, &st) == 0;

		if (there && strcmp(other, path) != 0)
			error_set(err, RC_CONFIG,
				  "cannot open %s: No such file or directory; did "
				  "you mean `%s`?",
				  path, other);
		mem_free(other);
	}
	return RC_CONFIG;
}

int job_parse(struct job *job, const char *name, struct bytes text, struct error *err)
{
	*job = (struct job){0};
	set_paths(job, name);
	return read_job(job, text, err);
}

int job_load(struct job *job, const char *path, struct error *err)
{
	struct buf text = {0};

	*job = (struct job){0};
	set_paths(job, path);
	int rc = io_read_file_upto(path, LARGEST_JOB, &text, err);
	if (rc == RC_LIMIT)
		rc = error_set(err, RC_CONFIG,
			       "%s: found more than 1 MiB, expected a job file of at most 1 MiB",
			       path);
	else if (rc && rc != RC_STOPPED) /* the command line has a wrong name */
		rc = wrong_path(path, err);
	if (rc == RC_OK)
		rc = read_job(job, buf_bytes(&text), err);
	buf_release(&text);
	return rc;
}

void job_release(struct job *job)
{
	arena_release(&job->arena);
	*job = (struct job){0};
}

int job_find_table(const struct job *job, const char *name, const struct job_table **out,
		   struct error *err)
{
	const char **known = mem_alloc(job->ntables * sizeof *known);
	struct buf list = {0};

	*out = !name && job->ntables == 1 ? job->tables : NULL;
	for (size_t i = 0; i < job->ntables; i++) {
		known[i] = job->tables[i].schema.name;
		buf_printf(&list, "%s%s", i ? ", " : "", known[i]);
		if (name && strcmp(name, known[i]) == 0)
			*out = &job->tables[i];
	}
	int rc = RC_OK;
	const char *near = name ? near_miss(name, known, job->ntables) : NULL;
	if (!*out && near)
		rc = error_set(err, RC_CONFIG, "%s has no table `%s`; did you mean %s?", job->path,
			       name, near);
	else if (!*out && name)
		rc = error_set(err, RC_CONFIG, "%s has no table `%s`, expected one of: %.*s",
			       job->path, name, (int)list.len, (const char *)list.ptr);
	else if (!*out)
		rc = error_set(err, RC_CONFIG,
			       "%s has several tables, expected --table with one of: %.*s",
			       job->path, (int)list.len, (const char *)list.ptr);
	buf_release(&list);
	mem_free(known);
	return rc;
}
