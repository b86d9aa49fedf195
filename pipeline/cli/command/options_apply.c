/* options_apply.c - options of apply and of stream --apply, which apply loads to a live HBase */
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "bytes.h"

/* Reads "10" as a number of loads, and "7d" as a time. */
int take_keep(const struct cli_option *o, const char *text, void *slot, struct error *err)
{
	struct follow_keep *keep = slot;
	bool is_number = text[strspn(text, "0123456789")] == 0;

	keep->by = is_number ? KEEP_LOADS : KEEP_TIME;
	if (is_number)
		return take_number(o, text, &keep->n, err);
	if (!parse_duration_s(text, &keep->n) || keep->n > INT32_MAX)
		return option_refuse(o, text, err, "a number of loads, or a time like 12h or 7d");
	return RC_OK;
}

static bool read_time(const char *text, unsigned *minute)
{
	unsigned hour, minutes;
	char after;

	if (strlen(text) != strlen("00:00") ||
	    sscanf(text, "%2u:%2u%c", &hour, &minutes, &after) != 2 || hour > 23 || minutes > 59)
		return false;
	*minute = hour * 60 + minutes;
	return true;
}

/* Reads "01:00-05:00", or hours that span midnight. */
static int take_window(const struct cli_option *o, const char *text, void *slot, struct error *err)
{
	struct apply_window *w = slot;
	char from[6] = "";

	snprintf(from, sizeof from, "%s", text);
	w->given = strlen(text) == strlen("01:00-05:00") && text[5] == '-' &&
		   read_time(from, &w->from) && read_time(text + 6, &w->until) &&
		   w->from != w->until;
	return w->given ? RC_OK
			: option_refuse(o, text, err, "two different times like 01:00-05:00");
}

