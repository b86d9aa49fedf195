/*
 * made_rows.h - events that are no delimited text in their source, as rows that go together
 *
 *   made_begin, made_add*, made_give; or made_begin, made_numbers*, made_give_columns
 *
 * A sink takes many events at once in far fewer steps than one by one.  What it refuses it gets one
 * by one, and rows are then made less often for a while.
 */
#ifndef SALTMILL_SOURCE_MADE_ROWS_H
#define SALTMILL_SOURCE_MADE_ROWS_H

#include "source.h"

/* Of one worker. */
struct made_rows;
/* own_bytes: what is added with an event are its bytes, as of struct event. */
struct made_rows *made_rows_new(size_t ncolumns, bool own_bytes);
void made_rows_free(struct made_rows *m);

/* So many events begin, the first of that line; false: they are to go one by one. */
bool made_begin(struct made_rows *m, const struct source_sink *sink, uint64_t line, size_t events);

/*
 * Texts that do not lie in `bytes`, which outlives the rows, are copied; EVENT_ROOM_BYTES behind
 * each may be read.  false: the event cannot go with others, having a null or long texts, or there
 * are EVENT_BATCH of them.
 */
bool made_add(struct made_rows *m, const struct column *columns, uint64_t seq, struct bytes bytes);
bool made_full(const struct made_rows *m);
/* Those added since made_begin, and the bytes that were added with them. */
size_t made_count(const struct made_rows *m, const struct bytes **bytes);
/* To the sink; *taken: all are done, otherwise none is.  No event is added then. */
int made_give(struct made_rows *m, const struct source_sink *sink, bool *taken);

/* Is this column's text looked at?  If it is not, it need not be there. */
bool made_needs_text(const struct made_rows *m, size_t column);
/*
 * Room for EVENT_BATCH numbers, which are what the column's texts would be, and that it holds them;
 * its text is then needed only if it is looked at itself.  NULL: nobody wants numbers.
 */
uint64_t *made_numbers(struct made_rows *m, size_t column);
void made_numbers_put(struct made_rows *m, size_t column);
/*
 * Room for EVENT_BATCH texts of a column whose text is looked at, and that it holds them: they need
 * not be among those of made_give_columns.
 */
struct short_text *made_shorts(struct made_rows *m, size_t column);
void made_shorts_put(struct made_rows *m, size_t column);
/*
 * The same as made_give for n events whose column k is texts[k * EVENT_BATCH] and behind, with
 * EVENT_ROOM_BYTES behind them, and without bytes of their own; event i's seq is seq + i * step.
 */
int made_give_columns(struct made_rows *m, struct column *texts, size_t n, uint64_t seq,
		      uint64_t step, const struct source_sink *sink, bool *taken);

#endif
