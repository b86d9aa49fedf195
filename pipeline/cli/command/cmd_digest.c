/* cmd_digest.c - `saltmill digest`: what unite cannot read where it runs */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "folders.h"
#include "half_reports.h"
#include "input_options.h"
#include "reporter.h"

enum { OPT_MAPS = 500, OPT_INPUT };

struct digest_arguments {
	struct input_options from;
	struct folders maps;
	uint64_t number;
};

static int take_option(void *ctx, int opt, const char *arg, struct error *err)
{
	struct digest_arguments *a = ctx;
	int rc = input_option(&a->from, opt, arg, err);

	if (rc != RC_END)
		return rc;
	return opt == OPT_MAPS
		       ? folders_add(&a->maps, arg, err)
		       : parse_number("--input", arg, SOURCE_FILES_MOST - 1, &a->number, err);
}

static int by_first(const void *a, const void *b)
{
	const struct source_range *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

/* What maps have read of the input. */
static int find_parts(const struct digest_arguments *a, struct source_digest *d,
		      struct arena *arena, struct error *err)
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
				"two maps have byte %llu of input %llu, expected each once",
				(unsigned long long)d->parts[i].first,
				(unsigned long long)a->number);
	return RC_OK;
}

/* *status: RC_OK, but it could not be printed, which was said. */
static int digest(struct digest_arguments *a, const char *path, bool quiet, int *status,
		  struct error *err)
{
	struct arena arena = {0};
	struct buf text = {0};
	struct source_digest d = {.number = a->number, .path = path};
	int rc = input_complete(&a->from, NULL, 0, err);
	const struct source_feed *feed = a->from.input.feed;

	if (rc == RC_OK && !feed && strcmp(path, "-") == 0)
		rc = error_set(err, RC_CONFIG,
			       "a pipe that ends does not tell whether all came: give --name and "
			       "--bytes N, how many standard input has");
	if (rc == RC_OK && feed && strcmp(path, "-") != 0)
		rc = error_set(err, RC_CONFIG,
			       "--name and --bytes are of standard input, expected `-`");
	if (rc == RC_OK)
		rc = find_parts(a, &d, &arena, err);
	struct progress progress = {.phase = NULL};
	struct reporter *reporter = quiet ? NULL : reporter_start_on_terminal(&progress);
	if (rc == RC_OK)
		rc = source_digest_file(&d, feed, &progress, err);
	reporter_stop(reporter);
	d.path = feed ? feed->name : path;
	if (rc == RC_OK)
		input_digest_format(&d, &text);
	if (rc == RC_OK)
		*status = command_print("digest", &text);
	buf_release(&text);
	arena_release(&arena);
	return rc;
}

int cmd_digest(int argc, char **argv)
{
	static const struct option own[] = {FEED_OPTIONS,
					    {"maps", required_argument, NULL, OPT_MAPS},
					    {"input", required_argument, NULL, OPT_INPUT},
					    {0}};
	struct run_options o;
	struct digest_arguments a = {0};
	struct error err;
	int status = EXIT_USAGE, first,
	    rc = options_parse(argc, argv, &o, own, NULL, take_option, &a, &first);

	if (rc == RC_END)
		status = EXIT_DONE;
	if (rc == RC_OK && first != argc - 1) {
		status = command_misused("digest", "expected one input; usage: saltmill digest "
						   "FILE|- [--name PATH --bytes N] [--maps DIR]");
	} else if (rc == RC_OK) {
		rc = digest(&a, argv[first], o.quiet, &status, &err);
		status = rc ? command_fail("digest", &err) : status;
	}
	folders_release(&a.maps);
	return status;
}
