/* cmd_digest.c - implements `saltmill digest`, which prints digests of an input that unite cannot
 * open */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "half_reports.h"
#include "input_options.h"
#include "reporter.h"

static int by_first(const void *a, const void *b)
{
	const struct source_range *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

/* Add the ranges of the input that the maps have read. */
static int find_parts(const struct arguments *a, struct source_digest *d, struct arena *arena,
		      struct error *err)
{
	d->parts = arena_alloc(arena, (a->maps.n + 1) * sizeof *d->parts);
	for (size_t i = 0; i < a->maps.n; i++) {
		struct map_report r;
		int rc = map_report_read(&r, a->maps.path[i], arena, err);

		if (rc)
			return rc;
		if (r.number == a->number && !r.whole && r.first < r.end)
			d->parts[d->nparts++] = (struct source_range){r.first, r.end, {0}};
	}
	if (d->nparts)
		qsort(d->parts, d->nparts, sizeof *d->parts, by_first);
	for (size_t i = 1; i < d->nparts; i++)
		if (d->parts[i].first < d->parts[i - 1].end)
			return error_set(
				err, RC_DATA,
				"found byte %llu of input %llu in two maps, expected it in one",
				(unsigned long long)d->parts[i].first,
				(unsigned long long)a->number);
	return RC_OK;
}

static int check_feed(const struct arguments *a, const char *path, struct error *err)
{
	bool piped = strcmp(path, "-") == 0;

	if (piped && !a->input.feed)
		return error_set(
			err, RC_CONFIG,
			"-: found no --bytes, expected `--name PATH --bytes N`, because the end of "
			"a pipe does not prove that all bytes arrived");
	if (!piped && a->input.feed)
		return error_set(err, RC_CONFIG,
				 "--name, --bytes: found the file %s, expected `-`, standard input",
				 path);
	return RC_OK;
}

/* Prints the digest. *status is the exit status of the printing. */
static int digest(struct arguments *a, int *status, struct error *err)
{
	struct arena arena = {0};
	struct buf text = {0};
	struct progress progress = {.phase = NULL};
	struct source_digest d = {.number = a->number, .path = a->operand[0]};
	int rc = input_complete(a, 0, err);
	const struct source_feed *feed = a->input.feed;

	if (rc == RC_OK)
		rc = check_feed(a, d.path, err);
	if (rc == RC_OK)
		rc = find_parts(a, &d, &arena, err);
	struct reporter *reporter = a->run.quiet ? NULL : reporter_start_on_terminal(&progress);
	if (rc == RC_OK)
		rc = source_digest_file(&d, feed, &progress, err);
	reporter_stop(reporter);
	d.path = feed ? feed->name : d.path;
	if (rc == RC_OK)
		input_digest_format(&d, &text);
	if (rc == RC_OK)
		*status = command_print("digest", &text);
	buf_release(&text);
	arena_release(&arena);
	return rc;
}

static int run(struct arguments *a)
{
	struct error err;
	int status = EXIT_DONE;

	return digest(a, &status, &err) ? command_fail("digest", &err) : status;
}

const struct command digest_command = {
	.name = "digest",
	.usage = "FILE|- [--maps DIR] [--input N] [--name PATH --bytes N]",
	.summary = "print the digest of an input and of the slices that maps read, for `unite "
		   "--inputs`",
	.least = 1,
	.most = 1,
	.run = run,
	.decides =
		"digest computes the digest of the whole file, as in the manifest. With --maps it also computes "
		"the digest of each range that a map of this input read. With its output, "
		"`unite --inputs` checks the maps on a machine without the file.",
	.statuses = "0 done; 1 failed; 2 wrong usage",
	.examples = {"saltmill digest ratings.csv",
		     "saltmill digest ratings.csv --maps maps/ --input 0"}};
