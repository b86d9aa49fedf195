/* cmd_state.c - `saltmill status`, `loads` and `seek`: a state folder seen and mended by hand */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "job.h"
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
	.decides = "status reads the state folder and changes nothing; a stream may be "
		   "running. The lag and the rate are those that the stream wrote last. status "
		   "contacts no broker.",
	.statuses = "0 done; 1 failed; " STATUS_STATE,
	.examples = {"saltmill status --state var/clicks",
		     "saltmill status --state var/clicks --json"}};

/* --- loads --- */

/* *broken: loads that differ from what was published, or do not continue the one before. */
static int list_loads(struct buf *out, bool as_json, const char *dir, size_t *broken,
		      struct error *err)
{
	struct state_view v;
	size_t n;
	struct state_view_load *all = NULL;
	int rc = state_view_open(&v, dir, VIEW_ALL, false, err);

	if (!rc)
		rc = state_view_loads(&v, &all, &n, err);
	for (size_t i = 0; !rc && i < n; i++)
		*broken += !state_report_load(out, &all[i], as_json);
	mem_free(all);
	state_view_close(&v);
	return rc;
}

enum mark { MARK_LOADED, MARK_PUBLISHED, MARK_DISCARDED };

/* Without the check, a changed folder would be marked as in HBase. */
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
			"load %s was not marked: %s, expected the load as it was published, or "
			"no folder",
			name, wrong);
	mem_free(wrong);
	return rc ? rc : state_hand_over(s, name, NULL, err);
}

/* Mark the load of that name. */
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
			"found `%s`, expected a load like p00003/00000042; `saltmill loads "
			"--state %s` lists them",
			name, dir);
	rc = state_view_open(&v, dir, partition, m != MARK_LOADED, err);
	if (!rc)
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
	/* of several states, some may be rebuilt when another fails */
	if (rc == RC_OK || a->rebuild)
		status = (a->run.json ? command_print : command_show)("loads", &text);
	if (rc)
		status = command_fail("loads", &err);
	buf_release(&text);
	return broken ? EXIT_FAILED : status;
}

const struct command loads_command = {
	.name = "loads",
	.usage = "--state DIR [--loaded NAME | --rebuild [FOLDER...]]",
	.summary =
		"list the published loads of a state, oldest first, and check each against the one "
		"before",
	.most = ANY_NUMBER,
	.run = run_loads,
	.decides = "A load is whole if its manifest has the recorded digest and its offsets "
		   "continue those of the load before. Otherwise loads marks it and ends with "
		   "status 1. --rebuild recovers the positions from the manifests, and renames "
		   "damaged files to NAME.damaged. It changes nothing if the loads do not "
		   "follow each other or if newer loads are missing.",
	.operands = {{"FOLDER...",
		      "for --rebuild: loads, or folders of loads, that are not in DIR"}},
	.statuses = "0 the chain of loads is whole; 1 it is not, or failed; " STATUS_STATE,
	.examples = {"saltmill loads --state var/clicks",
		     "saltmill loads --state var/clicks --loaded 00000042"}};

/* --- seek --- */

static int by_place(const void *a, const void *b)
{
	const struct offset_range *x = a, *y = b;

	return place_order(x->topic, x->partition, y->topic, y->partition);
}

/* Parse "3=1200" or "orders/3=1200"; the function ends the topic with a 0 byte. */
static bool parse_position(char *text, struct offset_range *out)
{
	char *end, *slash = strrchr(text, '/');
	const char *number = slash ? slash + 1 : text;
	unsigned long p = strtoul(number, &end, 10);

	if (number[0] < '0' || number[0] > '9' || *end != '=' || p > 1000000 || slash == text)
		return false;
	const char *offset = end + 1;
	long long v = strtoll(offset, &end, 10);
	if (offset[0] < '0' || offset[0] > '9' || *end != 0)
		return false;
	if (slash)
		*slash = 0;
	*out = (struct offset_range){.topic = slash ? text : NULL,
				     .partition = (int32_t)p,
				     .end = v};
	return true;
}

/* By topic and partition, each once. */
static int parse_positions(char **words, size_t n, struct offset_range *to, struct error *err)
{
	if (n == 0)
		return error_set(err, RC_CONFIG,
				 "found no position, expected PARTITION=OFFSET like 3=1200");
	for (size_t i = 0; i < n; i++)
		if (!parse_position(words[i], &to[i]))
			return error_set(err, RC_CONFIG,
					 "found `%s`, expected PARTITION=OFFSET like 3=1200, or "
					 "TOPIC/PARTITION=OFFSET",
					 words[i]);
	qsort(to, n, sizeof *to, by_place);
	for (size_t i = 1; i < n; i++)
		if (by_place(&to[i], &to[i - 1]) == 0)
			return error_set(err, RC_CONFIG,
					 "found partition %s twice, expected it once",
					 place_text(to[i].topic, to[i].partition).text);
	return RC_OK;
}

/* Find the job whose brokers know the offsets; why: the reason if there is none. */
static int find_job(const struct arguments *a, struct job *job, bool *found, char *why, size_t size,
		    struct error *err)
{
	char *path = a->job ? mem_strdup(a->job) : seek_job_path(a->state_dir);
	int rc = path ? job_load(job, path, err) : RC_OK;

	*found = path && !rc && job->source == SOURCE_KAFKA;
	if (a->job && !rc && !*found)
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

	if (!rc)
		rc = seek_run(a->state_dir, found ? &job : NULL, to, n, &r, &err);
	const char *unasked = *why ? why : r.why_unasked;
	if (!rc && *unasked)
		command_say(
			"seek",
			"the offsets were not checked at the brokers (%s); `--job JOB` names the "
			"brokers",
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
	status = parse_positions(a->operand, a->noperands, to, &err) ? command_fail("seek", &err)
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
	.decides = "seek compares each new offset with the recorded one and with what the "
		   "brokers have. Forward, it prints how many offsets will be skipped, and how "
		   "many of them are lost. Backward, it prints the loads whose events will be "
		   "loaded again. Their cells have the same row keys and timestamps, so HBase "
		   "keeps one of each. If an offset or a partition does not exist, seek changes "
		   "nothing.",
	.operands = {{"TOPIC/", "needed if the state has several topics"}},
	.statuses = "0 done; 1 failed; 2 wrong usage, or the topic lacks the offset; nothing is "
		    "changed",
	.examples = {"saltmill seek --state var/clicks 0=1000 3=7",
		     "saltmill seek --state var/orders orders-de/0=1000"}};
