/* cmd_help.c - implements `saltmill help`, which prints all documentation */
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "guide.h"
#include "help.h"
#include "job.h"
#include "markdown.h"
#include "cli/reference.h"
#include "schemas.h"

/* Returns the name of the choice of --format. */
static const char *form_name(unsigned format)
{
	static const char *const names[] = {
		[HELP_TEXT] = "text", [HELP_MARKDOWN] = "markdown", [HELP_SCHEMA] = "json-schema",
		[HELP_MAN] = "man",   [HELP_BASH] = "bash",	    [HELP_ZSH] = "zsh",
		[HELP_FISH] = "fish"};

	return names[format];
}

static int refuse(const char *topic, enum help_form format, const char *expected, struct error *err)
{
	return error_set(err, RC_CONFIG, "--format %s: found %s%s, expected %s", form_name(format),
			 topic ? "the topic " : "no topic", topic ? topic : "", expected);
}

static int tell_job(struct buf *out, enum help_form format, struct error *err)
{
	switch (format) {
	case HELP_TEXT: reference_text(out); return RC_OK;
	case HELP_MARKDOWN: reference_markdown(out); return RC_OK;
	case HELP_SCHEMA: job_words_json_schema(out); return RC_OK;
	case HELP_MAN: reference_man(out); return RC_OK;
	case HELP_BASH:
	case HELP_ZSH:
	case HELP_FISH: break;
	}
	return refuse("job", format, "none", err);
}

/* Append the schema of this name, or the list of schemas if `name` is NULL. */
static int tell_schema(struct buf *out, const char *name, struct error *err)
{
	if (!name) {
		buf_append_str(out, "The JSON files and outputs have these schemas; `saltmill help "
				    "schema NAME` prints one:\n\n");
		schemas_list(out);
	} else if (!schema_json(out, name)) {
		return error_set(err, RC_CONFIG,
				 "found no schema `%.60s`; `saltmill help schema` lists the "
				 "schemas",
				 name);
	}
	return RC_OK;
}

/* Append the keys of the preset of this name, or the list of presets if `name` is NULL. */
static int tell_preset(struct buf *out, const char *name, struct error *err)
{
	const struct job_preset *list;
	size_t n = job_presets(&list), i = 0;

	for (; i < n && name && strcmp(list[i].name, name) != 0;)
		i++;
	if (name && i == n)
		return error_set(
			err, RC_CONFIG,
			"found no preset `%.60s`; `saltmill help preset` lists the presets", name);
	if (name) {
		buf_printf(out, "# %s\n%s:\n  preset: %s   # means these keys:\n", list[i].what,
			   list[i].of, list[i].name);
		for (const char *p = list[i].keys; *p; p += strcspn(p, "\n") + 1)
			buf_printf(out, "  %.*s\n", (int)strcspn(p, "\n"), p);
		return RC_OK;
	}
	buf_append_str(out, "A source can have one of these presets; `saltmill help preset NAME` "
			    "prints its keys:\n\n");
	for (i = 0; i < n; i++)
		buf_printf(out, "  %-19s %s\n", list[i].name, list[i].what);
	return RC_OK;
}

static void list_chapters(struct buf *out)
{
	buf_append_str(out, "The guide has these chapters; `saltmill help guide CHAPTER` prints "
			    "one:\n\n");
	guide_list(out);
}

/* Append the chapter of this name, or the list of chapters if `name` is NULL. */
static int tell_chapter(struct buf *out, const char *name, enum help_form format, struct error *err)
{
	const char *text = name ? guide_chapter(name) : NULL;

	if (name && !text)
		return error_set(err, RC_CONFIG,
				 "found no chapter `%.60s`; `saltmill help guide` lists the "
				 "chapters",
				 name);
	if (!text && format == HELP_TEXT)
		list_chapters(out);
	else if (text && format == HELP_TEXT)
		markdown_text(out, text);
	else if (text && format == HELP_MARKDOWN)
		buf_append_str(out, text);
	else if (text && format == HELP_MAN)
		guide_man(out, name);
	else
		return refuse("guide", format,
			      text ? "text, markdown or man" : "the name of a chapter", err);
	return RC_OK;
}

