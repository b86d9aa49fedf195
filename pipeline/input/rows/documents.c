/*
 * documents.c - cut JSON documents between records, and pass the events of compound records
 *
 * A piece contains whole records and the bytes between them, unchanged. So lines and offsets are
 * those of the file, and memory holds a piece for each thread, whatever the size of a document.
 */
#include "pool.h"
#include "worker.h"

int documents_open(struct source *s, struct error *err)
{
	const struct json_form *form = &s->csv->json;

	s->documents = form->layout != JSON_LINES;
	s->op = SIZE_MAX;
	for (size_t i = 0; i < s->ncolumns && form->layout == JSON_BULK; i++)
		if (strcmp(s->columns[i], "_op") == 0)
			s->op = i;
	return s->documents ? json_walk_open(&s->walk, form, err) : RC_OK;
}

void documents_worker_open(struct source_worker *w)
{
	const struct source *s = w->source;

	if (s->csv->json.layout != JSON_BULK && s->csv->json.layout != JSON_MEMBERS)
		return;
	w->meta = decoder_new(s->json);
	w->pair = mem_calloc(s->ncolumns + 1, sizeof *w->pair);
}

/* --- pieces --- */

/* Report that the documents are no JSON between two records. */
static int broken(const struct source *s, const struct json_walked *walked, const struct buf *piece,
		  struct error *err)
{
	const struct cursor *c = &s->cursor;
	size_t at = walked->at < piece->len ? walked->at : piece->len;
	uint64_t line = c->line + csv_lines(piece->ptr, at);
	char found[16];

	text_quote(found, sizeof found, bytes_of(piece->ptr + at, at < piece->len));
	return error_set(err, RC_DATA, "%s:%llu (byte %llu): found %s%s%s, expected %s", c->in.name,
			 (unsigned long long)line + 1, (unsigned long long)(c->offset + at),
			 at < piece->len ? "`" : "the end of the file",
			 at < piece->len ? found : "", at < piece->len ? "`" : "",
			 walked->expected);
}

/* Drop bytes that are no records from the piece. */
static void skip_bytes(struct cursor *c, struct buf *piece, size_t n)
{
	c->line += csv_lines(piece->ptr, n);
	c->offset += n;
	piece->len -= n;
	if (piece->len)
		memmove(piece->ptr, piece->ptr + n, piece->len);
}

static void pass_on(struct source *s, struct source_worker *w, size_t len)
{
	struct cursor *c = &s->cursor;
	struct buf *piece = &w->piece;

	buf_append(&c->rest, piece->ptr + len, piece->len - len);
	piece->len = len;
	w->file = s->current;
	w->line = c->line;
	w->offset = c->offset;
	w->seq = s->seq_base + c->offset;
	if (!len)
		return;
	places_note(&s->places, &(struct place){w->seq, w->line, w->offset, w->file});
	w->row = c->rows;
	c->rows += s->counts_rows ? count_rows(s, piece) : 0;
	c->line += csv_lines(piece->ptr, len);
	c->offset += len;
}

int documents_cut(struct source *s, struct source_worker *w, struct error *err)
{
	struct cursor *c = &s->cursor;
	struct buf *piece = &w->piece;
	struct json_walked walked;

	piece->len = 0;
	buf_reserve(piece, c->rest.len + 1); /* so an empty piece is not NULL */
	buf_append(piece, c->rest.ptr, c->rest.len);
	c->rest.len = 0;
	for (;;) {
		json_walk(&s->walk, buf_bytes(piece), c->eof, &walked);
		if (walked.expected)
			return broken(s, &walked, piece, err);
		skip_bytes(c, piece, walked.skipped);
		if (walked.len || c->eof)
			break;
		if (piece->len > s->max_row_bytes)
			return source_long_row(s, s->current, c->line, c->offset, err);
		int rc = cursor_more(c, piece, source_more_bytes(s, piece->len), err);
		if (rc)
			return rc;
		atomic_store_explicit(&s->bytes_done, s->bytes_before + c->in.raw_read,
				      memory_order_relaxed);
	}
	pass_on(s, w, walked.len);
	return RC_OK;
}

int documents_ended(const struct source *s, struct error *err)
{
	const struct cursor *c = &s->cursor;

	if (!s->walk.in_list && !s->walk.level)
		return RC_OK;
	return error_set(err, RC_DATA,
			 "%s:%llu (byte %llu): truncated: found the end of the file, expected the "
			 "end of the document",
			 c->in.name, (unsigned long long)c->line + 1,
			 (unsigned long long)c->offset);
}

/* --- compound records --- */

bool is_compound(const struct source *s)
{
	const struct json_form *form = &s->csv->json;

	return form->layout == JSON_BULK || form->layout == JSON_MEMBERS || form->explode;
}

/* Describe an event of the bytes at `at` in the piece. */
static struct event event_at(const struct source_worker *w, struct bytes text, uint64_t line)
{
	uint64_t at = (uint64_t)(text.ptr - w->piece.ptr);

