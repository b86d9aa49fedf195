/* arguments.c - turns a command line into struct arguments, with the table of options */
#include "arguments.h"

#include <getopt.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hfile.h"
#include "mem.h"
#include "storage.h"
#include "options.h"
#include "bytes.h"

#define FIRST_LONG 256 /* getopt's number of the first option */

static unsigned usable_processors(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof set, &set) == 0)
		return (unsigned)CPU_COUNT(&set);
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	return n > 0 ? (unsigned)n : 1;
}

/*
 * Returns the memory limit of this process' control group, because a container may have less memory
 * than the machine.
 */
static uint64_t cgroup_limit(void)
{
	uint64_t limit = UINT64_MAX;
	char text[32];

	FILE *f = fopen("/sys/fs/cgroup/memory.max", "re");

	if (!f)
		return limit;
	if (fgets(text, sizeof text, f) && text[0] >= '0' && text[0] <= '9')
		limit = strtoull(text, NULL, 10);
	fclose(f);
	return limit;
}

static uint64_t quarter_of_memory(void)
{
	uint64_t pages = (uint64_t)sysconf(_SC_PHYS_PAGES), size = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t all = pages * size, limit = cgroup_limit();

	return (limit < all ? limit : all) / 4;
}

/* The options of one command, also in the form of getopt. */
struct taken_options {
	const struct cli_option **row;
	size_t n;
	struct option *names;
	struct buf letters;
};

static int argument_of(const struct cli_option *o)
{
	if (option_kind(o) == OPTION_FLAG)
		return no_argument;
	return o->argument && o->argument[0] == '[' && o->argument[1] == '=' ? optional_argument
									     : required_argument;
}

static void list_options(struct taken_options *k, const struct command *c)
{
	struct option_place at = {0};
	const struct cli_option *o;
	size_t names = 0;

	buf_put(&k->letters, ':');
	while ((o = option_next(&at, c, false))) {
		k->row = mem_grow(k->row, k->n, sizeof *k->row);
		k->names = mem_grow(k->names, names, sizeof *k->names);
		if (o->letter)
			buf_printf(&k->letters, "%c%s", o->letter,
				   argument_of(o) == required_argument ? ":" : "");
		if (o->name)
			k->names[names++] = (struct option){o->name, argument_of(o), NULL,
							    FIRST_LONG + (int)k->n};
		k->row[k->n++] = o;
	}
	k->names = mem_grow(k->names, names, sizeof *k->names);
	k->names[names] = (struct option){0};
	buf_put(&k->letters, 0);
}

static const struct cli_option *find_option(const struct taken_options *k, int opt)
{
	size_t i = 0;

	if (opt >= FIRST_LONG)
		return k->row[opt - FIRST_LONG];
	while (k->row[i]->letter != opt)
		i++;
	return k->row[i];
}

static int read_option(struct arguments *a, const struct cli_option *o, const char *text,
		       struct error *err)
{
	return o->read(o, text, (char *)a + o->slot, err);
}

static int read_defaults(struct arguments *a, const struct taken_options *k, struct error *err)
{
	int rc = RC_OK;

	a->run = (struct run_options){.threads = usable_processors(),
				      .memory_bytes = quarter_of_memory(),
				      .temp_quota_bytes = UINT64_MAX};
	for (size_t i = 0; rc == RC_OK && i < k->n; i++)
		if (k->row[i]->standard)
			rc = read_option(a, k->row[i], k->row[i]->standard, err);
	return rc;
}

/* Returns the commands that have an option of this name, or NULL if no command has such an
 * option. */
static const char *takers_of(const char *name)
{
	for (const struct cli_option *const *t = option_tables; *t; t++)
		for (const struct cli_option *o = *t; o->name || o->letter; o++)
			if (o->name && strcmp(o->name, name) == 0)
				return o->of;
	return NULL;
}

