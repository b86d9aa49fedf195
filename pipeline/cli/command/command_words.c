#include "command_words.h"

#include <string.h>

#define BAD                                                                                        \
	"A bad event is one that cannot become its cells: a value is not what its field says, or " \
	"the row key\ncannot hold it. It is rejected: told with its place and reason, and never "  \
	"loaded in another form.\n"
#define FILTERED                                                                                   \
	"A filtered event is one that the job does not take for a table: by `where`, `when` or "   \
	"`skip_matching`,\nor as none of the table's cells is there.\n"
#define REGION                                                                                     \
	"A region is a range of a table's row keys, served by one server of HBase; its split key " \
	"is the first of them.\n"
#define DUPLICATE                                                                                  \
	"Duplicates are events with the same row key, column and timestamp: HBase shows one of "   \
	"them.\n"

#define USAGE	"2 wrong usage or job file, nothing was started"
#define STOPPED "130 or 143 stopped by SIGINT or SIGTERM, nothing is published"

#define PUBLISHES                                                                                  \
	"0 published; 1 failed, nothing is published; " USAGE ";\n"                                \
	"3 published, and some input was rejected or a promise on sizes was not kept;\n" STOPPED

static const struct command_words words[] = {
	{"init",
	 {NULL},
	 "0 the job is written; 1 failed; 2 wrong usage, or a file that no job can be made for",
	 {"saltmill init export.csv", "saltmill init access.log.gz -o access.yaml"}},
	{"check",
	 {BAD},
	 "0 none of the rows is bad; 3 some are, and would be rejected; 1 failed; 2 wrong usage or "
	 "job file",
	 {"saltmill check conf/erp.yaml", "saltmill check conf/erp.yaml export.csv --rows 100000 "
					  "--json"}},
	{"load",
	 {BAD, FILTERED, DUPLICATE, REGION},
	 PUBLISHES,
	 {"saltmill load conf/ratings.yaml ratings.csv -o out/2026-11-21 --max-rejects 0.1%",
	  "saltmill load conf/nightly.yaml night.csv -o night --hbase hbase1,hbase2 --min-rows "
	  "1000"}},
	{"map",
	 {BAD, REGION},
	 "0 the rows are there; 1 failed, another try may help; " USAGE ";\n"
	 "4 the same input fails the same way again; " STOPPED,
	 {"saltmill map conf/ratings.yaml ratings.csv --plan plan -o map3 --slice 3/8",
	  "saltmill map conf/ratings.yaml day2.csv --input 1 --plan plan --pack -o map-day2"}},
	{"reduce",
	 {REGION},
	 "0 the files are there; 1 failed, another try may help; " USAGE ";\n"
	 "4 the same input fails the same way again; " STOPPED,
	 {"saltmill reduce conf/ratings.yaml maps/ --plan plan -o reduce1 --share 1/4",
	  "saltmill reduce conf/ratings.yaml maps/ --plan plan -o reduce7 --region 7"}},
	{"unite",
	 {BAD, FILTERED, DUPLICATE, REGION},
	 PUBLISHES "; 4 the same input fails the same way again",
	 {"saltmill unite conf/ratings.yaml ratings.csv --plan plan --maps maps/ --reduces "
	  "reduces/ -o out",
	  "saltmill unite conf/ratings.yaml ratings.csv --plan plan --maps maps/"}},
	{"digest",
	 {NULL},
	 "0 done; 1 failed; 2 wrong usage",
	 {"saltmill digest ratings.csv", "saltmill digest ratings.csv --maps maps/ --input 0"}},
	{"stream",
	 {BAD, DUPLICATE, REGION},
	 "0 ended by SIGINT or SIGTERM, all that was published is complete; 1 failed;\n" USAGE ";\n"
	 "3 ended so, and events were rejected, a partition is parked, or a load that HBase does\n"
	 "not take waits",
	 {"saltmill stream conf/clicks.yaml --state var/clicks -o /srv/loads --metrics "
	  "127.0.0.1:9109",
	  "saltmill stream conf/clicks.yaml --state var/clicks --apply master1,master2 --keep "
	  "7d"}},
	{"status",
	 {NULL},
	 "0 done; 1 failed; 2 wrong usage, or no state folder",
	 {"saltmill status --state var/clicks", "saltmill status --state var/clicks --json"}},
	{"loads",
	 {NULL},
	 "0 the chain of loads is whole; 1 it is not, or failed; 2 wrong usage, or no state folder",
	 {"saltmill loads --state var/clicks",
	  "saltmill loads --state var/clicks --loaded 00000042"}},
	{"replay",
	 {BAD, DUPLICATE, REGION},
	 PUBLISHES,
	 {"saltmill replay published/00000042 --rejects -o repaired",
	  "saltmill replay published/00000042 --rejects=mended.jsonl --job clicks.yaml -o "
	  "repaired"}},
	{"seek",
	 {NULL},
	 "0 done; 1 failed; 2 wrong usage, or offsets that the topic has not; nothing is changed",
	 {"saltmill seek --state var/clicks 0=1000 3=7",
	  "saltmill seek --state var/orders orders-de/0=1000"}},
	{"plan",
	 {BAD, REGION},
	 "0 done; 1 failed; " USAGE "; 3 done, and some input was bad;\n" STOPPED,
	 {"saltmill plan conf/ratings.yaml ratings.csv --sample 5%",
	  "saltmill plan conf/ratings.yaml ratings.csv -o plan"}},
	{"split",
	 {REGION},
	 "0 done; 1 failed; 2 wrong usage",
	 {"saltmill split HexStringSplit 16 --format ddl",
	  "saltmill split UniformSplit 8 --first '\\x00' --last '\\x10'"}},
	{"ddl",
	 {NULL},
	 "0 done; 1 failed; " USAGE,
	 {"saltmill ddl conf/devices.yaml --splits splits.txt",
	  "saltmill ddl conf/devices.yaml --alter described.txt"}},
	{"drift",
	 {BAD, REGION},
	 "0 done; 1 failed; " USAGE "; 3 done, and some input was bad;\n" STOPPED,
	 {"saltmill drift --hbase hbase1,hbase2 conf/nightly.yaml night.csv",
	  "saltmill drift --existing regions.txt conf/nightly.yaml night.csv --json"}},
	{"apply",
	 {REGION},
	 "0 all of it is in HBase; 1 failed, and to start it again goes on where it was;\n"
	 "2 wrong usage, or the load and the cluster do not fit; the message names tables that "
	 "this run\nhad created or altered before;\n"
	 "130 or 143 stopped by SIGINT or SIGTERM, as 1; with --follow 0 then, or 3 when a load "
	 "waits\nthat HBase does not take",
	 {"saltmill apply out --hbase hbase1,hbase2 --create --check",
	  "saltmill apply --state var/clicks --hbase hbase1,hbase2 --follow --keep 24"}},
	{"lint",
	 {BAD},
	 "0 nothing is unwise; 3 something is, or some input was bad; 1 failed;\n" USAGE,
	 {"saltmill lint conf/presplit.yaml",
	  "saltmill lint conf/ratings.yaml ratings.csv --json"}},
	{"inspect",
	 {NULL},
	 "0 done; 1 failed, or a file is damaged; 2 wrong usage",
	 {"saltmill inspect out/ratings/hfiles/f/*",
	  "saltmill inspect --blocks --json region.hfile"}},
	{"verify",
	 {NULL},
	 "0 all of it is as its manifest says; 1 something is not, which is told; 2 wrong usage",
	 {"saltmill verify out", "saltmill verify out --json"}},
	{"report",
	 {NULL},
	 "0 the page is written; 1 failed; 2 wrong usage, or the folder is none of those",
	 {"saltmill report out", "saltmill report out -o /srv/www/night.html"}},
	{"key",
	 {NULL},
	 "0 done; 1 failed, or no key is one; 2 wrong usage, job file or question; 3 some are none",
	 {"saltmill key encode conf/calls.yaml --table calls_salted phone=13812345678 "
	  "'at=2013-06-28 "
	  "15:06:26'",
	  "saltmill key ranges conf/ratings.yaml --where \"userId = 1\" --format java"}},
	{"get",
	 {REGION},
	 "0 done, though there be no such row; 1 failed; " USAGE ",\n"
	 "or a live table that is not the job's",
	 {"saltmill get conf/timeseries_wide.yaml wide uid=1001 --max-columns 2",
	  "saltmill get conf/loans_open.yaml --hbase hbase1,hbase2 --row 1000103102"}},
	{"scan",
	 {REGION},
	 "0 done, though no row be found; 1 failed; 2 wrong usage, job file or question,\n"
	 "or a live table that is not the job's",
	 {"saltmill scan conf/ratings.yaml out --where \"userId = 1\" --limit 5 --decode",
	  "saltmill scan conf/ratings.yaml --hbase hbase1,hbase2 --where \"userId = 1\" "
	  "--explain"}},
	{"help",
	 {NULL},
	 "0 done; 2 no such command, key or chapter",
	 {"saltmill help bloomfilter", "saltmill help guide keys"}},
	{"version",
	 {NULL},
	 "0 done; 2 wrong usage",
	 {"saltmill version", "saltmill version --json"}},
};

const struct command_words *command_words(const char *name)
{
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(words[i].name, name) == 0)
			return &words[i];
	return NULL;
}
