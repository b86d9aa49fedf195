/*
 * skip_rows.c - rows that the job's `skip_matching` names: trailers and other lines that are no
 * data
 */
#include "error.h"
#include "worker.h"

int skip_row(struct source_worker *w, const struct event *event, const struct source_sink *sink,
	     bool *skipped, struct error *err)
{
	struct reject why;
	const struct pattern *p = w->source->csv->skip_matching;
	enum pattern_result found = pattern_find(p, &w->skip, event->raw, NULL);

	*skipped = found != PATTERN_NONE;
	if (found == PATTERN_COSTLY) {
		reject_set(&why, "costly_pattern", NULL,
			   "skip_matching was not decided within a million steps, expected a "
			   "pattern that is");
		return worker_reject(w, sink, event, &why, err);
	}
	w->counts.filtered += *skipped;
	return RC_OK;
}
