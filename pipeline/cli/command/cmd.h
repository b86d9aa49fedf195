/*
 * cmd.h - the commands, and how they print
 *
 * A command takes struct arguments and returns the exit status (commands.h).  Only files of this
 * room print.
 */
#ifndef SALTMILL_CMD_H
#define SALTMILL_CMD_H

#include <stdbool.h>
#include <stdint.h>

#include "bytes.h"
#include "cli/commands.h"
#include "error.h"
#include "job.h"
#include "run.h"

struct arguments;

#define COMMAND_EXAMPLES 2

struct operand_words {
	const char *form;     /* "FILE..."; NULL ends a list */
	const char *sentence; /* what it is */
};

/* A command and its page.  Each is defined at the end of the file that implements it. */
struct command {
	const char *name;
	const char *usage;		 /* "JOB [FILE...] -o DIR [options]" */
	const char *summary;		 /* one line */
	unsigned least, most;		 /* operands */
	int (*run)(struct arguments *a); /* returns the exit status */
	const char *decides;		 /* how it decides, in five lines of help; NULL */
	struct operand_words operands[5];
	const char *statuses;			/* "0 done; 1 failed, ..." */
	const char *examples[COMMAND_EXAMPLES]; /* command lines */
};

#define ANY_NUMBER UINT32_MAX /* of operands */

extern const struct command *const commands[]; /* ends with NULL */
/* NULL: there is none of that name. */
const struct command *command_find(const char *name);

/* The exit statuses that several commands share. */
#define STATUS_USAGE   "2 wrong usage or job file, nothing was started"
#define STATUS_STOPPED "130 or 143 stopped by SIGINT or SIGTERM, nothing is published"
#define STATUS_PUBLISHES                                                                           \
	"0 published; 1 failed: nothing is published unless the message says so; " STATUS_USAGE    \
	"; "                                                                                       \
	"3 published, but some input was rejected or a promise about sizes is not "                \
	"kept; " STATUS_STOPPED

/* Print "saltmill NAME: sentence" to standard error.  All functions below escape by text_lines. */
void command_say(const char *name, const char *fmt, ...) ERROR_FORMAT(2, 3);
/* Prints each sentence as command_say() does; name stays the caller's. */
struct listener command_listener(const char *name);
/*
 * Print "saltmill NAME: message" to standard error; returns the exit status for err->code.  With
 * --json it keeps the first failure, which command_ends prints as an object (failure_report.h).
 */
int command_fail(const char *name, const struct error *err);
/* The same for a wrong command line; returns EXIT_USAGE. */
int command_misused(const char *name, const char *fmt, ...) ERROR_FORMAT(2, 3);
/* Print failures as JSON: --json was given. */
void command_failures_as_json(void);
/* The command of that name ends with this status: print the failure that was kept. */
void command_ends(const char *name, int status);
/* Print each line to standard error after "saltmill NAME: ". */
void command_warn(const char *name, const struct buf *lines);
/* Print a warning for each of n tables that does not say who reads it (report_framing). */
void command_warn_framing(const char *name, const struct job_table *tables, size_t n);
/* Print how many bad events were ignored. */
void command_left_out(const char *name, uint64_t bad, uint64_t events);
/* Write the result to standard output; returns EXIT_DONE, or EXIT_FAILED after printing why. */
int command_show(const char *name, const struct buf *text);
/* The same without escaping, for JSON and scripts, which contain no control characters. */
int command_print(const char *name, const struct buf *text);

#endif
