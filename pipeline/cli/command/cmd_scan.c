/*
 * cmd_scan.c - `saltmill get` and `saltmill scan`, JOB DIR... or JOB --hbase HOST,...: what is
 * asked
 *
 * scan_answer.c answers it, and scan_via.c where an index table leads to the rows.
 */
#include "cmd_scan.h"

#include <string.h>

#include "field.h"
#include "load_dirs.h"
#include "mem.h"

enum {
	OPT_TABLE = 500,
	OPT_ROW,
	OPT_START,
	OPT_STOP,
	OPT_PREFIX,
	OPT_WHERE,
	OPT_COLUMNS,
	OPT_VERSIONS,
	OPT_TIME_RANGE,
	OPT_LIMIT,
	OPT_MAX_COLUMNS,
	OPT_REVERSE,
	OPT_RAW,
	OPT_NOW,
	OPT_FORMAT,
	OPT_EXPLAIN,
	OPT_DECODE,
	OPT_VIA,
	OPT_HBASE,
	OPT_USER,
	OPT_ANY_VERSION
};

/* A key as \xHH text. */
static void take_key(struct buf *to, const char *text)
{
	to->len = 0;
	bytes_unescape(to, bytes_str(text));
}

/* Milliseconds since 1970, or ISO 8601, UTC where it does not say. */
static int take_time(const char *option, struct bytes text, int64_t *ms, struct error *err)
{
	static const struct field time = {.name = "time", .type = FIELD_TIME, .unit = TIME_MS};
	const struct field_form form = {.field = &time};
	struct field_scratch scratch = {0};
	struct value v = {.text = text};
	struct reject why;
	int rc = field_read_loosely(&form, &v, &scratch, &why);

	*ms = (int64_t)v.u;
	field_scratch_release(&scratch);
	if (rc || *ms < 0)
		return error_set(err, RC_CONFIG,
				 "%s: found `%.*s`, expected ms since 1970 or "
				 "2012-09-01T00:00:00Z",
				 option, (int)text.len, (const char *)text.ptr);
	return RC_OK;
}

static int take_range(struct query *q, const char *text, struct error *err)
{
	const char *dots = strstr(text, "..");
	int rc = RC_OK;

	q->from_ms = 0;
	q->to_ms = INT64_MAX;
	if (!dots)
		return error_set(err, RC_CONFIG,
				 "--time-range: found `%s`, expected A..B, ms or "
				 "2012-09-01T00:00:00Z, B exclusive, either left out",
				 text);
	if (dots > text)
		rc = take_time("--time-range", bytes_of(text, (size_t)(dots - text)), &q->from_ms,
			       err);
	if (rc == RC_OK && dots[2])
		rc = take_time("--time-range", bytes_str(dots + 2), &q->to_ms, err);
	if (rc == RC_OK && q->from_ms >= q->to_ms)
		rc = error_set(err, RC_CONFIG,
			       "--time-range: found `%s`, expected its start before its end", text);
	return rc;
}

static int take_prefix(struct scan_arguments *a, const char *text, struct error *err)
{
	take_key(&a->start, text);
	a->stop.len = 0;
	a->has_prefix = true;
	if (!query_prefix_stop(&a->stop, buf_bytes(&a->start)))
		return error_memory(err, a->start.len, "a prefix");
	return RC_OK;
}

static int take_format(struct scan_arguments *a, const char *text, struct error *err)
{
	static const char *const names[] = {
		[ANSWER_TABLE] = "table", [ANSWER_CSV] = "csv", [ANSWER_JSONL] = "jsonl", NULL};
	size_t i = 0;
	int rc = parse_choice("--format", text, names, &i, err);

	a->format = (enum answer_format)i;
	return rc;
}

static int take_option(void *ctx, int opt, const char *arg, struct error *err)
{
	struct scan_arguments *a = ctx;
	uint64_t n = 0;
	int rc;

	switch (opt) {
	case OPT_TABLE: a->table = arg; return RC_OK;
	case OPT_WHERE: a->where = arg; return RC_OK;
	case OPT_VIA: a->via = arg; return RC_OK;
	case OPT_HBASE: a->servers = arg; return RC_OK;
	case OPT_USER: a->user = arg; return RC_OK;
	case OPT_COLUMNS: a->columns = arg; return RC_OK;
	case OPT_ROW: a->has_row = true; /* fall through */
	case OPT_START: take_key(&a->start, arg); return RC_OK;
	case OPT_STOP: take_key(&a->stop, arg); return RC_OK;
	case OPT_PREFIX: return take_prefix(a, arg, err);
	case OPT_REVERSE: a->q.reversed = true; return RC_OK;
	case OPT_RAW: a->q.raw = true; return RC_OK;
	case OPT_ANY_VERSION: a->any_version = true; return RC_OK;
	case OPT_EXPLAIN: a->explain = true; return RC_OK;
	case OPT_DECODE: a->decode = true; return RC_OK;
	case OPT_FORMAT: return take_format(a, arg, err);
	case OPT_TIME_RANGE: return take_range(&a->q, arg, err);
	case OPT_LIMIT: return parse_count("--limit", arg, UINT64_MAX, &a->q.limit, err);
	case OPT_MAX_COLUMNS:
		return parse_count("--max-columns", arg, UINT64_MAX, &a->q.max_columns, err);
	case OPT_VERSIONS:
		rc = parse_count("--versions", arg, INT32_MAX, &n, err);
		a->q.versions = (uint32_t)n;
		return rc;
	default: a->has_now = true; return take_time("--now", bytes_str(arg), &a->q.now_ms, err);
	}
}

