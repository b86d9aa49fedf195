/*
 * help.h - the help of commands, manual pages and completions (inside this folder only)
 *
 * All texts come from struct command (cmd.h) and the table of options (options.h).
 */
#ifndef SALTMILL_CMD_HELP_H
#define SALTMILL_CMD_HELP_H

#include "cmd.h"

struct cli_option;

/* Append the page of `saltmill --help` (help_overview) or of `saltmill NAME --help`. */
void help_overview(struct buf *out);
void help_command(struct buf *out, const struct command *c);
void help_print(const struct command *c);

#define HELP_TITLE "bulk loader for HBase: events in, sorted HFiles and a create-table script out"
extern const char help_statuses[]; /* exit statuses of all commands */

/* Append the page up to the options. */
void help_body(struct buf *out, const struct command *c);
/* Return the definition of the i-th term that the page contains, or NULL after the last term. */
const char *help_term(const struct command *c, size_t i);
/* Append the help of an option and its default. */
void help_sentence(struct buf *out, const struct cli_option *o);
/* Append "-o, --output DIR". */
void help_form_of(struct buf *out, const struct cli_option *o);

/* Append the manual pages saltmill(1) and saltmill-NAME(1) (manual.c). */
void manual_overview(struct buf *out);
void manual_command(struct buf *out, const struct command *c);

/*
 * Append scripts that complete commands, options, their values, and topics of help (completions.c).
 */
void complete_bash(struct buf *out);
void complete_zsh(struct buf *out);
void complete_fish(struct buf *out);

#endif
