/* options_regions.c - options that take the regions from an existing table */
#include "options.h"

static int take_existing(const struct cli_option *o, const char *text, void *slot,
			 struct error *err)
{
	(void)o, (void)err;
	existing_regions_add(slot, text);
	return RC_OK;
}

#define LIVE                                                                                       \
	"load replay plan drift get scan diff agree tables regions describe drop tokens watch "    \
	"design init rekey apply"

/* clang-format off */
const struct cli_option options_regions[] = {
	{"existing", 0, "[TABLE=]FILE", "load stream replay plan drift", take_existing, AT(live),
	 .help = "use the regions of an existing table; FILE is the output of get_splits or "
	 "list_regions"},
	{"hbase", 0, "HOST[:PORT],...", "load replay", take_text, AT(hbase),
	 .help = "use the regions of the live tables, whose attributes must match the job"},
	{"hbase", 0, "HOST[:PORT],...", "plan", take_text, AT(hbase),
	 .help = "use the regions of the live tables"},
	{"hbase", 0, "HOST[:PORT],...", "drift", take_text, AT(hbase),
	 .help = "use the regions of the live tables, with their sizes and request counts"},
	{"hbase", 0, "HOST[:PORT],...", "get scan", take_text, AT(hbase),
	 .help = "query the live table instead of the folders of loads; HOST is a master, a region "
	 "server (HBase 2.5 or later) or zk:HOST[:PORT],...[/PARENT]", .without = "now"},
	{"hbase", 0, "HOST[:PORT],...", "diff", take_text, AT(hbase),
	 .help = "B is --table of this cluster; for HOST, see the chapter hbase of the guide",
	 .with = "table", .without = "now"},
	{"hbase", 0, "HOST[:PORT],...", "agree", take_text, AT(hbase),
	 .help = "compare the live tables of this cluster, and divide the repair by their regions; "
	 "for HOST, see the chapter hbase of the guide", .without = "now"},
	{"timeout", 0, "TIME", LIVE, take_duration, AT(timeout_s),
	 .help = "fail if an operation of HBase, with its retries and logins, takes longer than TIME; "
	 "allow at least 60s for a slow filter (default: 2m for questions, otherwise 4m of retries)",
	 .with = "hbase"},
	{"hbase", 0, "HOST[:PORT],...", "tables regions describe drop tokens watch", take_text, AT(hbase),
	 .help = "the cluster: its masters (port 16000) or zk:HOST[:PORT],...[/PARENT]; the chapter "
	 "hbase of the guide lists all forms"},
	{"hbase", 0, "HOST[:PORT],...", "design", take_text, AT(hbase),
	 .help = "the cluster of --calibrate; for HOST, see the chapter hbase of the guide",
	 .with = "calibrate"},
	{"hbase", 0, "HOST[:PORT],...", "init", take_text, AT(hbase),
	 .help = "make a job for the live table of --table, from a sample of its rows"},
	{"hbase", 0, "HOST[:PORT],...", "rekey", take_text, AT(hbase),
	 .help = "move the live table of OLD to that of NEW, in rounds; -o DIR is then the folder of "
	 "the journal and of the loads"},
	{"hbase", 0, "HOST[:PORT],...", "apply", take_text, AT(hbase),
	 .help = "masters (port 16000) or region servers (HBase 2.5 or later); apply uses the "
	 "first one that answers. With zk:HOST[:PORT],...[/PARENT], apply finds the masters "
	 "through ZooKeeper "
	 "(2181, /hbase)."},
	{0}
};
/* clang-format on */
