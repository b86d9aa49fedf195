/* cmd_help.c - `saltmill help [COMMAND|job|KEY|guide|schema]`: all documentation */
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "guide.h"
#include "job.h"
#include "manual.h"
#include "markdown.h"
#include "cli/reference.h"

enum { OPT_FORMAT = 500 };

enum format {
	FORMAT_TEXT,
	FORMAT_MARKDOWN,
	FORMAT_SCHEMA,
	FORMAT_MAN,
	FORMAT_BASH,
	FORMAT_ZSH,
	FORMAT_FISH
};
static const char *const formats[] = {"text", "markdown", "json-schema", "man",
				      "bash", "zsh",	  "fish",	 NULL};

static int take_format(void *ctx, int opt, const char *arg, struct error *err)
{
	(void)opt;
	return parse_choice("--format", arg, formats, ctx, err);
}

static int refuse(const char *topic, const char *format, const char *expected, struct error *err)
{
	return error_set(err, RC_CONFIG, "--format %s: found %s%s, expected %s", format,
			 topic ? "the topic " : "no topic", topic ? topic : "", expected);
}

static int tell_job(struct buf *out, size_t format, struct error *err)
{
	switch (format) {
	case FORMAT_TEXT: reference_text(out); return RC_OK;
	case FORMAT_MARKDOWN: reference_markdown(out); return RC_OK;
	case FORMAT_SCHEMA: job_words_json_schema(out); return RC_OK;
	case FORMAT_MAN: reference_man(out); return RC_OK;
	default: return refuse("job", formats[format], "none", err);
	}
}

/* name NULL: which there are. */
static int tell_schema(struct buf *out, const char *name, struct error *err)
{
	if (!name) {
		buf_append_str(out, "JSON Schemas of what is written and printed; `saltmill help "
				    "schema NAME` prints one:\n\n");
		schemas_list(out);
	} else if (!schema_json(out, name)) {
		return error_set(err, RC_CONFIG,
				 "found no schema `%.60s`, expected one of those that `saltmill "
				 "help schema` lists",
				 name);
	}
	return RC_OK;
}

static void list_chapters(struct buf *out)
{
	buf_append_str(out, "The guide has these chapters; `saltmill help guide CHAPTER` prints "
			    "one:\n\n");
	guide_list(out);
}

/* Append the list of chapters if name is NULL. */
static int tell_chapter(struct buf *out, const char *name, size_t format, struct error *err)
{
	const char *text = name ? guide_chapter(name) : NULL;

	if (name && !text)
		return error_set(err, RC_CONFIG,
				 "found no chapter `%.60s`; `saltmill help guide` lists the "
				 "chapters",
				 name);
	if (!text && format == FORMAT_TEXT)
		list_chapters(out);
	else if (text && format == FORMAT_TEXT)
		markdown_text(out, text);
	else if (text && format == FORMAT_MARKDOWN)
		buf_append_str(out, text);
	else if (text && format == FORMAT_MAN)
		guide_man(out, name);
	else
		return refuse("guide", formats[format],
			      text ? "text, markdown or man" : "the name of a chapter", err);
	return RC_OK;
}

static const struct command *find_command(const char *name)
{
	const struct command *c = commands;

	while (c->name && strcmp(c->name, name) != 0)
		c++;
	return c->name ? c : NULL;
}

static int tell_topic(struct buf *out, const char *topic, size_t format, struct error *err)
{
	const struct command *c = find_command(topic);

	if (format != FORMAT_TEXT && (format != FORMAT_MAN || !c))
		return refuse(topic, formats[format],
			      format == FORMAT_MAN ? "a command or job" : "job or none", err);
	if (c && format == FORMAT_MAN)
		manual_command(out, c);
	else if (c)
		command_help(out, c);
	else if (reference_key(out, topic) == 0)
		return error_set(err, RC_CONFIG,
				 "no command and no key of the job file is `%.60s`; `saltmill "
				 "help` lists the commands, `saltmill help job` the keys",
				 topic);
	return RC_OK;
}

static int tell_all(struct buf *out, size_t format, struct error *err)
{
	switch (format) {
	case FORMAT_TEXT: commands_overview(out); return RC_OK;
	case FORMAT_MAN: manual_overview(out); return RC_OK;
	case FORMAT_BASH: manual_bash(out); return RC_OK;
	case FORMAT_ZSH: manual_zsh(out); return RC_OK;
	case FORMAT_FISH: manual_fish(out); return RC_OK;
	default: return refuse(NULL, formats[format], "job", err);
	}
}

int cmd_help(int argc, char **argv)
{
	static const struct option own[] = {{"format", required_argument, NULL, OPT_FORMAT}, {0}};
	struct run_options o;
	struct buf out = {0};
	struct error err;
	size_t format = FORMAT_TEXT;
	int first, rc = options_parse(argc, argv, &o, own, NULL, take_format, &format, &first);

	if (rc)
		return rc == RC_END ? EXIT_DONE : EXIT_USAGE;
	const char *topic = first < argc ? argv[first] : NULL;
	if (topic && strcmp(topic, "schema") == 0 && first + 2 >= argc)
		rc = tell_schema(&out, argv[first + 1], &err);
	else if (topic && strcmp(topic, "guide") == 0 && first + 2 >= argc)
		rc = tell_chapter(&out, argv[first + 1], format, &err);
	else if (first + 1 < argc)
		rc = error_set(&err, RC_CONFIG, "found two topics, expected one");
	else if (!topic)
		rc = tell_all(&out, format, &err);
	else if (strcmp(topic, "job") == 0)
		rc = tell_job(&out, format, &err);
	else
		rc = tell_topic(&out, topic, format, &err);
	int status = rc ? command_fail(argv[0], &err) : command_print(argv[0], &out);
	buf_release(&out);
	return status;
}
