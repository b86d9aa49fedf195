/* commands.c - the table of commands */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "apply_options.h"
#include "cmd.h"
#include "input_options.h"
#include "mem.h"
#include "place_options.h"

#define ANSWER_HELP                                                                                \
	"  --table NAME            of a job with several\n"                                        \
	"  --columns F:Q,F,...     only these columns and families\n"                              \
	"  --versions N            of a column, as far as VERSIONS keeps them (default 1)\n"       \
	"  --time-range A..B       timestamps from A to before B: ms or 2012-09-01T00:00:00Z\n"    \
	"  --max-columns N         of a row, each in its newest version\n"                         \
	"  --now TIME              of folders: the clock for TTL (default: the clock)\n"           \
	"  --format table|csv|jsonl\n"                                                             \
	"  --decode                keys and values as the fields of the job\n"                     \
	"  --explain               which files were read, and why the others were not; of a live " \
	"table what each\n"                                                                        \
	"                          region was asked and sent, and what its servers did of the "    \
	"question\n"                                                                               \
	"  --hbase HOST[:PORT],... ask the live table in place of folders: masters (16000), or "   \
	"region servers from\n"                                                                    \
	"                          HBase 2.5 on\n"                                                 \
	"  --user NAME             with --hbase: as whom (default: $HADOOP_USER_NAME, or who "     \
	"runs "                                                                                    \
	"this)\n"                                                                                  \
	"  With --quiet only the numbers of rows and cells are printed.\n"

