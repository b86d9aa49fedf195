/*
 * cmd.h - the commands, and functions that print
 *
 * A command gets struct arguments and returns the exit status (commands.h). Only this
 * folder prints.
 */
#ifndef SALTMILL_CMD_H
#define SALTMILL_CMD_H

#include <stdbool.h>
#include <stdint.h>

#include "bytes.h"
#include "cli/commands.h"
#include "error.h"
#include "job.h"
#include "pass.h"
#include "run.h"

struct arguments;

#define COMMAND_EXAMPLES 2

struct operand_words {
	const char *form;     /* "FILE..."; NULL ends a list */
	const char *sentence; /* meaning of the operand */
};

/* A command and its help page. The file that implements a command defines it at its end. */
struct command {
	const char *name;
	const char *usage;    /* "JOB [FILE...] -o DIR [options]" */
	const char *summary;  /* one line */
	unsigned least, most; /* the smallest and the largest number of operands */
	bool reads_here;      /* the operands are on this machine; refuse URIs of others */
	int (*run)(struct arguments *a); /* returns the exit status */
	const char *decides;		 /* help about decisions, at most five lines, or NULL */
	struct operand_words operands[5];
	const char *statuses;			/* "0 done; 1 failed, ..." */
	const char *examples[COMMAND_EXAMPLES]; /* command lines as examples */
};

#define ANY_NUMBER UINT32_MAX /* no limit on the number of operands */

extern const struct command *const commands[]; /* ends with NULL */
/* Return the command of this name, or NULL. */
const struct command *command_find(const char *name);
/* Return the command that a wrong word means, or NULL: a similar name, or `load` for `import`. */
const char *command_meant(const char *word);

/* Exit statuses that several commands share. */
#define STATUS_USAGE   "2 wrong usage or job file, saltmill starts nothing"
#define STATUS_STOPPED "130 or 143 stopped by SIGINT or SIGTERM, saltmill publishes nothing"
#define STATUS_PUBLISHES                                                                           \
	"0 published; 1 failed, and saltmill publishes nothing unless the message "                \
	"reports a publication; " STATUS_USAGE "; "                                                \
	"3 published, with rejected input, or a region above the "                                 \
	"tolerance; " STATUS_STOPPED

/*
 * Print "saltmill NAME: sentence" to standard error. This function and the functions below escape
 * their text with text_lines.
 */
void command_say(const char *name, const char *fmt, ...) ERROR_FORMAT(2, 3);
/*
 * Return a listener that prints each sentence as command_say() does. The listener borrows `name`.
 */
struct listener command_listener(const char *name);
/*
 * Print "saltmill NAME: message" to standard error. Returns the exit status for err->code. With
 * --json, keep the first failure instead. command_ends then prints the failure as an object
 * (failure_report.h).
 */
int command_fail(const char *name, const struct error *err);
/* Print a wrong command line as command_fail() prints an error. Returns EXIT_USAGE. */
int command_misused(const char *name, const char *fmt, ...) ERROR_FORMAT(2, 3);
/* Print later failures as JSON, because of --json. */
void command_failures_as_json(void);
/* End the command of this name with this status. Prints the failure that command_fail kept. */
void command_ends(const char *name, int status);
/* Print each of the lines to standard error, with "saltmill NAME: " before the line. */
void command_warn(const char *name, const struct buf *lines);
/* Print a warning for each of the `n` tables that lacks `framing:` (report_framing). */
void command_warn_framing(const char *name, const struct job_table *tables, size_t n);
/* Print the findings of lint_job that every load reports. lint_job explains `live`. */
void command_warn_design(const char *name, const struct job *job,
			 const struct existing_regions *live);
/* Print how many bad events the command ignored. */
void command_left_out(const char *name, uint64_t bad, uint64_t events);
/*
 * Write the result to standard output. Returns EXIT_DONE. If the write fails, prints the error and
 * returns EXIT_FAILED.
 */
int command_show(const char *name, const struct buf *text);
/*
 * Append to standard output. On a terminal, bytes that could control the terminal become \xHH. In a
 * file or a pipe, every byte stays.
 */
bool command_write(struct bytes text);
/*
 * Write the result as command_show does, but escape bytes only for a terminal. Use this function
 * for JSON, scripts and values.
 */
int command_print(const char *name, const struct buf *text);
/* Print the report of a load, which is published as `dir` also if the write fails. */
int command_print_load(const char *name, const struct buf *text, bool json, const char *dir);

#endif
