/* cmd_agree.c - implements `saltmill agree`, which compares tables that the same events feed */
#include "agree_repair.h"
#include "agree_tables.h"

#include <string.h>

#include "cli/reports.h"
#include "clock.h"
#include "diff_sides.h"
#include "job_login.h"
#include "live_tables.h"
#include "load_dirs.h"
#include "mem.h"
#include "publish.h"
#include "reporter.h"

/* A table of the job, as the comparison reads it. */
struct agree_table {
	const char *place; /* a table's folder or a snapshot that contains it, or NULL */
	struct published files;
	struct key_table keys;
	struct stored stored;
};

struct agreeing {
	struct arguments *args;
	struct job job;
	struct field_forms forms;
	struct load_dirs dirs;
	struct hbase *hbase;
	struct agree_table *tables; /* [job.ntables] */
	size_t truth;
	const struct job_table *chosen; /* of --table, or NULL */
	struct agree_report report;
	struct agree_repair repair;
	struct budget budget;
	struct progress progress;
	struct arena arena;
};

static int check(const struct arguments *a, struct error *err)
{
	if (!a->agree.truth)
		return error_set(err, RC_CONFIG,
				 "found no --truth, expected `--truth TABLE`, the table that is "
				 "right");
	if ((a->noperands < 2) != (a->hbase != NULL))
		return error_set(err, RC_CONFIG,
				 "found %s, expected a job and the folders of its loads or tables, "
				 "or a job and `--hbase HOST[:PORT],...`%s",
				 a->hbase ? "folders and --hbase" : "no folder of a load",
				 !a->hbase && a->agree.repair
					 ? "; --repair names a new load, and not a load to read"
					 : "");
	return RC_OK;
}

/* Returns true unless the load has other tables only, as a repair of one table. */
static bool may_have_table(const char *dir, const char *table)
{
	struct manifest m;
	struct arena arena = {0};
	struct error ignored;
	char *path = mem_format("%s/manifest.json", dir);
	bool may = manifest_read(&m, path, &arena, &ignored) != RC_OK;

	for (size_t i = 0; !may && i < m.ntables; i++)
		may = strcmp(m.tables[i].name, table) == 0;
	mem_free(path);
	arena_release(&arena);
	return may;
}

/* Opens a table's folder or a snapshot in HBase's folders as a table of the job. */
static int open_place(struct agreeing *g, const struct offline_place *place, struct error *err)
{
	const struct listener say = command_listener("agree");
	struct published p = {0};
	size_t i = 0;
	int rc = offline_open(&p, place, err);

	while (rc == RC_OK && i < g->job.ntables && strcmp(g->job.tables[i].schema.name, p.table))
		i++;
	if (rc == RC_OK && i == g->job.ntables)
		rc = error_set(err, RC_CONFIG, "%s: found table %s, expected a table of the job",
			       place->uri, p.table);
	else if (rc == RC_OK && g->tables[i].place)
		rc = error_set(err, RC_CONFIG, "%s: found table %s, which %s contains, too",
			       place->uri, p.table, g->tables[i].place);
	if (rc == RC_OK && p.description)
		rc = agree_find_altered(&g->report, &g->job.tables[i], p.description, false,
					&g->arena, err);
	if (rc == RC_OK)
		rc = offline_restrict(&p, place->kind, &g->job.tables[i].schema,
				      g->args->run.quiet ? NULL : &say, err);
	if (rc) {
		published_release(&p);
		return rc;
	}
	g->tables[i].place = place->uri;
	g->tables[i].files = p;
	return RC_OK;
}

/* Opens an operand: a table in HBase's folders, or else loads, whose tables open_table opens. */
static int open_operand(struct agreeing *g, const char *uri, struct error *err)
{
	struct offline_place place = {.uri = uri, .storage = &g->args->place};
	int rc = diff_judge_place(&place, err);

	if (rc)
		return rc;
	return place.kind == OFFLINE_HFILES ? load_dirs_add(&g->dirs, uri, err)
					    : open_place(g, &place, err);
}