const struct command commands[] = {
	{"init", "FILE [-o JOB]", "a file nobody described becomes a job that loads it",
	 "  -o, --output JOB        the job file to write, which must not be there (default: "
	 "standard output)\n",
	 cmd_init, USES_TEMP},
	{"check", "JOB [FILE...] [--json]",
	 "the first rows of a job's files or topics, from their text to their cells; nothing is "
	 "written",
	 "  --rows N                look at so many (default 1000); of topics the first of each "
	 "partition\n"
	 "  --show N                show so many of the good ones whole (default 3)\n",
	 cmd_check, USES_JSON},
	{"load", "JOB [FILE...] -o DIR [options]",
	 "events to HFiles, split file, create-table script",
	 "  -o, --output DIR        where the load appears; must not exist; also a place in HDFS: "
	 "webhdfs://HOST:PORT/PATH\n" PLACE_HELP
	 "  --max-rejects N|P%      bad events to tolerate (default 0: the first one stops the "
	 "run)\n"
	 "  --max-duplicates N|P%   events of a table to tolerate that others hide: same row key, "
	 "columns, timestamp\n"
	 "                          (default: any; more than 1% are told)\n"
	 "  --max-filtered N|P%     filtered events of a table to tolerate: they gave it nothing\n"
	 "  --min-rows N            each table has at least so many, or nothing is published\n"
	 "  --previous DIR          an earlier load of the job: columns that differ from its are "
	 "told\n"
	 "  --existing [TABLE=]FILE cut at the regions that the table has: what get_splits or "
	 "list_regions printed\n"
	 "  --hbase HOST[:PORT],... cut at the regions that live tables have; their attributes "
	 "must be the job's\n"
	 "  --state DIR             of a kafka source: go on where the last load ended\n" INPUT_HELP
	 "  --plan DIR              cut and tune as `plan -o DIR` has found\n",
	 cmd_load, USES_ALL},
	{"map", "JOB [FILE] --plan DIR -o DIR [options]",
	 "the first half of a load: a slice of the input to sorted rows, by region",
	 "  -o, --output DIR        where they appear, with a report and what was rejected; must "
	 "not "
	 "exist\n"
	 "  --plan DIR              what `plan -o DIR` has made: all halves of a load keep to one\n"
	 "  --input N               the file's number among all inputs of the load, from 0\n"
	 "  --pack                  compress the rows, for a network\n" INPUT_HELP
	 "                          (behind an --offset the columns are the plan's)\n",
	 cmd_map, USES_ALL & ~(USES_CODE | USES_JSON)},
	{"reduce", "JOB MAPS... --plan DIR -o DIR [options]",
	 "the second half: the rows of some regions, from all maps, to HFiles",
	 "  MAPS                    a map's folder, a folder of such, or -: pieces from standard "
	 "input\n"
	 "  -o, --output DIR        where the HFiles appear, with a report; must not exist\n"
	 "  --plan DIR              the one of the maps\n"
	 "  --table NAME            which table, when the job has several\n"
	 "  --region I|I-J          which of its regions, from 0\n"
	 "  --share K/N             or the K-th of N shares of the regions of all tables (default: "
	 "all)\n"
	 "  --created MS            the time that the files tell (default: found in the reports of "
	 "all "
	 "maps)\n"
	 "  --hfiles URI            the HFiles are sent to this folder too, which is there: in "
	 "HDFS, "
	 "where the load will be\n" PLACE_HELP,
	 cmd_reduce, USES_ALL & ~(USES_CODE | USES_JSON)},
	{"unite",
	 "JOB [FILE...] --plan DIR --maps DIR [--reduces DIR -o DIR] | JOB --loads DIR... -o DIR",
	 "what maps and reduces left becomes one published load, byte for byte that of `load "
	 "--plan`",
	 "  FILE...                 all inputs, in order; they are read once more, to prove what "
	 "was "
	 "mapped\n"
	 "  --maps DIR              a map's folder, or a folder of such; may be given several "
	 "times\n"
	 "  --reduces DIR           the same of reduces; without any only the maps are judged\n"
	 "  --hfiles URI            the folder in the place of -o that the reduces sent their "
	 "HFiles "
	 "to\n"
	 "  -o, --output DIR        where the load appears; must not exist; on the same disk "
	 "nothing "
	 "is copied\n"
	 "  --plan DIR              the one of the maps and reduces\n"
	 "  --columns FILE          as of map\n"
	 "  --inputs FILE           in place of FILE..., where they cannot be opened: {\"inputs\": "
	 "[{\"path\", \"size\"}...],\n"
	 "                          \"digests\": [...]}, all in order, and what `digest` said of "
	 "those that were mapped in slices\n"
	 "  --loads DIR...          loads of slices, made by `load --slice K/N --plan DIR`, side "
	 "by "
	 "side: a file of each\n"
	 "                          in a region; refused when two have the same cell, as HBase "
	 "would show "
	 "either\n"
	 "  --max-files N           of a region and family, with --loads (default 16)\n"
	 "  --max-rejects N|P%, --max-duplicates N|P%, --max-filtered N|P%, --min-rows N\n"
	 "                          as of load\n" PLACE_HELP
	 "  map, reduce and unite end with status 4 when the same input would fail the same way "
	 "again, and with 1\n"
	 "  when another try may help.\n",
	 cmd_unite, USES_ALL & ~USES_CODE},
	{"digest", "FILE|- [--maps DIR] [--input N] [--name PATH --bytes N]",
	 "an input's digest and those of the slices that were mapped, for --inputs of unite",
	 FEED_HELP
	 "  --maps DIR              a map's folder, or a folder of such; those of other inputs are "
	 "left out\n"
	 "  --input N               the file's number among all inputs of the load, from 0\n",
	 cmd_digest, USES_QUIET},
	{"stream", "JOB --state DIR [options]",
	 "Kafka without end: one published load after the other",
	 "  --state DIR             which offsets are loaded; one process at a time, several where "
	 "the job\n"
	 "                          says `share: true`\n"
	 "  -o, --output DIR        parent of the loads (default: DIR/published)\n"
	 "  --max-rejects N|P%      bad events to tolerate in each load (default 1000)\n"
	 "  --max-duplicates N|P%   events of a table to tolerate in each load that others hide "
	 "(default: any)\n"
	 "  --existing [TABLE=]FILE cut at the regions that the table has\n"
	 "  --metrics ADDRESS:PORT  serve /metrics for Prometheus there\n"
	 "  --apply HOST[:PORT],... hand each load over to this HBase as `apply` would, in order; "
	 "a "
	 "load that fails\n"
	 "                          is tried again for ever, with growing waits, and those behind "
	 "it "
	 "wait\n"
	 "  --max-unapplied N       loads that may wait for HBase before no more is read (default "
	 "100)\n" KEEP_HELP "  --create, --alter, --check, --user, --upload, --webhdfs\n"
	 "                          with --apply: as of apply\n",
	 cmd_stream, USES_ALL},
	{"status", "--state DIR [--json]", "positions, last load, lag and rate of a Kafka source",
	 "  --state DIR             the state folder of load and stream\n", cmd_status, USES_JSON},
	{"loads", "--state DIR [--loaded NAME | --rebuild [FOLDER...]]",
	 "the published loads of a state, oldest first, checked against each other",
	 "  --state DIR             the state folder of load and stream\n"
	 "  --loaded NAME           mark a load as given to HBase (p00003/00000042 where instances "
	 "share)\n"
	 "  --published NAME        of an interrupted load: its folder was moved away, it counts\n"
	 "  --discard NAME          of an interrupted load: it does not, its offsets are loaded "
	 "again\n"
	 "  --rebuild [FOLDER...]   make a damaged state anew from the manifests of its loads: "
	 "those "
	 "in DIR and\n"
	 "                          in FOLDER (loads, or folders of loads)\n",
	 cmd_loads, USES_JSON},
	{"replay", "DIR --rejects[=FILE] -o DIR [options]",
	 "load the repaired rejects of a load from Kafka",
	 "  --rejects[=FILE]        the messages to load (default: DIR/rejects.jsonl as it is "
	 "now)\n"
	 "  --job JOB               the job file (default: the one that DIR was made by)\n"
	 "  -o, --output DIR        where the load appears; must not exist; also a place in HDFS: "
	 "webhdfs://HOST:PORT/PATH\n" PLACE_HELP
	 "  --max-rejects N|P%      bad events to tolerate (default 0)\n"
	 "  --max-duplicates N|P%   events of a table to tolerate that others hide (default: any)\n"
	 "  --existing [TABLE=]FILE cut at the regions that the table has\n"
	 "  --hbase HOST[:PORT],... the same, asked of the cluster\n",
	 cmd_replay, USES_ALL},
	{"seek", "--state DIR [TOPIC/]PARTITION=OFFSET... [options]",
	 "set positions by hand; says what that skips or repeats",
	 "  TOPIC/                  needed where the state is of several topics\n"
	 "  --state DIR             the state folder of load and stream\n"
	 "  --job JOB               whose brokers are asked whether they have the offsets "
	 "(default: "
	 "the\n"
	 "                          one that the newest load was made by)\n",
	 cmd_seek, USES_JSON},
	{"plan", "JOB [FILE...] [-o DIR] [options]",
	 "region splits and their predicted sizes from the events, no HFiles",
	 "  -o, --output DIR        split file and create-table script appear there; must not "
	 "exist\n"
	 "  --existing [TABLE=]FILE the regions that the table has, in place of the job's: for "
	 "--plan\n"
	 "  --hbase HOST[:PORT],... the same, asked of the cluster\n"
	 "  --tune                  with -o: look for the settings of `level: auto` too, for "
	 "--plan\n"
	 "  --sample SHARE          look at this share of the input, evenly spread (5%)\n"
	 "  --state DIR             of a kafka source: what the next load would read; only looked "
	 "at\n"
	 "  --save FILE             keep what was learned of the keys\n" INPUT_HELP
	 "  --from FILE...          plan from such files, merged, without events\n",
	 cmd_plan, USES_ALL},
	{"split", "ALGORITHM N [options] | TABLE ALGORITHM -c N -f FAMILY[:FAMILY...]",
	 "the split keys of HBase's own algorithms, no data needed",
	 "  ALGORITHM               UniformSplit, HexStringSplit or DecimalStringSplit\n"
	 "  --first T, --last T     the first and last row\n"
	 "  --firstrow T, --lastrow T\n"
	 "                          the same, as RegionSplitter has them\n"
	 "  --format text|escaped|hex|json|ddl\n"
	 "                          default: text, escaped for UniformSplit; with TABLE the whole "
	 "create script\n"
	 "  -c N, -f FAMILY         RegionSplitter's own form: regions and column families of "
	 "TABLE\n",
	 cmd_split, USES_JSON},
	{"ddl", "JOB [options]", "the script that creates, alters or drops a table of the job",
	 "  --splits FILE           split keys, one a line (splits.txt of `plan` or `load`)\n"
	 "  --table NAME            which table, when the job has several\n"
	 "  --alter FILE            bring the existing table to the job; FILE is what `describe` "
	 "printed\n"
	 "  --drop                  disable and drop it\n",
	 cmd_ddl, USES_QUIET | USES_JSON},
	{"drift", "--existing FILE|--hbase HOST JOB [FILE...] [options]",
	 "how events fall on the regions a table has, and the commands that mend it",
	 "  --existing [TABLE=]FILE what get_splits or list_regions printed; list_regions tells "
	 "sizes and names\n"
	 "  --hbase HOST[:PORT],... or the cluster is asked: regions, what they hold, how often "
	 "they "
	 "were asked\n"
	 "  --state DIR             of a kafka source: what the next load would read; only looked "
	 "at\n"
	 "  --max-filesize SIZE     where HBase splits a region (default: the job's MAX_FILESIZE, "
	 "or 10G)\n",
	 cmd_drift, USES_ALL},
	{"apply", "DIR --hbase HOST[:PORT],... [options] | --state DIR --hbase HOST... [--follow]",
	 "hand a published load to a live HBase: tables and files, without a JVM",
	 "  --hbase HOST[:PORT],... masters (16000), or region servers from HBase 2.5 on; the "
	 "first "
	 "that answers\n"
	 "          zk:HOST[:PORT],...[/PARENT]\n"
	 "                          or the ZooKeepers (2181) and zookeeper.znode.parent (/hbase), "
	 "here "
	 "and wherever\n"
	 "                          --hbase is\n"
	 "  --create                make tables that are missing, as their create.rb would\n"
	 "  --alter                 bring tables to the attributes of their create.rb\n"
	 "  --check                 at the end, look for each cell of the load in the live "
	 "tables\n"
	 "  --dry-run               look at the cluster and say what would be done\n"
	 "  --user NAME             as whom (default: $HADOOP_USER_NAME, or who runs this)\n"
	 "  --upload URI            where files wait for their region: hdfs://..., webhdfs://..., "
	 "/PATH (default:\n"
	 "                          the user's home in HDFS, or beside DIR where HBase lives in "
	 "file://)\n"
	 "  --webhdfs HOST[:PORT],...\n"
	 "                          who answers WebHDFS (default: the NameNode's host, 9870)\n"
	 "  --journal FILE          what was done so far (default: DIR.saltmill-apply); with it a "
	 "run that broke\n"
	 "                          off is gone on with, and a second one does nothing; it is "
	 "found under the\n"
	 "                          old name when DIR was renamed in its folder\n"
	 "  --restart               remove what earlier runs left, and hand the whole load over "
	 "again: when a table\n"
	 "                          was dropped, truncated or created anew since\n"
	 "  --abort                 remove what earlier runs left: upload folder, staging folder, "
	 "journal; files\n"
	 "                          that are in a table stay there\n"
	 "  --state DIR             hand over all loads that a state has published and that are "
	 "not "
	 "in yet, in order\n"
	 "  --follow                with --state: and those to come, for ever; what fails is tried "
	 "again\n"
	 "  --metrics ADDRESS:PORT  with --state: serve /metrics for Prometheus there\n" KEEP_HELP,
	 cmd_apply, USES_QUIET | USES_JSON},
	{"lint", "JOB [FILE...] [--json]",
	 "what is unwise in a job's tables, measured on its events, and the fix", "", cmd_lint,
	 USES_ALL & ~USES_CODE},
	{"inspect", "FILE... [--cells] [--blocks] [--json]", "show what an HFile holds",
	 "  --cells                 print every cell\n"
	 "  --blocks                print every block\n",
	 cmd_inspect, USES_JSON},
	{"verify", "DIR|HFILE [--json]",
	 "prove a published load, or one HFile, from its files alone", "", cmd_verify,
	 USES_THREADS | USES_QUIET | USES_JSON},
	{"report", "DIR|PLAN|STATE [-o FILE] [options]",
	 "one page of HTML about a load, a plan or a state folder, for people",
	 "  DIR|PLAN|STATE          the folder of a load, a plan or a state; of a plan also a file "
	 "with what\n"
	 "                          `plan --json` printed\n"
	 "  -o, --output FILE       the page; - is standard output (default: report.html)\n"
	 "  --timings FILE          what `load --json` printed: the seconds of the run, which the "
	 "load itself\n"
	 "                          does not tell\n"
	 "  --lint FILE             what `lint --json` or `plan --json` printed: the findings on "
	 "the job\n",
	 cmd_report, USES_QUIET},
	{"key",
	 "encode JOB FIELD=VALUE...|- | decode JOB KEY...|- | ranges JOB [DIR...] --where TEXT",
	 "fields to row keys, row keys to fields, a question to the scans that answer it",
	 "  --table NAME            which table, when the job has several\n"
	 "  --to escaped|hex        encode: how keys are written (default: \\xHH text)\n"
	 "  --from escaped|hex      decode: how they are\n"
	 "  -                       a line of standard input each: a JSON object of fields, or a "
	 "key\n"
	 "  --where TEXT            ranges: \"owner = 1 and created >= 20120901\"; = != < <= > >=, "
	 "between A and B,\n"
	 "                          in (A, B), starts with A, is null, and, or, not; - reads "
	 "one a line\n"
	 "  --format table|json|shell|java|python\n"
	 "  --limit N               ranges: write a row limit and the caching for it into shell, "
	 "java or python\n"
	 "  DIR...                  ranges: loads or plans of the table, for the bytes that are "
	 "read\n",
	 cmd_key, USES_JSON},
	{"get", "JOB DIR...|--hbase HOST --row KEY|FIELD=VALUE... [options]",
	 "a row of published loads, as HBase would answer, or of a live table",
	 "  DIR...                  folders of loads, the oldest first; a state folder: all that "
	 "it "
	 "has published\n"
	 "  --row KEY               keys are \\xHH text\n"
	 "  FIELD=VALUE...          the fields of the row key, as the source spells "
	 "them\n" ANSWER_HELP,
	 cmd_get, USES_QUIET | USES_JSON},
	{"scan", "JOB DIR...|--hbase HOST [options]",
	 "rows of published loads (DIR..., the oldest first), as HBase would answer, or of a live "
	 "table",
	 "  DIR...                  folders of loads; a state folder (--state of load and stream) "
	 "is "
	 "all that it\n"
	 "                          has published, in that order\n"
	 "  --where TEXT            \"owner = 1 and created >= 20120901 and f:name is not null\": "
	 "fields of the job, or\n"
	 "                          columns; = != < <= > >=, between A and B, in (A, B), starts "
	 "with A, is null,\n"
	 "                          and, or, not\n"
	 "  --any-version           --where matches older versions of a column too, not only the "
	 "newest\n"
	 "  --start KEY, --stop KEY rows from the one to before the other; keys are \\xHH text\n"
	 "  --prefix KEY            rows that begin so\n"
	 "  --reverse               in falling order; --start is then the greatest\n"
	 "  --limit N               rows\n"
	 "  --via TABLE             ask this index table, and give the rows that its cells name, "
	 "in "
	 "its order;\n"
	 "                          entries that their rows do not give any more are left out and "
	 "counted\n"
	 "  --raw                   all that is stored, delete markers too\n" ANSWER_HELP,
	 cmd_scan, USES_QUIET | USES_JSON},
	{"help", "[COMMAND|KEY|job|guide [CHAPTER]|schema [NAME]] [--format FORMAT]",
	 "print the documentation: commands, keys of the job file, the guide, JSON Schemas",
	 "  KEY                     a key of the job file: what it does, its values, an example\n"
	 "  job                     all keys of the job file\n"
	 "  guide [CHAPTER]         a chapter of the guide (default: list the chapters)\n"
	 "  schema [NAME]           the JSON Schema of manifest.json, rejects.jsonl or the output "
	 "of "
	 "--json\n"
	 "                          (default: list the schemas)\n"
	 "  --format text|markdown|json-schema|man|bash|zsh|fish\n"
	 "                          job and guide: text (default), markdown or man; job: "
	 "json-schema for "
	 "editors;\n"
	 "                          COMMAND: text or man; without a topic also completions for a "
	 "shell\n",
	 cmd_help, 0},
	{"version", "[--json]", "what this program is: version, build, formats, libraries", "",
	 cmd_version, USES_JSON},
	{0},
};

