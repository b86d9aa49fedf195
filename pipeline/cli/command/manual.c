/* manual.c - the commands' help as manual pages and completions (manual.h) */
#include "manual.h"

#include <stdio.h>
#include <string.h>

#include "command_words.h"
#include "guide.h"
#include "mem.h"
#include "cli/reference.h"

/* One entry of a help text: "  -o, --output DIR        where it appears" and the lines below it
 * that stand deeper; words without a term are a note. */
struct entry {
	struct bytes term;
	struct buf words; /* one line */
};

static struct bytes trimmed(struct bytes s)
{
	while (s.len && s.ptr[0] == ' ')
		s.ptr++, s.len--;
	while (s.len && s.ptr[s.len - 1] == ' ')
		s.len--;
	return s;
}

static size_t indent_of(struct bytes line)
{
	size_t n = 0;

	while (n < line.len && line.ptr[n] == ' ')
		n++;
	return n;
}

static struct bytes take_line(const char **at)
{
	const char *end = strchr(*at, '\n');
	struct bytes line = bytes_of(*at, end ? (size_t)(end - *at) : strlen(*at));

	*at += line.len + (end != NULL);
	return line;
}

/* Where a line's words begin: behind two blanks, or its column; line.len: there are none. */
static size_t words_at(struct bytes line)
{
	for (size_t i = 2; i + 1 < line.len; i++)
		if (line.ptr[i] == ' ' && line.ptr[i + 1] == ' ')
			return i;
	if (line.len > HELP_COLUMN && line.ptr[HELP_COLUMN - 1] == ' ')
		return HELP_COLUMN;
	return line.len;
}

/* The next entry of *at; false behind the last.  Its words are the caller's to release. */
static bool next_entry(const char **at, struct entry *e)
{
	*e = (struct entry){0};
	if (!**at)
		return false;
	struct bytes line = take_line(at);
	bool option = line.len > 2 && line.ptr[2] == '-';
	size_t words = words_at(line);
	if (words == line.len && !option) {
		buf_append(&e->words, trimmed(line).ptr, trimmed(line).len);
		return true;
	}
	e->term = trimmed(bytes_of(line.ptr, words));
	struct bytes rest = trimmed(bytes_of(line.ptr + words, line.len - words));
	buf_append(&e->words, rest.ptr, rest.len);
	for (;;) {
		const char *before = *at;
		struct bytes more = **at ? take_line(at) : (struct bytes){0};

		if (!more.len || indent_of(more) < HELP_COLUMN) {
			*at = before;
			return true;
		}
		more = trimmed(more);
		buf_printf(&e->words, "%s%.*s", e->words.len ? " " : "", (int)more.len,
			   (const char *)more.ptr);
	}
}

/* --- man --- */

static void roff_bytes(struct buf *out, struct bytes s)
{
	char *text = mem_format("%.*s", (int)s.len, (const char *)s.ptr);

	reference_roff(out, text);
	mem_free(text);
}

static void roff_entries(struct buf *out, const char *help)
{
	struct entry e;

	while (next_entry(&help, &e)) {
		if (e.term.len) {
			buf_append_str(out, ".TP\n.B ");
			roff_bytes(out, e.term);
			buf_append_str(out, "\n");
		} else {
			buf_append_str(out, ".PP\n");
		}
		roff_bytes(out, buf_bytes(&e.words));
		buf_append_str(out, "\n");
		buf_release(&e.words);
	}
}

static void roff_line(struct buf *out, const char *before, const char *text, const char *behind)
{
	buf_append_str(out, before);
	reference_roff(out, text);
	buf_append_str(out, behind);
}

static void roff_words(struct buf *out, const struct command_words *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < COMMAND_TERMS && w->terms[i]; i++)
		roff_line(out, i ? ".PP\n" : ".SH TERMS\n", w->terms[i], "");
	roff_line(out, ".SH EXIT STATUS\n", w->statuses, ".\n.SH EXAMPLES\n");
	for (size_t i = 0; i < COMMAND_EXAMPLES; i++)
		roff_line(out, ".nf\n", w->examples[i], "\n.fi\n");
}

