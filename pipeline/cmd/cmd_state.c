/* cmd_state.c - `saltmill status`, `loads` and `seek`: a state folder seen and mended by hand */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "manifest_chain.h"
#include "cmd.h"
#include "report.h"
#include "state_view.h"
#include "monitor.h"

enum { OPT_STATE = 500, OPT_LOADED, OPT_PUBLISHED, OPT_DISCARD };

struct state_arguments {
	const char *state_dir, *loaded, *published, *discard;
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
	else
		a->discard = arg;
	return RC_OK;
}

static const struct option own[] = {{"state", required_argument, NULL, OPT_STATE},
				    {"loaded", required_argument, NULL, OPT_LOADED},
				    {"published", required_argument, NULL, OPT_PUBLISHED},
				    {"discard", required_argument, NULL, OPT_DISCARD},
				    {0}};

/* False: *status is what the command ends with. */
static bool parse(int argc, char **argv, struct run_options *o, struct state_arguments *a,
		  int *first, int *status)
{
	bool loads = strcmp(argv[0], "loads") == 0, seek = strcmp(argv[0], "seek") == 0;
	struct option known[5] = {own[0]};
	if (loads)
		memcpy(known, own, sizeof(known));
	int rc = options_parse(argc, argv, o, known, NULL, take_option, a, first);
	*status = rc == RC_END ? EXIT_DONE : EXIT_USAGE;
	if (rc)
		return false;
	*status = EXIT_USAGE;
	if (a->state_dir && (seek || *first == argc))
		return true;
	fprintf(stderr, "saltmill %s: %s\n", argv[0],
		a->state_dir ? "found an operand, expected options only"
			     : "no state folder: give --state DIR");
	return false;
}

/* "2026-11-01T06:30:00Z"; text holds at least 32 bytes. */
static const char *format_time(char *text, int64_t ms)
{
	time_t s = (time_t)(ms / 1000);
	struct tm tm;
	gmtime_r(&s, &tm);
	strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
	return text;
}

/* --- status --- */

static json_t *positions_json(const struct state *s, int32_t npartitions)
{
	json_t *list = json_array();
	int64_t at;
	for (int32_t p = 0; p < npartitions; p++)
		if (state_position(s, p, &at))
			json_array_append_new(list, json_pack("{s:i, s:I}", "partition", p,
							      "offset", (json_int_t)at));
	return list;
}

static json_t *state_json(const struct state *s)
{
	const struct state_load *last = state_newest(s), *intent = state_intent(s);
	struct state_note n;
	json_t *out = json_pack("{s:s, s:s, s:b, s:o}", "cluster", state_topic(s)->cluster, "topic",
				state_topic(s)->topic, "running", state_in_use(s), "positions",
				positions_json(s, state_topic(s)->npartitions));
	if (intent)
		json_object_set_new(out, "making", json_string(intent->name));
	if (last)
		json_object_set_new(out, "last",
				    json_pack("{s:s, s:s, s:I, s:I, s:I}", "load", last->name,
					      "output", last->dir, "read", (json_int_t)last->read,
					      "rejected", (json_int_t)last->rejected,
					      "published_ms", (json_int_t)last->published_ms));
	if (state_noted(s, &n))
		json_object_set_new(out, "stream",
				    json_pack("{s:I, s:I, s:f, s:I, s:I, s:I, s:I, s:I}", "time_ms",
					      (json_int_t)n.time_ms, "lag", (json_int_t)n.lag,
					      "rate", n.rate, "cut", (json_int_t)n.cut,
					      "cut_age_ms", (json_int_t)n.cut_age_ms, "loads",
					      (json_int_t)n.loads, "events", (json_int_t)n.events,
					      "rejected", (json_int_t)n.rejected));
	return out;
}

/* Of a shared folder: what is so of all, and each partition's own under `partitions`. */
static json_t *shared_json(const struct state_view *v)
{
	json_t *positions = json_array(), *each = json_array();
	bool running = false;
	for (size_t i = 0; i < v->n; i++) {
		json_t *at = positions_json(v->states[i], v->shared.topic.npartitions);
		json_array_extend(positions, at);
		json_decref(at);
		running = running || state_in_use(v->states[i]);
		if (state_topic(v->states[i]))
			json_array_append_new(each, state_json(v->states[i]));
	}
	return json_pack("{s:s, s:s, s:b, s:o, s:o}", "cluster", v->shared.topic.cluster, "topic",
			 v->shared.topic.topic, "running", running, "positions", positions,
			 "partitions", each);
}

static void print_json(json_t *out)
{
	char *text = json_dumps(out, JSON_INDENT(2));
	puts(text);
	free(text);
	json_decref(out);
}

/* As the stream's own progress line says it, at the time of the note. */
static void print_note(const struct state_note *n, const struct state_load *last)
{
	char when[32];
	struct buf line = {0};
	struct monitored w = {.lag = n->lag,
			      .loads = n->loads,
			      .rate = n->rate,
			      .cut = n->cut,
			      .cut_age_s = (double)n->cut_age_ms / 1000,
			      .published_s = -1};
	if (last && n->time_ms >= last->published_ms)
		w.published_s = (double)(n->time_ms - last->published_ms) / 1000;
	monitor_format(&line, &w);
	printf("stream, seen %s: %.*s\n", format_time(when, n->time_ms), (int)line.len,
	       (const char *)line.ptr);
	buf_release(&line);
}