const char commands_status[] =
	"0 done; 1 failed, nothing published (or it says that only the result could not be\n"
	"printed); 2 wrong usage or job file; 3 done and published, but some input was rejected, "
	"a\n"
	"stream's partition was parked, a load was refused by HBase and waits, or a promise on "
	"sizes\n"
	"was not kept; 130 or 143 stopped by SIGINT or SIGTERM, nothing published (`stream` and\n"
	"`apply --follow` go on until then: they end with 0 or 3).\n";

void commands_overview(struct buf *out)
{
	buf_printf(out, "saltmill - %s\n\n", COMMANDS_TITLE);
	for (const struct command *c = commands; c->name; c++)
		buf_printf(out, "  saltmill %-8s %s\n      %s\n", c->name, c->usage, c->summary);
	buf_printf(
		out,
		"\n`saltmill COMMAND --help` lists a command's options.\n"
		"`saltmill help job` lists the keys of the job file, `saltmill help KEY` explains "
		"one.\n`saltmill help guide` lists the chapters of the guide.\n"
		"Exit status: %s",
		commands_status);
}

static void print_commands(FILE *to)
{
	struct buf out = {0};

	commands_overview(&out);
	fwrite(out.ptr, 1, out.len, to);
	buf_release(&out);
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
	for (const struct command *c = commands; c->name; c++)
		if (!strcmp(argv[1], c->name))
			return c->run(argc - 1, argv + 1);
	return command_misused("", "no command `%.200s`; `saltmill --help` lists them", argv[1]);
}

