/* cmd_state.c - `saltmill status`, `loads` and `seek`: a state folder seen and mended by hand */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd.h"
#include "report.h"
#include "state/state.h"

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

/* EXIT_DONE with *s NULL: --help was answered. */
static int open_state(int argc, char **argv, struct options *o, struct state_arguments *a,
		      struct state **s, int *first)
{
	struct error err;
	bool loads = strcmp(argv[0], "loads") == 0, seek = strcmp(argv[0], "seek") == 0;
	struct option known[5] = {own[0]};
	if (loads)
		memcpy(known, own, sizeof(known));
	int rc = options_parse(argc, argv, o, known, NULL, take_option, a, first);
	*s = NULL;
	if (rc)
		return rc == RC_END ? EXIT_DONE : EXIT_USAGE;
	if (!a->state_dir || (!seek && *first != argc)) {
		fprintf(stderr, "saltmill %s: %s\n", argv[0],
			a->state_dir ? "found an operand, expected options only"
				     : "no state folder: give --state DIR");
		return EXIT_USAGE;
	}
	rc = state_open(s, a->state_dir, seek || a->published || a->discard, &err);
	return rc ? command_fail(argv[0], &err) : EXIT_DONE;
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

static const struct state_load *last_published(const struct state *s)
{
	size_t n;
	const struct state_load *l = state_loads(s, &n);
	for (size_t i = n; i > 0; i--)
		if (l[i - 1].phase == STATE_PUBLISHED)
			return &l[i - 1];
	return NULL;
}

static json_t *positions_json(const struct state *s)
{
	json_t *list = json_array();
	int64_t at;
	for (int32_t p = 0; p < state_topic(s)->npartitions; p++)
		if (state_position(s, p, &at))
			json_array_append_new(list, json_pack("{s:i, s:I}", "partition", p, "offset",
							      (json_int_t)at));
	return list;
}

static void status_json(const struct state *s)
{
	const struct state_load *last = last_published(s), *intent = state_intent(s);
	struct state_note n;
	json_t *out = json_pack("{s:s, s:s, s:b, s:o}", "cluster", state_topic(s)->cluster, "topic",
				state_topic(s)->topic, "running", state_in_use(s), "positions",
				positions_json(s));
	if (intent)
		json_object_set_new(out, "making", json_string(intent->name));
	if (last)
		json_object_set_new(out, "last",
				    json_pack("{s:s, s:s, s:I, s:I, s:I}", "load", last->name, "output",
					      last->dir, "read", (json_int_t)last->read, "rejected",
					      (json_int_t)last->rejected, "published_ms",
					      (json_int_t)last->published_ms));
	if (state_noted(s, &n))
		json_object_set_new(out, "stream",
				    json_pack("{s:I, s:I, s:I, s:I, s:I}", "time_ms",
					      (json_int_t)n.time_ms, "lag", (json_int_t)n.lag, "cut",
					      (json_int_t)n.cut, "loads", (json_int_t)n.loads, "events",
					      (json_int_t)n.events));
	char *text = json_dumps(out, JSON_INDENT(2));
	puts(text);
	free(text);
	json_decref(out);
}

static void status_text(const struct state *s)
{
	const struct state_load *last = last_published(s), *intent = state_intent(s);
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
		printf("last load %s: %s events, %" PRIu64 " rejected, published %s as %s\n", last->name,
		       format_count(count, last->read), last->rejected,
		       format_time(when, last->published_ms), last->dir);
	if (state_noted(s, &n))
		printf("stream, seen %s: lag %s offsets, %" PRIu64 " in the open cut, %" PRIu64
		       " loads since its start\n",
		       format_time(when, n.time_ms), format_count(count, n.lag), n.cut, n.loads);
}

int cmd_status(int argc, char **argv)
{
	struct options o;
	struct state_arguments a = {0};
	struct state *s;
	int first, status = open_state(argc, argv, &o, &a, &s, &first);
	if (!s)
		return status;
	if (!state_topic(s))
		puts(o.json ? "{}" : "nothing was loaded yet");
	else if (o.json)
		status_json(s);
	else
		status_text(s);
	state_close(s);
	return EXIT_DONE;
}

/* --- loads --- */

static void print_load(const struct state_load *l)
{
	char when[32], count[28];
	if (l->phase == STATE_SEEK)
		printf("%s  %s  positions set:", l->name, format_time(when, l->published_ms));
	else
		printf("%s  %s  %-8s %s events, %" PRIu64 " rejected  %s ", l->name,
		       format_time(when, l->published_ms), l->handed ? "loaded" : "waiting",
		       format_count(count, l->read), l->rejected, l->dir);
	for (size_t i = 0; i < l->nranges; i++)
		printf(" %d:%" PRId64 "-%" PRId64, l->ranges[i].partition, l->ranges[i].start,
		       l->ranges[i].end);
	putchar('\n');
}

static void print_load_json(const struct state_load *l)
{
	json_t *ranges = json_array();
	for (size_t i = 0; i < l->nranges; i++)
		json_array_append_new(
			ranges, json_pack("{s:i, s:I, s:I, s:I}", "partition", l->ranges[i].partition,
					  "start", (json_int_t)l->ranges[i].start, "end",
					  (json_int_t)l->ranges[i].end, "events",
					  (json_int_t)l->ranges[i].events));
	json_t *out = json_pack("{s:s, s:s, s:b, s:b, s:I, s:I, s:I, s:o}", "load", l->name, "output",
				l->dir, "seek", l->phase == STATE_SEEK, "loaded", l->handed, "read",
				(json_int_t)l->read, "rejected", (json_int_t)l->rejected,
				"published_ms", (json_int_t)l->published_ms, "offsets", ranges);
	char *text = json_dumps(out, JSON_COMPACT);
	puts(text);
	free(text);
	json_decref(out);
}

int cmd_loads(int argc, char **argv)
{
	struct options o;
	struct state_arguments a = {0};
	struct error err;
	struct state *s;
	int first, rc = RC_OK, status = open_state(argc, argv, &o, &a, &s, &first);
	size_t n;
	if (!s)
		return status;
	if (a.loaded)
		rc = state_hand_over(s, a.loaded, &err);
	if (!rc && (a.published || a.discard))
		rc = state_settle(s, a.published ? a.published : a.discard, a.published != NULL, &err);
	const struct state_load *l = state_loads(s, &n);
	bool list = !rc && !a.loaded && !a.published && !a.discard;
	for (size_t i = 0; list && i < n; i++)
		if (o.json)
			print_load_json(&l[i]);
		else
			print_load(&l[i]);
	state_close(s);
	return rc ? command_fail("loads", &err) : EXIT_DONE;
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

int cmd_seek(int argc, char **argv)
{
	struct options o;
	struct state_arguments a = {0};
	struct error err;
	struct state *s;
	int first, status = open_state(argc, argv, &o, &a, &s, &first), rc = RC_OK;
	if (!s)
		return status;
	size_t n = (size_t)(argc - first);
	struct offset_range *to = calloc(n + 1, sizeof *to);
	for (size_t i = 0; !rc && to && i < n; i++)
		if (!parse_position(argv[first + (int)i], &to[i]))
			rc = error_set(&err, RC_CONFIG, "found `%s`, expected PARTITION=OFFSET like 3=1200",
				       argv[first + (int)i]);
	if (to && !rc)
		qsort(to, n, sizeof *to, by_partition);
	for (size_t i = 1; !rc && to && i < n; i++)
		if (to[i].partition == to[i - 1].partition)
			rc = error_set(&err, RC_CONFIG, "found partition %d twice, expected it once",
				       to[i].partition);
	if (!rc && n == 0)
		rc = error_set(&err, RC_CONFIG, "found no position, expected PARTITION=OFFSET like 3=1200");
	if (!rc)
		rc = state_seek(s, to, n, &err);
	free(to);
	state_close(s);
	return rc ? command_fail("seek", &err) : EXIT_DONE;
}
