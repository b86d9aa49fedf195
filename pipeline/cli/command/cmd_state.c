/* cmd_state.c - `saltmill status`, `loads` and `seek`: a state folder seen and mended by hand */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "job.h"
#include "stream.h"
#include "mem.h"
#include "cli/reports.h"

enum { OPT_STATE = 500, OPT_LOADED, OPT_PUBLISHED, OPT_DISCARD, OPT_REBUILD, OPT_JOB };

struct state_arguments {
	const char *state_dir, *loaded, *published, *discard, *job;
	bool rebuild;
};

static int take_option(void *ctx, int opt, const char *arg, struct error *err)
{
	struct state_arguments *a = ctx;

	(void)err;
	if (opt == OPT_STATE)
		a->state_dir = arg;
	else if (opt == OPT_LOADED)
		a->loaded = arg;
	else if (opt == OPT_PUBLISHED)
		a->published = arg;
	else if (opt == OPT_REBUILD)
		a->rebuild = true;
	else if (opt == OPT_JOB)
		a->job = arg;
	else
		a->discard = arg;
	return RC_OK;
}

#define STATE                                                                                      \
	{                                                                                          \
		"state", required_argument, NULL, OPT_STATE                                        \
	}

static const struct option status_options[] = {STATE, {0}};
static const struct option loads_options[] = {STATE,
					      {"loaded", required_argument, NULL, OPT_LOADED},
					      {"published", required_argument, NULL, OPT_PUBLISHED},
					      {"discard", required_argument, NULL, OPT_DISCARD},
					      {"rebuild", no_argument, NULL, OPT_REBUILD},
					      {0}};
static const struct option seek_options[] = {STATE, {"job", required_argument, NULL, OPT_JOB}, {0}};

/* False: *status is what the command ends with. */
static bool parse(int argc, char **argv, struct run_options *o, struct state_arguments *a,
		  int *first, int *status)
{
	bool loads = strcmp(argv[0], "loads") == 0, seek = strcmp(argv[0], "seek") == 0;
	const struct option *known = loads ? loads_options : seek ? seek_options : status_options;
	int rc = options_parse(argc, argv, o, known, NULL, take_option, a, first);

	*status = rc == RC_END ? EXIT_DONE : EXIT_USAGE;
	if (rc)
		return false;
	if (a->state_dir && (seek || a->rebuild || *first == argc))
		return true;
	*status = command_misused(argv[0], "%s",
				  a->state_dir ? "found an operand, expected options only"
					       : "no state folder: give --state DIR");
	return false;
}

/* --- status --- */

int cmd_status(int argc, char **argv)
{
	struct run_options o;
	struct state_arguments a = {0};
	struct error err;
	struct state_view v;
	struct buf text = {0};
	int first, status;

	if (!parse(argc, argv, &o, &a, &first, &status))
		return status;
	int rc = state_view_open(&v, a.state_dir, VIEW_ALL, false, &err);
	if (!rc && o.json)
		state_report_json(&text, &v);
	else if (!rc)
		state_report_text(&text, &v);
	state_view_close(&v);
	status = rc	  ? command_fail("status", &err)
		 : o.json ? command_print("status", &text)
			  : command_show("status", &text);
	buf_release(&text);
	return status;
}

/* --- loads --- */

/* *broken: those that are not what was published, or do not follow the one before. */
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

/* A mark would say of other files that they are in HBase. */
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
		rc = error_set(err, RC_DATA,
			       "load %s was not marked: %s; expected the load as it was published, "
			       "or none",
			       name, wrong);
	mem_free(wrong);
	return rc ? rc : state_hand_over(s, name, NULL, err);
}

/* Say something of the load of that name. */
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
		return error_set(err, RC_CONFIG,
				 "found `%s`, expected a load as `saltmill loads --state %s` "
				 "lists it, like p00003/00000042",
				 name, dir);
	rc = state_view_open(&v, dir, partition, m != MARK_LOADED, err);
	if (!rc)
		rc = m == MARK_LOADED
			     ? hand_over(v.states[0], in_state, err)
			     : state_settle(v.states[0], in_state, m == MARK_PUBLISHED, err);
	state_view_close(&v);
	return rc;
}

int cmd_loads(int argc, char **argv)
{
	struct run_options o;
	struct state_arguments a = {0};
	struct error err;
	struct buf text = {0};
	int first, rc = RC_OK, status;
	size_t broken = 0;

	if (!parse(argc, argv, &o, &a, &first, &status))
		return status;
	if (a.rebuild)
		rc = rebuild_run(a.state_dir, (const char *const *)argv + first,
				 (size_t)(argc - first), &text, &err);
	if (a.loaded)
		rc = mark_load(a.state_dir, a.loaded, MARK_LOADED, &err);
	if (!rc && a.published)
		rc = mark_load(a.state_dir, a.published, MARK_PUBLISHED, &err);
	else if (!rc && a.discard)
		rc = mark_load(a.state_dir, a.discard, MARK_DISCARDED, &err);
	if (!rc && !a.rebuild && !a.loaded && !a.published && !a.discard)
		rc = list_loads(&text, o.json, a.state_dir, &broken, &err);
	status = EXIT_DONE;
	if (!rc || a.rebuild) /* of shared states some may be made anew when another cannot be */
		status = (o.json ? command_print : command_show)("loads", &text);
	if (rc)
		status = command_fail("loads", &err);
	buf_release(&text);
	return broken ? EXIT_FAILED : status;
}

/* --- seek --- */

static int by_place(const void *a, const void *b)
{
	const struct offset_range *x = a, *y = b;

	return place_order(x->topic, x->partition, y->topic, y->partition);
}

/* "3=1200", "orders/3=1200"; the name is cut out of the word. */
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

/* The job whose brokers are asked; why: that there is none, when it was not named. */
static int find_job(const struct state_arguments *a, struct job *job, bool *found, char *why,
		    size_t size, struct error *err)
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
		snprintf(why, size, "no load tells by which job it was made");
	mem_free(path);
	return a->job ? rc : RC_OK;
}

static int seek(const struct run_options *o, const struct state_arguments *a,
		struct offset_range *to, size_t n)
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
		command_say("seek",
			    "the brokers were not asked whether they have these offsets (%s); "
			    "`--job JOB` says whom to ask",
			    unasked);
	state_report_seek(&text, &r, o->json);
	int status = command_print("seek", &text);
	buf_release(&text);
	seek_result_release(&r);
	job_release(&job);
	return rc ? command_fail("seek", &err) : status;
}

int cmd_seek(int argc, char **argv)
{
	struct run_options o;
	struct state_arguments a = {0};
	struct error err;
	int first, status;

	if (!parse(argc, argv, &o, &a, &first, &status))
		return status;
	size_t n = (size_t)(argc - first);
	struct offset_range *to = mem_calloc(n + 1, sizeof *to);
	status = parse_positions(argv + first, n, to, &err) ? command_fail("seek", &err)
							    : seek(&o, &a, to, n);
	mem_free(to);
	return status;
}
