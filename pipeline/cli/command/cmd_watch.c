/* cmd_watch.c - implements `saltmill watch`, which shows the hot regions of a live table */
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "cli/metrics.h"
#include "cli/page.h"
#include "cli/reports.h"
#include "clock.h"
#include "hbase.h"
#include "io.h"
#include "job_login.h"
#include "key.h"
#include "live_tables.h"
#include "planning.h"
#include "pool.h"

#define WAIT_MS 100

struct watching {
	const struct arguments *args;
	struct hbase *hbase;
	struct watch *watch;
	struct watch_gauges gauges;
	int status;
};

/* --- figures --- */

static double share_of(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0;
}

static void set_shares(struct watch_gauges *g, const struct watch *w, enum watch_kind k)
{
	uint64_t region = 0, busiest = 0;

	for (size_t s = 0; s < w->nservers; s++) {
		uint64_t sum = 0;

		for (size_t i = 0; i < w->nregions; i++) {
			uint64_t n = w->regions[i].last[k];

			sum += w->regions[i].server == s ? n : 0;
			region = n > region ? n : region;
		}
		busiest = sum > busiest ? sum : busiest;
	}
	g->region_share[k] = share_of(region, w->total[k]);
	g->server_share[k] = share_of(busiest, w->total[k]);
}

static void set_gauges(struct watch_gauges *g, const struct watch *w)
{
	double s = w->window_s > 0 ? w->window_s : 1;

	g->reads = w->all[WATCH_READS];
	g->writes = w->all[WATCH_WRITES];
	g->reads_s = (double)w->total[WATCH_READS] / s;
	g->writes_s = (double)w->total[WATCH_WRITES] / s;
	set_shares(g, w, WATCH_READS);
	set_shares(g, w, WATCH_WRITES);
	g->hot_share = w->hot.kind == HOT_NONE ? 0 : w->hot.share;
	g->regions = w->nregions;
	g->windows = w->readings - 1;
	g->moved = w->moved;
	g->restarted = w->restarted;
	g->made = w->cut;
}

/* --- output --- */

static int show_window(struct watching *x)
{
	const struct arguments *a = x->args;
	struct buf out = {0};
	int64_t wall_ms = clock_wall_ms();

	if (a->run.json)
		watch_line_json(&out, x->watch, wall_ms);
	else if (!a->run.quiet)
		watch_line_text(&out, x->watch, wall_ms);
	if (a->run.json)
		buf_put(&out, '\n');
	int status = (a->run.json ? command_print : command_show)("watch", &out);
	buf_release(&out);
	return status;
}

static int write_page(const struct watching *x, struct error *err)
{
	struct buf page = {0};

	if (!x->args->output)
		return RC_OK;
	page_watch(&page, x->watch, clock_wall_ms());
	int rc = io_replace_file(x->args->output, buf_bytes(&page), NULL, err);
	buf_release(&page);
	return rc;
}

static void show_end(struct watching *x)
{
	struct buf out = {0};

	if (x->args->run.json || !x->watch->nwindows || x->status)
		return;
	watch_report_text(&out, x->watch);
	x->status = command_show("watch", &out);
	buf_release(&out);
}

/* --- readings --- */

/* Report a reading that took longer than a window. */
static void report_delay(const struct watching *x, int64_t began_ms)
{
	int64_t ms = clock_ms() - began_ms;

	if (ms > 1000 * (int64_t)x->args->watch.every_s)
		command_say("watch",
			    "HBase did not answer for %.0f s; the next window has all requests "
			    "since then",
			    (double)ms / 1000);
}

/* Read the regions and their counters. The first reading begins the first window. */
static int take_reading(struct watching *x, struct error *err)
{
	struct hbase_regions regions;
	struct hbase_status status;
	int64_t began_ms = clock_ms();
	int rc = live_tables_regions(x->hbase, x->args->table, &regions, &status, err);

	if (rc == RC_OK) {
		report_delay(x, began_ms);
		watch_take(x->watch, &regions, &status, clock_ms());
		watch_judge(x->watch);
		set_gauges(&x->gauges, x->watch);
	} else if (rc == RC_CONFIG && x->watch->readings) {
		/* the job and the options were right at the first reading */
		err->code = rc = RC_IO;
	}
	hbase_regions_release(&regions);
	hbase_status_release(&status);
	return rc;
}

