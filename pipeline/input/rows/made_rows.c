#include "made_rows.h"

#include "mem.h"

#define COPY_MOST ((size_t)1024) /* most copied bytes per event */
#define FEW_ROWS  16		 /* the function passes fewer rows one by one */
#define PAUSE_MAX ((size_t)8 * EVENT_BATCH)

struct made_rows {
	struct event_rows rows;
	struct event_made made;
	size_t ncolumns;
	const uint8_t *uses;
	bool *needed;		/* for each column, true if the sink needs its text */
	struct column *columns; /* EVENT_BATCH per column */
	uint8_t *text, *end;	/* copied texts, and their end */
	uint64_t seqs[EVENT_BATCH];
	struct bytes bytes[EVENT_BATCH];
	uint64_t *room;		  /* numbers, EVENT_BATCH per column */
	const uint64_t **numbers; /* one per column */
	struct short_text *short_room;
	const struct short_text **shorts; /* one per column */
	bool odd;			  /* the last event cannot be part of a batch */
	size_t wait, pause;		  /* counted in events */
};

struct made_rows *made_rows_new(size_t ncolumns, bool own_bytes)
{
	struct made_rows *m = mem_calloc(1, sizeof *m);
	size_t cells = (ncolumns + 1) * EVENT_BATCH;

	m->ncolumns = ncolumns;
	m->needed = mem_calloc(ncolumns + 1, sizeof *m->needed);
	m->columns = mem_calloc(cells, sizeof *m->columns);
	m->text = mem_calloc(EVENT_BATCH * COPY_MOST + EVENT_ROOM_BYTES, 1);
	m->room = mem_calloc(cells, sizeof *m->room);
	m->numbers = mem_calloc(ncolumns + 1, sizeof *m->numbers);
	m->short_room = mem_calloc(cells, sizeof *m->short_room);
	m->shorts = mem_calloc(ncolumns + 1, sizeof *m->shorts);
	m->made = (struct event_made){.texts = m->columns,
				      .numbers = m->numbers,
				      .shorts = m->shorts,
				      .seqs = m->seqs,
				      .raws = own_bytes ? m->bytes : NULL};
	return m;
}

void made_rows_free(struct made_rows *m)
{
	if (!m)
		return;
	mem_free(m->needed);
	mem_free(m->columns);
	mem_free(m->text);
	mem_free(m->room);
	mem_free(m->numbers);
	mem_free(m->short_room);
	mem_free(m->shorts);
	mem_free(m);
}

bool made_begin(struct made_rows *m, const struct source_sink *sink, uint64_t line, size_t events)
{
	if (!sink->rows || !sink->uses)
		return false;
	if (m->wait > 0) {
		m->wait -= events < m->wait ? events : m->wait;
		return false;
	}
	m->uses = sink->uses;
	for (size_t i = 0; i < m->ncolumns; i++) {
		m->needed[i] = m->uses[i] != 0;
		m->numbers[i] = NULL;
		m->shorts[i] = NULL;
	}
	m->rows = (struct event_rows){.ncolumns = m->ncolumns, .line = line, .made = &m->made};
	m->made.bytes = 0;
	m->end = m->text;
	m->odd = false;
	return true;
}

/* --- event by event --- */

static bool lies_in(const struct column *c, struct bytes bytes)
{
	return (uintptr_t)c->ptr - (uintptr_t)bytes.ptr < bytes.len;
}

static bool add(struct made_rows *m, const struct column *columns, uint64_t seq, struct bytes bytes)
{
	const size_t n = m->rows.n;
	struct column *to = m->columns + n;
	uint8_t *copy = m->end, *last = m->text + (n + 1) * COPY_MOST;
	size_t all = 0;

	for (size_t i = 0; i < m->ncolumns; i++, to += EVENT_BATCH) {
		const struct column *c = &columns[i];

		if (!m->needed[i])
			continue;
		if (c->absent)
			return false;
		*to = *c;
		all += c->len;
		if (lies_in(c, bytes))
			continue;
		if (c->len > (size_t)(last - copy))
			return false;
		to->ptr = copy;
		if (c->len - 1 < EVENT_ROOM_BYTES)
			memcpy(copy, c->ptr, EVENT_ROOM_BYTES);
		else if (c->len > 0)
			memcpy(copy, c->ptr, c->len);
		copy += c->len;
	}
	m->end = copy;
	m->made.bytes += all;
	m->rows.longest = all > m->rows.longest ? all : m->rows.longest;
	m->seqs[n] = seq;
	m->bytes[n] = bytes;
	m->rows.n++;
	return true;
}

