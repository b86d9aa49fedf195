/* help.c - the pages that --help prints */
#include "help.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "mem.h"
#include "options.h"

#define COLUMN 26  /* column where explanations begin; terms begin in column 2 */
#define WIDTH  100 /* characters of a line */

const char help_statuses[] =
	"0 done; 1 failed, saltmill publishes nothing; 2 wrong usage or job file, saltmill "
	"starts nothing; 3 done and published, with rejected input, a parked partition of a "
	"stream, a load that HBase refuses, or a region above the tolerance; 130 or 143 stopped "
	"by SIGINT or SIGTERM, saltmill publishes nothing. `stream` and `apply --follow` run "
	"until such a signal and exit with 0 or 3. If only printing the result failed, the "
	"status is 1 and a message explains this";

/* Definitions of terms. A page that contains one of a term's words ends with its definition. */
static const struct {
	const char *words[4], *definition;
} terms[] = {
	{{"bad", "rejects", "rejected", "reject"},
	 "A bad event cannot become cells, because a value does not match its field or does not "
	 "fit into the row key. saltmill rejects it and reports its place and the reason."},
	{{"filtered"},
	 "A filtered event is an event that saltmill does not load into a table. `where`, `when` "
	 "or `skip_matching` excludes it, or it has none of the table's cells."},
	{{"region", "regions"},
	 "A region is a part of a table with adjacent row keys. One region server serves it. The "
	 "split points are the first row keys of all regions except the first region."},
	{{"duplicates"},
	 "Duplicates are events with the same row key, column and timestamp. HBase returns one of "
	 "them."},
};

static bool has_word(struct bytes text, const char *word)
{
	size_t n = strlen(word);
	const uint8_t *at = text.ptr, *end = text.ptr + text.len;

	for (; (at = memmem(at, (size_t)(end - at), word, n)); at++)
		if (!isalnum(at[-1]) && (at + n == end || !isalnum(at[n])))
			return true;
	return false;
}

const char *help_term(const struct command *c, size_t i)
{
	const char *definition = NULL;
	bool found = false;
	struct buf page = {0};

	help_body(&page, c);
	buf_append_str(&page, c->statuses);
	for (size_t t = 0; !definition && t < sizeof terms / sizeof *terms; t++, found = false) {
		for (size_t w = 0; w < 4 && terms[t].words[w]; w++)
			found |= has_word(buf_bytes(&page), terms[t].words[w]);
		if (found && i-- == 0)
			definition = terms[t].definition;
	}
	buf_release(&page);
	return definition;
}

void help_sentence(struct buf *out, const struct cli_option *o)
{
	buf_append_str(out, o->help);
	if (o->standard && strcmp(o->standard, "0") != 0)
		buf_printf(out, " (default: %s)", o->standard);
}

void help_form_of(struct buf *out, const struct cli_option *o)
{
	struct buf argument = {0};

	if (o->letter && o->name)
		buf_printf(out, "-%c, ", o->letter);
	buf_append_str(out, option_name(o).text);
	option_argument(&argument, o);
	if (argument.len)
		buf_printf(out, "%s%.*s",
			   argument.ptr[0] == '[' && argument.ptr[1] == '=' ? "" : " ",
			   (int)argument.len, (const char *)argument.ptr);
	buf_release(&argument);
}

/* Appends the words of `text`, beginning at a column. Each later line begins in the same column. */
static void put_wrapped(struct buf *out, size_t column, const char *text)
{
	size_t at = column;

	while (*text) {
		size_t n = strcspn(text, " ");

		if (at > column && at + 1 + n > WIDTH) {
			buf_printf(out, "\n%*s", (int)column, "");
			at = column;
		}
		buf_printf(out, "%s%.*s", at > column ? " " : "", (int)n, text);
		at += n + (at > column);
		text += n + (text[n] == ' ');
	}
	buf_put(out, '\n');
}

