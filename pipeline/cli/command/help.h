/*
 * help.h - the help of commands, as pages for a terminal, for man and for completions (inside this
 * room only)
 *
 * Everything comes from struct command (cmd.h) and the table of options (options.h).
 */
#ifndef SALTMILL_CMD_HELP_H
#define SALTMILL_CMD_HELP_H

#include "cmd.h"

struct cli_option;

/* What `saltmill --help` prints, and what `saltmill NAME --help` prints. */
void help_overview(struct buf *out);
void help_command(struct buf *out, const struct command *c);
void help_print(const struct command *c);

#define HELP_TITLE "bulk loader for HBase: events in, sorted HFiles and a create-table script out"
extern const char help_statuses[]; /* the exit statuses of all commands */

/* The page up to the options. */
void help_body(struct buf *out, const struct command *c);
/* The definition of the i-th term that the page contains; NULL after the last. */
const char *help_term(const struct command *c, size_t i);
/* Append the sentence of an option and its default. */
void help_sentence(struct buf *out, const struct cli_option *o);
/* Append "-o, --output DIR". */
void help_form_of(struct buf *out, const struct cli_option *o);

/* manual.c: saltmill(1) and saltmill-NAME(1). */
void manual_overview(struct buf *out);
void manual_command(struct buf *out, const struct command *c);

/* completions.c: scripts that complete commands, options, their values, and topics of help. */
void complete_bash(struct buf *out);
void complete_zsh(struct buf *out);
void complete_fish(struct buf *out);

#endif
