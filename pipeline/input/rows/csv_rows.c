/* csv_rows.c - pass the rows of a worker's piece of delimited text, plain rows in batches */
#include "pool.h"
#include "worker.h"

#define SOME_ROWS ((size_t)16)

/* Report a row after which the source cannot trust the input. */
static int fatal_row(const struct source_worker *w, const struct csv_row *row, struct error *err)
{
	const struct source *s = w->source;
	uint64_t line = w->line + row->line;
	uint64_t offset = w->offset + (uint64_t)(row->start - w->piece.ptr);
	bool too_long = (uint64_t)(row->end - row->start) > s->max_row_bytes;

	if (too_long)
		return source_long_row(s, w->file, line, offset, err);
	if (row->kind == CSV_CONFUSED)
		return error_set(
			err, RC_ORDER,
			"%s:%llu: libcsv and the scanner of row ends disagree, which is a bug in "
			"saltmill",
			input_name(s->files[w->file].path), (unsigned long long)line + 1);
	return RC_OK;
}

/* Make an event of the row in the reader's columns. */
static struct event make_event(const struct source_worker *w, const uint8_t *start,
			       const uint8_t *end, uint64_t line)
{
	uint64_t at = (uint64_t)(start - w->piece.ptr);

	return (struct event){.columns = w->reader.columns,
			      .ncolumns = w->source->ncolumns,
			      .roomy = true,
			      .seq = w->seq + at,
			      .line = w->line + line + 1,
			      .offset = w->offset + at,
			      .raw = bytes_of(start, (size_t)(end - start)),
			      .file = w->source->files[w->file].path};
}

/* Return true if the last `n` values of the row are empty. */
static bool ends_empty(const struct csv_source *csv, const struct csv_row *row, size_t n)
{
	const uint8_t *p = row->end;

	for (; n > 0 && p > row->start; n -= *p == csv->delimiter) {
		p--;
		if (*p != csv->delimiter && !(csv->trim && (*p == ' ' || *p == '\t')))
			return false;
	}
	return n == 0;
}

/*
 * Fill a short row with nulls, or ignore extra columns. Return false if the job does not allow such
 * a row.
 */
static bool fit_columns(struct source_worker *w, const struct csv_row *row)
{
	const struct source *s = w->source;
	size_t n = row->ncolumns, most = source_width(w->source, w->file);

	if (n > most)
		return s->csv->extra == EXTRA_IGNORE ||
		       (s->csv->extra == EXTRA_EMPTY &&
			(w->reader.special ? row->rest_empty : ends_empty(s->csv, row, n - most)));
	for (; n < most; n++)
		w->reader.columns[n] = (struct column){.ptr = w->piece.ptr, .absent = true};
	return s->csv->missing == MISSING_NULL;
}

static int take_row(struct source_worker *w, const struct csv_row *row,
		    const struct source_sink *sink, struct error *err)
{
	const struct source *s = w->source;
	struct event event = make_event(w, row->start, row->end, row->line);
	struct reject why;
	bool skipped = false;
	int rc = RC_OK;

	event.row = ++w->row;
	event.more_lines = row->more_lines;
	/* the text of a malformed row may contain lines that are events (see csv_skip) */
	if (s->csv->skip_matching && row->kind != CSV_BAD_QUOTE)
		rc = skip_row(w, &event, sink, &skipped, err);
	if (rc || skipped)
		return rc;
	event.ncolumns = row->ncolumns;
	if (row->kind == CSV_ROW &&
	    (row->ncolumns == source_width(w->source, w->file) || fit_columns(w, row))) {
		event.ncolumns = s->ncolumns;
		event.columns = s->by_name ? by_name_columns(w) : event.columns;
		return sink->event ? worker_take(w, &event, sink, err) : RC_OK;
	}
	row_fault(s, w->file, row, &why);
	return worker_reject(w, sink, &event, &why, err);
}

static int take_one_of(struct source_worker *w, const struct event_rows *rows, size_t i,
		       const struct source_sink *sink, struct error *err)
{
	const uint16_t *ends = rows->ends + i * rows->stride;
	const uint8_t *end = rows->text + ends[rows->ncolumns - 1];
	bool skipped = false;

	csv_columns(&w->reader, rows, i);
	struct event event =
		make_event(w, rows->text + row_field(ends).at, end, w->reader.line - rows->n + i);
	event.row = w->row + i + 1;
	event.columns = w->source->by_name ? by_name_columns(w) : event.columns;
	int rc = w->source->csv->skip_matching ? skip_row(w, &event, sink, &skipped, err) : RC_OK;
	return rc || skipped ? rc : worker_take(w, &event, sink, err);
}

static bool may_batch(const struct source_worker *w, const struct source_sink *sink)
{
	return sink->rows && !w->source->csv->skip_matching && !w->source->by_name;
}

/* Pass the rows [`from`, `end`) together if the sink accepts them, or else one by one. */
static int take_some(struct source_worker *w, const struct event_rows *rows, size_t from,
		     size_t end, const struct source_sink *sink, struct error *err)
{
	struct event_rows some = *rows;
	bool taken = false;
	int rc = RC_OK;

	some.ends += from * rows->stride;
	some.n = end - from;
	some.line += from;
	if (may_batch(w, sink))
		rc = sink->rows(sink->ctx, &some, &taken);
	for (; !taken && from < end && rc == RC_OK; from++)
		rc = take_one_of(w, rows, from, sink, err);
	return rc;
}

/*
 * Pass all rows together. If the sink refuses, pass small groups, so that one unusual row does not
 * slow down other rows.
 */
static int give_rows(struct source_worker *w, struct event_rows *rows,
		     const struct source_sink *sink, struct error *err)
{
	bool taken = false;
	int rc = RC_OK;

	if (!sink->event)
		return RC_OK;
	rows->seq = w->seq + (uint64_t)(rows->text - w->piece.ptr);
	rows->line = w->line + w->reader.line - rows->n + 1;
	if (may_batch(w, sink) && rows->n > SOME_ROWS)
		rc = sink->rows(sink->ctx, rows, &taken);
	for (size_t i = 0; !taken && i < rows->n && rc == RC_OK; i += SOME_ROWS)
		rc = take_some(w, rows, i, i + SOME_ROWS < rows->n ? i + SOME_ROWS : rows->n, sink,
			       err);
	return rc;
}

int work_on_rows(struct source_worker *w, const struct source_sink *sink, uint64_t *rows,
		 bool *fatal, struct error *err)
{
	struct event_rows plain;
	struct csv_row row;
	int rc = RC_OK;

	if (w->source->by_name)
		csv_expect(&w->reader, source_width(w->source, w->file), w->source->max_row_bytes);
	csv_start(&w->reader, w->piece.ptr, w->piece.len);
	while (rc == RC_OK) {
		size_t n;

		while (rc == RC_OK && (n = csv_plain(&w->reader, &plain)) > 0) {
			*rows += n;
			rc = give_rows(w, &plain, sink, err);
			w->row += n;
		}
		if (rc != RC_OK || !csv_next(&w->reader, &row))
			break;
		rc = fatal_row(w, &row, err);
		*fatal = rc != RC_OK;
		if (*fatal)
			break;
		if (stop_flag)
			return stop_check(err);
		++*rows;
		rc = take_row(w, &row, sink, err);
	}
	return rc;
}
