/* manual.c - prints the help of commands as manual pages */
#include <string.h>

#include "guide.h"
#include "help.h"
#include "mem.h"
#include "options.h"
#include "cli/reference.h"

static void roff_line(struct buf *out, const char *before, const char *text, const char *after)
{
	buf_append_str(out, before);
	reference_roff(out, text);
	buf_append_str(out, after);
}

static void roff_entry(struct buf *out, const char *term, const char *text)
{
	roff_line(out, ".TP\n.B ", term, "\n");
	roff_line(out, "", text, "\n");
}

static void roff_options(struct buf *out, const struct command *c)
{
	struct option_place at = {0};
	const struct cli_option *o;

	while ((o = option_next(&at, c, true)) && o->help) {
		struct buf term = {0}, text = {0};

		help_form_of(&term, o);
		buf_put(&term, 0);
		help_sentence(&text, o);
		buf_put(&text, 0);
		roff_entry(out, (const char *)term.ptr, (const char *)text.ptr);
		buf_release(&term);
		buf_release(&text);
	}
	roff_entry(out, "--help, --version", "print this help; print the version");
}

void manual_command(struct buf *out, const struct command *c)
{
	const char *term;

	buf_printf(out, ".TH SALTMILL\\-%s 1 \"\" saltmill\n.SH NAME\nsaltmill\\-%s \\- ", c->name,
		   c->name);
	roff_line(out, "", c->summary, "\n.SH SYNOPSIS\n");
	buf_printf(out, ".B saltmill %s\n", c->name);
	roff_line(out, "", c->usage, "\n");
	if (c->decides)
		roff_line(out, ".SH HOW IT DECIDES\n", c->decides, "\n");
	buf_append_str(out, ".SH OPTIONS\n");
	for (const struct operand_words *w = c->operands; w->form; w++)
		roff_entry(out, w->form, w->sentence);
	roff_options(out, c);
	for (size_t i = 0; (term = help_term(c, i)); i++)
		roff_line(out, i ? ".PP\n" : ".SH TERMS\n", term, "\n");
	roff_line(out, ".SH EXIT STATUS\n", c->statuses, ".\n.SH EXAMPLES\n");
	for (size_t i = 0; i < COMMAND_EXAMPLES; i++)
		roff_line(out, ".nf\n", c->examples[i], "\n.fi\n");
	buf_append_str(out, ".SH SEE ALSO\n.BR saltmill (1),\n.BR saltmill\\-job (5)\n");
}

void manual_overview(struct buf *out)
{
	buf_append_str(out, ".TH SALTMILL 1 \"\" saltmill\n.SH NAME\n"
			    "saltmill \\- bulk loader for HBase\n.SH SYNOPSIS\n"
			    ".B saltmill\n.I COMMAND\n[options]\n.SH DESCRIPTION\n");
	roff_line(out, "", HELP_TITLE, ".\n.SH COMMANDS\n");
	for (const struct command *const *c = commands; *c; c++) {
		buf_printf(out, ".TP\n.B %s ", (*c)->name);
		roff_line(out, "", (*c)->usage, "\n");
		roff_line(out, "", (*c)->summary, ".\n");
	}
	roff_line(out, ".SH EXIT STATUS\n", help_statuses,
		  ".\n.SH SEE ALSO\n.BR saltmill\\-job (5)");
	for (size_t i = 0; guide_name(i); i++)
		roff_line(out, ",\n.BR saltmill\\-", guide_name(i), " (7)");
	for (const struct command *const *c = commands; *c; c++)
		buf_printf(out, ",\n.BR saltmill\\-%s (1)", (*c)->name);
	buf_append_str(out, "\n");
}
