/* apply_options.c - see apply_options.h */
#include "apply_options.h"

#include <stdio.h>
#include <string.h>

#include "io.h"
#include "cli/metrics.h"
#include "monitor.h"
#include "cli/reports.h"
#include "state.h"
#include "cli/progress_text.h"
#include "bytes.h"

/* "10": loads; "7d": time. */
static int parse_keep(const char *text, struct follow_keep *keep, struct error *err)
{
	bool is_number = text[strspn(text, "0123456789")] == 0;

	if (is_number) {
		keep->by = KEEP_LOADS;
		return parse_number("--keep", text, UINT32_MAX, &keep->n, err);
	}
	keep->by = KEEP_TIME;
	if (!parse_duration_s(text, &keep->n) || keep->n > INT32_MAX)
		return error_set(err, RC_CONFIG,
				 "--keep: found `%s`, expected a number of loads, or a time like "
				 "12h or 7d",
				 text);
	return RC_OK;
}

int take_apply_option(struct apply_arguments *a, int opt, const char *arg, struct error *err)
{
	switch (opt) {
	case OPT_USER: a->apply.user = arg, a->given = "--user"; break;
	case OPT_UPLOAD: a->apply.upload = arg, a->given = "--upload"; break;
	case OPT_APPLY_WEBHDFS: a->apply.http = arg, a->given = "--webhdfs"; break;
	case OPT_CREATE: a->apply.create = true, a->given = "--create"; break;
	case OPT_ALTER: a->apply.alter = true, a->given = "--alter"; break;
	case OPT_CHECK: a->apply.check = true, a->given = "--check"; break;
	default: a->given = "--keep"; return parse_keep(arg, &a->keep, err);
	}
	return RC_OK;
}

void follow_desk_say(void *ctx, const char *sentence)
{
	const struct follow_desk *d = ctx;

	monitor_print(d->monitor, stderr, "saltmill %s: %s", d->command, sentence);
}

/* A line a load, written out at once: a program may wait for it. */
void follow_desk_applied(void *ctx, const char *name, const char *dir, const struct apply_result *r,
			 const int64_t ms[FOLLOW_PHASES])
{
	const struct follow_desk *d = ctx;
	struct applied_view w = {.name = name, .dir = dir, .ms = ms};
	struct buf line = {0};

	for (size_t i = 0; i < r->ntables; i++) {
		w.cells += r->tables[i].cells;
		w.files += r->tables[i].files;
	}
	if (d->common->json)
		stream_applied_json(&line, &w);
	else if (!d->common->quiet)
		stream_applied_text(&line, &w);
	if (line.len)
		monitor_print(d->monitor, stdout, "%.*s", (int)line.len, (const char *)line.ptr);
	buf_release(&line);
}

static int check_state(const char *dir, struct error *err)
{
	bool is_shared, there;
	int rc = shared_is(dir, &is_shared, err);

	if (rc || is_shared)
		return rc;
	char *loads = mem_format("%s/loads", dir);
	rc = io_exists(loads, &there, err);
	mem_free(loads);
	return rc || there ? rc
			   : error_set(err, RC_CONFIG,
				       "%s is not a state folder: expected what `saltmill stream "
				       "--state` has made",
				       dir);
}

int run_follow(const struct apply_arguments *a, const struct follow_arguments *w)
{
	struct error err;
	struct follow_gauges gauges = {0};
	struct follow_desk desk = {"apply", NULL, a->apply.common};
	struct follow_options opt = {.apply = a->apply,
				     .keep = a->keep,
				     .gauges = &gauges,
				     .listener = {follow_desk_say, &desk},
				     .applied = follow_desk_applied,
				     .ctx = &desk};
	const struct metrics_of shown = {.follow = &gauges};
	struct metrics *metrics = NULL;
	struct follow *f = follow_new(&opt);
	int rc = check_state(w->state_dir, &err);

	if (rc == RC_OK && w->metrics)
		rc = metrics_start(&metrics, w->metrics, &shown, &err);
	follow_all(f, w->state_dir);
	if (rc == RC_OK)
		rc = follow_run(f, w->forever, &err);
	metrics_stop(metrics);
	follow_free(f);
	/* a signal is how it ends */
	if (rc == RC_STOPPED && w->forever)
		return gauges.stuck ? EXIT_REJECTS : EXIT_DONE;
	return rc ? command_fail("apply", &err) : EXIT_DONE;
}