/* Takes the FIELD=VALUE operands away; returns how many others are left. */
static size_t take_fields(struct scan_arguments *a, char **operands, size_t n)
{
	size_t others = 0;

	a->fields = mem_calloc(n + 1, sizeof *a->fields);
	for (size_t i = 0; i < n; i++) {
		const char *equals = strchr(operands[i], '=');

		if (i == 0 || !equals || memchr(operands[i], '/', (size_t)(equals - operands[i])))
			operands[others++] = operands[i];
		else
			a->fields[a->nfields++] = operands[i];
	}
	return others;
}

static int check(const struct scan_arguments *a, size_t operands, struct error *err)
{
	bool get = a->q.get;

	if (operands < 1 || (operands < 2) != (a->servers != NULL))
		return error_set(
			err, RC_CONFIG,
			"found %zu operands%s, expected a job and the folders of loads, or "
			"a job and --hbase HOST[:PORT],...",
			operands, a->servers ? " and --hbase" : "");
	if (a->servers && a->has_now)
		return error_set(
			err, RC_CONFIG,
			"--now is of folders; what is expired in a live table its servers' "
			"clocks say");
	if (a->user && !a->servers)
		return error_set(err, RC_CONFIG, "--user is an option of --hbase");
	if (get && a->has_row == (a->nfields > 0))
		return error_set(err, RC_CONFIG,
				 "expected --row KEY or FIELD=VALUE for each field "
				 "of the row key");
	if (!get && (a->has_row || a->nfields))
		return error_set(
			err, RC_CONFIG,
			"--row and FIELD=VALUE are of `saltmill get`; a scan takes --where");
	if (a->any_version && !a->where)
		return error_set(err, RC_CONFIG, "--any-version needs --where");
	if (a->via && a->explain)
		return error_set(err, RC_CONFIG, "--via is an option without --explain");
	if (a->has_prefix && a->q.reversed)
		return error_set(
			err, RC_CONFIG,
			"--prefix is for rows in rising order; with --reverse give --start, "
			"the greatest row, and --stop");
	return RC_OK;
}

/* A get begins behind the options that only a scan has. */
#define OF_SCANS 9
static const struct option own[] = {{"start", required_argument, NULL, OPT_START},
				    {"stop", required_argument, NULL, OPT_STOP},
				    {"prefix", required_argument, NULL, OPT_PREFIX},
				    {"where", required_argument, NULL, OPT_WHERE},
				    {"limit", required_argument, NULL, OPT_LIMIT},
				    {"reverse", no_argument, NULL, OPT_REVERSE},
				    {"raw", no_argument, NULL, OPT_RAW},
				    {"via", required_argument, NULL, OPT_VIA},
				    {"any-version", no_argument, NULL, OPT_ANY_VERSION},
				    {"table", required_argument, NULL, OPT_TABLE},
				    {"row", required_argument, NULL, OPT_ROW},
				    {"columns", required_argument, NULL, OPT_COLUMNS},
				    {"versions", required_argument, NULL, OPT_VERSIONS},
				    {"time-range", required_argument, NULL, OPT_TIME_RANGE},
				    {"max-columns", required_argument, NULL, OPT_MAX_COLUMNS},
				    {"now", required_argument, NULL, OPT_NOW},
				    {"format", required_argument, NULL, OPT_FORMAT},
				    {"explain", no_argument, NULL, OPT_EXPLAIN},
				    {"decode", no_argument, NULL, OPT_DECODE},
				    {"hbase", required_argument, NULL, OPT_HBASE},
				    {"user", required_argument, NULL, OPT_USER},
				    {0}};

/* The operands are a job and its loads, if it is not for a live table. */
static int answer(const struct scan_arguments *a, char **operands, size_t n, struct error *err)
{
	struct load_dirs dirs = {0};
	struct scan_place place = {.job = operands[0]};
	struct hbase_failure why;
	int rc = RC_OK;

	for (size_t i = 1; rc == RC_OK && i < n; i++)
		rc = load_dirs_add(&dirs, operands[i], err);
	if (rc == RC_OK && a->servers)
		rc = hbase_open(&place.hbase, a->servers, a->user, &why, err);
	place.dirs = (const char *const *)dirs.path;
	place.ndirs = dirs.n;
	if (rc == RC_OK)
		rc = (a->via ? scan_answer_via : scan_answer)(a, &place, err);
	hbase_close(place.hbase);
	load_dirs_release(&dirs);
	return rc;
}

static int run(int argc, char **argv, bool get)
{
	struct run_options shared;
	struct scan_arguments a = {.q = {.get = get}};
	struct error err;
	int first;
	int rc = options_parse(argc, argv, &shared, get ? own + OF_SCANS : own, NULL, take_option,
			       &a, &first);

	if (rc)
		return rc == RC_END ? EXIT_DONE : EXIT_USAGE;
	if (shared.json)
		a.format = ANSWER_JSONL;
	a.quiet = shared.quiet;
	size_t n = take_fields(&a, argv + first, (size_t)(argc - first));
	rc = check(&a, n, &err);
	if (rc == RC_OK)
		rc = answer(&a, argv + first, n, &err);
	mem_free(a.fields);
	buf_release(&a.start);
	buf_release(&a.stop);
	return rc ? command_fail(argv[0], &err) : EXIT_DONE;
}

int cmd_get(int argc, char **argv)
{
	return run(argc, argv, true);
}

int cmd_scan(int argc, char **argv)
{
	return run(argc, argv, false);
}
