/*
 * ledger_loads.c - implements `saltmill loads --ledger`, which lists and removes the loads of a
 * folder, and writes their figures
 */
#include "ledger_loads.h"

#include <stdio.h>
#include <time.h>

#include "apply.h"
#include "clock.h"
#include "cli/reports.h"
#include "form.h"
#include "io.h"
#include "load.h"
#include "mem.h"
#include "schemas.h"

/* A load, with the members that the list prints. */
struct ledger_line {
	struct ledger_load load;
	bool applied;
	char published[32];
};

static const struct form_member line_members[] = {
	{"load", FORM_TEXT, IN(ledger_line, load.name), "name of the load's folder"},
	{"published", FORM_CHARS, IN(ledger_line, published), "time of the publication, in UTC",
	 .count_at = sizeof((struct ledger_line *)0)->published},
	{"inputs", FORM_COUNT, IN(ledger_line, load.inputs), "number of input files"},
	{"read", FORM_COUNT, IN(ledger_line, load.read), "events"},
	{"rejected", FORM_COUNT, IN(ledger_line, load.rejected), "number of rejected events"},
	{"rows", FORM_COUNT, IN(ledger_line, load.rows), "number of row keys in all tables"},
	{"applied", FORM_FLAG, IN(ledger_line, applied),
	 "true if the load's journal shows that the load is in HBase"},
};
const struct form ledger_line_form = NAMED_FORM(ledger_line, line_members, "ledger-loads",
						"loads --ledger --json", .is_list = true);

static int read_lines(struct ledger *l, struct ledger_line **out, struct error *err)
{
	struct ledger_line *lines = arena_alloc(&l->arena, (l->nloads + 1) * sizeof *lines);
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < l->nloads; i++) {
		time_t s = (time_t)(l->loads[i].published_ms / 1000);
		struct tm tm;

		lines[i] = (struct ledger_line){.load = l->loads[i]};
		gmtime_r(&s, &tm);
		strftime(lines[i].published, sizeof lines[i].published, "%Y-%m-%dT%H:%M:%SZ", &tm);
		rc = apply_is_finished(l->loads[i].dir, &lines[i].applied, err);
	}
	*out = lines;
	return rc;
}

/* Returns true if a load is too old for --keep. `newer` is the number of loads after this load. */
static bool is_old(const struct follow_keep *keep, const struct ledger_load *l, size_t newer)
{
	int64_t age_ms = clock_wall_ms() - l->published_ms;

	switch (keep->by) {
	case KEEP_ALL: return false;
	case KEEP_LOADS: return newer >= keep->n;
	case KEEP_TIME: return age_ms > (int64_t)keep->n * 1000;
	}
	return false;
}

/* Completes the removals that a killed run began. */
static int finish_removals(const struct ledger *l, struct error *err)
{
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < l->nremoved; i++) {
		char *dir = mem_format("%s/%s", l->dir, l->inputs[i].load);
		char *aside = mem_format("%s" APPLY_REMOVED, dir);
		char *journal = mem_format("%s" APPLY_SUFFIX, dir);
		bool is_load, has_aside = false, has_journal = false;

		rc = io_exists(dir, &is_load, err);
		if (rc == RC_OK)
			rc = io_exists(aside, &has_aside, err);
		if (rc == RC_OK)
			rc = io_exists(journal, &has_journal, err);
		if (rc == RC_OK && !is_load && (has_aside || has_journal))
			rc = apply_remove(dir, err);
		mem_free(journal);
		mem_free(aside);
		mem_free(dir);
	}
	return rc;
}

/* Removes old loads that are in HBase. The newest load always stays. */
static int remove_old(struct ledger *l, const struct ledger_line *lines,
		      const struct follow_keep *keep, struct error *err)
{
	int rc = keep->by == KEEP_ALL ? RC_OK : finish_removals(l, err);

	for (size_t i = 0; rc == RC_OK && i + 1 < l->nloads; i++) {
		if (!lines[i].applied || !is_old(keep, &l->loads[i], l->nloads - 1 - i))
			continue;
		rc = ledger_note(l, &l->loads[i], err);
		if (rc == RC_OK)
			rc = apply_remove(l->loads[i].dir, err);
		if (rc == RC_OK)
			command_say("loads",
				    "removed %s, which is in HBase; %s still lists its inputs",
				    l->loads[i].dir, LEDGER_FILE);
	}
	return rc;
}

