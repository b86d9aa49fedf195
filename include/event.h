/*
 * event.h - events from a source, and places in Kafka topics
 *
 * input/ fills an event with raw columns and their origin, and row/ reads the event. The sink
 * borrows all memory of an event, which is valid until the sink returns.
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
	/* CSV: the value was in quotes, so unquoted null spellings do not match */
	bool quoted;
	bool absent; /* Kafka: the message has no such value; always false for CSV */
};

/* Bytes that code may read after the text of a column, to load whole words. */
#define EVENT_ROOM_BYTES 16

#define EVENT_BATCH 64 /* the most events delivered at once */

/* The use of a column of rows; 0 means no use. */
enum column_use { USE_NUMBER = 1, USE_TEXT = 2 };

/*
 * A text of 1 to 15 ASCII bytes in the form of records. The first byte is the length + 1. The text
 * follows. The remaining bytes have any value.
 */
struct short_text {
	uint8_t bytes[16];
};
#define SHORT_TEXT_MOST 15

/*
 * Rows from a source without delimited text. Column k of row i has the index k * EVENT_BATCH + i.
 */
struct event_made {
	const struct column
		*texts; /* texts of the columns that the sink uses as text; all are present */
	/* for each column: its numbers if the job uses only its numbers, else NULL */
	const uint64_t *const *numbers;
	/* for each column: EVENT_BATCH short texts; NULL if the column is in `texts` */
	const struct short_text *const *shorts;
	const uint64_t *seqs;	  /* for each row: its seq, in rising order */
	const struct bytes *raws; /* for each row: its bytes, as in struct event; NULL means that
				     all are empty */
	size_t bytes;		  /* bytes of all texts together */
};

/*
 * Events of delimited text without quotes, stored as adjacent rows. Field k of row i ends before
 * text[ends[i * stride + k]]. A field starts after the previous field's end. ends[-1] is the end
 * before the first field. Positions have 16 bits (row_field).
 */
struct event_rows {
	const uint8_t *text; /* text of all rows; code may read EVENT_ROOM_BYTES after each field */
	const uint16_t *ends;
	size_t n, ncolumns;
	/* ncolumns, or ncolumns + 1 if line ends have two bytes */
	size_t stride;
	size_t longest; /* longest row, in bytes */
	uint64_t seq;	/* `seq` (struct event) of the event that starts at `text` */
	uint64_t line;	/* line of the first row; each row is one line */
	/* if not NULL, `made` has the rows, and `text` and `ends` are unused */
	const struct event_made *made;
};

struct row_field {
	size_t at, len;
};

/* Return the position of a field. `end` points to the field's entry in `ends`. */
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
	const struct column *columns; /* the columns, in the order of the source's column names */
	size_t ncolumns;
	bool roomy;   /* code may read EVENT_ROOM_BYTES after each column's text */
	uint64_t seq; /* rank of the event in the run's input; decides which duplicate is newer */
	/* CSV: line where the event starts in its decompressed file, counted from 1 */
	uint64_t line;
	uint64_t row; /* number of the row in its file, from 1; counted if the job reads $row */
	uint64_t more_lines; /* CSV: line ends inside the event, in quotes or after a stray quote */
	/* CSV: byte offset in the decompressed file; Kafka: the message's offset */
	uint64_t offset;
	struct bytes raw; /* bytes of the event without its line end */
	/*
	 * path of the event's input file; all events of a file have the same pointer; NULL for a
	 * Kafka message
	 */
	const char *file;
};

/* Kafka: a message as the broker delivered it. */
struct message_header {
	const char *name;
	struct bytes value; /* ptr NULL means null */
};

struct message {
	const char *topic;
	int32_t partition;
	int64_t offset;
	int64_t timestamp_ms;	 /* -1 means no timestamp */
	struct bytes key, value; /* ptr NULL means null */
	const struct message_header *headers;
	size_t nheaders;
};

/* --- places in Kafka topics: partitions, messages and ranges of offsets --- */

/*
 * A place is a partition of a topic. The topic is NULL if the source has only one topic (`topic:
 * orders`), or if a state stores the place without a topic name (state.h). Topics have the same
 * partition numbers, so always compare and write places with these functions.
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
/* Format a place as "3" or "orders/3", the form that `saltmill seek` accepts. */
static inline struct place_text place_text(const char *topic, int32_t partition)
{
	struct place_text out;

	snprintf(out.text, sizeof out.text, "%s%s%d", topic ? topic : "", topic ? "/" : "",
		 (int)partition);
	return out;
}

/*
 * Identifies a message. If the broker has another message at this offset, somebody has deleted and
 * recreated the topic.
 */
struct anchor {
	bool known;
	int64_t offset, timestamp_ms;
	uint8_t digest[16]; /* XXH3-128 of key and value, and of their null flags */
};

struct offset_range {
	const char *topic; /* name of the topic; NULL means the only topic; the creator of the range
			      owns the name */
	int32_t partition;
	int64_t start, end; /* [start, end) */
	/*
	 * Number of messages in the range, known after reading. The other offsets are transaction
	 * markers, messages of aborted transactions, and messages that compaction removed.
	 */
	int64_t events;
	/*
	 * The last loaded message. Before the read of the range, this is a message before `start`.
	 * After that, this is the last message before `end`.
	 */
	struct anchor last;
};

struct form;
extern const struct form message_header_form;
/* The JSON form of a range, which has the members topic (if any), partition, start, end, events and
 * last. */
extern const struct form offset_range_form;

#endif