void manual_command(struct buf *out, const struct command *c)
{
	char *shared = command_shared_help(c);

	buf_printf(out, ".TH SALTMILL\\-%s 1 \"\" saltmill\n.SH NAME\nsaltmill\\-%s \\- ", c->name,
		   c->name);
	roff_line(out, "", c->summary, "\n.SH SYNOPSIS\n");
	buf_printf(out, ".B saltmill %s\n", c->name);
	roff_line(out, "", c->usage, "\n.SH OPTIONS\n");
	roff_entries(out, c->help);
	roff_entries(out, shared);
	roff_words(out, command_words(c->name));
	buf_append_str(out, ".SH SEE ALSO\n.BR saltmill (1),\n.BR saltmill\\-job (5)\n");
	mem_free(shared);
}

void manual_overview(struct buf *out)
{
	buf_append_str(out, ".TH SALTMILL 1 \"\" saltmill\n.SH NAME\n"
			    "saltmill \\- bulk loader for HBase\n.SH SYNOPSIS\n"
			    ".B saltmill\n.I COMMAND\n[options]\n.SH DESCRIPTION\n");
	reference_roff(out, COMMANDS_TITLE);
	buf_append_str(out, ".\n.SH COMMANDS\n");
	for (const struct command *c = commands; c->name; c++) {
		buf_printf(out, ".TP\n.B %s ", c->name);
		roff_line(out, "", c->usage, "\n");
		roff_line(out, "", c->summary, ".\n");
	}
	buf_append_str(out, ".SH EXIT STATUS\n");
	reference_roff(out, commands_status);
	buf_append_str(out, "\n.SH SEE ALSO\n.BR saltmill\\-job (5)");
	for (size_t i = 0; guide_name(i); i++) {
		buf_append_str(out, ",\n.BR saltmill\\-");
		reference_roff(out, guide_name(i));
		buf_append_str(out, " (7)");
	}
	for (const struct command *c = commands; c->name; c++)
		buf_printf(out, ",\n.BR saltmill\\-%s (1)", c->name);
	buf_append_str(out, "\n");
}

/* --- completions --- */

/* Call see() with each --option of a command, its short form or 0, whether a value follows, and
 * what it is for. */
struct option_words {
	char name[40], letter;
	bool value;
	struct bytes words;
};

static bool take_option(struct bytes term, struct option_words *o)
{
	char text[256];

	snprintf(text, sizeof text, "%.*s", (int)term.len, (const char *)term.ptr);
	const char *dashes = strstr(text, "--");
	if (text[0] != '-')
		return false;
	*o = (struct option_words){.letter = text[1] != '-' ? text[1] : 0};
	if (!dashes)
		return o->letter;
	size_t len = strspn(dashes + 2, "abcdefghijklmnopqrstuvwxyz-");
	snprintf(o->name, sizeof o->name, "%.*s", (int)len, dashes + 2);
	o->value = dashes[2 + len] == ' ';
	return true;
}

/* "--start KEY, --stop KEY" and "--name PATH --bytes N" are two terms, "-o, --output DIR" is one.
 */
static struct bytes first_term(struct bytes *rest)
{
	struct bytes all = *rest;
	size_t from = all.len > 4 && all.ptr[2] == ',' ? 4 : 0; /* behind "-o, " */

	for (size_t i = from; i + 1 < all.len; i++)
		if (all.ptr[i] == ' ' && all.ptr[i + 1] == '-') {
			*rest = bytes_of(all.ptr + i + 1, all.len - i - 1);
			return bytes_of(all.ptr, i);
		}
	*rest = bytes_of(all.ptr + all.len, 0);
	return all;
}

