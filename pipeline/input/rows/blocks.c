#include "blocks.h"

#include "input/spell.h"
#include "pool.h"
#include "bytes.h"

int blocks_columns(struct source *s, const struct job *job, struct error *err)
{
	int rc = decoding_new(&s->json, job, err);

	if (rc == RC_OK)
		s->columns = (const char **)(uintptr_t)decoding_columns(s->json, &s->ncolumns);
	return rc;
}

int blocks_fault(const struct source *s, size_t file, uint64_t block, uint64_t offset,
		 struct error *err)
{
	return error_prefix(err, "%s: block %llu (byte %llu): ", input_name(s->files[file].path),
			    (unsigned long long)block + 1, (unsigned long long)offset);
}

int blocks_start(struct source *s, struct cursor *c, size_t i, struct error *err)
{
	const struct event_block_format *f = s->blocks;
	char head[32];

	if (!f->known(buf_bytes(&c->rest))) {
		text_quote(head, sizeof head - 4,
			   bytes_of(c->rest.ptr, c->rest.len < 8 ? c->rest.len : 8));
		return error_set(err, RC_DATA, "%s: found `%s` at the start, expected %s",
				 c->in.name, head, f->what);
	}
	return f->begin(s, c, i, err);
}

/* --- pieces --- */

static int too_large(const struct source *s, const struct cursor *c, struct error *err)
{
	return error_set(err, RC_LIMIT,
			 "%s: block %llu (byte %llu) is longer than %llu bytes%s%s%s", c->in.name,
			 (unsigned long long)c->blocks + 1, (unsigned long long)c->offset,
			 (unsigned long long)s->max_row_bytes,
			 s->row_by_memory ? ", a quarter of --memory; raise --memory" : ": raise ",
			 s->row_by_memory ? "" : s->blocks->key,
			 s->row_by_memory ? "" : ".max_block");
}

static int cut_short(const struct cursor *c, size_t len, struct error *err)
{
	return error_set(
		err, RC_DATA,
		"%s: truncated: block %llu (byte %llu): found only the first %zu bytes, expected "
		"the whole block",
		c->in.name, (unsigned long long)c->blocks + 1, (unsigned long long)c->offset, len);
}

/* Skip the bytes that the format's own functions have read. */
static void drop_aside(struct cursor *c, struct buf *piece, size_t n)
{
	piece->len -= n;
	memmove(piece->ptr, piece->ptr + n, piece->len);
	c->offset += n;
}

static int find_whole(struct source *s, struct cursor *c, struct buf *piece, struct block_cut *cut,
		      struct error *err)
{
	do {
		*cut = (struct block_cut){0};
		if (piece->len == 0)
			return RC_OK;
		int rc = s->blocks->whole(s, c, buf_bytes(piece), cut, err);
		if (rc)
			return blocks_fault(s, s->current, c->blocks, c->offset, err);
		if (cut->aside > 0)
			drop_aside(c, piece, cut->aside);
	} while (cut->aside > 0);
	return RC_OK;
}

static void pass(struct source *s, struct source_worker *w, const struct block_cut *cut)
{
	struct cursor *c = &s->cursor;

	w->file = s->current;
	w->line = c->line;
	w->offset = c->offset;
	w->block = c->blocks;
	w->seq = s->seq_base + c->ranks;
	places_note(&s->places, &(struct place){w->seq, w->line, w->offset, w->file});
	c->line += cut->events;
	c->offset += cut->len;
	c->blocks += cut->blocks;
	c->ranks += cut->ranks;
	if (s->blocks->taken)
		s->blocks->taken(s, w);
}

int blocks_cut(struct source *s, struct source_worker *w, struct error *err)
{
	struct cursor *c = &s->cursor;
	struct buf *piece = &w->piece;
	struct block_cut cut;
	int rc;

	piece->len = 0;
	buf_append(piece, c->rest.ptr, c->rest.len);
	c->rest.len = 0;
	for (;;) {
		rc = find_whole(s, c, piece, &cut, err);
		if (rc)
			return rc;
		if (cut.len > 0 || c->eof)
			break;
		if (piece->len > s->max_row_bytes)
			return too_large(s, c, err);
		/*
		 * read only to the end of the block, so that the next piece needs no copy of bytes
		 */
		size_t more = source_more_bytes(s, piece->len);
		if (cut.missing > 0 && cut.missing < more)
			more = (size_t)cut.missing;
		rc = cursor_more(c, piece, more, err);
		if (rc)
			return rc;
		atomic_store_explicit(&s->bytes_done, s->bytes_before + c->in.raw_read,
				      memory_order_relaxed);
	}
	if (cut.len == 0 && piece->len > 0)
		return cut_short(c, piece->len, err);
	buf_append(&c->rest, piece->ptr + cut.len, piece->len - cut.len);
	piece->len = cut.len;
	if (cut.len > 0)
		pass(s, w, &cut);
	return RC_OK;
}

/* --- events --- */

struct block_place blocks_first(const struct source_worker *w, size_t bytes, uint64_t events)
{
	return (struct block_place){.offset = w->offset,
				    .block = w->block,
				    .event = w->line,
				    .seq = w->seq,
				    .ranks = block_ranks(bytes, events),
				    .events = events};
}

void blocks_next(struct block_place *p, size_t passed, size_t bytes, uint64_t events)
{
	*p = (struct block_place){.offset = p->offset + passed,
				  .block = p->block + 1,
				  .event = p->event + p->events,
				  .seq = p->seq + p->ranks,
				  .ranks = block_ranks(bytes, events),
				  .events = events};
}

/* Append the event's columns as {"path":"text",...}. Bytes that are not UTF-8 become \xHH. */
static void show_columns(const struct source *s, const struct column *columns, struct buf *out)
{
	struct buf text = {0};

	buf_put(out, '{');
	for (size_t i = 0; i < s->ncolumns; i++) {
		buf_append_str(out, i ? "," : "");
		text.len = 0;
		text_utf8(&text, bytes_str(s->columns[i]));
		spell_json(out, buf_bytes(&text), false);
		buf_put(out, ':');
		if (columns[i].absent) {
			buf_append_str(out, "null");
			continue;
		}
		text.len = 0;
		text_utf8(&text, bytes_of(columns[i].ptr, columns[i].len));
		spell_json(out, buf_bytes(&text), false);
	}
	buf_put(out, '}');
	buf_release(&text);
}

int blocks_take(struct source_worker *w, const struct block_place *p, uint64_t number,
		const struct column *columns, const struct source_sink *sink, struct error *err)
{
	const struct source *s = w->source;
	struct event event = {.columns = columns,
			      .ncolumns = s->ncolumns,
			      .roomy = true,
			      .seq = blocks_seq(p, number),
			      .line = p->event + number + 1,
			      .row = p->event + number + 1,
			      .offset = p->offset,
			      .file = s->files[w->file].path};
	struct buf raw = {0};
	struct reject why;
	int rc = stop_flag ? stop_check(err) : sink->event(sink->ctx, &event, &why);

	if (rc != RC_DATA)
		return rc;
	show_columns(s, columns, &raw);
	event.raw = buf_bytes(&raw);
	w->block = p->block;
	rc = worker_reject(w, sink, &event, &why, err);
	buf_release(&raw);
	return rc;
}