/* Opens a table of the job: the loads that have it, or only its families if it is live. */
static int open_loads(struct agreeing *g, size_t i, struct error *err)
{
	const char **dirs = arena_alloc(&g->arena, (g->dirs.n + 1) * sizeof *dirs);
	const char *name = g->job.tables[i].schema.name;
	size_t n = 0;

	for (size_t k = 0; k < g->dirs.n; k++)
		if (may_have_table(g->dirs.path[k], name))
			dirs[n++] = g->dirs.path[k];
	if (n == 0 && g->dirs.n)
		dirs[n++] = g->dirs.path[0];
	if (n == 0 && !g->hbase)
		return error_set(err, RC_CONFIG,
				 "table %s: found no load, table or snapshot of it, expected its "
				 "folder; to compare only one table, add `--table NAME`",
				 name);
	return published_open(&g->tables[i].files, &g->job.tables[i].schema, dirs, n, err);
}

/* Reports loads that have a table whose place is the folder of another operand. */
static void note_loads(const struct agreeing *g, size_t i)
{
	const struct listener say = command_listener("agree");
	const char *name = g->job.tables[i].schema.name;

	for (size_t k = 0; k < g->dirs.n; k++)
		if (may_have_table(g->dirs.path[k], name))
			report_to(&say, "note: reads table %s from %s, and ignores it in load %s",
				  name, g->tables[i].place, g->dirs.path[k]);
}

/* Compares a live table with the job. A user without the right to read attributes gets no comparison. */
static int look_at_live(struct agreeing *g, size_t i, struct error *err)
{
	const struct job_table *t = &g->job.tables[i];
	struct description have;
	struct hbase_regions live = {0};
	bool exists = true, denied = false;
	int rc = live_tables_read_one(g->hbase, t->schema.name, &have, &g->arena, &exists, &denied,
				      err);

	if (rc == RC_OK && !exists)
		return live_tables_missing(t->schema.name, err);
	if (rc == RC_OK && !denied)
		rc = agree_find_altered(&g->report, t, &have,
					g->args->agree.repair && i != g->truth, &g->arena, err);
	if (rc == RC_OK && !denied)
		rc = live_tables_places(g->hbase, t->schema.name, &live, err);
	if (rc == RC_OK && !denied)
		agree_find_merged(&g->report, &g->job, t, &live, &g->arena);
	hbase_regions_release(&live);
	return rc;
}

static int open_table(struct agreeing *g, size_t i, struct error *err)
{
	struct agree_table *t = &g->tables[i];

	key_table_open(&t->keys, &g->job, &g->job.tables[i]);
	stored_open(&t->stored, &t->keys, &g->forms);
	int rc = g->hbase ? look_at_live(g, i, err) : RC_OK;
	if (rc == RC_OK && !t->place)
		return open_loads(g, i, err);
	if (rc == RC_OK && !g->args->run.quiet)
		note_loads(g, i);
	return rc;
}

/* Returns true if the comparison reads the table. */
static bool is_wanted(const struct agreeing *g, size_t i)
{
	return i == g->truth || !g->chosen || g->chosen == &g->job.tables[i];
}