	return (struct event){.ncolumns = w->source->ncolumns,
			      .roomy = true,
			      .seq = w->seq + at,
			      .line = w->line + line + 1,
			      .row = w->row + 1,
			      .offset = w->offset + at,
			      .raw = text,
			      .file = w->source->files[w->file].path};
}

static int pass_event(struct source_worker *w, const struct event *event,
		      const struct source_sink *sink, uint64_t *rows, struct error *err)
{
	++*rows;
	return sink->event ? worker_take(w, event, sink, err) : RC_OK;
}

/* Pass an event for each item of the list. A record without items is one event without them. */
static int take_items(struct source_worker *w, struct event *event, uint64_t line,
		      const struct source_sink *sink, uint64_t *rows, struct error *err)
{
	const struct message message = {.value = event->raw};
	const uint8_t *counted = event->raw.ptr;
	struct bytes item;
	struct reject why;
	bool any = false;
	int rc = decoder_run(w->json, &message, &event->columns, &why, err);

	if (rc) {
		++*rows;
		return worker_reject(w, sink, event, &why, err);
	}
	const struct column *columns = event->columns;
	struct json_list items = decoder_items(w->json);
	while (rc == RC_OK && decoder_next(w->json, &items, &item)) {
		line += csv_lines(counted, (size_t)(item.ptr - counted));
		counted = item.ptr;
		*event = event_at(w, item, line);
		event->columns = columns;
		any = true;
		rc = pass_event(w, event, sink, rows, err);
	}
	return any || rc ? rc : pass_event(w, event, sink, rows, err);
}

/*
 * Merge the columns of a document, and those of its action or name. A document's own value counts.
 */
static void merge_pair(struct source_worker *w, const struct column *document,
		       const struct column *meta, struct bytes action)
{
	for (size_t i = 0; i < w->source->ncolumns; i++)
		w->pair[i] = document && !document[i].absent ? document[i] : meta[i];
	if (w->source->op != SIZE_MAX)
		w->pair[w->source->op] =
			(struct column){action.ptr, (uint32_t)action.len, true, false};
}

static int take_pair(struct source_worker *w, struct event *event, const struct source_sink *sink,
		     uint64_t *rows, struct error *err)
{
	const struct column *meta = NULL, *document = NULL;
	struct message message = {0};
	struct bytes action, text;
	struct reject why;
	int rc = RC_DATA;

	if (!json_bulk_split(event->raw, &action, &message.value, &text)) {
		reject_set(&why, "bad_json", NULL,
			   "expected an action such as {\"index\": {\"_id\": \"1\"}} and its "
			   "document on the next line");
	} else {
		rc = decoder_run(w->meta, &message, &meta, &why, err);
		message.value = text;
		if (rc == RC_OK && text.ptr)
			rc = decoder_run(w->json, &message, &document, &why, err);
	}
	if (rc) {
		++*rows;
		return worker_reject(w, sink, event, &why, err);
	}
	merge_pair(w, document, meta, action);
	event->columns = w->pair;
	return pass_event(w, event, sink, rows, err);
}

/* Pass a member of an object. Its name is the column _key. */
static int take_named(struct source_worker *w, struct event *event, const struct source_sink *sink,
		      uint64_t *rows, struct error *err)
{
	const struct column *meta = NULL, *document = NULL;
	struct message message = {0};
	struct bytes name, value;
	struct reject why;
	int rc = RC_DATA;

	if (!json_member_split(event->raw, &name, &value)) {
		reject_set(&why, "bad_json", NULL, "expected a member such as \"a1\": {\"n\": 1}");
	} else {
		w->name.len = 0;
		buf_append_str(&w->name, "{\"_key\":");
		buf_append(&w->name, name.ptr, name.len);
		buf_append_str(&w->name, "}");
		message.value = buf_bytes(&w->name);
		rc = decoder_run(w->meta, &message, &meta, &why, err);
		message.value = value;
		if (rc == RC_OK)
			rc = decoder_run(w->json, &message, &document, &why, err);
	}
	if (rc) {
		++*rows;
		return worker_reject(w, sink, event, &why, err);
	}
	merge_pair(w, document, meta, name);
	event->columns = w->pair;
	return pass_event(w, event, sink, rows, err);
}

int take_compound(struct source_worker *w, struct bytes text, uint64_t line,
		  const struct source_sink *sink, uint64_t *rows, struct error *err)
{
	const struct source *s = w->source;
	struct event event = event_at(w, text, line);

	if (text.len > s->max_row_bytes)
		return source_long_row(s, w->file, event.line - 1, event.offset, err);
	if (s->csv->json.explode)
		return take_items(w, &event, line, sink, rows, err);
	event.more_lines = csv_lines(text.ptr, text.len);
	if (s->csv->json.layout == JSON_MEMBERS)
		return take_named(w, &event, sink, rows, err);
	return take_pair(w, &event, sink, rows, err);
}
