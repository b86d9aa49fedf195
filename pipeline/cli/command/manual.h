/*
 * manual.h - the commands' help as manual pages and completions
 *
 * What --help prints is the one source: its lines are taken apart here.
 */
#ifndef SALTMILL_MANUAL_H
#define SALTMILL_MANUAL_H

#include "cmd.h"

/* saltmill(1); of one command saltmill-NAME(1). */
void manual_overview(struct buf *out);
void manual_command(struct buf *out, const struct command *c);

/* Scripts that complete commands, options and, behind `help`, the job file's keys. */
void manual_bash(struct buf *out);
void manual_zsh(struct buf *out);
void manual_fish(struct buf *out);

#endif
