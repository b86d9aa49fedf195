/*
 * cmd_scan.c - implements `saltmill get` and `saltmill scan`, which query loads or a live table
 *
 * scan_answer.c prints the answer. scan_via.c prints the answer to a query on an index table.
 */
#include "arguments.h"

#include <string.h>
#include <sys/stat.h>

#include "io.h"
#include "job_login.h"
#include "load_dirs.h"
#include "mem.h"

/*
 * Removes the FIELD=VALUE operands from `operands`. Returns the number of the remaining operands.
 */
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

static bool is_there(const char *path)
{
	struct error ignored;
	bool there = false;

	return io_exists(path, &there, &ignored) == RC_OK && there;
}

/* Finds out whether the only folder of the operands has HFiles that are in no load. */
static int find_hfiles(const struct arguments *a, size_t n, struct offline_place *out,
		       struct error *err)
{
	enum load_dirs_kind kind;
	struct stat st;
	const char *last = n ? a->operand[n - 1] : NULL;

	if (a->hbase || out->uri || n < 1 || n > 2 || stat(last, &st) || !S_ISDIR(st.st_mode))
		return RC_OK;
	int rc = load_dirs_judge(last, &kind, err);
	if (rc == RC_OK && kind == LOAD_DIRS_OTHER)
		*out = (struct offline_place){.kind = OFFLINE_HFILES, .uri = last};
	return rc;
}

/* Checks the operands before the place of a query without region servers: a job or nothing. */
static int check_offline(const struct arguments *a, size_t operands, struct error *err)
{
	if (operands > 1)
		return error_set(err, RC_CONFIG,
				 "found %zu operands and --%s, expected at most a job", operands,
				 a->snapshot ? "snapshot" : "table-dir");
	if (operands == 0 && a->scan.decode)
		return error_set(err, RC_CONFIG,
				 "found --decode without a job, expected a job, whose fields the "
				 "keys and values contain");
	return RC_OK;
}

static int check_operands(const struct arguments *a, const struct offline_place *offline,
			  size_t operands, struct error *err)
{
	if (offline->uri)
		return check_offline(a, operands - (offline->kind == OFFLINE_HFILES), err);
	if (operands < 1 || (operands < 2) != (a->hbase != NULL))
		return error_set(
			err, RC_CONFIG,
			"found %zu operand%s%s, expected a job and the folders of loads, or "
			"a job and `--hbase HOST[:PORT],...`",
			operands, operands == 1 ? "" : "s", a->hbase ? " and --hbase" : "");
	return RC_OK;
}

static int check(const struct arguments *a, const struct offline_place *offline, size_t operands,
		 struct error *err)
{
	bool get = a->scan.q.get, row = arguments_given(a, "row"), fields = a->scan.nfields > 0;
	int rc = check_operands(a, offline, operands, err);

	if (rc)
		return rc;
	for (size_t i = 1; get && !row && !fields && i < operands; i++)
		if (strchr(a->operand[i], ':') || (i > 1 && !is_there(a->operand[i])))
			return error_set(err, RC_CONFIG,
					 "found `%.200s`, expected FIELD=VALUE for each field of "
					 "the row key, or --row KEY",
					 a->operand[i]);
	if (get && row == fields)
		return error_set(
			err, RC_CONFIG,
			"found %s, expected --row KEY, or FIELD=VALUE for each field of the "
			"row key",
			row ? "both --row and FIELD=VALUE, expected only one of them" : "no row");
	if (!get && fields)
		return error_set(err, RC_CONFIG,
				 "found FIELD=VALUE, expected --where; only `saltmill get` takes "
				 "FIELD=VALUE");
	return RC_OK;
}

/* Connects to the live table. The login's names are in *job, which the caller releases. */
static int connect_as(const struct arguments *a, struct job *job, struct hbase **out,
		      struct error *err)
{
	struct hbase_failure why;
	int rc = job_load(job, a->operand[0], err);

	if (rc == RC_OK)
		rc = job_login(a, job, err);
	return rc ? rc : hbase_open(out, a->hbase, a->user, &why, err);
}

