/* cmd_merge.c - implements `saltmill merge`, an offline major compaction of tables into a load */
#include "arguments.h"

#include "cli/reports.h"
#include "clock.h"
#include "diff_sides.h"
#include "mem.h"
#include "publish.h"
#include "reporter.h"
#include "splits.h"

/* Opens a table. Returns RC_CONFIG for a live table, because its servers have the cells. */
static int open_input(struct diff_table *t, const char *uri, const struct arguments *a,
		      struct error *err)
{
	if (strncmp(uri, "hbase://", 8) == 0)
		return error_set(err, RC_CONFIG,
				 "found live table %s, expected files; take a snapshot, and merge "
				 "ROOT/.hbase-snapshot/NAME",
				 uri);
	return diff_table_open(t, uri, a, err);
}

static int merge(struct rewrite_result *out, struct arguments *a, const struct published *tables,
		 const struct splits *splits, struct error *err)
{
	struct progress progress = {.phase = NULL};
	const struct rewrite_options o = {.tables = tables,
					  .ntables = a->noperands,
					  .output = a->output,
					  .table = a->table,
					  .splits = a->splits ? splits : NULL,
					  .keep_all = a->scan.q.raw,
					  .now_ms = arguments_given(a, "now") ? a->scan.q.now_ms
									      : clock_wall_ms(),
					  .threads = a->run.threads,
					  .progress = &progress};
	struct reporter *reporter = a->run.quiet ? NULL : reporter_start_on_terminal(&progress);
	int rc = rewrite_run(out, &o, err);

	reporter_stop(reporter);
	return rc;
}

static int print(const struct arguments *a, const struct rewrite_result *r)
{
	const struct manifest *m = r->manifest;
	const struct manifest_table *t = m->tables;
	struct buf out = {0};
	char n[4][28];

	if (a->run.json)
		manifest_format(m, &out);
	else if (!a->run.quiet)
		buf_printf(&out,
			   "%s: %s rows and %s cells in %zu files of %zu regions\n"
			   "read %s cells of %zu files, and dropped %s\n",
			   a->output, format_count(n[0], t->rows), format_count(n[1], t->cells),
			   t->nfiles, t->nregions, format_count(n[2], m->read), m->ninputs,
			   format_count(n[3], t->filtered));
	int status = (a->run.json ? command_print : command_show)("merge", &out);
	buf_release(&out);
	return status;
}

static int run(struct arguments *a)
{
	if (!a->output)
		return arguments_refuse(a, "found no -o, expected -o DIR for the new load");
	struct diff_table *inputs = mem_calloc(a->noperands, sizeof *inputs);
	struct published *tables = mem_calloc(a->noperands, sizeof *tables);
	struct rewrite_result r = {0};
	struct splits splits = {0};
	struct error err;
	int rc = a->splits ? splits_read(&splits, a->splits, &err) : RC_OK;

	for (size_t i = 0; rc == RC_OK && i < a->noperands; i++) {
		rc = open_input(&inputs[i], a->operand[i], a, &err);
		tables[i] = inputs[i].files;
	}
	if (rc == RC_OK)
		rc = merge(&r, a, tables, &splits, &err);
	int status = rc ? command_fail("merge", &err) : print(a, &r);
	arena_release(&r.arena);
	for (size_t i = 0; i < a->noperands; i++)
		diff_table_release(&inputs[i]);
	splits_release(&splits);
	mem_free(tables);
	mem_free(inputs);
	return status;
}

const struct command merge_command = {
	.name = "merge",
	.usage = "IN... -o DIR [options]",
	.summary = "merge loads, HFiles, tables and snapshots into one load, as a major compaction",
	.least = 1,
	.most = ANY_NUMBER,
	.run = run,
	.decides = "The inputs are in rising age: of equal cells, that of the last input wins. "
		   "merge drops what HBase's major compaction drops: deleted and expired cells, "
		   "versions beyond VERSIONS, and delete markers. Attributes and regions are those "
		   "of the last input. If the load goes to a table with other cells, add --raw, "
		   "because the dropped markers may delete those cells.",
	.operands = {{"IN...", "a load, a state, an HFile, a folder of HFiles, "
			       "ROOT/data/NAMESPACE/TABLE or ROOT/.hbase-snapshot/NAME (a path, "
			       "webhdfs:// or hdfs://)"}},
	.statuses = "0 published; 1 failed, and saltmill publishes nothing; " STATUS_USAGE
		    "; " STATUS_STOPPED,
	.examples = {"saltmill merge monday tuesday -o both",
		     "saltmill merge /srv/hbase/.hbase-snapshot/nightly -o compacted"}};
