/*
 * event.h - events as a source delivers them, and places in Kafka topics
 *
 * input/ fills an event with raw columns and their origin; row/ reads it. Everything is borrowed
 * and valid until the sink returns.
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
	bool quoted; /* CSV: the value was in quotes, so it is never an unquoted null spelling */
	bool absent; /* Kafka: the message has no such value; CSV: never set */
};

/* Code may load a whole word even if the text of a column is shorter. */
#define EVENT_ROOM_BYTES 16

#define EVENT_BATCH 64 /* the most events delivered at once */

/* How a column of rows is used; 0: not used. */
enum column_use { USE_NUMBER = 1, USE_TEXT = 2 };

/* A text of 1..15 ASCII bytes in the form of a record: its length + 1, the text, then any bytes. */
struct short_text {
	uint8_t bytes[16];
};
#define SHORT_TEXT_MOST 15

/* Rows whose source is not delimited text. Column k of row i is [k * EVENT_BATCH + i]. */
struct event_made {
	const struct column *texts; /* for columns used as text; none is absent */
	/* by column: the numbers, if the column is used only as numbers; else NULL */
	const uint64_t *const *numbers;
	/* by column: its EVENT_BATCH texts, which texts then lacks; NULL: they are in texts */
	const struct short_text *const *shorts;
	const uint64_t *seqs;	  /* by row, rising */
	const struct bytes *raws; /* by row, as in struct event; NULL: empty */
	size_t bytes;		  /* sum of all texts */
};

/*
 * Events of delimited text without quotes, stored as adjacent rows. Field k of row i ends before
 * text[ends[i * stride + k]]. It starts after the previous end, which is ends[-1] for the very
 * first. The arithmetic has 16 bits: see row_field.
 */
struct event_rows {
	const uint8_t *text; /* EVENT_ROOM_BYTES after each field may be read */
	const uint16_t *ends;
	size_t n, ncolumns;
	size_t stride;		       /* ncolumns; one more if line ends have two bytes */
	size_t longest;		       /* longest row, in bytes */
	uint64_t seq;		       /* seq of an event that starts at text: see struct event */
	uint64_t line;		       /* line of the first row; each row is one line */
	const struct event_made *made; /* not NULL: the rows are there; text and ends are unused */
};

struct row_field {
	size_t at, len;
};

/* Return the position of a field. end: its entry in ends. */
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
	bool roomy;    /* EVENT_ROOM_BYTES after each column's text may be read */
	uint64_t seq;  /* rank among all input of the run, rising in input order; decides ties */
	uint64_t line; /* CSV: line of the event's first byte in its decompressed file, from 1 */
	/* CSV: byte offset in the decompressed file; Kafka: the message's offset */
	uint64_t offset;
	struct bytes raw; /* the event's own bytes, without its line end */
	/* path of its input file, one pointer for all its events; NULL: a message */
	const char *file;
};

/* Kafka: a message as the broker delivered it. */
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

/* --- places in Kafka topics: partitions, messages and ranges of offsets --- */

/*
 * A place is a partition of a topic. The topic is NULL if the source has only one (`topic:
 * orders`), or if a state stores it without a name (state.h); code for a single topic needs no
 * name. Different topics have the same partition numbers, so always compare and write places with
 * the functions below.
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
	char text[264]; /* a topic name has up to 249 bytes */
};
/* Format a place as "3" or "orders/3", as `saltmill seek` takes it. */
static inline struct place_text place_text(const char *topic, int32_t partition)
{
	struct place_text out;

	snprintf(out.text, sizeof out.text, "%s%s%d", topic ? topic : "", topic ? "/" : "",
		 (int)partition);
	return out;
}

/*
 * Identifies a message. If another message is at its offset, the topic was deleted and made again.
 */
struct anchor {
	bool known;
	int64_t offset, timestamp_ms;
	uint8_t digest[16]; /* XXH3-128 of key and value, and of whether they are null */
};

struct offset_range {
	const char *topic; /* NULL: the only topic; owned by the code that made the range */
	int32_t partition;
	int64_t start, end; /* [start, end) */
	/*
	 * Messages found in the range, after it was read. The other offsets have no event:
	 * transaction markers, messages of aborted transactions, and messages that compaction
	 * removed.
	 */
	int64_t events;
	/*
	 * The last loaded message: before start until the range was read, afterwards the last one
	 * before end.
	 */
	struct anchor last;
};

struct form;
/* As JSON: topic (if it has one), partition, start, end, events, last. */
extern const struct form offset_range_form;

#endif