/* Set the error for a topic that does not exist, with a similar command or key. */
static int refuse_topic(const char *topic, struct error *err)
{
	const char *near = command_meant(topic);
	char *key = near ? NULL : reference_near(topic);

	near = key ? key : near;
	if (near)
		error_set(err, RC_CONFIG,
			  "found no command and no key of the job file named `%.60s`; did you mean "
			  "`saltmill help %s`?",
			  topic, near);
	else
		error_set(err, RC_CONFIG,
			  "found no command and no key of the job file named `%.60s`; `saltmill "
			  "help` lists the commands, `saltmill help job` the keys",
			  topic);
	mem_free(key);
	return RC_CONFIG;
}

static int tell_topic(struct buf *out, const char *topic, enum help_form format, struct error *err)
{
	const struct command *c = command_find(topic);

	if (format != HELP_TEXT && (format != HELP_MAN || !c))
		return refuse(topic, format,
			      format == HELP_MAN ? "a command or job" : "job or none", err);
	if (c && format == HELP_MAN)
		manual_command(out, c);
	else if (c)
		help_command(out, c);
	else if (reference_key(out, topic) == 0)
		return refuse_topic(topic, err);
	return RC_OK;
}

static int tell_all(struct buf *out, enum help_form format, struct error *err)
{
	switch (format) {
	case HELP_TEXT: help_overview(out); return RC_OK;
	case HELP_MAN: manual_overview(out); return RC_OK;
	case HELP_BASH: complete_bash(out); return RC_OK;
	case HELP_ZSH: complete_zsh(out); return RC_OK;
	case HELP_FISH: complete_fish(out); return RC_OK;
	case HELP_MARKDOWN:
	case HELP_SCHEMA: break;
	}
	return refuse(NULL, format, "job", err);
}

static int tell_tables(struct buf *out, const char *path, struct error *err)
{
	struct job job;
	int rc = job_load(&job, path, err);

	for (size_t i = 0; rc == RC_OK && i < job.ntables; i++)
		buf_printf(out, "%s\n", job.tables[i].schema.name);
	job_release(&job);
	return rc;
}

static int tell(struct buf *out, const struct arguments *a, struct error *err)
{
	const char *topic = a->noperands > 0 ? a->operand[0] : NULL;
	const char *name = a->noperands > 1 ? a->operand[1] : NULL;

	if (a->job)
		return tell_tables(out, a->job, err);
	if (!topic)
		return tell_all(out, a->format, err);
	if (strcmp(topic, "schema") == 0)
		return tell_schema(out, name, err);
	if (strcmp(topic, "guide") == 0)
		return tell_chapter(out, name, a->format, err);
	if (strcmp(topic, "preset") == 0)
		return tell_preset(out, name, err);
	if (name)
		return error_set(err, RC_CONFIG, "found two topics, expected one");
	if (strcmp(topic, "job") == 0)
		return tell_job(out, a->format, err);
	return tell_topic(out, topic, a->format, err);
}

static int run(struct arguments *a)
{
	struct buf out = {0};
	struct error err;
	int rc = tell(&out, a, &err);
	int status = rc ? command_fail("help", &err) : command_print("help", &out);

	buf_release(&out);
	return status;
}

const struct command help_topics_command = {
	.name = "help",
	.usage = "[COMMAND|KEY|job|guide [CHAPTER]|schema [NAME]] [--format FORMAT]",
	.summary = "print the documentation of commands, keys of the job file, the guide and JSON "
		   "Schemas",
	.most = 2,
	.run = run,
	.operands = {{"KEY", "a key of the job file: its meaning, its values, an example"},
		     {"job", "all keys of the job file"},
		     {"guide [CHAPTER]", "a chapter of the guide (default: list the chapters)"},
		     {"schema [NAME]",
		      "the JSON Schema of manifest.json, rejects.jsonl or the output "
		      "of --json (default: list the schemas)"}},
	.statuses = "0 done; 2 no such command, key or chapter",
	.examples = {"saltmill help bloomfilter", "saltmill help guide keys"}};
