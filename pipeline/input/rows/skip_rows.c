/*
 * skip_rows.c - skip rows that match the job's `skip_matching`, such as trailers without data
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
		reject_set(
			&why, "too_costly", NULL,
			"skip_matching needs more than 10 million steps for this row, expected a simpler pattern");
		return worker_reject(w, sink, event, &why, err);
	}
	w->counts.filtered += *skipped;
	w->counts.filtered_lines += *skipped ? event->more_lines : 0;
	return RC_OK;
}
