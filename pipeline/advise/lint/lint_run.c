/* lint_run.c - read the events once, and count their rows */
#include "findings_of.h"
#include "pass.h"

struct lint_work {
	struct pass pass;
	struct lint_watch *watch;
};

static int take_record(void *ctx, unsigned worker, size_t table, const struct record *r,
		       struct error *err)
{
	struct lint_work *w = ctx;

	(void)err;
	lint_watch_row(w->watch, worker, table, r);
	return RC_OK;
}

static int end_piece(void *ctx, unsigned worker, uint64_t piece, struct error *err)
{
	struct lint_work *w = ctx;

	(void)piece;
	(void)err;
	lint_watch_piece_end(w->watch, worker);
	return RC_OK;
}

int lint_run(struct lint *l, const struct job *job, const struct lint_options *opt,
	     struct progress *progress, uint64_t *events, uint64_t *rejected, struct error *err)
{
	struct lint_work w = {0};
	const struct pass_options po = {.job = job,
					.run = opt->run,
					.input = opt->input,
					.limit = {.share = 1, .is_share = true},
					/* lint counts the order within each piece */
					.even_pieces = true,
					.progress = progress,
					.ctx = &w,
					.record = take_record,
					.piece_end = end_piece};

	lint_job(l, job, NULL);
	int rc = pass_open(&w.pass, &po, err);
	if (rc == RC_OK)
		rc = pass_prepare(&w.pass, opt->work_dir, err);
	if (rc == RC_OK) {
		w.watch = lint_watch_new(job, w.pass.plan, w.pass.memory.threads, 1);
		rc = pass_run(&w.pass, err);
	}
	if (rc == RC_OK)
		lint_watch_judge(w.watch, l, w.pass.source, opt->now_ms);
	*events = w.pass.events;
	*rejected = w.pass.rejected;
	lint_watch_free(w.watch);
	pass_close(&w.pass);
	return rc;
}
