#include "reporter.h"

#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "mem.h"
#include "cli/progress_text.h"
#include "terminal.h"
#include "pool.h"

#define TICK_MS 250

struct reporter {
	struct progress *progress;
	struct ticker *ticker;
	bool terminal;
	double start, phase_start; /* clock_seconds */
	const char *shown;	   /* name of the last phase shown; NULL before the first */
	unsigned begun;		   /* number of the current phase in struct progress */
};

static double elapsed(const struct reporter *r)
{
	return clock_seconds() - r->start;
}

static void show_progress(void *ctx)
{
	struct reporter *r = ctx;
	struct buf line = {0};
	const char *phase = r->progress->phase;
	bool same = r->shown && phase && strcmp(phase, r->shown) == 0;

	if (!phase || (!r->terminal && same))
		return;
	unsigned begun = r->progress->begun;
	if (begun != r->begun && r->shown)
		r->phase_start = clock_seconds();
	r->begun = begun;
	progress_text(&line, r->progress, clock_seconds() - r->phase_start, r->terminal);
	if (r->terminal)
		terminal_line(buf_bytes(&line));
	else
		fprintf(stderr, "saltmill: %.1f s: %.*s\n", elapsed(r), (int)line.len,
			(const char *)line.ptr);
	fflush(stderr);
	buf_release(&line);
	r->shown = phase;
}

struct reporter *reporter_start(struct progress *progress)
{
	struct reporter *r = mem_calloc(1, sizeof *r);

	r->progress = progress;
	r->terminal = terminal_rewrites();
	r->start = r->phase_start = clock_seconds();
	r->ticker = ticker_start(TICK_MS, show_progress, r);
	return r;
}

struct reporter *reporter_start_on_terminal(struct progress *progress)
{
	return terminal_rewrites() ? reporter_start(progress) : NULL;
}

void reporter_stop(struct reporter *r)
{
	if (!r)
		return;
	ticker_stop(r->ticker);
	terminal_clear();
	mem_free(r);
}
