/* worker.c - pass one event to the sink of its worker, and count (worker.h) */
#include "worker.h"

#include "input/messages.h"
#include "pool.h"

int worker_reject(struct source_worker *w, const struct source_sink *sink,
		  const struct event *event, const struct reject *why, struct error *err)
{
	struct rejected rejected = {
		.file = w->source->files[w->file].path,
		.line = event->line,
		.offset = event->offset,
		.block = w->source->blocks ? w->block + 1 : 0,
		.seq = event->seq,
		.raw = event->raw,
		.why = *why,
	};

	w->counts.rejects++;
	w->counts.rejected_lines += event->more_lines;
	return sink->reject ? sink->reject(sink->ctx, &rejected, err) : RC_OK;
}

int worker_take(struct source_worker *w, const struct event *event, const struct source_sink *sink,
		struct error *err)
{
	struct reject why;
	int rc = stop_flag ? stop_check(err) : sink->event(sink->ctx, event, &why);

	return rc == RC_DATA ? worker_reject(w, sink, event, &why, err) : rc;
}

bool line_is_blank(struct bytes text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.ptr[i] != ' ' && text.ptr[i] != '\t' && !csv_is_end(text.ptr[i]))
			return false;
	return true;
}

void source_worker_counts(const struct source_worker *w, struct source_counts *counts)
{
	if (w->messages) {
		messages_worker_counts(w->messages, counts);
		return;
	}
	*counts = w->counts;
	counts->blank_lines = w->reader.blank_lines;
}