static int open_job(struct agreeing *g, struct error *err)
{
	struct arguments *a = g->args;
	const struct job_table *truth = NULL;
	struct hbase_failure why;
	int rc = job_load(&g->job, a->operand[0], err);

	if (rc == RC_OK)
		rc = job_login(a, &g->job, err);
	if (rc == RC_OK)
		rc = job_find_table(&g->job, a->agree.truth, &truth, err);
	if (rc == RC_OK && g->job.ntables < 2)
		rc = error_set(err, RC_CONFIG,
			       "%s: found a job with one table, expected several tables that one "
			       "event feeds",
			       a->operand[0]);
	if (rc == RC_OK)
		g->truth = (size_t)(truth - g->job.tables);
	if (rc == RC_OK && a->table)
		rc = job_find_table(&g->job, a->table, &g->chosen, err);
	if (rc == RC_OK && g->chosen == truth)
		rc = error_set(err, RC_CONFIG,
			       "--table: found %s, expected another table than --truth", a->table);
	if (rc == RC_OK)
		rc = field_forms_open(&g->forms, &g->job, err);
	if (rc == RC_OK && a->hbase)
		rc = hbase_open(&g->hbase, a->hbase, a->user, &why, err);
	if (rc)
		return rc;
	g->tables = mem_calloc(g->job.ntables, sizeof *g->tables);
	g->report.truth = truth->schema.name;
	g->report.tables = arena_alloc(&g->arena, g->job.ntables * sizeof *g->report.tables);
	for (size_t i = 1; rc == RC_OK && i < a->noperands; i++)
		rc = open_operand(g, a->operand[i], err);
	for (size_t i = 0; rc == RC_OK && i < g->job.ntables; i++)
		if (is_wanted(g, i))
			rc = open_table(g, i, err);
	return rc;
}

static struct diff_side side_of(const struct agreeing *g, size_t i)
{
	return (struct diff_side){&g->tables[i].files, g->hbase, g->job.tables[i].schema.name};
}

/* Finds the split points of a table's repair. The live table's regions replace them later. */
static int find_splits(struct agreeing *g, size_t i, struct splits *out, struct error *err)
{
	const struct listener say = command_listener("agree");
	const struct published *p = &g->tables[i].files;
	int rc = RC_OK;

	if (!g->tables[i].place)
		return agree_split_points(out, &g->dirs, g->job.tables[i].schema.name,
					  g->args->run.quiet ? NULL : &say, err);
	for (size_t r = 1; rc == RC_OK && r < p->nregions; r++)
		rc = splits_add(out, p->split_keys[r - 1], err);
	return rc;
}

static int begin_repair(struct agreeing *g, size_t i, struct error *err)
{
	struct splits s = {0};
	int rc = find_splits(g, i, &s, err);

	if (rc == RC_OK)
		rc = agree_repair_table(&g->repair, &g->job.tables[i], &s, err);
	splits_release(&s);
	return rc;
}

static int compare_table(struct agreeing *g, size_t i, struct error *err)
{
	const struct arguments *a = g->args;
	const struct job_table *of = &g->job.tables[i];
	struct agree_table_report *t = &g->report.tables[g->report.n++];
	const struct agree_options o = {.job = &g->job,
					.truth = g->truth,
					.other = i,
					.side = {side_of(g, g->truth), side_of(g, i)},
					.now_ms = arguments_given(a, "now") ? a->scan.q.now_ms
									    : clock_wall_ms(),
					.shown = (size_t)a->shown,
					.budget = &g->budget,
					.temp_dir = a->run.temp_dir ? a->run.temp_dir : ".",
					.repair = a->agree.repair ? agree_repair_cell : NULL,
					.ctx = &g->repair,
					.delete_extra = a->agree.delete_extra,
					.progress = &g->progress,
					.listener = command_listener("agree")};

	*t = (struct agree_table_report){.table = of->schema.name, .stored = &g->tables[i].stored};
	int rc = o.repair ? begin_repair(g, i, err) : RC_OK;
	return rc ? rc : agree_run(&t->result, &o, err);
}

/* Keeps the reason why one of several tables cannot be compared. */
static bool is_refused(struct agreeing *g, int rc, const struct error *err)
{
	bool refused = rc == RC_CONFIG && g->job.ntables > 2 && !g->args->table;

	if (refused)
		g->report.tables[g->report.n - 1].refused = arena_strdup(&g->arena, err->msg);
	return refused;
}

