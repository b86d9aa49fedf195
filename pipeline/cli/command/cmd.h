/*
 * cmd.h - the program's commands and what they share
 *
 * A command takes its own argument vector (argv[0] is its name) and returns the exit status
 * (commands.h).  Only files of this room print results.
 */
#ifndef SALTMILL_CMD_H
#define SALTMILL_CMD_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include "bytes.h"
#include "cli/commands.h"
#include "error.h"
#include "job.h"
#include "run.h"
#include "source.h"

struct command {
	const char *name;
	const char *usage;   /* "JOB [FILE...] -o DIR [options]" */
	const char *summary; /* one line */
	const char *help;    /* what --help prints below usage: the command's own options */
	int (*run)(int argc, char **argv);
	unsigned uses; /* of the shared options, those that do something: USES_* */
};

enum {
	USES_THREADS = 1,
	USES_MEMORY = 2,
	USES_TEMP = 4,
	USES_QUOTA = 8,
	USES_CODE = 16,
	USES_QUIET = 32,
	USES_JSON = 64,
	USES_ALL = 127
};

extern const struct command commands[]; /* ends with a NULL name */

/* Help texts: a term in column 2, words from this column on, also in the lines below it. */
#define HELP_COLUMN 26
/* Append what --help prints. */
void command_help(struct buf *out, const struct command *c);
/* Its lines for the shared options; release with mem_free. */
char *command_shared_help(const struct command *c);
/* Append what `saltmill --help` prints. */
void commands_overview(struct buf *out);
#define COMMANDS_TITLE                                                                             \
	"bulk loader for HBase: events in, sorted HFiles and a create-table script out"
extern const char commands_status[]; /* what the exit statuses mean */

/*
 * Parse argv: the shared options into *o, the command's own through own(ctx, value of
 * option.val, optarg) which returns 0 or RC_CONFIG with *err set.  Operands are moved to the end;
 * *first is the index of the first.  Returns 0, RC_END when --help or --version was answered,
 * RC_CONFIG after printing what is wrong.
 */
typedef int options_own(void *ctx, int opt, const char *arg, struct error *err);
int options_parse(int argc, char **argv, struct run_options *o, const struct option *own,
		  const char *own_short, options_own *take, void *ctx, int *first);

/* A whole number from 1 to most. */
int parse_count(const char *option, const char *text, uint64_t most, uint64_t *out,
		struct error *err);
/* The same from 0 on. */
int parse_number(const char *option, const char *text, uint64_t most, uint64_t *out,
		 struct error *err);
/* One of names, which end with NULL: its number. */
int parse_choice(const char *option, const char *text, const char *const *names, size_t *out,
		 struct error *err);
/* Of such an option: "100" or "0.1%". */
int parse_event_limit(const char *option, const char *text, struct event_limit *out,
		      struct error *err);

/* Of --slice: "0-1000000", "=0-1000000", "3/8" (of so many alike). */
#define SLICES_MOST 1000000u
int parse_slice(const char *text, struct source_slice *out, struct error *err);

/* Print "saltmill NAME: sentence" to standard error, as all below by text_lines. */
void command_say(const char *name, const char *fmt, ...) ERROR_FORMAT(2, 3);
/* Prints each sentence as command_say() does; name stays the caller's. */
struct listener command_listener(const char *name);
/*
 * Print "saltmill NAME: message" to standard error; returns the exit status that fits err->code.
 * With --json the first such is kept, and command_ends writes it as an object (failure_report.h).
 */
int command_fail(const char *name, const struct error *err);
/* The same of a command line that asks for nothing that can be done; returns EXIT_USAGE. */
int command_misused(const char *name, const char *fmt, ...) ERROR_FORMAT(2, 3);
/* There is a --json among the arguments. */
void command_failures_as_json(void);
/* The last word: the command of that name ends with this status. */
void command_ends(const char *name, int status);
/* Print each line to standard error behind "saltmill NAME: ". */
void command_warn(const char *name, const struct buf *lines);
/* A warning for each of n tables whose readers the job leaves unsaid (report_framing). */
void command_warn_framing(const char *name, const struct job_table *tables, size_t n);
/* Say that so many bad events were not looked at. */
void command_left_out(const char *name, uint64_t bad, uint64_t events);
/* Write the whole result to standard output; returns EXIT_DONE, or EXIT_FAILED after saying why. */
int command_show(const char *name, const struct buf *text);
/* The same as it is: JSON and scripts, which are harmless by themselves. */
int command_print(const char *name, const struct buf *text);

int cmd_load(int argc, char **argv);
int cmd_map(int argc, char **argv);
int cmd_reduce(int argc, char **argv);
int cmd_unite(int argc, char **argv);
int cmd_digest(int argc, char **argv);
int cmd_version(int argc, char **argv);
int cmd_stream(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_loads(int argc, char **argv);
int cmd_seek(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_split(int argc, char **argv);
int cmd_ddl(int argc, char **argv);
int cmd_drift(int argc, char **argv);
int cmd_lint(int argc, char **argv);
int cmd_inspect(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_key(int argc, char **argv);
int cmd_get(int argc, char **argv);
int cmd_scan(int argc, char **argv);
int cmd_init(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_apply(int argc, char **argv);
int cmd_help(int argc, char **argv);
int cmd_report(int argc, char **argv);

#endif
