/* cmd_rekey.c - implements `saltmill rekey`, which writes the cells of a table under other row keys */
#include "arguments.h"

#include <string.h>

#include "apply.h"
#include "cli/reports.h"
#include "diff_sides.h"
#include "job_login.h"
#include "publish.h"
#include "reporter.h"

/* The jobs, and the table to read. */
struct rekeying {
	struct job from, to;
	const struct job_table *from_table, *to_table;
	struct diff_table source, before; /* `before` is the table of --since */
	struct rewrite_result result;
	struct move_result moved; /* with --hbase */
};

/* Returns the name of the new table: --to, the name of the old table, or NULL for the only table. */
static const char *name_new_table(const struct rekeying *k, const struct arguments *a)
{
	if (a->rekey.to || k->to.ntables == 1)
		return a->rekey.to;
	return k->from_table->schema.name;
}

static int open_jobs(struct rekeying *k, struct arguments *a, struct error *err)
{
	int rc = job_load(&k->from, a->operand[0], err);

	if (rc == RC_OK)
		rc = job_load(&k->to, a->operand[1], err);
	if (rc == RC_OK)
		rc = job_login(a, &k->from, err);
	if (rc == RC_OK)
		rc = job_find_table(&k->from, a->table, &k->from_table, err);
	if (rc == RC_OK)
		rc = job_find_table(&k->to, name_new_table(k, a), &k->to_table, err);
	return rc;
}

static int open_source(struct rekeying *k, struct arguments *a, struct error *err)
{
	const char *uri = a->operand[2];

	if (strncmp(uri, "hbase://", 8) == 0)
		return error_set(err, RC_CONFIG,
				 "found live table %s, expected files; take a snapshot, and rekey "
				 "ROOT/.hbase-snapshot/NAME",
				 uri);
	a->table = k->from_table->schema.name;
	int rc = diff_table_open(&k->source, uri, a, err);
	return rc || !a->rekey.since ? rc : diff_table_open(&k->before, a->rekey.since, a, err);
}

static struct rekey_options keys_of(const struct rekeying *k, const struct arguments *a)
{
	return (struct rekey_options){.from = &k->from,
				      .to = &k->to,
				      .from_table = k->from_table,
				      .to_table = k->to_table,
				      .join_rows = a->rekey.join_rows,
				      .memory = a->run.memory_bytes,
				      .temp_dir = a->run.temp_dir};
}

static int rewrite(struct rekeying *k, const struct arguments *a, struct error *err)
{
	struct progress progress = {.phase = NULL};
	const struct rewrite_change none = {.family = NULL};
	struct rekey_options keys = keys_of(k, a);
	const struct rewrite_options o = {.name = "rekey",
					  .tables = &k->source.files,
					  .ntables = 1,
					  .output = a->output,
					  .change = &none,
					  .rekey = &keys,
					  .keep_all = true,
					  .threads = a->run.threads,
					  .progress = &progress};
	struct reporter *reporter = a->run.quiet ? NULL : reporter_start_on_terminal(&progress);
	keys.before = a->rekey.since ? &k->before.files : NULL;
	int rc = rewrite_run(&k->result, &o, err);

	reporter_stop(reporter);
	return rc;
}

static int print(const struct arguments *a, const struct rewrite_result *r)
{
	const struct manifest_table *t = r->manifest->tables;
	struct buf out = {0};
	char n[5][28];

	if (a->run.json)
		manifest_format(r->manifest, &out);
	else if (!a->run.quiet)
		buf_printf(&out,
			   "%s: %s rows and %s cells in %zu files of %zu regions\n"
			   "read %s rows and %s cells of %zu files\n",
			   a->output, format_count(n[0], t->rows), format_count(n[1], t->cells),
			   t->nfiles, t->nregions, format_count(n[2], r->old_rows),
			   format_count(n[3], r->manifest->read), r->manifest->ninputs);
	if (!a->run.json && !a->run.quiet && t->deduplicated)
		buf_printf(
			&out,
			"wrote one of the cells with the same column, timestamp and type, and dropped %s\n",
			format_count(n[4], t->deduplicated));
	int status = command_print_load("rekey", &out, a->run.json, a->output);
	buf_release(&out);
	return status;
}

/* --- a live table --- */

