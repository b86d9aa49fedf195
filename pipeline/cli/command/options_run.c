/* options_run.c - options of input, output and resources, which many commands share */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "help.h"
#include "options.h"
#include "bytes.h"

const struct cli_option *const option_tables[] = {options_load,	 options_regions,
						  options_query, options_design,
						  options_apply, options_login,
						  options_run,	 NULL};

#define LOADERS	  "load map reduce unite stream replay"
#define READERS	  LOADERS " plan drift lint design compare agree"
#define QUIET	  READERS " tokens verify diff merge convert rekey ddl apply report digest"
#define WITH_CODE "load stream replay plan drift"
#define WITH_JSON                                                                                  \
	"load unite stream replay plan drift lint verify get scan ddl apply check status loads "   \
	"seek split inspect key version design compare tables regions describe drop diff agree merge convert rekey"

static int take_threads(const struct cli_option *o, const char *text, void *slot, struct error *err)
{
	uint64_t n = 0;
	int rc = take_number(o, text, &n, err);

	*(unsigned *)slot = (unsigned)n;
	return rc;
}

static int take_folder(const struct cli_option *o, const char *text, void *slot, struct error *err)
{
	struct stat st;

	if (stat(text, &st) < 0 || !S_ISDIR(st.st_mode))
		return option_refuse(o, text, err, "a folder that exists");
	return take_text(o, text, slot, err);
}

/*
 * Requests a signal when the parent ends. Linux sends the signal when the thread that forked this
 * process ends, but not if that thread has already ended.
 */
static int take_die(const struct cli_option *o, const char *text, void *slot, struct error *err)
{
	pid_t parent = getppid();

	(void)text, (void)slot;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
		return error_errno(err, "%s", option_name(o).text);
	if (getppid() != parent)
		return error_set(err, RC_STOPPED, "the process that started this one has ended");
	return RC_OK;
}

static int show_help(const struct cli_option *o, const char *text, void *slot, struct error *err)
{
	const struct arguments *a = slot;

	(void)o, (void)text, (void)err;
	help_print(a->command);
	return RC_END;
}

static int show_version(const struct cli_option *o, const char *text, void *slot, struct error *err)
{
	(void)o, (void)text, (void)slot, (void)err;
	puts("saltmill " SALTMILL_VERSION);
	return RC_END;
}

/* clang-format off */
const struct cli_option options_run[] = {
	{"hdfs-user", 0, "NAME", "load reduce unite replay get scan tokens verify diff merge convert rekey", take_text, AT(place.user),
	 .help = "access HDFS as this user (default: $HADOOP_USER_NAME, or the user who runs "
	 "saltmill)"},
	{"webhdfs", 0, "HOST[:PORT],...", "load reduce unite replay get scan tokens verify diff merge convert rekey", take_text, AT(place.http),
	 .help = "for hdfs://...: the HTTP addresses of the NameNodes (default: port 9870)"},
	{"hdfs-ca", 0, "FILE", "load reduce unite replay get scan tokens verify diff merge convert rekey", take_text, AT(place.ca_file),
	 .help = "for swebhdfs://...: certificates to trust, in PEM form"},
	{"hdfs-patience", 0, "TIME", "load reduce unite replay get scan tokens verify diff merge convert rekey", take_duration, AT(place.patience_s),
	 .help = "retry for this long when servers do not answer (default: 60s)"},
	{"threads", 0, "N", READERS " verify diff merge convert rekey", take_threads, AT(run.threads),
	 .help = "use N threads (default: the processors that saltmill may use)",
	 .least = 1, .most = 1024, .anywhere = true},
	{"memory", 0, "SIZE", READERS " rekey", take_size, AT(run.memory_bytes),
	 .help = "use at most this much memory, like 64M or 2G (default: a quarter of the memory)",
	 .least = 16 << 20, .anywhere = true},
	{"temp-dir", 0, "DIR", READERS " init verify rekey", take_folder, AT(run.temp_dir),
	 .help = "write temporary files here (default: next to the output)", .anywhere = true},
	{"temp-quota", 0, "SIZE", READERS, take_size, AT(run.temp_quota_bytes),
	 .help = "use at most this much disk for temporary files (default: the free space)",
	 .least = 1, .anywhere = true},
	{"allow-code", 0, NULL, WITH_CODE, take_flag, AT(run.allow_code),
	 .help = "accept Kafka properties that load libraries or run commands", .anywhere = true},
	{"quiet", 0, NULL, "get scan", take_flag, AT(run.quiet),
	 .help = "print only the numbers of rows and cells"},
	{"quiet", 0, NULL, QUIET, take_flag, AT(run.quiet),
	 .help = "print only errors", .anywhere = true},
	{"json", 0, NULL, WITH_JSON, take_flag, AT(run.json),
	 .help = "print the result as JSON; after a failure, the last line of standard error is a "
	 "JSON object",
	 .anywhere = true},
	{"die-with-parent", 0, NULL, NULL, take_die, 0,
	 .help = "kill saltmill (SIGKILL) when the thread that started it ends"},
	{"help", 'h', .read = show_help},
	{"version", .read = show_version},
	{0}
};
/* clang-format on */