/* clang-format off */
const struct cli_option options_apply[] = {
	{"apply", 0, "HOST[:PORT],...", "stream", take_text, AT(hbase),
	 .help = "apply each published load to this HBase, in order, as `apply` does; retry each "
		 "load until apply succeeds"},
	{"max-unapplied", 0, "N", "stream", take_number, AT(max_unapplied),
	 .help = "stop reading while this many loads wait for HBase", .standard = "100",
	 .least = 1, .most = UINT32_MAX, .with = "apply"},
	{"create", 0, NULL, "apply stream", take_flag, AT(create),
	 .help = "create missing tables with the script of the load (create.rb)", .with = "apply"},
	{"alter", 0, NULL, "apply stream", take_flag, AT(alter),
	 .help = "change the attributes of tables to those of the load", .with = "apply"},
	{"check", 0, NULL, "apply stream", take_flag, AT(check),
	 .help = "at the end, compare each cell of the load with the live table", .with = "apply"},
	{"dry-run", 0, NULL, "apply", take_flag, AT(dry_run),
	 .help = "check the cluster and print what apply would do", .without = "state"},
	{"check-access", 0, NULL, "apply", take_flag, AT(check_access),
	 .help = "only check login, clocks, rights, delegation token and upload folder, and print "
	 "the command that is missing", .without = "state dry-run check restart abort"},
	{"rate", 0, "SIZE", "apply stream", take_size, AT(rate),
	 .help = "upload at most this many bytes a second, such as 200M (default: no limit)",
	 .least = 1 << 20, .most = (uint64_t)1 << 40, .with = "apply"},
	{"window", 0, "HH:MM-HH:MM", "apply stream", take_window, AT(window),
	 .help = "begin uploads and calls only between these times of this machine's time zone; "
	 "wait outside of them", .with = "apply"},
	{"batch", 0, "N", "apply stream", take_number, AT(batch),
	 .help = "upload and load the files of N regions before those of the next N (default: "
	 "all regions; 8 with --pace)", .least = 1, .most = UINT32_MAX, .with = "apply"},
	{"pace", 0, NULL, "apply stream", take_flag, AT(pace),
	 .help = "before each batch, wait while the cluster has more to compact, or reads more "
	 "slowly, than before the load", .with = "apply"},
	{"no-replicate", 0, NULL, "apply stream", take_flag, AT(no_replicate),
	 .help = "do not let HBase replicate the cells of the load to other clusters",
	 .with = "apply"},
	{"also", 0, "HOST[:PORT],...", "apply", take_text, AT(also),
	 .help = "then load the same files into this second HBase, with a journal of its own",
	 .without = "state"},
	{"also-upload", 0, "URI", "apply", take_text, AT(also_upload),
	 .help = "the --upload of the second HBase", .with = "also"},
	{"also-webhdfs", 0, "HOST[:PORT],...", "apply", take_text, AT(also_webhdfs),
	 .help = "the --webhdfs of the second HBase", .with = "also"},
	{"restart", 0, NULL, "apply", take_flag, AT(restart),
	 .help = "remove the files and the journal of earlier runs, and load everything again; "
                 "use this option after a drop, truncation or new creation of the table",
	 .without = "state dry-run"},
	{"abort", 0, NULL, "apply", take_flag, AT(abandon),
	 .help = "cancel the load: remove its upload folder, staging folder and journal; files "
	 "that are in a table stay there", .without = "state restart dry-run check"},
	{"finish", 0, NULL, "rekey", take_flag, AT(rekey.finish),
	 .help = "no program writes the old table any more: make the last round, and compare both "
	 "tables", .with = "hbase"},
	{"repair", 0, NULL, "rekey", take_flag, AT(rekey.mend),
	 .help = "if the comparison finds different cells, write the old state of these cells to the "
	 "new table, which no other program may have written yet", .with = "finish"},
	{"round", 0, "TIME", "rekey", take_duration, AT(rekey.round_s),
	 .help = "without --finish: end after a round that took at most this long, or hardly less than "
	 "the round before", .standard = "30s", .with = "hbase"},
	{"dry-run", 0, NULL, "rekey", take_flag, AT(dry_run),
	 .help = "check the tables and print the next steps", .with = "hbase"},
	{"abort", 0, NULL, "rekey", take_flag, AT(abandon),
	 .help = "remove the snapshots, loads and journal of earlier runs; the new table stays",
	 .with = "hbase", .without = "finish dry-run"},
	{"yes", 0, NULL, "drop", take_flag, AT(yes),
	 .help = "drop the tables without a question"},
	{"user", 0, "NAME", "apply stream get scan tables regions describe drop watch init agree design rekey", take_text,
	 AT(user),
	 .help = "the HBase user (default: $HADOOP_USER_NAME, or the user who runs saltmill)",
	 .with = "apply hbase"},
	{"user", 0, "NAME", "diff", take_text, AT(user),
	 .help = "the HBase user (default: $HADOOP_USER_NAME, or the user who runs saltmill)"},
	{"upload", 0, "URI", "rekey", take_text, AT(upload),
	 .help = "upload the files to this folder of HBase's HDFS, as apply does (default: the home "
	 "folder)", .with = "hbase"},
	{"upload", 0, "URI", "apply stream", take_text, AT(upload),
	 .help = "upload the files to this folder: hdfs://..., webhdfs://..., s3a://... or /PATH "
	 "(default: the home folder in HDFS or S3, or next to DIR if HBase is in file://)", .with = "apply"},
	{"webhdfs", 0, "HOST[:PORT],...", "apply stream", take_text, AT(webhdfs),
	 .help = "the WebHDFS address (default: port 9870 of the NameNode)", .with = "apply"},
	{"copy-to", 0, "DIR", "apply", take_text, AT(copy_to),
	 .help = "copy a load in S3 or HDFS to this new folder, and apply the copy; a later run with "
		 "the same folder continues; apply copies HFiles from S3 only when it needs their bytes"},
	{"journal", 0, "FILE", "apply", take_text, AT(journal),
	 .help = "the journal, from which an interrupted run continues (default: "
	 "DIR.saltmill-apply)", .without = "state"},
	{"state", 0, "DIR", "apply", take_text, AT(state_dir),
	 .help = "apply all published loads of this state folder that are not in HBase yet, in "
	 "order"},
	{"follow", 0, NULL, "apply", take_flag, AT(forever),
	 .help = "also apply later loads, until a signal ends apply; retry failed loads",
	 .with = "state"},
	{"metrics", 0, "ADDRESS:PORT", "apply stream", take_text, AT(metrics),
	 .help = "serve /metrics for Prometheus at this address", .with = "state"},
	{"metrics", 0, "ADDRESS:PORT", "watch", take_text, AT(metrics),
	 .help = "serve /metrics for Prometheus at this address"},
	{"every", 0, "TIME", "watch", take_duration, AT(watch.every_s),
	 .help = "the length of a window; servers report every 3 s", .standard = "30s"},
	{"for", 0, "TIME", "watch", take_duration, AT(watch.for_s),
	 .help = "end after this time (default: a signal ends watch)"},
	{"keep", 0, "N|TIME", "apply stream", take_keep, AT(keep),
	 .help = "remove the folder of a load after N later loads are in HBase, or TIME (like "
		 "7d) after apply has loaded it (default: keep all)",
	 .with = "apply state", .most = UINT32_MAX},
	{0}
};
/* clang-format on */