/*
 * Writes the metrics file. Replaces the file in one step, because the collector of node_exporter
 * may read it at any time.
 */
static int write_metrics(const char *path, const struct ledger *l, const struct ledger_line *lines,
			 struct error *err)
{
	struct buf text = {0};
	const struct ledger_load *last = l->nloads ? &l->loads[l->nloads - 1] : NULL;
	size_t waiting = 0;

	for (size_t i = 0; i < l->nloads; i++)
		waiting += !lines[i].applied;
	const struct {
		const char *name, *help;
		double value;
	} gauges[] = {
		{"last_published_timestamp_seconds", "Time of the publication of the newest load.",
		 last ? (double)last->published_ms / 1e3 : 0},
		{"last_read", "Events in the input of the newest load.",
		 last ? (double)last->read : 0},
		{"last_rejected", "Rejected events of the newest load.",
		 last ? (double)last->rejected : 0},
		{"last_rows", "Row keys of the newest load.", last ? (double)last->rows : 0},
		{"waiting", "Loads that are not in HBase.", (double)waiting},
	};
	for (size_t i = 0; i < sizeof gauges / sizeof *gauges; i++) {
		buf_printf(&text, "# HELP saltmill_ledger_%s %s\n# TYPE saltmill_ledger_%s gauge\n",
			   gauges[i].name, gauges[i].help, gauges[i].name);
		buf_printf(&text, "saltmill_ledger_%s{ledger=\"", gauges[i].name);
		for (const char *p = l->dir; *p; p++)
			buf_append_str(&text, *p == '\\' || *p == '"' ? (char[]){'\\', *p, 0}
					      : *p == '\n'	      ? "\\n"
								      : (char[]){*p, 0});
		buf_printf(&text, "\"} %.15g\n", gauges[i].value);
	}
	int rc = io_replace_file(path, buf_bytes(&text), NULL, err);
	buf_release(&text);
	return rc;
}

static void put_text(struct buf *out, const struct ledger *l, const struct ledger_line *lines)
{
	if (!l->nloads)
		buf_printf(out, "%s contains no loads\n", l->dir);
	for (size_t i = 0; i < l->nloads; i++) {
		const struct ledger_load *of = &lines[i].load;
		char rows[28], read[28], bad[28];

		size_t from = out->len;
		text_visible(out, bytes_str(of->name));
		buf_printf(out, "%*s published %s  %s rows of %s events",
			   out->len - from < 14 ? (int)(14 - (out->len - from)) : 0, "",
			   lines[i].published, format_count(rows, of->rows),
			   format_count(read, of->read));
		if (of->rejected)
			buf_printf(out, ", %s REJECTED", format_count(bad, of->rejected));
		buf_printf(out, ", %llu file%s, %s\n", (unsigned long long)of->inputs,
			   of->inputs == 1 ? "" : "s",
			   lines[i].applied ? "in HBase" : "NOT IN HBASE");
	}
}

/* A new inbox has no folder yet, but here a missing folder is more likely a mistyped one. */
static int check_folder(const char *dir, struct error *err)
{
	bool there = false;
	int rc = io_exists(dir, &there, err);

	if (rc || there)
		return rc;
	return error_set(err, RC_CONFIG,
			 "--ledger: found no folder %s, expected one that `load --ledger` made",
			 dir);
}

int ledger_loads(const struct arguments *a)
{
	struct error err;
	struct ledger l = {0};
	struct ledger_line *lines = NULL;
	struct buf text = {0};
	int status = EXIT_DONE;
	int rc = check_folder(a->ledger, &err);

	if (rc == RC_OK)
		rc = ledger_read(&l, a->ledger, &err);
	if (rc == RC_OK)
		rc = read_lines(&l, &lines, &err);
	if (rc == RC_OK && a->run.json)
		form_put_list(&text, &ledger_line_form, lines, l.nloads, FORM_REPORT);
	else if (rc == RC_OK)
		put_text(&text, &l, lines);
	if (rc == RC_OK && a->textfile)
		rc = write_metrics(a->textfile, &l, lines, &err);
	if (rc == RC_OK)
		rc = remove_old(&l, lines, &a->keep, &err);
	if (text.len)
		status = (a->run.json ? command_print : command_show)("loads", &text);
	if (rc)
		status = command_fail("loads", &err);
	buf_release(&text);
	ledger_release(&l);
	return status;
}
