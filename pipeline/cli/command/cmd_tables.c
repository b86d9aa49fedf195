/* cmd_tables.c - `saltmill tables`, `regions` and `describe`, which show a live cluster */
#include "arguments.h"
#include "cli/reports.h"
#include "hbase.h"
#include "live_tables.h"

/* Prints the result, whose command is a->command. Releases `out`. */
static int finish(const struct arguments *a, struct buf *out, int rc, const struct error *err)
{
	const char *name = a->command->name;
	int status = rc		   ? command_fail(name, err)
		     : a->run.json ? command_print(name, out)
				   : command_show(name, out);

	buf_release(out);
	return status;
}

/* --- tables --- */

static int run_tables(struct arguments *a)
{
	struct error err;
	struct hbase *h;
	struct hbase_tables tables = {0};
	struct buf out = {0};

	if (!live_tables_asked(a))
		return EXIT_USAGE;
	int rc = live_tables_open(&h, a, &err);
	if (rc == RC_OK)
		rc = live_tables_read(h, a->noperands ? a->operand[0] : NULL, &tables, &err);
	if (rc == RC_OK)
		(a->run.json ? tables_report_json : tables_report_text)(&out, &tables);
	hbase_tables_release(&tables);
	hbase_close(h);
	return finish(a, &out, rc, &err);
}

const struct command tables_command = {
	.name = "tables",
	.usage = "[REGEX] --hbase HOST[:PORT],... [--json]",
	.summary = "list the tables of a live HBase, with their states and numbers of regions",
	.most = 1,
	.run = run_tables,
	.decides = "REGEX is a regular expression of Java. It must match the whole name, with the "
		   "namespace if the table has one. The master evaluates REGEX, as for `list` of "
		   "HBase's shell. tables omits HBase's own tables.",
	.statuses = "0 done; 1 failed; " STATUS_USAGE,
	.examples = {"saltmill tables --hbase hbase1,hbase2",
		     "saltmill tables 'shop:.*' --hbase zk:zoo1,zoo2 --json"}};

/* --- regions --- */

static int run_regions(struct arguments *a)
{
	struct error err;
	struct hbase *h;
	const char *table = a->operand[0];
	struct hbase_regions regions = {0};
	struct hbase_status status = {0};
	struct buf out = {0};

	if (!live_tables_asked(a))
		return EXIT_USAGE;
	int rc = live_tables_open(&h, a, &err);
	if (rc == RC_OK)
		rc = live_tables_regions(h, table, &regions, &status, &err);
	if (rc == RC_OK && regions.gap)
		command_say("regions",
			    "table %s: found a gap or overlap in its regions, expected none. "
			    "HBase splits or merges a region, or the table is broken",
			    table);
	if (rc == RC_OK && a->run.json)
		regions_report_json(&out, table, &regions, &status);
	else if (rc == RC_OK)
		regions_report_text(&out, &regions, &status);
	hbase_regions_release(&regions);
	hbase_status_release(&status);
	hbase_close(h);
	return finish(a, &out, rc, &err);
}

const struct command regions_command = {
	.name = "regions",
	.usage = "TABLE --hbase HOST[:PORT],... [--json]",
	.summary = "list the regions of a live table, with row keys, servers, sizes and requests",
	.least = 1,
	.most = 1,
	.run = run_regions,
	.decides = "The output has the form of `list_regions` of HBase's shell. --existing of "
		   "other commands reads it. SIZE is in MiB. REQ counts reads and writes since "
		   "the server opened the region. Both are from the server's last report to the "
		   "master, a few seconds ago.",
	.statuses = "0 done; 1 failed; " STATUS_USAGE,
	.examples = {"saltmill regions orders --hbase hbase1,hbase2",
		     "saltmill regions shop:orders --hbase hbase1 --json"}};

/* --- describe --- */

static int run_describe(struct arguments *a)
{
	struct error err;
	struct hbase *h;
	const char *table = a->operand[0];
	struct description d = {0};
	enum hbase_table_state state;
	struct arena arena = {0};
	struct buf out = {0};

	if (!live_tables_asked(a))
		return EXIT_USAGE;
	int rc = live_tables_open(&h, a, &err);
	if (rc == RC_OK)
		rc = live_tables_describe(h, table, &d, &state, &arena, &err);
	if (rc == RC_OK)
		(a->run.json ? description_report_json : description_report_text)(&out, table,
										  state, &d);
	arena_release(&arena);
	hbase_close(h);
	return finish(a, &out, rc, &err);
}

const struct command describe_command = {
	.name = "describe",
	.usage = "TABLE --hbase HOST[:PORT],... [--json]",
	.summary = "print the attributes of a live table and of its column families",
	.least = 1,
	.most = 1,
	.run = run_describe,
	.decides = "The output has the form of `describe` of HBase's shell. `saltmill ddl "
		   "--alter` reads it. With --json, values are as HBase stores them: a TTL in "
		   "seconds, a size in bytes.",
	.statuses = "0 done; 1 failed; " STATUS_USAGE,
	.examples = {"saltmill describe orders --hbase hbase1,hbase2",
		     "saltmill describe shop:orders --hbase hbase1 --json"}};