static void each_option(const char *help, void (*see)(void *ctx, const struct option_words *o),
			void *ctx)
{
	struct entry e;
	struct option_words o;

	while (next_entry(&help, &e)) {
		struct bytes rest = e.term;

		while (rest.len) {
			if (!take_option(first_term(&rest), &o))
				continue;
			o.words = buf_bytes(&e.words);
			see(ctx, &o);
		}
		buf_release(&e.words);
	}
}

static void each_option_of(const struct command *c,
			   void (*see)(void *ctx, const struct option_words *o), void *ctx)
{
	char *shared = command_shared_help(c);

	each_option(c->help, see, ctx);
	each_option(shared, see, ctx);
	mem_free(shared);
}

static void append_word(void *out, const struct option_words *o)
{
	if (o->name[0])
		buf_printf(out, " --%s", o->name);
	if (o->letter)
		buf_printf(out, " -%c", o->letter);
}

static void append_topics(struct buf *out, char between)
{
	struct buf names = {0};

	buf_printf(out, "job%cguide%cschema", between, between);
	for (const struct command *c = commands; c->name; c++)
		buf_printf(out, "%c%s", between, c->name);
	reference_names(&names);
	for (size_t i = 0; i + 1 < names.len; i++)
		if (i == 0 || names.ptr[i - 1] == '\n') {
			size_t len = strcspn((const char *)names.ptr + i, "\n");

			buf_printf(out, "%c%.*s", between, (int)len, (const char *)names.ptr + i);
		}
	buf_release(&names);
}

static void append_chapters(struct buf *out)
{
	for (size_t i = 0; guide_name(i); i++)
		buf_printf(out, "%s%s", i ? " " : "", guide_name(i));
}

void manual_bash(struct buf *out)
{
	buf_append_str(out, "# bash completion of saltmill; made by `saltmill help --format "
			    "bash`\n_saltmill() {\n"
			    "\tlocal word=${COMP_WORDS[COMP_CWORD]} options=\n"
			    "\tif [ \"$COMP_CWORD\" = 1 ]; then\n"
			    "\t\tCOMPREPLY=($(compgen -W '");
	for (const struct command *c = commands; c->name; c++)
		buf_printf(out, "%s%s", c == commands ? "" : " ", c->name);
	buf_append_str(out, "' -- \"$word\"))\n\t\treturn\n\tfi\n\tcase ${COMP_WORDS[1]} in\n");
	for (const struct command *c = commands; c->name; c++) {
		buf_printf(out, "\t%s) options='", c->name);
		each_option_of(c, append_word, out);
		buf_append_str(out, "' ;;\n");
	}
	buf_append_str(out, "\tesac\n\tif [ \"${word#-}\" != \"$word\" ]; then\n"
			    "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
			    "\telif [ \"$COMP_CWORD ${COMP_WORDS[*]:1:2}\" = \"3 help guide\" ]; "
			    "then\n\t\tCOMPREPLY=($(compgen -W '");
	append_chapters(out);
	buf_append_str(out, "' -- \"$word\"))\n"
			    "\telif [ \"${COMP_WORDS[1]}\" = help ]; then\n"
			    "\t\tCOMPREPLY=($(compgen -W '");
	append_topics(out, ' ');
	buf_append_str(out, "' -- \"$word\"))\n\telse\n"
			    "\t\tCOMPREPLY=($(compgen -f -- \"$word\"))\n\tfi\n}\n"
			    "complete -o filenames -F _saltmill saltmill\n");
}

/* In single quotes of zsh's _arguments and of fish. */
static void append_quoted(struct buf *out, struct bytes words, const char *escape)
{
	for (size_t i = 0; i < words.len; i++) {
		if (words.ptr[i] == '\'')
			buf_append_str(out, "'\\''");
		else if (strchr(escape, words.ptr[i]))
			buf_printf(out, "\\%c", words.ptr[i]);
		else
			buf_append(out, &words.ptr[i], 1);
	}
}

