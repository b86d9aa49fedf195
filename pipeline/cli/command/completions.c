/* completions.c - scripts that complete command lines in bash, zsh and fish */
#include <string.h>

#include "guide.h"
#include "help.h"
#include "options.h"
#include "cli/reference.h"

static void append_commands(struct buf *out)
{
	for (const struct command *const *c = commands; *c; c++)
		buf_printf(out, "%s%s", c == commands ? "" : " ", (*c)->name);
}

static void append_topics(struct buf *out)
{
	struct buf keys = {0};

	append_commands(out);
	buf_append_str(out, " job guide schema");
	reference_names(&keys);
	for (size_t i = 0; i < keys.len; i++)
		keys.ptr[i] = keys.ptr[i] == '\n' ? ' ' : keys.ptr[i];
	buf_printf(out, " %.*s", (int)keys.len - 1, (const char *)keys.ptr);
	buf_release(&keys);
}

static void append_chapters(struct buf *out)
{
	for (size_t i = 0; guide_name(i); i++)
		buf_printf(out, "%s%s", i ? " " : "", guide_name(i));
}

static void append_choices(struct buf *out, const struct cli_option *o)
{
	for (const struct option_choice *c = o->choices; c->name; c++)
		buf_printf(out, "%s%s", c == o->choices ? "" : " ", c->name);
}

/* Appends the help of an option, with a backslash before each character that is in `escape`. */
static void append_quoted(struct buf *out, const struct cli_option *o, const char *escape,
			  const char *quote)
{
	struct buf words = {0};

	if (o->help)
		help_sentence(&words, o);
	else
		buf_printf(&words, "print the %s", o->name);
	for (size_t i = 0; i < words.len; i++) {
		if (words.ptr[i] == '\'')
			buf_append_str(out, quote);
		else
			buf_printf(out, strchr(escape, words.ptr[i]) ? "\\%c" : "%c", words.ptr[i]);
	}
	buf_release(&words);
}

/* --- bash --- */