static int move(struct rekeying *k, const struct arguments *a, struct error *err)
{
	struct progress progress = {.phase = NULL};
	const struct rekey_options keys = keys_of(k, a);
	struct storage_options files = a->place;
	const struct move_options o = {.common = &a->run,
				       .folder = a->output,
				       .servers = a->hbase,
				       .user = a->user,
				       .upload = a->upload,
				       .http = a->place.http,
				       .storage = &files,
				       .keys = &keys,
				       .round_ms = (int64_t)a->rekey.round_s * 1000,
				       .finish = a->rekey.finish,
				       .repair = a->rekey.mend,
				       .abandon = a->abandon,
				       .dry_run = a->dry_run,
				       .listener = a->run.quiet ? (struct listener){0}
								: command_listener("rekey"),
				       .progress = &progress};

	files.user = files.user ? files.user : a->user;
	struct reporter *reporter = a->run.quiet ? NULL : reporter_start_on_terminal(&progress);
	int rc = move_run(&k->moved, &o, err);

	reporter_stop(reporter);
	return rc;
}

static int print_move(const struct arguments *a, const struct move_result *r)
{
	struct buf out = {0};

	if (a->run.json)
		move_report_json(&out, r);
	else if ((!a->run.quiet || a->dry_run) && !a->abandon)
		move_report_text(&out, r);
	int status = (a->run.json ? command_print : command_show)("rekey", &out);
	buf_release(&out);
	return status;
}

static int check_operands(const struct arguments *a)
{
	if (!a->output)
		return arguments_refuse(a, "found no -o, expected -o DIR for the new load");
	if (a->hbase && a->noperands == 3)
		return arguments_refuse(a, "found %s and --hbase, expected only one of them",
					a->operand[2]);
	if (!a->hbase && a->noperands == 2)
		return arguments_refuse(
			a, "found no source, expected SOURCE or `--hbase HOST[:PORT],...`");
	return EXIT_DONE;
}

static int run(struct arguments *a)
{
	struct rekeying k = {.from_table = NULL};
	struct error err;
	int status = check_operands(a);

	if (status)
		return status;
	int rc = open_jobs(&k, a, &err);
	if (rc == RC_OK && a->hbase)
		rc = move(&k, a, &err);
	else if (rc == RC_OK)
		rc = open_source(&k, a, &err);
	if (rc == RC_OK && !a->hbase)
		rc = rewrite(&k, a, &err);
	status = rc	    ? command_fail("rekey", &err)
		 : a->hbase ? print_move(a, &k.moved)
			    : print(a, &k.result);
	move_release(&k.moved);
	arena_release(&k.result.arena);
	diff_table_release(&k.source);
	diff_table_release(&k.before);
	job_release(&k.from);
	job_release(&k.to);
	return status;
}

const struct command rekey_command = {
	.name = "rekey",
	.usage = "OLD NEW SOURCE -o DIR | OLD NEW --hbase HOST[:PORT],... -o DIR [options]",
	.summary =
		"write the cells of a table under the row keys of another job, also of a live table",
	.least = 2,
	.most = 3,
	.run = run,
	.decides = "rekey decodes each row key by OLD, and encodes its fields by `rowkey:` of NEW. "
		   "Other fields come from the newest value of their column. All stored cells keep "
		   "column, timestamp, type, value and tags, also delete markers. Families and "
		   "regions are those of NEW. With --hbase, rekey moves a live table in rounds: a "
		   "snapshot, a load of its new files, and apply. A killed run continues.",
	.operands = {{"OLD", "the job that wrote the table"},
		     {"NEW", "a job whose fields have the same names and types"},
		     {"SOURCE", "a load, a state, a folder of HFiles, ROOT/data/NAMESPACE/TABLE or "
				"ROOT/.hbase-snapshot/NAME (a path, webhdfs:// or hdfs://)"}},
	.statuses = "0 published, or with --hbase, the rounds are done; 1 failed, and saltmill "
		    "publishes nothing, or with --hbase, so run it again; " STATUS_USAGE
		    "; 130 or 143 stopped by SIGINT or SIGTERM, as 1",
	.examples = {"saltmill rekey old.yaml new.yaml /srv/hbase/.hbase-snapshot/before -o moved",
		     "saltmill rekey old.yaml new.yaml --hbase hbase1,hbase2 -o move --finish"}};