/* Wait until the time of clock_ms. Returns false if a signal came. */
static bool wait_until(int64_t ms)
{
	while (!stop_flag && clock_ms() < ms) {
		int64_t rest = ms - clock_ms();

		clock_sleep_ms(rest < WAIT_MS ? rest : WAIT_MS);
	}
	return !stop_flag;
}

static int watch_windows(struct watching *x, struct error *err)
{
	const struct arguments *a = x->args;
	int64_t begin = clock_ms(), end = begin + 1000 * (int64_t)a->watch.for_s;
	int64_t every = 1000 * (int64_t)a->watch.every_s, next = begin;
	int rc = take_reading(x, err);

	while (rc == RC_OK && !x->status) {
		next += every;
		if (next < clock_ms()) /* HBase did not answer for a long time */
			next = clock_ms() + every;
		if ((a->watch.for_s && next > end + WAIT_MS) || !wait_until(next))
			break;
		rc = take_reading(x, err);
		if (rc == RC_OK)
			rc = write_page(x, err);
		if (rc == RC_OK)
			x->status = show_window(x);
	}
	return rc;
}

static int run_watch(struct arguments *a, struct key_table *keys, const char *job_path,
		     struct error *err)
{
	struct watching x = {.args = a, .gauges = {.table = a->table}};
	const struct metrics_of shown = {.watch = &x.gauges, .job_path = job_path};
	struct metrics *metrics = NULL;
	int rc = a->metrics ? metrics_start(&metrics, a->metrics, &shown, err) : RC_OK;

	x.watch = watch_new(a->table, keys);
	if (rc == RC_OK)
		rc = live_tables_open(&x.hbase, a, err);
	if (rc == RC_OK)
		rc = watch_windows(&x, err);
	show_end(&x);
	bool hot = x.watch->hot.kind != HOT_NONE;
	metrics_stop(metrics);
	hbase_close(x.hbase);
	watch_free(x.watch);
	if (rc && rc != RC_STOPPED)
		return command_fail("watch", err);
	return x.status ? x.status : hot ? EXIT_REJECTS : EXIT_DONE;
}

static int run_with_job(struct arguments *a)
{
	struct job job;
	struct error err;
	const struct job_table *table = NULL;
	struct key_table keys;
	int rc = job_load(&job, a->job, &err), status;

	job.allow_code = a->run.allow_code;
	if (rc == RC_OK)
		rc = job_login(a, &job, &err);
	if (rc == RC_OK)
		rc = job_find_table(&job, a->table, &table, &err);
	if (rc == RC_OK) {
		key_table_open(&keys, &job, table);
		status = run_watch(a, &keys, job.path, &err);
		key_table_close(&keys);
	} else {
		status = command_fail("watch", &err);
	}
	job_release(&job);
	return status;
}

static int run(struct arguments *a)
{
	struct error err;

	if (!live_tables_asked(a))
		return EXIT_USAGE;
	if (!a->table)
		return arguments_refuse(a, "found no --table, expected `--table TABLE`");
	if (a->job)
		return run_with_job(a);
	int rc = job_login(a, NULL, &err);
	return rc ? command_fail("watch", &err) : run_watch(a, NULL, NULL, &err);
}

const struct command watch_command = {
	.name = "watch",
	.usage = "--hbase HOST[:PORT],... --table TABLE [--job JOB] [options]",
	.summary = "show the reads and writes of a live table by region and time, and name hot "
		   "regions",
	.run = run,
	.decides =
		"watch reads HBase's counters. Each line is a window of time, with the heat of all "
		"regions from the first to the last. A region is hot with four times the even "
		"share. In a table of few regions, a region is hot if its share is nearer to "
		"all requests than to the even share. watch counts splits, merges, moves and "
		"restarted servers. At the end, watch prints heat maps.",
	.statuses =
		"0 ended by --for or a signal; 1 failed, or the table was dropped; " STATUS_USAGE
		"; 3 as 0, and the newest window has a hot region or server",
	.examples = {"saltmill watch --hbase hbase1,hbase2 --table orders --job orders.yaml",
		     "saltmill watch --hbase hbase1 --table orders --for 10m -o orders.html"}};