/* Is --json there, perhaps shortened, before what asks for it was understood? */
static bool wants_json(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strlen(argv[i]) > 3 && strncmp(argv[i], "--json", strlen(argv[i])) == 0)
			return true;
	return false;
}

/* As behind `| head -1`: who reads no more has what he wanted. */
static bool nobody_reads(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO};

	return poll(&out, 1, 0) > 0 && out.revents & POLLERR;
}

/* What was printed and is not where it should be was not done. */
static int finish(const char *name, int status)
{
	struct error err;
	bool failed = fflush(stdout) != 0;
	const char *why = failed ? strerror(errno) : "not all could be written";

	if ((!failed && !ferror(stdout)) || (status != EXIT_DONE && status != EXIT_REJECTS))
		return status; /* or it is told already */
	error_set(&err, RC_IO, "standard output: %s", why);
	if (!nobody_reads())
		command_fail(name, &err);
	return EXIT_FAILED;
}

int commands_run(int argc, char **argv)
{
	/* one that fails must not make a member of an object go missing */
	json_set_alloc_funcs(mem_alloc, mem_free);
	if (wants_json(argc, argv))
		command_failures_as_json();
	const char *name = argc > 1 ? argv[1] : "";
	int status = finish(name, run_command(argc, argv));
	command_ends(name, status);
	return status;
}
