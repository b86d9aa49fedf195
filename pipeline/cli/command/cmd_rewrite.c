/*
 * cmd_rewrite.c - implements `saltmill merge`, an offline major compaction of tables into a load, and
 * `saltmill convert`, which writes the cells of a table with other settings
 */
#include "arguments.h"

#include <string.h>

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
				 "found live table %s, expected files; take a snapshot, and %s "
				 "ROOT/.hbase-snapshot/NAME",
				 uri, a->command->name);
	return diff_table_open(t, uri, a, err);
}

static bool is_convert(const struct arguments *a)
{
	return strcmp(a->command->name, "convert") == 0;
}

/* Returns the settings that the options of convert change. */
static struct rewrite_change change_of(const struct arguments *a)
{
	return (struct rewrite_change){.family = a->convert.family,
				       .codec = arguments_given(a, "compression"),
				       .encoding = arguments_given(a, "data-block-encoding"),
				       .bloom = arguments_given(a, "bloomfilter"),
				       .framing = arguments_given(a, "framing"),
				       .to = {.codec = a->convert.codec,
					      .level = (int)a->convert.level,
					      .encoding = a->convert.encoding,
					      .bloom = a->convert.bloom,
					      .framing = a->convert.framing,
					      .block_bytes = (uint32_t)a->convert.block_bytes}};
}

static int rewrite(struct rewrite_result *out, struct arguments *a, const struct published *tables,
		   const struct splits *splits, struct error *err)
{
	struct progress progress = {.phase = NULL};
	const struct rewrite_change change = change_of(a);
	const struct rewrite_options o = {.name = a->command->name,
					  .tables = tables,
					  .ntables = a->noperands,
					  .output = a->output,
					  .table = a->table,
					  .splits = a->splits ? splits : NULL,
					  .change = &change,
					  .what_if = a->convert.what_if,
					  .keep_all = is_convert(a) || a->scan.q.raw,
					  .keep_sequence = a->convert.keep_sequence,
					  .now_ms = arguments_given(a, "now") ? a->scan.q.now_ms
									      : clock_wall_ms(),
					  .threads = a->run.threads,
					  .progress = &progress};
	struct reporter *reporter = a->run.quiet ? NULL : reporter_start_on_terminal(&progress);
	int rc = rewrite_run(out, &o, err);

	reporter_stop(reporter);
	return rc;
}

/* Describes the read files, and what became of their cells. */
static void put_inputs(struct buf *out, const struct arguments *a, const struct manifest *m)
{
	const struct manifest_table *t = m->tables;
	uint64_t before = 0, now = 0;
	char n[3][28];

	for (size_t i = 0; i < m->ninputs; i++)
		before += m->inputs[i].bytes;
	for (size_t i = 0; i < t->nregions; i++)
		now += t->regions[i].bytes;
	buf_printf(out, "read %s cells of %zu files", format_count(n[0], m->read), m->ninputs);
	if (is_convert(a))
		buf_printf(out, "; found %s, wrote %s\n", format_bytes(n[1], before),
			   format_bytes(n[2], now));
	else
		buf_printf(out, ", and dropped %s\n", format_count(n[1], t->filtered));
}

static int print(const struct arguments *a, const struct rewrite_result *r)
{
	const struct manifest *m = r->manifest;
	const struct manifest_table *t = m->tables; /* NULL with --what-if */
	struct buf out = {0};
	char n[2][28];

	if (a->convert.what_if) {
		(a->run.json ? what_if_report_json : what_if_report_text)(&out, r);
	} else if (a->run.json) {
		manifest_format(m, &out);
	} else if (!a->run.quiet) {
		buf_printf(&out, "%s: %s rows and %s cells in %zu files of %zu regions\n",
			   a->output, format_count(n[0], t->rows), format_count(n[1], t->cells),
			   t->nfiles, t->nregions);
		put_inputs(&out, a, m);
	}
	int status = a->convert.what_if
			     ? (a->run.json ? command_print : command_show)(a->command->name, &out)
			     : command_print_load(a->command->name, &out, a->run.json, a->output);
	buf_release(&out);
	return status;
}

static int run(struct arguments *a)
{
	if (!a->output && !a->convert.what_if)
		return arguments_refuse(a, "found no -o, expected -o DIR for the new load");
	if (a->convert.keep_sequence && a->noperands > 1)
		return arguments_refuse(a,
					"--keep-sequence-ids: found several inputs, expected one "
					"table, because each table has sequence ids of its own");
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
		rc = rewrite(&r, a, tables, &splits, &err);
	int status = rc ? command_fail(a->command->name, &err) : print(a, &r);
	arena_release(&r.arena);
	for (size_t i = 0; i < a->noperands; i++)
		diff_table_release(&inputs[i]);
	splits_release(&splits);
	mem_free(tables);
	mem_free(inputs);
	return status;
}

#define PLACES                                                                                     \
	"a load, a state, an HFile, a folder of HFiles, ROOT/data/NAMESPACE/TABLE or "             \
	"ROOT/.hbase-snapshot/NAME (a path, webhdfs:// or hdfs://)"
#define STATUSES                                                                                   \
	"0 published; 1 failed, and saltmill publishes nothing; " STATUS_USAGE "; " STATUS_STOPPED

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
	.operands = {{"IN...", PLACES}},
	.statuses = STATUSES,
	.examples = {"saltmill merge monday tuesday -o both",
		     "saltmill merge /srv/hbase/.hbase-snapshot/nightly -o compacted"}};

const struct command convert_command = {
	.name = "convert",
	.usage = "IN -o DIR|--what-if [options]",
	.summary =
		"write a load, HFiles, a table or a snapshot with another codec, encoding or block size",
	.least = 1,
	.most = 1,
	.run = run,
	.decides =
		"convert keeps all stored cells, also delete markers, deleted and expired cells. "
		"The load has a file for each region and family. create.rb has the new settings, "
		"because a compaction uses the settings of the table. A setting without an option "
		"stays as it is. --what-if measures the processor time of saltmill's reader.",
	.operands = {{"IN", PLACES}},
	.statuses = STATUSES,
	.examples = {
		"saltmill convert monday -o smaller --compression ZSTD --data-block-encoding DIFF",
		"saltmill convert monday --what-if --compression ZSTD"}};