/* Returns the option of the list that a name of another program means, or a similar name. */
static const char *option_meant(const char *name, const char *const *known, size_t n)
{
	static const char *const others[][2] = {{"filter", "where"},
						{"query", "where"},
						{"out", "output"},
						{"output-dir", "output"},
						{"jobs", "threads"},
						{"j", "threads"},
						{"t", "table"},
						{"t", "threads"},
						{"parallel", "threads"},
						{"parallelism", "threads"},
						{"tmp", "temp-dir"},
						{"tmpdir", "temp-dir"},
						{"host", "hbase"},
						{"zookeeper", "hbase"},
						{"quorum", "hbase"},
						{"master", "hbase"},
						{"max-errors", "max-rejects"},
						{"ignore-errors", "max-rejects"},
						{"silent", "quiet"},
						{"sort", "reverse"},
						{"desc", "reverse"},
						{"fields", "columns"},
						{"question", "ask"}};

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		for (size_t k = 0; k < n && strcmp(name, others[i][0]) == 0; k++)
			if (strcmp(known[k], others[i][1]) == 0)
				return known[k];
	return near_miss(name, known, n);
}

/* Sets the error for a word that getopt refused. */
static int refuse_word(const struct taken_options *k, int opt, const char *word, struct error *err)
{
	const char *names[128], *near = NULL, *takers = NULL;
	size_t n = 0;

	if (opt == ':')
		return error_set(err, RC_CONFIG, "option `%s`: found no value, expected one", word);
	for (size_t i = 0; i < k->n && n < sizeof names / sizeof *names; i++)
		if (k->row[i]->name)
			names[n++] = k->row[i]->name;
	if (strncmp(word, "--", 2) == 0)
		takers = takers_of(word + 2);
	if (takers)
		return error_set(err, RC_CONFIG, "unknown option `%s`, which belongs to %s", word,
				 takers);
	near = option_meant(word + strspn(word, "-"), names, n);
	return error_set(err, RC_CONFIG, "unknown option `%s`%s%s%s", word,
			 near ? ", did you mean `--" : "", near ? near : "", near ? "`?" : "");
}

/* Returns the word that getopt_long refused. It passes a word of short options after its last letter. */
static const char *refused_word(char **argv)
{
	const char *word = argv[optind - 1];
	bool passed = !optopt || (*word == '-' && strchr(word, optopt));

	return passed || !argv[optind] ? word : argv[optind];
}

static int read_options(struct arguments *a, const struct taken_options *k, int argc, char **argv,
			struct error *err)
{
	int rc = RC_OK, opt;

	optind = 0;
	opterr = 0;
	while (rc == RC_OK && (opt = getopt_long(argc, argv, (const char *)k->letters.ptr, k->names,
						 NULL)) != -1) {
		if (opt == '?' || opt == ':')
			return refuse_word(k, opt, refused_word(argv), err);
		const struct cli_option *o = find_option(k, opt);
		a->given = mem_grow(a->given, a->ngiven, sizeof *a->given);
		a->given[a->ngiven++] = o;
		rc = read_option(a, o, optarg, err);
		if (rc == RC_OK && o->second && optind < argc &&
		    o->second(argv[optind], (char *)a + o->slot))
			optind++;
	}
	a->operand = argv + optind;
	a->noperands = (size_t)(argc - optind);
	return rc;
}

bool arguments_given(const struct arguments *a, const char *name)
{
	for (size_t i = 0; i < a->ngiven; i++)
		if (a->given[i]->name && strcmp(a->given[i]->name, name) == 0)
			return true;
	return false;
}

