/*
 * event.h - one event as a source hands it on: raw columns and where they came from
 *
 * source/ fills it, row/ reads it.  Everything is borrowed and valid until the sink returns.
 */
#ifndef SALTMILL_EVENT_H
#define SALTMILL_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "bytes.h"
#include "error.h"

struct column {
	const uint8_t *ptr;
	uint32_t len;
	bool quoted; /* CSV: the value stood in quotes, so it is never an unquoted null spelling */
	bool absent; /* the message has no such value (Kafka); CSV: never */
};

/* A word is loaded whole where the text of a column may be shorter. */
#define EVENT_ROOM_BYTES 16

#define EVENT_BATCH 64 /* events that are handed on at once, at most */

/* What is looked at of a column of rows; 0: nothing. */
enum column_use { USE_NUMBER = 1, USE_TEXT = 2 };

/* A text of 1..15 bytes of ASCII as a record has it: its length + 1, then itself, then anything. */
struct short_text {
	uint8_t bytes[16];
};
#define SHORT_TEXT_MOST 15

/* Rows that are no delimited text in their source: column k of row i is [k * EVENT_BATCH + i]. */
struct event_made {
	const struct column *texts; /* of columns whose text is looked at; none is absent */
	/* by column: what its texts would be, where that is all that is looked at; NULL: no */
	const uint64_t *const *numbers;
	/* by column: its EVENT_BATCH texts, which are not in texts then; NULL: they are there */
	const struct short_text *const *shorts;
	const uint64_t *seqs;	  /* by row, rising */
	const struct bytes *raws; /* by row, as struct event has them; NULL: empty */
	size_t bytes;		  /* of all texts */
};

/*
 * Some events of delimited text without quotes, one row right behind the other.  Field k of row i
 * ends before text[ends[i * stride + k]]; it starts behind the end in front of that one, which is
 * ends[-1] for the very first, in arithmetic of 16 bits: row_field.
 */
struct event_rows {
	const uint8_t *text; /* EVENT_ROOM_BYTES behind each field may be read */
	const uint16_t *ends;
	size_t n, ncolumns;
	size_t stride;		       /* ncolumns, and one more where line ends have two bytes */
	size_t longest;		       /* row, in bytes */
	uint64_t seq;		       /* of an event that starts at text: see struct event */
	uint64_t line;		       /* of the first row; each is one line */
	const struct event_made *made; /* not NULL: they are there, and not in text and ends */
};

struct row_field {
	size_t at, len;
};

/* end: in ends. */
static inline struct row_field row_field(const uint16_t *end)
{
	uint16_t at = (uint16_t)(end[-1] + 1);

	return (struct row_field){at, (uint16_t)(*end - at)};
}

static inline size_t rows_start(const struct event_rows *r, size_t row)
{
	return row_field(r->ends + row * r->stride).at;
}

static inline uint64_t row_seq(const struct event_rows *r, size_t row)
{
	return r->made ? r->made->seqs[row] : r->seq + rows_start(r, row);
}

struct event {
	const struct column *columns; /* in the order of the source's column names */
	size_t ncolumns;
	bool roomy;	  /* EVENT_ROOM_BYTES behind each column's text may be read */
	uint64_t seq;	  /* rank among all input of the run, rising in input order; breaks ties */
	uint64_t line;	  /* CSV: of the event's first byte in its (decompressed) file, from 1 */
	uint64_t offset;  /* CSV: byte offset in the (decompressed) file; Kafka: of the message */
	struct bytes raw; /* the event's own bytes, without its line end */
	const char *file; /* path of its input, the same pointer for all of it; NULL: a message */
};

/* Kafka: a message as the broker gave it. */
struct message_header {
	const char *name;
	struct bytes value; /* ptr NULL: null */
};

struct message {
	const char *topic;
	int32_t partition;
	int64_t offset;
	int64_t timestamp_ms;	 /* -1: none */
	struct bytes key, value; /* ptr NULL: null */
	const struct message_header *headers;
	size_t nheaders;
};

/*
 * --- a stretch of one Kafka partition, and the message in front of it ---
 */

/*
 * A place is a partition of a topic.  The topic is NULL where the source has one topic only
 * (`topic: orders`), or is the one that a state calls by no name (state.h): what knows of one topic
 * needs none.  Two topics have the same numbers of partitions, so that places are compared and
 * written by these alone.
 */
static inline int place_order(const char *topic_a, int32_t a, const char *topic_b, int32_t b)
{
	int order = topic_a == topic_b ? 0
		    : !topic_a	       ? -1
		    : !topic_b	       ? 1
				       : strcmp(topic_a, topic_b);

	return order ? order : (a > b) - (a < b);
}

struct place_text {
	char text[264]; /* a name has up to 249 bytes */
};
/* "3", "orders/3": as `saltmill seek` takes it. */
static inline struct place_text place_text(const char *topic, int32_t partition)
{
	struct place_text out;

	snprintf(out.text, sizeof out.text, "%s%s%d", topic ? topic : "", topic ? "/" : "",
		 (int)partition);
	return out;
}

/*
 * A message to be known again by: where another one stands at its offset, the topic is not the one
 * that it was of.
 */
struct anchor {
	bool known;
	int64_t offset, timestamp_ms;
	uint8_t digest[16]; /* XXH3-128 of key and value, and of whether they are null */
};

struct offset_range {
	const char *topic; /* NULL: the only one; owned by who made the range */
	int32_t partition;
	int64_t start, end; /* [start, end) */
	/*
	 * Messages found in it, once it was read.  The other offsets hold no event: markers and
	 * messages of transactions that were aborted, and what compaction removed.
	 */
	int64_t events;
	/*
	 * The last message that was loaded: in front of start until the range was read, then the
	 * last one in front of end.
	 */
	struct anchor last;
};

struct form;
/* As JSON: topic (if it has one), partition, start, end, events, last. */
extern const struct form offset_range_form;

#endif
