/*
 * json_lines.c - pass JSON objects, which are lines (NDJSON) or records of documents
 *
 * JSON strings contain no line ends, so a line that is not JSON affects no other line. documents.c
 * finds records that are not lines.
 */
#include "pool.h"
#include "worker.h"

int lines_open(struct source *s, const struct job *job, struct error *err)
{
	int rc = decoding_new(&s->json, job, err);

	if (rc == RC_OK)
		s->columns = (const char **)(uintptr_t)decoding_columns(s->json, &s->ncolumns);
	return rc ? rc : documents_open(s, err);
}

static size_t place_of(const struct source_worker *w, const uint8_t *line)
{
	return (size_t)(line - w->piece.ptr);
}

/* Pass one line. `line` counts the lines before it in the piece, and `row` those in the file. */
static int take_line(struct source_worker *w, struct bytes text, uint64_t line, uint64_t row,
		     const struct source_sink *sink, struct error *err)
{
	const struct source *s = w->source;
	uint64_t at = place_of(w, text.ptr);
	struct message message = {.value = text};
	struct event event = {.ncolumns = s->ncolumns,
			      .roomy = true,
			      .seq = w->seq + at,
			      .line = w->line + line + 1,
			      .row = row + 1,
			      .offset = w->offset + at,
			      .raw = text,
			      .file = s->files[w->file].path};
	struct reject why;

	if (text.len > s->max_row_bytes)
		return source_long_row(s, w->file, event.line - 1, event.offset, err);
	if (decoder_run(w->json, &message, &event.columns, &why, err) != RC_OK)
		return worker_reject(w, sink, &event, &why, err);
	return sink->event ? worker_take(w, &event, sink, err) : RC_OK;
}

/*
 * Lines to pass together. `first` is the number of the first line in the piece, and `row` counts the
 * events of the file before it.
 */
struct lines_made {
	uint64_t first, row;
	bool begun;
};

static int give_lines(struct source_worker *w, struct lines_made *l, const struct source_sink *sink,
		      struct error *err)
{
	const struct bytes *text;
	size_t n = l->begun ? made_count(w->made, &text) : 0;
	bool taken = true;
	int rc = l->begun ? made_give(w->made, sink, &taken) : RC_OK;

	l->begun = false;
	for (size_t i = 0; !taken && i < n && rc == RC_OK; i++)
		rc = take_line(w, text[i], l->first + i, l->row + i, sink, err);
	return rc;
}

/* Add the line to the collected lines. Return false if the caller must pass the line alone. */
static bool join_line(struct source_worker *w, struct lines_made *l, struct bytes text,
		      uint64_t line, const struct source_sink *sink)
{
	const struct message message = {.value = text};
	const struct column *columns;
	struct reject why;
	struct error err;

	if (!l->begun) {
		l->begun = made_begin(w->made, sink, w->line + line + 1, 1);
		l->first = line;
		l->row = w->row;
	}
	return l->begun && text.len <= w->source->max_row_bytes &&
	       decoder_run(w->json, &message, &columns, &why, &err) == RC_OK &&
	       made_add(w->made, columns, w->seq + place_of(w, text.ptr), text);
}

/* Pass one text, which is after `line` line ends in the piece. */
static int pass_text(struct source_worker *w, struct lines_made *made, struct bytes text,
		     uint64_t line, const struct source_sink *sink, uint64_t *rows,
		     struct error *err)
{
	if (stop_flag)
		return stop_check(err);
	int rc = RC_OK;
	if (is_compound(w->source)) {
		rc = take_compound(w, text, line, sink, rows, err);
		w->row++;
		return rc;
	}
	++*rows;
	bool joins = join_line(w, made, text, line, sink);
	if (!joins || made_full(w->made))
		rc = give_lines(w, made, sink, err);
	if (!joins && rc == RC_OK)
		rc = take_line(w, text, line, w->row, sink, err);
	w->row++;
	return rc;
}

/* Pass the records of documents. Collected texts must be on consecutive lines. */
static int work_on_records(struct source_worker *w, const struct source_sink *sink, uint64_t *rows,
			   struct error *err)
{
	const struct bytes piece = buf_bytes(&w->piece);
	struct lines_made made = {0};
	uint64_t line = 0, next = 0;
	size_t at = 0, counted = 0;
	struct bytes text;
	int rc = RC_OK;

	while (rc == RC_OK && json_walk_record(w->source->walk.layout, piece, &at, &text)) {
		size_t start = place_of(w, text.ptr);

		line += csv_lines(piece.ptr + counted, start - counted);
		counted = start;
		if (line != next)
			rc = give_lines(w, &made, sink, err);
		next = line + 1;
		if (rc == RC_OK)
			rc = pass_text(w, &made, text, line, sink, rows, err);
	}
	return rc == RC_OK ? give_lines(w, &made, sink, err) : rc;
}

int work_on_lines(struct source_worker *w, const struct source_sink *sink, uint64_t *rows,
		  struct error *err)
{
	const uint8_t *p = w->piece.ptr, *end = p + w->piece.len;
	struct lines_made made = {0};
	uint64_t line = 0;
	int rc = RC_OK;

	if (w->source->documents)
		return work_on_records(w, sink, rows, err);
	for (; p < end && rc == RC_OK; line++) {
		size_t len = csv_line(p, (size_t)(end - p));
		struct bytes text = bytes_of(p, len > 0 ? len : (size_t)(end - p));

		p += text.len;
		while (text.len > 0 && csv_is_end(text.ptr[text.len - 1]))
			text.len--;
		if (line_is_blank(text)) {
			w->reader.blank_lines++;
			/* collected lines must be consecutive */
			rc = give_lines(w, &made, sink, err);
			continue;
		}
		rc = pass_text(w, &made, text, line, sink, rows, err);
	}
	return rc == RC_OK ? give_lines(w, &made, sink, err) : rc;
}