bool made_add(struct made_rows *m, const struct column *columns, uint64_t seq, struct bytes bytes)
{
	m->odd = !add(m, columns, seq, bytes);
	return !m->odd;
}

bool made_full(const struct made_rows *m)
{
	return m->rows.n == EVENT_BATCH;
}

size_t made_count(const struct made_rows *m, const struct bytes **bytes)
{
	*bytes = m->bytes;
	return m->rows.n;
}

static void refused(struct made_rows *m)
{
	m->pause = m->pause == 0 ? EVENT_BATCH : 2 * m->pause;
	m->pause = m->pause > PAUSE_MAX ? PAUSE_MAX : m->pause;
	m->wait = m->pause;
}

int made_give(struct made_rows *m, const struct source_sink *sink, bool *taken)
{
	const size_t n = m->rows.n;

	*taken = false;
	int rc = n >= FEW_ROWS ? sink->rows(sink->ctx, &m->rows, taken) : RC_OK;
	if (*taken)
		m->pause = 0;
	else if (n >= FEW_ROWS || m->odd)
		refused(m);
	m->rows.n = 0;
	return rc;
}

/* --- column by column --- */

bool made_needs_text(const struct made_rows *m, size_t column)
{
	return m->needed[column];
}

uint64_t *made_numbers(struct made_rows *m, size_t column)
{
	return m->uses[column] & USE_NUMBER ? m->room + column * EVENT_BATCH : NULL;
}

void made_numbers_put(struct made_rows *m, size_t column)
{
	m->numbers[column] = m->room + column * EVENT_BATCH;
	m->needed[column] = (m->uses[column] & USE_TEXT) != 0;
}

struct short_text *made_shorts(struct made_rows *m, size_t column)
{
	return m->short_room + column * EVENT_BATCH;
}

void made_shorts_put(struct made_rows *m, size_t column)
{
	m->shorts[column] = made_shorts(m, column);
}

/* Add upper bounds of the lengths of short texts to the events' sizes. */
static bool measure_shorts(struct made_rows *m, size_t n)
{
	m->made.bytes += n * SHORT_TEXT_MOST;
	m->rows.longest += SHORT_TEXT_MOST;
	return true;
}

/* Add the lengths of a column's texts. Return false if a text is null. */
static bool measure(struct made_rows *m, struct column *texts, size_t n)
{
	size_t all = 0, longest = 0;
	bool absent = false;

	for (size_t i = 0; i < n; i++) {
		struct column *c = &texts[i];

		absent |= c->absent;
		all += c->len;
		longest = c->len > longest ? c->len : longest;
		if (c->len == 0) /* an empty text also needs readable bytes after it */
			c->ptr = m->text;
	}
	m->made.bytes += all;
	m->rows.longest += longest;
	return !absent;
}

int made_give_columns(struct made_rows *m, struct column *texts, size_t n, uint64_t seq,
		      uint64_t step, const struct source_sink *sink, bool *taken)
{
	bool fine = true;

	for (size_t i = 0; fine && i < m->ncolumns; i++)
		fine = !m->needed[i] || (m->shorts[i] ? measure_shorts(m, n)
						      : measure(m, texts + i * EVENT_BATCH, n));
	for (size_t i = 0; i < n; i++)
		m->seqs[i] = seq + i * step;
	m->made.texts = texts;
	m->odd = !fine;
	m->rows.n = fine ? n : 0;
	return made_give(m, sink, taken);
}
