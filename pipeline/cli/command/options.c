/* options.c - the options that all commands share */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"
#include "command_words.h"
#include "mem.h"
#include "pool.h"
#include "bytes.h"

enum {
	OPT_THREADS = 1000,
	OPT_MEMORY,
	OPT_TEMP,
	OPT_QUOTA,
	OPT_QUIET,
	OPT_JSON,
	OPT_CODE,
	OPT_DIE,
	OPT_HELP,
	OPT_VERSION
};

static const struct option shared[] = {
	{"threads", required_argument, NULL, OPT_THREADS},
	{"memory", required_argument, NULL, OPT_MEMORY},
	{"temp-dir", required_argument, NULL, OPT_TEMP},
	{"temp-quota", required_argument, NULL, OPT_QUOTA},
	{"quiet", no_argument, NULL, OPT_QUIET},
	{"json", no_argument, NULL, OPT_JSON},
	{"allow-code", no_argument, NULL, OPT_CODE},
	{"die-with-parent", no_argument, NULL, OPT_DIE},
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, OPT_VERSION},
	{0},
};

static unsigned usable_processors(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof set, &set) == 0)
		return (unsigned)CPU_COUNT(&set);
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	return n > 0 ? (unsigned)n : 1;
}

/* What a container allows, when less than the machine has. */
static uint64_t cgroup_limit(void)
{
	uint64_t limit = UINT64_MAX;

	FILE *f = fopen("/sys/fs/cgroup/memory.max", "re");
	if (!f)
		return limit;
	char text[32];
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

static const struct {
	unsigned uses;
	const char *help;
} shared_help[] = {
	{USES_THREADS, "  --threads N             default: the processors that it may use\n"},
	{USES_MEMORY,
	 "  --memory SIZE           what the run may hold (64M, 2G; default: a quarter of the "
	 "memory)\n"},
	{USES_TEMP,
	 "  --temp-dir DIR          where sorted runs spill (default: beside the output)\n"},
	{USES_QUOTA, "  --temp-quota SIZE       what they may take there at any time (default: "
		     "what is free)\n"},
	{USES_CODE,
	 "  --allow-code            Kafka properties of the job may name libraries to load and "
	 "commands to run\n"},
	{USES_QUIET, "  --quiet                 errors only\n"},
	{USES_JSON,
	 "  --json                  the result as JSON on standard output; a failure as an "
	 "object, the last line of\n"
	 "                          standard error\n"},
};

char *command_shared_help(const struct command *c)
{
	struct buf out = {0};

	for (size_t i = 0; i < sizeof shared_help / sizeof *shared_help; i++)
		if (c->uses & shared_help[i].uses)
			buf_append_str(&out, shared_help[i].help);
	buf_append_str(&out,
		       "  --die-with-parent       end, as by kill -9, when the thread that started "
		       "this does\n"
		       "  --help, --version\n");
	buf_append(&out, "", 1);
	return (char *)out.ptr;
}

void command_help(struct buf *out, const struct command *c)
{
	char *rest = command_shared_help(c);

	buf_printf(out, "usage: saltmill %s %s\n\n%s\n\n%s%s", c->name, c->usage, c->summary,
		   c->help, rest);
	mem_free(rest);
	const struct command_words *w = command_words(c->name);
	if (!w)
		return;
	for (size_t i = 0; i < COMMAND_TERMS && w->terms[i]; i++)
		buf_printf(out, "%s%s", i ? "" : "\n", w->terms[i]);
	buf_printf(out, "\nExit status: %s.\n\nExamples:\n", w->statuses);
	for (size_t i = 0; i < COMMAND_EXAMPLES; i++)
		buf_printf(out, "  %s\n", w->examples[i]);
}

static void print_help(const char *name)
{
	const struct command *c = commands;
	struct buf out = {0};

	while (c->name && strcmp(c->name, name))
		c++;
	command_help(&out, c);
	fwrite(out.ptr, 1, out.len, stdout);
	buf_release(&out);
}

/* Linux tells of the thread that forked; one that is gone by now tells nobody. */
static int die_with_parent(struct error *err)
{
	pid_t parent = getppid();

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
		return error_errno(err, "--die-with-parent");
	return getppid() == parent ? RC_OK : error_set(err, RC_STOPPED, "who started this is gone");
}

static int take_shared(struct run_options *o, int opt, const char *arg, struct error *err)
{
	struct stat st;

	switch (opt) {
	case OPT_THREADS: {
		char *end;
		unsigned long n = strtoul(arg, &end, 10);
		if (*end || end == arg || n < 1 || n > 1024)
			return error_set(err, RC_CONFIG, "--threads: found `%s`, expected 1..1024",
					 arg);
		o->threads = (unsigned)n;
		return RC_OK;
	}
	case OPT_MEMORY:
		if (!parse_size(arg, &o->memory_bytes))
			return error_set(err, RC_CONFIG,
					 "--memory: found `%s`, expected a size like 256M", arg);
		if (o->memory_bytes < 16u << 20)
			return error_set(err, RC_CONFIG,
					 "--memory: %s is too little, expected at least 16M", arg);
		return RC_OK;
	case OPT_TEMP:
		if (stat(arg, &st) < 0 || !S_ISDIR(st.st_mode))
			return error_set(err, RC_CONFIG, "--temp-dir: %s is not a folder", arg);
		o->temp_dir = arg;
		return RC_OK;
	case OPT_QUOTA:
		if (!parse_size(arg, &o->temp_quota_bytes) || o->temp_quota_bytes == 0)
			return error_set(err, RC_CONFIG,
					 "--temp-quota: found `%s`, expected a size like 20G", arg);
		return RC_OK;
	case OPT_DIE: return die_with_parent(err);
	case OPT_QUIET: o->quiet = true; return RC_OK;
	case OPT_CODE: o->allow_code = true; return RC_OK;
	default: o->json = true; return RC_OK;
	}
}

static struct option *all_options(const struct option *own)
{
	size_t n = 0, ns = sizeof shared / sizeof *shared;

	while (own && own[n].name)
		n++;
	struct option *all = mem_calloc(n + ns, sizeof *all);
	if (n)
		memcpy(all, own, n * sizeof *all);
	memcpy(all + n, shared, ns * sizeof *all);
	return all;
}

int options_parse(int argc, char **argv, struct run_options *o, const struct option *own,
		  const char *own_short, options_own *take, void *ctx, int *first)
{
	*o = (struct run_options){.threads = usable_processors(),
				  .memory_bytes = quarter_of_memory(),
				  .temp_quota_bytes = UINT64_MAX};
	struct option *all = all_options(own);
	char *shorts = mem_format(":h%s", own_short ? own_short : "");
	struct error err;
	int rc = RC_OK, opt;
	optind = 0;
	opterr = 0;
	while (rc == RC_OK && (opt = getopt_long(argc, argv, shorts, all, NULL)) != -1) {
		if (opt == '?')
			rc = error_set(&err, RC_CONFIG, "unknown option `%s`", argv[optind - 1]);
		else if (opt == ':')
			rc = error_set(&err, RC_CONFIG, "option `%s` needs a value",
				       argv[optind - 1]);
		else if (opt == OPT_HELP || opt == 'h')
			rc = RC_END;
		else if (opt == OPT_VERSION)
			rc = RC_END + 1;
		else if (opt >= OPT_THREADS)
			rc = take_shared(o, opt, optarg, &err);
		else
			rc = take(ctx, opt, optarg, &err);
	}
	*first = optind;
	mem_free(all);
	mem_free(shorts);
	if (rc == RC_END)
		print_help(argv[0]);
	if (rc == RC_END + 1)
		puts("saltmill " SALTMILL_VERSION);
	if (rc < 0)
		command_misused(argv[0], "%s\n`saltmill %s --help` lists the options", err.msg,
				argv[0]);
	return rc > 0 ? RC_END : rc;
}

int parse_count(const char *option, const char *text, uint64_t most, uint64_t *out,
		struct error *err)
{
	char *end;

	errno = 0;
	unsigned long long n = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || n < 1 || n > most)
		return error_set(err, RC_CONFIG,
				 "%s: found `%s`, expected a whole number from 1 on", option, text);
	*out = n;
	return RC_OK;
}

int parse_number(const char *option, const char *text, uint64_t most, uint64_t *out,
		 struct error *err)
{
	size_t digits = strspn(text, "0123456789");

	if (digits > 0 && digits < 19 && !text[digits])
		*out = strtoull(text, NULL, 10);
	if (digits == 0 || digits >= 19 || text[digits] || *out > most)
		return error_set(err, RC_CONFIG, "%s: found `%s`, expected a number up to %llu",
				 option, text, (unsigned long long)most);
	return RC_OK;
}

int parse_choice(const char *option, const char *text, const char *const *names, size_t *out,
		 struct error *err)
{
	struct buf list = {0};
	size_t n = 0;

	while (names[n])
		n++;
	for (size_t i = 0; i < n; i++) {
		if (strcmp(text, names[i]) == 0) {
			*out = i;
			buf_release(&list);
			return RC_OK;
		}
		buf_printf(&list, "%s%s", i == 0 ? "" : i + 1 < n ? ", " : " or ", names[i]);
	}
	error_set(err, RC_CONFIG, "%s: found `%s`, expected %.*s", option, text, (int)list.len,
		  (const char *)list.ptr);
	buf_release(&list);
	return RC_CONFIG;
}