static void status_text(const struct state *s)
{
	const struct state_load *last = state_newest(s), *intent = state_intent(s);
	struct state_note n;
	char when[32], count[28];
	int64_t at;
	printf("topic %s of cluster %s, %s\n", state_topic(s)->topic, state_topic(s)->cluster,
	       state_in_use(s) ? "in use by a running process" : "no process is running");
	for (int32_t p = 0; p < state_topic(s)->npartitions; p++)
		if (state_position(s, p, &at))
			printf("  partition %d: next offset %" PRId64 "\n", p, at);
	if (intent)
		printf("making load %s as %s\n", intent->name, intent->dir);
	if (last)
		printf("last load %s: %s events, %" PRIu64 " rejected, published %s as %s\n",
		       last->name, format_count(count, last->read), last->rejected,
		       format_time(when, last->published_ms), last->dir);
	if (state_noted(s, &n))
		print_note(&n, last);
}

/* A line a partition. */
static void shared_text(const struct state_view *v)
{
	const struct state_topic *t = &v->shared.topic;
	printf("topic %s of cluster %s, shared by partition\n", t->topic, t->cluster);
	for (size_t i = 0; i < v->n; i++) {
		const struct state *s = v->states[i];
		const struct state_load *last = state_newest(s), *intent = state_intent(s);
		struct state_note n;
		char when[32], count[28];
		int64_t at = 0;
		state_position(s, (int32_t)i, &at);
		printf("  partition %zu: next offset %" PRId64 ", %s", i, at,
		       state_in_use(s) ? "in use" : "nobody has it");
		if (state_noted(s, &n))
			printf(", lag %s, %.0f events/s", format_count(count, n.lag), n.rate);
		if (intent)
			printf(", making %s%s", v->prefixes[i], intent->name);
		if (last)
			printf(", last load %s%s of %s", v->prefixes[i], last->name,
			       format_time(when, last->published_ms));
		putchar('\n');
	}
}

int cmd_status(int argc, char **argv)
{
	struct run_options o;
	struct state_arguments a = {0};
	struct error err;
	struct state_view v;
	int first, status;
	if (!parse(argc, argv, &o, &a, &first, &status))
		return status;
	int rc = state_view_open(&v, a.state_dir, VIEW_ALL, false, &err);
	if (!rc && v.is_shared && o.json)
		print_json(shared_json(&v));
	else if (!rc && v.is_shared)
		shared_text(&v);
	else if (!rc && !state_topic(v.states[0]))
		puts(o.json ? "{}" : "nothing was loaded yet");
	else if (!rc && o.json)
		print_json(state_json(v.states[0]));
	else if (!rc)
		status_text(v.states[0]);
	state_view_close(&v);
	return rc ? command_fail("status", &err) : EXIT_DONE;
}

/* --- loads --- */

/* problem: of its place in the chain, or NULL. */
static void print_load(const char *prefix, const struct state_load *l, const char *problem)
{
	char when[32], count[28];
	if (l->phase == STATE_SEEK)
		printf("%s%s  %s  positions set:", prefix, l->name,
		       format_time(when, l->published_ms));
	else
		printf("%s%s  %s  %-8s %s events, %" PRIu64 " rejected  %s ", prefix, l->name,
		       format_time(when, l->published_ms), l->handed ? "loaded" : "waiting",
		       format_count(count, l->read), l->rejected, l->dir);
	for (size_t i = 0; i < l->nranges; i++)
		printf(" %d:%" PRId64 "-%" PRId64, l->ranges[i].partition, l->ranges[i].start,
		       l->ranges[i].end);
	putchar('\n');
	if (problem)
		printf("  BROKEN: %s\n", problem);
}

static void print_load_json(const char *prefix, const struct state_load *l, const char *problem)
{
	char *name = mem_format("%s%s", prefix, l->name);
	json_t *ranges = json_array();
	for (size_t i = 0; i < l->nranges; i++)
		json_array_append_new(ranges, json_pack("{s:i, s:I, s:I, s:I}", "partition",
							l->ranges[i].partition, "start",
							(json_int_t)l->ranges[i].start, "end",
							(json_int_t)l->ranges[i].end, "events",
							(json_int_t)l->ranges[i].events));
	json_t *out = json_pack("{s:s, s:s, s:b, s:b, s:I, s:I, s:I, s:o}", "load", name, "output",
				l->dir, "seek", l->phase == STATE_SEEK, "loaded", l->handed, "read",
				(json_int_t)l->read, "rejected", (json_int_t)l->rejected,
				"published_ms", (json_int_t)l->published_ms, "offsets", ranges);
	if (problem)
		json_object_set_new(out, "problem", json_string(problem));
	char *text = json_dumps(out, JSON_COMPACT);
	puts(text);
	free(text);
	json_decref(out);
	mem_free(name);
}

