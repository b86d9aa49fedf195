/*
 * made_rows.h - make batches of events from sources other than delimited text
 *
 *   made_begin, made_add*, made_give; or made_begin, made_numbers*, made_give_columns
 *
 * A sink handles a batch in far fewer steps than single events. If the sink refuses a batch, the
 * caller passes the events one by one and makes fewer batches for a while.
 */
#ifndef SALTMILL_SOURCE_MADE_ROWS_H
#define SALTMILL_SOURCE_MADE_ROWS_H

#include "source.h"

/* A collector of batches, one per worker. */
struct made_rows;
/*
 * Create a collector. If `own_bytes` is true, the bytes added with an event are the event's raw
 * bytes (struct event).
 */
struct made_rows *made_rows_new(size_t ncolumns, bool own_bytes);
void made_rows_free(struct made_rows *m);

/*
 * Begin a batch of `events` events at `line`. Return false if the caller must pass the events one
 * by one.
 */
bool made_begin(struct made_rows *m, const struct source_sink *sink, uint64_t line, size_t events);

/*
 * Add an event. `bytes` must outlive the rows. The function copies texts outside `bytes`.
 * EVENT_ROOM_BYTES after each text must be readable. Return false if the event has a null or a long
 * text, or if the batch has EVENT_BATCH events.
 */
bool made_add(struct made_rows *m, const struct column *columns, uint64_t seq, struct bytes bytes);
bool made_full(const struct made_rows *m);
/* Return the number of events since made_begin. Set `*bytes` to the bytes added with each event. */
size_t made_count(const struct made_rows *m, const struct bytes **bytes);
/*
 * Pass the batch to the sink and empty the batch. Set `*taken` to true if the sink handled all
 * events, or to false if the sink handled no event.
 */
int made_give(struct made_rows *m, const struct source_sink *sink, bool *taken);

/* Return true if the sink needs the column's text. The function may omit other texts. */
bool made_needs_text(const struct made_rows *m, size_t column);
/*
 * Return an array for EVENT_BATCH numbers, or NULL if the sink uses no numbers of this column. The
 * caller fills the array with the numbers of the column's texts and calls made_numbers_put. Then
 * the text is necessary only if the sink also uses the text.
 */
uint64_t *made_numbers(struct made_rows *m, size_t column);
void made_numbers_put(struct made_rows *m, size_t column);
/*
 * Return an array for EVENT_BATCH short texts of a column, if the sink needs its text. The caller
 * fills the array and calls made_shorts_put. Then made_give_columns needs no texts of this column.
 */
struct short_text *made_shorts(struct made_rows *m, size_t column);
void made_shorts_put(struct made_rows *m, size_t column);
/*
 * Pass `n` events without own bytes, as made_give does. The texts of column k start at texts[k *
 * EVENT_BATCH], each with EVENT_ROOM_BYTES readable after it. The seq of event i is `seq` + i *
 * `step`.
 */
int made_give_columns(struct made_rows *m, struct column *texts, size_t n, uint64_t seq,
		      uint64_t step, const struct source_sink *sink, bool *taken);

#endif