/* Checks a given option against another option of its command. */
static int check_pair(const struct arguments *a, const struct cli_option *o,
		      const struct cli_option *other, struct error *err)
{
	struct buf argument = {0};
	bool given = other->name && arguments_given(a, other->name);
	int rc = RC_OK;

	if (!other->name)
		return RC_OK;
	option_argument(&argument, other);
	if (given && o->without && word_in(o->without, other->name))
		rc = error_set(err, RC_CONFIG, "%s: found --%s too, expected only one of them",
			       option_name(o).text, other->name);
	if (!given && o->with && word_in(o->with, other->name))
		rc = error_set(err, RC_CONFIG, "%s: found no --%s, expected `--%s%s%.*s` too",
			       option_name(o).text, other->name, other->name,
			       argument.len ? " " : "", (int)argument.len,
			       (const char *)argument.ptr);
	buf_release(&argument);
	return rc;
}

static int check_together(const struct arguments *a, const struct taken_options *k,
			  struct error *err)
{
	int rc = RC_OK;

	for (size_t i = 0; i < a->ngiven; i++)
		for (size_t j = 0; rc == RC_OK && j < k->n; j++)
			rc = check_pair(a, a->given[i], k->row[j], err);
	return rc;
}

static int check_operands(const struct arguments *a, struct error *err)
{
	const struct command *c = a->command;
	size_t n = a->noperands;
	bool few = n < c->least;

	for (size_t i = 0; i < n && c->reads_here; i++)
		if (storage_is_remote(a->operand[i]))
			return error_set(err, RC_CONFIG,
					 "%.200s: found a remote file or folder, expected one of "
					 "this machine; copy it first with `hdfs dfs -get`",
					 a->operand[i]);
	if (!few && n <= c->most)
		return RC_OK;
	return error_set(err, RC_CONFIG, "found %zu operand%s, expected %s%u", n, n == 1 ? "" : "s",
			 c->least == c->most ? ""
			 : few		     ? "at least "
					     : "at most ",
			 few ? c->least : c->most);
}

static int read_all(struct arguments *a, const struct taken_options *k, int argc, char **argv,
		    struct error *err)
{
	int rc = read_defaults(a, k, err);

	if (rc == RC_OK)
		rc = read_options(a, k, argc, argv, err);
	if (rc == RC_OK)
		rc = check_together(a, k, err);
	if (rc == RC_OK)
		rc = check_operands(a, err);
	return rc;
}

int arguments_refuse(const struct arguments *a, const char *fmt, ...)
{
	const struct command *c = a->command;
	char sentence[640];

	va_list args;

	va_start(args, fmt);
	vsnprintf(sentence, sizeof sentence, fmt, args);
	va_end(args);
	return command_misused(c->name,
			       "%s\nusage: saltmill %s %s\n`saltmill %s --help` lists the options",
			       sentence, c->name, c->usage, c->name);
}

int arguments_read(struct arguments *a, int argc, char **argv)
{
	struct taken_options k = {0};
	struct error err;

	list_options(&k, a->command);
	int rc = read_all(a, &k, argc, argv, &err);
	mem_free(k.row);
	mem_free(k.names);
	buf_release(&k.letters);
	if (rc == RC_CONFIG)
		arguments_refuse(a, "%s", err.msg);
	else if (rc < 0)
		command_misused(a->command->name, "%s", err.msg);
	return rc;
}

void arguments_release(struct arguments *a)
{
	existing_regions_release(&a->live);
	folders_release(&a->maps);
	folders_release(&a->reduces);
	folders_release(&a->loads);
	folders_release(&a->samples);
	mem_free(a->design.asks);
	mem_free(a->scan.fields);
	buf_release(&a->scan.start);
	buf_release(&a->scan.stop);
	buf_release(&a->scan.prefix);
	mem_free(a->given);
	hfile_extras_use(NULL);
	hfile_extras_free(a->extras);
}

struct offline_place arguments_offline(const struct arguments *a)
{
	return (struct offline_place){.kind = a->snapshot ? OFFLINE_SNAPSHOT : OFFLINE_TABLE,
				      .uri = a->snapshot ? a->snapshot : a->table_dir,
				      .storage = &a->place};
}
