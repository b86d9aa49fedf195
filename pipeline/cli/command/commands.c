/* commands.c - the table of commands */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "arguments.h"
#include "hbase.h"
#include "help.h"
#include "job_login.h"
#include "mem.h"
#include "options.h"

#define QUESTION_MS 120000

extern const struct command init_command, design_command, compare_command, check_command,
	lint_command, load_command, map_command, reduce_command, unite_command, digest_command,
	stream_command, status_command, loads_command, replay_command, seek_command, plan_command,
	split_command, ddl_command, drift_command, apply_command, tables_command, regions_command,
	describe_command, drop_command, tokens_command, watch_command, get_command, scan_command,
	key_command, diff_command, agree_command, merge_command, convert_command, rekey_command,
	inspect_command, verify_command, report_command, help_topics_command, version_command;

/* in the order of the groups of `saltmill help` (help.c) */
const struct command *const commands[] = {
	&init_command,	 &design_command,  &compare_command,	 &check_command,   &lint_command,
	&load_command,	 &map_command,	   &reduce_command,	 &unite_command,   &digest_command,
	&stream_command, &status_command,  &loads_command,	 &replay_command,  &seek_command,
	&plan_command,	 &split_command,   &ddl_command,	 &drift_command,   &apply_command,
	&tables_command, &regions_command, &describe_command,	 &drop_command,	   &tokens_command,
	&watch_command,	 &get_command,	   &scan_command,	 &key_command,	   &diff_command,
	&agree_command,	 &merge_command,   &convert_command,	 &rekey_command,   &inspect_command,
	&verify_command, &report_command,  &help_topics_command, &version_command, NULL};

const struct command *command_find(const char *name)
{
	const struct command *const *c = commands;

	while (*c && strcmp((*c)->name, name) != 0)
		c++;
	return *c;
}

const char *command_meant(const char *word)
{
	/* names of other programs */
	static const char *const others[][2] = {{"bulkload", "apply"}, {"count", "scan"},
						{"create", "ddl"},     {"compact", "merge"},
						{"deploy", "apply"},   {"explain", "scan"},
						{"export", "scan"},    {"generate", "init"},
						{"import", "load"},    {"infer", "init"},
						{"ingest", "load"},    {"list", "tables"},
						{"ls", "tables"},      {"query", "scan"},
						{"run", "load"},       {"schema", "describe"},
						{"select", "scan"},    {"show", "describe"},
						{"sniff", "init"},     {"validate", "check"},
						{"view", "inspect"},   {"upload", "apply"}};
	const char *names[sizeof commands / sizeof *commands];
	size_t n = 0;

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (strcmp(word, others[i][0]) == 0)
			return others[i][1];
	for (; commands[n]; n++)
		names[n] = commands[n]->name;
	return near_miss(word, names, n);
}

/* Reports a first word that names no command. */
static int refuse_command(const char *word)
{
	const char *near = command_meant(word);

	if (word[0] == '-')
		return command_misused(
			"",
			"found option `%.200s` before the command, expected `saltmill "
			"COMMAND [options]`; `saltmill --help` lists the commands",
			word);
	if (near)
		return command_misused("", "found no command `%.200s`; did you mean `saltmill %s`?",
				       word, near);
	return command_misused("",
			       "found no command `%.200s`; `saltmill --help` lists the commands",
			       word);
}

static void print_commands(FILE *to)
{
	struct buf out = {0};

	help_overview(&out);
	fwrite(out.ptr, 1, out.len, to);
	buf_release(&out);
}

/* A user waits for the answer of a question. Other commands survive a restart of HBase. */
static void limit_operations(const struct arguments *a)
{
	static const char questions[] = "get scan diff agree tables regions describe plan "
					"drift design init";

	if (a->timeout_s)
		hbase_limit((int64_t)a->timeout_s * 1000, true);
	else if (word_in(questions, a->command->name))
		hbase_limit(QUESTION_MS, false);
}

static int run_command(int argc, char **argv)
{
	if (argc < 2) {
		print_commands(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		print_commands(stdout);
		return EXIT_DONE;
	}
	if (!strcmp(argv[1], "--version")) {
		puts("saltmill " SALTMILL_VERSION);
		return EXIT_DONE;
	}
	const struct command *c = command_find(argv[1]);
	if (!c)
		return refuse_command(argv[1]);
	struct arguments a = {.command = c};
	int rc = arguments_read(&a, argc - 1, argv + 1);
	struct error err;
	if (rc == RC_OK && !logs_in_by_job(c) && job_login(&a, NULL, &err)) {
		command_misused(c->name, "%s", err.msg);
		rc = RC_CONFIG;
	}
	storage_use(&a.place);
	limit_operations(&a);
	int status = rc == RC_OK ? c->run(&a) : rc == RC_END ? EXIT_DONE : EXIT_USAGE;
	arguments_release(&a);
	return status;
}

/*
 * Returns true if --json, perhaps abbreviated, is one of the words. Then errors in the command line
 * are JSON, too.
 */
static bool wants_json(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strlen(argv[i]) > 3 && strncmp(argv[i], "--json", strlen(argv[i])) == 0)
			return true;
	return false;
}

/* Returns true if the reader has closed the pipe, as `head -1` does. */
static bool nobody_reads(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO};

	return poll(&out, 1, 0) > 0 && out.revents & POLLERR;
}

/* Returns the final exit status. A command that could not write its output has failed. */
static int finish(const char *name, int status)
{
	struct error err;
	bool failed = fflush(stdout) != 0;
	const char *why = failed ? strerror(errno) : "cannot write the whole output";

	if ((!failed && !ferror(stdout)) || (status != EXIT_DONE && status != EXIT_REJECTS))
		return status; /* there is no failure, or an earlier call has reported it */
	error_set(&err, RC_IO, "standard output: %s", why);
	if (!nobody_reads())
		command_fail(name, &err);
	return EXIT_FAILED;
}

int commands_run(int argc, char **argv)
{
	/* with malloc, a failed allocation would drop a member of an object */
	json_set_alloc_funcs(mem_alloc, mem_free);
	if (wants_json(argc, argv))
		command_failures_as_json();
	const char *name = argc > 1 ? argv[1] : "";
	int status = finish(name, run_command(argc, argv));
	command_ends(name, status);
	return status;
}