static void append_zsh_form(struct buf *out, const char *name, const struct option_words *o)
{
	buf_printf(out, " \\\n\t\t\t'%s[", name);
	append_quoted(out, o->words, "[]:\\");
	buf_printf(out, "]%s'", o->value ? ":value:_files" : "");
}

static void append_zsh(void *out, const struct option_words *o)
{
	char name[48];

	snprintf(name, sizeof name, "--%s", o->name);
	if (o->name[0])
		append_zsh_form(out, name, o);
	snprintf(name, sizeof name, "-%c", o->letter);
	if (o->letter)
		append_zsh_form(out, name, o);
}

void manual_zsh(struct buf *out)
{
	buf_append_str(out, "#compdef saltmill\n# made by `saltmill help --format zsh`\n"
			    "_saltmill() {\n\tlocal -a commands topics chapters\n\tcommands=(");
	for (const struct command *c = commands; c->name; c++) {
		buf_printf(out, "\n\t\t'%s:", c->name);
		append_quoted(out, bytes_str(c->summary), ":\\");
		buf_append_str(out, "'");
	}
	buf_append_str(out, ")\n\ttopics=(");
	append_topics(out, ' ');
	buf_append_str(out, ")\n\tchapters=(");
	append_chapters(out);
	buf_append_str(out, ")\n\tif (( CURRENT == 2 )); then\n"
			    "\t\t_describe command commands\n\t\treturn\n\tfi\n"
			    "\tcase ${words[2]} in\n");
	for (const struct command *c = commands; c->name; c++) {
		bool help = strcmp(c->name, "help") == 0;

		buf_printf(out, "\t%s)\n\t\t_arguments", c->name);
		each_option_of(c, append_zsh, out);
		buf_printf(out, " \\\n\t\t\t%s ;;\n",
			   help ? "'1:command:' '2:topic:($topics)' '3:chapter:($chapters)'"
				: "'*:file:_files'");
	}
	buf_append_str(out, "\tesac\n}\n_saltmill \"$@\"\n");
}

struct fish {
	struct buf *out;
	const char *command;
};

static void append_fish(void *ctx, const struct option_words *o)
{
	const struct fish *f = ctx;

	buf_printf(f->out, "complete -c saltmill -n '__fish_seen_subcommand_from %s'", f->command);
	if (o->letter)
		buf_printf(f->out, " -s %c", o->letter);
	if (o->name[0])
		buf_printf(f->out, " -l %s", o->name);
	buf_printf(f->out, "%s -d '", o->value ? " -r" : "");
	struct bytes words = o->words;
	for (size_t i = 0; i < words.len; i++)
		if (strchr("'\\", words.ptr[i]))
			buf_printf(f->out, "\\%c", words.ptr[i]);
		else
			buf_append(f->out, &words.ptr[i], 1);
	buf_append_str(f->out, "'\n");
}

void manual_fish(struct buf *out)
{
	buf_append_str(out, "# made by `saltmill help --format fish`\n");
	for (const struct command *c = commands; c->name; c++) {
		buf_printf(out, "complete -c saltmill -f -n __fish_use_subcommand -a %s -d \"",
			   c->name);
		for (const char *p = c->summary; *p; p++)
			buf_printf(out, strchr("\"\\$", *p) ? "\\%c" : "%c", *p);
		buf_append_str(out, "\"\n");
		struct fish f = {out, c->name};
		each_option_of(c, append_fish, &f);
	}
	buf_append_str(out, "complete -c saltmill -f -n '__fish_seen_subcommand_from help' -a '");
	append_topics(out, ' ');
	buf_append_str(out, "'\n"
			    "complete -c saltmill -f -n '__fish_seen_subcommand_from help; and "
			    "__fish_seen_subcommand_from guide' -a '");
	append_chapters(out);
	buf_append_str(out, "'\n");
}
