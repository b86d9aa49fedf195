/* cmd_scan.c - `saltmill get JOB DIR...` and `saltmill scan JOB DIR...` */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "answer.h"
#include "clock.h"
#include "cmd.h"
#include "job.h"
#include "mem.h"
#include "published.h"

enum {
	OPT_TABLE = 500,
	OPT_ROW,
	OPT_START,
	OPT_STOP,
	OPT_PREFIX,
	OPT_COLUMNS,
	OPT_VERSIONS,
	OPT_TIME_RANGE,
	OPT_LIMIT,
	OPT_MAX_COLUMNS,
	OPT_REVERSE,
	OPT_RAW,
	OPT_NOW,
	OPT_FORMAT,
	OPT_EXPLAIN
};

#define PRINT_BYTES (64u << 10)

struct scan_arguments {
	const char *table, *columns;
	struct query q;
	struct buf start, stop;
	bool has_row, has_prefix, has_now, explain;
	enum answer_format format;
};

static int wrong(struct error *err, const char *option, const char *found, const char *expected)
{
	return error_set(err, RC_CONFIG, "%s: found `%s`, expected %s", option, found, expected);
}

/* A key as \xHH text. */
static void take_key(struct buf *to, const char *text)
{
	to->len = 0;
	bytes_unescape(to, bytes_str(text));
}

static int take_count(uint64_t *out, const char *option, const char *text, uint64_t most,
		      struct error *err)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || n < 1 || n > most)
		return wrong(err, option, text, "a whole number from 1 on");
	*out = n;
	return RC_OK;
}

/* Milliseconds since 1970, or ISO 8601 in UTC; *rest is behind it.  False: neither. */
static bool take_time(const char *text, int64_t *ms, const char **rest)
{
	struct tm t = {0};
	int n = 0, milli = 0, more = 0;
	char *end;
	if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d%n", &t.tm_year, &t.tm_mon, &t.tm_mday, &t.tm_hour,
		   &t.tm_min, &t.tm_sec, &n) == 6) {
		if (sscanf(text + n, ".%3d%n", &milli, &more) == 1)
			n += more;
		t.tm_year -= 1900;
		t.tm_mon -= 1;
		*ms = 1000 * (int64_t)timegm(&t) + milli;
		*rest = text + n + (text[n] == 'Z');
		return true;
	}
	*ms = strtoll(text, &end, 10);
	*rest = end;
	return *text >= '0' && *text <= '9';
}

static int take_range(struct query *q, const char *text, struct error *err)
{
	const char *rest = text;
	bool fits = true;
	q->to_ms = INT64_MAX;
	if (strncmp(text, "..", 2) != 0)
		fits = take_time(text, &q->from_ms, &rest);
	fits = fits && strncmp(rest, "..", 2) == 0;
	if (fits && rest[2])
		fits = take_time(rest + 2, &q->to_ms, &rest) && *rest == 0;
	if (!fits || q->from_ms >= q->to_ms)
		return wrong(err, "--time-range", text,
			     "A..B, ms or 2012-09-01T00:00:00Z, B exclusive, either left out");
	return RC_OK;
}

static int take_format(struct scan_arguments *a, const char *text, struct error *err)
{
	static const char *const names[] = {
		[ANSWER_TABLE] = "table", [ANSWER_CSV] = "csv", [ANSWER_JSONL] = "jsonl"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (strcmp(text, names[i]) == 0) {
			a->format = (enum answer_format)i;
			return RC_OK;
		}
	}
	return wrong(err, "--format", text, "table, csv or jsonl");
}

static int take_prefix(struct scan_arguments *a, const char *text)
{
	take_key(&a->start, text);
	a->stop.len = 0;
	a->has_prefix = true;
	if (!query_prefix_stop(&a->stop, buf_bytes(&a->start)))
		return RC_MEMORY;
	return RC_OK;
}