static bool list_load(const struct run_options *o, const struct state_view_load *l)
{
	char *problem = manifest_chain_check(l->load);
	bool good = !problem;
	if (o->json)
		print_load_json(l->prefix, l->load, problem);
	else
		print_load(l->prefix, l->load, problem);
	mem_free(problem);
	return good;
}

/* *broken: those that are not what was published, or do not follow the one before. */
static int list_loads(const struct run_options *o, const char *dir, size_t *broken,
		      struct error *err)
{
	struct state_view v;
	size_t n;
	int rc = state_view_open(&v, dir, VIEW_ALL, false, err);
	struct state_view_load *all = rc ? NULL : state_view_loads(&v, &n);
	for (size_t i = 0; all && i < n; i++)
		*broken += !list_load(o, &all[i]);
	mem_free(all);
	state_view_close(&v);
	return rc;
}

enum mark { MARK_LOADED, MARK_PUBLISHED, MARK_DISCARDED };

/* Say something of the load of that name. */
static int mark_load(const char *dir, const char *name, enum mark m, struct error *err)
{
	struct state_view v;
	int32_t partition = VIEW_ALL;
	const char *in_state = shared_is(dir) ? shared_name(name, &partition) : name;
	if (!in_state)
		return error_set(err, RC_CONFIG,
				 "found `%s`, expected a load as `saltmill loads --state %s` "
				 "lists it, like p00003/00000042",
				 name, dir);
	int rc = state_view_open(&v, dir, partition, m != MARK_LOADED, err);
	if (!rc)
		rc = m == MARK_LOADED
			     ? state_hand_over(v.states[0], in_state, err)
			     : state_settle(v.states[0], in_state, m == MARK_PUBLISHED, err);
	state_view_close(&v);
	return rc;
}

int cmd_loads(int argc, char **argv)
{
	struct run_options o;
	struct state_arguments a = {0};
	struct error err;
	int first, rc = RC_OK, status;
	size_t broken = 0;
	if (!parse(argc, argv, &o, &a, &first, &status))
		return status;
	if (a.loaded)
		rc = mark_load(a.state_dir, a.loaded, MARK_LOADED, &err);
	if (!rc && a.published)
		rc = mark_load(a.state_dir, a.published, MARK_PUBLISHED, &err);
	else if (!rc && a.discard)
		rc = mark_load(a.state_dir, a.discard, MARK_DISCARDED, &err);
	if (!rc && !a.loaded && !a.published && !a.discard)
		rc = list_loads(&o, a.state_dir, &broken, &err);
	if (rc)
		return command_fail("loads", &err);
	return broken ? EXIT_FAILED : EXIT_DONE;
}

/* --- seek --- */

static int by_partition(const void *a, const void *b)
{
	const struct offset_range *x = a, *y = b;
	return (x->partition > y->partition) - (x->partition < y->partition);
}

/* "3=1200" */
static bool parse_position(const char *text, struct offset_range *out)
{
	char *end;
	unsigned long p = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end != '=' || p > 1000000)
		return false;
	const char *offset = end + 1;
	long long v = strtoll(offset, &end, 10);
	*out = (struct offset_range){.partition = (int32_t)p, .end = v};
	return offset[0] >= '0' && offset[0] <= '9' && *end == 0;
}

static int seek_in(const char *dir, int32_t partition, const struct offset_range *to, size_t n,
		   struct error *err)
{
	struct state_view v;
	int rc = state_view_open(&v, dir, partition, true, err);
	if (!rc)
		rc = state_seek(v.states[0], to, n, err);
	state_view_close(&v);
	return rc;
}

int cmd_seek(int argc, char **argv)
{
	struct run_options o;
	struct state_arguments a = {0};
	struct error err;
	int first, status, rc = RC_OK;
	if (!parse(argc, argv, &o, &a, &first, &status))
		return status;
	size_t n = (size_t)(argc - first);
	struct offset_range *to = calloc(n + 1, sizeof *to);
	for (size_t i = 0; !rc && to && i < n; i++)
		if (!parse_position(argv[first + (int)i], &to[i]))
			rc = error_set(&err, RC_CONFIG,
				       "found `%s`, expected PARTITION=OFFSET like 3=1200",
				       argv[first + (int)i]);
	if (to && !rc)
		qsort(to, n, sizeof *to, by_partition);
	for (size_t i = 1; !rc && to && i < n; i++)
		if (to[i].partition == to[i - 1].partition)
			rc = error_set(&err, RC_CONFIG,
				       "found partition %d twice, expected it once",
				       to[i].partition);
	if (!rc && n == 0)
		rc = error_set(&err, RC_CONFIG,
			       "found no position, expected PARTITION=OFFSET like 3=1200");
	bool shared = !rc && shared_is(a.state_dir);
	if (!rc && !shared)
		rc = seek_in(a.state_dir, VIEW_ALL, to, n, &err);
	for (size_t i = 0; !rc && shared && i < n; i++)
		rc = seek_in(a.state_dir, to[i].partition, &to[i], 1, &err);
	free(to);
	return rc ? command_fail("seek", &err) : EXIT_DONE;
}
