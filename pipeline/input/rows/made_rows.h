/*
 * made_rows.h - batches of events from sources other than delimited text
 *
 *   made_begin, made_add*, made_give; or made_begin, made_numbers*, made_give_columns
 *
 * A sink handles a batch in far fewer steps than single events. If it refuses a batch, the caller
 * passes the events one by one, and fewer batches are made for a while.
 */
#ifndef SALTMILL_SOURCE_MADE_ROWS_H
#define SALTMILL_SOURCE_MADE_ROWS_H

#include "source.h"

/* One per worker. */
struct made_rows;
/* own_bytes: the bytes added with an event are its raw bytes (struct event). */
struct made_rows *made_rows_new(size_t ncolumns, bool own_bytes);
void made_rows_free(struct made_rows *m);

/* Begin a batch at `line` with that many events. False: pass the events one by one. */
bool made_begin(struct made_rows *m, const struct source_sink *sink, uint64_t line, size_t events);

/*
 * Add an event. Texts outside `bytes`, which outlives the rows, are copied; EVENT_ROOM_BYTES after
 * each text must be readable. False: the event cannot be in a batch, because it has a null or a
 * long text, or the batch has EVENT_BATCH events.
 */
bool made_add(struct made_rows *m, const struct column *columns, uint64_t seq, struct bytes bytes);
bool made_full(const struct made_rows *m);
/* Return the number of events since made_begin; *bytes: the bytes added with each. */
size_t made_count(const struct made_rows *m, const struct bytes **bytes);
/* Pass the batch to the sink and empty it. *taken: the sink handled all events; false: none. */
int made_give(struct made_rows *m, const struct source_sink *sink, bool *taken);

/* Report whether the column's text is needed. If not, it may be missing. */
bool made_needs_text(const struct made_rows *m, size_t column);
/*
 * Return room for EVENT_BATCH numbers; NULL: the sink uses no numbers of this column.
 * made_numbers_put says that the room is filled with the numbers of the column's texts. The text is
 * then needed only if the sink uses it too.
 */
uint64_t *made_numbers(struct made_rows *m, size_t column);
void made_numbers_put(struct made_rows *m, size_t column);
/*
 * Return room for EVENT_BATCH short texts of a column whose text is needed. made_shorts_put says
 * that it is filled; made_give_columns then needs no texts of this column.
 */
struct short_text *made_shorts(struct made_rows *m, size_t column);
void made_shorts_put(struct made_rows *m, size_t column);
/*
 * Like made_give, for n events without own bytes. The texts of column k start at texts[k *
 * EVENT_BATCH], each with EVENT_ROOM_BYTES readable after it. The seq of event i is seq + i * step.
 */
int made_give_columns(struct made_rows *m, struct column *texts, size_t n, uint64_t seq,
		      uint64_t step, const struct source_sink *sink, bool *taken);

#endif