static const char bash_begin[] =
	"# bash completion of saltmill; made by `saltmill help --format bash`\n"
	"_saltmill_tables() {\n"
	"\tlocal job\n"
	"\tfor job in \"${COMP_WORDS[@]:2}\"; do\n"
	"\t\tcase $job in *.yaml | *.yml) \"${COMP_WORDS[0]}\" help --tables \"$job\" "
	"2>/dev/null; return ;; esac\n"
	"\tdone\n"
	"}\n"
	"_saltmill() {\n"
	"\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} options=\n"
	"\t[ \"$word\" = = ] && word=\n"
	"\t[ \"$before\" = = ] && before=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"\tif [ \"$COMP_CWORD\" = 1 ]; then\n"
	"\t\tCOMPREPLY=($(compgen -W '";

static void bash_value(struct buf *out, const struct command *c, const struct cli_option *o)
{
	static const char *const actions[] = {[OPTION_FILE] = "-f",
					      [OPTION_FOLDER] = "-d",
					      [OPTION_HOST] = "-A hostname",
					      [OPTION_TABLE] = "-W \"$(_saltmill_tables)\""};
	enum option_kind kind = option_kind(o);

	if (kind == OPTION_FLAG || kind == OPTION_OTHER)
		return;
	buf_printf(out, "\t'%s %s'", c->name, option_name(o).text);
	if (o->name && o->letter)
		buf_printf(out, " | '%s -%c'", c->name, o->letter);
	buf_append_str(out, ") COMPREPLY=($(compgen ");
	if (kind == OPTION_CHOICES) {
		buf_append_str(out, "-W '");
		append_choices(out, o);
		buf_append_str(out, "'");
	} else {
		buf_append_str(out, actions[kind]);
	}
	buf_append_str(out, " -- \"$word\")); return ;;\n");
}

static void bash_options(struct buf *out, const struct command *c)
{
	struct option_place at = {0};
	const struct cli_option *o;

	buf_printf(out, "\t%s) options='", c->name);
	while ((o = option_next(&at, c, true))) {
		if (o->name)
			buf_printf(out, " --%s", o->name);
		if (o->letter)
			buf_printf(out, " -%c", o->letter);
	}
	buf_append_str(out, "' ;;\n");
}

void complete_bash(struct buf *out)
{
	const struct cli_option *o;

	buf_append_str(out, bash_begin);
	append_commands(out);
	buf_append_str(out, "' -- \"$word\"))\n\t\treturn\n\tfi\n"
			    "\tcase \"${COMP_WORDS[1]} $before\" in\n");
	for (const struct command *const *c = commands; *c; c++)
		for (struct option_place at = {0}; (o = option_next(&at, *c, true));)
			bash_value(out, *c, o);
	buf_append_str(out, "\tesac\n\tcase ${COMP_WORDS[1]} in\n");
	for (const struct command *const *c = commands; *c; c++)
		bash_options(out, *c);
	buf_append_str(out, "\tesac\n\tif [ \"${word#-}\" != \"$word\" ]; then\n"
			    "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
			    "\telif [ \"$COMP_CWORD ${COMP_WORDS[*]:1:2}\" = \"3 help guide\" ]; "
			    "then\n\t\tCOMPREPLY=($(compgen -W '");
	append_chapters(out);
	buf_append_str(out, "' -- \"$word\"))\n"
			    "\telif [ \"${COMP_WORDS[1]}\" = help ]; then\n"
			    "\t\tCOMPREPLY=($(compgen -W '");
	append_topics(out);
	buf_append_str(out, "' -- \"$word\"))\n\telse\n"
			    "\t\tCOMPREPLY=($(compgen -f -- \"$word\"))\n\tfi\n}\n"
			    "complete -o filenames -F _saltmill saltmill\n");
}

/* --- zsh --- */

static void zsh_value(struct buf *out, const struct cli_option *o)
{
	static const char *const actions[] = {[OPTION_FLAG] = "",
					      [OPTION_OTHER] = ":value: ",
					      [OPTION_CHOICES] = ":value:(",
					      [OPTION_FILE] = ":file:_files",
					      [OPTION_FOLDER] = ":folder:_files -/",
					      [OPTION_HOST] = ":host:_hosts",
					      [OPTION_TABLE] = ":table:_saltmill_tables"};

	buf_append_str(out, actions[option_kind(o)]);
	if (o->choices) {
		append_choices(out, o);
		buf_append_str(out, ")");
	}
}

static void zsh_form(struct buf *out, const char *name, const struct cli_option *o)
{
	bool optional = o->argument && strncmp(o->argument, "[=", 2) == 0;

	buf_printf(out, " \\\n\t\t\t'%s%s[", name, optional ? "=-" : "");
	append_quoted(out, o, "[]:\\", "'\\''");
	buf_append_str(out, optional ? "]:" : "]");
	zsh_value(out, o);
	buf_append_str(out, "'");
}

static void zsh_options(struct buf *out, const struct command *c)
{
	struct option_place at = {0};
	const struct cli_option *o;

	while ((o = option_next(&at, c, true))) {
		char letter[3] = {'-', o->letter};

		if (o->name)
			zsh_form(out, option_name(o).text, o);
		if (o->letter)
			zsh_form(out, letter, o);
	}
}

void complete_zsh(struct buf *out)
{
	buf_append_str(out,
		       "#compdef saltmill\n# made by `saltmill help --format zsh`\n"
		       "_saltmill_tables() {\n\tlocal job\n"
		       "\tfor job in ${words[3,-1]}; do\n"
		       "\t\t[[ $job == *.(yaml|yml) ]] || continue\n"
		       "\t\tcompadd -- ${(f)\"$(${words[1]} help --tables $job 2>/dev/null)\"}\n"
		       "\t\treturn\n\tdone\n}\n"
		       "_saltmill() {\n\tlocal -a commands topics chapters\n\tcommands=(");
	for (const struct command *const *c = commands; *c; c++) {
		const struct cli_option summary = {.help = (*c)->summary};

		buf_printf(out, "\n\t\t'%s:", (*c)->name);
		append_quoted(out, &summary, ":\\", "'\\''");
		buf_append_str(out, "'");
	}
	buf_append_str(out, ")\n\ttopics=(");
	append_topics(out);
	buf_append_str(out, ")\n\tchapters=(");
	append_chapters(out);
	buf_append_str(out, ")\n\tif (( CURRENT == 2 )); then\n"
			    "\t\t_describe command commands\n\t\treturn\n\tfi\n"
			    "\tcase ${words[2]} in\n");
	for (const struct command *const *c = commands; *c; c++) {
		bool help = strcmp((*c)->name, "help") == 0;

		buf_printf(out, "\t%s)\n\t\t_arguments", (*c)->name);
		zsh_options(out, *c);
		buf_printf(out, " \\\n\t\t\t%s ;;\n",
			   help ? "'1:command:' '2:topic:($topics)' '3:chapter:($chapters)'"
				: "'*:file:_files'");
	}
	buf_append_str(out, "\tesac\n}\n_saltmill \"$@\"\n");
}

/* --- fish --- */

static void fish_value(struct buf *out, const struct cli_option *o)
{
	static const char *const actions[] = {
		[OPTION_FLAG] = "",
		[OPTION_OTHER] = " -x",
		[OPTION_CHOICES] = " -x -a '",
		[OPTION_FILE] = " -r -F",
		[OPTION_FOLDER] = " -x -a '(__fish_complete_directories (commandline -ct))'",
		[OPTION_HOST] = " -x -a '(__fish_print_hostnames)'",
		[OPTION_TABLE] = " -x -a '(__saltmill_tables)'"};

	buf_append_str(out, actions[option_kind(o)]);
	if (o->choices) {
		append_choices(out, o);
		buf_append_str(out, "'");
	}
}

static void fish_options(struct buf *out, const struct command *c)
{
	struct option_place at = {0};
	const struct cli_option *o;

	while ((o = option_next(&at, c, true))) {
		buf_printf(out, "complete -c saltmill -n '__fish_seen_subcommand_from %s'",
			   c->name);
		if (o->letter)
			buf_printf(out, " -s %c", o->letter);
		if (o->name)
			buf_printf(out, " -l %s", o->name);
		fish_value(out, o);
		buf_append_str(out, " -d '");
		append_quoted(out, o, "\\", "\\'");
		buf_append_str(out, "'\n");
	}
}

void complete_fish(struct buf *out)
{
	buf_append_str(out, "# made by `saltmill help --format fish`\n"
			    "function __saltmill_tables\n"
			    "\tset -l words (commandline -opc)\n"
			    "\tfor job in (string match -r '.*\\.ya?ml$' -- $words)\n"
			    "\t\t$words[1] help --tables $job 2>/dev/null\n"
			    "\t\treturn\n\tend\nend\n");
	for (const struct command *const *c = commands; *c; c++) {
		const struct cli_option summary = {.help = (*c)->summary};

		buf_printf(out, "complete -c saltmill -f -n __fish_use_subcommand -a %s -d '",
			   (*c)->name);
		append_quoted(out, &summary, "\\", "\\'");
		buf_append_str(out, "'\n");
		fish_options(out, *c);
	}
	buf_append_str(out, "complete -c saltmill -f -n '__fish_seen_subcommand_from help' -a '");
	append_topics(out);
	buf_append_str(out, "'\n"
			    "complete -c saltmill -f -n '__fish_seen_subcommand_from help; and "
			    "__fish_seen_subcommand_from guide' -a '");
	append_chapters(out);
	buf_append_str(out, "'\n");
}