static int take_option(void *ctx, int opt, const char *arg, struct error *err)
{
	struct scan_arguments *a = ctx;
	const char *rest;
	uint64_t n = 0;
	int rc;
	switch (opt) {
	case OPT_TABLE: a->table = arg; return RC_OK;
	case OPT_COLUMNS: a->columns = arg; return RC_OK;
	case OPT_ROW: a->has_row = true; /* fall through */
	case OPT_START: take_key(&a->start, arg); return RC_OK;
	case OPT_STOP: take_key(&a->stop, arg); return RC_OK;
	case OPT_PREFIX: return take_prefix(a, arg);
	case OPT_REVERSE: a->q.reversed = true; return RC_OK;
	case OPT_RAW: a->q.raw = true; return RC_OK;
	case OPT_EXPLAIN: a->explain = true; return RC_OK;
	case OPT_FORMAT: return take_format(a, arg, err);
	case OPT_TIME_RANGE: return take_range(&a->q, arg, err);
	case OPT_LIMIT: return take_count(&a->q.limit, "--limit", arg, UINT64_MAX, err);
	case OPT_MAX_COLUMNS:
		return take_count(&a->q.max_columns, "--max-columns", arg, UINT64_MAX, err);
	case OPT_VERSIONS:
		rc = take_count(&n, "--versions", arg, INT32_MAX, err);
		a->q.versions = (uint32_t)n;
		return rc;
	default:
		a->has_now = true;
		if (!take_time(arg, &a->q.now_ms, &rest) || *rest)
			return wrong(err, "--now", arg, "ms or 2012-09-01T00:00:00Z");
		return RC_OK;
	}
}

/* The table of the job that is meant. */
static int find_table(const struct job *job, const char *name, const struct job_table **out,
		      struct error *err)
{
	if (!name && job->ntables == 1) {
		*out = &job->tables[0];
		return RC_OK;
	}
	for (size_t i = 0; name && i < job->ntables; i++) {
		if (strcmp(job->tables[i].schema.name, name) == 0) {
			*out = &job->tables[i];
			return RC_OK;
		}
	}
	if (name)
		return error_set(err, RC_CONFIG, "--table: %s has no table %s", job->path, name);
	return error_set(err, RC_CONFIG, "%s has %zu tables, expected --table", job->path,
			 job->ntables);
}

/* "f:q,f2": into columns, which has room; qualifiers as \xHH text, kept in *text. */
static int name_columns(const struct published *p, const char *list, struct query_column *columns,
			size_t *count, struct buf *text, struct error *err)
{
	*count = 0;
	buf_reserve(text, strlen(list) + 1); /* it may not move */
	for (const char *at = list, *end; *at; at = *end ? end + 1 : end) {
		end = strchrnul(at, ',');
		const char *colon = memchr(at, ':', (size_t)(end - at));
		struct bytes family = bytes_of(at, (size_t)((colon ? colon : end) - at));
		size_t i = 0;
		while (i < p->nfamilies && !bytes_eq(p->families[i].name, family))
			i++;
		if (i == p->nfamilies)
			return error_set(err, RC_CONFIG,
					 "--columns: the table has no family `%.*s`",
					 (int)family.len, (const char *)family.ptr);
		size_t from = text->len;
		if (colon)
			bytes_unescape(text, bytes_of(colon + 1, (size_t)(end - colon - 1)));
		columns[(*count)++] = (struct query_column){.family = i,
							    .qualifier = bytes_of(text->ptr + from,
										  text->len - from),
							    .all = !colon};
	}
	return RC_OK;
}

static int print_part(struct buf *text, size_t least)
{
	if (text->len < least)
		return RC_OK;
	bool fine = fwrite(text->ptr, 1, text->len, stdout) == text->len;
	text->len = 0;
	return fine ? RC_OK : RC_IO;
}

static int print_answer(struct query_scan *s, struct answer *a, bool quiet, struct error *err)
{
	struct buf text = {0};
	struct cell c;
	int rc;
	while ((rc = query_next(s, &c, err)) == RC_OK) {
		if (quiet)
			answer_count(a, &c);
		else
			answer_cell(a, &text, &c);
		if (print_part(&text, PRINT_BYTES))
			break;
	}
	if (rc == RC_END) {
		answer_end(a, &text);
		if (quiet)
			buf_printf(&text, "%llu rows, %llu cells\n", (unsigned long long)a->rows,
				   (unsigned long long)a->cells);
		rc = RC_OK;
	}
	print_part(&text, 0);
	buf_release(&text);
	if (rc == RC_OK && (fflush(stdout) || ferror(stdout)))
		rc = error_errno(err, "cannot write the answer");
	return rc;
}

