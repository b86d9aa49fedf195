/* cmd_diff.c - implements `saltmill diff`, which compares the cells of two tables */
#include "arguments.h"

#include "cli/reports.h"
#include "clock.h"
#include "diff_sides.h"
#include "reporter.h"

static int compare(struct diff_result *r, const struct diff_table side[2], struct arguments *a,
		   struct error *err)
{
	struct progress progress = {.phase = NULL};
	const struct diff_side sides[2] = {{&side[0].files, side[0].hbase, side[0].table},
					   {&side[1].files, side[1].hbase, side[1].table}};
	struct query q = a->scan.q;

	q.versions = arguments_given(a, "versions") ? (uint32_t)a->versions : INT32_MAX;
	q.start = buf_bytes(&a->scan.start);
	q.stop = buf_bytes(&a->scan.stop);
	/* Servers never return a cell whose own TTL has passed, but files still store it. */
	bool stored = q.raw && !side[0].hbase && !side[1].hbase;
	if (!arguments_given(a, "now"))
		q.now_ms = stored ? 0 : clock_wall_ms();
	const struct diff_options o = {.query = &q,
				       .shown = (size_t)a->shown,
				       .threads = a->run.threads,
				       .progress = &progress,
				       .listener = command_listener("diff")};
	struct reporter *reporter = a->run.quiet ? NULL : reporter_start_on_terminal(&progress);
	int rc = diff_run(r, sides, &o, err);
	reporter_stop(reporter);
	return rc;
}

/* Returns RC_CONFIG for an empty range, because the tables would be equal whatever they contain. */
static int check_range(const struct arguments *a, struct error *err)
{
	struct bytes start = buf_bytes(&a->scan.start), stop = buf_bytes(&a->scan.stop);

	if (!start.len || !stop.len || bytes_cmp(start, stop) < 0)
		return RC_OK;
	return error_set(
		err, RC_CONFIG,
		"--stop: found a row key that is not above --start, expected a larger one, "
		"because diff compares the rows from --start to before --stop");
}

static int print(const struct arguments *a, const struct diff_result *r, const char *const place[2])
{
	struct buf out = {0};
	bool equal = diff_is_equal(r);

	if (a->run.json)
		diff_report_json(&out, r, place);
	else if (!a->run.quiet)
		diff_report_text(&out, r);
	int status = (a->run.json ? command_print : command_show)("diff", &out);
	buf_release(&out);
	return status ? status : equal ? EXIT_DONE : EXIT_REJECTS;
}

static int run(struct arguments *a)
{
	struct diff_table side[2] = {{0}};
	struct diff_result r = {0};
	struct error err;
	int rc = check_range(a, &err);

	if (rc == RC_OK)
		rc = diff_sides_open(side, a, &err);
	if (rc == RC_OK)
		rc = compare(&r, side, a, &err);
	const char *const place[2] = {side[0].place, side[1].place};
	int status = rc ? command_fail("diff", &err) : print(a, &r, place);
	arena_release(&r.arena);
	diff_sides_release(side);
	return status;
}

const struct command diff_command = {
	.name = "diff",
	.usage = "A B|A --hbase HOST[:PORT],... --table TABLE [options]",
	.summary = "compare the cells of two tables: loads, HFiles, tables, snapshots, live tables",
	.most = 2,
	.run = run,
	.decides =
		"diff reads both tables once, in key order. It compares the cells that a scan of "
		"all versions returns: VERSIONS, TTL and delete markers apply. With --raw, it "
		"compares all stored cells. A cell that only one table has is listed with its "
		"timestamp and type. Tags are compared unless a table is live, because servers "
		"do not return tags.",
	.operands = {{"A, B", "a load, a state, a folder of HFiles, ROOT/data/NAMESPACE/TABLE, "
			      "ROOT/.hbase-snapshot/NAME (a path, webhdfs:// or hdfs://), or "
			      "hbase://HOST[:PORT],.../TABLE for a live table"}},
	.statuses = "0 the tables are equal; 3 they are different; 1 failed; " STATUS_USAGE
		    "; " STATUS_STOPPED,
	.examples = {"saltmill diff out --hbase hbase1,hbase2 --table ratings",
		     "saltmill diff out /srv/hbase/data/default/ratings --raw"}};