static void put_entry(struct buf *out, struct bytes term, const char *text)
{
	buf_printf(out, "  %.*s", (int)term.len, (const char *)term.ptr);
	if (term.len + 3 > COLUMN)
		buf_printf(out, "\n%*s", COLUMN, "");
	else
		buf_printf(out, "%*s", (int)(COLUMN - 2 - term.len), "");
	put_wrapped(out, COLUMN, text);
}

static void put_options(struct buf *out, const struct command *c)
{
	struct option_place at = {0};
	const struct cli_option *o;

	while ((o = option_next(&at, c, true)) && o->help) {
		struct buf term = {0}, text = {0};

		help_form_of(&term, o);
		help_sentence(&text, o);
		buf_put(&text, 0);
		put_entry(out, buf_bytes(&term), (const char *)text.ptr);
		buf_release(&term);
		buf_release(&text);
	}
	for (const char *between = "  "; o; o = option_next(&at, c, true), between = ", ")
		buf_printf(out, "%s--%s", between, o->name);
	buf_put(out, '\n');
}

void help_body(struct buf *out, const struct command *c)
{
	buf_printf(out, "usage: saltmill %s %s\n\n%s\n", c->name, c->usage, c->summary);
	if (c->decides) {
		buf_append_str(out, "\nHow it decides:\n  ");
		put_wrapped(out, 2, c->decides);
	}
	buf_put(out, '\n');
	for (const struct operand_words *w = c->operands; w->form; w++)
		put_entry(out, bytes_str(w->form), w->sentence);
	put_options(out, c);
}

/* Appends "Exit status: 0 done; ..." with a full stop. */
static void put_statuses(struct buf *out, const char *statuses)
{
	char *text = mem_format("Exit status: %s.", statuses);

	put_wrapped(out, 0, text);
	mem_free(text);
}

void help_command(struct buf *out, const struct command *c)
{
	const char *term;

	help_body(out, c);
	for (size_t i = 0; (term = help_term(c, i)); i++) {
		buf_append_str(out, i ? "" : "\n");
		put_wrapped(out, 0, term);
	}
	buf_put(out, '\n');
	put_statuses(out, c->statuses);
	buf_append_str(out, "\nExamples:\n");
	for (size_t i = 0; i < COMMAND_EXAMPLES; i++)
		buf_printf(out, "  %s\n", c->examples[i]);
}

static void print(const struct buf *text)
{
	fwrite(text->ptr, 1, text->len, stdout);
}

void help_print(const struct command *c)
{
	struct buf out = {0};

	help_command(&out, c);
	print(&out);
	buf_release(&out);
}

/* Append the title of the group that begins with this command. */
static void put_group(struct buf *out, const char *command)
{
	static const char *const groups[][2] = {
		{"init", "Write and check a job"},     {"load", "Load files"},
		{"stream", "Load from Kafka"},	       {"plan", "Choose regions, create tables"},
		{"apply", "Work with a live HBase"},   {"get", "Read, compare and merge tables"},
		{"inspect", "Check what was written"}, {"help", "Help"}};

	for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
		if (strcmp(groups[i][0], command) == 0)
			buf_printf(out, "\n%s:\n", groups[i][1]);
}

void help_overview(struct buf *out)
{
	buf_append_str(out, "saltmill - " HELP_TITLE "\n");
	for (const struct command *const *c = commands; *c; c++) {
		put_group(out, (*c)->name);
		buf_printf(out, "  saltmill %-8s %s\n      %s\n", (*c)->name, (*c)->usage,
			   (*c)->summary);
	}
	buf_append_str(out, "\n`saltmill COMMAND --help` lists the options of a command.\n"
			    "`saltmill help job` lists the keys of the job file, `saltmill help "
			    "KEY` explains one.\n"
			    "`saltmill help guide` lists the chapters of the guide.\n");
	put_statuses(out, help_statuses);
}