static int ask(const struct scan_arguments *a, const struct published *p, bool quiet,
	       struct error *err)
{
	struct query q = a->q;
	struct buf text = {0}, why = {0};
	struct query_scan *s = NULL;
	struct answer answer = {.format = a->format};
	struct query_column *columns = NULL;
	int rc = RC_OK;
	if (a->columns) {
		columns = mem_calloc(strlen(a->columns) + 1, sizeof *columns);
		rc = name_columns(p, a->columns, columns, &q.ncolumns, &text, err);
		q.columns = columns;
	}
	q.start = buf_bytes(&a->start);
	q.stop = buf_bytes(&a->stop);
	if (!a->has_now)
		q.now_ms = clock_wall_ms();
	if (rc == RC_OK)
		rc = query_open(&s, p->families, p->nfamilies, p->files, p->nfiles, &q, err);
	if (rc == RC_OK)
		rc = print_answer(s, &answer, quiet, err);
	if (rc == RC_OK && a->explain) {
		answer_explain(&why, s, p->nfiles);
		fwrite(why.ptr, 1, why.len, stderr);
	}
	query_close(s);
	answer_release(&answer);
	buf_release(&text);
	buf_release(&why);
	mem_free(columns);
	return rc;
}

static int ask_loads(const struct scan_arguments *a, char **operands, size_t n, bool quiet,
		     struct error *err)
{
	struct job job;
	const struct job_table *table = NULL;
	struct published p;
	int rc = job_load(&job, operands[0], err);
	if (rc == RC_OK)
		rc = find_table(&job, a->table, &table, err);
	if (rc == RC_OK)
		rc = published_open(&p, &table->schema, (const char *const *)operands + 1, n - 1,
				    err);
	if (rc == RC_OK) {
		rc = ask(a, &p, quiet, err);
		published_release(&p);
	}
	job_release(&job);
	return rc;
}

static int check(const struct scan_arguments *a, bool get, size_t operands, struct error *err)
{
	if (operands < 2)
		return error_set(err, RC_CONFIG,
				 "found %zu operands, expected a job and the folders of loads",
				 operands);
	if (get != a->has_row)
		return error_set(err, RC_CONFIG,
				 get ? "expected --row" : "--row is an option of `saltmill get`");
	if (a->has_prefix && a->q.reversed)
		return error_set(
			err, RC_CONFIG,
			"--prefix is for rows in rising order; with --reverse give --start, "
			"the greatest row, and --stop");
	return RC_OK;
}

static int run(int argc, char **argv, bool get)
{
	static const struct option own[] = {{"table", required_argument, NULL, OPT_TABLE},
					    {"row", required_argument, NULL, OPT_ROW},
					    {"start", required_argument, NULL, OPT_START},
					    {"stop", required_argument, NULL, OPT_STOP},
					    {"prefix", required_argument, NULL, OPT_PREFIX},
					    {"columns", required_argument, NULL, OPT_COLUMNS},
					    {"versions", required_argument, NULL, OPT_VERSIONS},
					    {"time-range", required_argument, NULL, OPT_TIME_RANGE},
					    {"limit", required_argument, NULL, OPT_LIMIT},
					    {"max-columns", required_argument, NULL,
					     OPT_MAX_COLUMNS},
					    {"reverse", no_argument, NULL, OPT_REVERSE},
					    {"raw", no_argument, NULL, OPT_RAW},
					    {"now", required_argument, NULL, OPT_NOW},
					    {"format", required_argument, NULL, OPT_FORMAT},
					    {"explain", no_argument, NULL, OPT_EXPLAIN},
					    {0}};
	struct run_options shared;
	struct scan_arguments a = {.q = {.get = get}};
	struct error err;
	int first;
	int rc = options_parse(argc, argv, &shared, own, NULL, take_option, &a, &first);
	if (rc)
		return rc == RC_END ? EXIT_DONE : EXIT_USAGE;
	if (shared.json)
		a.format = ANSWER_JSONL;
	size_t n = (size_t)(argc - first);
	rc = check(&a, get, n, &err);
	if (rc == RC_OK)
		rc = ask_loads(&a, argv + first, n, shared.quiet, &err);
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
