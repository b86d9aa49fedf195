/* cmd_state.c - implements `saltmill status`, `loads` and `seek`, which show and repair a state
 * folder */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apply.h"
#include "arguments.h"
#include "positions.h"
#include "job.h"
#include "ledger_loads.h"
#include "stream.h"
#include "mem.h"
#include "cli/reports.h"

static bool has_state(const struct arguments *a)
{
	if (!a->state_dir)
		arguments_refuse(a, "found no --state, expected `--state DIR`");
	return a->state_dir != NULL;
}

/* --- status --- */

static int run_status(struct arguments *a)
{
	struct error err;
	struct state_view v;
	struct buf text = {0};

	if (!has_state(a))
		return EXIT_USAGE;
	int rc = state_view_open(&v, a->state_dir, VIEW_ALL, false, &err);
	if (rc == RC_OK && a->run.json)
		state_report_json(&text, &v);
	else if (rc == RC_OK)
		state_report_text(&text, &v);
	state_view_close(&v);
	int status = rc		   ? command_fail("status", &err)
		     : a->run.json ? command_print("status", &text)
				   : command_show("status", &text);
	buf_release(&text);
	return status;
}

#define STATUS_STATE "2 wrong usage, or no state folder"

const struct command status_command = {
	.name = "status",
	.usage = "--state DIR [--json]",
	.summary = "print positions, last load, lag and rate of a Kafka source",
	.run = run_status,
	.decides = "status reads the state folder and changes nothing; a stream may be running. "
		   "The lag and the rate are the last values that the stream wrote. status "
		   "contacts no broker.",
	.statuses = "0 done; 1 failed; " STATUS_STATE,
	.examples = {"saltmill status --state var/clicks",
		     "saltmill status --state var/clicks --json"}};

/* --- loads --- */

/*
 * Reads the journal of a load that has no mark in the state. `saltmill apply DIR` sets no mark, and
 * a follower may die before it sets one. The journal then shows that the load is in HBase.
 */
static int see_journal(struct state_load *l, struct error *err)
{
	bool there = false;
	int rc = l->handed || l->phase != STATE_PUBLISHED ? RC_OK
							  : apply_is_finished(l->dir, &there, err);

	l->handed = l->handed || there;
	return rc;
}

/*
 * Lists the loads. *broken counts loads that differ from the published ones, or that do not
 * continue the previous load.
 */
static int list_loads(struct buf *out, bool as_json, const char *dir, size_t *broken,
		      struct error *err)
{
	struct state_view v;
	size_t n;
	struct state_view_load *all = NULL;
	int rc = state_view_open(&v, dir, VIEW_ALL, false, err);

	if (rc == RC_OK)
		rc = state_view_loads(&v, &all, &n, err);
	for (size_t i = 0; rc == RC_OK && i < n; i++) {
		struct state_load l = *all[i].load;

		rc = see_journal(&l, err);
		*broken += !state_report_load(out, &(struct state_view_load){all[i].prefix, &l},
					      as_json);
	}
	mem_free(all);
	state_view_close(&v);
	return rc;
}

enum mark { MARK_LOADED, MARK_PUBLISHED, MARK_DISCARDED };

/*
 * Marks a load as applied, after a check. Without the check, the command would mark a changed
 * folder as in HBase.
 */
static int hand_over(struct state *s, const char *name, struct error *err)
{
	char *wrong = NULL;
	size_t n;
	int rc = state_read_all(s, err);

	if (rc)
		return rc;
	const struct state_load *all = state_loads(s, &n);
	for (size_t i = 0; i < n && !wrong; i++)
		if (strcmp(all[i].name, name) == 0 && !all[i].handed)
			wrong = manifest_chain_content(&all[i]);
	if (wrong)
		rc = error_set(
			err, RC_DATA,
			"loads did not mark load %s: %s, expected the published load unchanged, "
			"or no folder",
			name, wrong);
	mem_free(wrong);
	return rc ? rc : state_hand_over(s, name, NULL, err);
}

/* Sets the mark `m` on the load with this name. */
static int mark_load(const char *dir, const char *name, enum mark m, struct error *err)
{
	struct state_view v;
	int32_t partition = VIEW_ALL;
	bool is_shared;
	int rc = shared_is(dir, &is_shared, err);

	if (rc)
		return rc;
	const char *in_state = is_shared ? shared_name(name, &partition) : name;
	if (!in_state)
		return error_set(
			err, RC_CONFIG,
			"found `%s`, expected a load like p00003/00000042; `saltmill loads --state "
			"%s` lists the loads",
			name, dir);
	rc = state_view_open(&v, dir, partition, m != MARK_LOADED, err);
	if (rc == RC_OK)
		rc = m == MARK_LOADED
			     ? hand_over(v.states[0], in_state, err)
			     : state_settle(v.states[0], in_state, m == MARK_PUBLISHED, err);
	state_view_close(&v);
	return rc;
}