static int compare_all(struct agreeing *g, struct error *err)
{
	size_t refused = 0;
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < g->job.ntables; i++) {
		if (i == g->truth || !is_wanted(g, i))
			continue;
		rc = compare_table(g, i, err);
		if (is_refused(g, rc, err)) {
			refused++;
			rc = RC_OK;
		}
	}
	if (rc == RC_OK && refused && refused == g->report.n)
		rc = error_set(err, RC_CONFIG, "found no table to compare: %s",
			       g->report.tables[0].refused);
	return rc;
}

static int work(struct agreeing *g, struct error *err)
{
	const struct arguments *a = g->args;
	int rc = check(a, err);

	if (rc == RC_OK)
		rc = open_job(g, err);
	if (rc == RC_OK && a->agree.repair)
		rc = agree_repair_open(&g->repair, a->agree.repair, err);
	struct reporter *reporter = a->run.quiet ? NULL : reporter_start_on_terminal(&g->progress);
	if (rc == RC_OK)
		rc = compare_all(g, err);
	reporter_stop(reporter);
	if (rc == RC_OK && a->agree.repair)
		rc = agree_repair_load(&g->repair, a, err);
	g->report.repair = g->repair.out;
	g->report.repair_cells = g->repair.cells;
	return rc;
}

static int print(struct agreeing *g)
{
	const struct arguments *a = g->args;
	struct buf out = {0};

	if (a->run.json)
		agree_report_json(&out, &g->report);
	else if (!a->run.quiet)
		agree_report_text(&out, &g->report);
	int status = (a->run.json ? command_print : command_show)("agree", &out);
	buf_release(&out);
	if (status)
		return status;
	return agree_is_equal(&g->report) ? EXIT_DONE : EXIT_REJECTS;
}

static void release(struct agreeing *g)
{
	for (size_t i = 0; i < g->report.n; i++)
		arena_release(&g->report.tables[i].result.arena);
	for (size_t i = 0; g->tables && i < g->job.ntables; i++) {
		published_release(&g->tables[i].files);
		stored_release(&g->tables[i].stored);
		key_table_close(&g->tables[i].keys);
	}
	mem_free(g->tables);
	agree_repair_close(&g->repair);
	hbase_close(g->hbase);
	load_dirs_release(&g->dirs);
	field_forms_close(&g->forms);
	arena_release(&g->arena);
	job_release(&g->job);
}

static int run(struct arguments *a)
{
	struct agreeing g = {.args = a, .budget = {.limit = a->run.memory_bytes}};
	struct error err;
	int rc = work(&g, &err);
	int status = rc ? command_fail("agree", &err) : print(&g);

	release(&g);
	return status;
}

const struct command agree_command = {
	.name = "agree",
	.usage = "JOB DIR...|--hbase HOST[:PORT],... --truth TABLE [--repair OUT] [options]",
	.summary = "compare tables that one event feeds, and write the load that repairs them",
	.least = 1,
	.most = ANY_NUMBER,
	.run = run,
	.decides = "agree turns the cells of the truth table back into events. It encodes these "
		   "events for each other table of the job as a load does, and compares the newest "
		   "version of each column. A column that depends on a field which the truth table "
		   "does not store is not compared, and agree lists it. A repair puts missing and "
		   "different cells. It deletes extra cells, unless they may be older events.",
	.operands = {{"DIR...",
		      "loads of all these tables, oldest first, or a state folder; or a "
		      "table or a snapshot in HBase's folders, ROOT/data/NAMESPACE/TABLE or "
		      "ROOT/.hbase-snapshot/NAME, for each table"}},
	.statuses = "0 the tables agree in all that was compared; 3 they differ, or a table was "
		    "not compared; 1 failed; " STATUS_USAGE "; " STATUS_STOPPED,
	.examples = {"saltmill agree conf/loans.yaml loans --truth student_loans",
		     "saltmill agree conf/loans.yaml --hbase hbase1,hbase2 --truth student_loans "
		     "--repair mended"}};