/* Runs the query. The operands are a job and its loads, or only a job with --hbase. */
static int answer(const struct arguments *a, const struct offline_place *offline, size_t n,
		  struct error *err)
{
	struct load_dirs dirs = {0};
	bool hfiles = offline->uri && offline->kind == OFFLINE_HFILES;
	struct scan_place place = {.job = n > hfiles ? a->operand[0] : NULL, .offline = *offline};
	struct job job = {0};
	int rc = RC_OK;

	if (offline->uri)
		rc = job_login(a, NULL, err);
	for (size_t i = 1; rc == RC_OK && !offline->uri && i < n; i++)
		rc = load_dirs_add(&dirs, a->operand[i], err);
	if (rc == RC_OK && a->hbase)
		rc = connect_as(a, &job, &place.hbase, err);
	place.dirs = (const char *const *)dirs.path;
	place.ndirs = dirs.n;
	if (rc == RC_OK)
		rc = (a->scan.via ? scan_answer_via : scan_answer)(&a->scan, &place, err);
	hbase_close(place.hbase);
	job_release(&job);
	load_dirs_release(&dirs);
	return rc;
}

static int run(struct arguments *a)
{
	struct scan_arguments *s = &a->scan;
	struct error err;

	s->q.get = strcmp(a->command->name, "get") == 0;
	s->q.versions = (uint32_t)a->versions;
	s->table = a->table;
	s->where = a->where;
	s->has_now = arguments_given(a, "now");
	s->quiet = a->run.quiet;
	if (a->run.json)
		s->format = ANSWER_JSONL;
	size_t n = take_fields(s, a->operand, a->noperands);
	struct offline_place offline = arguments_offline(a);
	int rc = find_hfiles(a, n, &offline, &err);
	if (rc == RC_OK)
		rc = check(a, &offline, n, &err);
	if (rc == RC_OK)
		rc = answer(a, &offline, n, &err);
	return rc ? command_fail(a->command->name, &err) : EXIT_DONE;
}

#define DIRS_SENTENCE                                                                              \
	"folders of loads, oldest first, or a state folder, for all its published loads"

const struct command get_command = {
	.name = "get",
	.usage =
		"[JOB] DIR...|--hbase HOST|--table-dir URI|--snapshot URI --row KEY|FIELD=VALUE... "
		"[options]",
	.summary = "print a row of published loads, as HBase would return it, or of a live table",
	.most = ANY_NUMBER,
	.run = run,
	.decides = "From folders, get merges the HFiles of all loads by the rules of HBase 2.6. "
		   "Versions, TTL and delete markers apply. If cells are equal, get returns the "
		   "cell of the later load. It reads only files whose key range and bloom filter "
		   "may contain the row.",
	.operands = {{"DIR...", DIRS_SENTENCE},
		     {"FIELD=VALUE...", "the fields of the row key, written as in the source"}},
	.statuses = "0 done, even if there is no such row; 1 failed; " STATUS_USAGE
		    ", or a live table that does not match the job",
	.examples = {"saltmill get conf/timeseries_wide.yaml wide uid=1001 --max-columns 2",
		     "saltmill get conf/loans_open.yaml --hbase hbase1,hbase2 --row 1000103102"}};

const struct command scan_command = {
	.name = "scan",
	.usage = "[JOB] DIR...|--hbase HOST|--table-dir URI|--snapshot URI [options]",
	.summary = "print rows of published loads, as HBase would return them, or of a live table",
	.most = ANY_NUMBER,
	.run = run,
	.decides = "From folders, scan merges the HFiles of all loads by the rules of HBase 2.6. "
		   "Versions, TTL and delete markers apply. If cells are equal, scan returns the "
		   "cell of the later load. scan turns as much of --where as possible into ranges "
		   "of row keys. It checks the other conditions row by row; a live table gets them "
		   "as HBase filters if possible. scan skips files outside the row keys or the "
		   "time range.",
	.operands = {{"DIR...", DIRS_SENTENCE}},
	.statuses = "0 done, even if there is no row; 1 failed; 2 wrong usage, job file or query, "
		    "or a live table that does not match the job",
	.examples = {
		"saltmill scan conf/ratings.yaml out --where \"userId = 1\" --limit 5 --decode",
		"saltmill scan conf/ratings.yaml --hbase hbase1,hbase2 --where \"userId = 1\" "
		"--explain"}};