static int run_loads(struct arguments *a)
{
	const char *dir = a->state_dir;
	struct error err;
	struct buf text = {0};
	int rc = RC_OK, status = EXIT_DONE;
	size_t broken = 0;

	if (a->ledger)
		return a->noperands ? arguments_refuse(a, "found %zu operands, expected none",
						       a->noperands)
				    : ledger_loads(a);
	if (!has_state(a))
		return EXIT_USAGE;
	if (a->noperands && !a->rebuild)
		return arguments_refuse(a, "found %zu operands, expected none without --rebuild",
					a->noperands);
	if (a->rebuild)
		rc = rebuild_run(dir, arguments_files(a, 0), a->noperands, &text, &err);
	if (a->loaded)
		rc = mark_load(dir, a->loaded, MARK_LOADED, &err);
	if (rc == RC_OK && a->published)
		rc = mark_load(dir, a->published, MARK_PUBLISHED, &err);
	else if (rc == RC_OK && a->discard)
		rc = mark_load(dir, a->discard, MARK_DISCARDED, &err);
	if (rc == RC_OK && !a->rebuild && !a->loaded && !a->published && !a->discard)
		rc = list_loads(&text, a->run.json, dir, &broken, &err);
	/* if the rebuild of one state fails, other states may already be rebuilt */
	if (rc == RC_OK || a->rebuild)
		status = (a->run.json ? command_print : command_show)("loads", &text);
	if (rc)
		status = command_fail("loads", &err);
	buf_release(&text);
	return broken ? EXIT_FAILED : status;
}

const struct command loads_command = {
	.name = "loads",
	.usage = "--state DIR [--loaded NAME | --rebuild [FOLDER...]] or --ledger DIR [--keep N]",
	.summary = "list the published loads of a state, or of a folder of nightly loads, oldest "
		   "first",
	.most = ANY_NUMBER,
	.run = run_loads,
	.decides = "A load is valid if its manifest has the recorded digest and its offsets "
		   "continue those of the load before. loads marks an invalid load and exits with "
		   "status 1. --rebuild recovers the positions from the manifests, and renames "
		   "damaged files to NAME.damaged. If the loads do not follow each other, or if "
		   "newer loads are missing, --rebuild changes nothing.",
	.operands = {{"FOLDER...",
		      "loads, or folders of loads, that are not in DIR (with --rebuild)"}},
	.statuses = "0 all loads are valid and follow each other; 1 some loads are not, or loads "
		    "failed; " STATUS_STATE,
	.examples = {"saltmill loads --state var/clicks",
		     "saltmill loads --state var/clicks --loaded 00000042"}};

/* --- seek --- */

/*
 * Finds the job whose brokers know the offsets. If there is no such job, sets *found to false and
 * writes the reason to `why`.
 */
static int find_job(const struct arguments *a, struct job *job, bool *found, char *why, size_t size,
		    struct error *err)
{
	char *path = a->job ? mem_strdup(a->job) : seek_job_path(a->state_dir);
	int rc = path ? job_load(job, path, err) : RC_OK;

	*found = path && rc == RC_OK && job->source == SOURCE_KAFKA;
	if (a->job && rc == RC_OK && !*found)
		rc = error_set(err, RC_CONFIG, "%s: found a source of files, expected kafka", path);
	else if (!a->job && rc)
		snprintf(why, size, "%s", err->msg);
	else if (path && !*found)
		snprintf(why, size, "%.700s reads files", path);
	else if (!a->job && !path)
		snprintf(why, size, "no load names its job file");
	mem_free(path);
	return a->job ? rc : RC_OK;
}

static int seek(const struct arguments *a, struct offset_range *to, size_t n)
{
	struct error err;
	struct job job = {0};
	struct seek_result r = {0};
	struct buf text = {0};
	char why[760] = "";
	bool found = false;
	int rc = find_job(a, &job, &found, why, sizeof why, &err);

	if (rc == RC_OK)
		rc = seek_run(a->state_dir, found ? &job : NULL, to, n, &r, &err);
	const char *unasked = *why ? why : r.why_unasked;
	if (rc == RC_OK && *unasked)
		command_say(
			"seek",
			"loads did not check the offsets at the brokers (%s); `--job JOB` sets a "
			"job with the brokers",
			unasked);
	state_report_seek(&text, &r, a->run.json);
	int status = command_print("seek", &text);
	buf_release(&text);
	seek_result_release(&r);
	job_release(&job);
	return rc ? command_fail("seek", &err) : status;
}

static int run_seek(struct arguments *a)
{
	struct error err;
	int status;

	if (!has_state(a))
		return EXIT_USAGE;
	struct offset_range *to = mem_calloc(a->noperands + 1, sizeof *to);
	status = positions_parse(a->operand, a->noperands, to, &err) ? command_fail("seek", &err)
								     : seek(a, to, a->noperands);
	mem_free(to);
	return status;
}

const struct command seek_command = {
	.name = "seek",
	.usage = "--state DIR [TOPIC/]PARTITION=OFFSET... [options]",
	.summary = "set the offsets from which the next load reads",
	.most = ANY_NUMBER,
	.run = run_seek,
	.decides =
		"seek compares each new offset with the recorded one and with the offsets of the "
		"brokers. Forward, it prints how many offsets it skips, and how many of them no "
		"longer exist. Backward, it prints the loads whose events the next load repeats. "
		"Their cells have the same row keys and timestamps, so HBase keeps one copy of "
		"each cell. If an offset or a partition does not exist, seek changes nothing.",
	.operands = {{"TOPIC/", "needed if the state has several topics"}},
	.statuses = "0 done; 1 failed; 2 wrong usage, or the topic lacks the offset, and seek "
		    "changes nothing",
	.examples = {"saltmill seek --state var/clicks 0=1000 3=7",
		     "saltmill seek --state var/orders orders-de/0=1000"}};
